//! What is reported about each domain on the path: its credits, how long they were held, and how
//! long something waited for one. `nic2core explain` reasons over these (docs/models/explain.md).

use super::credits::Credits;
use super::interconnect::Interconnect;
use super::{Host, HostCore};
use crate::apps::App;
use crate::memory::line::{LINE_BYTES, LineKind};
use crate::nic::counts::ReceiveCounts;
use crate::nic::queue::QueuePair;
use crate::stats::occupancy::Occupancy;
use crate::stats::results::{CoreTime, Domain, QueueResults};
use crate::time::{PS_PER_S, Ps};
use crate::wire::Source;

/// The name of the network link's domain.
pub(crate) const WIRE: &str = "wire";

impl Host {
    /// The cores that serve packets or, if there are none, all that have a tenant.
    fn working_cores(&self) -> impl Iterator<Item = &HostCore> {
        let serving = !self.queues.is_empty();
        self.cores.iter().filter(move |c| c.tenant.is_some() && (c.queue.is_some() || !serving))
    }

    /// Time in which a core was not just waiting for the next packet: it had one, or posted
    /// descriptors, looked for transmit completions, or mapped buffers. A core that serves no
    /// packets always has work of its own.
    fn busy(&self, core: &HostCore) -> Ps {
        core.queue.map_or_else(|| self.span(), |_| core.busy_by(self.now))
    }

    /// What the cores spent their time on.
    pub(super) fn core_time(&self) -> CoreTime {
        let mut time = CoreTime::default();
        for core in self.working_cores() {
            let (all, missed) = self.memory.counts.llc_by_core[core.core.number()];
            let busy = self.busy(core).0;
            time.busy_ps += busy;
            time.busiest_ps = time.busiest_ps.max(busy);
            // What a core running ahead has dispatched beyond now is not in the measured time.
            time.dispatch_ps += core.core.dispatch_time().0.min(busy);
            time.llc_hits += all - missed;
            time.llc_misses += missed;
        }
        time
    }

    /// What each queue and its core did.
    pub(super) fn queue_results(&self) -> Vec<QueueResults> {
        let of = |q: &QueuePair| q.results(self.now, self.busy(&self.cores[q.core as usize]));
        self.queues.iter().map(of).collect()
    }

    /// All domains in path order.
    pub(super) fn domains(&self) -> Vec<Domain> {
        let mut domains = Vec::new();
        if !self.queues.is_empty() {
            domains.extend(self.receive_domains());
        }
        if !self.queues.is_empty() || self.bench.is_some() {
            domains.extend(self.dma_domains());
        }
        domains.push(self.home_trackers());
        domains.extend(self.memory_domains());
        domains.extend(self.core_domains());
        domains.extend(self.transmit_domains());
        domains
    }

    fn pool(&self, name: &str, unit: &str, pool: &Credits) -> Domain {
        let (now, used) = (self.now, pool.used());
        let starved_ps = pool.starved(now).0;
        Domain { starved_ps, ..domain(name, unit, pool.all(), used.time(now), used.uses) }
    }

    fn receive_domains(&self) -> Vec<Domain> {
        let c = &self.meters.domains;
        let mut domains = Vec::new();
        if let Some(rate) = self.scenario.machine.nic.link {
            // The busier direction. A frame takes the time of its bits at the line rate, including
            // preamble, check sequence and gap. A backlog does not come over the link.
            let came = match self.source {
                Some(Source::Backlog { .. }) => (0, 0),
                _ => (c.link_bits, self.meters.offered),
            };
            let (bits, frames) = came.max((c.sent_bits, self.meters.transmitted));
            let busy = u128::from(bits) * PS_PER_S / u128::from(rate.0);
            domains.push(Domain {
                holds_reads_ps: c.sending.time(self.now),
                ..domain(WIRE, "frame", 1, busy as u64, frames)
            });
        }
        domains.push(self.pool("nic-sram", "B", &self.rx.sram));
        let now = self.now;
        domains.extend(self.packet_engine());
        let counts = || self.queues.iter().map(|q| &q.rx.counts);
        let sum = |of: fn(&ReceiveCounts, Ps) -> u64| counts().map(|c| of(c, now)).sum();
        let descriptors = u64::from(self.scenario.queues.rx_descriptors) * self.queues.len() as u64;
        let (busy, uses) = (sum(|c, now| c.used.time(now)), sum(|c, _| c.used.uses));
        // Of the queue that is short the longest: the descriptors of other queues are of no use to it.
        let starved = counts().map(|c| c.starved.time(now).0).max();
        domains.push(Domain {
            starved_ps: starved.unwrap_or(0),
            ..domain("descriptors", "descriptor", descriptors, busy, uses)
        });
        let (reading, reads) = (sum(|c, _| c.fetches.time.0), sum(|c, _| c.fetches.count));
        domains.push(Domain {
            starved_ps: c.unread_descriptor.time(now).0,
            ..domain("rx-fetches", "read", self.queues.len() as u64, reading, reads)
        });
        domains
    }

