//! The tag array of a set-associative cache: the one structure behind L1d, L2 and LLC.
//!
//! Structure of arrays: tags in groups of four for SIMD compare, one byte of state a line, and the
//! replacement policy's own state. A slot is `set * stride + way`, with `stride` the ways rounded up
//! to a multiple of four.

use super::line::{Line, LineKind};
use super::replacement::Order;
use super::ways::{EMPTY, MAX_GROUPS, matching};
use crate::config::machine::Replacement;

/// State of a cached line: dirty, writable, written by I/O, and its [`LineKind`], in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct State(u8);

impl State {
    const KIND: u8 = 0b0000_0111;
    const DIRTY: u8 = 0b1000_0000;
    const WRITABLE: u8 = 0b0100_0000;
    const IO: u8 = 0b0010_0000;

    /// A clean line that other caches may hold too.
    pub(crate) const fn shared(kind: LineKind) -> State {
        State(kind as u8)
    }
    /// The line as the NIC has just written it.
    pub(crate) const fn written_by_io(kind: LineKind) -> State {
        State(kind as u8 | Self::DIRTY | Self::IO)
    }
    pub(crate) const fn dirty(self) -> bool {
        self.0 & Self::DIRTY != 0
    }
    pub(crate) const fn writable(self) -> bool {
        self.0 & Self::WRITABLE != 0
    }
    pub(crate) const fn io(self) -> bool {
        self.0 & Self::IO != 0
    }
    pub(crate) fn kind(self) -> LineKind {
        LineKind::ALL[(self.0 & Self::KIND) as usize]
    }
    pub(crate) const fn with_dirty(self, dirty: bool) -> State {
        State(if dirty { self.0 | Self::DIRTY } else { self.0 & !Self::DIRTY })
    }
    pub(crate) const fn with_writable(self, writable: bool) -> State {
        State(if writable { self.0 | Self::WRITABLE } else { self.0 & !Self::WRITABLE })
    }
    /// The line as a core holds it after the I/O write: its origin no longer matters.
    pub(crate) const fn without_io(self) -> State {
        State(self.0 & !Self::IO)
    }
}

/// A line and the set that it belongs to, found once for all arrays that are indexed alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) line: Line,
    pub(super) set: u32,
}

impl Home {
    /// Another line of the same set.
    #[inline]
    pub(crate) fn of_neighbour(self, line: Line) -> Home {
        Home { line, set: self.set }
    }
}

/// A line that left a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evicted {
    pub(crate) line: Line,
    pub(crate) state: State,
}

/// How a line number becomes a set number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    /// Low bits: the sets are a power of two.
    Mask(u32),
    /// Remainder, for any number of sets.
    Modulo(u32),
    /// A balanced hash chooses among `slices`, the low bits the set within.
    Sliced { slices: u32, sets_per_slice: u32 },
    /// A hash of all bits.
    Hashed(u32),
}

impl Index {
    #[inline]
    pub(crate) fn home(self, line: Line) -> Home {
        Home { line, set: self.set(line) }
    }

    #[inline]
    fn set(self, line: Line) -> u32 {
        match self {
            Index::Mask(mask) => line & mask,
            Index::Modulo(sets) => line % sets,
            Index::Sliced { slices, sets_per_slice } => {
                // As in Intel parts, the low bits are the set within the slice and a hash of all
                // bits chooses the slice. The lines of one set index in a block of
                // `slices * sets_per_slice` lines go round the slices from a hashed starting point,
                // so that every aligned block loads all sets alike (McCalpin, "Mapping addresses to
                // L3/CHA slices in Intel processors", 2021, finds the slices balanced so).
                let (block, set) = (line / sets_per_slice, line % sets_per_slice);
                let (round, step) = (block / slices, block % slices);
                let slice = step + scatter(round * sets_per_slice + set, slices);
                let slice = if slice >= slices { slice - slices } else { slice };
                slice * sets_per_slice + set
            }
            Index::Hashed(sets) => scatter(line, sets),
        }
    }
}

