//! The cache hierarchy as one coherent whole: private caches, directory, LLC.
//!
//! All state changes of one request happen at one point in time, in the order in which requests reach
//! the LLC; the caller decides how long they take. Lines that must be written to memory are left in
//! `writebacks` for the caller to send.

use super::directory::{Directory, Entry, Handle};
use super::line::{LINE_BYTES, Line, LineKind};
use super::private::{Found, Private, granted};
#[cfg(test)]
use super::shadow::Shadow;
use super::tags::{Home, Index, LowBits, Slot, State, Tags};
use super::traffic::Cause;
use crate::bits::positions;
use crate::memory::config::{Hierarchy, Inclusion, IoLines, SetIndex};

/// Directory entries per L2 line of the whole chip: an assumption (`docs/models/caches.md`).
const DIRECTORY_COVER: u64 = 2;

/// A line on its way to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Writeback {
    pub(crate) line: Line,
    pub(crate) cause: Cause,
}

/// Who served a request that missed the private caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Served {
    /// The core's own caches: the line has come up to the L2 since the core asked for it, with the right that it
    /// asks for.
    Own,
    /// The LLC, or, if only the right to write was missing, the directory alone.
    Llc,
    /// Another core's cache, which supplies the data or, to a writer, gives up a clean copy.
    Forward,
    /// A core that may have changed the line: it hands the line over, or loses the right to write it.
    Owner,
    /// Memory: the line is on its way under the caller's transaction.
    Memory,
    /// An earlier transaction is already fetching the line: ask again when it has arrived.
    Wait(u16),
    /// The directory has no entry for the line, because all those of its set wait for memory, one of
    /// them for what this transaction is fetching: ask again when that has arrived.
    NoEntry(u16),
}

/// Private caches, directory and LLC.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(super) cores: Vec<Private>,
    pub(super) llc: Tags<Index>,
    pub(super) directory: Directory,
    pub(super) inclusion: Inclusion,
    io_lines: IoLines,
    /// LLC ways in which each core may allocate.
    pub(super) core_ways: Vec<u32>,
    /// LLC ways in which DMA may allocate.
    pub(super) io_ways: u32,
    /// Lines that the last operations sent to memory.
    pub(crate) writebacks: Vec<Writeback>,
    /// Follows the values of lines in tests.
    #[cfg(test)]
    pub(super) shadow: Option<Box<Shadow>>,
    /// The transaction that was fetching the line whose copies have just been invalidated.
    pub(crate) overtaken: Option<u16>,
}

impl Caches {
    /// `core_ways` and `io_ways` are masks of LLC ways, `seed` is that of the run.
    pub(crate) fn new(
        parts: &Hierarchy<'_>,
        core_ways: Vec<u32>,
        io_ways: u32,
        seed: u64,
    ) -> Caches {
        let llc = parts.llc;
        let sets = (llc.size.0 / LINE_BYTES / u64::from(llc.ways)) as u32;
        let slices = llc.slices.unwrap_or(parts.cores);
        let index = match llc.index {
            SetIndex::Modulo => Index::LowBits(LowBits::new(sets)),
            SetIndex::Sliced => Index::sliced(slices, sets / slices),
            SetIndex::Hashed => Index::Hashed(sets),
        };
        let l2_lines = parts.l2.size.0 / LINE_BYTES * u64::from(parts.cores);
        let directory_ways = (DIRECTORY_COVER * l2_lines).div_ceil(u64::from(sets)).max(16) as u32;
        Caches {
            cores: (0..parts.cores).map(|c| Private::new(parts, c, seed)).collect(),
            llc: Tags::new(index, sets, llc.ways, llc.replacement, seed, "llc"),
            directory: Directory::new(sets, directory_ways),
            inclusion: llc.inclusion,
            io_lines: llc.io_lines,
            core_ways,
            io_ways,
            writebacks: Vec::new(),
            #[cfg(test)]
            shadow: None,
            overtaken: None,
        }
    }

    /// How many lines the I/O ways hold.
    pub(crate) fn held_in_io_ways(&self) -> u64 {
        self.llc.held_in(self.io_ways)
    }

    /// Number of dirty lines in the caches. A line that is dirty in an inclusive LLC and was changed
    /// again by a core counts twice.
    pub(crate) fn dirty(&self) -> usize {
        self.llc.dirty() + self.cores.iter().map(Private::dirty).sum::<usize>()
    }

