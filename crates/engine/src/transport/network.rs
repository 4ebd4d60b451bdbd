//! Everything between the senders' software and the server's NIC, and the packets in it.

use std::ops::Range;

use super::config::ClosedLoopConfig;
use super::connection::{Connection, Next};
use super::control::Path;
use super::counts::{ConnectionCounts, Counts, GroupCounts};
use super::cuts::Cuts;
use super::datagram::{Datagram, Step};
use super::fixed;
use super::groups::Group;
use super::receiver::Receiver;
use super::requests::{Read, Request, Requests, Wants};
use super::switch::Switch;
use super::telemetry::Hop;
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
    /// One-way delay of each sender.
    delays: Vec<Ps>,
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
    /// The group of each sender, and what each group answered.
    group_of: Vec<usize>,
    by_group: Vec<GroupCounts>,
    counts_begin: Ps,
    /// Steps to be scheduled, each with its time and the datagram, connection or batch that it applies to.
    pub(crate) due: Vec<(Ps, Step, u32)>,
}

impl Network {
    /// The connections of `queues` queues; `link` is the rate of the server's link. The first reads of each
    /// connection begin at a random time within one round trip without queueing, or after a pause.
    pub(crate) fn new(config: &ClosedLoopConfig, link: BitRate, queues: u32, seed: u64) -> Network {
        let number = (config.senders * queues) as usize;
        let Size(frame) = config.frame();
        let idle = config.groups().flat_map(|group| {
            let frame_bits = wire_bits(frame as u32);
            let path =
                Path { frame_bits, link: group.link, connections: queues, server_link: link };
            let idle = Connection::new(group.control, &path, &config.recovery);
            std::iter::repeat_n(idle, group.senders.len())
        });
        let connections: Vec<Connection> = idle.collect();
        let groups = config.groups().enumerate();
        let each =
            |group: Group<'_>| std::iter::repeat_n((group.delay, group.link), group.senders.len());
        let ways: Vec<_> = config.groups().flat_map(each).collect();
        let mut network = Network {
            senders: config.senders,
            delays: ways.iter().map(|(delay, _)| delay.ps()).collect(),
            frame: frame as u32,
            connections: connections.into_iter().cycle().take(number).collect(),
            receivers: vec![Receiver::default(); number],
            requests: Requests::new(config, queues, Rng::new(seed, "transport")),
            links: ways.iter().map(|&(_, link)| Serial::new(link)).collect(),
            switch: Switch::new(link, config.network.buffer, config.network.ecn_threshold),
            datagrams: Slots::default(),
            first_acknowledged: 0,
            counts: Counts::default(),
            by_connection: vec![ConnectionCounts::default(); number],
            group_of: groups.flat_map(|(i, group)| group.senders.map(move |_| i)).collect(),
            by_group: config.groups().map(|group| GroupCounts::of(group.sizes.len())).collect(),
            counts_begin: Ps::ZERO,
            due: Vec::new(),
        };
        network.begin();
        network
    }

    /// Asks for the first reads.
    fn begin(&mut self) {
        for batch in 0..self.requests.batches() {
            let requests = self.requests.first_requests(batch);
            let round_trip = Ps(2 * self.delay(self.requests.connections(batch).start).0);
            if !self.requests.are_carried(batch) {
                for _ in 0..requests {
                    self.due.push((self.requests.first(batch, round_trip), Step::Ask, batch));
                }
                continue;
            }
            let at = self.requests.first(batch, round_trip);
            for connection in self.requests.connections(batch) {
                let receiver = &mut self.receivers[connection as usize];
                for _ in 0..requests {
                    receiver.ask(self.requests.draw(at, batch));
                }
                let sender = &mut self.connections[connection as usize];
                sender.ask(receiver.asked());
                sender.wakes = Some(at);
                self.due.push((at, Step::Wake, connection));
            }
        }
    }

