//! A ring of descriptors or completions in memory.

use std::ops::Range;

use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line};

/// A ring of small entries in memory, written in order.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    first: Line,
    entries: u32,
    entry_bytes: u32,
    next: u32,
}

impl Ring {
    pub(super) fn new(space: &mut AddressSpace, entries: u32, entry_bytes: u32) -> Ring {
        let first = space.reserve(u64::from(entries) * u64::from(entry_bytes));
        Ring { first, entries, entry_bytes, next: 0 }
    }

    /// Returns the line of the next entry and advances past it.
    #[inline]
    pub(crate) fn advance(&mut self) -> Line {
        let line = self.first + (self.next * self.entry_bytes) / LINE_BYTES as u32;
        self.next += 1;
        if self.next == self.entries {
            self.next = 0;
        }
        line
    }

    /// The lines that the next `n` entries span, and the lines at the start of the ring if they
    /// wrap around.
    pub(crate) fn next_lines(&self, n: u32) -> (Range<Line>, Range<Line>) {
        let line = |entry: u32| self.first + entry * self.entry_bytes / LINE_BYTES as u32;
        let end = self.next + n;
        let before_end = self.next..end.min(self.entries);
        let wrapped = 0..end.saturating_sub(self.entries);
        let lines = |entries: Range<u32>| match entries.is_empty() {
            true => self.first..self.first,
            false => line(entries.start)..line(entries.end - 1) + 1,
        };
        (lines(before_end), lines(wrapped))
    }

    /// Advances past the next `n` entries and returns the lines they lie in.
    pub(crate) fn advance_by(&mut self, n: u32) -> impl Iterator<Item = Line> + '_ {
        let mut last = None;
        (0..n).filter_map(move |_| {
            let line = self.advance();
            let new = last != Some(line);
            last = Some(line);
            new.then_some(line)
        })
    }
}
