//! A pool of credits: how many there are, how many are in use over time, and for how long something
//! waited for one.

use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// A pool of credits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credits {
    all: u64,
    used: Occupancy,
    starved: Starvation,
}

impl Credits {
    /// What nothing limits. Credits are still counted.
    pub(super) const UNLIMITED: u64 = u64::MAX;

    pub(super) fn new(all: u64) -> Credits {
        Credits { all, used: Occupancy::default(), starved: Starvation::default() }
    }

    /// How many there are.
    pub(super) fn all(&self) -> u64 {
        self.all
    }

    /// How many are in use now.
    #[inline]
    pub(super) fn in_use(&self) -> u64 {
        self.used.inside()
    }

    /// How many are free.
    #[inline]
    pub(super) fn free(&self) -> u64 {
        self.all - self.used.inside()
    }

    /// Whether `n` are free, for something that waits for them if not.
    #[inline]
    pub(super) fn await_free(&mut self, now: Ps, n: u64) -> bool {
        let free = self.free() >= n;
        if free {
            self.end_waiting(now);
        } else {
            self.begin_waiting(now);
        }
        free
    }

    /// Something waits from now on.
    #[inline]
    pub(super) fn begin_waiting(&mut self, now: Ps) {
        self.starved.begin(now);
    }

    /// Takes `n`, which are free.
    #[inline]
    pub(super) fn take(&mut self, now: Ps, n: u64) {
        debug_assert!(self.free() >= n, "{n} of {self:?}");
        self.used.enter(now, n);
    }

    #[inline]
    pub(super) fn give_back(&mut self, now: Ps, n: u64) {
        self.used.leave(now, n);
    }

    /// Nothing waits any more.
    #[inline]
    pub(super) fn end_waiting(&mut self, now: Ps) {
        self.starved.end(now);
    }

    /// How many are in use over time, and how many were taken since measuring began.
    pub(super) fn used(&self) -> &Occupancy {
        &self.used
    }

    /// For how long something has waited for one since measuring began.
    pub(super) fn starved(&self, now: Ps) -> Ps {
        self.starved.time(now)
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.used.reset(now);
        self.starved.reset(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_more_than_is_free_waits_until_it_asks_again() {
        let mut credits = Credits::new(4);
        assert!(credits.await_free(Ps(0), 3));
        credits.take(Ps(0), 3);
        assert_eq!((credits.in_use(), credits.free()), (3, 1));
        assert!(!credits.await_free(Ps(10), 2));
        credits.give_back(Ps(15), 2);
        assert!(credits.await_free(Ps(15), 2));
        assert_eq!(credits.starved(Ps(20)), Ps(5));
        // Three for 15 ps and one for 5.
        assert_eq!((credits.used().time(Ps(20)), credits.used().uses), (50, 3));
        credits.reset_counts(Ps(20));
        assert_eq!((credits.used().time(Ps(22)), credits.used().uses), (2, 0));
        assert_eq!(credits.starved(Ps(22)), Ps::ZERO);
    }
}