    /// Tells the shadow, if there is one.
    #[cfg(test)]
    pub(super) fn shadowed(&mut self, tell: impl FnOnce(&mut Shadow)) {
        if let Some(shadow) = &mut self.shadow {
            tell(shadow);
        }
    }

    /// Loads ahead what a request or DMA write of a line will look up.
    #[inline(always)]
    pub(crate) fn load_home_ahead(&self, line: Line) {
        let home = self.home(line);
        self.llc.load_ahead(home);
        self.directory.load_ahead(home);
    }

    /// Loads ahead what the line that leaves the L2 for this one will look up.
    #[inline(always)]
    pub(crate) fn load_victim_ahead(&self, core: usize, line: Line) {
        if let Some(victim) = self.cores[core].next_to_leave(line) {
            self.load_home_ahead(victim);
        }
    }

    /// Loads ahead what an access of a core will look up first.
    #[inline(always)]
    pub(crate) fn load_private_ahead(&self, core: usize, line: Line) {
        self.cores[core].load_ahead(line);
    }

    /// A load by a core in its private caches, or a store to data of the given kind.
    #[inline]
    pub(crate) fn private_access(
        &mut self,
        core: usize,
        line: Line,
        store: Option<LineKind>,
    ) -> Found {
        let found = self.cores[core].access(line, store);
        #[cfg(test)]
        if store.is_some() && matches!(found, Found::L1 | Found::L2) {
            self.shadowed(|shadow| shadow.store(line));
        }
        found
    }

    /// A request of `core` that its private caches could not serve arrives at the LLC. Unless the
    /// answer is [`Served::Memory`], [`Served::Wait`] or [`Served::NoEntry`], the private caches hold
    /// the line on return, writable if the request is `exclusive`.
    #[inline(always)]
    pub(crate) fn request(
        &mut self,
        core: usize,
        line: Line,
        kind: LineKind,
        exclusive: bool,
        transaction: u16,
    ) -> Served {
        let me = 1u32 << core;
        let home = self.home(line);
        let known = match self.directory.find(home) {
            Some((handle, word)) => match word.entry() {
                Entry::Coming(transaction) => return Served::Wait(transaction),
                Entry::Held(sharers) => Some((handle, sharers)),
            },
            None => match self.directory.waits_for(home) {
                Some(transaction) => return Served::NoEntry(transaction),
                None => None,
            },
        };
        let sharers = known.map_or(0, |known| known.1);
        let others = sharers & !me;
        let llc = self.llc.lookup(home);
        if llc.is_none() && sharers == 0 {
            self.enter(home, Entry::Coming(transaction));
            return Served::Memory;
        }
        // Another core's copy has to be invalidated, or has to supply the data that the LLC lacks.
        let on_chip = if others != 0 && (exclusive || (llc.is_none() && sharers & me == 0)) {
            Served::Forward
        } else {
            Served::Llc
        };
        if exclusive {
            // An inclusive LLC's copy may be stale.
            let owned = sharers & me == 0 && self.is_owned(line, sharers);
            let own = self.take_exclusive(core, home, kind, known, llc);
            return match (owned, own) {
                (true, _) => Served::Owner,
                (false, true) => Served::Own,
                (false, false) => on_chip,
            };
        }
        if sharers & me != 0 {
            self.cores[core].access(line, None);
            return Served::Own;
        }
        let snooped =
            others.is_power_of_two() && self.downgrade(home, others.trailing_zeros() as usize);
        // The downgrade may have put another core's data into the LLC.
        let llc = if snooped { self.llc.find(home) } else { llc };
        let state = match llc {
            Some(slot) => {
                let state = self.llc.state(slot);
                let stays = others != 0 || self.stays(state);
                if stays {
                    // An inclusive LLC's own copy may go stale while a private one is writable; the
                    // directory finds the private one. In a non-inclusive LLC, a line whose dirty data
                    // stays must not be written by the core.
                    let writable = others == 0 && self.inclusion == Inclusion::Inclusive;
                    granted(kind, writable, false)
                } else {
                    self.llc.remove(slot);
                    granted(kind, true, state.dirty())
                }
            }
            None => granted(kind, false, false),
        };
        self.fill(core, home, known, state);
        if snooped { Served::Owner } else { on_chip }
    }

