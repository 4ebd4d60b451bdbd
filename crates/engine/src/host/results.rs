//! The result of a run, assembled from what its parts have counted.

use std::collections::BTreeMap;

use super::meters::Stage;
use super::shares::share_lost;
use super::{Event, Host, HostCore, balance};
use crate::apps::{AnyApp, App};
use crate::config::machine::Machine;
use crate::iommu::{Iommu, Mapping};
use crate::memory::dram::{Rows, UnloadedRead};
use crate::memory::line::{LINE_BYTES, LineKind, gbytes_per_s};
use crate::memory::line_set::LineSet;
use crate::memory::traffic::Traffic;
use crate::nic::queue::QueuePair;
use crate::stats::histogram::Latency;
use crate::stats::occupancy::Occupancy;
use crate::stats::results::{
    CacheResults, CaptureFacts, CauseTraffic, DramResults, IoKindResults, IoResults, IommuResults,
    IotlbResults, LlcContents, MemoryTraffic, NodeTraffic, Packets as PacketResults, Results,
    SocketLinkResults, StageLatency, TenantResults,
};
use crate::time::Ps;
use crate::wire::Source;

impl Host {
    /// The time that has been measured.
    pub(super) fn span(&self) -> Ps {
        self.now - self.meters.begin
    }

    /// Mean number of line credits of DMA writes in use.
    pub(super) fn mean_credits(&self) -> f64 {
        self.writes.lines.used().time(self.now) as f64 / self.span_ps()
    }

    /// Mean time for which a written line held its credit, or waited in a domain (Little's law), ns.
    fn of_a_written_line(&self, time: &Occupancy) -> Option<f64> {
        let lines = self.writes.lines.used().uses;
        (lines > 0).then(|| time.time(self.now) as f64 / 1e3 / lines as f64)
    }

    /// The rate at which traffic with a time law would arrive if the link were no limit.
    fn demand_mpps(&self) -> Option<f64> {
        self.mean_rate_f64().map(|mean| mean / 1e6)
    }

    fn capture_facts(&self) -> Option<CaptureFacts> {
        match &self.source {
            Some(Source::Timed(arrivals)) => arrivals.capture_facts(),
            _ => None,
        }
    }

    pub(super) fn span_ps(&self) -> f64 {
        self.span().0.max(1) as f64
    }

    pub(super) fn measure(&self) -> Result<Results, String> {
        let conservation = balance::check(self)?;
        let span_ns = self.span_ps() / 1e3;
        let counts = &self.memory.counts;
        let io = counts.all_io();
        let looked_up = io.looked_up() > 0;
        Ok(Results {
            engine_version: env!("CARGO_PKG_VERSION").into(),
            seed: self.scenario.run.seed,
            measured_ns: span_ns,
            packets: self.packet_results(span_ns),
            transport: self.closed_loop.as_ref().map(|c| c.results(self.now, span_ns)),
            latency: Stage::ALL
                .iter()
                .zip(&self.meters.stages)
                .filter(|(_, l)| l.count() > 0)
                .map(|(stage, l)| StageLatency {
                    stage: stage.name().into(),
                    distribution: l.distribution(),
                })
                .collect(),
            memory: self.memory_results(span_ns),
            dram: self.dram_results(),
            caches: self.cache_results(),
            llc_contents: Some(self.llc_contents()),
            io: (self.meters.io_lines > 0).then_some(IoResults {
                written: Some(io.written),
                write_hits: looked_up.then_some(io.write_hits),
                write_moves: looked_up.then_some(io.write_moves),
                write_misses: looked_up.then_some(io.write_misses),
                write_bypasses: io.write_bypasses,
                rx_footprint_lines: Some(self.rx.written.count()),
                read_hits: io.read_hits,
                read_misses: io.read_misses,
                by_kind: self.io_by_kind(),
                write_credits: self.scenario.machine.nic.write_credits,
                write_credits_used: self.mean_credits(),
                write_latency_ns: self.of_a_written_line(self.writes.lines.used()),
                link_up_ps: self.interconnect.link().map(|link| link.busy(self.now).0.0),
                link_down_ps: self.interconnect.link().map(|link| link.busy(self.now).1.0),
            }),
            iommu: self.iommu.as_ref().map(|iommu| self.iommu_results(iommu, span_ns)),
            dma: self.bench.as_ref().map(|bench| bench.results(span_ns)),
            amat_ns: amat_ns(self.cores.iter()),
            demand_mpps: self.demand_mpps(),
            capture: self.capture_facts(),
            domains: self.domains(),
            queues: self.queue_results(),
            core_time: self.core_time(),
            tenants: self.tenant_results(span_ns),
            series: self.series(),
            conservation,
            reads_after_sweep: self.memory.swept.reads,
            line_accesses: counts.l1_accesses.iter().sum::<u64>() + self.meters.io_lines,
        })
    }

