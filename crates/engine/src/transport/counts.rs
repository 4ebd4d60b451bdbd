//! Counters of the network.

use super::connection::{Acked, Connection};
use super::fixed;
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// Counts since measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Data packets sent, including those sent again.
    pub(crate) sent: u64,
    pub(crate) sent_again: u64,
    /// Acknowledgements received.
    pub(crate) acknowledged: u64,
    pub(crate) dropped_switch: u64,
    pub(crate) dropped_server: u64,
    pub(crate) marked: u64,
    /// Packets marked by the server's NIC but not by the switch.
    pub(crate) marked_server: u64,
    /// Packets found lost through later acknowledgements, and timeouts of connections.
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
    /// Packets considered lost whose acknowledgement arrived before they were sent again.
    pub(crate) not_lost: u64,
    /// Packets that reached their application for the first time, and those that did so again.
    pub(crate) delivered: u64,
    pub(crate) duplicates: u64,
    /// Datagrams under way when counting began.
    pub(crate) in_flight_begin: u64,
    pub(crate) rtt: Latency,
    pub(crate) fabric: Latency,
    pub(crate) endpoint: Latency,
}

/// What one group of senders answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupCounts {
    /// Packets of the reads that were wanted, where a message of its own asks for them.
    pub(crate) wanted: u64,
    /// From when a read was wanted until it and all reads before it are complete.
    pub(crate) reads: Latency,
    /// The same for reads of each size, if there are several.
    pub(crate) by_size: Vec<Latency>,
    /// From when a striped block was wanted until the last of its reads is complete.
    pub(crate) blocks: Latency,
}

impl GroupCounts {
    /// Counts of reads of `kinds` sizes.
    pub(super) fn of(kinds: usize) -> GroupCounts {
        let several = if kinds > 1 { kinds } else { 0 };
        GroupCounts { by_size: vec![Latency::default(); several], ..GroupCounts::default() }
    }

    /// A read is complete.
    pub(super) fn read(&mut self, time: Ps, size: u16) {
        self.reads.record(time);
        if let Some(of) = self.by_size.get_mut(usize::from(size)) {
            of.record(time);
        }
    }

    /// Starts counting.
    pub(super) fn reset(&mut self) {
        let GroupCounts { wanted, reads, by_size, blocks } = self;
        *wanted = 0;
        by_size.iter_mut().chain([reads, blocks]).for_each(Latency::reset);
    }
}

/// Counts of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConnectionCounts {
    pub(super) sent: u64,
    pub(super) sent_again: u64,
    pub(super) timeouts: u64,
    pub(super) delivered: u64,
    pub(super) acknowledged: u64,
    pub(super) rtt_sum: u64,
    /// Time integral of the congestion window up to `until`, in packets of [`fixed::ONE`] x ps.
    window_time: u128,
    until: Ps,
}

impl ConnectionCounts {
    /// Starts counting.
    pub(super) fn from(now: Ps) -> ConnectionCounts {
        ConnectionCounts { until: now, ..ConnectionCounts::default() }
    }

    /// Accounts for the congestion window of a connection, which has been what it is up to now.
    pub(super) fn window_was(&mut self, connection: &Connection, now: Ps) {
        let time = (now - self.until).0;
        if time == 0 {
            return;
        }
        self.window_time += u128::from(connection.window()) * u128::from(time);
        self.until = now;
    }

    /// Mean congestion window since counting began at `begin`, in packets.
    pub(super) fn mean_window(&self, begin: Ps) -> f64 {
        let span = (self.until - begin).0.max(1);
        self.window_time as f64 / fixed::ONE as f64 / span as f64
    }
}

impl Counts {
    /// Counts an acknowledgement whose round trip took `rtt`, of which the packet spent `endpoint`
    /// in the server.
    pub(super) fn acknowledged(&mut self, acked: &Acked, rtt: Ps, endpoint: Ps) {
        self.acknowledged += 1;
        self.fast_recoveries += u64::from(acked.lost);
        self.not_lost += u64::from(acked.not_lost);
        self.rtt.record(rtt);
        self.fabric.record(rtt.saturating_sub(endpoint));
        self.endpoint.record(endpoint);
    }
}
