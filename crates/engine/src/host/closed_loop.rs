//! Closed-loop traffic at the host: packets of [`crate::transport`] enter at the NIC and leave as
//! acknowledgements. The senders learn of the server by them: by the
//! delay that they report, the marks that they carry, the reads that they ask for, and their absence.

use std::ops::Range;

use super::packets::Packet;
use super::sender_series::SenderSeries;
use super::shares::Share;
use super::{Event, Host};
use crate::config::Scenario;
use crate::stats::histogram::Latency;
use crate::stats::results::{Balance, ConnectionResults, SendersResults, Series, TransportResults};
use crate::time::Ps;
use crate::transport::config::Group;
use crate::transport::{Network, Step};
use crate::units::BitRate;
use crate::wire::Arrival;

const NONE: u32 = u32::MAX;

/// A group of senders that are alike.
#[derive(Clone, Debug)]
struct Senders {
    all: Range<u32>,
    /// The key of their congestion control.
    control: &'static str,
    striped: bool,
}

/// The network, and what the host knows about the packets it has received from it.
#[derive(Clone, Debug)]
pub(super) struct ClosedLoop {
    pub(super) network: Network,
    payload_bits: u64,
    groups: Vec<Senders>,
    /// The datagram of each packet in the host, by the packet's handle, or [`NONE`].
    datagrams: Vec<u32>,
    series: SenderSeries,
}

