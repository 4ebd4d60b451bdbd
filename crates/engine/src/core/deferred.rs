//! Issues accesses that waited for their address, once the chain has delivered it.

use super::ask::Ask;
use super::interval::Core;
use super::misses::Waiter;
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::time::Ps;

impl Core {
    /// Issues the accesses whose address has become known, those of the oldest packet first.
    #[inline]
    pub(super) fn issue_deferred(&mut self, memory: &mut Memory, ask: &mut impl FnMut(Ps, Ask)) {
        for chain in self.chains.waiting() {
            while self.chains.at(chain).has_known() && self.issue_first(chain, memory, ask) {}
            self.chains.issued(chain);
        }
    }

    /// Issues the first deferred access of a chain. Returns false if it has to wait. Not inlined: mostly
    /// there is one access at a time, for which setup hoisted out of the caller's loop does not pay.
    #[inline(never)]
    fn issue_first(
        &mut self,
        number: usize,
        memory: &mut Memory,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        let chain = self.chains.at(number);
        let d = chain.first();
        let issue = d.slot.max(chain.ready);
        // The caches need not be searched again: the line has not entered them since.
        let found = if std::mem::take(&mut chain.missed) {
            Found::Nowhere
        } else {
            memory.access(self.id as usize, d.line, d.kind, d.store)
        };
        let latency = match found {
            Found::L1 => self.latencies.l1,
            Found::L2 => self.l2_latency(memory, d.line, issue),
            Found::NotWritable | Found::Nowhere => {
                let (register, free_at) = match self.misses.register_for(d.line) {
                    Ok(register) => register,
                    Err(refusal) => {
                        self.chains.at(number).missed = refusal.stays_away(memory, found);
                        return false;
                    }
                };
                self.chains.at(number).remove_first();
                let issue = issue.max(free_at);
                let entry = if d.store {
                    // The store can retire; the store buffer waits for its line.
                    self.window.complete(d.entry, issue);
                    d.store_entry
                } else {
                    d.entry
                };
                let chain = d.link.then_some(number as u8);
                let waiter = Waiter { issue, entry, store: d.store, chain };
                let asked = self.wait_for(register, d.line, d.kind, waiter, ask);
                memory.missed(self.number(), d.line, d.kind, asked);
                return true;
            }
        };
        memory.count_hit(self.number(), d.line, d.kind, found);
        self.chains.at(number).remove_first();
        self.accesses += 1;
        self.access_slots += latency;
        if d.store {
            self.window.complete(d.entry, issue);
            self.stores.complete(d.store_entry, self.hit_store_leaves(issue, latency));
        } else {
            self.window.complete(d.entry, issue + latency);
            if d.link {
                self.chains.at(number).ready = issue + latency;
            }
        }
        true
    }
}