    /// One-way delay of a connection's sender.
    fn delay(&self, connection: u32) -> Ps {
        self.delays[(connection % self.senders) as usize]
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

    /// A packet has left the switch, whose port tells of itself.
    pub(crate) fn left_switch(&mut self, now: Ps, datagram: u32) {
        self.datagrams.at(datagram).telemetry.switch = self.switch.hop(now);
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
        let Datagram { connection, number, .. } = *self.datagrams.get(datagram);
        let receiver = &mut self.receivers[connection as usize];
        let group = self.group_of[(connection % self.senders) as usize];
        let counts = &mut self.by_group[group];
        let received = receiver.receive(now, number, |time, size| counts.read(time, size));
        for number in received.complete {
            let Some(request) = self.requests.complete(now, connection, number) else { continue };
            let block = match request {
                Request::Carried(read) => {
                    let receiver = &mut self.receivers[connection as usize];
                    receiver.ask(read);
                    self.datagrams.at(datagram).asked = receiver.asked();
                    None
                }
                Request::Later { at, batch, block } => {
                    self.due.extend(at.map(|at| (at, Step::Ask, batch)));
                    block
                }
                Request::Waiting { read, batch, block } => {
                    self.ask_for(now, read, batch);
                    block
                }
            };
            block.into_iter().for_each(|time| self.by_group[group].blocks.record(time));
        }
        self.datagrams.at(datagram).endpoint = endpoint;
        self.by_connection[connection as usize].delivered += u64::from(received.new);
        self.counts.delivered += u64::from(received.new);
        self.counts.duplicates += u64::from(!received.new);
    }

    /// The server wants a read from each connection of a batch, and asks for it unless as many as may be are open.
    pub(crate) fn ask(&mut self, now: Ps, batch: u32) {
        let Some(Wants { read, at_once, next }) = self.requests.want(now, batch) else { return };
        self.due.extend(next.map(|at| (at, Step::Ask, batch)));
        let connections = self.requests.connections(batch);
        let group = self.group_of[(connections.start % self.senders) as usize];
        self.by_group[group].wanted += u64::from(read.packets) * connections.len() as u64;
        if at_once {
            self.ask_for(now, read, batch);
        }
    }

    /// The server asks each of a batch of connections for a read.
    fn ask_for(&mut self, now: Ps, read: Read, batch: u32) {
        self.requests.asked(read.since, batch);
        for connection in self.requests.connections(batch) {
            self.receivers[connection as usize].send_request(read);
            self.due.push((now + self.delay(connection), Step::Asked, connection));
        }
    }

    /// A request of its own reaches its sender.
    pub(crate) fn asked(&mut self, now: Ps, connection: u32) {
        let packets = self.receivers[connection as usize].request_arrived();
        self.connections[connection as usize].ask_more(packets);
        self.send(now, connection);
    }

    /// The acknowledgement leaves the server, whose NIC tells of itself.
    pub(crate) fn acknowledge(&mut self, now: Ps, datagram: u32, nic: Hop) {
        self.datagrams.at(datagram).telemetry.nic = nic;
        let delay = self.delay(self.datagrams.get(datagram).connection);
        self.due.push((now + delay, Step::Ack, datagram));
    }

    /// An acknowledgement reaches its sender.
    pub(crate) fn at_sender(&mut self, now: Ps, datagram: u32) {
        let d = self.datagrams.remove(datagram);
        let rtt = now - d.sent;
        let connection = &mut self.connections[d.connection as usize];
        connection.ask(d.asked);
        let of = &mut self.by_connection[d.connection as usize];
        of.window_was(connection, now);
        of.acknowledged += 1;
        of.rtt_sum += rtt.0;
        let acked = connection.on_ack(now, &d);
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

    /// The timer of a connection's congestion control.
    pub(crate) fn timer(&mut self, now: Ps, connection: u32) {
        let c = &mut self.connections[connection as usize];
        if c.ticks != Some(now) {
            return;
        }
        c.ticks = None;
        if c.timer().is_some_and(|at| at <= now) {
            self.by_connection[connection as usize].window_was(c, now);
            c.on_timer(now);
        }
        self.send(now, connection);
    }

    /// Sends all that a connection may send now.
    fn send(&mut self, now: Ps, connection: u32) {
        let sender = (connection % self.senders) as usize;
        loop {
            let c = &mut self.connections[connection as usize];
            let of = &mut self.by_connection[connection as usize];
            of.window_was(c, now);
            match c.next(now) {
                Next::Send { number, order, again } => {
                    self.counts.sent += 1;
                    self.counts.sent_again += u64::from(again);
                    of.sent += 1;
                    of.sent_again += u64::from(again);
                    let datagram = Datagram::new(connection, number, order, now);
                    let datagram = self.datagrams.add(datagram);
                    let sent = self.links[sender].send(now, wire_bits(self.frame));
                    let at = sent + self.delays[sender];
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
        if let Some(at) = c.timer().map(|at| at.max(now))
            && c.ticks.is_none_or(|armed| at < armed)
        {
            c.ticks = Some(at);
            self.due.push((at, Step::Timer, connection));
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
                cut_by_host: connection.limited_by_host().map(|_| packets(connection.cuts.host)),
                cut_by_path: packets(connection.cuts.path),
                cut_by_losses: packets(connection.cuts.losses),
                mean_rtt_ns: (of.acknowledged > 0)
                    .then(|| of.rtt_sum as f64 / 1e3 / of.acknowledged as f64),
            }
        })
        .collect()
    }

    /// What each group of senders answered.
    pub(crate) fn by_group(&self) -> &[GroupCounts] {
        &self.by_group
    }

    /// How long reads took, those of all senders.
    pub(crate) fn reads(&self) -> Latency {
        let mut all = Latency::default();
        self.by_group.iter().for_each(|group| all.add(&group.reads));
        all
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
        self.by_group.iter_mut().for_each(GroupCounts::reset);
        self.counts = Counts { in_flight_begin: self.in_flight(), ..Counts::default() };
    }
}

#[cfg(test)]
mod tests;
