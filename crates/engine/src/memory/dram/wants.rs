//! Which banks wait for a command: for their precharge or activate, and for a read or write of their
//! open row.

use super::lanes::{BLOCK, Lanes, NEVER};
use super::{READ, WRITE};

/// Whose commands are candidates besides those of requests whose row has been opened for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serving {
    Reads,
    Writes,
    /// No waiting request: a refresh is due.
    Nobody,
}

/// Per bank, zero where a command is wanted and else [`NEVER`], which can be ored to its clock. What
/// both queues want is kept up to date, so that nothing needs to be done when they take turns.
#[derive(Clone, Debug)]
pub(super) struct Wants<const W: usize> {
    pub serving: Serving,
    /// A precharge or activate for the oldest read, or the oldest write; never.
    row: [Lanes<W>; 3],
    /// A read, or a write, for the request that the row was opened for; for that or a waiting one.
    column: [[Lanes<W>; 2]; 2],
    /// Banks that are held by a request whose row has been opened: masks as of
    /// [`Ready::due`](super::lanes::Ready::due).
    opened: [u64; W],
}

#[inline]
fn wanted(wanted: bool) -> i16 {
    if wanted { 0 } else { NEVER }
}

impl<const W: usize> Wants<W> {
    pub(super) fn new() -> Wants<W> {
        let none = Lanes::splat(NEVER);
        Wants { serving: Serving::Writes, row: [none; 3], column: [[none; 2]; 2], opened: [0; W] }
    }

    /// What is wanted now: precharges or activates, reads, writes.
    #[inline(always)]
    pub(super) fn lanes(&self) -> [&Lanes<W>; 3] {
        let (reads, writes) = (self.serving == Serving::Reads, self.serving == Serving::Writes);
        [
            &self.row[self.serving as usize],
            &self.column[READ][usize::from(reads)],
            &self.column[WRITE][usize::from(writes)],
        ]
    }

    /// The banks held for a request: those of a block as a mask.
    #[inline]
    pub(super) fn opened(&self, block: usize) -> u64 {
        self.opened[block]
    }

    /// Whether a waiting request of the queue wants the row of `bank` changed.
    #[inline]
    pub(super) fn row(&mut self, bank: u16, which: usize, is: bool) {
        self.row[which].set(bank, wanted(is));
    }

    /// Whether a waiting request of the queue wants the open row of `bank`, or the bank is held for
    /// one of its kind.
    #[inline]
    pub(super) fn column(&mut self, bank: u16, which: usize, is: bool) {
        self.column[which][1].set(bank, wanted(is));
    }

    /// The row of `bank` has been opened for a read or write.
    #[inline]
    pub(super) fn hold(&mut self, bank: u16, which: usize) {
        self.column[which][0].set(bank, 0);
        self.opened[bank as usize / BLOCK % W] |= 2 << (2 * (bank as usize % BLOCK));
    }

    /// That read or write has been served.
    #[inline]
    pub(super) fn release(&mut self, bank: u16, which: usize) {
        self.column[which][0].set(bank, NEVER);
        self.opened[bank as usize / BLOCK % W] &= !(2 << (2 * (bank as usize % BLOCK)));
    }
}