/// A fixed pseudo-random function of `x` below `n`.
#[inline]
fn scatter(x: u32, n: u32) -> u32 {
    // Two rounds of xor-shift-multiply (the finaliser of MurmurHash3, public domain).
    let mut h = x;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    ((u64::from(h) * u64::from(n)) >> 32) as u32
}

/// A set-associative array of lines.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    index: Index,
    groups: usize,
    all_ways: u32,
    tags: Vec<[u32; 4]>,
    /// The ways in use of each set.
    valid: Vec<u32>,
    states: Vec<State>,
    order: Order,
}

/// Where a line is in [`Tags`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    set: u32,
    way: u32,
}

impl Tags {
    pub(crate) fn new(index: Index, sets: u32, ways: u32, policy: Replacement, name: &str) -> Tags {
        let groups = (ways as usize).div_ceil(4);
        assert!(groups <= MAX_GROUPS, "{name}: expected at most 32 ways; got {ways}");
        let sets = sets as usize;
        Tags {
            index,
            groups,
            all_ways: ((1u64 << ways) - 1) as u32,
            tags: vec![[EMPTY; 4]; sets * groups],
            valid: vec![0; sets],
            states: vec![State::default(); sets * groups * 4],
            order: Order::new(policy, sets, groups * 4, ways, name),
        }
    }

    /// The set of a line.
    #[inline]
    pub(crate) fn home(&self, line: Line) -> Home {
        self.index.home(line)
    }

    /// The slot of a line, without touching the replacement order.
    #[inline]
    pub(crate) fn find(&self, home: Home) -> Option<Slot> {
        let set = &self.tags[home.set as usize * self.groups..][..self.groups];
        let found = matching(set, home.line);
        (found != 0).then(|| Slot { set: home.set, way: found.trailing_zeros() })
    }

    /// The slot of a line, made the most recently used of its set.
    #[inline]
    pub(crate) fn lookup(&mut self, home: Home) -> Option<Slot> {
        let slot = self.find(home)?;
        self.order.touch(slot.set as usize, self.groups * 4, slot.way);
        Some(slot)
    }

    #[inline]
    fn number(&self, slot: Slot) -> usize {
        slot.set as usize * self.groups * 4 + slot.way as usize
    }

    #[inline]
    pub(crate) fn state(&self, slot: Slot) -> State {
        self.states[self.number(slot)]
    }

    #[inline]
    pub(crate) fn set_state(&mut self, slot: Slot, state: State) {
        let number = self.number(slot);
        self.states[number] = state;
    }

    /// Removes the line in a slot.
    #[inline]
    pub(crate) fn remove(&mut self, slot: Slot) -> State {
        let number = self.number(slot);
        self.tags[number / 4][number % 4] = EMPTY;
        self.valid[slot.set as usize] &= !(1 << slot.way);
        self.states[number]
    }

    /// Puts a line that is not in the array into one of the ways of `mask`, an empty one if there
    /// is one, and returns the line that had to leave.
    ///
    /// # Panics
    /// In debug builds if the line is already there.
    #[inline]
    pub(crate) fn insert(&mut self, home: Home, state: State, mask: u32) -> Option<Evicted> {
        debug_assert!(self.find(home).is_none(), "line {:#x} is inserted twice", home.line);
        let set = home.set as usize;
        let stride = self.groups * 4;
        let mask = mask & self.all_ways;
        let valid = &mut self.valid[set];
        let empty = mask & !*valid;
        let full = empty == 0;
        let way = if full {
            self.order.victim(set, stride, mask)
        } else {
            *valid |= empty & empty.wrapping_neg();
            empty.trailing_zeros()
        };
        let number = set * stride + way as usize;
        let tag = &mut self.tags[number / 4][number % 4];
        let evicted = full.then(|| Evicted { line: *tag, state: self.states[number] });
        *tag = home.line;
        self.states[number] = state;
        self.order.fill(set, stride, way);
        evicted
    }

