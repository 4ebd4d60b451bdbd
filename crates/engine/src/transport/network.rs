//! Everything between the senders' software and the server's NIC, and the packets in it.

use std::ops::Range;

use super::config::ClosedLoopConfig;
use super::connection::{Connection, Next};
use super::control::{AnyControl, Feedback};
use super::counts::{ConnectionCounts, Counts};
use super::cuts::Cuts;
use super::datagram::{Datagram, Step};
use super::fixed;
use super::receiver::Receiver;
use super::requests::{Request, Requests};
use super::switch::Switch;
use crate::frame::wire_bits;
use crate::rng::Rng;
use crate::serial::Serial;
use crate::slots::Slots;
use crate::stats::histogram::Latency;
use crate::stats::results::ConnectionResults;
use crate::time::Ps;
use crate::units::{BitRate, Size};

/// The network and all connections. Connection `c` connects queue `c / senders` with sender `c % senders`.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    senders: u32,
    delay: Ps,
    frame: u32,
    connections: Vec<Connection>,
    receivers: Vec<Receiver>,
    requests: Requests,
    links: Vec<Serial>,
    switch: Switch,
    datagrams: Slots<Datagram>,
    /// Packets whose first acknowledgement has arrived since the start of the run.
    first_acknowledged: u64,
    pub(crate) counts: Counts,
    /// Some of the counts, by connection.
    by_connection: Vec<ConnectionCounts>,
    /// The group of each sender, and how long reads and blocks of each group took.
    group_of: Vec<usize>,
    reads: Vec<Latency>,
    blocks: Vec<Latency>,
    counts_begin: Ps,
    /// Steps to be scheduled, each with its time and the datagram, connection or batch that it applies to.
    pub(crate) due: Vec<(Ps, Step, u32)>,
}

impl Network {
    /// The connections of `queues` queues; `link` is the rate of the server's link. The first reads of each
    /// connection begin at a random time within one round trip without queueing, or after a pause.
    pub(crate) fn new(config: &ClosedLoopConfig, link: BitRate, queues: u32, seed: u64) -> Network {
        let number = (config.senders * queues) as usize;
        let idle = config.groups().flat_map(|group| {
            let idle = Connection::new(AnyControl::new(group.control), &config.recovery);
            std::iter::repeat_n(idle, group.senders.len())
        });
        let connections: Vec<Connection> = idle.collect();
        let receivers = config.reads().into_iter().map(|reads| Receiver::new(reads.packets));
        let receivers: Vec<Receiver> = receivers.collect();
        let groups = config.groups().enumerate();
        let Size(frame) = config.frame();
        let mut network = Network {
            senders: config.senders,
            delay: config.network.delay.ps(),
            frame: frame as u32,
            connections: connections.into_iter().cycle().take(number).collect(),
            receivers: receivers.into_iter().cycle().take(number).collect(),
            requests: Requests::new(config, queues, Rng::new(seed, "transport")),
            links: vec![Serial::new(config.network.sender_link); config.senders as usize],
            switch: Switch::new(link, config.network.buffer, config.network.ecn_threshold),
            datagrams: Slots::default(),
            first_acknowledged: 0,
            counts: Counts::default(),
            by_connection: vec![ConnectionCounts::default(); number],
            group_of: groups.flat_map(|(i, group)| group.senders.map(move |_| i)).collect(),
            reads: vec![Latency::default(); config.groups().count()],
            blocks: vec![Latency::default(); config.groups().count()],
            counts_begin: Ps::ZERO,
            due: Vec::new(),
        };
        network.begin();
        network
    }

    /// Asks for the first reads.
    fn begin(&mut self) {
        let round_trip = Ps(2 * self.delay.0);
        for batch in 0..self.requests.batches() {
            let open_reads = self.requests.open_reads(batch);
            if !self.requests.are_carried(batch) {
                for _ in 0..open_reads {
                    self.due.push((self.requests.first(batch, round_trip), Step::Ask, batch));
                }
                continue;
            }
            let at = self.requests.first(batch, round_trip);
            for connection in self.requests.connections(batch) {
                let receiver = &mut self.receivers[connection as usize];
                (0..open_reads).for_each(|_| receiver.ask(Ps::ZERO));
                let sender = &mut self.connections[connection as usize];
                sender.ask(receiver.asked());
                sender.wakes = Some(at);
                self.due.push((at, Step::Wake, connection));
            }
        }
    }

