//! What the types of a machine cannot say.

use super::{LINE, Violations};
use crate::config::machine::{L1d, L2, Llc, Machine, Numa, Pcie, Prefetch, Replacement, SetIndex};
use crate::config::units::{BitRate, Duration, Frequency, Size};
use crate::iommu::config::{IommuConfig, PageSize};
use crate::memory::dram::device::BANKS;
use crate::memory::dram::{DramConfig, DramConfigError};

/// Twice the L3 of the largest server (AMD EPYC 9684X: 1152 MiB); its tags still fit in memory.
const MAX_CACHE: Size = Size(2 << 30);

/// LLC ways: a way mask is 32 bits wide.
const MAX_WAYS: u32 = 32;

/// Reads under way: their numbers are 16 bits wide.
const MAX_TRACKERS: u32 = 65_535;

/// Cores of a machine: a directory entry has one bit for each.
const MAX_CORES: u32 = 32;

/// All that is wrong with a machine.
pub(super) fn check(v: &mut Violations, machine: &Machine) {
    let core = &machine.core;
    v.within("machine.core.count", core.count, &(1..=MAX_CORES), "");
    check_frequency(v, "machine.core.frequency", core.frequency);
    // The upper bounds only keep what is allocated for a core small; no real one comes near them.
    v.within("machine.core.dispatch_width", core.dispatch_width, &(1..=32), "");
    v.within("machine.core.reorder_window", core.reorder_window, &(1..=4096), "");
    v.within("machine.core.l1_miss_registers", core.l1_miss_registers, &(1..=256), "");
    v.within("machine.core.store_buffer", core.store_buffer, &(1..=1024), "");
    let L1d { size, ways, replacement, .. } = machine.l1d;
    check_cache(v, "machine.l1d", size, ways, replacement, 1);
    let L2 { size, ways, replacement, .. } = machine.l2;
    check_cache(v, "machine.l2", size, ways, replacement, 1);
    if machine.l2.size < machine.l1d.size {
        let l1d = machine.l1d.size;
        v.add(
            "machine.l2.size",
            machine.l2.size,
            format!("at least machine.l1d.size ({l1d}), because the L2 includes the L1d"),
        );
    }
    let (superqueue, registers) = (machine.l2.superqueue, core.l1_miss_registers);
    if machine.l2.prefetch != Prefetch::None && superqueue <= registers {
        let allowed = format!(
            "more than machine.core.l1_miss_registers ({registers}), so that something is left for \
             machine.l2.prefetch"
        );
        v.add("machine.l2.superqueue", superqueue, allowed);
    }
    check_llc(v, &machine.llc, core.count);
    if machine.nic.sram.0 < LINE {
        v.add("machine.nic.sram", machine.nic.sram, format!("at least {LINE} B"));
    }
    let widths = [8, 16, 32, 64, 128, 256, 512, 1024].map(Size);
    v.one_of("machine.noc.port_width", machine.noc.port_width, &widths);
    check_dram(v, &machine.dram);
    if machine.nic.link.is_some_and(|rate| rate.0 == 0) {
        v.add("machine.nic.link", "0 bps", "a rate above zero, or no link to have no limit");
    }
    v.at_least_one("machine.nic.write_credits", machine.nic.write_credits);
    v.at_least_one("machine.nic.read_credits", machine.nic.read_credits);
    v.at_least_one("machine.nic.descriptor_batch", machine.nic.descriptor_batch);
    v.at_least_one("machine.nic.completions_per_write", machine.nic.completions_per_write);
    if let Some(batch) = machine.nic.tx_descriptor_batch {
        v.at_least_one("machine.nic.tx_descriptor_batch", batch);
    }
    // 16 bytes on Intel's 82599, up to 64 on later cards; entries never straddle a cache line.
    let entries = [8, 16, 32, 64].map(Size);
    v.one_of("machine.nic.descriptor_size", machine.nic.descriptor_size, &entries);
    v.one_of("machine.nic.completion_size", machine.nic.completion_size, &entries);
    if let Some(numa) = &machine.numa {
        check_numa(v, numa);
    }
    if let Some(pcie) = &machine.pcie {
        check_pcie(v, pcie);
    }
    if let Some(iommu) = &machine.iommu {
        check_iommu(v, iommu);
    }
}

/// Whole megahertz keep cycle counts exact in 64-bit arithmetic for hours of simulated time.
fn check_frequency(v: &mut Violations, key: &str, frequency: Frequency) {
    const MHZ: u64 = 1_000_000;
    let Frequency(hz) = frequency;
    if !(100 * MHZ..=10_000 * MHZ).contains(&hz) || !hz.is_multiple_of(MHZ) {
        v.add(key, frequency, "100 MHz to 10 GHz in whole MHz");
    }
}

fn check_llc(v: &mut Violations, llc: &Llc, cores: u32) {
    let slices = match llc.index {
        SetIndex::Sliced => llc.slices.unwrap_or(cores),
        SetIndex::Modulo | SetIndex::Hashed => 1,
    };
    if llc.slices == Some(0) {
        v.add("machine.llc.slices", 0, "at least 1");
    }
    v.at_least_one("machine.llc.writeback_buffers", llc.writeback_buffers);
    if let Some(trackers) = llc.home_trackers {
        v.within("machine.llc.home_trackers", trackers, &(1..=MAX_TRACKERS), "");
    }
    let longest = Duration(1_000_000);
    v.within("machine.llc.memory_latency", llc.memory_latency, &(Duration(0)..=longest), "");
    check_cache(v, "machine.llc", llc.size, llc.ways, llc.replacement, slices.max(1));
}

