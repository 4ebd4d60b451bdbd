//! Constant rate: the hardware traffic generator's default.

use super::pace::{ONE, Pace};
use crate::time::Ps;
use crate::units::Rate;

/// Packet `n` (counted from 1) arrives at `n / rate`, rounded down to a picosecond.
#[derive(Clone, Debug)]
pub struct Constant {
    pace: Pace,
    now: u64,
}

impl Constant {
    /// Packets at `rate`.
    pub(super) fn new(rate: Rate) -> Constant {
        Constant { pace: Pace::of_rate(rate), now: 0 }
    }

    /// The time of the next packet.
    #[inline]
    pub(super) fn next(&mut self) -> Ps {
        self.now += self.pace.gap(ONE);
        Ps(self.now)
    }

    /// From the last returned packet on, packets come at `rate`.
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

    #[test]
    fn the_mean_rate_is_exact() {
        let mut constant = Constant::new(Rate(26_000_000));
        let last = (0..26_000_000 / 8).map(|_| constant.next()).last();
        assert_eq!(last, Some(Ps(1_000_000_000_000 / 8)));
    }

    #[test]
    fn a_new_rate_counts_from_the_last_packet() {
        let mut constant = Constant::new(Rate(1_000_000));
        assert_eq!(constant.next(), Ps::from_us(1));
        constant.set_rate(Rate(10_000_000));
        assert_eq!(constant.next(), Ps::from_ns(1_100));
    }
}
