//! How many credits of a domain are in use over time, and for how long something waited for one.
//!
//! Sums are exact integers modulo 2^64. For a byte count, that is 17.6 MiB held for one second;
//! `config/validate/sums.rs` checks that a run stays within it.

use crate::time::Ps;

/// Credits in use. Taking a credit subtracts the time, and returning it adds the time: adding the
/// current time for those still in use gives the time integral, and nothing has to be updated in
/// between.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occupancy {
    inside: u64,
    time: u64,
    /// Credits taken since measuring began.
    pub(crate) uses: u64,
}

impl Occupancy {
    /// `n` credits are taken.
    #[inline]
    pub(crate) fn enter(&mut self, now: Ps, n: u64) {
        self.inside += n;
        self.uses += n;
        self.time = self.time.wrapping_sub(now.0.wrapping_mul(n));
    }

    /// `n` credits are returned.
    #[inline]
    pub(crate) fn leave(&mut self, now: Ps, n: u64) {
        self.inside -= n;
        self.time = self.time.wrapping_add(now.0.wrapping_mul(n));
    }

    /// Credits in use now.
    #[inline]
    pub(crate) fn inside(&self) -> u64 {
        self.inside
    }

    /// Time integral of the credits in use, credit × ps.
    pub(crate) fn time(&self, now: Ps) -> u64 {
        self.time.wrapping_add(now.0.wrapping_mul(self.inside))
    }

    /// Starts the measured time.
    pub(crate) fn reset(&mut self, now: Ps) {
        self.uses = 0;
        self.time = 0u64.wrapping_sub(now.0.wrapping_mul(self.inside));
    }
}

/// Time in which something waited for a credit while none was free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starvation {
    since: Ps,
    total: Ps,
}

impl Default for Starvation {
    fn default() -> Starvation {
        Starvation { since: Ps::MAX, total: Ps::ZERO }
    }
}

impl Starvation {
    /// Something asked for a credit and did not get one.
    #[inline]
    pub(crate) fn begin(&mut self, now: Ps) {
        if self.since == Ps::MAX {
            self.since = now;
        }
    }

    /// The waiting has ended.
    #[inline]
    pub(crate) fn end(&mut self, now: Ps) {
        if self.since != Ps::MAX {
            self.total += now - self.since;
            self.since = Ps::MAX;
        }
    }

    /// The total time so far.
    pub(crate) fn time(&self, now: Ps) -> Ps {
        if self.since == Ps::MAX { self.total } else { self.total + (now - self.since) }
    }

    /// Starts the measured time.
    pub(crate) fn reset(&mut self, now: Ps) {
        self.total = Ps::ZERO;
        if self.since != Ps::MAX {
            self.since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with the sum, over credits, of the time for which each is held.
        #[test]
        fn the_integral_is_what_each_credit_is_held(
            holds in prop::collection::vec((0u64..1_000_000, 0u64..1_000_000, 1u64..5), 1..50),
            begin in 0u64..500_000, span in 1u64..1_000_000,
        ) {
            let end = begin + span;
            let mut events: Vec<(u64, bool, u64)> = Vec::new();
            let mut wanted = 0u64;
            let mut uses = 0u64;
            for &(at, held, n) in &holds {
                events.push((at, true, n));
                events.push((at + held, false, n));
                wanted += n * (at + held).min(end).saturating_sub(at.max(begin));
                uses += if (begin..end).contains(&at) { n } else { 0 };
            }
            // Of what happens at the same time, credits are taken before any are returned.
            events.sort_by_key(|&(at, enters, _)| (at, !enters));
            let mut o = Occupancy::default();
            let mut measuring = false;
            for (at, enters, n) in events {
                if at >= begin && !measuring {
                    o.reset(Ps(begin));
                    measuring = true;
                }
                if at >= end {
                    break;
                }
                if enters { o.enter(Ps(at), n) } else { o.leave(Ps(at), n) }
            }
            if !measuring {
                o.reset(Ps(begin));
            }
            prop_assert_eq!(o.time(Ps(end)), wanted);
            prop_assert_eq!(o.uses, uses);
        }
    }

    #[test]
    fn waiting_counts_from_the_first_refusal_and_from_the_reset() {
        let mut s = Starvation::default();
        s.end(Ps(5));
        s.begin(Ps(10));
        s.begin(Ps(20));
        assert_eq!(s.time(Ps(25)), Ps(15));
        s.reset(Ps(25));
        s.end(Ps(40));
        assert_eq!(s.time(Ps(100)), Ps(15));
    }
}