    /// Bytes of a data frame.
    pub(crate) fn frame(&self) -> u32 {
        self.frame
    }

    /// The queue of the server that a connection belongs to.
    pub(crate) fn queue(&self, connection: u32) -> u16 {
        (connection / self.senders) as u16
    }

    /// A packet on its way.
    pub(crate) fn datagram(&self, datagram: u32) -> &Datagram {
        self.datagrams.get(datagram)
    }

    /// A packet reaches the switch.
    pub(crate) fn at_switch(&mut self, now: Ps, datagram: u32) {
        match self.switch.forward(now, self.frame) {
            Some((at, marked)) => {
                self.datagrams.at(datagram).marked = marked;
                self.counts.marked += u64::from(marked);
                self.due.push((at, Step::Delivered, datagram));
            }
            None => {
                self.counts.dropped_switch += 1;
                self.datagrams.remove(datagram);
            }
        }
    }

    /// The server's NIC marks a packet.
    pub(crate) fn mark(&mut self, datagram: u32) {
        let d = self.datagrams.at(datagram);
        self.counts.marked_server += u64::from(!d.marked);
        d.marked = true;
    }

    /// The server dropped a packet.
    pub(crate) fn dropped(&mut self, datagram: u32) {
        self.counts.dropped_server += 1;
        self.datagrams.remove(datagram);
    }

    /// The server's thread has processed a packet, which spent `endpoint` in the server, and hands
    /// over its acknowledgement.
    pub(crate) fn processed(&mut self, now: Ps, datagram: u32, endpoint: Ps) {
        let d = self.datagrams.at(datagram);
        let counts = &mut self.counts;
        let receiver = &mut self.receivers[d.connection as usize];
        let group = self.group_of[(d.connection % self.senders) as usize];
        let received = receiver.receive(now, d.number, |time| {
            counts.read.record(time);
            self.reads[group].record(time);
        });
        for number in received.complete {
            match self.requests.complete(now, d.connection, number) {
                None => {}
                Some(Request::Carried) => {
                    receiver.ask(now);
                    d.asked = receiver.asked();
                }
                Some(Request::Later { at, batch, block }) => {
                    self.due.push((at, Step::Ask, batch));
                    block.into_iter().for_each(|time| self.blocks[group].record(time));
                }
            }
        }
        d.endpoint = endpoint;
        self.by_connection[d.connection as usize].delivered += u64::from(received.new);
        counts.delivered += u64::from(received.new);
        counts.duplicates += u64::from(!received.new);
    }

    /// The server asks a batch of connections for a read each.
    pub(crate) fn ask(&mut self, now: Ps, batch: u32) {
        self.requests.asked(now, batch);
        for connection in self.requests.connections(batch) {
            self.receivers[connection as usize].ask(now);
            self.due.push((now + self.delay, Step::Asked, connection));
        }
    }

    /// A request of its own reaches its sender.
    pub(crate) fn asked(&mut self, now: Ps, connection: u32) {
        let packets = self.receivers[connection as usize].packets_per_read();
        self.connections[connection as usize].ask_more(packets);
        self.send(now, connection);
    }

    /// The acknowledgement leaves the server.
    pub(crate) fn acknowledge(&mut self, now: Ps, datagram: u32) {
        self.due.push((now + self.delay, Step::Ack, datagram));
    }

    /// An acknowledgement reaches its sender.
    pub(crate) fn at_sender(&mut self, now: Ps, datagram: u32) {
        let d = self.datagrams.remove(datagram);
        let rtt = now - d.sent;
        let feedback = Feedback {
            rtt,
            endpoint: d.endpoint,
            marked: d.marked,
            order: d.order,
            next_order: 0,
            window_full: false,
            duplicate: false,
        };
        let connection = &mut self.connections[d.connection as usize];
        connection.ask(d.asked);
        let of = &mut self.by_connection[d.connection as usize];
        of.window_was(connection, now);
        of.acknowledged += 1;
        of.rtt_sum += rtt.0;
        let acked = connection.on_ack(now, d.number, &feedback);
        self.first_acknowledged += u64::from(acked.first);
        self.counts.acknowledged(&acked, rtt, d.endpoint);
        self.send(now, d.connection);
    }

