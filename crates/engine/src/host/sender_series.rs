//! Time series of closed-loop senders.

use std::ops::Range;

use crate::stats::results::Series;
use crate::time::Ps;
use crate::transport::Network;

/// Name and unit of each column.
pub(super) const OF_ALL: [(&str, &str); 8] = [
    ("goodput", "Gbps"),
    ("sent-again", "Mpps"),
    ("window", "packets"),
    ("fabric-delay", "us"),
    ("host-delay", "us"),
    ("switch-queue", "KiB"),
    ("switch-dropped", "Mpps"),
    ("marked", "Mpps"),
];

/// The same of the rivals alone, if there are any.
const OF_RIVALS: [(&str, &str); 2] = [("rivals-goodput", "Gbps"), ("rivals-window", "packets")];

/// The samples since measuring began.
#[derive(Clone, Debug)]
pub(super) struct SenderSeries {
    payload_bits: u64,
    rivals: Option<Range<u32>>,
    /// Counts at the last sample: delivered, sent again, acknowledged, the sums of delays, dropped by the switch,
    /// and marked by it or the NIC.
    last: [u128; 7],
    of_all: [Vec<Option<f64>>; OF_ALL.len()],
    /// Packets that rivals had delivered at the last sample.
    last_of_rivals: u64,
    of_rivals: [Vec<Option<f64>>; OF_RIVALS.len()],
    /// For each watched connection of the first queue, its sender and the samples of its window.
    windows: Vec<(u32, Vec<Option<f64>>)>,
}

impl SenderSeries {
    /// No samples yet. The connections of the senders `watched` to the first queue are recorded individually.
    pub(super) fn new(
        payload_bits: u64,
        rivals: Option<Range<u32>>,
        watched: impl Iterator<Item = u32>,
    ) -> SenderSeries {
        SenderSeries {
            payload_bits,
            rivals,
            last: [0; 7],
            of_all: Default::default(),
            last_of_rivals: 0,
            of_rivals: Default::default(),
            windows: watched.map(|sender| (sender, Vec::new())).collect(),
        }
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self, network: &Network, now: Ps, interval: Ps) {
        let c = &network.counts;
        let totals = [
            c.delivered.into(),
            c.sent_again.into(),
            c.acknowledged.into(),
            c.fabric.sum(),
            c.endpoint.sum(),
            c.dropped_switch.into(),
            (c.marked + c.marked_server).into(),
        ];
        let since = |i: usize| (totals[i] - self.last[i]) as f64;
        let ns = interval.as_ns_f64();
        let mean_us = |i: usize| (since(2) > 0.0).then(|| since(i) / since(2) / 1e6);
        let values = [
            Some(since(0) * self.payload_bits as f64 / ns),
            Some(since(1) / ns * 1e3),
            Some(network.window()),
            mean_us(3),
            mean_us(4),
            Some(network.switch_bytes(now) as f64 / 1024.0),
            Some(since(5) / ns * 1e3),
            Some(since(6) / ns * 1e3),
        ];
        self.last = totals;
        for (column, value) in self.of_all.iter_mut().zip(values) {
            column.push(value);
        }
        if let Some(rivals) = &self.rivals {
            let delivered = network.delivered_by(rivals);
            let packets = (delivered - self.last_of_rivals) as f64;
            let [goodput, window] = &mut self.of_rivals;
            goodput.push(Some(packets * self.payload_bits as f64 / ns));
            window.push(Some(network.window_with(rivals)));
            self.last_of_rivals = delivered;
        }
        for (sender, column) in &mut self.windows {
            column.push(Some(network.window_of(*sender as usize)));
        }
    }

    /// Starts the measured time: counts begin anew.
    pub(super) fn reset(&mut self) {
        let watched = self.windows.iter().map(|(sender, _)| *sender);
        *self = SenderSeries::new(self.payload_bits, self.rivals.clone(), watched);
    }

    /// The columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = Series> + '_ {
        let rivals = OF_RIVALS.iter().zip(&self.of_rivals).filter(|_| self.rivals.is_some());
        let of_all = OF_ALL.iter().zip(&self.of_all).chain(rivals);
        let named = of_all.map(|((name, unit), values)| Series {
            name: (*name).into(),
            unit: (*unit).into(),
            values: values.clone(),
        });
        let of_rival = |sender| self.rivals.as_ref().is_some_and(|rivals| rivals.contains(sender));
        let watched = self.windows.iter().map(move |(sender, values)| Series {
            name: format!("{}window-{sender}", if of_rival(sender) { "rivals-" } else { "" }),
            unit: "packets".into(),
            values: values.clone(),
        });
        named.chain(watched)
    }
}
