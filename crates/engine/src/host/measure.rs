//! What the host counts, and how the result of a run is made of it.

use std::collections::BTreeMap;

use super::closed_loop::ClosedLoop;
use super::packets::Packet;
use super::{Event, Host, balance};
use crate::apps::AnyApp;
use crate::iommu::{Iommu, Lookups, Mapping, Order};
use crate::memory::line::{LINE_BYTES, LineKind};
use crate::memory::traffic::{Agent, Traffic};
use crate::nic::queue::Queue;
use crate::stats::histogram::Latency;
use crate::stats::results::{
    CacheResults, CauseTraffic, DramResults, IoResults, IommuResults, IotlbResults, MemoryTraffic,
    NodeTraffic, Packets as PacketResults, Results, Series, SocketLinkResults, StageLatency,
    TenantResults, TimeSeries,
};
use crate::time::Ps;

/// Names of the latency stages, in path order.
const STAGES: [&str; 6] = ["nic", "dma", "queue", "service", "transmit", "total"];

/// Counters at the time of a sample, of which the series are differences.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    offered: u64,
    completed: u64,
    dropped: u64,
    reads: u64,
    writes: u64,
    rx_evictions: u64,
}

/// What the host counts since measuring began.
#[derive(Clone, Debug)]
pub(super) struct Meters {
    pub(super) now: Ps,
    begin: Ps,
    pub(super) offered: u64,
    pub(super) dropped_sram: u64,
    pub(super) dropped_no_descriptor: u64,
    pub(super) completed: u64,
    completed_bytes: u64,
    transmitted: u64,
    /// Packets between wire and completion.
    pub(super) in_path: u64,
    pub(super) in_path_begin: u64,
    stages: [Latency; STAGES.len()],
    /// Lines moved by the NIC.
    pub(super) io_lines: u64,
    /// Time integrals: bytes in SRAM, write credits in use; and when they were last brought up.
    sram_time: u128,
    sram_since: Ps,
    credit_time: u128,
    credit_since: Ps,
    /// Lines whose write credits have come back.
    pub(super) written_lines: u64,
    /// Sum over packets of the share of their queue's descriptors that were in use, in 1/65536, and
    /// the number of packets.
    ring_use: u64,
    ring_samples: u64,
    last: Totals,
    series: [Vec<f64>; SERIES.len()],
    series_start: Ps,
}

/// Name and unit of each time series.
const SERIES: [(&str, &str); 8] = [
    ("offered", "Mpps"),
    ("completed", "Mpps"),
    ("dropped", "Mpps"),
    ("nic-sram", "KiB"),
    ("queue", "packets"),
    ("memory-rd", "GB/s"),
    ("memory-wr", "GB/s"),
    ("rx-evct", "GB/s"),
];

impl Meters {
    pub(super) fn new() -> Meters {
        Meters {
            now: Ps::ZERO,
            begin: Ps::ZERO,
            offered: 0,
            dropped_sram: 0,
            dropped_no_descriptor: 0,
            completed: 0,
            completed_bytes: 0,
            transmitted: 0,
            in_path: 0,
            in_path_begin: 0,
            stages: Default::default(),
            io_lines: 0,
            sram_time: 0,
            sram_since: Ps::ZERO,
            credit_time: 0,
            credit_since: Ps::ZERO,
            written_lines: 0,
            ring_use: 0,
            ring_samples: 0,
            last: Totals::default(),
            series: Default::default(),
            series_start: Ps::ZERO,
        }
    }

    #[inline]
    pub(super) fn account_sram(&mut self, now: Ps, used: u64) {
        self.sram_time += u128::from(used) * u128::from((now - self.sram_since).0);
        self.sram_since = now;
    }

    #[inline]
    pub(super) fn account_credits(&mut self, now: Ps, used: u32) {
        self.credit_time += u128::from(used) * u128::from((now - self.credit_since).0);
        self.credit_since = now;
    }