    fn packet_results(&self, span_ns: f64) -> PacketResults {
        let m = &self.meters;
        let per_us = |n: u64| n as f64 / (span_ns / 1e3);
        let gbps = |bytes: u64| (bytes * 8) as f64 / span_ns;
        let dropped = m.dropped();
        PacketResults {
            offered: m.offered,
            dropped_sram: m.dropped_sram,
            dropped_no_descriptor: m.dropped_no_descriptor,
            completed: m.completed,
            completed_before: m.completed_before,
            transmitted: m.transmitted,
            in_flight_begin: m.in_path_begin,
            in_flight_end: m.in_path,
            unsent_begin: m.unsent_begin,
            unsent_end: self.tx.unsent(),
            offered_mpps: per_us(m.offered),
            completed_mpps: per_us(m.completed),
            completed_gbps: gbps(m.completed_bytes),
            offered_gbps: gbps(m.offered_bytes),
            drop_share: share_lost(dropped, m.offered, m.completed),
            dropped_bytes_share: share_lost(m.dropped_bytes, m.offered_bytes, m.completed_bytes),
            next_arrival_ns: (self.next_arrival.as_ref())
                .filter(|_| m.offered == 0)
                .map(|(arrival, _)| arrival.at.as_ns_f64()),
            link_wait_ns: (self.rx.line_rate.as_ref())
                .filter(|_| self.rate().is_some() && m.offered > 0)
                .map(|_| m.link_wait as f64 / 1e3 / m.offered as f64),
            gathering_ns: (self.rx.completions_per_write > 1 && self.rx.gathered.uses > 0).then(
                || {
                    let gathered = &self.rx.gathered;
                    gathered.time(self.now) as f64 / 1e3 / gathered.uses as f64
                },
            ),
        }
    }

    fn memory_results(&self, span_ns: f64) -> MemoryTraffic {
        let link = self.memory.backend.link.as_ref();
        let bus_limit_gbytes_per_s = bus_limit_gbytes_per_s(&self.scenario.machine);
        let of = |node: usize| Traffic::sum(self.memory.traffic.iter().map(|t| &t[node]));
        let (local, remote) = (of(0), of(1));
        let bandwidth = |t: &Traffic| gbytes_per_s(t.reads() + t.writes(), span_ns);
        let all = Traffic::sum([&local, &remote]);
        let told = self.told_node();
        let node = |number: usize, name: &str, traffic: &Traffic| NodeTraffic {
            node: name.into(),
            bandwidth_gbytes_per_s: bandwidth(traffic),
            bus_limit_gbytes_per_s,
            in_domains: number == told,
            read_latency_ns: Some(&self.memory.backend.reads.latency_by_node[number])
                .filter(|reads| reads.count() > 0)
                .map(Latency::mean_ns),
            causes: self.causes(traffic, span_ns),
        };
        let nodes = match link {
            Some(_) => vec![node(0, "local", &local), node(1, "remote", &remote)],
            None => Vec::new(),
        };
        let socket_link = link.map(|link| {
            let (to_remote, to_local) = link.bytes();
            SocketLinkResults {
                to_remote_gbytes_per_s: to_remote as f64 / span_ns,
                to_local_gbytes_per_s: to_local as f64 / span_ns,
                limit_gbytes_per_s: link.limit_gbytes_per_s(),
            }
        });
        MemoryTraffic {
            bandwidth_gbytes_per_s: bandwidth(&all),
            bus_limit_gbytes_per_s: bus_limit_gbytes_per_s * nodes.len().max(1) as f64,
            causes: self.causes(&all, span_ns),
            dirty_begin: self.memory.counts.dirty_begin as u64,
            dirty_end: self.memory.caches.dirty() as u64,
            nodes,
            socket_link,
        }
    }

    fn causes_that_occurred(&self, traffic: &Traffic, span_ns: f64) -> Vec<CauseTraffic> {
        let mut causes = self.causes(traffic, span_ns);
        causes.retain(|cause| cause.lines > 0);
        causes
    }

