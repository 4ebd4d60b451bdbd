//! Turns multiples of a mean gap into whole picoseconds without losing any time.

use crate::time::PS_PER_S;
use crate::units::Rate;

/// One mean gap, in the fixed-point numbers that [`Pace::gap`] takes.
pub(super) const ONE: u64 = 1 << FRACTION_BITS;

/// Bits after the binary point. A random gap is resolved to 2^-32 of a mean gap; rounding to
/// nearest leaves no measurable bias.
const FRACTION_BITS: u32 = 32;

/// A mean gap as an exact fraction of picoseconds, and the carried fraction of a picosecond.
///
/// At 26 Mpps the mean gap is 38461.538… ps: rounding each gap would shift the rate, carrying the
/// remainder does not.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Picoseconds in `gaps` mean gaps, in lowest terms.
    ps: u128,
    gaps: u128,
    /// In units of 1 / (`gaps` * 2^32) ps.
    carry: u128,
}

impl Pace {
    /// A mean gap of `ps` / `gaps` picoseconds.
    ///
    /// Exact while `ps` is below 2^89 and `gaps` below 2^89; the configuration's limits on rates
    /// (10^12 per second) and burst lengths (60 s) keep both below 2^88.
    pub(super) fn new(ps: u128, gaps: u128) -> Pace {
        assert!(ps > 0 && gaps > 0, "a rate must be positive and finite, got {ps}/{gaps} ps");
        let g = gcd(ps, gaps);
        Pace { ps: ps / g, gaps: gaps / g, carry: 0 }
    }

    /// The mean gap of `rate`.
    pub(super) fn of_rate(rate: Rate) -> Pace {
        Pace::new(PS_PER_S, rate.0.into())
    }

    /// Converts `mean_gaps`, in units of 2^-32 mean gaps, to picoseconds; the remainder is carried
    /// into later gaps.
    #[inline]
    pub(super) fn gap(&mut self, mean_gaps: u64) -> u64 {
        let units = u128::from(mean_gaps) * self.ps + self.carry;
        let per_ps = self.gaps << FRACTION_BITS;
        self.carry = units % per_ps;
        (units / per_ps) as u64
    }

    /// For reports only: gaps per second.
    pub(super) fn per_second_f64(&self) -> f64 {
        self.gaps as f64 / self.ps as f64 * PS_PER_S as f64
    }
}

const fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_whole_gaps_is_a_second() {
        for rate in [1, 3, 7_000_001, 26_000_000, 148_809_523] {
            let mut pace = Pace::of_rate(Rate(rate));
            let n = rate.min(1_000_000);
            let total: u128 = (0..n).map(|_| u128::from(pace.gap(ONE))).sum();
            assert_eq!(total, u128::from(n) * PS_PER_S / u128::from(rate), "{rate} pps");
        }
    }

    #[test]
    fn the_cut_of_a_gap_comes_with_the_next() {
        let mut pace = Pace::new(5, 2);
        assert_eq!([pace.gap(ONE), pace.gap(ONE), pace.gap(ONE)], [2, 3, 2]);
        assert_eq!(pace.gap(ONE / 2) + pace.gap(ONE / 2), 3);
    }
}
