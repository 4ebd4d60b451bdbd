//! The directory (snoop filter): which cores' private caches hold a line, and which lines are on their
//! way.
//!
//! A set-associative table beside the LLC, with the same index and its own tags. An entry has one
//! sharer bit per core. A line that is being fetched has its entry from the request on, so that a
//! second request for it finds the first. When a set overflows, an entry is evicted and its copies in
//! the cores are invalidated, as in non-inclusive Intel parts since Skylake.

use super::line::Line;
use super::tags::Home;
use super::ways::matching;
use crate::ahead;

/// What is known about a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// Bit `c`: core `c` holds the line in its L2.
    Held(u32),
    /// The transaction that is fetching the line.
    Coming(u16),
}

/// An entry as stored in the table: two plain values, which the compiler keeps in registers, whereas it
/// would pack an [`Entry`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    value: u32,
    coming: bool,
}

impl Word {
    #[inline(always)]
    pub(crate) fn entry(self) -> Entry {
        if self.coming { Entry::Coming(self.value as u16) } else { Entry::Held(self.value) }
    }
}

/// Where an entry is, valid until the line leaves the directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle(u32);

impl Handle {
    #[inline]
    fn new(block: u32, way: u32) -> Handle {
        Handle(block * 32 + way)
    }
    #[inline]
    fn block(self) -> usize {
        self.0 as usize / 32
    }
    #[inline]
    fn way(self) -> u32 {
        self.0 % 32
    }
}

/// A block of entries of a set, stored together in whole cache lines of the host.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Entries<const W: usize> {
    tags: [Line; W],
    /// The ways in use, and those of them whose line is on its way.
    used: u32,
    coming: u32,
    /// Sharers, or the transaction of a line on its way.
    values: [u32; W],
}

impl<const W: usize> Entries<W> {
    fn new() -> Entries<W> {
        Entries { tags: [0; W], used: 0, coming: 0, values: [0; W] }
    }

    #[inline]
    fn find(&self, line: Line) -> Option<u32> {
        let found = matching(&self.tags, line) & self.used;
        (found != 0).then(|| found.trailing_zeros())
    }

    #[inline]
    fn word(&self, way: u32) -> Word {
        Word { value: self.values[way as usize], coming: self.coming >> way & 1 == 1 }
    }

    /// Changes an entry that is in use. An entry whose line nobody holds and no transaction fetches is
    /// freed.
    #[inline]
    fn set(&mut self, way: u32, entry: Entry) {
        let bit = 1 << way;
        match entry {
            Entry::Held(sharers) => {
                self.coming &= !bit;
                self.values[way as usize] = sharers;
                if sharers == 0 {
                    self.used &= !bit;
                }
            }
            Entry::Coming(transaction) => {
                self.coming |= bit;
                self.values[way as usize] = u32::from(transaction);
            }
        }
    }

    #[inline]
    fn add(&mut self, way: u32, line: Line, entry: Entry) {
        self.tags[way as usize] = line;
        self.used |= 1 << way;
        self.set(way, entry);
    }

    fn all(&self) -> impl Iterator<Item = (Line, Entry)> + '_ {
        let used = |&way: &u32| self.used >> way & 1 == 1;
        (0..W as u32).filter(used).map(|way| (self.tags[way as usize], self.word(way).entry()))
    }
}

/// The sets: one block of entries each, or several when a small LLC stands beside large L2s.
#[derive(Clone, Debug)]
enum Sets {
    UpTo20(Vec<Entries<20>>),
    Blocks { of_set: u32, blocks: Vec<Entries<32>> },
}

/// The directory of all private caches.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    ways: u32,
    sets: Sets,
    /// Next way to evict in each set, round robin.
    hand: Vec<u32>,
    /// For each transaction, the entry of the line that it fetches, or fetched last. The entry stays
    /// where it is until the line has arrived.
    coming: Vec<Handle>,
}

/// Applies the same code to the blocks, whatever their size.
macro_rules! each_size {
    ($given:expr, $blocks:ident => $do:expr) => {
        match $given {
            Sets::UpTo20($blocks) => $do,
            Sets::Blocks { blocks: $blocks, .. } => $do,
        }
    };
}