    /// Whether the LLC keeps a line that a core reads.
    pub(super) fn stays(&self, state: State) -> bool {
        self.inclusion == Inclusion::Inclusive
            || (self.io_lines == IoLines::Stay && state.io() && state.dirty())
    }

    /// The line of a [`Served::Memory`] request arrives.
    pub(crate) fn arrive(
        &mut self,
        core: usize,
        line: Line,
        kind: LineKind,
        exclusive: bool,
        transaction: u16,
    ) {
        self.arrived(core, line, kind, transaction);
        self.fill_private(core, line, granted(kind, true, exclusive));
        #[cfg(test)]
        if exclusive {
            self.shadowed(|shadow| shadow.store(line));
        }
    }

    /// A line arrives that nobody may keep: it was overwritten or swept on its way.
    pub(crate) fn arrive_stale(&mut self, transaction: u16) {
        self.directory.arrive(transaction, 0);
    }

    /// A line has arrived from memory for a core.
    #[inline]
    pub(super) fn arrived(&mut self, core: usize, line: Line, kind: LineKind, transaction: u16) {
        self.directory.arrive(transaction, 1 << core);
        if self.inclusion == Inclusion::Inclusive {
            self.insert_llc(core, self.home(line), State::shared(kind));
        }
    }

    /// The set of a line in the LLC and the directory, which are indexed alike.
    #[inline]
    pub(super) fn home(&self, line: Line) -> Home {
        self.llc.home(line)
    }

    /// Invalidates all copies but the core's own; dirty data becomes the core's to write back. `known`
    /// is the line's entry in the directory with its sharers, `llc` its slot in the LLC. Returns whether the
    /// core could write the line already.
    fn take_exclusive(
        &mut self,
        core: usize,
        home: Home,
        kind: LineKind,
        known: Option<(Handle, u32)>,
        llc: Option<Slot>,
    ) -> bool {
        let (line, me) = (home.line, 1u32 << core);
        let sharers = known.map_or(0, |entry| entry.1);
        for other in positions(sharers & !me) {
            self.cores[other].remove(line);
        }
        if self.inclusion == Inclusion::NonInclusive
            && let Some(slot) = llc
        {
            self.llc.remove(slot);
        }
        // Whether or not a copy was dirty, the requester is about to write the line: it is dirty there.
        let state = granted(kind, true, true);
        match known {
            Some((handle, _)) => self.directory.set_sharers(handle, me),
            None => self.enter(home, Entry::Held(me)),
        }
        let own = sharers & me != 0 && self.cores[core].grant(line, state);
        if sharers & me == 0 {
            self.fill_private(core, line, state);
        }
        #[cfg(test)]
        self.shadowed(|shadow| shadow.store(line));
        own
    }

    /// Whether a core may have changed a line, so that its cache has to supply the data: one that shares it with
    /// nobody.
    #[inline]
    pub(super) fn is_owned(&self, line: Line, sharers: u32) -> bool {
        sharers.is_power_of_two()
            && self.cores[sharers.trailing_zeros() as usize]
                .state(line)
                .is_some_and(State::writable)
    }

    /// The only core that holds a line loses the right to write it. If it owned the line, dirty or clean, the LLC
    /// gets a copy, as in AMD's "mostly exclusive" L3 (40546, "Optimizing Inter-Core Data Transfer"),
    /// because the L2s will drop theirs. Returns whether the core's cache had to supply the data.
    fn downgrade(&mut self, home: Home, holder: usize) -> bool {
        let Some(state) = self.cores[holder].state(home.line).filter(|s| s.writable()) else {
            return false;
        };
        self.cores[holder].set_state(home.line, granted(state.kind(), false, false));
        if state.dirty() {
            self.merge_into_llc(holder, home, state);
        } else if self.inclusion == Inclusion::NonInclusive {
            self.insert_llc(holder, home, state);
        }
        true
    }

    /// Puts a line into a core's private caches; `known` is its entry in the directory.
    #[inline]
    fn fill(&mut self, core: usize, home: Home, known: Option<(Handle, u32)>, state: State) {
        let me = 1u32 << core;
        match known {
            Some((handle, sharers)) => self.directory.set_sharers(handle, sharers | me),
            None => self.enter(home, Entry::Held(me)),
        }
        self.fill_private(core, home.line, state);
    }