impl ClosedLoop {
    /// The network in front of a server with this many queues, if the scenario has closed-loop traffic.
    pub(super) fn new(scenario: &Scenario, queues: u32) -> Option<ClosedLoop> {
        let config = scenario.traffic.as_ref()?.closed_loop()?;
        // The scenario check requires a rate; without one, the link is no limit.
        let link = scenario.machine.nic.link.unwrap_or(BitRate(u64::MAX));
        let senders = |group: Group<'_>| Senders {
            all: group.senders,
            control: group.control_key,
            striped: group.striped,
        };
        let payload_bits = config.payload.0 * 8;
        let rivals = config.groups().nth(1).map(|group| group.senders);
        Some(ClosedLoop {
            network: Network::new(config, link, queues, scenario.run.seed),
            payload_bits,
            groups: config.groups().map(senders).collect(),
            datagrams: Vec::new(),
            series: SenderSeries::new(payload_bits, rivals, config.watched.min(config.senders)),
        })
    }

    fn carry(&mut self, packet: u32, datagram: u32) {
        let slot = packet as usize;
        if self.datagrams.len() <= slot {
            self.datagrams.resize(slot + 1, NONE);
        }
        self.datagrams[slot] = datagram;
    }

    /// Takes the datagram from a packet.
    fn take(&mut self, packet: u32) -> u32 {
        std::mem::replace(&mut self.datagrams[packet as usize], NONE)
    }

    /// Takes a sample of the time series.
    pub(super) fn sample(&mut self, now: Ps, interval: Ps) {
        self.series.sample(&self.network, now, interval);
    }

    /// Starts the measured time.
    pub(super) fn reset(&mut self, now: Ps) {
        self.network.reset_counts(now);
        self.series.reset();
    }

    /// The columns of the time series.
    pub(super) fn series(&self) -> impl Iterator<Item = Series> + '_ {
        self.series.columns()
    }

    /// What was measured in a time span.
    pub(super) fn results(&self, now: Ps, span_ns: f64) -> TransportResults {
        let c = &self.network.counts;
        let connections = self.network.by_connection(now);
        let all = Share::of(&connections.iter());
        let gbps = |delivered: u64| (delivered * self.payload_bits) as f64 / span_ns;
        let dropped = c.dropped_switch + c.dropped_server;
        TransportResults {
            goodput_gbps: gbps(c.delivered),
            sent: c.sent,
            sent_again: c.sent_again,
            acknowledged: c.acknowledged,
            dropped_switch: c.dropped_switch,
            dropped_server: c.dropped_server,
            lost_share: if c.sent == 0 { 0.0 } else { dropped as f64 / c.sent as f64 },
            marked: c.marked,
            marked_server: c.marked_server,
            hears_marks: Some(
                self.groups.iter().any(|group| self.network.hears_marks(group.all.clone())),
            ),
            fast_recoveries: c.fast_recoveries,
            timeouts: c.timeouts,
            not_lost: c.not_lost,
            delivered: c.delivered,
            duplicates: c.duplicates,
            reads: c.read.count(),
            mean_window: all.mean_window,
            cut_by_host: all.cut_by_host,
            cut_by_path: all.cut_by_path,
            cut_by_losses: all.cut_by_losses,
            fairness: all.fairness,
            rtt: c.rtt.distribution(),
            fabric_delay: c.fabric.distribution(),
            host_delay: c.endpoint.distribution(),
            read_latency: c.read.distribution(),
            block_latency: match &self.blocks().collect::<Vec<_>>()[..] {
                [only] => Some(only.distribution()),
                _ => None,
            },
            by_group: self.by_group(&connections, gbps),
            connections,
        }
    }

    /// How long blocks took, of each group that has any.
    fn blocks(&self) -> impl Iterator<Item = &Latency> {
        let of = self.groups.iter().zip(self.network.by_group());
        of.filter(|(group, _)| group.striped).map(|(_, (_, blocks))| blocks)
    }

    /// What each group of senders got, if there is more than one.
    fn by_group(
        &self,
        connections: &[ConnectionResults],
        gbps: impl Fn(u64) -> f64,
    ) -> Vec<SendersResults> {
        let several = self.groups.iter().zip(self.network.by_group());
        several
            .filter(|_| self.groups.len() > 1)
            .map(|(Senders { all, control, striped }, (reads, blocks))| {
                let theirs = connections.iter().filter(|c| all.contains(&c.sender));
                let share = Share::of(&theirs);
                SendersResults {
                    control: (*control).into(),
                    first: all.start,
                    count: all.len() as u32,
                    goodput_gbps: gbps(share.delivered),
                    sent: share.sent,
                    sent_again: share.sent_again,
                    timeouts: share.timeouts,
                    hears_marks: self.network.hears_marks(all.clone()),
                    mean_window: share.mean_window,
                    cut_by_host: share.cut_by_host,
                    cut_by_path: share.cut_by_path,
                    cut_by_losses: share.cut_by_losses,
                    fairness: share.fairness,
                    read_latency: reads.distribution(),
                    block_latency: striped.then(|| blocks.distribution()),
                }
            })
            .collect()
    }

    /// Every datagram sent is acknowledged, dropped or in flight; every datagram in flight belongs
    /// to an event or to a packet in the host; and no sender forgets a packet of a read.
    pub(super) fn balances(&self, carried_by_events: u64) -> [Balance; 3] {
        let balance =
            |what: &str, entered, accounted| Balance { what: what.into(), entered, accounted };
        let c = &self.network.counts;
        let ended = c.acknowledged + c.dropped_switch + c.dropped_server;
        let in_flight = self.network.in_flight();
        let in_host = self.datagrams.iter().filter(|&&d| d != NONE).count() as u64;
        let (begun, accounted) = self.network.begun();
        [
            balance("datagrams", c.in_flight_begin + c.sent, ended + in_flight),
            balance("datagrams in flight", in_flight, carried_by_events + in_host),
            balance("packets of reads", begun, accounted),
        ]
    }
}

impl Host {
    fn network(&mut self) -> &mut ClosedLoop {
        self.closed_loop.as_mut().expect("events of the network come from one")
    }

    /// Something happens in the network, to a datagram or a connection.
    pub(super) fn network_step(&mut self, now: Ps, step: Step, of: u32) {
        let network = &mut self.network().network;
        match step {
            Step::Switch => network.at_switch(now, of),
            Step::Ack => network.at_sender(now, of),
            Step::Ask => network.ask(now, of),
            Step::Asked => network.asked(now, of),
            Step::Wake => network.wake(now, of),
            Step::Timeout => network.timeout(now, of),
            Step::Delivered => self.delivered(now, of),
        }
        self.schedule_network();
    }

