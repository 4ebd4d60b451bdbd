//! The dependence chain of a core: accesses whose address a load has not brought yet.

use std::collections::VecDeque;
use std::ops::Range;

use super::ask::Ask;
use super::in_order::PENDING;
use super::interval::Core;
use super::misses::Waiter;
use super::op::Dep;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::time::Ps;

/// An access whose address is not known yet.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    line: Line,
    kind: LineKind,
    store: bool,
    /// It is the next link of the chain.
    link: bool,
    /// Slot in which it was dispatched.
    slot: u64,
    /// Its entry in the reorder window.
    entry: u64,
    /// Its entry in the store buffer, if it is a store.
    store_entry: u64,
}

/// The last link of the chain, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Slot in which the last link has its data, or [`PENDING`].
    pub(super) ready: u64,
    deferred: VecDeque<Deferred>,
}

impl Chain {
    pub(super) fn new() -> Chain {
        Chain { ready: 0, deferred: VecDeque::new() }
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

    /// Adds an access that was dispatched in `slot`, with its entries in the reorder window and, if
    /// it is a store, in the store buffer.
    #[inline]
    pub(super) fn defer(
        &mut self,
        line: Line,
        kind: LineKind,
        dep: Dep,
        store: bool,
        slot: u64,
        entry: u64,
        store_entry: u64,
    ) {
        let link = dep == Dep::Chain && !store;
        self.deferred.push_back(Deferred { line, kind, store, link, slot, entry, store_entry });
    }

    /// Whether a store to one of these lines waits.
    pub(super) fn stores_to(&self, lines: &Range<Line>) -> bool {
        self.deferred.iter().any(|d| d.store && lines.contains(&d.line))
    }
}

impl Core {
    /// Issues the accesses whose address has become known, oldest first.
    #[inline]
    pub(super) fn issue_deferred(&mut self, memory: &mut Memory, ask: &mut impl FnMut(Ps, Ask)) {
        while self.chain.ready != PENDING
            && let Some(&d) = self.chain.deferred.front()
        {
            let issue = d.slot.max(self.chain.ready);
            let found = memory.access(self.id as usize, d.line, d.store);
            let latency = match found {
                Found::L1 => self.latencies.l1,
                Found::L2 => self.latencies.l2,
                Found::NotWritable | Found::Nowhere => {
                    let Some((register, free_at)) = self.misses.register_for(d.line) else {
                        return;
                    };
                    memory.count(d.kind, found);
                    let issue = issue.max(free_at);
                    self.chain.deferred.pop_front();
                    let entry = if d.store {
                        // The store can retire; its line is the store buffer's business.
                        self.window.complete(d.entry, issue);
                        d.store_entry
                    } else {
                        d.entry
                    };
                    let waiter = Waiter { issue, entry, store: d.store };
                    self.wait_for(register, d.line, d.kind, d.link, waiter, ask);
                    continue;
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
        }
    }
}
