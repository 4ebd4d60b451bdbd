//! Poisson arrivals: many independent clients, as one server sees them.

use super::pace::Pace;
use crate::rng::Rng;
use crate::time::Ps;
use crate::units::Rate;

/// Gaps are exponentially distributed with mean `1 / rate`.
#[derive(Clone, Debug)]
pub struct Poisson {
    pace: Pace,
    now: u64,
    stream: Rng,
}

impl Poisson {
    /// Packets at `rate` on average.
    pub(super) fn new(rate: Rate, stream: Rng) -> Poisson {
        Poisson { pace: Pace::of_rate(rate), now: 0, stream }
    }

    /// The time of the next packet.
    #[inline]
    pub(super) fn next(&mut self) -> Ps {
        self.now += self.pace.gap(self.stream.exponential());
        Ps(self.now)
    }

    /// From the last returned packet on, packets come at `rate` on average.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        self.pace = Pace::of_rate(rate);
    }

    /// For reports only: packets per second.
    pub(super) fn mean_f64(&self) -> f64 {
        self.pace.per_second_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rate: u64, seed: u64, n: usize) -> Vec<u64> {
        let mut poisson = Poisson::new(Rate(rate), Rng::of_wire(seed, 0));
        (0..n).map(|_| poisson.next().0).collect()
    }

    /// The sum of n exponential gaps has the mean n/rate and the standard deviation sqrt(n)/rate.
    #[test]
    fn the_mean_rate_is_within_four_sigma() {
        for (rate, seed) in [(26_000_000, 1), (999_999_937, 2), (1_000, 3)] {
            let n = 1_000_000;
            let mean = 1e12 / rate as f64;
            let deviation = times(rate, seed, n)[n - 1] as f64 - n as f64 * mean;
            let sigma = (n as f64).sqrt() * mean;
            assert!(deviation.abs() < 4.0 * sigma, "{rate} pps: {} sigma", deviation / sigma);
        }
    }

    /// Arrivals per 64 mean gaps: for a Poisson process the variance equals the mean. The variance
    /// of that estimate over k windows is about 2/k, so 4 sigma of 15 625 windows are 0.045.
    #[test]
    fn counts_are_as_dispersed_as_a_poisson_process() {
        let n = 1_000_000;
        let times = times(1_000_000_000, 4, n);
        let mut counts = vec![0f64; n / 64];
        for t in times {
            if let Some(count) = counts.get_mut((t / 64_000) as usize) {
                *count += 1.0;
            }
        }
        // The last windows may lie beyond the last arrival.
        counts.truncate(n / 64 - 200);
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance =
            counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (counts.len() - 1) as f64;
        assert!((variance / mean - 1.0).abs() < 0.046, "variance {variance}, mean {mean}");
    }

    /// The exact times for one seed: a platform, libm or generator that gives different bits shows
    /// up here first.
    #[test]
    fn one_seed_gives_these_picoseconds() {
        assert_eq!(times(26_000_000, 7, 4), [14_277, 42_810, 93_063, 95_813]);
    }
}
