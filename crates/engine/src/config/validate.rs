//! What the types of a scenario cannot say: ranges, and relations between keys.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::machine::{Llc, Machine, PrivateCache, Replacement, SetIndex};
use super::scenario::{CoreRange, Placement, Queues, Run, Slo, Tenant};
use super::units::{Duration, Frequency, Share, Size};
use super::{Scenario, machine};
use crate::apps::config::AppConfig;
use crate::memory::dram::device::BANKS;
use crate::memory::dram::{DramConfig, DramConfigError};
use crate::memory::line::AddressSpace;
use crate::wire::TrafficError;
use crate::wire::config::{SizesConfig, TrafficConfig};

/// A value that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The dotted key, such as `placement.io_ways` or `tenants.0.cores.count`.
    pub key: String,
    /// What was given.
    pub given: String,
    /// What is allowed, and why.
    pub allowed: String,
}

/// Cores of a machine: a directory entry has one bit for each.
pub const MAX_CORES: u32 = 32;

/// LLC ways: a way mask is 32 bits wide.
pub const MAX_WAYS: u32 = 32;

/// Twice the L3 of the largest server (AMD EPYC 9684X: 1152 MiB); its tags still fit in memory.
const MAX_CACHE: Size = Size(2 << 30);

/// DPDK counts descriptors and the bytes of an mbuf in 16 bits (`rte_eth_rx_queue_setup`,
/// `rte_mbuf.buf_len`).
const MAX_DESCRIPTORS: u32 = 65_535;
const MAX_BUFFER: Size = Size(65_535);

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Far more than a run of hours reaches, and far from the 213 days that the clock can count.
const MAX_SIMULATED: Duration = Duration(1_000 * 1_000_000_000_000);

/// A series of a million values a column still fits in memory; more is surely a wrong unit.
const MAX_SAMPLES: u64 = 1_000_000;

/// All that is wrong with a scenario; nothing if it can be simulated.
pub fn violations(scenario: &Scenario) -> Vec<Violation> {
    let mut v = Violations::default();
    let Scenario { machine, traffic, placement, queues, tenants, run, slo } = scenario;
    check_machine(&mut v, machine);
    if !v.0.is_empty() {
        // What relates to an impossible machine would only repeat its faults.
        return v.0;
    }
    check_placement(&mut v, placement, machine);
    check_queues(&mut v, queues);
    if let Some(traffic) = traffic {
        check_traffic(&mut v, traffic, queues, machine);
    }
    check_tenants(&mut v, tenants, machine);
    check_services(&mut v, scenario);
    check_memory(&mut v, scenario);
    check_run(&mut v, run);
    check_slo(&mut v, slo);
    v.0
}

#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, key: &str, given: impl Display, allowed: impl Into<String>) {
        let (key, given) = (key.to_owned(), given.to_string());
        self.0.push(Violation { key, given, allowed: allowed.into() });
    }

    fn within<T>(&mut self, key: &str, given: T, allowed: &RangeInclusive<T>, why: &str)
    where
        T: PartialOrd + Display,
    {
        if !allowed.contains(&given) {
            self.add(key, given, format!("{} to {}{why}", allowed.start(), allowed.end()));
        }
    }

    fn at_least_one(&mut self, key: &str, given: u32) {
        if given == 0 {
            self.add(key, given, "at least 1");
        }
    }

    fn one_of<T: PartialEq + Display>(&mut self, key: &str, given: T, allowed: &[T]) {
        if !allowed.contains(&given) {
            let names: Vec<String> = allowed.iter().map(T::to_string).collect();
            self.add(key, given, names.join(", "));
        }
    }
}

