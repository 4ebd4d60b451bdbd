//! The dependence chain of a core: accesses whose address a load has not brought yet.

use std::ops::Range;

use super::ask::Ask;
use super::in_order::PENDING;
use super::interval::Core;
use super::misses::{Refusal, Waiter};
use super::ring::Ring;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::time::Ps;

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
    missed: bool,
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

impl Core {
    /// Issues the accesses whose address has become known, oldest first.
    #[inline]
    pub(super) fn issue_deferred(&mut self, memory: &mut Memory, ask: &mut impl FnMut(Ps, Ask)) {
        while self.chain.ready != PENDING
            && !self.chain.deferred.is_empty()
            && self.issue_first(memory, ask)
        {}
    }

    /// Issues the first deferred access. Returns false if it has to wait. Not inlined: mostly there
    /// is one at a time, for which nothing is to be prepared in front of a loop.
    #[inline(never)]
    fn issue_first(&mut self, memory: &mut Memory, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        let d = *self.chain.deferred.at(self.chain.deferred.head());
        let issue = d.slot.max(self.chain.ready);
        // The caches need not be searched again: nothing has come into them since.
        let found = if std::mem::take(&mut self.chain.missed) {
            Found::Nowhere
        } else {
            memory.access(self.id as usize, d.line, d.store)
        };
        let latency = match found {
            Found::L1 => self.latencies.l1,
            Found::L2 => self.latencies.l2,
            Found::NotWritable | Found::Nowhere => {
                let (register, free_at) = match self.misses.register_for(d.line) {
                    Ok(register) => register,
                    Err(refusal) => {
                        self.chain.missed = stays_away(memory, found, refusal);
                        return false;
                    }
                };
                memory.count(d.kind, found);
                self.chain.deferred.pop_front();
                let issue = issue.max(free_at);
                let entry = if d.store {
                    // The store can retire; its line is the store buffer's business.
                    self.window.complete(d.entry, issue);
                    d.store_entry
                } else {
                    d.entry
                };
                let waiter = Waiter { issue, entry, store: d.store };
                self.wait_for(register, d.line, d.kind, d.link, waiter, ask);
                return true;
            }
        };
        memory.count(d.kind, found);
        self.chain.deferred.pop_front();
        self.accesses += 1;
        self.access_slots += latency;
        if d.store {
            self.window.complete(d.entry, issue);
            self.stores.complete(d.store_entry, issue);
        } else {
            self.window.complete(d.entry, issue + latency);
            if d.link {
                self.chain.ready = issue + latency;
            }
        }
        true
    }
}