    /// The busier direction of what processes the NIC's packets, if its rate is limited, and the longer of the waits.
    fn packet_engine(&self) -> Option<Domain> {
        let (received, sent) = (self.rx.engine.used(self.now)?, self.tx.engine.used(self.now)?);
        let (busy, packets, _) = received.max(sent);
        let all = domain("packet-engine", "packet", 1, busy.0, packets);
        Some(Domain { starved_ps: received.2.max(sent.2).0, ..all })
    }

    /// The send queues, if anything is sent: their descriptors, and the fetches of descriptors
    /// alone, one per queue at a time.
    fn transmit_domains(&self) -> Vec<Domain> {
        let (now, queues) = (self.now, self.queues.len() as u64);
        let counts = || self.queues.iter().map(|q| &q.tx.counts);
        let mut domains = Vec::new();
        let (busy, sent) =
            (counts().map(|c| c.used.time(now)).sum(), counts().map(|c| c.used.uses).sum());
        if sent > 0 {
            let descriptors = u64::from(self.scenario.queues.tx_descriptors) * queues;
            // Of the queue that waits longest.
            let starved = counts().map(|c| c.starved.time(now).0).max();
            domains.push(Domain {
                starved_ps: starved.unwrap_or(0),
                ..domain("tx-descriptors", "descriptor", descriptors, busy, sent)
            });
        }
        let fetches = counts().map(|c| c.fetches.count).sum();
        if fetches > 0 {
            let busy = counts().map(|c| c.turn.time(now)).sum();
            domains.push(domain("tx-fetches", "read", queues, busy, fetches));
        }
        domains
    }

    fn dma_domains(&self) -> Vec<Domain> {
        let (machine, now, c) = (&self.scenario.machine, self.now, &self.meters.domains);
        let mut domains = Vec::new();
        match &self.interconnect {
            Interconnect::Pcie(link) => {
                let (busy, tlps) = link.busier(now);
                domains.push(Domain {
                    holds_writes_ps: c.waiting_for_link.time(now),
                    ..domain("pcie", "direction", 1, busy.0, tlps)
                });
                domains.push(self.pool("posted-credits", "TLP", &self.writes.tlps));
                domains.push(self.pool("read-tags", "request", &self.reads.requests));
            }
            Interconnect::OnChip(port) => {
                let (busy, messages) = port.used(now);
                domains.push(domain("nic-port", "direction", 1, busy.0, messages));
            }
        }
        if let (Some(iommu), Some(config)) = (&self.iommu, &machine.iommu) {
            let walkers = &iommu.walkers;
            let (busy, walks) = (walkers.busy_time(now) as u64, walkers.counts.started);
            domains.push(Domain {
                starved_ps: walkers.starved.time(now).0,
                holds_writes_ps: c.translating.time(now),
                holds_reads_ps: c.translating_reads.time(now),
                ..domain("iommu", "walker", config.walkers.into(), busy, walks)
            });
        }
        domains.extend(self.invalidations());
        domains.push(self.pool("io-credits", "line", &self.writes.lines));
        domains.push(self.pool("read-credits", "line", &self.reads.lines));
        let counts = &self.memory.counts;
        // Where packets are placed outside the cache hierarchy, the I/O ways hold only descriptors
        // and are no limit.
        let aside = self.scenario.placement.policy.keeps_aside(LineKind::Rx);
        if !aside && counts.all_io().looked_up() > 0 {
            let ways = u64::from(self.scenario.placement.io_ways);
            let lines = machine.llc.size.0 / LINE_BYTES * ways / u64::from(machine.llc.ways);
            // The number at the end stands for the whole time: lines come and go one by one, and
            // are not tracked over time.
            let busy = self.memory.caches.held_in_io_ways() * self.span().0;
            domains.push(domain("io-ways", "line", lines, busy, counts.all_io().fills()));
        }
        domains
    }