    #[inline]
    pub(super) fn sample_ring(&mut self, queue: &Queue) {
        self.ring_use += (u64::from(queue.used()) << 16) / u64::from(queue.rx_descriptors);
        self.ring_samples += 1;
    }

    /// The request of a packet has ended.
    pub(super) fn ended(&mut self, now: Ps, p: &Packet) {
        self.completed += 1;
        self.completed_bytes += u64::from(p.bytes);
        self.in_path -= 1;
        let spans = [
            (0, p.dma_start - p.arrived),
            (1, p.visible - p.dma_start),
            (2, p.begun.saturating_sub(p.visible)),
            (3, now - p.begun),
            (5, now - p.arrived),
        ];
        for (stage, span) in spans {
            self.stages[stage].record(span);
        }
    }

    /// The NIC has sent a packet.
    pub(super) fn sent(&mut self, now: Ps, p: &Packet) {
        self.transmitted += 1;
        self.stages[4].record(now - p.posted);
    }

    pub(super) fn service_mean_ns(&self) -> f64 {
        self.stages[3].mean_ns()
    }

    pub(super) fn total_p99_ns(&self) -> f64 {
        self.stages[5].percentile_ns(99.0)
    }
}

/// Lines over a span as GB/s (bytes per nanosecond).
fn gbps(lines: u64, span_ns: f64) -> f64 {
    (lines * LINE_BYTES) as f64 / span_ns
}

impl Host {
    fn totals(&self) -> Totals {
        let m = &self.meters;
        let (reads, writes) = self.memory.moved();
        let rx_evictions = |t: &Traffic| t.lines(Agent::Evict, LineKind::Rx);
        Totals {
            offered: m.offered,
            completed: m.completed,
            dropped: m.dropped_sram + m.dropped_no_descriptor,
            reads,
            writes,
            rx_evictions: self.memory.traffic.iter().map(rx_evictions).sum(),
        }
    }

    /// Takes a sample of the time series.
    pub(super) fn sample(&mut self) {
        let total = self.totals();
        let waiting: usize = self.queues.iter().map(|q| q.visible.len()).sum();
        let m = &mut self.meters;
        let last = std::mem::replace(&mut m.last, total);
        let us = self.scenario.run.sample.ps().as_ns_f64() / 1e3;
        let rate = |now: u64, before: u64| (now - before) as f64 / us;
        let bandwidth = |now: u64, before: u64| gbps(now - before, us * 1e3);
        let values = [
            rate(total.offered, last.offered),
            rate(total.completed, last.completed),
            rate(total.dropped, last.dropped),
            self.rx.sram_used as f64 / 1024.0,
            waiting as f64,
            bandwidth(total.reads, last.reads),
            bandwidth(total.writes, last.writes),
            bandwidth(total.rx_evictions, last.rx_evictions),
        ];
        for (column, value) in m.series.iter_mut().zip(values) {
            column.push(value);
        }
        if let Some(closed_loop) = &mut self.closed_loop {
            let interval = self.scenario.run.sample.ps();
            closed_loop.sample(self.events.now(), interval);
        }
    }

    pub(super) fn reset_meters(&mut self) {
        let now = self.meters.now;
        let in_path = self.meters.in_path;
        let mut fresh = Meters::new();
        (fresh.now, fresh.begin, fresh.sram_since, fresh.credit_since) = (now, now, now, now);
        (fresh.in_path, fresh.in_path_begin, fresh.series_start) = (in_path, in_path, now);
        self.meters = fresh;
        self.memory.reset_counts(now);
        if let Some(link) = &mut self.rx.link {
            link.reset_counts();
        }
        if let Some(iommu) = &mut self.iommu {
            iommu.reset_counts(now);
        }
        if let Some(mapping) = &mut self.run_time_mapping {
            mapping.reset_counts();
        }
        if let Some(bench) = &mut self.bench {
            bench.reset_counts();
        }
        for c in &mut self.cores {
            c.core.reset_counts();
            (c.busy, c.since) = (Ps::ZERO, now);
        }
        for app in &mut self.apps {
            app.reset_counters();
        }
        if let Some(closed_loop) = &mut self.closed_loop {
            closed_loop.reset();
        }
    }