    /// Every line held, in the order of slots.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (Line, State)> + '_ {
        self.tags
            .iter()
            .flatten()
            .zip(&self.states)
            .filter(|(tag, _)| **tag != EMPTY)
            .map(|(t, s)| (*t, *s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> State {
        State::shared(LineKind::App)
    }

    #[test]
    fn a_state_holds_its_parts_apart() {
        let s = State::written_by_io(LineKind::Descriptor);
        assert!(s.dirty() && s.io() && !s.writable());
        assert_eq!(s.kind(), LineKind::Descriptor);
        let s = s.without_io().with_writable(true).with_dirty(false);
        assert!(!s.dirty() && !s.io() && s.writable());
        assert_eq!(s.kind(), LineKind::Descriptor);
    }

    #[test]
    fn slices_share_every_aligned_block_evenly() {
        let (slices, sets_per_slice) = (18, 2048);
        let index = Index::Sliced { slices, sets_per_slice };
        let mut load = vec![0; (slices * sets_per_slice) as usize];
        for line in 5 * slices * sets_per_slice..6 * slices * sets_per_slice {
            load[index.set(line) as usize] += 1;
        }
        assert!(load.iter().all(|&n| n == 1));
    }

    #[test]
    fn a_mask_confines_new_lines_and_not_hits() {
        let mut t = Tags::new(Index::Mask(0), 1, 4, Replacement::Lru, "test");
        for line in 0..4 {
            assert!(t.insert(t.home(line), state(), 0b1111).is_none());
        }
        assert_eq!(t.insert(t.home(10), state(), 0b0011).unwrap().line, 0);
        assert_eq!(t.insert(t.home(11), state(), 0b0011).unwrap().line, 1);
        assert_eq!(t.insert(t.home(12), state(), 0b0011).unwrap().line, 10);
        assert!(t.lookup(t.home(2)).is_some() && t.lookup(t.home(3)).is_some());
    }

    proptest! {
        /// LRU under way masks against the plainest model: a list of (line, way, age) per set.
        #[test]
        fn lru_equals_a_list(
            ways in 1u32..=20,
            ops in prop::collection::vec((0u32..40, 1u32..(1 << 20), any::<bool>()), 1..400),
        ) {
            let sets = 4;
            let mut tags = Tags::new(Index::Mask(sets - 1), sets, ways, Replacement::Lru, "test");
            let all = ((1u64 << ways) - 1) as u32;
            let mut model: Vec<(u32, u32, usize)> = Vec::new();
            for (now, (line, mask, remove)) in ops.into_iter().enumerate() {
                let mask = if mask & all == 0 { all } else { mask & all };
                let held = model.iter().position(|m| m.0 == line);
                prop_assert_eq!(tags.find(tags.home(line)).is_some(), held.is_some());
                match held {
                    Some(i) if remove => {
                        let slot = tags.find(tags.home(line)).unwrap();
                        tags.remove(slot);
                        model.remove(i);
                    }
                    Some(i) => {
                        tags.lookup(tags.home(line));
                        model[i].2 = now;
                    }
                    None => {
                        let in_set = |m: &&(u32, u32, usize)| m.0 % sets == line % sets;
                        let taken: u32 = model.iter().filter(in_set).map(|m| 1 << m.1).sum();
                        let free = mask & !taken;
                        let (way, out) = if free != 0 {
                            (free.trailing_zeros(), None)
                        } else {
                            let v = *model.iter().filter(in_set).filter(|m| mask >> m.1 & 1 == 1)
                                .min_by_key(|m| m.2).unwrap();
                            model.retain(|m| *m != v);
                            (v.1, Some(v.0))
                        };
                        model.push((line, way, now));
                        let got = tags.insert(tags.home(line), state(), mask).map(|e| e.line);
                        prop_assert_eq!(got, out);
                    }
                }
            }
            let mut held: Vec<u32> = tags.lines().map(|l| l.0).collect();
            let mut wanted: Vec<u32> = model.iter().map(|m| m.0).collect();
            held.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(held, wanted);
        }
    }
}