    /// Schedules the events that the network has asked for.
    pub(super) fn schedule_network(&mut self) {
        let Some(closed_loop) = &mut self.closed_loop else { return };
        for (at, step, of) in closed_loop.network.due.drain(..) {
            self.events.push(at, Event::Network { step, of });
        }
    }

    /// A data packet arrives at the NIC.
    fn delivered(&mut self, now: Ps, datagram: u32) {
        let closed_loop = self.network();
        let d = *closed_loop.network.datagram(datagram);
        let queue = closed_loop.network.queue(d.connection);
        let bytes = closed_loop.network.frame();
        let arrival = Arrival { at: now, bytes, flow: d.connection };
        let threshold = self.scenario.machine.nic.ecn_threshold;
        let marks = threshold.is_some_and(|threshold| self.rx.sram.in_use() > threshold.0);
        match self.admit(now, arrival, queue, d.number) {
            Some(packet) => {
                let closed_loop = self.network();
                closed_loop.carry(packet, datagram);
                if marks {
                    closed_loop.network.mark(datagram);
                }
                self.receive(now);
            }
            None => self.network().network.dropped(datagram),
        }
    }

    /// The NIC drops a packet that it had admitted.
    pub(super) fn drop_datagram(&mut self, packet: u32) {
        if let Some(closed_loop) = &mut self.closed_loop {
            let datagram = closed_loop.take(packet);
            closed_loop.network.dropped(datagram);
        }
    }

    /// A core has processed a packet and hands its acknowledgement to the NIC.
    pub(super) fn processed(&mut self, now: Ps, packet: u32) {
        if let Some(closed_loop) = &mut self.closed_loop {
            let Packet { arrived, .. } = *self.packets.get(packet);
            let datagram = closed_loop.datagrams[packet as usize];
            closed_loop.network.processed(now, datagram, now - arrived);
            self.schedule_network();
        }
    }

