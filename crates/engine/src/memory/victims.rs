//! How lines leave caches: victims of an L2, of the LLC and of the directory, and invalidations.

use super::caches::{Caches, Writeback};
use super::directory::Entry;
use super::line::Line;
use super::tags::{Evicted, Home, State};
use super::traffic::{Agent, Cause};
use crate::bits::positions;
use crate::memory::config::Inclusion;

impl Caches {
    /// A line leaves a core's caches as a victim of its L2, if it is there.
    pub(crate) fn let_go(&mut self, core: usize, line: Line) {
        if let Some(state) = self.cores[core].remove(line) {
            self.leave(core, Evicted { line, state });
        }
    }

    /// A victim leaves a core's L2.
    #[inline(always)]
    pub(super) fn leave(&mut self, core: usize, victim: Evicted) {
        let home = self.home(victim.line);
        let (handle, word) = self.directory.find(home).expect("an L2 line has its entry");
        let Entry::Held(sharers) = word.entry() else { panic!("an L2 line has arrived") };
        self.directory.set_sharers(handle, sharers & !(1 << core));
        // A dirty line was writable, so it is the chip's only copy, apart from that of an inclusive
        // LLC.
        debug_assert!(victim.state.writable() || !victim.state.dirty());
        if !victim.state.writable() {
            // A line shared with the LLC or another core is dropped silently, as in any MESI protocol:
            // the LLC got a copy when the line became shared, and it does not matter if that copy is
            // gone by now.
            return;
        }
        if self.inclusion == Inclusion::NonInclusive {
            self.insert_llc(core, home, victim.state);
        } else if victim.state.dirty() {
            self.merge_into_llc(core, home, victim.state);
        }
    }

    /// Dirty data of a core updates the LLC's copy, or becomes one.
    pub(super) fn merge_into_llc(&mut self, core: usize, home: Home, state: State) {
        let state = state.without_io().with_writable(false).with_dirty(true);
        match self.llc.lookup(home) {
            Some(slot) => self.llc.set_state(slot, state),
            None => self.insert_llc(core, home, state),
        }
    }

    pub(super) fn insert_llc(&mut self, core: usize, home: Home, state: State) {
        let ways = self.core_ways[core];
        if let Some(victim) = self.llc.insert(home, state.with_writable(false), ways) {
            self.evict(home, victim);
        }
    }

    /// A line of the set of `taker` leaves the LLC.
    #[inline(always)]
    pub(super) fn evict(&mut self, taker: Home, mut victim: Evicted) {
        if self.inclusion == Inclusion::Inclusive
            && let Some((handle, word)) = self.directory.find(taker.of_neighbour(victim.line))
            && let Entry::Held(sharers) = word.entry()
        {
            self.directory.set_sharers(handle, 0);
            for core in positions(sharers) {
                if let Some(upper) = self.cores[core].remove(victim.line) {
                    victim.state = victim.state.merged(upper);
                }
            }
        }
        if victim.state.dirty() {
            let cause = Cause::new(Agent::Evict, victim.state.kind());
            self.write_to_memory(victim.line, cause);
        }
    }

    /// Sends the current data of a line to memory.
    #[inline]
    pub(super) fn write_to_memory(&mut self, line: Line, cause: Cause) {
        self.writebacks.push(Writeback { line, cause });
        #[cfg(test)]
        self.shadowed(|shadow| shadow.write_back(line));
    }

    /// Adds a directory entry. If another line loses its entry for it, that line leaves all private
    /// caches.
    #[inline]
    pub(super) fn enter(&mut self, home: Home, entry: Entry) {
        if let Some((lost, sharers)) = self.directory.add(home, entry) {
            self.lose(home.of_neighbour(lost), sharers);
        }
    }

    /// A line that has lost its directory entry leaves the private caches of the cores that held it.
    #[cold]
    fn lose(&mut self, lost: Home, sharers: u32) {
        for core in positions(sharers) {
            let Some(state) = self.cores[core].remove(lost.line) else { continue };
            if state.dirty() {
                self.merge_into_llc(core, lost, state);
            } else if self.llc.find(lost).is_none() {
                self.insert_llc(core, lost, state);
            }
        }
    }

    /// Removes every copy of a line; dirty data is lost.
    #[inline]
    pub(crate) fn invalidate(&mut self, line: Line) {
        let home = self.home(line);
        self.invalidate_private(home);
        if let Some(slot) = self.llc.find(home) {
            self.llc.remove(slot);
        }
    }

    /// Removes a line from every private cache; dirty data there is lost. Returns whether there was a
    /// copy. A transaction that is fetching the line is left in `overtaken`.
    #[inline(always)]
    pub(super) fn invalidate_private(&mut self, home: Home) -> bool {
        let Some((handle, word)) = self.directory.find(home) else { return false };
        match word.entry() {
            Entry::Coming(transaction) => {
                self.overtaken = Some(transaction);
                false
            }
            Entry::Held(sharers) => {
                self.directory.set_sharers(handle, 0);
                for core in positions(sharers) {
                    self.cores[core].remove(home.line);
                }
                true
            }
        }
    }
}