    /// Mean number of write credits in use.
    pub(super) fn mean_credits(&self) -> f64 {
        let m = &self.meters;
        let open = u128::from(self.rx.credits_used()) * u128::from((m.now - m.credit_since).0);
        (m.credit_time + open) as f64 / self.span_ps()
    }

    /// Mean time for which a line written held its credit (Little's law), ns.
    fn write_latency_ns(&self) -> Option<f64> {
        let lines = self.meters.written_lines;
        (lines > 0).then(|| self.mean_credits() * self.span_ps() / 1e3 / lines as f64)
    }

    /// Mean number of bytes in the NIC's SRAM.
    pub(super) fn mean_sram(&self) -> f64 {
        let m = &self.meters;
        let open = u128::from(self.rx.sram_used) * u128::from((m.now - m.sram_since).0);
        (m.sram_time + open) as f64 / self.span_ps()
    }

    /// Mean share of receive descriptors that hold a packet or wait to be posted again.
    pub(super) fn mean_ring_use(&self) -> f64 {
        let m = &self.meters;
        if m.ring_samples == 0 { 0.0 } else { m.ring_use as f64 / 65536.0 / m.ring_samples as f64 }
    }

    /// Mean share of time in which the cores that have a tenant had a packet or work of their own.
    pub(super) fn busy_share(&self) -> f64 {
        let m = &self.meters;
        let (mut busy, mut cores) = (0.0, 0u32);
        for c in self.cores.iter().filter(|c| c.tenant.is_some()) {
            busy += match c.queue {
                None => self.span_ps(),
                Some(_) if c.in_service > 0 => (c.busy + m.now.saturating_sub(c.since)).0 as f64,
                Some(_) => c.busy.0 as f64,
            };
            cores += 1;
        }
        (busy / self.span_ps() / f64::from(cores.max(1))).min(1.0)
    }

    /// Mean share of the cores' miss registers in use.
    pub(super) fn miss_register_share(&self) -> f64 {
        let (mut used, mut cores) = (0.0, 0u32);
        for c in self.cores.iter().filter(|c| c.tenant.is_some()) {
            used += c.core.miss_time_ps();
            cores += 1;
        }
        let registers = f64::from(self.scenario.machine.core.l1_miss_registers);
        used / self.span_ps() / f64::from(cores.max(1)) / registers
    }

    pub(super) fn span_ps(&self) -> f64 {
        (self.meters.now - self.meters.begin).0.max(1) as f64
    }

    pub(super) fn measure(&self) -> Result<Results, String> {
        let conservation = balance::check(self)?;
        let span_ns = self.span_ps() / 1e3;
        let (stages, limiting_stage) = self.stage_loads();
        let (slots, accesses) = self
            .cores
            .iter()
            .map(|c| (c.core.access_ps(), c.core.accesses))
            .fold((0.0, 0u64), |a, c| (a.0 + c.0, a.1 + c.1));
        let counts = &self.memory.counts;
        Ok(Results {
            engine_version: env!("CARGO_PKG_VERSION").into(),
            seed: self.scenario.run.seed,
            measured_ns: span_ns,
            packets: self.packet_results(span_ns),
            transport: self.closed_loop.as_ref().map(|c| c.results(span_ns)),
            latency: STAGES
                .iter()
                .zip(&self.meters.stages)
                .filter(|(_, l)| l.count() > 0)
                .map(|(name, l)| StageLatency {
                    stage: (*name).into(),
                    distribution: l.distribution(),
                })
                .collect(),
            memory: self.memory_results(span_ns),
            dram: self.dram_results(),
            caches: self.cache_results(),
            io: (self.meters.io_lines > 0).then_some(IoResults {
                write_hits: counts.io_write_hits,
                write_misses: counts.io_write_misses,
                read_hits: counts.io_read_hits,
                read_misses: counts.io_read_misses,
                write_credits: self.rx.credits(),
                write_credits_used: self.mean_credits(),
                write_latency_ns: self.write_latency_ns(),
            }),
            iommu: self.iommu.as_ref().map(|iommu| self.iommu_results(iommu, span_ns)),
            dma: self.bench.as_ref().map(|bench| bench.results(span_ns)),
            amat_ns: if accesses == 0 { 0.0 } else { slots / 1e3 / accesses as f64 },
            stages,
            limiting_stage,
            tenants: self.tenant_results(span_ns),
            series: TimeSeries {
                interval_ns: self.scenario.run.sample.ps().as_ns_f64(),
                start_ns: self.meters.series_start.as_ns_f64(),
                columns: SERIES
                    .iter()
                    .zip(&self.meters.series)
                    .map(|((name, unit), values)| Series {
                        name: (*name).into(),
                        unit: (*unit).into(),
                        values: values.clone(),
                    })
                    .chain(self.closed_loop.iter().flat_map(ClosedLoop::series))
                    .collect(),
            },
            conservation,
            reads_after_sweep: self.memory.swept.reads,
            line_accesses: counts.l1_accesses.iter().sum::<u64>() + self.meters.io_lines,
        })
    }

