//! The tag array of a set-associative cache: the one structure behind L1d, L2 and LLC.

use super::line::Line;
use super::replacement::Order;
use super::set::{Packed, Set, WholeLines};
use crate::ahead;
use crate::memory::config::Replacement;

pub(crate) use super::index::{Home, Index, Indexing, LowBits};
pub(crate) use super::state::{Evicted, State};

/// The sets, with as many ways as the cache has or a few more: a number known at compile time lets the
/// compiler unroll every search.
#[derive(Clone, Debug)]
enum Sets {
    UpTo12(Vec<Set<12, 16, Packed>>),
    UpTo16(Vec<Set<16, 16, WholeLines>>),
    UpTo20(Vec<Set<20, 20, WholeLines>>),
    UpTo32(Vec<Set<32, 32, Packed>>),
    /// For a policy that keeps no state per set: each set is one cache line of the host.
    Random12(Vec<Set<12, 0, WholeLines>>),
}

/// Applies the same code to the sets, whatever their size.
macro_rules! each_size {
    ($given:expr, $sets:ident => $do:expr) => {
        match $given {
            Sets::UpTo12($sets) => $do,
            Sets::UpTo16($sets) => $do,
            Sets::UpTo20($sets) => $do,
            Sets::UpTo32($sets) => $do,
            Sets::Random12($sets) => $do,
        }
    };
}

/// A set-associative array of lines.
#[derive(Clone, Debug)]
pub(crate) struct Tags<I> {
    index: I,
    all_ways: u32,
    order: Order,
    sets: Sets,
}

/// Where a line is in [`Tags`]: its set and its way, in one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot(u32);

impl Slot {
    #[inline]
    fn new(set: u32, way: u32) -> Slot {
        Slot(set * 32 + way)
    }
    #[inline]
    fn set(self) -> usize {
        self.0 as usize / 32
    }
    #[inline]
    fn way(self) -> u32 {
        self.0 % 32
    }
}

impl<I: Indexing> Tags<I> {
    pub(crate) fn new(
        index: I,
        sets: u32,
        ways: u32,
        policy: Replacement,
        seed: u64,
        name: &str,
    ) -> Tags<I> {
        let order = Order::new(policy, ways, seed, name);
        let n = sets as usize;
        assert!(sets < 1 << 27, "{name}: expected fewer than 2^27 sets; got {sets}");
        let sets = match ways {
            0..=12 if matches!(order, Order::Random(_)) => {
                Sets::Random12(vec![Set::new(&order); n])
            }
            0..=12 => Sets::UpTo12(vec![Set::new(&order); n]),
            13..=16 => Sets::UpTo16(vec![Set::new(&order); n]),
            17..=20 => Sets::UpTo20(vec![Set::new(&order); n]),
            21..=32 => Sets::UpTo32(vec![Set::new(&order); n]),
            _ => panic!("{name}: expected at most 32 ways; got {ways}"),
        };
        Tags { index, all_ways: ((1u64 << ways) - 1) as u32, order, sets }
    }

    /// The set of a line.
    #[inline]
    pub(crate) fn home(&self, line: Line) -> Home {
        self.index.home(line)
    }

    /// Loads the set of a line ahead of its use.
    #[inline(always)]
    pub(crate) fn load_ahead(&self, home: Home) {
        each_size!(&self.sets, sets => ahead::load(&sets[home.set as usize]));
    }

    /// The line that would leave the full set of another one, where the policy tells that without being asked for
    /// a victim.
    #[inline(always)]
    pub(crate) fn next_to_leave(&self, home: Home) -> Option<Line> {
        each_size!(&self.sets, sets => sets[home.set as usize].next_to_leave(&self.order))
    }

    /// The slot of a line, without touching the replacement order.
    #[inline(always)]
    pub(crate) fn find(&self, home: Home) -> Option<Slot> {
        let way = each_size!(&self.sets, sets => sets[home.set as usize].find(home.line))?;
        Some(Slot::new(home.set, way))
    }

    /// The slot of a line, made the most recently used of its set.
    #[inline(always)]
    pub(crate) fn lookup(&mut self, home: Home) -> Option<Slot> {
        let order = &self.order;
        let way = each_size!(&mut self.sets, sets => {
            let set = &mut sets[home.set as usize];
            let way = set.find(home.line)?;
            set.touch(order, way);
            way
        });
        Some(Slot::new(home.set, way))
    }

    /// The line in a slot becomes the most recently used of its set.
    #[inline(always)]
    pub(crate) fn touch(&mut self, slot: Slot) {
        let order = &self.order;
        each_size!(&mut self.sets, sets => sets[slot.set()].touch(order, slot.way()));
    }

    #[inline]
    pub(crate) fn state(&self, slot: Slot) -> State {
        each_size!(&self.sets, sets => sets[slot.set()].state(slot.way()))
    }

    #[inline]
    pub(crate) fn set_state(&mut self, slot: Slot, state: State) {
        each_size!(&mut self.sets, sets => sets[slot.set()].set_state(slot.way(), state));
    }

    /// Removes the line in a slot.
    #[inline]
    pub(crate) fn remove(&mut self, slot: Slot) -> State {
        each_size!(&mut self.sets, sets => sets[slot.set()].remove(slot.way()))
    }