    /// A connection continues, unless this event is stale because its time was brought forward.
    pub(crate) fn wake(&mut self, now: Ps, connection: u32) {
        let wakes = &mut self.connections[connection as usize].wakes;
        if *wakes == Some(now) {
            *wakes = None;
            self.send(now, connection);
        }
    }

    /// A connection checks its timeout.
    pub(crate) fn timeout(&mut self, now: Ps, connection: u32) {
        let c = &mut self.connections[connection as usize];
        if c.timed != Some(now) {
            return;
        }
        c.timed = None;
        if c.deadline().is_some_and(|at| at <= now) {
            let of = &mut self.by_connection[connection as usize];
            of.window_was(c, now);
            of.timeouts += 1;
            self.counts.timeouts += 1;
            c.time_out(now);
        }
        self.send(now, connection);
    }

    /// Sends all that a connection may send now.
    fn send(&mut self, now: Ps, connection: u32) {
        let sender = (connection % self.senders) as usize;
        loop {
            let c = &mut self.connections[connection as usize];
            match c.next(now) {
                Next::Send { number, order, again } => {
                    self.counts.sent += 1;
                    self.counts.sent_again += u64::from(again);
                    let of = &mut self.by_connection[connection as usize];
                    of.sent += 1;
                    of.sent_again += u64::from(again);
                    let datagram = self.datagrams.add(Datagram {
                        connection,
                        number,
                        order,
                        sent: now,
                        marked: false,
                        endpoint: Ps::ZERO,
                        asked: 0,
                    });
                    let at = self.links[sender].send(now, wire_bits(self.frame)) + self.delay;
                    self.due.push((at, Step::Switch, datagram));
                }
                Next::WaitUntil(at) => {
                    if c.wakes.is_none_or(|set| at < set) {
                        c.wakes = Some(at);
                        self.due.push((at, Step::Wake, connection));
                    }
                    break;
                }
                Next::Nothing => break,
            }
        }
        let c = &mut self.connections[connection as usize];
        // An acknowledgement that shortens the estimate may move the deadline into the past.
        if let Some(at) = c.deadline().map(|at| at.max(now))
            && c.timed.is_none_or(|armed| at < armed)
        {
            c.timed = Some(at);
            self.due.push((at, Step::Timeout, connection));
        }
    }

