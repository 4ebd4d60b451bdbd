//! Keys that are allowed but have no effect because of another key: a user who changes one should be told.
//!
//! The functions below go through the keys in the order of docs/scenario.md, and determine for each
//! in which scenarios nothing reads it. A test checks every key of the schema against them. Keys
//! that have no effect only by chance are not reported: a larger cache that nothing fills, say, or
//! a limit that is not reached.

use super::Scenario;
use crate::iommu::config::{IommuConfig, Mode, PageSize};
use crate::memory::config::{Inclusion, Prefetch, SetIndex};
use crate::memory::dram::Refresh;
use crate::memory::line::MemoryNode;
use crate::memory::placement::registry::Policy;
use crate::nic::dma_bench::Direction;
use crate::transport::control::ControlConfig;
use crate::wire::config::TrafficConfig;

/// A key that has no effect in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutEffect {
    /// The dotted key, such as `placement.io_ways`; includes everything below it.
    pub key: String,
    /// The reason, in words for the user.
    pub because: &'static str,
}

/// All keys that have no effect in this scenario, whether they were given or not.
pub fn without_effect(scenario: &Scenario) -> Vec<WithoutEffect> {
    let bench = scenario.dma_bench.as_ref();
    let mut found = Found {
        scenario,
        queues: if scenario.traffic.is_some() { scenario.serving_cores() } else { 0 },
        bench_reads: bench.is_some_and(|b| b.direction == Direction::Read),
        bench_writes: bench.is_some_and(|b| b.direction == Direction::Write),
        keys: Vec::new(),
    };
    found.processor();
    found.memory();
    found.nic();
    found.pcie();
    if let Some(iommu) = &scenario.machine.iommu {
        found.iommu(iommu);
    }
    found.traffic();
    found.bench_and_placement();
    found.tenants();
    let because = "slo.p99 is the objective";
    found.add(scenario.slo.p99.is_some(), "slo", &["p99_service_times"], because);
    found.keys
}

const NO_DMA: &str = "there is neither traffic nor a DMA benchmark";
const NO_PACKETS: &str = "a DMA benchmark receives and sends no packets";
const ONLY_READS: &str = "dma_bench.direction is \"read\"";
const ONLY_WRITES: &str = "dma_bench.direction is \"write\"";

/// What a scenario runs, and the keys found so far.
struct Found<'a> {
    scenario: &'a Scenario,
    /// Queues that receive packets.
    queues: u32,
    bench_reads: bool,
    bench_writes: bool,
    keys: Vec<WithoutEffect>,
}