    /// Puts a line that the directory already lists for the core into the core's private caches, and
    /// handles their victim.
    fn fill_private(&mut self, core: usize, line: Line, state: State) {
        if let Some(victim) = self.cores[core].fill(line, state) {
            self.leave(core, victim);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::memory::prefetched::Prefetched;
    use crate::memory::private::Found;
    use crate::testing::machine;

    /// The caches of two cores, with an inclusive LLC or not.
    pub(crate) fn caches(inclusion: Inclusion) -> Caches {
        let mut machine = machine();
        machine.llc.inclusion = inclusion;
        Caches::new(&machine.hierarchy(), vec![u32::MAX; 2], 0b11, 1)
    }

    /// A core reads a line, or asks for the right to write it.
    pub(crate) fn request(c: &mut Caches, core: usize, line: Line, exclusive: bool) -> Served {
        let served = c.request(core, line, LineKind::App, exclusive, 0);
        if served == Served::Memory {
            c.arrive(core, line, LineKind::App, exclusive, 0);
        }
        served
    }

    #[test]
    fn who_writes_what_another_core_holds_waits_for_its_snoop() {
        for inclusion in [Inclusion::Inclusive, Inclusion::NonInclusive] {
            let mut c = caches(inclusion);
            request(&mut c, 0, 7, false);
            // Core 0 owns the line as its only holder; then both cores share it with the LLC.
            assert_eq!(request(&mut c, 1, 7, false), Served::Owner);
            assert!(c.llc.find(c.home(7)).is_some());
            assert_eq!(request(&mut c, 0, 7, true), Served::Forward, "{inclusion:?}");
            assert!(!c.cores[1].holds(7));
        }
    }

    #[test]
    fn a_dirty_line_counts_once_wherever_it_is() {
        let mut c = caches(Inclusion::NonInclusive);
        request(&mut c, 0, 7, true);
        request(&mut c, 0, 8, false);
        assert_eq!(c.dirty(), 1, "one of the two has been stored to");
        // In the L1d and the L2 of core 0; when other lines displace it from the L1d, its state there
        // is merged.
        let sets = 64;
        for other in 1..5 {
            request(&mut c, 0, 7 + sets * other, false);
            assert_eq!(c.dirty(), 1, "with {other} other lines in its set");
        }
        assert!(c.llc.find(c.home(7)).is_some(), "it is down in the LLC by now");
        request(&mut c, 1, 7, true);
        assert_eq!(c.dirty(), 1, "in another core");
        c.invalidate(7);
        assert_eq!(c.dirty(), 0);
    }

    /// The L1d has 16 sets of four ways, the L2 64: the other lines displace it from the L1d alone.
    #[test]
    fn a_store_that_is_granted_a_line_of_the_l2_finds_it_in_the_l1d_afterwards() {
        let mut c = caches(Inclusion::NonInclusive);
        request(&mut c, 0, 7, false);
        request(&mut c, 1, 7, false);
        for other in [7 + 16, 7 + 32, 7 + 48, 7 + 80] {
            request(&mut c, 0, other, false);
        }
        assert!(c.cores[0].holds(7) && !c.cores[0].l1_lines().any(|line| line == 7));
        assert_eq!(request(&mut c, 0, 7, true), Served::Forward);
        assert_eq!(c.private_access(0, 7, Some(LineKind::App)), Found::L1);
        c.check().unwrap();
    }

    /// More misses in flight to one directory set than it has entries.
    #[test]
    fn what_finds_no_entry_in_the_directory_waits_for_one() {
        for ways in [4, 24] {
            let mut c = caches(Inclusion::NonInclusive);
            c.directory = Directory::new(1024, ways);
            let of_one_set = (0..).filter(|&line| c.home(line).set == 5);
            let lines: Vec<Line> = of_one_set.take(ways as usize + 1).collect();
            let (last, rest) = lines.split_last().expect("there are some");
            for (&line, transaction) in rest.iter().zip(0..) {
                let served = c.request(0, line, LineKind::App, false, transaction);
                assert_eq!(served, Served::Memory);
            }
            let Served::NoEntry(first) = c.request(1, *last, LineKind::App, true, 99) else {
                panic!("there is no entry left");
            };
            assert_eq!(c.request_prefetch(1, *last, 99), Prefetched::Dropped);
            c.arrive(0, lines[usize::from(first)], LineKind::App, false, first);
            assert_eq!(c.request(1, *last, LineKind::App, true, 99), Served::Memory);
            c.check().unwrap();
        }
    }
}