    /// Datagrams under way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.datagrams.len() as u64
    }

    /// Packets sent at least once since the start of the run, and how many of them are accounted
    /// for: acknowledged, in flight, or to be sent again.
    pub(crate) fn begun(&self) -> (u64, u64) {
        let sum = |f: fn(&Connection) -> u64| self.connections.iter().map(f).sum::<u64>();
        (sum(Connection::begun), self.first_acknowledged + sum(Connection::unacknowledged))
    }

    /// The results of each connection since counting began.
    pub(crate) fn by_connection(&self, now: Ps) -> Vec<ConnectionResults> {
        let each = self.connections.iter().zip(&self.by_connection).enumerate();
        let packets = |cut: u128| cut as f64 / fixed::ONE as f64;
        each.map(|(i, (connection, of))| {
            let mut of = *of;
            of.window_was(connection, now);
            ConnectionResults {
                queue: i as u32 / self.senders,
                sender: i as u32 % self.senders,
                sent: of.sent,
                sent_again: of.sent_again,
                timeouts: of.timeouts,
                delivered: of.delivered,
                mean_window: of.mean_window(self.counts_begin),
                cut_by_host: connection.host_counts().map(|_| packets(connection.cuts.host)),
                cut_by_path: packets(connection.cuts.path),
                cut_by_losses: packets(connection.cuts.losses),
                mean_rtt_ns: (of.acknowledged > 0)
                    .then(|| of.rtt_sum as f64 / 1e3 / of.acknowledged as f64),
            }
        })
        .collect()
    }

    /// How long reads and blocks of each group of senders took.
    pub(crate) fn by_group(&self) -> impl Iterator<Item = (&Latency, &Latency)> {
        self.reads.iter().zip(&self.blocks)
    }

    /// Whether any of these senders reacts to marks.
    pub(crate) fn hears_marks(&self, senders: Range<u32>) -> bool {
        // Those of the first queue stand for all.
        senders.into_iter().any(|sender| self.connections[sender as usize].hears_marks())
    }

    /// The current congestion window of a connection, in packets.
    pub(crate) fn window_of(&self, connection: usize) -> f64 {
        fixed::to_f64(self.connections[connection].window())
    }

    /// Mean of the current congestion windows, in packets.
    pub(crate) fn window(&self) -> f64 {
        self.window_with(&(0..self.senders))
    }

    /// The same over the connections with these senders.
    pub(crate) fn window_with(&self, of: &Range<u32>) -> f64 {
        let connections = self.connections.iter().zip((0..self.senders).cycle());
        let windows = connections.filter(|(_, sender)| of.contains(sender));
        let (n, sum) = windows.fold((0u32, 0.0), |(n, sum), (connection, _)| {
            (n + 1, sum + fixed::to_f64(connection.window()))
        });
        sum / f64::from(n)
    }

    /// Packets from these senders that reached their application for the first time.
    pub(crate) fn delivered_by(&self, of: &Range<u32>) -> u64 {
        let counts = self.by_connection.iter().zip((0..self.senders).cycle());
        counts.filter(|(_, sender)| of.contains(sender)).map(|(counts, _)| counts.delivered).sum()
    }

    /// Bytes in the switch queue.
    pub(crate) fn switch_bytes(&self, now: Ps) -> u64 {
        self.switch.waiting_bytes(now)
    }

    /// Injects a fault for tests: a sender forgets a packet that it has sent.
    #[cfg(test)]
    pub(crate) fn forget_a_packet(&mut self) {
        let connection = self.connections.iter_mut().find(|c| c.unacknowledged() > 0);
        connection.expect("a packet is in flight").forget_a_packet();
    }

    /// Starts counting.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.by_connection.fill(ConnectionCounts::from(now));
        self.connections.iter_mut().for_each(|c| c.cuts = Cuts::default());
        self.counts_begin = now;
        self.reads.fill(Latency::default());
        self.blocks.fill(Latency::default());
        self.counts = Counts { in_flight_begin: self.in_flight(), ..Counts::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Events;
    use crate::testing::every;
    use crate::transport::config::RivalsConfig;
    use crate::transport::control::ControlConfig;
    use crate::transport::control::dctcp::DctcpConfig;
    use crate::transport::control::swift::SwiftConfig;
    use crate::units::Duration;
    use proptest::prelude::*;
    use serde_json::json;

    fn config(control: &ControlConfig, senders: u32, open_reads: u32) -> ClosedLoopConfig {
        serde_json::from_value(json!({
            "senders": senders, "read": "16 KiB", "open_reads": open_reads, "payload": "4 KiB",
            "headers": "332 B", "acknowledgement": "64 B",
            "network": {
                "delay": "5 us", "sender_link": "100 Gbps", "buffer": "256 KiB",
                "ecn_threshold": "64 KiB"
            },
            "control": control
        }))
        .expect("a configuration")
    }

    /// A server that takes `service` per packet. For the first 20 ms it holds at most `room`
    /// packets and drops every `lossy`-th one.
    fn run(config: &ClosedLoopConfig, service: Ps, room: u64, lossy: u64, end: Ps) -> Network {
        let mut network = Network::new(config, BitRate(100_000_000_000), 2, 1);
        let mut events = Events::default();
        let (mut free_at, mut arrived) = (Ps::ZERO, 0u64);
        loop {
            for (at, step, of) in network.due.drain(..) {
                events.push(at, (step, of));
            }
            let Some((now, (step, of))) = events.pop(end) else { break };
            match step {
                Step::Switch => network.at_switch(now, of),
                Step::Delivered => {
                    arrived += 1;
                    let waiting = free_at.saturating_sub(now).0 / service.0;
                    let drops = waiting >= room || arrived.is_multiple_of(lossy);
                    if drops && now < Ps::from_us(20_000) {
                        network.dropped(of);
                    } else {
                        free_at = free_at.max(now) + service;
                        // This test's server processes the packet at once, with the later time at
                        // which it finishes.
                        network.processed(free_at, of, free_at - now);
                        network.acknowledge(free_at, of);
                    }
                }
                Step::Ack => network.at_sender(now, of),
                Step::Ask => network.ask(now, of),
                Step::Asked => network.asked(now, of),
                Step::Wake => network.wake(now, of),
                Step::Timeout => network.timeout(now, of),
            }
            let c = &network.counts;
            let ended = c.acknowledged + c.dropped_server + c.dropped_switch;
            assert_eq!(c.sent, ended + network.in_flight());
        }
        network
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Whatever is lost, every packet sent is acknowledged, dropped or in flight, every packet
        /// of a read arrives in the end, and no connection stalls once losses have ended.
        #[test]
        fn nothing_is_lost_for_good(
            control in prop::sample::select(every::<ControlConfig>()),
            senders in 1u32..20,
            open_reads in 1u32..8,
            service_ns in 100u64..3000,
            room in 1u64..200,
            lossy in 2u64..1000,
            min_timeout_us in 10u64..2000,
            think_us in prop_oneof![Just(0), 1u64..1000],
            striped in any::<bool>(),
            rivals in prop::option::of((1u32..20, 1u64..16, 1u32..4, any::<bool>())),
        ) {
            let mut config = config(&control, senders, open_reads);
            config.think = Duration(think_us * 1_000_000);
            config.striped = striped;
            config.rivals = rivals.filter(|rivals| rivals.0 < senders).map(|rivals| {
                let (senders, packets, open_reads, striped) = rivals;
                Box::new(RivalsConfig {
                    senders,
                    read: Some(Size(packets << 12)),
                    open_reads: Some(open_reads),
                    think: None,
                    striped: Some(striped),
                    control: None,
                })
            });
            config.recovery.min_timeout = Duration(min_timeout_us * 1_000_000);
            let until = |end| run(&config, Ps::from_ns(service_ns), room, lossy, end);
            let end = Ps::from_us(1_500_000);
            let network = until(end);
            let (begun, accounted) = network.begun();
            prop_assert_eq!(begun, accounted);
            // A timer is still pending, and is set to its deadline or, if the deadline has been
            // postponed since, to an earlier time.
            let armed = |c: &Connection| c.timed.is_some_and(|t| t >= end && c.deadline() >= Some(t));
            let timed = |c: &Connection| c.deadline().is_none() || armed(c);
            prop_assert!(network.connections.iter().all(timed));
            let c = &network.counts;
            prop_assert!(c.delivered + c.duplicates >= c.acknowledged);
            prop_assert!(c.delivered <= begun);
            let before = until(Ps::from_us(20_000)).receivers;
            let mut both = network.receivers.iter().zip(&before);
            prop_assert!(both.all(|(r, before)| r.asked() > before.asked()));
        }
    }

    /// With a round trip of 80 us, the first estimate gives a timeout of 240 us, later ones less,
    /// down to 100.
    #[test]
    fn a_deadline_that_is_left_behind_goes_off_at_once() {
        let two = DctcpConfig { initial_cwnd: 2.0, max_cwnd: 2.0, ..DctcpConfig::default() };
        let mut config = config(&ControlConfig::Dctcp(two), 1, 2);
        config.network.delay = Duration(40_000_000);
        config.recovery.min_timeout = Duration(100_000_000);
        for lossy in 2..20 {
            let network = run(&config, Ps::from_ns(1), 10_000, lossy, Ps::from_us(40_000));
            assert!(network.counts.timeouts > 0, "a window of two has no other recovery");
            // Without losses in the last 20 ms: two packets per 80 us, less some time to recover.
            let delivered = network.by_connection.iter().map(|of| of.delivered);
            assert!(delivered.min() > Some(400), "one of {lossy}: {:?}", network.counts.delivered);
        }
    }

    /// Bringing pacing forward leaves the event at its old time scheduled.
    #[test]
    fn a_time_that_was_brought_forward_is_no_time_to_send() {
        let swift = ControlConfig::Swift(SwiftConfig::default());
        let mut network = Network::new(&config(&swift, 1, 2), BitRate(100_000_000_000), 1, 1);
        let (begin, ..) = network.due.pop().expect("the first read is due");
        for (now, sends) in [(begin + Ps(1), false), (begin, true), (begin, false)] {
            network.wake(now, 0);
            assert_eq!(!network.due.is_empty(), sends, "at {now:?}");
            network.due.clear();
        }
    }

    #[test]
    fn swift_keeps_the_delay_of_a_slow_server_at_its_target_without_loss() {
        // 40 connections to a server that handles half of the link's rate.
        let config = config(&ControlConfig::Swift(SwiftConfig::default()), 20, 4);
        let service = Ps::from_ns(712);
        let network = run(&config, service, 10_000, u64::MAX, Ps::from_us(20_000));
        let c = &network.counts;
        assert_eq!((c.dropped_server, c.dropped_switch), (0, 0));
        let delay = c.endpoint.mean_ns();
        assert!((80_000.0..120_000.0).contains(&delay), "{delay}");
        let connections = network.by_connection(Ps::from_us(20_000));
        let sum = |of: fn(&ConnectionResults) -> f64| connections.iter().map(of).sum::<f64>();
        let by_host = sum(|c| c.cut_by_host.expect("Swift has a window for it"));
        let by_path = sum(|c| c.cut_by_path);
        assert!(by_host > 100.0 * by_path, "{by_host}, {by_path}");
        assert_eq!(sum(|c| c.cut_by_losses), 0.0);
        let rate = c.delivered as f64 * 712e-9 / 0.02;
        assert!(rate > 0.97, "{rate} of what the server can do");
    }

    /// Little's law: a read is open, or its thread thinks.
    #[test]
    fn a_thread_that_thinks_asks_for_less() {
        let mut config = config(&ControlConfig::Dctcp(DctcpConfig::default()), 10, 3);
        config.think = Duration(300_000_000);
        let end = Ps::from_us(100_000);
        let network = run(&config, Ps::from_ns(1), 10_000, u64::MAX, end);
        let read = &network.counts.read;
        let open = read.count() as f64 * (read.mean_ns() + 300e3) / end.as_ns_f64();
        assert!((open / (2.0 * 10.0 * 3.0) - 1.0).abs() < 0.02, "{open}");
        assert!((10e3..50e3).contains(&read.mean_ns()), "{}", read.mean_ns());
        assert_eq!(network.blocks[0].count(), 0);
    }

    #[test]
    fn a_block_takes_as_long_as_its_slowest_read_and_meets_its_own_packets_in_the_switch() {
        let mut config = config(&ControlConfig::Dctcp(DctcpConfig::default()), 8, 1);
        let all = |config: &ClosedLoopConfig| {
            let network = run(config, Ps::from_ns(1), 10_000, u64::MAX, Ps::from_us(20_000));
            let (reads, blocks) = (network.reads[0].clone(), network.blocks[0].clone());
            (network.counts.dropped_switch, reads, blocks)
        };
        let mut large = config.clone();
        large.network.buffer = Size(4 << 20);
        large.striped = true;
        let (independent, striped) = (all(&config), all(&large));
        let (read, block) = (striped.1.mean_ns(), striped.2.mean_ns());
        assert_eq!(striped.2.count(), striped.1.count() / 8);
        assert!(block > read && block < 2.0 * read, "{block}, {read}");
        assert_eq!((striped.0, independent.2.count()), (0, 0));
        // Two queues' blocks of 128 KiB each, for which the port has half of the room.
        config.network.buffer = Size(128 << 10);
        let (few, ..) = all(&config);
        config.striped = true;
        let (many, ..) = all(&config);
        assert!(many > 4 * few, "{many} {few}");
    }

    #[test]
    fn dctcp_keeps_the_queue_of_the_switch_near_the_threshold() {
        let config = config(&ControlConfig::Dctcp(DctcpConfig::default()), 4, 4);
        let network = run(&config, Ps::from_ns(1), 10_000, u64::MAX, Ps::from_us(20_000));
        let c = &network.counts;
        assert!(c.marked > 0);
        let connection = &network.by_connection(Ps::from_us(20_000))[0];
        assert_eq!((connection.cut_by_host, connection.cut_by_losses), (None, 0.0));
        assert!(connection.cut_by_path > 1.0, "{}", connection.cut_by_path);
        // 64 KiB take 5.2 us, on top of the path's 10 us.
        let fabric = c.fabric.mean_ns();
        assert!((11_000.0..21_000.0).contains(&fabric), "{fabric}");
        let gbps = c.delivered as f64 * 4096.0 * 8.0 / 20e6;
        assert!(gbps > 85.0, "{gbps} Gbps");
    }
}
