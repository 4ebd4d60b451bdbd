//! How prefetched lines come to an L2: from the LLC or from memory.

use super::caches::Caches;
use super::config::Inclusion;
use super::directory::Entry;
use super::line::{Line, LineKind};
use super::private::granted;
use super::tags::{Home, Slot, State};

/// Where a prefetch finds its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prefetched {
    /// Nowhere, because it was dropped: the directory already has an entry for the line, or has no room
    /// for one.
    Dropped,
    /// In the LLC alone: the prefetching core's L2 holds it now.
    Llc,
    /// In memory: the line is on its way under the caller's transaction.
    Memory,
}

impl Caches {
    /// A prefetch of `core` arrives at the LLC.
    pub(crate) fn request_prefetch(
        &mut self,
        core: usize,
        line: Line,
        transaction: u16,
    ) -> Prefetched {
        let home = self.home(line);
        if self.directory.find(home).is_some() || self.directory.waits_for(home).is_some() {
            return Prefetched::Dropped;
        }
        let Some(slot) = self.llc.lookup(home) else {
            self.enter(home, Entry::Coming(transaction));
            return Prefetched::Memory;
        };
        self.bring_up(core, home, slot);
        Prefetched::Llc
    }

    /// A core's L2 fetches a line of a packet if only the LLC holds it and the directory has room for an entry.
    pub(super) fn fetch_from_llc(&mut self, core: usize, line: Line) {
        let home = self.home(line);
        if self.directory.find(home).is_none()
            && self.directory.waits_for(home).is_none()
            && let Some(slot) = self.llc.find(home)
        {
            let kind = self.llc.state(slot).kind();
            debug_assert_eq!(kind, LineKind::Rx, "a core may wait for what it can see already");
            self.bring_up(core, home, slot);
        }
    }

    /// A line that only the LLC holds, in `slot`, comes up to the L2 of a core.
    fn bring_up(&mut self, core: usize, home: Home, slot: Slot) {
        let state = self.llc.state(slot);
        let up = if self.stays(state) {
            granted(state.kind(), self.inclusion == Inclusion::Inclusive, false)
        } else {
            self.llc.remove(slot);
            granted(state.kind(), true, state.dirty())
        };
        self.enter(home, Entry::Held(1 << core));
        self.fill_l2(core, home.line, up);
    }

    /// The line of a prefetch arrives from memory.
    pub(crate) fn arrive_prefetch(
        &mut self,
        core: usize,
        line: Line,
        kind: LineKind,
        transaction: u16,
    ) {
        self.arrived(core, line, kind, transaction);
        self.fill_l2(core, line, granted(kind, true, false));
    }

    /// Puts a prefetched line that the directory already lists for the core into its L2, and handles the victim.
    fn fill_l2(&mut self, core: usize, line: Line, state: State) {
        if let Some(victim) = self.cores[core].fill_l2(line, state) {
            self.leave(core, victim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::caches::tests::{caches, request};
    use crate::memory::config::{IoLines, Prefetch};
    use crate::memory::placement::DmaWrite;
    use crate::memory::private::Found;
    use crate::testing::{machine, memory};
    use crate::time::Ps;

    #[test]
    fn what_a_prefetch_finds_in_the_llc_alone_may_be_written() {
        for inclusion in [Inclusion::Inclusive, Inclusion::NonInclusive] {
            let mut c = caches(inclusion);
            request(&mut c, 0, 7, false);
            // The L2 has 64 sets of four ways.
            for other in 1..5 {
                request(&mut c, 0, 7 + 64 * other, false);
            }
            assert!(!c.cores[0].holds(7) && c.llc.find(c.home(7)).is_some());
            assert_eq!(c.request_prefetch(0, 7, 0), Prefetched::Llc);
            assert_eq!(c.private_access(0, 7, Some(LineKind::App)), Found::L2, "{inclusion:?}");
            c.check().unwrap();
        }
    }

    /// When a core gets a line that its prefetcher is fetching from the LLC, a nanosecond after that began:
    /// where the NIC overwrites it meanwhile or not, and where the core wants to write it or not.
    fn taken_over(io_lines: IoLines, overwritten: bool, exclusive: bool) -> Ps {
        let mut machine = machine();
        machine.llc.io_lines = io_lines;
        machine.l2.prefetch = Prefetch::NextLine;
        machine.l2.superqueue = machine.core.l1_miss_registers + 4;
        let mut memory = memory(&machine);
        let write = |line| DmaWrite { line, kind: LineKind::Rx, index: 0, reader: None };
        for line in [10, 11] {
            memory.io_write(Ps(0), write(line), false);
        }
        memory.request(Ps(0), 10, LineKind::Rx, 0, 0, false).expect("the LLC has it");
        if overwritten {
            memory.io_write(Ps(0), write(11), false);
        }
        let later = Ps::from_ns(1);
        memory.request(later, 11, LineKind::Rx, 0, 0, exclusive).expect("the LLC has it") - later
    }

    #[test]
    fn a_prefetch_is_taken_over_only_with_the_line_that_it_fetched_and_the_right_that_it_has() {
        let whole = taken_over(IoLines::Move, true, false);
        let rest = whole - Ps::from_ns(1);
        for exclusive in [false, true] {
            assert_eq!(taken_over(IoLines::Move, false, exclusive), rest);
            assert_eq!(taken_over(IoLines::Move, true, exclusive), whole);
        }
        // Dirty data of the NIC stays in the LLC, and the core's copy is none that it may write.
        assert_eq!(taken_over(IoLines::Stay, false, false), rest);
        assert_eq!(taken_over(IoLines::Stay, false, true), whole);
    }
}