impl Directory {
    /// A directory with `ways` entries (rounded up to a multiple of four) in each of `sets`.
    pub(crate) fn new(sets: u32, ways: u32) -> Directory {
        let ways = ways.next_multiple_of(4);
        let blocks = if ways <= 20 {
            Sets::UpTo20(vec![Entries::new(); sets as usize])
        } else {
            let of_set = ways.div_ceil(32);
            assert!(sets * of_set < 1 << 27, "expected fewer than 2^32 entries");
            Sets::Blocks { of_set, blocks: vec![Entries::new(); (sets * of_set) as usize] }
        };
        Directory { ways, sets: blocks, hand: vec![0; sets as usize], coming: Vec::new() }
    }

    /// Loads the set of a line ahead of its use. (Sets of several blocks are rare.)
    #[inline(always)]
    pub(crate) fn load_ahead(&self, home: Home) {
        if let Sets::UpTo20(sets) = &self.sets {
            ahead::load(&sets[home.set as usize]);
        }
    }

    /// The entry of a line, and where it is.
    #[inline(always)]
    pub(crate) fn find(&self, home: Home) -> Option<(Handle, Word)> {
        match &self.sets {
            Sets::UpTo20(sets) => {
                let set = &sets[home.set as usize];
                let way = set.find(home.line)?;
                Some((Handle::new(home.set, way), set.word(way)))
            }
            Sets::Blocks { of_set, blocks } => {
                let handle = Self::find_in_blocks(blocks, *of_set, home)?;
                Some((handle, blocks[handle.block()].word(handle.way())))
            }
        }
    }

    /// A transaction that is fetching a line of the set, if all entries of the set wait for memory, so
    /// that none can be added.
    #[inline(always)]
    pub(crate) fn waits_for(&self, home: Home) -> Option<u16> {
        match &self.sets {
            Sets::UpTo20(sets) => {
                let set = &sets[home.set as usize];
                (set.coming.count_ones() == self.ways).then(|| set.values[0] as u16)
            }
            Sets::Blocks { of_set, blocks } => self.blocks_wait_for(blocks, *of_set, home),
        }
    }

    #[inline(never)]
    fn blocks_wait_for(&self, blocks: &[Entries<32>], of_set: u32, home: Home) -> Option<u16> {
        let blocks = &blocks[(home.set * of_set) as usize..][..of_set as usize];
        let coming: u32 = blocks.iter().map(|block| block.coming.count_ones()).sum();
        (coming == self.ways).then(|| blocks[0].values[0] as u16)
    }

    #[inline(never)]
    fn find_in_blocks(blocks: &[Entries<32>], of_set: u32, home: Home) -> Option<Handle> {
        let first = home.set * of_set;
        (first..first + of_set)
            .find_map(|block| Some(Handle::new(block, blocks[block as usize].find(home.line)?)))
    }

    #[inline]
    pub(crate) fn entry(&self, handle: Handle) -> Entry {
        each_size!(&self.sets, blocks => blocks[handle.block()].word(handle.way()).entry())
    }

    /// The cores in `sharers` hold the line now, and it is no longer on its way.
    #[inline]
    pub(crate) fn set_sharers(&mut self, handle: Handle, sharers: u32) {
        let entry = Entry::Held(sharers);
        each_size!(&mut self.sets, blocks => blocks[handle.block()].set(handle.way(), entry));
    }

    /// The line of a transaction has arrived for the cores in `sharers`, or for nobody.
    #[inline]
    pub(crate) fn arrive(&mut self, transaction: u16, sharers: u32) {
        let handle = self.coming[usize::from(transaction)];
        debug_assert_eq!(self.entry(handle), Entry::Coming(transaction));
        self.set_sharers(handle, sharers);
    }

    /// The handle of a way of a set.
    #[inline]
    fn handle(&self, set: u32, way: u32) -> Handle {
        match self.sets {
            Sets::UpTo20(_) => Handle::new(set, way),
            Sets::Blocks { of_set, .. } => Handle::new(set * of_set + way / 32, way % 32),
        }
    }

    /// Adds an entry for a line that has none. If the set is full, an arrived line of the set loses its
    /// entry and is returned with its sharers, so that the caller can invalidate their copies.
    ///
    /// # Panics
    /// If every line of the set is on its way: ask [`Self::waits_for`] first.
    #[inline(always)]
    pub(crate) fn add(&mut self, home: Home, entry: Entry) -> Option<(Line, u32)> {
        if let Sets::UpTo20(sets) = &mut self.sets {
            let set = &mut sets[home.set as usize];
            let way = (!set.used).trailing_zeros();
            if way < self.ways {
                set.add(way, home.line, entry);
                self.note(Handle::new(home.set, way), entry);
                return None;
            }
        }
        self.add_to_full_or_large(home, entry)
    }

