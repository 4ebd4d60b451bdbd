//! The directory (snoop filter): which cores' private caches hold a line, and which lines are on
//! their way.
//!
//! A set-associative table beside the LLC, indexed like it, of its own tags. Its entries count one
//! bit a core; a line that is being fetched has its entry from the request on, which is how a second
//! request for it finds the first. When a set overflows, an entry is evicted and its copies are
//! invalidated in the cores, as in non-inclusive Intel parts since Skylake.

use super::line::Line;
use super::tags::Home;
use super::ways::{EMPTY, first_match};

/// No transaction: the line has arrived.
pub(crate) const ARRIVED: u16 = u16::MAX;

/// One line's entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// Bit `c`: core `c` holds the line in its L2.
    pub(crate) sharers: u32,
    /// The transaction that brings the line, or [`ARRIVED`].
    pub(crate) pending: u16,
}

/// A handle of an entry, valid until the next change of its set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle(u32);

/// The directory of all private caches.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    groups: usize,
    tags: Vec<[u32; 4]>,
    entries: Vec<Entry>,
    /// Next way to evict in each set, round robin.
    hand: Vec<u8>,
}

impl Directory {
    /// A directory with `ways` entries (rounded up to a multiple of four) in each of `sets`.
    pub(crate) fn new(sets: u32, ways: u32) -> Directory {
        let groups = (ways as usize).div_ceil(4);
        let sets = sets as usize;
        Directory {
            groups,
            tags: vec![[EMPTY; 4]; sets * groups],
            entries: vec![Entry { sharers: 0, pending: ARRIVED }; sets * groups * 4],
            hand: vec![0; sets],
        }
    }

    #[inline]
    fn slot_in(&self, set: usize, tag: u32) -> Option<Handle> {
        let first = set * self.groups;
        let set = &self.tags[first..][..self.groups];
        first_match(set, tag).map(|way| Handle((first * 4 + way) as u32))
    }

    #[inline]
    pub(crate) fn find(&self, home: Home) -> Option<Handle> {
        self.slot_in(home.set as usize, home.line)
    }

    #[inline]
    pub(crate) fn entry(&self, handle: Handle) -> Entry {
        self.entries[handle.0 as usize]
    }

    #[inline]
    pub(crate) fn set_sharers(&mut self, handle: Handle, sharers: u32) {
        self.entries[handle.0 as usize].sharers = sharers;
        self.free_if_unused(handle);
    }

    /// The line has arrived for the cores of `sharers`, or for nobody.
    #[inline]
    pub(crate) fn arrive(&mut self, handle: Handle, sharers: u32) {
        self.entries[handle.0 as usize] = Entry { sharers, pending: ARRIVED };
        self.free_if_unused(handle);
    }

    #[inline]
    fn free_if_unused(&mut self, handle: Handle) {
        let slot = handle.0 as usize;
        if self.entries[slot] == (Entry { sharers: 0, pending: ARRIVED }) {
            self.tags[slot / 4][slot % 4] = EMPTY;
        }
    }

    /// Adds an entry for a line that has none. If the set is full, an arrived line of the set loses
    /// its entry, and is returned with its sharers so that their copies are invalidated.
    ///
    /// # Panics
    /// If every entry of the set is pending: there are more misses in flight to one set than ways.
    #[inline]
    pub(crate) fn add(&mut self, home: Home, entry: Entry) -> Option<(Line, u32)> {
        let set = home.set as usize;
        let (slot, evicted) = match self.slot_in(set, EMPTY) {
            Some(free) => (free.0 as usize, None),
            None => {
                let slot = self.victim(set);
                (slot, Some((self.tags[slot / 4][slot % 4], self.entries[slot].sharers)))
            }
        };
        self.tags[slot / 4][slot % 4] = home.line;
        self.entries[slot] = entry;
        evicted
    }

    #[cold]
    fn victim(&mut self, set: usize) -> usize {
        let ways = self.groups * 4;
        for _ in 0..ways {
            let way = usize::from(self.hand[set]) % ways;
            self.hand[set] = ((way + 1) % ways) as u8;
            let slot = set * ways + way;
            if self.entries[slot].pending == ARRIVED {
                return slot;
            }
        }
        panic!(
            "directory set {set}: all {ways} entries wait for memory; expected fewer misses in flight"
        );
    }

    /// Every entry, in the order of slots.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Line, Entry)> + '_ {
        self.tags
            .iter()
            .flatten()
            .zip(&self.entries)
            .filter(|(tag, _)| **tag != EMPTY)
            .map(|(t, e)| (*t, *e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tags::Index;

    fn home(line: Line) -> Home {
        Index::Mask(0).home(line)
    }

    fn held(sharers: u32) -> Entry {
        Entry { sharers, pending: ARRIVED }
    }

    #[test]
    fn an_entry_without_sharers_or_transaction_is_gone() {
        let mut d = Directory::new(1, 4);
        d.add(home(7), Entry { sharers: 1, pending: 3 });
        let h = d.find(home(7)).unwrap();
        d.arrive(h, 1);
        assert_eq!(d.entry(h), held(1));
        d.set_sharers(h, 0);
        assert!(d.find(home(7)).is_none());
    }

    #[test]
    fn a_full_set_gives_up_an_arrived_line_never_a_pending_one() {
        let mut d = Directory::new(1, 4);
        d.add(home(0), Entry { sharers: 1, pending: 9 });
        for line in 1..4 {
            d.add(home(line), held(1 << line));
        }
        for line in 4..20 {
            let (out, _) = d.add(home(line), held(1)).unwrap();
            assert_ne!(out, 0);
            assert!(d.find(home(out)).is_none());
        }
        assert_eq!(d.entries().count(), 4);
    }
}
