//! The dependence chain of a core: accesses whose address a load has not brought yet.

use std::ops::Range;

use super::in_order::PENDING;
use super::misses::Refusal;
use super::ring::Ring;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;

/// An access whose address is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) store: bool,
    /// It is the next link of the chain.
    pub(super) link: bool,
    /// Slot in which it was dispatched.
    pub(super) slot: u64,
    /// Its entry in the reorder window.
    pub(super) entry: u64,
    /// Its entry in the store buffer, if it is a store.
    pub(super) store_entry: u64,
}

/// The last link of the chain, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Slot in which the last link has its data, or [`PENDING`].
    pub(super) ready: u64,
    /// What waits, oldest first.
    deferred: Ring<Deferred>,
    /// The first of them is in no private cache: it waits for a miss register alone.
    pub(super) missed: bool,
}

impl Chain {
    /// A chain for as many accesses as the reorder window has entries.
    pub(super) fn new(window: usize) -> Chain {
        let unused = Deferred {
            line: 0,
            kind: LineKind::App,
            store: false,
            link: false,
            slot: 0,
            entry: 0,
            store_entry: 0,
        };
        Chain { ready: 0, deferred: Ring::new(window, unused), missed: false }
    }

    /// Whether the address of the next access is known, if it comes from the last link.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.ready != PENDING && self.deferred.is_empty()
    }

    /// The addresses of a new packet depend on nothing of the one before.
    pub(super) fn begin(&mut self) {
        if self.is_known() {
            self.ready = 0;
        }
    }

    /// Adds an access.
    #[inline]
    pub(super) fn defer(&mut self, access: Deferred) {
        self.deferred.push_back(access);
    }

    /// Whether the address of an access that waits has become known.
    #[inline]
    pub(super) fn has_known(&self) -> bool {
        self.ready != PENDING && !self.deferred.is_empty()
    }

    /// The first that waits.
    #[inline]
    pub(super) fn first(&self) -> Deferred {
        *self.deferred.at(self.deferred.head())
    }

    /// The first has been issued.
    #[inline]
    pub(super) fn remove_first(&mut self) {
        self.deferred.pop_front();
    }

    /// Whether a store to one of these lines waits.
    pub(super) fn stores_to(&self, lines: &Range<Line>) -> bool {
        self.deferred.iter().any(|d| d.store && lines.contains(&d.line))
    }
}

/// Whether a line that was `found` and got no miss register comes into no private cache before it
/// does.
#[inline]
pub(super) fn stays_away(memory: &Memory, found: Found, refusal: Refusal) -> bool {
    found == Found::Nowhere && refusal == Refusal::AllBusy && !memory.prefetches()
}