    fn causes(&self, traffic: &Traffic, span_ns: f64) -> Vec<CauseTraffic> {
        let completed = self.meters.completed;
        traffic
            .by_name()
            .into_iter()
            .enumerate()
            .filter(|&(number, (_, lines))| number < Traffic::OF_FIGURE_1C || lines > 0)
            .map(|(_, (cause, lines))| CauseTraffic {
                cause: cause.into(),
                lines,
                per_request: (completed > 0).then(|| lines as f64 / completed as f64),
                gbytes_per_s: gbytes_per_s(lines, span_ns),
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
                .map(|(mapping, of)| IotlbResults {
                    mapping: mapping.name().into(),
                    hits: of.hits,
                    misses: of.misses,
                    read_hits: of.read_hits,
                    read_misses: of.read_misses,
                    misses_per_packet: per_packet(of.misses),
                })
                .collect(),
            misses_per_packet: per_packet(misses),
            write_wait_ns: self.of_a_written_line(&self.meters.domains.translating),
            walks,
            walk_reads: counts.reads,
            miss_latency_ns: (walks > 0).then(|| counts.miss_time as f64 / 1e3 / walks as f64),
            invalidations: mapping.map(|m| m.invalidations),
            invalidation_wait_ns: mapping
                .filter(|m| m.invalidations > 0)
                .map(|m| m.waited as f64 / 1e3 / m.invalidations as f64),
            mapping_ps: mapping.map(|m| m.taken.0),
            walkers_busy: iommu.walkers.busy_time(self.now) as f64 / 1e3 / span_ns,
        }
    }

    fn dram_results(&self) -> DramResults {
        let now = self.now;
        let dram = &self.memory.backend.ingress.dram;
        let stats: Vec<_> = (0..dram.channels()).map(|c| dram.stats(c, now)).collect();
        let read_rows = stats.iter().map(|s| s.read_rows).fold(Rows::default(), Rows::and);
        let rows = stats.iter().map(|s| s.write_rows).fold(read_rows, Rows::and);
        DramResults {
            read_latency: self.memory.backend.reads.latency().distribution(),
            unloaded_ns: UnloadedRead::new(&self.scenario.machine.dram).mean_ns(read_rows),
            row_hits: rows.hits,
            row_misses: rows.misses,
            row_conflicts: rows.conflicts,
            bus_busy: stats.iter().map(|s| s.data_bus_busy.0 as f64 / self.span_ps()).collect(),
        }
    }

    fn cache_results(&self) -> Vec<CacheResults> {
        let c = &self.memory.counts;
        let levels = [
            ("l1d", &c.l1_accesses, &c.l1_misses),
            ("l2", &c.l2_accesses, &c.l2_misses),
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
                        // A request that asks again after its line arrived overwritten misses the LLC twice.
                        hits: all.saturating_sub(missed),
                        misses: missed,
                    });
                }
            }
        }
        rows
    }

    fn io_by_kind(&self) -> Vec<IoKindResults> {
        let kinds = LineKind::ALL.into_iter().zip(&self.memory.counts.io);
        kinds
            .map(|(kind, io)| IoKindResults {
                kind: kind.name().into(),
                written: Some(io.written),
                write_hits: io.write_hits,
                write_moves: io.write_moves,
                write_misses: io.write_misses,
                write_bypasses: io.write_bypasses,
                write_asides: io.write_asides,
                read_hits: io.read_hits,
                read_misses: io.read_misses,
            })
            .filter(|of| of.lines() > 0)
            .collect()
    }

    fn llc_contents(&self) -> Vec<LlcContents> {
        let mut consumed = LineSet::default();
        for data in self.queues.iter().flat_map(QueuePair::consumed_data) {
            consumed.insert_all(data);
        }
        let of_a_way = self.memory.lines_of_an_llc_way() as f64;
        let held = self.memory.llc_contents(&consumed).into_iter();
        held.map(|held| LlcContents {
            way: held.way as u32,
            kind: held.kind.into(),
            tenant: self.scenario.tenants.get(held.owner).map(|tenant| tenant.name.clone()),
            lines: held.lines,
            dirty: held.dirty,
            share: held.lines as f64 / of_a_way,
        })
        .collect()
    }

    fn tenant_results(&self, span_ns: f64) -> Vec<TenantResults> {
        let by_core = &self.memory.counts.llc_by_core;
        self.scenario
            .tenants
            .iter()
            .zip(&self.apps)
            .zip(&self.memory.traffic)
            .map(|((tenant, app), traffic)| {
                let (first, count) = (tenant.cores.first as usize, tenant.cores.count as usize);
                let requests = by_core.iter().skip(first).take(count);
                let (all, missed) = requests.fold((0, 0), |a, c| (a.0 + c.0, a.1 + c.1));
                let counters = counters_by_name(app);
                let progress = app.progress();
                TenantResults {
                    name: tenant.name.clone(),
                    sends_in_place: tenant.app.settings().sends_in_place(),
                    progress_mps: progress as f64 / (span_ns / 1e3),
                    llc_hits: all - missed,
                    llc_misses: missed,
                    amat_ns: amat_ns(self.cores.iter().skip(first).take(count)),
                    miss_registers_full: self.miss_registers_full(first, count),
                    memory: self.causes_that_occurred(&Traffic::sum(traffic), span_ns),
                    counters,
                    stream_gbytes_per_s_by_core: app
                        .bytes_by_core()
                        .map(|cores| cores.iter().map(|&b| b as f64 / span_ns).collect()),
                }
            })
            .collect()
    }

    /// Share of the time in which all miss registers of a core were busy, mean over `count` cores from `first` on.
    /// (If there are none, the first may lie beyond the machine.)
    fn miss_registers_full(&self, first: usize, count: usize) -> f64 {
        let full = |c: &HostCore| c.core.miss_registers(self.now).full.0 as f64;
        let of_all = self.span_ps() * count.max(1) as f64;
        self.cores.iter().skip(first).take(count).map(full).sum::<f64>() / of_all
    }
}