    /// The IOMMU's invalidation queue, which does one invalidation at a time, if buffers are
    /// unmapped at run time.
    fn invalidations(&self) -> Option<Domain> {
        let mapping = self.run_time_mapping.as_ref()?;
        let (busy, uses) = (mapping.busy(self.now).0, mapping.invalidations);
        let all = domain("invalidations", "invalidation", 1, busy, uses);
        Some(Domain { holds_cores_ps: mapping.waited as u64, ..all })
    }

    /// The home trackers of the node that is told, and what waits for one: before this socket's LLC, or
    /// behind the link.
    fn home_trackers(&self) -> Domain {
        let now = self.now;
        let trackers = self.scenario.machine.llc.home_trackers.into();
        let all = |used: &Occupancy| {
            domain("home-trackers", "transaction", trackers, used.time(now), used.uses)
        };
        if self.told_node() == 0 {
            let held = &self.meters.domains.held_back;
            Domain {
                starved_ps: held.time.time(now).0,
                holds_writes_ps: held.writes.time(now),
                holds_reads_ps: held.reads.time(now),
                holds_cores_ps: held.cores.time(now),
                ..all(&self.memory.backend.trackers.used)
            }
        } else {
            let home = &self.memory.backend.remote_home;
            Domain {
                starved_ps: home.time.time(now).0,
                holds_reads_ps: home.reads.time(now),
                holds_cores_ps: home.cores.time(now),
                ..all(&home.trackers.used)
            }
        }
    }

    fn core_domains(&self) -> Vec<Domain> {
        let cores = self.working_cores().count() as u64;
        if cores == 0 {
            return Vec::new();
        }
        let registers = cores * u64::from(self.scenario.machine.core.l1_miss_registers);
        let mut misses = domain("miss-registers", "register", registers, 0, 0);
        for core in self.working_cores() {
            let used = core.core.miss_registers(self.now);
            misses.busy_ps += used.busy.0;
            misses.uses += used.uses;
            // The mean over cores of the time in which all are busy.
            misses.starved_ps += used.full.0 / cores;
        }
        let busy = self.core_time().busy_ps;
        vec![misses, domain("cores", "core", cores, busy, self.done())]
    }

    /// What the working cores have done: requests or, without queues, the accesses of benchmarks.
    fn done(&self) -> u64 {
        if !self.queues.is_empty() {
            return self.meters.completed;
        }
        self.apps.iter().map(App::accesses).sum()
    }
}

