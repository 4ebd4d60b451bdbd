//! Closed-loop traffic at the host: the packets of [`crate::transport`] enter at the NIC and leave as
//! acknowledgements; what the senders see of the server in between is the delay that these report.

use super::packets::Packet;
use super::{Event, Host};
use crate::config::Scenario;
use crate::config::units::BitRate;
use crate::stats::results::{Balance, Series, TransportResults};
use crate::time::Ps;
use crate::transport::{Network, Step};
use crate::wire::Arrival;

const NONE: u32 = u32::MAX;

/// Name and unit of the time series.
const SERIES: [(&str, &str); 7] = [
    ("goodput", "Gbps"),
    ("sent-again", "Mpps"),
    ("window", "packets"),
    ("fabric-delay", "us"),
    ("host-delay", "us"),
    ("nic-sram", "KiB"),
    ("switch-queue", "KiB"),
];

/// The network and what the host knows of the packets that it has from it.
#[derive(Clone, Debug)]
pub(super) struct ClosedLoop {
    pub(super) network: Network,
    payload_bits: u64,
    /// The datagram of each packet in the host, by the packet's handle, or [`NONE`].
    datagrams: Vec<u32>,
    /// Counts at the last sample: delivered, sent again, acknowledged, and the sums of delays.
    last: [u64; 5],
    series: [Vec<f64>; SERIES.len()],
}

impl ClosedLoop {
    /// The network before a server with so many queues, if the scenario's traffic is of this kind.
    pub(super) fn new(scenario: &Scenario, queues: u32) -> Option<ClosedLoop> {
        let config = scenario.traffic.as_ref()?.closed_loop()?;
        // The scenario's check wants a rate; without it the link is no limit.
        let link = scenario.machine.nic.link.unwrap_or(BitRate(u64::MAX));
        Some(ClosedLoop {
            network: Network::new(config, link, queues, scenario.run.seed),
            payload_bits: config.payload.0 * 8,
            datagrams: Vec::new(),
            last: [0; 5],
            series: Default::default(),
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

    /// What a sample counts up to now.
    fn totals(&self) -> [u64; 5] {
        let c = &self.network.counts;
        [c.delivered, c.sent_again, c.acknowledged, c.fabric_sum, c.endpoint_sum]
    }

    /// Takes a sample of the time series.
    pub(super) fn sample(&mut self, now: Ps, interval: Ps, sram: u64) {
        let totals = self.totals();
        let since = |i: usize| (totals[i] - self.last[i]) as f64;
        let ns = interval.as_ns_f64();
        let mean_us = |i: usize| if since(2) > 0.0 { since(i) / since(2) / 1e6 } else { 0.0 };
        let values = [
            since(0) * self.payload_bits as f64 / ns,
            since(1) / ns * 1e3,
            self.network.mean_window(),
            mean_us(3),
            mean_us(4),
            sram as f64 / 1024.0,
            self.network.switch_bytes(now) as f64 / 1024.0,
        ];
        self.last = totals;
        for (column, value) in self.series.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// Counting begins.
    pub(super) fn reset(&mut self) {
        self.network.reset_counts();
        (self.last, self.series) = ([0; 5], Default::default());
    }

    /// The columns of the time series.
    pub(super) fn series(&self) -> impl Iterator<Item = Series> + '_ {
        SERIES.iter().zip(&self.series).map(|((name, unit), values)| Series {
            name: (*name).into(),
            unit: (*unit).into(),
            values: values.clone(),
        })
    }

    /// What was measured in a span.
    pub(super) fn results(&self, span_ns: f64) -> TransportResults {
        let c = &self.network.counts;
        let dropped = c.dropped_switch + c.dropped_server;
        TransportResults {
            goodput_gbps: (c.delivered * self.payload_bits) as f64 / span_ns,
            sent: c.sent,
            sent_again: c.sent_again,
            acknowledged: c.acknowledged,
            dropped_switch: c.dropped_switch,
            dropped_server: c.dropped_server,
            drop_share: if c.sent == 0 { 0.0 } else { dropped as f64 / c.sent as f64 },
            marked: c.marked,
            fast_recoveries: c.fast_recoveries,
            timeouts: c.timeouts,
            delivered: c.delivered,
            duplicates: c.duplicates,
            reads: c.read.count(),
            mean_window: self.network.mean_window(),
            rtt: c.rtt.distribution(),
            fabric_delay: c.fabric.distribution(),
            host_delay: c.endpoint.distribution(),
            read_latency: c.read.distribution(),
        }
    }

    /// Datagrams: sent is acknowledged, dropped or in flight; those in flight are each with an event
    /// or a packet of the host; and no packet of a read is forgotten by its sender.
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
            Step::Wake => network.wake(now, of),
            Step::Timeout => network.timeout(now, of),
            Step::Delivered => self.delivered(now, of),
        }
        self.schedule_network();
    }

    /// Schedules what the network has asked for.
    pub(super) fn schedule_network(&mut self) {
        let Some(closed_loop) = &mut self.closed_loop else { return };
        for (at, step, of) in closed_loop.network.due.drain(..) {
            self.events.push(at, Event::Network { step, of });
        }
    }

    /// A data packet is at the NIC.
    fn delivered(&mut self, now: Ps, datagram: u32) {
        let closed_loop = self.network();
        let d = *closed_loop.network.datagram(datagram);
        let queue = closed_loop.network.queue(d.connection);
        let bytes = closed_loop.network.frame();
        let arrival = Arrival { at: now, bytes, flow: d.connection };
        match self.admit(now, arrival, queue, d.number) {
            Some(packet) => {
                self.network().carry(packet, datagram);
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

    /// A core has dealt with a packet and hands its acknowledgement to the NIC.
    pub(super) fn processed(&mut self, now: Ps, packet: u32) {
        if let Some(closed_loop) = &mut self.closed_loop {
            let Packet { arrived, .. } = *self.packets.get(packet);
            let datagram = closed_loop.datagrams[packet as usize];
            closed_loop.network.processed(now, datagram, now - arrived);
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
