//! Closed-loop traffic at the host: packets of [`crate::transport`] enter at the NIC and leave as
//! acknowledgements. The senders learn of the server by them: by the
//! delay that they report, the marks that they carry, the reads that they ask for, and their absence.

use std::ops::Range;

use super::packets::Packet;
use super::sender_series::SenderSeries;
use super::shares::{Share, share_lost};
use super::{Event, Host};
use crate::config::Scenario;
use crate::frame::wire_bits;
use crate::stats::histogram::Latency;
use crate::stats::results::{
    Balance, ConnectionResults, SendersResults, Series, SizeResults, TransportResults,
};
use crate::time::Ps;
use crate::transport::config::ClosedLoopConfig;
use crate::transport::groups::Group;
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
    /// Whether a load is wanted of them.
    loaded: bool,
    /// Bytes of their reads, by size, and what such a read takes alone, ns.
    sizes: Vec<(u64, f64)>,
}

/// What a read takes in a network without anything else, and a server that takes no time: the request's way, and the
/// frames' on the sender's link and on the server's.
fn alone_ns(bytes: u64, config: &ClosedLoopConfig, of: &Group<'_>, link: BitRate) -> f64 {
    let frames = bytes.div_ceil(config.payload.0);
    let ns = |rate: BitRate| wire_bits(config.frame().0 as u32) as f64 / rate.0 as f64 * 1e9;
    let (slow, fast) = (ns(of.link).max(ns(link)), ns(of.link).min(ns(link)));
    2.0 * of.delay.ps().as_ns_f64() + frames as f64 * slow + fast
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
            loaded: group.load.is_some(),
            sizes: group
                .sizes
                .iter()
                .map(|share| share.size.0)
                .map(|bytes| (bytes, alone_ns(bytes, config, &group, link)))
                .collect(),
            all: group.senders,
            control: group.control_key,
            striped: group.striped,
        };
        let payload_bits = config.payload.0 * 8;
        let rivals = config.groups().nth(1).map(|group| group.senders);
        let watched = config.groups().flat_map(|g| g.senders.take(config.watched as usize));
        Some(ClosedLoop {
            network: Network::new(config, link, queues, scenario.run.seed),
            payload_bits,
            groups: config.groups().map(senders).collect(),
            datagrams: Vec::new(),
            series: SenderSeries::new(payload_bits, rivals, watched),
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
        let reads = self.network.reads();
        TransportResults {
            goodput_gbps: gbps(c.delivered),
            wanted_gbps: self.wanted(0..self.groups.len()).map(gbps),
            sent: c.sent,
            sent_again: c.sent_again,
            acknowledged: c.acknowledged,
            dropped_switch: c.dropped_switch,
            dropped_server: c.dropped_server,
            lost_share: share_lost(dropped, c.sent, c.acknowledged),
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
            reads: reads.count(),
            mean_window: all.mean_window,
            cut_by_host: all.cut_by_host,
            cut_by_path: all.cut_by_path,
            cut_by_losses: all.cut_by_losses,
            fairness: all.fairness.filter(|_| !self.groups.iter().any(|group| group.loaded)),
            rtt: c.rtt.distribution(),
            fabric_delay: c.fabric.distribution(),
            host_delay: c.endpoint.distribution(),
            read_latency: reads.distribution(),
            by_size: self.by_size(),
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
        of.filter(|(group, _)| group.striped).map(|(_, counts)| &counts.blocks)
    }

    /// Packets of the reads that were wanted of some of the groups; `None` unless a load is wanted of all of them.
    fn wanted(&self, groups: Range<usize>) -> Option<u64> {
        let of = self.groups[groups.clone()].iter().zip(&self.network.by_group()[groups]);
        of.map(|(group, counts)| group.loaded.then_some(counts.wanted)).sum()
    }

    /// How long reads of each size took, if there are several or a load.
    fn by_size(&self) -> Vec<SizeResults> {
        let groups = self.groups.iter().zip(self.network.by_group()).enumerate();
        let of_each = groups.flat_map(|(i, (group, counts))| {
            let only = if group.loaded { std::slice::from_ref(&counts.reads) } else { &[] };
            let latencies = if counts.by_size.is_empty() { only } else { &counts.by_size };
            group.sizes.iter().zip(latencies).map(move |(&(bytes, alone_ns), latency)| {
                SizeResults { group: i as u32, bytes, alone_ns, latency: latency.distribution() }
            })
        });
        of_each.collect()
    }

    /// What each group of senders got, if there is more than one.
    fn by_group(
        &self,
        connections: &[ConnectionResults],
        gbps: impl Fn(u64) -> f64,
    ) -> Vec<SendersResults> {
        let several = self.groups.iter().zip(self.network.by_group()).enumerate();
        several
            .filter(|_| self.groups.len() > 1)
            .map(|(i, (Senders { all, control, striped, loaded, .. }, counts))| {
                let theirs = connections.iter().filter(|c| all.contains(&c.sender));
                let share = Share::of(&theirs);
                SendersResults {
                    control: (*control).into(),
                    first: all.start,
                    count: all.len() as u32,
                    goodput_gbps: gbps(share.delivered),
                    wanted_gbps: self.wanted(i..i + 1).map(&gbps),
                    sent: share.sent,
                    sent_again: share.sent_again,
                    timeouts: share.timeouts,
                    hears_marks: self.network.hears_marks(all.clone()),
                    mean_window: share.mean_window,
                    cut_by_host: share.cut_by_host,
                    cut_by_path: share.cut_by_path,
                    cut_by_losses: share.cut_by_losses,
                    fairness: share.fairness.filter(|_| !loaded),
                    read_latency: counts.reads.distribution(),
                    block_latency: striped.then(|| counts.blocks.distribution()),
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
            Step::Timer => network.timer(now, of),
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
        closed_loop.network.left_switch(now, datagram);
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

    /// A core has processed a packet. Its acknowledgement goes to the NIC now, or when there is a descriptor for it.
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
            closed_loop.network.acknowledge(now, datagram, self.rx.hop(now));
            self.schedule_network();
        }
    }
}

#[cfg(test)]
mod tests;