    /// The acknowledgement of a packet has left the NIC.
    pub(super) fn acknowledged(&mut self, now: Ps, packet: u32) {
        if let Some(closed_loop) = &mut self.closed_loop {
            let datagram = closed_loop.take(packet);
            closed_loop.network.acknowledge(now, datagram);
            self.schedule_network();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sender_series::OF_ALL;
    use super::*;
    use crate::apps::AppConfig;
    use crate::apps::snap::CopyTime;
    use crate::stats::results::{ConnectionResults, Results};
    use crate::testing::{closed_loop_json, every, forwarder, measure, pcie_json, run};
    use crate::transport::control::ControlConfig;
    use crate::transport::control::dctcp::DctcpConfig;

    /// Two threads that read from five machines, with a network stack that costs 500 ns per packet.
    fn reader(set: &[(&str, Value)]) -> Scenario {
        let tenants = json!([{
            "name": "snap", "cores": { "first": 0, "count": 2 },
            "app": { "kind": "snap", "packet_instructions": 4000 }
        }]);
        let mut all = vec![
            ("/machine/nic/link", json!("100 Gbps")),
            ("/traffic", closed_loop_json()),
            ("/tenants", tenants),
            ("/run/warmup", json!("1 ms")),
            ("/run/duration", json!("1 ms")),
        ];
        all.extend_from_slice(set);
        forwarder(&all)
    }

    /// A NIC with an input buffer of a dozen packets behind one PCIe lane, which is slower than the
    /// threads: the buffer is full before a packet has waited for the target delay. The fabric
    /// target leaves room for the time that acknowledgements wait for that lane.
    fn lossy() -> Scenario {
        let mut pcie = pcie_json();
        pcie["lanes"] = json!(1);
        // Enough for the acknowledgements.
        pcie["non_posted_credits"] = json!(64);
        reader(&[
            ("/machine/nic/sram", json!("8 KiB")),
            ("/machine/pcie", pcie),
            ("/traffic/control/fabric_target", json!("100 us")),
        ])
    }

    fn transport(scenario: &Scenario) -> (Results, TransportResults) {
        let results = run(scenario).results().unwrap_or_else(|e| panic!("{e}"));
        let transport = results.transport.clone().expect("the traffic is closed-loop");
        (results, transport)
    }

    #[test]
    fn threads_add_up_until_the_link_is_full() {
        let goodput = |threads: u32, link: &str| {
            let cores = ("/tenants/0/cores/count", json!(threads));
            transport(&reader(&[cores, ("/machine/nic/link", json!(link))])).1.goodput_gbps
        };
        let (one, two) = (goodput(1, "100 Gbps"), goodput(2, "100 Gbps"));
        // 4000 instructions at 8 per nanosecond, those of the driver, and the memory accesses.
        assert!((5.0..8.0).contains(&one), "{one}");
        // They share a small LLC and one channel.
        assert!((1.75..2.02).contains(&(two / one)), "{one} and {two}");
        // 512 of 600 bytes on the wire are payload.
        let limit = 4.0 * 512.0 / 600.0;
        let full = goodput(2, "4 Gbps");
        assert!((full - limit).abs() < 0.02 * limit, "{full} of {limit}");
    }

    #[test]
    fn swift_holds_the_delay_of_slow_threads_at_its_target() {
        let (_, t) = transport(&reader(&[]));
        assert_eq!(t.dropped_server, 0);
        assert!((15e3..30e3).contains(&t.host_delay.mean_ns), "{:?}", t.host_delay.mean_ns);
        assert!(t.fabric_delay.mean_ns < 8e3, "{:?}", t.fabric_delay.mean_ns);
        let parts = t.host_delay.mean_ns + t.fabric_delay.mean_ns;
        assert!((t.rtt.mean_ns - parts).abs() < 1.0, "{} of {parts}", t.rtt.mean_ns);
    }

    #[test]
    fn what_is_dropped_is_sent_again_and_everything_balances() {
        let (results, t) = transport(&lossy());
        assert!(t.dropped_server > 20 && t.sent_again > 20, "{}", t.dropped_server);
        assert!(t.fast_recoveries > 5, "{}, {} timeouts", t.fast_recoveries, t.timeouts);
        assert_eq!(t.dropped_server, results.packets.dropped_sram);
        assert_eq!(results.conservation.len(), 20);
        for b in &results.conservation[17..] {
            assert!(b.entered > 0, "{b:?}");
        }
        assert!(t.reads > 100 && t.delivered.abs_diff(4 * t.reads) < 4 * 5 * 2 * 8);
        let columns: Vec<&str> = results.series.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(columns[8..], OF_ALL.map(|(name, _)| name));
        assert_eq!(results.reads_after_sweep, 0);
    }

    #[test]
    fn packets_that_wait_for_their_read_keep_their_buffers_and_the_rest_finds_some() {
        let on_completion = ("/tenants/0/app/copied", json!("on-completion"));
        let with = |mut scenario: Scenario, buffers: u32| {
            scenario.queues.pool_buffers = Some(buffers);
            scenario.placement.sweeper = true;
            let AppConfig::Snap(snap) = &mut scenario.tenants[0].app else { panic!("it is snap") };
            snap.copied = CopyTime::OnCompletion;
            transport(&scenario)
        };
        // One more than can wait for their reads: 5 senders, 8 open reads, and 3 packets of each.
        let (tight, lost) = with(lossy(), 121);
        assert!(lost.dropped_server > 20 && lost.reads > 100, "{lost:?}");
        assert_eq!(tight.reads_after_sweep, 0);
        let (_, free) = with(reader(&[on_completion]), 2000);
        let (_, arrival) = transport(&reader(&[]));
        assert!(free.goodput_gbps > 0.97 * arrival.goodput_gbps, "{}", free.goodput_gbps);
    }

    #[test]
    fn what_is_copied_late_is_read_from_memory_and_what_is_copied_to_one_place_stays_cached() {
        let lines = |llc: &str, copy: &str, cause: &str| {
            let set = [
                ("/machine/llc/size", json!(llc)),
                ("/tenants/0/app/copied", json!(copy)),
                ("/queues/pool_buffers", json!(2000)),
            ];
            let (results, _) = transport(&reader(&set));
            let causes = results.memory.causes;
            causes.iter().find(|c| c.cause == cause).expect("the cause is listed").lines
        };
        // The I/O ways hold the packets that wait for their thread, but not those that wait for their read.
        let received = |copy| lines("768 KiB", copy, "cpu-rx-rd");
        let (early, late) = (received("on-arrival"), received("on-completion"));
        assert!(late > 4 * early, "{early}, {late}");
        // The whole LLC is smaller than the memory of the open reads.
        let evicted = |copy| lines("96 KiB", copy, "other-evct");
        assert!(evicted("on-arrival") > 10_000, "{}", evicted("on-arrival"));
        assert!(evicted("on-completion") < 100, "{}", evicted("on-completion"));
    }

    #[test]
    fn marks_of_the_nic_keep_its_buffer_from_overflowing() {
        let with = |threshold: Option<&str>| {
            let mut scenario = lossy();
            scenario.machine.nic.sram = "32 KiB".parse().unwrap();
            scenario.machine.nic.ecn_threshold = threshold.map(|t| t.parse().unwrap());
            let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic
            else {
                panic!("it is closed-loop")
            };
            c.control = ControlConfig::Dctcp(DctcpConfig::default());
            transport(&scenario).1
        };
        let (none, never, early) = (with(None), with(Some("32 KiB")), with(Some("8 KiB")));
        assert!(none.dropped_server > 20 && none.marked_server == 0, "{}", none.dropped_server);
        // An admitted packet never finds the buffer full.
        assert_eq!((never.dropped_server, never.marked_server), (none.dropped_server, 0));
        assert!(early.marked_server > 100, "{}", early.marked_server);
        assert!(early.dropped_server < none.dropped_server / 4, "{}", early.dropped_server);
        assert!(early.goodput_gbps > 0.98 * none.goodput_gbps, "{}", early.goodput_gbps);
    }

    #[test]
    fn connections_add_up_to_what_all_did() {
        let (_, t) = transport(&lossy());
        assert_eq!(t.connections.len(), 10);
        let last = t.connections.last().unwrap();
        assert_eq!((last.queue, last.sender), (1, 4));
        let sum = |of: fn(&ConnectionResults) -> u64| t.connections.iter().map(of).sum::<u64>();
        let sums =
            [sum(|c| c.sent), sum(|c| c.sent_again), sum(|c| c.timeouts), sum(|c| c.delivered)];
        assert_eq!(sums, [t.sent, t.sent_again, t.timeouts, t.delivered]);
        assert!(t.sent_again > 0);
        let squares = sum(|c| c.delivered.pow(2)) as f64;
        let fairness = (t.delivered as f64).powi(2) / (10.0 * squares);
        assert!((t.fairness - fairness).abs() < 1e-12, "{} and {fairness}", t.fairness);
        // Which connection waits for a timeout is chance, and evens out over time.
        let mut longer = lossy();
        longer.run.duration = "20 ms".parse().unwrap();
        let fairness = transport(&longer).1.fairness;
        assert!((0.99..=1.0).contains(&fairness), "{fairness}");
    }

    #[test]
    fn rivals_are_the_last_senders_and_have_their_own_control() {
        // A window of one packet against one of four, in front of slow threads.
        let fixed = |window| json!({ "kind": "dctcp", "min_cwnd": window, "initial_cwnd": window, "max_cwnd": window });
        let rivals = json!({ "senders": 2, "control": fixed(4) });
        let set = [("/traffic/control", fixed(1)), ("/traffic/rivals", rivals)];
        let (r, t) = transport(&reader(&set));
        let windows: Vec<f64> = t.connections.iter().map(|c| c.mean_window.round()).collect();
        assert_eq!(windows, [1.0, 1.0, 1.0, 4.0, 4.0, 1.0, 1.0, 1.0, 4.0, 4.0]);
        let [control, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
        assert_eq!(
            (control.control.as_str(), control.first, control.count),
            ("traffic.control", 0, 3)
        );
        assert_eq!(
            (rivals.control.as_str(), rivals.first, rivals.count),
            ("traffic.rivals.control", 3, 2)
        );
        assert_eq!((control.mean_window, rivals.mean_window), (1.0, 4.0));
        assert_eq!(control.sent + rivals.sent, t.sent);
        let both = control.goodput_gbps + rivals.goodput_gbps;
        assert!((both - t.goodput_gbps).abs() < 1e-9, "{both} and {}", t.goodput_gbps);
        let column = |name: &str| {
            let found = r.series.columns.iter().find(|c| c.name == name);
            found.map(|c| c.values.iter().sum::<f64>() / c.values.len() as f64)
        };
        let goodput = column("rivals-goodput").expect("there are rivals");
        assert!((goodput / rivals.goodput_gbps - 1.0).abs() < 0.02, "{goodput}");
        assert_eq!((column("rivals-window"), column("window")), (Some(4.0), Some(2.2)));
        // Packets that wait in one queue leave it in proportion to those in flight: 2 x 4 of 2 x 4 + 3 x 1.
        let share = rivals.goodput_gbps / both;
        assert!((share - 8.0 / 11.0).abs() < 0.03, "{share}");
        assert!(control.fairness > 0.99 && rivals.fairness > 0.99 && t.fairness < 0.8);
        // Swift beside DCTCP: only one of them hears marks.
        let swift = json!({ "senders": 1, "control": { "kind": "swift" } });
        let (_, t) =
            transport(&reader(&[("/traffic/control", fixed(1)), ("/traffic/rivals", swift)]));
        assert_eq!(t.by_group.iter().map(|s| s.hears_marks).collect::<Vec<_>>(), [true, false]);
        assert_eq!((t.hears_marks, t.cut_by_host), (Some(true), None));
        assert!(t.by_group[1].cut_by_host.is_some());
        // In the lossy host only losses cut the windows.
        let (_, t) = transport(&lossy());
        assert!(t.cut_by_losses > 100.0 * (t.cut_by_host.unwrap() + t.cut_by_path), "{t:?}");
        assert_eq!(transport(&reader(&[])).1.by_group, []);
    }

    #[test]
    fn rivals_may_read_more_at_a_time_and_everything_balances() {
        let rivals = json!({ "senders": 2, "read": "8 KiB", "open_reads": 4 });
        for copied in ["on-arrival", "on-completion"] {
            let set = [
                ("/traffic/open_reads", json!(1)),
                ("/traffic/think", json!("20 us")),
                ("/traffic/rivals", rivals.clone()),
                ("/tenants/0/app/copied", json!(copied)),
                ("/queues/pool_buffers", json!(2000)),
            ];
            let (r, t) = transport(&reader(&set));
            let [others, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
            assert_eq!([&*others.control, &*rivals.control], ["traffic.control"; 2]);
            // Sixteen packets, behind those of three more reads, against four.
            let times = rivals.read_latency.mean_ns / others.read_latency.mean_ns;
            assert!((2.0..16.0).contains(&times), "{copied}: {times}");
            let reads = others.read_latency.count + rivals.read_latency.count;
            assert_eq!((reads, r.reads_after_sweep), (t.reads, 0));
            // Little's law over the others: two threads, three senders, a read or a pause.
            let cycle = others.read_latency.mean_ns + 20e3;
            let open = others.read_latency.count as f64 * cycle / 1e6;
            assert!((open / 6.0 - 1.0).abs() < 0.1, "{copied}: {open}");
            assert_eq!(t.block_latency, None);
        }
        let striped = json!({ "senders": 2, "striped": true, "open_reads": 2 });
        let (_, t) = transport(&reader(&[("/traffic/rivals", striped.clone())]));
        let [others, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
        assert_eq!((&others.block_latency, &rivals.block_latency), (&None, &t.block_latency));
        let blocks = rivals.block_latency.as_ref().expect("theirs are blocks");
        assert!(blocks.count > 20 && blocks.count.abs_diff(rivals.read_latency.count / 2) < 10);
        // Blocks of five and of two senders have no common latency.
        let both = [("/traffic/rivals", striped), ("/traffic/striped", json!(true))];
        let (_, t) = transport(&reader(&both));
        assert!(t.block_latency.is_none() && t.by_group.iter().all(|g| g.block_latency.is_some()));
    }

    /// The same blocks, but the packets of one come at once.
    #[test]
    fn striped_blocks_fill_the_buffer_of_the_nic() {
        let with = |striped: bool| {
            let mut scenario = lossy();
            let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic
            else {
                panic!("it is closed-loop")
            };
            // A block is 20 packets, and the buffer has room for 14.
            c.control = ControlConfig::Dctcp(DctcpConfig::default());
            (c.striped, c.open_reads, c.think) = (striped, 1, "200 us".parse().unwrap());
            transport(&scenario).1
        };
        let (independent, striped) = (with(false), with(true));
        let block = striped.block_latency.as_ref().expect("blocks are read");
        assert!(block.mean_ns > striped.read_latency.mean_ns, "{block:?}");
        let share = |t: &TransportResults| t.dropped_server as f64 / t.sent as f64;
        let (alone, together) = (share(&independent), share(&striped));
        assert!(together > 3.0 * alone && together > 0.05, "{together} and {alone}");
    }

    #[test]
    fn a_window_that_nothing_moves_is_told_of_each_connection() {
        let fixed = json!({ "kind": "dctcp", "initial_cwnd": 2, "max_cwnd": 2 });
        // There are five senders.
        let watched = ("/traffic/watched", json!(7));
        let (r, t) = transport(&reader(&[("/traffic/control", fixed), watched]));
        assert_eq!((t.marked, t.sent_again), (0, 0));
        assert!(t.connections.iter().all(|c| (c.mean_window - 2.0).abs() < 1e-9));
        let columns = r.series.columns.iter().filter(|c| c.name.starts_with("window-"));
        let names: Vec<&str> = columns.clone().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["window-0", "window-1", "window-2", "window-3", "window-4"]);
        let still = |c: &Series| !c.values.is_empty() && c.values.iter().all(|&w| w == 2.0);
        assert!(columns.clone().all(still));
        let trips = t.connections.iter().filter_map(|c| c.mean_rtt_ns);
        let mean = trips.sum::<f64>() / t.connections.len() as f64;
        assert!((mean / t.rtt.mean_ns - 1.0).abs() < 0.05, "{mean} and {}", t.rtt.mean_ns);
    }

    #[test]
    fn a_lost_datagram_and_a_forgotten_packet_are_caught() {
        let caught = |fault: fn(&mut ClosedLoop)| {
            let mut host = run(&lossy());
            assert!(host.results().is_ok());
            fault(host.closed_loop.as_mut().expect("it is closed-loop"));
            host.results().expect_err("the fault is seen")
        };
        let e = caught(|c| c.network.counts.dropped_server -= 1);
        assert!(e.contains("datagrams"), "{e}");
        let e = caught(|c| {
            let slot = c.datagrams.iter_mut().find(|d| **d != NONE);
            *slot.expect("a packet is in the host") = NONE;
        });
        assert!(e.contains("datagrams in flight"), "{e}");
        let e = caught(|c| c.network.forget_a_packet());
        assert!(e.contains("packets of reads"), "{e}");
    }

    #[test]
    fn a_packet_without_descriptor_is_sent_again() {
        let few = ("/queues/rx_descriptors", json!(4));
        let (results, t) = transport(&reader(&[few]));
        assert!(results.packets.dropped_no_descriptor > 0);
        assert_eq!(t.dropped_server, results.packets.dropped_no_descriptor);
        assert!(t.sent_again > 0);
    }

    #[test]
    fn one_seed_gives_one_result_and_a_clone_goes_on_as_the_original() {
        let as_json = |host: &Host| serde_json::to_value(host.results().unwrap()).unwrap();
        for control in every::<ControlConfig>() {
            let mut scenario = lossy();
            let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic
            else {
                panic!("it is closed-loop")
            };
            c.control = control;
            let first = as_json(&run(&scenario));
            assert_eq!(first, as_json(&run(&scenario)));
            let mut host = Host::new(&scenario, None).unwrap();
            host.run_until(Ps::from_us(777));
            let mut copy = host.clone();
            measure(&mut host, &scenario, &[Ps::from_us(1_234)]);
            measure(&mut copy, &scenario, &[]);
            assert_eq!(first, as_json(&host));
            assert_eq!(first, as_json(&copy));
            scenario.run.seed += 1;
            assert_ne!(first, as_json(&run(&scenario)));
        }
    }
}