/// A domain for which nothing waits.
pub(super) fn domain(name: &str, unit: &str, credits: u64, busy_ps: u64, uses: u64) -> Domain {
    Domain {
        domain: name.into(),
        unit: unit.into(),
        credits,
        busy_ps,
        uses,
        starved_ps: 0,
        holds_writes_ps: 0,
        holds_reads_ps: 0,
        holds_cores_ps: 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, iommu_json, pcie_json, results, xmem};

    fn of<'a>(results: &'a Results, name: &str) -> &'a Domain {
        results.domains.iter().find(|d| d.domain == name).expect("a domain of the run")
    }

    /// Mean credits in use.
    fn used(results: &Results, name: &str) -> f64 {
        of(results, name).busy_ps as f64 / 1e3 / results.measured_ns
    }

    #[test]
    fn no_domain_holds_more_than_its_credits_and_all_of_them_while_others_wait() {
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/write_credits", json!(8)),
            ("/traffic/rate", json!("40 Mpps")),
        ]));
        for d in &r.domains {
            let used = used(&r, &d.domain);
            assert!(used <= d.credits as f64 * 1.001, "{}: {used} of {}", d.domain, d.credits);
            assert!(d.starved_ps as f64 <= r.measured_ns * 1e3, "{d:?}");
        }
        // Two writes of 256 B fit; beside the write of a completion, up to three free credits are
        // too few for the next.
        let lines = used(&r, "io-credits");
        assert!((6.5..=8.0).contains(&lines), "{lines} of 8");
        // Writes are on the link or wait for credits.
        let waits = of(&r, "io-credits").starved_ps as f64 / 1e3 / r.measured_ns;
        assert!(waits > 0.85 && waits + used(&r, "pcie") > 0.98, "{waits}");
        assert_eq!(of(&r, "posted-credits").starved_ps, 0);
        // Little's law: each line holds its credit for its time on the link, in the LLC and on the way back.
        let latency = used(&r, "io-credits") * r.measured_ns / of(&r, "io-credits").uses as f64;
        assert!((300.0..400.0).contains(&latency), "{latency} ns");
    }

    /// Reads of 4 KiB in requests of 512 bytes, answered by two completions each: the link to the NIC carries more.
    #[test]
    fn a_link_tells_the_tlps_of_the_direction_that_carries_more() {
        let bench = json!({ "direction": "read", "size": "4 KiB", "window": "64 KiB" });
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/read_credits", json!(256)),
            ("/traffic", json!(null)),
            ("/tenants", json!([])),
            ("/dma_bench", bench),
        ]));
        let tlp_ns = of(&r, "pcie").busy_ps as f64 / 1e3 / of(&r, "pcie").uses as f64;
        let by_hand = (256.0 + 20.0) * 8.0 / 118.9;
        assert!((tlp_ns / by_hand - 1.0).abs() < 0.01, "{tlp_ns} ns, by hand {by_hand}");
    }

    /// X-Mem fills the other socket's memory, of which the forwarder uses nothing.
    #[test]
    fn memory_that_only_others_use_is_not_told() {
        let tenants = |memory: &str| {
            let xmem = json!({ "kind": "xmem", "region": "16 MiB", "pattern": "random" });
            let numa = json!({ "links": 3, "link_bandwidth": "166.4 Gbps", "latency": "30 ns" });
            let mut run =
                forwarder(&[("/machine/numa", numa), ("/traffic/rate", json!("100 kpps"))]);
            let other = json!({
                "name": "others", "app": xmem, "cores": { "first": 1, "count": 1 }, "memory": memory
            });
            run.tenants[0].cores.count = 1;
            run.tenants.push(serde_json::from_value(other).unwrap());
            of(&results(&run), "dram").busy_ps
        };
        let (remote, local) = (tenants("remote"), tenants("local"));
        assert!(10 * remote < local, "{remote} and {local}");
    }

    /// A core so slow that its ring is full of packets that wait for it, since before measuring began.
    #[test]
    fn packets_wait_for_their_core_also_before_it_begins_them() {
        let app = json!({ "kind": "l2fwd", "packet_instructions": 1_000_000 });
        let r =
            results(&forwarder(&[("/tenants/0/app", app), ("/traffic/rate", json!("40 Mpps"))]));
        for q in &r.queues {
            let waiting = q.rx_waited_ps as f64 / 1e3 / r.measured_ns;
            let used = q.rx_busy_ps as f64 / 1e3 / r.measured_ns;
            assert!(waiting > 0.95 * used && waiting <= used, "{waiting} of {used}");
        }
    }

    #[test]
    fn a_narrow_port_carries_a_line_after_the_other() {
        for (rate, load) in [("4 Mpps", 0.2..0.35), ("40 Mpps", 0.5..1.0)] {
            let r = results(&forwarder(&[
                ("/machine/noc/port_width", json!("8 B")),
                ("/traffic/rate", json!(rate)),
            ]));
            assert!(r.domains.iter().all(|d| d.domain != "pcie"));
            // Eight cycles of 2 GHz per line.
            let lines = of(&r, "io-credits").uses as f64;
            let busy = of(&r, "nic-port").busy_ps as f64;
            assert!((busy / lines / 4000.0 - 1.0).abs() < 0.01, "{busy} ps for {lines} lines");
            assert!(load.contains(&used(&r, "nic-port")), "{:?}", of(&r, "nic-port"));
        }
    }

    #[test]
    fn lines_that_wait_for_a_walk_are_part_of_those_that_hold_credits() {
        let mut iommu = iommu_json(8);
        (iommu["walkers"], iommu["step_latency"]) = (json!(1), json!("400 ns"));
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/iommu", iommu),
            ("/traffic/rate", json!("40 Mpps")),
        ]));
        let (iommu, credits) = (of(&r, "iommu"), of(&r, "posted-credits"));
        assert!(used(&r, "iommu") > 0.95 && used(&r, "posted-credits") > 14.0);
        // A write is on the link, or waits for credits or for a descriptor.
        let short = |name| of(&r, name).starved_ps as f64 / 1e3 / r.measured_ns;
        let known = used(&r, "pcie") + short("posted-credits") + short("descriptors");
        assert!((0.98..1.02).contains(&known), "{known}");
        assert!(iommu.starved_ps as f64 > 0.9e3 * r.measured_ns, "{iommu:?}");
        let waiting = iommu.holds_writes_ps as f64 / of(&r, "io-credits").busy_ps as f64;
        assert!((0.5..1.0).contains(&waiting), "{waiting} of {credits:?}");
    }

    #[test]
    fn what_only_a_core_held_takes_a_line_of_the_io_ways_too() {
        let r = results(&forwarder(&[("/traffic/rate", json!("4 Mpps"))]));
        let io = r.io.as_ref().expect("packets are written");
        let (hits, misses) = (io.write_hits.unwrap(), io.write_misses.unwrap());
        // The core rewrites the first line of each packet, and so holds the only copy.
        let moved = of(&r, "io-ways").uses - misses;
        assert!(moved > r.packets.completed / 2 && moved <= hits, "{moved} of {hits}");
    }

    #[test]
    fn io_ways_hold_no_more_lines_than_have_come_into_them() {
        let large = ("/machine/llc/size", json!("8 MiB"));
        let r = results(&forwarder(&[large, ("/traffic/rate", json!("100 kpps"))]));
        let ways = of(&r, "io-ways");
        // Some lines came in before measuring began.
        assert!(0 < ways.uses && ways.uses < ways.credits / 10, "{ways:?}");
        assert!((1.0..2.0 * ways.uses as f64).contains(&used(&r, "io-ways")), "{ways:?}");
    }

    #[test]
    fn the_uses_of_the_cores_are_the_work_that_the_run_does() {
        let packets = results(&forwarder(&[]));
        assert_eq!(of(&packets, "cores").uses, packets.packets.completed);
        let accesses = results(&xmem("random", "64 KiB", &[]));
        assert_eq!(of(&accesses, "cores").uses, accesses.tenants[0].counters["accesses"]);
        let stream = json!({ "kind": "stream", "array": "256 KiB" });
        let lines = results(&xmem("random", "64 KiB", &[("/tenants/0/app", stream)]));
        assert_eq!(of(&lines, "cores").uses, lines.tenants[0].counters["bytes"] / 64);
        assert!(of(&lines, "cores").uses > 0);
    }

    #[test]
    fn the_busiest_core_is_the_one_that_gets_the_packets() {
        // RSS sends a single flow to a single queue.
        let r = results(&forwarder(&[
            ("/traffic/flows", json!(1)),
            ("/traffic/rate", json!("1 Mpps")),
        ]));
        assert!(r.core_time.busy_ps > 0);
        assert_eq!(r.core_time.busiest_ps, r.core_time.busy_ps);
        let r = results(&forwarder(&[("/traffic/rate", json!("1 Mpps"))]));
        assert!(r.core_time.busiest_ps < r.core_time.busy_ps);
        let by_queue: Vec<u64> = r.queues.iter().filter_map(|q| q.core_busy_ps).collect();
        assert_eq!(by_queue.iter().sum::<u64>(), r.core_time.busy_ps);
        assert_eq!(by_queue.into_iter().max(), Some(r.core_time.busiest_ps));
    }
}