/// Mean latency of the loads and stores of some cores.
fn amat_ns<'a>(cores: impl Iterator<Item = &'a HostCore>) -> Option<f64> {
    let of = |c: &HostCore| (c.core.access_ps(), c.core.accesses);
    let (ps, accesses) = cores.map(of).fold((0.0, 0), |a, c| (a.0 + c.0, a.1 + c.1));
    (accesses > 0).then(|| ps / 1e3 / accesses as f64)
}

fn counters_by_name(app: &AnyApp) -> BTreeMap<String, u64> {
    app.counters().into_iter().map(|(name, n)| (name.to_string(), n)).collect()
}

/// What the data buses of a node's channels could carry together, GB/s (bytes per nanosecond).
fn bus_limit_gbytes_per_s(machine: &Machine) -> f64 {
    let dram = &machine.dram;
    let burst = dram.standard.clock().at(u64::from(dram.resolved_timings().bl));
    (LINE_BYTES * u64::from(dram.channels)) as f64 / burst.as_ns_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::memory::line::LINE_BYTES;
    use crate::stats::results::{LlcContents, Results, TenantResults};
    use crate::testing::{forwarder, iommu_json, results};

    /// A forwarder and its neighbour, another forwarder or X-Mem, on a core each.
    fn beside(neighbour: &Value, set: &[(&str, Value)]) -> Results {
        let tenant = |name: &str, first: u32, app: &Value| {
            let cores = json!({ "first": first, "count": 1 });
            json!({ "name": name, "cores": cores, "app": app })
        };
        let forwards = forwards();
        let tenants = json!([tenant("first", 0, &forwards), tenant("second", 1, neighbour)]);
        let mut all = vec![("/tenants", tenants)];
        all.extend_from_slice(set);
        results(&forwarder(&all))
    }

    fn forwards() -> Value {
        json!({ "kind": "l3fwd", "rules": 64, "transmit": "copy" })
    }

    fn lines(tenant: &TenantResults, cause: &str) -> u64 {
        tenant.memory.iter().find(|c| c.cause == cause).map_or(0, |c| c.lines)
    }

    fn all_lines(results: &Results) -> u64 {
        results.memory.causes.iter().map(|c| c.lines).sum()
    }

    fn of_tenants(results: &Results) -> u64 {
        results.tenants.iter().flat_map(|t| &t.memory).map(|c| c.lines).sum()
    }

    #[test]
    fn memory_traffic_is_that_of_the_tenant_whose_line_it_is() {
        let xmem = json!({ "kind": "xmem", "region": "1 MiB" });
        let r = beside(&xmem, &[]);
        assert_eq!(of_tenants(&r), all_lines(&r));
        let [forwarder, xmem] = &r.tenants[..] else { panic!("two tenants") };
        assert!(lines(forwarder, "rx-evct") > 1000 && lines(xmem, "cpu-other-rd") > 1000);
        assert!(xmem.memory.iter().all(|c| c.cause == "cpu-other-rd" || c.cause == "other-evct"));
    }

    #[test]
    fn of_buffers_dealt_from_one_region_each_tenant_has_those_of_its_queues() {
        for start in ["dealt", "shuffled", "scattered"] {
            let r = beside(&forwards(), &[("/queues/start", start.into())]);
            assert_eq!(of_tenants(&r), all_lines(&r));
            let [first, second] = [0, 1].map(|i| lines(&r.tenants[i], "rx-evct") as f64);
            // RSS spreads 64 flows over two queues.
            let share = first / (first + second);
            let packets =
                r.tenants[0].progress_mps / (r.tenants[0].progress_mps + r.tenants[1].progress_mps);
            assert!((share - packets).abs() < 0.1, "{start}: {share} of {packets}");
        }
    }

    #[test]
    fn page_walks_are_the_traffic_of_no_tenant() {
        let r = beside(&forwards(), &[("/machine/iommu", iommu_json(8))]);
        let walks = crate::testing::lines(&r, "iommu-walk-rd");
        assert!(walks > 0);
        assert_eq!(all_lines(&r) - of_tenants(&r), walks);
    }

    fn of_llc(r: &Results) -> &[LlcContents] {
        r.llc_contents.as_deref().expect("it is always told")
    }

    /// How many lines of a kind the LLC holds.
    fn held(r: &Results, kind: &str) -> u64 {
        of_llc(r).iter().filter(|c| c.kind == kind).map(|c| c.lines).sum()
    }

    #[test]
    fn what_the_llc_holds_is_told_by_way_and_tenant() {
        let r = beside(&json!({ "kind": "xmem", "region": "1 MiB" }), &[]);
        let machine = crate::testing::machine();
        let of_a_way = machine.llc.size.0 / LINE_BYTES / u64::from(machine.llc.ways);
        let mut in_io_ways = 0;
        for way in 0..machine.llc.ways {
            let held = of_llc(&r).iter().filter(|c| c.way == way);
            let (lines, share) = held.fold((0, 0.0), |a, c| (a.0 + c.lines, a.1 + c.share));
            assert!(lines <= of_a_way, "way {way} holds {lines} of {of_a_way}");
            assert!((share - lines as f64 / of_a_way as f64).abs() < 1e-9);
            in_io_ways += if way < 2 { lines } else { 0 };
        }
        // The domain of the I/O ways counts the same lines in its own way.
        let io_ways = r.domains.iter().find(|d| d.domain == "io-ways").expect("a domain");
        assert_eq!(in_io_ways as f64, io_ways.busy_ps as f64 / 1e3 / r.measured_ns);
        let of = |tenant: &'static str| {
            of_llc(&r).iter().filter(move |c| c.tenant.as_deref() == Some(tenant))
        };
        assert!(of("second").all(|c| c.kind == "app"));
        let of_xmem = of("second").map(|c| c.lines).sum::<u64>();
        assert!(of_xmem > 100, "{of_xmem}: its region is larger than L2 and LLC");
        assert!(
            of("first").any(|c| c.kind == "rx-consumed") && of("first").any(|c| c.kind == "tx")
        );
        assert!(of_llc(&r).iter().all(|c| c.dirty <= c.lines));
    }

    /// At a low rate, hardly a buffer holds a packet; sweeping leaves nothing of the others in the LLC.
    #[test]
    fn consumed_buffers_stay_in_the_llc_unless_they_are_swept() {
        let of = |sweeper: bool| {
            results(&forwarder(&[
                ("/traffic/rate", "1 Mpps".into()),
                ("/placement/sweeper", sweeper.into()),
                ("/run/duration", "1 ms".into()),
            ]))
        };
        let (kept, swept) = (of(false), of(true));
        // Of 1536 lines, 256 in the two I/O ways.
        assert!(held(&kept, "rx-consumed") > 300, "{:?}", of_llc(&kept));
        assert!(held(&kept, "rx") < 20, "{:?}", of_llc(&kept));
        assert_eq!(held(&swept, "rx-consumed"), 0, "{:?}", of_llc(&swept));
    }

    /// While packets wait in full rings, their data is not consumed.
    #[test]
    fn data_of_packets_that_wait_is_not_consumed() {
        let r = results(&forwarder(&[
            ("/traffic/rate", "40 Mpps".into()),
            ("/placement/policy", "ideal-ddio".into()),
        ]));
        assert_eq!(held(&r, "rx") + held(&r, "rx-consumed"), 0, "ideal DDIO keeps packets aside");
        let r = results(&forwarder(&[
            ("/traffic/rate", "40 Mpps".into()),
            ("/queues/rx_descriptors", 32.into()),
        ]));
        assert!(r.packets.drop_share > 0.2);
        assert!(held(&r, "rx") > 2 * held(&r, "rx-consumed"), "{:?}", of_llc(&r));
    }
}
