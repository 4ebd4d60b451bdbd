//! Which banks wait for a command: for their precharge or activate, and for a read or write of their
//! open row.

use super::lanes::{BLOCK, Lanes, NEVER};

/// Whose commands are candidates besides those of requests whose row has been opened for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serving {
    Reads,
    Writes,
    /// No waiting request: a refresh is due.
    Nobody,
}

/// Candidates of a block: two a bank, as in [`Ready::due`](super::lanes::Ready::due).
const BITS: usize = 2 * BLOCK;

/// Index of the ages of requests whose row has been opened for them; before it come both queues.
const HELD: usize = 2;

/// Per bank, zero where a command is wanted and else [`NEVER`], which can be ored to its clock.
#[derive(Clone, Debug)]
pub(super) struct View<const W: usize> {
    /// A precharge or activate for a waiting request.
    pub row: Lanes<W>,
    /// A read, and a write: for the request that the row was opened for, or of the queue served.
    pub column: [Lanes<W>; 2],
}

/// What is wanted while either queue is served, or none: all are kept up to date, so that nothing
/// needs to be done when they take turns.
#[derive(Clone, Debug)]
pub(super) struct Wants<const W: usize> {
    pub serving: Serving,
    views: [View<W>; 3],
    /// Banks held for a request whose row has been opened, and of these the ones whose open row a
    /// waiting request of the other kind wants too. (The bit for an access of the bank.)
    held: [u64; W],
    contested: [u64; W],
    /// The age of the oldest request that wants each command: of both queues, and of requests
    /// whose row has been opened.
    ages: [[[u32; BITS]; W]; 3],
}

impl<const W: usize> Wants<W> {
    pub(super) fn new() -> Wants<W> {
        let none = Lanes::splat(NEVER);
        let view = View { row: none, column: [none; 2] };
        Wants {
            serving: Serving::Writes,
            views: [view.clone(), view.clone(), view],
            held: [0; W],
            contested: [0; W],
            ages: [[[0; BITS]; W]; 3],
        }
    }

    /// What is wanted now.
    #[inline(always)]
    pub(super) fn view(&self) -> &View<W> {
        &self.views[self.serving as usize]
    }

    /// The banks of a block held for a request, and of these the contested ones.
    #[inline]
    pub(super) fn held(&self, block: usize) -> (u64, u64) {
        (self.held[block], self.contested[block])
    }

    /// The oldest of the candidates `due` of a queue, as the position of its bit.
    #[inline(always)]
    pub(super) fn oldest_waiting(
        &self,
        due: &[u64; W],
        which: usize,
        youngest: u32,
    ) -> Option<usize> {
        oldest(due, &self.ages[which % 2], youngest)
    }

    /// The same for requests whose row has been opened.
    #[inline(always)]
    pub(super) fn oldest_held(&self, due: &[u64; W], youngest: u32) -> Option<usize> {
        oldest(due, &self.ages[HELD], youngest)
    }

    /// A waiting request of that age is the oldest of its queue that wants the row changed.
    #[inline]
    pub(super) fn row(&mut self, bank: u16, which: usize, age: u32) {
        self.views[which].row.set(bank, 0);
        self.ages[which][bank as usize / BLOCK % W][2 * (bank as usize % BLOCK)] = age;
    }

    /// None does.
    #[inline]
    pub(super) fn no_row(&mut self, bank: u16, which: usize) {
        self.views[which].row.set(bank, NEVER);
    }

    /// A waiting request of that age is the oldest of its queue that wants the open row.
    #[inline]
    pub(super) fn hit(&mut self, bank: u16, which: usize, age: u32) {
        self.views[which].column[which].set(bank, 0);
        self.ages[which][bank as usize / BLOCK % W][2 * (bank as usize % BLOCK) + 1] = age;
    }

    /// None does.
    #[inline]
    pub(super) fn no_hit(&mut self, bank: u16, which: usize) {
        // As long as the bank is held for one of that kind, an access is wanted all the same.
        let lane = self.views[HELD].column[which].get(bank);
        self.views[which].column[which].set(bank, lane);
    }

