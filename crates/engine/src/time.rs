//! The simulated clock: integer picoseconds, and frequencies as exact ratios.
//!
//! A period is never rounded to a whole picosecond and then multiplied: cycle `n` of a clock lies
//! at `n * 10^12 / f`, rounded down once, so two clocks never drift apart by more than 1 ps.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub};

use crate::divisor::Divisor;

/// Picoseconds in a second.
pub(crate) const PS_PER_S: u128 = 1_000_000_000_000;

/// A point in simulated time, or a span of it, in picoseconds since the start of the run.
///
/// 2^64 ps are 213 days of simulated time, so additions do not overflow in practice; overflow
/// panics in debug builds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ps(pub u64);

impl Ps {
    /// The start of the run, and the empty span.
    pub const ZERO: Ps = Ps(0);
    /// Later than every event: "never".
    pub const MAX: Ps = Ps(u64::MAX);

    /// A span of whole nanoseconds.
    pub const fn from_ns(ns: u64) -> Ps {
        Ps(ns * 1_000)
    }

    /// A span of whole microseconds.
    pub const fn from_us(us: u64) -> Ps {
        Ps(us * 1_000_000)
    }

    /// For reports only: the span in nanoseconds.
    pub fn as_ns_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The span since `earlier`, or zero if `earlier` is later.
    pub const fn saturating_sub(self, earlier: Ps) -> Ps {
        Ps(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ps {
    type Output = Ps;
    fn add(self, rhs: Ps) -> Ps {
        Ps(self.0 + rhs.0)
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, rhs: Ps) {
        self.0 += rhs.0;
    }
}

impl Sub for Ps {
    type Output = Ps;
    fn sub(self, rhs: Ps) -> Ps {
        Ps(self.0 - rhs.0)
    }
}

impl fmt::Debug for Ps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

/// A clock: converts between a count of ticks and picoseconds without drift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// Picoseconds in `ticks` ticks, in lowest terms.
    ps: Divisor,
    ticks: Divisor,
}

impl Clock {
    /// A clock of `hz` ticks per second.
    ///
    /// # Panics
    /// If `hz` is zero (the configuration check refuses that earlier).
    pub fn from_hz(hz: u64) -> Clock {
        Clock::from_period(PS_PER_S as u64, hz)
    }

    /// A clock with `ticks` ticks every `ps` picoseconds, for frequencies that are not a whole
    /// number of hertz (DDR4-2666 runs at 1333 1/3 MHz: one tick every 750 ps).
    ///
    /// # Panics
    /// If either is zero.
    pub fn from_period(ps: u64, ticks: u64) -> Clock {
        let g = gcd(ps, ticks);
        let reduced = |n: u64| Divisor::new(NonZeroU64::new(n / g).expect("a clock must tick"));
        Clock { ps: reduced(ps), ticks: reduced(ticks) }
    }

    /// The same clock with every tick cut into `n` equal parts.
    pub fn divided(self, n: u64) -> Clock {
        Clock::from_period(self.ps.n.get(), self.ticks.n.get() * n)
    }

    /// The latest time whose ticks can be counted in 64 bits.
    pub fn longest(self) -> Ps {
        Ps((u64::MAX - self.ps.n.get()) / self.ticks.n.get() - 1)
    }

    /// The time of tick `n`, rounded down to a picosecond.
    #[inline]
    pub fn at(self, n: u64) -> Ps {
        Ps(self.ticks.quotient_of_one_less(n * self.ps.n.get() + 1))
    }

    /// What `n` ticks of several things at once add up to, which may be longer than [`Self::longest`].
    pub fn sum(self, n: u64) -> Ps {
        let ps = u128::from(n) * u128::from(self.ps.n.get()) / u128::from(self.ticks.n.get());
        Ps(ps as u64)
    }

    /// The first tick at or after `t`.
    #[inline]
    pub fn ticks_until(self, t: Ps) -> u64 {
        self.ps.quotient_of_one_less(t.0 * self.ticks.n.get() + self.ps.n.get())
    }

    /// The last tick at or before `t`.
    #[inline]
    pub fn ticks_at(self, t: Ps) -> u64 {
        // Tick n is at floor(n * ps / ticks), so n is the largest with n * ps < (t + 1) * ticks.
        self.ps.quotient_of_one_less((t.0 + 1) * self.ticks.n.get())
    }
}

const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_3_2_ghz_clock_has_no_drift() {
        let c = Clock::from_hz(3_200_000_000);
        assert_eq!(c.at(1), Ps(312));
        assert_eq!(c.at(2), Ps(625));
        assert_eq!(c.at(3_200_000_000), Ps(1_000_000_000_000));
    }

    #[test]
    fn a_sum_of_ticks_may_be_longer_than_any_time() {
        // Of a clock with 309163 ticks in a microsecond: ten things for 40 s each, while 2^64 ps over that are 59.7 s.
        let clock = Clock::from_hz(9_973_000_000).divided(31);
        let ticks = 10 * 40 * 309_163_000_000;
        assert!(clock.longest() < Ps(60_000_000_000_000));
        assert_eq!(clock.sum(ticks), Ps(400_000_000_000_000));
        assert_eq!(clock.sum(7), clock.at(7));
    }

    #[test]
    fn ticks_until_is_the_first_tick_not_before() {
        let c = Clock::from_hz(3_200_000_000);
        assert_eq!(c.ticks_until(Ps(0)), 0);
        assert_eq!(c.ticks_until(Ps(1)), 1);
        assert_eq!(c.ticks_until(Ps(312)), 1);
        assert_eq!(c.ticks_until(Ps(313)), 2);
        assert_eq!(c.ticks_until(Ps(625)), 2);
    }

    #[test]
    fn ticks_at_is_the_last_tick_not_after() {
        for c in [Clock::from_period(7500, 11), Clock::from_period(750, 1), Clock::from_hz(3)] {
            for n in 0..2000 {
                assert_eq!(c.ticks_at(c.at(n)), n, "{c:?}");
                assert_eq!(c.ticks_at(Ps(c.at(n + 1).0 - 1)), n, "{c:?}");
            }
        }
    }

    #[test]
    fn a_divided_clock_keeps_the_parent_ticks() {
        let c = Clock::from_hz(3_200_000_000);
        let slot = c.divided(5);
        for n in [1, 7, 1000, 123_456] {
            assert_eq!(c.at(n), slot.at(5 * n));
        }
    }
}
