//! A ring of descriptors or completions in memory.

use std::ops::Range;

use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line};

/// A ring of small entries in memory: driver and NIC go through it in order, and what one writes the
/// other reads.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub(crate) driver: Position,
    pub(crate) nic: Position,
}

impl Ring {
    pub(super) fn new(space: &mut AddressSpace, entries: u32, entry_bytes: u32) -> Ring {
        let first = space.reserve(u64::from(entries) * u64::from(entry_bytes));
        let start = Position { first, entries, entry_bytes, next: 0 };
        Ring { driver: start, nic: start }
    }
}

/// How far somebody has gone through a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    first: Line,
    entries: u32,
    entry_bytes: u32,
    next: u32,
}

impl Position {
    /// Returns the line of the next entry and advances past it.
    #[inline]
    pub(crate) fn advance(&mut self) -> Line {
        self.advance_past(1)
    }

    /// Returns the line of the next entry and advances past `n` entries, at most the whole ring.
    #[inline]
    pub(crate) fn advance_past(&mut self, n: u32) -> Line {
        let line = self.line(self.next);
        self.next += n;
        if self.next >= self.entries {
            self.next -= self.entries;
        }
        line
    }

    /// Advances past the next `n` entries and returns the lines they lie in.
    pub(crate) fn advance_by(&mut self, n: u32) -> impl Iterator<Item = Line> + use<> {
        let (mut at, mut last) = (*self, None);
        self.advance_past(n);
        (0..n).filter_map(move |_| {
            let line = at.advance();
            let new = last != Some(line);
            last = Some(line);
            new.then_some(line)
        })
    }

    /// The lines that the next `n` entries span, and the lines at the start of the ring if they
    /// wrap around.
    pub(crate) fn next_lines(&self, n: u32) -> (Range<Line>, Range<Line>) {
        let end = self.next + n;
        let before_end = self.next..end.min(self.entries);
        let wrapped = 0..end.saturating_sub(self.entries);
        let lines = |entries: Range<u32>| match entries.is_empty() {
            true => self.first..self.first,
            false => self.line(entries.start)..self.line(entries.end - 1) + 1,
        };
        (lines(before_end), lines(wrapped))
    }

    #[inline]
    fn line(&self, entry: u32) -> Line {
        self.first + entry * self.entry_bytes / LINE_BYTES as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_entries_lie_in_the_lines_of_each() {
        let mut at = Position { first: 100, entries: 11, entry_bytes: 24, next: 0 };
        for n in (1..=11).cycle().take(50) {
            let (lines, wrapped) = at.next_lines(n);
            let (mut all, mut each) = (at, at);
            let mut one_by_one: Vec<Line> = (0..n).map(|_| each.advance()).collect();
            one_by_one.dedup();
            assert!(all.advance_by(n).eq(one_by_one.iter().copied()));
            assert!(lines.chain(wrapped).eq(one_by_one.iter().copied()), "{n} from {at:?}");
            assert_eq!(at.advance_past(n), one_by_one[0]);
            assert_eq!([all.next, at.next], [each.next; 2]);
        }
    }
}