fn check_machine(v: &mut Violations, machine: &Machine) {
    let core = &machine.core;
    v.within("machine.core.count", core.count, &(1..=MAX_CORES), "");
    check_frequency(v, "machine.core.frequency", core.frequency);
    // Several times the largest core that was built (Apple M4: 10 wide, some 900 instructions).
    v.within("machine.core.dispatch_width", core.dispatch_width, &(1..=32), "");
    v.within("machine.core.reorder_window", core.reorder_window, &(1..=4096), "");
    v.within("machine.core.l1_miss_registers", core.l1_miss_registers, &(1..=256), "");
    v.within("machine.core.store_buffer", core.store_buffer, &(1..=1024), "");
    check_private(v, "machine.l1d", &machine.l1d);
    check_private(v, "machine.l2", &machine.l2);
    if machine.l2.size < machine.l1d.size {
        let l1d = machine.l1d.size;
        v.add(
            "machine.l2.size",
            machine.l2.size,
            format!("at least machine.l1d.size ({l1d}), because the L2 includes the L1d"),
        );
    }
    check_llc(v, &machine.llc, core.count);
    if machine.nic.sram.0 < LINE {
        v.add("machine.nic.sram", machine.nic.sram, format!("at least {LINE} B"));
    }
    check_dram(v, &machine.dram);
    v.at_least_one("machine.nic.write_credits", machine.nic.write_credits);
    v.at_least_one("machine.nic.read_credits", machine.nic.read_credits);
    v.at_least_one("machine.nic.descriptor_batch", machine.nic.descriptor_batch);
    // Intel 82599: 16 bytes; E810 and ConnectX: up to 64.
    let entries = [8, 16, 32, 64].map(Size);
    v.one_of("machine.nic.descriptor_size", machine.nic.descriptor_size, &entries);
    v.one_of("machine.nic.completion_size", machine.nic.completion_size, &entries);
    if let Some(pcie) = &machine.pcie {
        check_pcie(v, pcie);
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

fn check_private(v: &mut Violations, key: &str, cache: &PrivateCache) {
    check_cache(v, key, cache.size, cache.ways, cache.replacement, 1);
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
    check_cache(v, "machine.llc", llc.size, llc.ways, llc.replacement, slices.max(1));
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

fn check_pcie(v: &mut Violations, pcie: &machine::Pcie) {
    // Sizes of the Device Control register (PCI Express Base Specification 5.0, section 7.5.3.4).
    let sizes = [128, 256, 512, 1024, 2048, 4096].map(Size);
    v.within("machine.pcie.generation", pcie.generation, &(3..=5), "");
    v.one_of("machine.pcie.lanes", pcie.lanes, &[1, 2, 4, 8, 16]);
    v.one_of("machine.pcie.max_payload", pcie.max_payload, &sizes);
    v.one_of("machine.pcie.max_read_request", pcie.max_read_request, &sizes);
    v.at_least_one("machine.pcie.posted_credits", pcie.posted_credits);
    v.at_least_one("machine.pcie.non_posted_credits", pcie.non_posted_credits);
}

fn check_placement(v: &mut Violations, placement: &Placement, machine: &Machine) {
    let why = ", the ways of the LLC (machine.llc.ways)";
    v.within("placement.io_ways", placement.io_ways, &(1..=machine.llc.ways.max(1)), why);
}

fn check_queues(v: &mut Violations, queues: &Queues) {
    let ring = 1..=MAX_DESCRIPTORS;
    v.within("queues.rx_descriptors", queues.rx_descriptors, &ring, "");
    v.within("queues.tx_descriptors", queues.tx_descriptors, &ring, "");
    v.within("queues.buffer_size", queues.buffer_size, &(Size(LINE)..=MAX_BUFFER), "");
    for (key, size) in [("queues.headroom", queues.headroom), ("queues.metadata", queues.metadata)]
    {
        if size > MAX_BUFFER || !size.0.is_multiple_of(LINE) {
            v.add(key, size, format!("a multiple of {LINE} B up to {MAX_BUFFER}, so that data begins on a line of its own"));
        }
    }
    if let Some(buffers) = queues.pool_buffers
        && buffers < queues.rx_descriptors
    {
        let ring = queues.rx_descriptors;
        v.add(
            "queues.pool_buffers",
            buffers,
            format!("at least queues.rx_descriptors ({ring}): each descriptor holds a buffer"),
        );
    }
    let why = " (queues.rx_descriptors)";
    v.within("queues.burst", queues.burst, &(1..=queues.rx_descriptors.max(1)), why);
}

fn check_traffic(v: &mut Violations, traffic: &TrafficConfig, queues: &Queues, machine: &Machine) {
    if let Err(TrafficError { key, given, allowed }) = traffic.check() {
        v.add(&format!("traffic.{key}"), given, allowed);
        return;
    }
    let Some((key, size)) = largest_frame(traffic) else { return };
    let room = [("queues.buffer_size", queues.buffer_size), ("machine.nic.sram", machine.nic.sram)];
    if let Some((of, limit)) = room.iter().find(|(_, limit)| size > *limit) {
        v.add(&key, size, format!("at most {of} ({limit}), which has to hold a frame"));
    }
}

/// The largest frame of synthetic traffic and the key that sets it.
fn largest_frame(traffic: &TrafficConfig) -> Option<(String, Size)> {
    let (TrafficConfig::Constant { sizes, .. }
    | TrafficConfig::Poisson { sizes, .. }
    | TrafficConfig::Bursts { sizes, .. }
    | TrafficConfig::Backlog { sizes, .. }) = traffic
    else {
        return None;
    };
    match sizes {
        SizesConfig::Fixed { size } => Some(("traffic.sizes.size".into(), *size)),
        SizesConfig::Mix { of } => {
            let frames = of.iter().enumerate().map(|(i, share)| (i, share.size));
            let (i, size) = frames.max_by_key(|frame| frame.1)?;
            Some((format!("traffic.sizes.of.{i}.size"), size))
        }
    }
}

fn check_tenants(v: &mut Violations, tenants: &[Tenant], machine: &Machine) {
    if tenants.is_empty() {
        v.add("tenants", "[]", "at least one [[tenants]] table");
    }
    for (i, tenant) in tenants.iter().enumerate() {
        let name_key = format!("tenants.{i}.name");
        if tenant.name.is_empty() || tenants[..i].iter().any(|other| other.name == tenant.name) {
            v.add(&name_key, format!("{:?}", tenant.name), "a name that no other tenant has");
        }
        for invalid in tenant.app.check() {
            let key = format!("tenants.{i}.app.{}", invalid.key);
            v.add(&key, invalid.value, invalid.allowed);
        }
        let key = format!("tenants.{i}.cores");
        let CoreRange { first, count } = tenant.cores;
        check_range(v, &key, first, count, machine.core.count, "machine.core.count");
        let overlaps = |other: &&Tenant| {
            let (a, b) = (tenant.cores, other.cores);
            end(a.first, a.count) > u64::from(b.first) && end(b.first, b.count) > u64::from(a.first)
        };
        if let Some(other) = tenants[..i].iter().find(overlaps) {
            let CoreRange { first: f, count: n } = other.cores;
            let given = format!("{{first = {first}, count = {count}}}");
            v.add(
                &key,
                given,
                format!("cores that no other tenant has; {} has {n} from core {f}", other.name),
            );
        }
        if let Some(ways) = tenant.llc_ways {
            let key = format!("tenants.{i}.llc_ways");
            check_range(v, &key, ways.first, ways.count, machine.llc.ways, "machine.llc.ways");
        }
    }
}

/// Whether an application takes packets.
fn serves_packets(tenant: &Tenant) -> bool {
    !matches!(tenant.app, AppConfig::Xmem(_))
}

fn check_services(v: &mut Violations, scenario: &Scenario) {
    let server = scenario.tenants.iter().find(|tenant| serves_packets(tenant));
    match (&scenario.traffic, server) {
        (None, Some(server)) => {
            v.add("traffic", "nothing", format!("a table, because {} serves packets", server.name));
        }
        (Some(_), None) if !scenario.tenants.is_empty() => {
            v.add("traffic", "a table", "nothing, because no tenant serves packets");
        }
        _ => {}
    }
}

/// Whether all data fits the simulated address space.
fn check_memory(v: &mut Violations, scenario: &Scenario) {
    /// Rings, rounding to huge pages, and the small tables of applications.
    const SMALL: u64 = 1 << 30;
    let Queues { metadata, headroom, buffer_size, tx_descriptors, .. } = scenario.queues;
    let line_up = |bytes: u64| u128::from(bytes.next_multiple_of(LINE));
    let stride = line_up(metadata.0.saturating_add(headroom.0).saturating_add(buffer_size.0));
    let pool = scenario.queues.pool_buffers.unwrap_or(scenario.queues.rx_descriptors);
    let queue = stride * u128::from(pool) + line_up(buffer_size.0) * u128::from(tx_descriptors);
    let (mut buffers, mut data) = (0, 0);
    for tenant in &scenario.tenants {
        let cores = u128::from(tenant.cores.count);
        if serves_packets(tenant) {
            buffers += queue * cores;
        }
        data += u128::from(SMALL)
            + match &tenant.app {
                AppConfig::Kvs(kvs) => {
                    u128::from(kvs.log.0) + u128::from(kvs.buckets) * u128::from(LINE)
                }
                AppConfig::Xmem(xmem) => u128::from(xmem.region.0) * cores,
                AppConfig::L2fwd(_) | AppConfig::L3fwd(_) => 0,
            };
    }
    if buffers + data > u128::from(AddressSpace::LIMIT.0) {
        let gib = |bytes: u128| format!("{} GiB", bytes >> 30);
        let given = format!("{} of buffers and {} of data", gib(buffers), gib(data));
        let key = if buffers > data { "queues.pool_buffers" } else { "tenants" };
        v.add(key, given, format!("{} in all", AddressSpace::LIMIT));
    }
}

fn check_range(v: &mut Violations, key: &str, first: u32, count: u32, limit: u32, of: &str) {
    let count_key = format!("{key}.count");
    if count == 0 {
        v.at_least_one(&count_key, count);
    } else if first >= limit {
        v.add(&format!("{key}.first"), first, format!("less than {of} ({limit})"));
    } else if end(first, count) > u64::from(limit) {
        let most = limit - first;
        v.add(&count_key, count, format!("1 to {most}, because first is {first} and {of} {limit}"));
    }
}

fn end(first: u32, count: u32) -> u64 {
    u64::from(first) + u64::from(count)
}

fn check_run(v: &mut Violations, run: &Run) {
    v.within("run.warmup", run.warmup, &(Duration(0)..=MAX_SIMULATED), "");
    v.within("run.duration", run.duration, &(Duration(1)..=MAX_SIMULATED), "");
    let finest = Duration((run.duration.0 / MAX_SAMPLES).max(1));
    if run.sample < finest {
        let allowed =
            format!("at least {finest}, for at most {MAX_SAMPLES} samples of run.duration");
        v.add("run.sample", run.sample, allowed);
    }
}

fn check_slo(v: &mut Violations, slo: &Slo) {
    v.at_least_one("slo.p99_service_times", slo.p99_service_times);
    v.within("slo.drops", slo.drops, &(Share(0)..=Share::WHOLE), "");
}
