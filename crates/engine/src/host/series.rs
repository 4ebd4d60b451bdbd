//! The time series: quantities of the host, sampled at a fixed interval.

use super::closed_loop::ClosedLoop;
use super::{Event, Host};
use crate::memory::line::{LineKind, gbytes_per_s};
use crate::memory::traffic::{Agent, Traffic};
use crate::stats::results::{Series, TimeSeries};
use crate::time::Ps;

/// Name and unit of each column.
const SERIES: [(&str, &str); 8] = [
    ("offered", "Mpps"),
    ("completed", "Mpps"),
    ("dropped", "Mpps"),
    ("nic-sram", "KiB"),
    ("queue", "packets"),
    ("memory-rd", "GB/s"),
    ("memory-wr", "GB/s"),
    ("rx-evct", "GB/s"),
];

/// Counters at the time of a sample; the rates are their differences.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    offered: u64,
    completed: u64,
    dropped: u64,
    reads: u64,
    writes: u64,
    rx_evictions: u64,
}

/// The samples since measuring began.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    start: Ps,
    /// When the next sample is due.
    due: Ps,
    last: Totals,
    columns: [Vec<f64>; SERIES.len()],
}

impl Samples {
    /// No samples yet; counting begins at `start`.
    pub(super) fn from(start: Ps) -> Samples {
        Samples { start, due: start, last: Totals::default(), columns: Default::default() }
    }
}

impl Host {
    fn totals(&self) -> Totals {
        let m = &self.meters;
        let (reads, writes) = self.memory.moved();
        let rx_evictions = |t: &Traffic| t.lines(Agent::Evict, LineKind::Rx);
        Totals {
            offered: m.offered,
            completed: m.completed,
            dropped: m.dropped(),
            reads,
            writes,
            rx_evictions: self.memory.traffic.iter().flatten().map(rx_evictions).sum(),
        }
    }

    /// Schedules the next sample, one interval after `now`.
    pub(super) fn schedule_sample(&mut self, now: Ps) {
        self.meters.series.due = now + self.scenario.run.sample.ps();
        self.events.push(self.meters.series.due, Event::Sample);
    }

    /// Takes a sample, unless this one was scheduled before measuring began anew.
    pub(super) fn sample(&mut self, now: Ps) {
        if now != self.meters.series.due {
            return;
        }
        let total = self.totals();
        let waiting: u32 = self.queues.iter().map(|q| q.rx.waiting()).sum();
        let samples = &mut self.meters.series;
        let last = std::mem::replace(&mut samples.last, total);
        let interval = self.scenario.run.sample.ps();
        let us = interval.as_ns_f64() / 1e3;
        let rate = |now: u64, before: u64| (now - before) as f64 / us;
        let bandwidth = |now: u64, before: u64| gbytes_per_s(now - before, us * 1e3);
        let values = [
            rate(total.offered, last.offered),
            rate(total.completed, last.completed),
            rate(total.dropped, last.dropped),
            self.rx.sram.in_use() as f64 / 1024.0,
            waiting.into(),
            bandwidth(total.reads, last.reads),
            bandwidth(total.writes, last.writes),
            bandwidth(total.rx_evictions, last.rx_evictions),
        ];
        for (column, value) in samples.columns.iter_mut().zip(values) {
            column.push(value);
        }
        if let Some(closed_loop) = &mut self.closed_loop {
            closed_loop.sample(now, interval);
        }
        self.schedule_sample(now);
    }

    /// The samples taken, those of closed-loop traffic included.
    pub(super) fn series(&self) -> TimeSeries {
        let samples = &self.meters.series;
        TimeSeries {
            interval_ns: self.scenario.run.sample.ps().as_ns_f64(),
            start_ns: samples.start.as_ns_f64(),
            columns: SERIES
                .iter()
                .zip(&samples.columns)
                .map(|((name, unit), values)| Series {
                    name: (*name).into(),
                    unit: (*unit).into(),
                    values: values.iter().copied().map(Some).collect(),
                })
                .chain(self.closed_loop.iter().flat_map(ClosedLoop::series))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::line::LINE_BYTES;
    use crate::testing::{forwarder, results};

    #[test]
    fn samples_begin_where_measuring_does() {
        // The warm-up ends between two multiples of the interval.
        let r = results(&forwarder(&[
            ("/traffic/kind", "constant".into()),
            ("/run/warmup", "70 us".into()),
        ]));
        assert_eq!(r.series.start_ns, 70_000.0);
        let offered = r.series.columns.into_iter().find(|c| c.name == "offered");
        let offered: Vec<f64> = offered.expect("a column").values.into_iter().flatten().collect();
        assert_eq!(offered.len(), 4, "200 us, sampled every 50");
        let even = offered.iter().all(|rate| (rate / offered[1] - 1.0).abs() < 0.02);
        assert!(even, "{offered:?}");
    }

    /// Packets of a burst that a core has taken still wait for those before them: Little's law holds for the series.
    #[test]
    fn packets_of_a_burst_wait_until_they_are_served() {
        let r = results(&forwarder(&[
            ("/queues/burst", 32.into()),
            ("/traffic/kind", "bursts".into()),
            ("/traffic/rate", "40 Mpps".into()),
            ("/traffic/on", "2 us".into()),
            ("/traffic/off", "8 us".into()),
            ("/run/duration", "2 ms".into()),
            ("/run/sample", "100 ns".into()),
        ]));
        let queue = r.series.columns.iter().find(|c| c.name == "queue").expect("a column");
        let mean = queue.values.iter().flatten().sum::<f64>() / queue.values.len() as f64;
        let waited = r.queues.iter().map(|q| q.rx_waited_ps).sum::<u64>();
        let by_little = waited as f64 / 1e3 / r.measured_ns;
        assert!(
            mean > 1.0 && (mean / by_little - 1.0).abs() < 0.03,
            "{mean}, by Little {by_little}"
        );
    }

    /// Overload, so that every column has something in it.
    #[test]
    fn rates_of_the_samples_add_up_to_what_is_counted() {
        let r = results(&forwarder(&[("/traffic/rate", "40 Mpps".into())]));
        let of = |name: &str| {
            let column = r.series.columns.iter().find(|c| c.name == name).expect("a column");
            assert_eq!(column.values.len(), 4, "200 us, sampled every 50");
            column.values.iter().flatten().sum::<f64>() * r.series.interval_ns / 1e3
        };
        let assert_adds_up = |name: &str, counted: f64| {
            assert!(counted > 0.0 && (of(name) / counted - 1.0).abs() < 1e-9, "{name}: {counted}");
        };
        let p = &r.packets;
        assert_adds_up("offered", p.offered as f64);
        assert_adds_up("completed", p.completed as f64);
        let dropped = p.dropped_sram + p.dropped_no_descriptor;
        assert_adds_up("dropped", dropped as f64);
        assert_eq!(r.queues.iter().filter_map(|q| q.dropped).sum::<u64>(), dropped);
        // GB/s times microseconds are kilobytes.
        let lines = r.memory.causes.iter().map(|c| c.lines).sum::<u64>();
        let moved = of("memory-rd") + of("memory-wr");
        assert!((moved * 1e3 / (lines * LINE_BYTES) as f64 - 1.0).abs() < 1e-9, "{moved}");
    }
}