    fn packet_results(&self, span_ns: f64) -> PacketResults {
        let m = &self.meters;
        let per_us = |n: u64| n as f64 / (span_ns / 1e3);
        let dropped = m.dropped_sram + m.dropped_no_descriptor;
        PacketResults {
            offered: m.offered,
            dropped_sram: m.dropped_sram,
            dropped_no_descriptor: m.dropped_no_descriptor,
            completed: m.completed,
            transmitted: m.transmitted,
            in_flight_begin: m.in_path_begin,
            in_flight_end: m.in_path,
            offered_mpps: per_us(m.offered),
            completed_mpps: per_us(m.completed),
            completed_gbps: (m.completed_bytes * 8) as f64 / span_ns,
            drop_share: if m.offered == 0 { 0.0 } else { dropped as f64 / m.offered as f64 },
        }
    }

    fn memory_results(&self, span_ns: f64) -> MemoryTraffic {
        let backend = &self.memory.backend;
        let [local, remote] = &self.memory.traffic;
        let bandwidth = |t: &Traffic| gbps(t.reads() + t.writes(), span_ns);
        let all = local.plus(remote);
        let node = |name: &str, traffic: &Traffic| NodeTraffic {
            node: name.into(),
            bandwidth_gbps: bandwidth(traffic),
            bus_limit_gbps: backend.bus_limit_gbps,
            causes: self.causes(traffic, span_ns),
        };
        let nodes = match backend.link {
            Some(_) => vec![node("local", local), node("remote", remote)],
            None => Vec::new(),
        };
        let socket_link = backend.link.as_ref().map(|link| {
            let (to_remote, to_local) = link.bytes();
            SocketLinkResults {
                to_remote_gbps: to_remote as f64 / span_ns,
                to_local_gbps: to_local as f64 / span_ns,
                limit_gbps: link.limit_gbps(),
            }
        });
        MemoryTraffic {
            bandwidth_gbps: bandwidth(&all),
            bus_limit_gbps: backend.bus_limit_gbps * nodes.len().max(1) as f64,
            causes: self.causes(&all, span_ns),
            nodes,
            socket_link,
        }
    }

    fn causes(&self, traffic: &Traffic, span_ns: f64) -> Vec<CauseTraffic> {
        let completed = self.meters.completed;
        traffic
            .by_name()
            .into_iter()
            .filter(|c| c.1 || c.2 > 0)
            .map(|(cause, in_figure_1c, lines)| CauseTraffic {
                cause: cause.into(),
                in_figure_1c,
                lines,
                per_request: (completed > 0).then(|| lines as f64 / completed as f64),
                gbps: gbps(lines, span_ns),
            })
            .collect()
    }

