//! What the network counts.

use super::connection::Acked;
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// What is counted since measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Data packets sent, those sent again included.
    pub(crate) sent: u64,
    pub(crate) sent_again: u64,
    /// Acknowledgements received.
    pub(crate) acknowledged: u64,
    pub(crate) dropped_switch: u64,
    pub(crate) dropped_server: u64,
    pub(crate) marked: u64,
    /// Packets found lost by later acknowledgements, and timeouts of connections.
    pub(crate) fast_recoveries: u64,
    pub(crate) timeouts: u64,
    /// Packets that reached their application for the first time, and again.
    pub(crate) delivered: u64,
    pub(crate) duplicates: u64,
    /// Datagrams under way when counting began.
    pub(crate) in_flight_begin: u64,
    pub(crate) rtt: Latency,
    pub(crate) fabric: Latency,
    pub(crate) endpoint: Latency,
    /// From the issue of a read to its last packet.
    pub(crate) read: Latency,
    /// Sums of the two delays, for the time series.
    pub(crate) fabric_sum: u64,
    pub(crate) endpoint_sum: u64,
}

impl Counts {
    /// An acknowledgement has come back, after a round trip of which the packet spent `endpoint` in the
    /// server.
    pub(super) fn acknowledged(&mut self, acked: &Acked, rtt: Ps, endpoint: Ps) {
        let fabric = rtt.saturating_sub(endpoint);
        self.acknowledged += 1;
        self.fast_recoveries += u64::from(acked.lost);
        self.rtt.record(rtt);
        self.fabric.record(fabric);
        self.endpoint.record(endpoint);
        self.fabric_sum += fabric.0;
        self.endpoint_sum += endpoint.0;
    }
}