impl Found<'_> {
    /// Adds keys of a table if a condition holds.
    fn add(&mut self, holds: bool, table: &str, keys: &[&str], because: &'static str) {
        let all = keys.iter().filter(|_| holds);
        let key = |key: &&str| format!("{table}.{key}");
        self.keys.extend(all.map(|k| WithoutEffect { key: key(k), because }));
    }

    fn dma(&self) -> bool {
        self.queues > 0 || self.bench_reads || self.bench_writes
    }

    /// Whether the NIC may write something into the LLC.
    fn writes_to_llc(&self) -> bool {
        let policy = self.scenario.placement.policy;
        let remote = self.scenario.queues.memory == MemoryNode::Remote;
        // Where packets are kept aside, completions may still go there.
        policy != Policy::Dma && (self.queues > 0 && !remote || self.bench_writes)
    }

    /// `machine.core` to `machine.noc`.
    fn processor(&mut self) {
        let machine = &self.scenario.machine;
        let keys = ["dispatch_width", "reorder_window", "l1_miss_registers", "store_buffer"];
        let (idle, no_tenant) = (!self.scenario.runs_on_cores(), "no tenant runs on a core");
        self.add(idle, "machine.core", &keys, no_tenant);
        self.add(idle, "machine", &["l1d", "l2"], no_tenant);
        let because = "machine.l2.prefetch is \"none\"";
        self.add(machine.l2.prefetch == Prefetch::None, "machine.l2", &["superqueue"], because);
        let llc = &machine.llc;
        if llc.inclusion == Inclusion::Inclusive {
            let because = "machine.llc.inclusion is \"inclusive\"";
            self.add(true, "machine.llc", &["io_lines"], because);
        } else {
            let because = "no core reads what the NIC writes to the LLC";
            let read = self.writes_to_llc() && self.queues > 0;
            self.add(!read, "machine.llc", &["io_lines"], because);
        }
        let because = "only machine.llc.index = \"sliced\" has slices";
        self.add(llc.index != SetIndex::Sliced, "machine.llc", &["slices"], because);
        let because = "only a NIC on the chip (no machine.pcie) has the port";
        self.add(machine.pcie.is_some(), "machine.noc", &["port_width"], because);
        let because = "the NIC writes nothing";
        let writes = self.queues > 0 || self.bench_writes;
        self.add(machine.pcie.is_none() && !writes, "machine.noc", &["port_width"], because);
    }

    /// `machine.dram` and `machine.numa`.
    fn memory(&mut self) {
        let machine = &self.scenario.machine;
        let dram = &machine.dram;
        let off = dram.refresh == Refresh::Off;
        let because = "machine.dram.refresh is \"off\"";
        self.add(off, "machine.dram", &["density", "timings.rfc", "timings.refi"], because);
        let because = "machine.dram.timings.rfc says what it decides";
        self.add(!off && dram.timings.rfc.is_some(), "machine.dram", &["density"], because);
        let t = &dram.timings;
        let (all, because) = if dram.standard.is_ddr5() {
            let because = "machine.dram.timings (faw, ccd_l_wr) say what it decides";
            (t.faw.is_some() && t.ccd_l_wr.is_some(), because)
        } else {
            let because = "machine.dram.timings (faw, rrd_s, rrd_l) say what it decides";
            (t.faw.is_some() && t.rrd_s.is_some() && t.rrd_l.is_some(), because)
        };
        self.add(all, "machine.dram", &["device_width"], because);
        let other_rank = ["write_to_read", "timings.rank_switch", "timings.rd_to_wr_other_rank"];
        self.add(dram.ranks == 1, "machine.dram", &other_rank, "machine.dram.ranks is 1");
        let nothing_written = !self.scenario.runs_on_cores() && self.bench_reads;
        let drains = [
            "write_queue",
            "admission",
            "drain_high_percent",
            "drain_low_percent",
            "reads_between_drains",
            "write_to_read",
        ];
        self.add(nothing_written, "machine.dram", &drains, "nothing is written to memory");
        let cold = nothing_written && self.scenario.dma_bench.as_ref().is_some_and(|b| !b.warm);
        let keys = ["size", "ways", "replacement", "inclusion", "index", "slices"];
        self.add(cold, "machine.llc", &keys, "nothing comes into the LLC (dma_bench.warm)");
        let local = machine.numa.is_some() && !self.scenario.uses_remote_memory();
        let because =
            "nothing lies in the memory of the other socket (queues.memory, tenants.N.memory)";
        self.add(local, "machine", &["numa"], because);
    }

    /// `machine.nic`.
    fn nic(&mut self) {
        self.add(!self.dma(), "machine", &["nic"], NO_DMA);
        let bench = self.bench_reads || self.bench_writes;
        let of_packets = [
            "link",
            "packet_rate",
            "sram",
            "descriptor_batch",
            "descriptor_size",
            "completion_size",
            "completions_per_write",
            "tx_descriptor_batch",
            "rss",
        ];
        self.add(bench, "machine.nic", &of_packets, NO_PACKETS);
        self.add(self.bench_reads, "machine.nic", &["write_credits"], ONLY_READS);
        self.add(self.bench_writes, "machine.nic", &["read_credits"], ONLY_WRITES);
        let because = "only packets of closed-loop traffic are marked";
        self.add(!self.closed_loop(), "machine.nic", &["ecn_threshold"], because);
        let because = "connections of closed-loop traffic are dealt to the queues without it";
        let closed_loop = self.closed_loop();
        self.add(closed_loop, "machine.nic", &["rss"], because);
        let one = !closed_loop && self.queues == 1;
        self.add(one, "machine.nic", &["rss"], "there is one queue");
    }

    fn closed_loop(&self) -> bool {
        matches!(self.scenario.traffic, Some(TrafficConfig::ClosedLoop(_)))
    }

    /// `machine.pcie`.
    fn pcie(&mut self) {
        let machine = &self.scenario.machine;
        self.add(!self.dma(), "machine", &["pcie"], NO_DMA);
        self.add(
            self.bench_reads,
            "machine.pcie",
            &["credit_return", "posted_credits"],
            ONLY_READS,
        );
        let of_reads = ["max_read_request", "non_posted_credits"];
        self.add(self.bench_writes, "machine.pcie", &of_reads, ONLY_WRITES);
        let translated = machine.iommu.as_ref().is_some_and(|iommu| iommu.mode != Mode::Off);
        let because = "no write waits for its translation: the IOMMU is off or absent";
        self.add(!translated, "machine.pcie", &["relaxed_ordering"], because);
        self.add(translated && self.bench_reads, "machine.pcie", &["relaxed_ordering"], ONLY_READS);
    }

    /// `machine.iommu`.
    fn iommu(&mut self, iommu: &IommuConfig) {
        const TABLE: &str = "machine.iommu";
        let off = iommu.mode == Mode::Off;
        let all = [
            "iotlb",
            "paging_structures",
            "posted_queue",
            "non_posted_queue",
            "walkers",
            "step_latency",
            "pages.descriptors",
            "pages.completions",
            "pages.acknowledgements",
        ];
        self.add(!self.dma(), "machine", &["iommu"], NO_DMA);
        self.add(off, TABLE, &all, "machine.iommu.mode is \"off\"");
        let run_time = iommu.mode.maps_at_run_time();
        let because = "only machine.iommu.mode = \"strict\" and \"deferred\" map at run time";
        self.add(!run_time, TABLE, &["run_time"], because);
        let because = "only machine.iommu.mode = \"deferred\" gathers invalidations";
        let strict = iommu.mode == Mode::Strict;
        self.add(strict, TABLE, &["run_time.flush_after", "run_time.flush_interval"], because);
        if off || !self.dma() {
            return;
        }
        let packets = self.queues > 0;
        let of_packets = ["pages.descriptors", "pages.completions", "run_time"];
        self.add(!packets, TABLE, &of_packets, NO_PACKETS);
        self.add(self.bench_reads, TABLE, &["posted_queue"], ONLY_READS);
        self.add(self.bench_writes, TABLE, &["non_posted_queue"], ONLY_WRITES);
        let because = "only closed-loop traffic is acknowledged";
        self.add(!self.closed_loop(), TABLE, &["pages.acknowledgements"], because);
        let pages = &iommu.pages;
        let mut sizes = vec![pages.payload];
        if packets {
            sizes.extend([pages.descriptors, pages.completions]);
        }
        if self.closed_loop() {
            sizes.push(pages.acknowledgements);
        }
        let small = sizes.contains(&PageSize::Small);
        let because = "only walks for pages of 4 KiB read entries below a page directory";
        self.add(!small, TABLE, &["paging_structures.pd"], because);
        let huge = sizes.iter().all(|&size| size == PageSize::Huge);
        let because = "walks for pages of 1 GiB end at its level";
        self.add(huge, TABLE, &["paging_structures.pdpt"], because);
    }

    /// `traffic`.
    fn traffic(&mut self) {
        let all_drawn =
            self.queues > 0 && self.scenario.serving().all(|t| t.app.settings().draws_requests());
        let because = "the clients of the key-value store decide the sizes of their requests \
                       (app.requests = \"drawn\")";
        self.add(all_drawn, "traffic", &["sizes"], because);
        let because = "there is one queue for all of them";
        let alike =
            self.queues == 1 && !self.scenario.serving().any(|t| t.app.settings().tells_flows());
        self.add(alike, "traffic", &["flows"], because);
        let Some(TrafficConfig::ClosedLoop(config)) = &self.scenario.traffic else { return };
        let because = "traffic.read_mix has the sizes";
        self.add(config.read_mix.is_some(), "traffic", &["read"], because);
        let because = "with traffic.load reads are wanted whether those before are complete or not";
        self.add(config.load.is_some(), "traffic", &["think"], because);
        let rivals = config.rivals.as_ref();
        let loaded = rivals.is_some_and(|r| r.load.is_some()) || config.load.is_some();
        let because = "their load is wanted whether the reads before are complete or not";
        self.add(rivals.is_some() && loaded, "traffic.rivals", &["think"], because);
        let own = rivals.is_some_and(|r| r.read.is_some() && r.read_mix.is_some());
        let because = "traffic.rivals.read is the size";
        self.add(own, "traffic.rivals", &["read_mix"], because);
        let rivals = rivals.and_then(|rivals| rivals.control.as_ref());
        let control = Some(("traffic.control", &config.control));
        for (table, control) in
            control.into_iter().chain(rivals.map(|c| ("traffic.rivals.control", c)))
        {
            match control {
                ControlConfig::Swift(swift) => {
                    let keys = ["flow_min_cwnd", "flow_max_cwnd"];
                    let because = "flow_range of the same table is nothing";
                    self.add(swift.flow_range.0 == 0, table, &keys, because);
                    let because = "hops of the same table is 0";
                    self.add(swift.hops == 0, table, &["hop_target"], because);
                }
                ControlConfig::Timely(timely) => {
                    let because = "beta of the same table is 0";
                    self.add(timely.beta == 0.0, table, &["min_rtt", "max_decrease"], because);
                }
                // Those of others always have an effect.
                _ => {}
            }
        }
    }

    /// `dma_bench`, `placement` and `queues`.
    fn bench_and_placement(&mut self) {
        let placement = &self.scenario.placement;
        self.add(self.bench_writes, "dma_bench", &["overhead"], ONLY_WRITES);
        self.add(self.bench_reads, "placement", &["policy", "io_ways"], ONLY_READS);
        let writes = self.queues > 0 || self.bench_writes;
        if placement.policy == Policy::Dma {
            let because = "placement.policy = \"dma\" writes nothing to the LLC";
            self.add(writes, "placement", &["io_ways"], because);
        } else {
            let because =
                "nothing that the NIC writes goes to the LLC of this socket (queues.memory)";
            self.add(writes && !self.writes_to_llc(), "placement", &["io_ways"], because);
        }
        let packets = self.queues > 0 && self.writes_to_llc();
        for (table, because) in placement.idle_tables(packets) {
            self.add(true, "placement", &[table], because);
        }
        let bench = self.bench_reads || self.bench_writes;
        self.add(bench, "placement", &["sweeper"], NO_PACKETS);
        let keys = ["policy", "io_ways", "sweeper"];
        self.add(!self.dma(), "placement", &keys, NO_DMA);
        if self.queues == 0 {
            let because = "no core receives packets";
            self.keys.push(WithoutEffect { key: "queues".into(), because });
        }
    }

    /// `tenants.N`.
    fn tenants(&mut self) {
        for (i, tenant) in self.scenario.tenants.iter().enumerate() {
            if !tenant.runs() {
                let keys = ["app", "cores.first", "llc_ways", "memory"];
                self.add(true, &format!("tenants.{i}"), &keys, "the tenant has no cores");
                continue;
            }
            let settings = tenant.app.settings();
            let keys = settings.without_effect(tenant.cores.count).into_iter();
            self.keys.extend(keys.map(|(key, because)| WithoutEffect {
                key: format!("tenants.{i}.app.{key}"),
                because,
            }));
            let because = "the application has no data of its own";
            self.add(!settings.has_data(), &format!("tenants.{i}"), &["memory"], because);
        }
    }
}
