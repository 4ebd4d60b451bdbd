//! Loads and stores: how they are dispatched, and what they wait for.

use super::ask::Ask;
use super::chain::Deferred;
use super::in_order::PENDING;
use super::interval::{Blocked, Core};
use super::misses::Waiter;
use super::op::{Access, Dep, Op};
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::time::Ps;

impl Core {
    /// Executes the next loads as long as they hit the L1d and depend on nothing: each takes one
    /// slot and adds no entry to the reorder window.
    #[inline]
    pub(super) fn load_hits(&mut self, memory: &mut Memory, limit: u64) {
        // Up to the limit, and only until the window has to be checked again.
        let mut slots = (limit + 1).saturating_sub(self.slot);
        if let Some((oldest, leaves)) = self.window.oldest() {
            slots = slots
                .min(leaves.saturating_sub(self.slot))
                .min((oldest + self.window_size).saturating_sub(self.dispatched));
        }
        let ops = self.ops.some(self.next_op, slots as usize);
        let hits = memory.load_all(self.id as usize, ops, |op| match *op {
            Op::Load { line, kind, dep: Dep::Free } => Some((line, kind)),
            _ => None,
        });
        self.hit = hits == ops.len();
        self.next_op += hits;
        let hits = hits as u64;
        self.accesses += hits;
        self.access_slots += hits * self.latencies.l1;
        self.dispatch(hits);
    }

    /// Dispatches a load or store. Returns false if it has to wait.
    #[inline(always)]
    pub(super) fn access(
        &mut self,
        memory: &mut Memory,
        access: Access,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        let Access { line, kind, dep, store } = access;
        if !self.reserve() || (store && !self.reserve_store()) {
            return false;
        }
        let chained = dep != Dep::Free;
        if chained && !self.chains.now().is_known() {
            memory.caches.load_private_ahead(self.id as usize, line);
            return self.defer(access);
        }
        let mut issue = if chained { self.slot.max(self.chains.now().ready) } else { self.slot };
        let found = match std::mem::replace(&mut self.blocked, Blocked::No) {
            Blocked::Register(_) => Found::Nowhere,
            _ => memory.access(self.id as usize, line, kind, store),
        };
        let latency = match found {
            Found::L1 => self.latencies.l1,
            Found::L2 => {
                if !chained {
                    issue = self.l2_turn(issue);
                }
                self.l2_latency(memory, line, issue)
            }
            Found::NotWritable | Found::Nowhere => {
                if self.window.is_full() {
                    return false;
                }
                match self.misses.register_for(line) {
                    Ok((register, free_at)) => {
                        // A register that becomes free later delays this access, not the dispatch
                        // of later instructions.
                        let asked = self.dispatch_miss(access, register, issue.max(free_at), ask);
                        memory.missed(self.number(), line, kind, asked);
                        return true;
                    }
                    Err(refusal) => {
                        if refusal.stays_away(memory, found) {
                            self.blocked = Blocked::Register(line);
                        }
                        return false;
                    }
                }
            }
        };
        memory.count_hit(self.number(), line, kind, found);
        self.hit = found == Found::L1;
        self.accesses += 1;
        self.access_slots += latency;
        let ready = issue + latency;
        if store {
            let leaves = self.hit_store_leaves(issue, latency);
            if leaves > self.slot || !self.stores.is_empty() {
                self.stores.push(self.dispatched, leaves, None);
                self.settle(ask);
            }
        } else {
            if dep == Dep::Chain {
                let chain = self.chains.current();
                self.chains.at(chain).ready = ready;
            }
            // A hit that waited for nothing completes within the pipeline.
            if (chained || found == Found::L2) && !self.window.is_full() {
                self.window.push(self.dispatched, ready, None);
                self.settle(ask);
            }
        }
        self.dispatch(1);
        true
    }

    /// Waits until the store buffer has room for one more. Returns false if its oldest store's
    /// completion is not known.
    #[inline]
    pub(super) fn reserve_store(&mut self) -> bool {
        self.stores.leave_until(self.slot);
        if self.stores.len() >= self.store_buffer {
            let Some((_, leaves)) = self.stores.oldest().filter(|o| o.1 != PENDING) else {
                self.blocked = Blocked::Stores;
                return false;
            };
            self.slot = self.slot.max(leaves);
            self.stores.leave_until(self.slot);
        }
        true
    }

    /// Dispatches an access whose address comes from a load that has not returned.
    fn defer(&mut self, Access { line, kind, dep, store }: Access) -> bool {
        if self.window.is_full() {
            return false;
        }
        let access = Deferred {
            line,
            kind,
            store,
            link: dep == Dep::Chain && !store,
            slot: self.slot,
            entry: self.window.push(self.dispatched, PENDING, None),
            store_entry: if store { self.stores.push(self.dispatched, PENDING, None) } else { 0 },
        };
        self.chains.defer(access);
        self.dispatch(1);
        true
    }

    /// Dispatches an access that waits in a miss register. Returns whether it is the one that
    /// requests the line.
    #[inline]
    fn dispatch_miss(
        &mut self,
        Access { line, kind, dep, store }: Access,
        register: u16,
        issue: u64,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        let queue = if store { &mut self.stores } else { &mut self.window };
        let chain = (dep == Dep::Chain && !store).then_some(self.chains.current() as u8);
        let entry = queue.push(self.dispatched, PENDING, None);
        let waiter = Waiter { issue, entry, store, chain };
        let asked = self.wait_for(register, line, kind, waiter, ask);
        self.dispatch(1);
        asked
    }

    /// Makes `waiter` wait for the line in `register`, and requests the line if that has not been
    /// done. Returns whether it had to.
    #[inline]
    pub(super) fn wait_for(
        &mut self,
        register: u16,
        line: Line,
        kind: LineKind,
        waiter: Waiter,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        if let Some(chain) = waiter.chain {
            self.chains.at(usize::from(chain)).ready = PENDING;
        }
        let asked = self.misses.wait(register, line, kind, waiter);
        if asked {
            let at = self.slots.at(waiter.issue + self.latencies.to_llc);
            ask(at, Ask::Request(register));
        }
        asked
    }
}
