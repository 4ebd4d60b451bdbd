//! Home trackers: how many memory transactions the home agents can have under way.

use crate::stats::occupancy::Occupancy;
use crate::time::Ps;

/// A pool of trackers. A read holds one until its line has arrived, a write-back until it is in the
/// write queue of its channel: the home agent tracks every transaction from its arrival until it is
/// completed (Intel 329468, "Xeon E5 and E7 v2 Uncore Performance Monitoring", 2.4.3.1).
#[derive(Clone, Debug)]
pub(crate) struct Trackers {
    there_are: u64,
    pub(crate) used: Occupancy,
}

impl Trackers {
    pub(super) fn new(there_are: u32) -> Trackers {
        Trackers { there_are: there_are.into(), used: Occupancy::default() }
    }

    /// Whether a tracker is free. What is already under way when the last one is taken (the other lines
    /// of a DMA read, the write-backs of arriving lines) takes one all the same, so more may be in use
    /// than exist.
    #[inline]
    pub(super) fn free(&self) -> bool {
        self.used.inside() < self.there_are
    }

    #[inline]
    pub(super) fn take(&mut self, now: Ps) {
        self.used.enter(now, 1);
    }

    #[inline]
    pub(super) fn give_back(&mut self, now: Ps, n: u64) {
        self.used.leave(now, n);
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.used.reset(now);
    }
}