    /// The row of `bank` has been opened for a read or write.
    #[inline]
    pub(super) fn hold(&mut self, bank: u16, which: usize, age: u32) {
        self.views.iter_mut().for_each(|view| view.column[which].set(bank, 0));
        let (block, bit) = (bank as usize / BLOCK % W, 2 * (bank as usize % BLOCK) + 1);
        self.held[block] |= 1 << bit;
        self.ages[HELD][block][bit] = age;
    }

    /// A waiting request of the other kind wants the row of a bank that is held.
    #[inline]
    pub(super) fn contest(&mut self, bank: u16) {
        self.contested[bank as usize / BLOCK % W] |= 2 << (2 * (bank as usize % BLOCK));
    }

    /// The read or write that a bank was held for has been served.
    #[inline]
    pub(super) fn release(&mut self, bank: u16, which: usize) {
        self.views.iter_mut().for_each(|view| view.column[which].set(bank, NEVER));
        let (block, bit) = (bank as usize / BLOCK % W, 2 * (bank as usize % BLOCK) + 1);
        self.held[block] &= !(1 << bit);
        self.contested[block] &= !(1 << bit);
    }
}

/// The oldest of the bits set. (Fewer than 2^31 requests arrive while one waits, so ages can be
/// compared modulo 2^32; `youngest` is above all.)
#[inline(always)]
fn oldest<const W: usize>(set: &[u64; W], ages: &[[u32; BITS]; W], youngest: u32) -> Option<usize> {
    let (mut oldest, mut age) = (usize::MAX, youngest);
    for (block, (bits, ages)) in set.iter().zip(ages).enumerate() {
        let mut bits = *bits;
        while bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if (ages[bit].wrapping_sub(age) as i32) < 0 {
                (oldest, age) = (block * BITS + bit, ages[bit]);
            }
        }
    }
    (oldest != usize::MAX).then_some(oldest)
}

#[cfg(test)]
mod tests {
    use super::super::{READ, WRITE};
    use super::*;

    #[test]
    fn the_oldest_of_those_due_is_found_in_any_block_when_ages_wrap() {
        let mut wants = Wants::<2>::new();
        for (bank, age) in [(4, 1), (5, u32::MAX), (33, 0)] {
            wants.row(bank, READ, age);
        }
        wants.hit(5, READ, 2);
        let row = |bank: usize| 1u64 << (2 * (bank % 32));
        assert_eq!(wants.oldest_waiting(&[row(4) | row(5), row(33)], READ, 9), Some(10));
        assert_eq!(wants.oldest_waiting(&[row(4), row(33)], READ, 9), Some(66));
        assert_eq!(wants.oldest_waiting(&[(2 * row(5)) | row(4), 0], READ, 9), Some(8));
        assert_eq!(wants.oldest_waiting(&[0, 0], READ, 9), None);
    }

    #[test]
    fn a_bank_that_is_held_wants_its_access_whoever_is_served() {
        let mut wants = Wants::<1>::new();
        wants.hold(3, READ, 7);
        wants.no_hit(3, READ);
        for serving in [Serving::Reads, Serving::Writes, Serving::Nobody] {
            wants.serving = serving;
            assert_eq!(wants.view().column.map(|lanes| lanes.get(3)), [0, NEVER]);
        }
        wants.contest(3);
        assert_eq!(wants.held(0), (2 << 6, 2 << 6));
        wants.release(3, READ);
        assert_eq!(wants.held(0), (0, 0));
        assert_eq!(wants.view().column[READ].get(3), NEVER);
    }

    #[test]
    fn a_waiting_request_is_wanted_while_its_queue_is_served() {
        let mut wants = Wants::<1>::new();
        wants.row(3, WRITE, 7);
        wants.hit(4, WRITE, 8);
        for (serving, wanted) in
            [(Serving::Writes, 0), (Serving::Reads, NEVER), (Serving::Nobody, NEVER)]
        {
            wants.serving = serving;
            let view = wants.view();
            assert_eq!((view.row.get(3), view.column[WRITE].get(4)), (wanted, wanted));
        }
        wants.serving = Serving::Writes;
        wants.no_row(3, WRITE);
        assert_eq!(wants.view().row.get(3), NEVER);
    }
}
