//! A set of lines: a bit for each.

use std::ops::Range;

use super::line::Line;

/// A set of lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineSet {
    bits: Vec<u64>,
}

impl LineSet {
    /// Word and bit of a line: the node's bit is rotated to the bottom, so that there is no gap between
    /// the nodes.
    #[inline]
    fn place(line: Line) -> (usize, u64) {
        let number = line.rotate_left(1);
        (number as usize / 64, 1 << (number % 64))
    }

    #[inline]
    pub(super) fn insert(&mut self, line: Line) {
        let (word, bit) = LineSet::place(line);
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }

    pub(crate) fn insert_all(&mut self, lines: Range<Line>) {
        lines.for_each(|line| self.insert(line));
    }

    #[inline]
    pub(super) fn remove(&mut self, line: Line) {
        let (word, bit) = LineSet::place(line);
        if let Some(bits) = self.bits.get_mut(word) {
            *bits &= !bit;
        }
    }

    #[inline]
    pub(crate) fn holds(&self, line: Line) -> bool {
        let (word, bit) = LineSet::place(line);
        self.bits.get(word).is_some_and(|bits| bits & bit != 0)
    }

    pub(crate) fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::line::NODE_SHIFT;

    #[test]
    fn lines_of_both_nodes_come_and_go_one_by_one() {
        let mut set = LineSet::default();
        let remote = 1 << NODE_SHIFT;
        set.insert_all(10..20);
        set.insert(remote | 15);
        set.insert(1_000_000);
        set.remove(15);
        set.remove(2_000_000);
        let held = |line| set.holds(line);
        assert_eq!(
            [9, 10, 15, 19, 20, 1_000_000].map(held),
            [false, true, false, true, false, true]
        );
        assert_eq!([remote | 10, remote | 15, 2_000_000].map(held), [false, true, false]);
    }
}
