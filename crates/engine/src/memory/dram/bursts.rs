//! Reads and writes that have their place on the data bus.
//!
//! A read or write gets its clock when its row is opened. The next one usually follows the last,
//! and then the earliest clocks kept with groups and ranks ([`super::device`]) say when. If rows are
//! opened in another order than they are accessed, there may be a hole before the last that fits.

use std::collections::VecDeque;

use super::gaps::ColumnGaps;

/// A read or write command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub clock: u64,
    pub group: u16,
    pub rank: u16,
    pub write: bool,
}

/// The bursts that a new one may have to keep its distance from, in order of their clocks.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    /// After a read and after a write.
    gaps: [ColumnGaps; 2],
    list: VecDeque<Burst>,
    /// The last burst before which there is a hole.
    last_hole: u64,
    /// No burst fits between two others closer than this.
    smallest_hole: u64,
    longest_gap: u64,
}

impl Bursts {
    pub(super) fn new(gaps: &[ColumnGaps; 2]) -> Bursts {
        let least = |a: usize, b: usize| gaps[a].same_rank[b].min(gaps[a].other_rank[b]);
        // The kinds of the burst before, of the one in the hole, and of the one after.
        let kinds = (0..8).map(|i| (i >> 2 & 1, i >> 1 & 1, i & 1));
        let holes = kinds.map(|(a, b, c)| least(a, b) + least(b, c));
        let all = gaps.iter().flat_map(|g| [g.same_group, g.same_rank, g.other_rank]).flatten();
        Bursts {
            gaps: *gaps,
            list: VecDeque::with_capacity(64),
            last_hole: 0,
            smallest_hole: holes.fold(u64::MAX, u64::min),
            longest_gap: all.fold(0, u64::max),
        }
    }

    /// How much later than `a` burst `b` must be, if it comes after it.
    #[inline]
    fn gap(&self, a: &Burst, b: &Burst) -> u64 {
        let (gaps, which) = (&self.gaps[usize::from(a.write)], usize::from(b.write));
        if a.rank != b.rank {
            gaps.other_rank[which]
        } else if a.group != b.group {
            gaps.same_rank[which]
        } else {
            gaps.same_rank[which].max(gaps.same_group[which])
        }
    }

    /// The clock of the last burst.
    #[inline]
    pub(super) fn last(&self) -> u64 {
        self.list.back().map_or(0, |b| b.clock)
    }

    /// Whether a burst wanted at `clock` might fit before the last one.
    #[inline]
    pub(super) fn may_fit(&self, clock: u64) -> bool {
        clock < self.last_hole
    }

    /// The first clock from that of `new` on that keeps its distance from all bursts.
    pub(super) fn first_fit(&self, new: &Burst) -> u64 {
        let mut new = *new;
        loop {
            let from = new.clock;
            for b in &self.list {
                if b.clock >= new.clock + self.longest_gap {
                    break;
                }
                let after = b.clock + self.gap(b, &new);
                if new.clock < after && new.clock + self.gap(&new, b) > b.clock {
                    new.clock = after;
                }
            }
            // One that it seemed to come before may have been reached since.
            if new.clock == from {
                return from;
            }
        }
    }

    /// Puts a burst in its place. (Of those before `now` only the last can matter.)
    #[inline]
    pub(super) fn add(&mut self, new: Burst, now: u64) {
        while self.list.front().is_some_and(|b| b.clock + self.longest_gap <= now) {
            self.list.pop_front();
        }
        let last = self.last();
        if new.clock >= last {
            if new.clock - last >= self.smallest_hole {
                self.last_hole = new.clock;
            }
            self.list.push_back(new);
        } else {
            let place = self.list.partition_point(|b| b.clock <= new.clock);
            self.list.insert(place, new);
        }
    }
}
