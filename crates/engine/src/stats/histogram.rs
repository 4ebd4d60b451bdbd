//! Latency distributions: HDR histograms over picoseconds, two significant digits (a bucket is at most
//! 1 % wide).

use hdrhistogram::Histogram;

use super::results::Distribution;
use crate::time::Ps;

/// Latencies are recorded in units of 0.1 ns, which is the resolution at the short end.
const UNIT_PS: u64 = 100;

/// Latencies above this many units (100 s) are recorded as this value.
const LONGEST: u64 = 1_000_000_000_000;

/// A distribution of latencies.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    histogram: Histogram<u64>,
    sum: u128,
}

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_max(LONGEST, 2).expect("the bounds are allowed");
        Latency { histogram, sum: 0 }
    }
}

impl Latency {
    #[inline]
    pub(crate) fn record(&mut self, span: Ps) {
        self.sum += u128::from(span.0);
        let units = (span.0 / UNIT_PS).min(LONGEST);
        self.histogram.record(units).expect("the histogram takes all values up to the longest");
    }

    /// Adds the samples of another distribution.
    pub(crate) fn add(&mut self, other: &Latency) {
        self.sum += other.sum;
        self.histogram.add(&other.histogram).expect("all histograms have the same bounds");
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn reset(&mut self) {
        self.histogram.reset();
        self.sum = 0;
    }

    /// Exact sum, ps.
    pub(crate) fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact mean in nanoseconds; zero without samples.
    pub(crate) fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 / 1e3 }
    }

    /// The value that `percent` of the samples do not exceed, ns; to a hundredth of a percent.
    pub(crate) fn percentile_ns(&self, percent: f64) -> f64 {
        // 99.9 / 100 is above 0.999, so that of 1000 samples it would be the largest.
        let quantile = (100.0 * percent).round() / 1e4;
        self.histogram.value_at_quantile(quantile) as f64 * UNIT_PS as f64 / 1e3
    }

    /// Number of samples above `ns`, to within 1 % of `ns`.
    pub(crate) fn above(&self, ns: f64) -> u64 {
        let units = (ns * 1e3 / UNIT_PS as f64) as u64;
        self.histogram.count_between(units.saturating_add(1), LONGEST)
    }

    pub(crate) fn distribution(&self) -> Distribution {
        let percentiles = [50.0, 90.0, 99.0, 99.9, 100.0];
        let total = self.count() as f64;
        let mut below = 0;
        let mut cdf = Vec::new();
        for step in self.histogram.iter_recorded() {
            below += step.count_since_last_iteration();
            cdf.push((
                step.value_iterated_to() as f64 * UNIT_PS as f64 / 1e3,
                below as f64 / total,
            ));
        }
        // A curve of at most 200 points, plus the last one if it is not among them.
        let stride = cdf.len().div_ceil(200).max(1);
        let last = cdf.last().copied();
        let mut cdf: Vec<(f64, f64)> = cdf.into_iter().step_by(stride).collect();
        if let Some(last) = last
            && cdf.last() != Some(&last)
        {
            cdf.push(last);
        }
        Distribution {
            count: self.count(),
            mean_ns: self.mean_ns(),
            percentiles_ns: percentiles.iter().map(|&p| (p, self.percentile_ns(p))).collect(),
            cdf,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_up_to_the_longest_are_told_apart_and_longer_ones_count_as_that() {
        let mut l = Latency::default();
        for s in [50, 100, 500, 1000] {
            l.record(Ps::from_us(s * 1_000_000));
        }
        let d = l.distribution();
        let seconds = |percent| l.percentile_ns(percent) / 1e9;
        assert!((seconds(25.0) / 50.0 - 1.0).abs() < 0.01, "{d:?}");
        assert!((seconds(50.0) / 100.0 - 1.0).abs() < 0.01, "{d:?}");
        assert!((seconds(100.0) / 100.0 - 1.0).abs() < 0.01, "{d:?}");
        assert_eq!((d.count, d.mean_ns), (4, 412.5e9));
    }

    #[test]
    fn distributions_add_up_to_that_of_all_samples() {
        let of = |samples: std::ops::Range<u64>| {
            let mut l = Latency::default();
            samples.for_each(|ns| l.record(Ps::from_ns(7 * ns)));
            l
        };
        let mut sum = of(0..30);
        sum.add(&of(30..100));
        assert_eq!(sum.distribution(), of(0..100).distribution());
    }

    #[test]
    fn one_sample_in_a_thousand_is_above_the_99_9th_percentile() {
        let mut l = Latency::default();
        for thousands in 1..=200 {
            (0..999).for_each(|_| l.record(Ps::from_ns(10)));
            l.record(Ps::from_ns(1000));
            assert!(l.percentile_ns(99.9) < 11.0, "{thousands} thousand");
        }
    }

    #[test]
    fn mean_and_percentiles_are_in_nanoseconds() {
        let mut l = Latency::default();
        for ns in 1..=100 {
            l.record(Ps::from_ns(ns));
        }
        let d = l.distribution();
        assert_eq!(d.mean_ns, 50.5);
        assert!((d.percentiles_ns[0].1 - 50.0).abs() < 1.0, "{d:?}");
        assert_eq!(d.cdf.last().unwrap().1, 1.0);
    }
}