    /// Puts a line that is not in the array into one of the ways of `mask`, an empty one if there
    /// is one, and returns the line that had to leave.
    ///
    /// # Panics
    /// In debug builds if the line is already there.
    #[inline(always)]
    pub(crate) fn insert(&mut self, home: Home, state: State, mask: u32) -> Option<Evicted> {
        debug_assert!(self.find(home).is_none(), "line {:#x} is inserted twice", home.line);
        let (order, mask) = (&mut self.order, mask & self.all_ways);
        each_size!(&mut self.sets, sets => {
            sets[home.set as usize].insert(order, home.line, state, mask)
        })
    }

    /// How many lines the ways of `mask` hold.
    pub(crate) fn held_in(&self, mask: u32) -> u64 {
        each_size!(&self.sets, sets => sets.iter().map(|set| u64::from(set.held_in(mask))).sum())
    }

    /// How many of the lines held are dirty.
    pub(crate) fn dirty(&self) -> usize {
        each_size!(&self.sets, sets => sets.iter().map(Set::dirty).sum())
    }

    /// Shows every line held with its way, in the order of slots.
    pub(crate) fn each(&self, mut show: impl FnMut(u32, Line, State)) {
        each_size!(&self.sets, sets => {
            for (way, line, state) in sets.iter().flat_map(Set::by_way) {
                show(way, line, state);
            }
        });
    }

    pub(crate) fn ways(&self) -> u32 {
        self.all_ways.count_ones()
    }

    pub(crate) fn sets(&self) -> usize {
        each_size!(&self.sets, sets => sets.len())
    }

    /// Every line held, in the order of slots.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (Line, State)> + '_ {
        (0..self.sets()).flat_map(|set| {
            let lines: Vec<_> = each_size!(&self.sets, sets => sets[set].lines().collect());
            lines
        })
    }
}

impl Tags<LowBits> {
    /// Looks up the lines of `items`, up to the first item that has no line or whose line is not here.
    /// Returns how many were found. Decisions that depend only on the cache are made once for all
    /// items, and for the usual cache at compile time.
    #[inline]
    pub(crate) fn lookup_all<T>(
        &mut self,
        items: &[T],
        line: impl Fn(&T) -> Option<Line>,
        found: impl FnMut(&T),
    ) -> usize {
        each_size!(&mut self.sets, sets => match (&self.index, &self.order) {
            (&LowBits::Mask(mask), &Order::Lru { ways }) => {
                // As many sets as the mask can reach, so that no set number needs a bounds check.
                let sets = &mut sets[..mask as usize + 1];
                lookup_all(sets, |line| line & mask, &Order::Lru { ways }, items, line, found)
            }
            (index, order) => {
                lookup_all(sets, |line| index.home(line).set, order, items, line, found)
            }
        })
    }
}

/// [`Tags::lookup_all`] in sets of a known size.
#[inline(always)]
fn lookup_all<T, const W: usize, const R: usize, A>(
    sets: &mut [Set<W, R, A>],
    set_of: impl Fn(Line) -> u32,
    order: &Order,
    items: &[T],
    line_of: impl Fn(&T) -> Option<Line>,
    mut found: impl FnMut(&T),
) -> usize {
    let mut n = 0;
    while n < items.len() {
        let Some(line) = line_of(&items[n]) else { break };
        let set = &mut sets[set_of(line) as usize];
        let Some(way) = set.find(line) else { break };
        set.touch(order, way);
        found(&items[n]);
        n += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::line::LineKind;
    use proptest::prelude::*;

    fn state() -> State {
        State::shared(LineKind::App)
    }

    #[test]
    fn a_mask_confines_new_lines_and_not_hits() {
        let mut t = Tags::new(LowBits::new(1), 1, 4, Replacement::Lru, 1, "test");
        for line in 0..4 {
            assert!(t.insert(t.home(line), state(), 0b1111).is_none());
        }
        assert_eq!(t.insert(t.home(10), state(), 0b0011).unwrap().line, 2);
        assert_eq!(t.insert(t.home(11), state(), 0b0011).unwrap().line, 3);
        assert_eq!(t.insert(t.home(12), state(), 0b0011).unwrap().line, 10);
        assert!(t.lookup(t.home(0)).is_some() && t.lookup(t.home(1)).is_some());
    }

    /// SRRIP predicts a later reuse for new lines than for lines that were hit; if no line is hit, it
    /// is first in, first out.
    #[test]
    fn a_turn_over_more_lines_than_fit_hits_nothing() {
        for policy in [Replacement::Lru, Replacement::Srrip] {
            for lines in [17, 20, 24] {
                let mut t = Tags::new(LowBits::new(1), 1, 16, policy, 1, "test");
                for line in (0..lines).cycle().take(1000) {
                    assert!(t.lookup(t.home(line)).is_none(), "{policy:?}, {line} of {lines}");
                    t.insert(t.home(line), state(), 0xffff);
                }
            }
        }
    }

    proptest! {
        /// LRU under way masks, compared with the plainest model: a list of (line, way, age) per set.
        #[test]
        fn lru_equals_a_list(
            ways in 1u32..=32,
            ops in prop::collection::vec((0u32..40, 1u32.., any::<bool>()), 1..400),
        ) {
            let sets = 4;
            let mut tags = Tags::new(LowBits::new(sets), sets, ways, Replacement::Lru, 1, "test");
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
                            (free.ilog2(), None)
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