fn check_numa(v: &mut Violations, numa: &Numa) {
    v.within("machine.numa.links", numa.links, &(1..=8), "");
    let rates = BitRate(1_000_000_000)..=BitRate(10_000_000_000_000);
    v.within("machine.numa.link_bandwidth", numa.link_bandwidth, &rates, "");
    let latencies = Duration(0)..=Duration(1_000_000);
    v.within("machine.numa.latency", numa.latency, &latencies, "");
}

fn check_cache(
    v: &mut Violations,
    key: &str,
    size: Size,
    ways: u32,
    replacement: Replacement,
    slices: u32,
) {
    let ways_key = format!("{key}.ways");
    v.within(&ways_key, ways, &(1..=MAX_WAYS), "");
    if ways == 0 {
        return;
    }
    if replacement == Replacement::TreePlru && !ways.is_power_of_two() {
        v.add(
            &ways_key,
            ways,
            "a power of two with the replacement tree-plru, whose tree is binary",
        );
    }
    if size > MAX_CACHE {
        v.add(&format!("{key}.size"), size, format!("at most {MAX_CACHE}"));
    }
    let row = LINE * u64::from(ways) * u64::from(slices);
    if size.0 == 0 || !size.0.is_multiple_of(row) {
        let of = if slices > 1 { format!(" × {slices} slices") } else { String::new() };
        let allowed = format!("a multiple of {} ({LINE} B × {ways} ways{of})", Size(row));
        v.add(&format!("{key}.size"), size, allowed);
    }
}

fn check_dram(v: &mut Violations, dram: &DramConfig) {
    use DramConfigError::{BrokenBurst, OutOfRange, RefreshTooOften, TooManyBanks, Watermarks};
    match dram.check() {
        Ok(()) => {}
        Err(OutOfRange { key, value, allowed }) => {
            v.add(&format!("machine.dram.{key}"), value, allowed);
        }
        Err(TooManyBanks { banks }) => {
            let allowed = format!("at most {BANKS} banks: ranks × bank_groups × banks_per_group");
            v.add("machine.dram.ranks", format!("{} ({banks} banks)", dram.ranks), allowed);
        }
        Err(BrokenBurst { columns, burst }) => {
            let allowed = format!("a multiple of {burst}, the burst of the standard");
            v.add("machine.dram.columns", columns, allowed);
        }
        Err(Watermarks { low, high }) if high > 100 => {
            v.add("machine.dram.drain_high_percent", high, format!("{} to 100", low.min(99) + 1));
        }
        Err(Watermarks { low, high }) => {
            let allowed = format!("less than machine.dram.drain_high_percent ({high})");
            v.add("machine.dram.drain_low_percent", low, allowed);
        }
        Err(RefreshTooOften { refi, busy }) => {
            let allowed = format!("more than the {busy} clocks that a round of refreshes takes");
            v.add("machine.dram.timings.refi", refi, allowed);
        }
    }
}

fn check_pcie(v: &mut Violations, pcie: &Pcie) {
    // Sizes of the Device Control register (PCI Express Base Specification 5.0, section 7.5.3.4).
    let sizes = [128, 256, 512, 1024, 2048, 4096].map(Size);
    v.within("machine.pcie.generation", pcie.generation, &(3..=5), "");
    v.one_of("machine.pcie.lanes", pcie.lanes, &[1, 2, 4, 8, 16]);
    v.one_of("machine.pcie.max_payload", pcie.max_payload, &sizes);
    v.one_of("machine.pcie.max_read_request", pcie.max_read_request, &sizes);
    v.at_least_one("machine.pcie.posted_credits", pcie.posted_credits);
    v.at_least_one("machine.pcie.non_posted_credits", pcie.non_posted_credits);
}

fn check_iommu(v: &mut Violations, iommu: &IommuConfig) {
    // Far more than any real one; a lookup passes over the ways of a set.
    let entries = iommu.iotlb.entries;
    v.within("machine.iommu.iotlb.entries", entries, &(1..=65_536), "");
    let ways = iommu.iotlb.ways;
    if ways == 0 || ways > entries.min(1024) || !entries.is_multiple_of(ways) {
        let allowed = format!(
            "a divisor of machine.iommu.iotlb.entries ({entries}), at most 1024, for sets of equal size"
        );
        v.add("machine.iommu.iotlb.ways", ways, allowed);
    }
    let pages = &iommu.pages;
    for (key, size) in [("payload", pages.payload), ("acknowledgements", pages.acknowledgements)] {
        if iommu.mode.maps_at_run_time() && size != PageSize::Small {
            let allowed = "\"4 KiB\" in strict and deferred mode, which map buffer by buffer";
            v.add(&format!("machine.iommu.pages.{key}"), "larger pages", allowed);
        }
    }
    let costs = &iommu.run_time;
    let most = Duration(1_000_000_000);
    for (key, time) in
        [("map", costs.map), ("unmap", costs.unmap), ("invalidation", costs.invalidation)]
    {
        v.within(&format!("machine.iommu.run_time.{key}"), time, &(Duration(0)..=most), "");
    }
    v.at_least_one("machine.iommu.run_time.flush_after", costs.flush_after);
    let structures = &iommu.paging_structures;
    for (level, entries) in
        [("pml4", structures.pml4), ("pdpt", structures.pdpt), ("pd", structures.pd)]
    {
        let key = format!("machine.iommu.paging_structures.{level}");
        v.within(&key, entries, &(0..=1024), "");
    }
    v.within("machine.iommu.posted_queue", iommu.posted_queue, &(1..=65_536), "");
    v.within("machine.iommu.non_posted_queue", iommu.non_posted_queue, &(1..=65_536), "");
    v.within("machine.iommu.walkers", iommu.walkers, &(1..=1024), "");
    let longest = Duration(10_000_000);
    v.within("machine.iommu.step_latency", iommu.step_latency, &(Duration(0)..=longest), "");
}