    fn iommu_results(&self, iommu: &Iommu<Event>, span_ns: f64) -> IommuResults {
        let counts = &iommu.walkers.counts;
        let mapping = self.run_time_mapping.as_ref();
        let misses: u64 = iommu.lookups.iter().map(|l| l.misses).sum();
        let (walks, completed) = (counts.finished, self.meters.completed);
        let per_packet = |n: u64| (completed > 0).then(|| n as f64 / completed as f64);
        IommuResults {
            lookups: Mapping::ALL
                .iter()
                .zip(&iommu.lookups)
                .map(|(mapping, &Lookups { hits, misses })| IotlbResults {
                    mapping: mapping.name().into(),
                    hits,
                    misses,
                    misses_per_packet: per_packet(misses),
                })
                .collect(),
            misses_per_packet: per_packet(misses),
            write_wait_ns: iommu.waits(Order::Posted).mean_ns(),
            walks,
            walk_reads: counts.reads,
            miss_latency_ns: (walks > 0).then(|| counts.miss_time as f64 / 1e3 / walks as f64),
            invalidations: mapping.map(|m| m.invalidations),
            invalidation_wait_ns: mapping
                .filter(|m| m.invalidations > 0)
                .map(|m| m.waited as f64 / 1e3 / m.invalidations as f64),
            walkers_busy: iommu.walkers.busy_time(self.meters.now) as f64 / 1e3 / span_ns,
        }
    }

    fn dram_results(&self) -> DramResults {
        let now = self.meters.now;
        let dram = &self.memory.backend.dram;
        let stats: Vec<_> = (0..dram.channels()).map(|c| dram.stats(c, now)).collect();
        DramResults {
            read_latency: self.memory.backend.read_latency.distribution(),
            row_hits: stats.iter().map(|s| s.row_hits).sum(),
            row_misses: stats.iter().map(|s| s.row_misses).sum(),
            row_conflicts: stats.iter().map(|s| s.row_conflicts).sum(),
            bus_busy: stats.iter().map(|s| s.data_bus_busy.0 as f64 / self.span_ps()).collect(),
        }
    }

    fn cache_results(&self) -> Vec<CacheResults> {
        let c = &self.memory.counts;
        let levels = [
            ("l1d", &c.l1_accesses, &c.l1_misses),
            ("l2", &c.l1_misses, &c.l2_misses),
            ("llc", &c.l2_misses, &c.llc_misses),
        ];
        let mut rows = Vec::new();
        for (level, accesses, misses) in levels {
            for kind in LineKind::ALL {
                let (all, missed) = (accesses[kind as usize], misses[kind as usize]);
                if all > 0 {
                    rows.push(CacheResults {
                        level: level.into(),
                        kind: kind.name().into(),
                        // Requests that wait for another core's miss count at the upper level only.
                        hits: all.saturating_sub(missed),
                        misses: missed,
                    });
                }
            }
        }
        rows
    }

    fn tenant_results(&self, span_ns: f64) -> Vec<TenantResults> {
        let by_core = &self.memory.counts.llc_by_core;
        self.scenario
            .tenants
            .iter()
            .zip(&self.apps)
            .map(|(tenant, app)| {
                let cores = tenant.cores.first as usize..;
                let cores = cores.take(tenant.cores.count as usize);
                let (all, missed) =
                    cores.map(|c| by_core[c]).fold((0, 0), |a, c| (a.0 + c.0, a.1 + c.1));
                let counters = counters_by_name(app);
                let progress = app.counters().progress();
                TenantResults {
                    name: tenant.name.clone(),
                    progress_mps: progress as f64 / (span_ns / 1e3),
                    llc_hits: all - missed,
                    llc_misses: missed,
                    counters,
                    stream_gbps_by_core: match app {
                        AnyApp::Stream(stream) => {
                            Some(stream.by_core().map(|c| c.bytes as f64 / span_ns).collect())
                        }
                        _ => None,
                    },
                }
            })
            .collect()
    }
}

fn counters_by_name(app: &AnyApp) -> BTreeMap<String, u64> {
    app.counters().by_name().into_iter().map(|(name, n)| (name.to_string(), n)).collect()
}
