//! The home agents of the other socket, as far as reads of this one use them.

use std::collections::VecDeque;

use super::reads::Requester;
use super::trackers::Trackers;
use crate::stats::occupancy::{Occupancy, Starvation};
use crate::time::Ps;

/// Trackers of the other socket, and the reads of its memory that wait for one after crossing the link.
/// A home agent orders the requests for the memory that it is attached to (Intel 329468, 2.4.1), so
/// these hold no tracker of this socket, and what goes to its own memory does not wait for them.
#[derive(Clone, Debug)]
pub(crate) struct RemoteHome {
    pub(crate) trackers: Trackers,
    waiting: VecDeque<(u16, Requester)>,
    /// Of those that wait, the requests of cores and the lines of DMA reads.
    pub(crate) cores: Occupancy,
    pub(crate) reads: Occupancy,
    /// Time for which any waits.
    pub(crate) time: Starvation,
}

impl RemoteHome {
    pub(super) fn new(trackers: u32) -> RemoteHome {
        RemoteHome {
            trackers: Trackers::new(trackers),
            waiting: VecDeque::new(),
            cores: Occupancy::default(),
            reads: Occupancy::default(),
            time: Starvation::default(),
        }
    }

    /// A read has crossed the link. Returns whether it begins; otherwise it waits.
    pub(super) fn arrives(&mut self, now: Ps, transaction: u16, requester: Requester) -> bool {
        // While any read waits, no tracker is free.
        let begins = self.trackers.free();
        if begins {
            self.trackers.take(now);
        } else {
            self.waiting.push_back((transaction, requester));
            self.time.begin(now);
            if let Some(waits) = self.of(requester) {
                waits.enter(now, 1);
            }
        }
        begins
    }

    /// The line of a read starts its way back. Returns the read that begins instead, if one waits.
    pub(super) fn leaves(&mut self, now: Ps) -> Option<u16> {
        self.trackers.give_back(now, 1);
        let (transaction, requester) = self.waiting.pop_front()?;
        self.trackers.take(now);
        if let Some(waits) = self.of(requester) {
            waits.leave(now, 1);
        }
        if self.waiting.is_empty() {
            self.time.end(now);
        }
        Some(transaction)
    }

    fn of(&mut self, requester: Requester) -> Option<&mut Occupancy> {
        match requester {
            Requester::Core { .. } => Some(&mut self.cores),
            Requester::Nic { .. } => Some(&mut self.reads),
            Requester::Prefetch { .. } | Requester::Walker { .. } => None,
        }
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.trackers.reset_counts(now);
        self.cores.reset(now);
        self.reads.reset(now);
        self.time.reset(now);
    }
}