    /// The same where the set is full or has several blocks.
    #[inline(never)]
    fn add_to_full_or_large(&mut self, home: Home, entry: Entry) -> Option<(Line, u32)> {
        let (handle, evicted) = match self.free_way(home.set) {
            Some(way) => (self.handle(home.set, way), None),
            None => {
                let (handle, evicted) = self.victim(home.set);
                (handle, Some(evicted))
            }
        };
        each_size!(&mut self.sets, blocks => {
            blocks[handle.block()].add(handle.way(), home.line, entry);
        });
        self.note(handle, entry);
        evicted
    }

    /// The first unused way of a set of several blocks.
    fn free_way(&self, set: u32) -> Option<u32> {
        let Sets::Blocks { of_set, blocks } = &self.sets else { return None };
        let blocks = &blocks[(set * of_set) as usize..][..*of_set as usize];
        let full = blocks.iter().take_while(|block| block.used == u32::MAX).count();
        let next = blocks.get(full).map_or(0, |block| (!block.used).trailing_zeros());
        let free = full as u32 * 32 + next;
        (free < self.ways).then_some(free)
    }

    /// Records the entry of a line on its way under the line's transaction.
    #[inline]
    fn note(&mut self, handle: Handle, entry: Entry) {
        if let Entry::Coming(transaction) = entry {
            let transaction = usize::from(transaction);
            match self.coming.get_mut(transaction) {
                Some(coming) => *coming = handle,
                None => self.note_new(transaction, handle),
            }
        }
    }

    #[cold]
    fn note_new(&mut self, transaction: usize, handle: Handle) {
        self.coming.resize(transaction + 1, handle);
    }

    #[cold]
    fn victim(&mut self, set: u32) -> (Handle, (Line, u32)) {
        let ways = self.ways;
        for _ in 0..ways {
            let way = self.hand[set as usize];
            self.hand[set as usize] = (way + 1) % ways;
            let handle = self.handle(set, way);
            if let Entry::Held(sharers) = self.entry(handle) {
                let line = each_size!(&self.sets, blocks => {
                    blocks[handle.block()].tags[handle.way() as usize]
                });
                return (handle, (line, sharers));
            }
        }
        panic!("directory set {set}: all {ways} entries wait for memory");
    }

    /// Every line that cores hold, and which cores.
    pub(crate) fn held(&self) -> impl Iterator<Item = (Line, u32)> + '_ {
        let blocks = each_size!(&self.sets, blocks => blocks.len());
        let held = |(line, entry)| match entry {
            Entry::Held(sharers) => Some((line, sharers)),
            Entry::Coming(_) => None,
        };
        (0..blocks).flat_map(move |block| {
            let all: Vec<_> = each_size!(&self.sets, blocks => {
                blocks[block].all().filter_map(held).collect()
            });
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tags::{Indexing, LowBits};

    fn home(line: Line) -> Home {
        LowBits::new(1).home(line)
    }

    #[test]
    fn an_entry_without_sharers_or_transaction_is_gone() {
        let mut d = Directory::new(1, 4);
        d.add(home(7), Entry::Coming(3));
        assert_eq!(d.find(home(7)).unwrap().1.entry(), Entry::Coming(3));
        d.arrive(3, 1);
        let (handle, word) = d.find(home(7)).unwrap();
        assert_eq!(word.entry(), Entry::Held(1));
        d.set_sharers(handle, 0);
        assert!(d.find(home(7)).is_none());
    }

    #[test]
    fn a_full_set_gives_up_an_arrived_line_never_one_on_its_way() {
        for ways in [4, 20, 24, 80] {
            let mut d = Directory::new(2, ways);
            d.add(home(0), Entry::Coming(9));
            for line in 1..ways {
                assert!(d.add(home(line), Entry::Held(line)).is_none());
            }
            for line in ways..5 * ways {
                let (out, sharers) = d.add(home(line), Entry::Held(line)).unwrap();
                assert_ne!(out, 0);
                assert_eq!(sharers, out);
                assert!(d.find(home(out)).is_none());
                assert_eq!(d.find(home(line)).unwrap().1.entry(), Entry::Held(line));
            }
            assert_eq!(d.find(home(0)).unwrap().1.entry(), Entry::Coming(9));
            assert_eq!(d.held().count() as u32, ways - 1);
        }
    }
}
