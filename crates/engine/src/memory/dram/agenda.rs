//! What the scheduler may do next: at most two candidates a bank, each with its next command, a
//! lower bound of the clock at which that is possible, and the age of the request it serves.

use super::device::{BANKS, Step};

/// A clock that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// Slots of the wheel: a power of two, one bit each of a word.
const SLOTS: usize = 64;

/// Candidates: a constant power of two, so that an index needs no check but a mask.
const CANDIDATES: usize = 2 * BANKS;

/// The next command of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub request: u16,
    pub bank: u8,
    pub step: Step,
}

/// Candidates by clock: those due, and those of the next 64 clocks in a wheel. One that is possible
/// only later is put at the wheel's end and looked at there. Every set of candidates is a mask of `W`
/// words with a bit each.
#[derive(Clone, Debug)]
pub(super) struct Agenda<const W: usize> {
    /// All candidates of the wheel lie after this clock.
    now: u64,
    /// Clocks after this one, the next as bit 0, whose slots may hold candidates.
    ahead: u64,
    due: [u64; W],
    wheel: [[u64; W]; SLOTS],
    candidates: [Candidate; CANDIDATES],
    /// Of each candidate, which goes first: the lower, compared modulo 2^32.
    ages: [u32; CANDIDATES],
    /// The slot of the wheel that each was last put in.
    slots: [u8; CANDIDATES],
}

impl<const W: usize> Agenda<W> {
    pub(super) fn new() -> Agenda<W> {
        Agenda {
            now: 0,
            ahead: 0,
            due: [0; W],
            wheel: [[0; W]; SLOTS],
            candidates: [Candidate { request: 0, bank: 0, step: Step::Activate }; CANDIDATES],
            ages: [0; CANDIDATES],
            slots: [0; CANDIDATES],
        }
    }

    #[inline]
    pub(super) fn get(&self, id: usize) -> Candidate {
        self.candidates[id % CANDIDATES]
    }

    #[inline]
    pub(super) fn contains(&self, id: usize) -> bool {
        let slot = self.slots[id % CANDIDATES] as usize % SLOTS;
        (self.due[id / 64 % W] | self.wheel[slot][id / 64 % W]) >> (id % 64) & 1 != 0
    }

    #[inline]
    fn any_due(&self) -> bool {
        self.due.iter().fold(0, |all, word| all | word) != 0
    }

    /// The first clock with a candidate: the next one, if any is due.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        if self.any_due() {
            self.now + 1
        } else if self.ahead != 0 {
            self.now + 1 + u64::from(self.ahead.trailing_zeros())
        } else {
            NEVER
        }
    }

    /// Moves on to `clock`, or until just before the first candidate.
    #[inline]
    pub(super) fn turn(&mut self, clock: u64) {
        let to = clock.min(self.next() - 1);
        // As `next` lies within the wheel, no bit is lost.
        self.ahead = self.ahead.checked_shr((to - self.now) as u32).unwrap_or(0);
        self.now = to;
    }

    /// Moves on to `clock`, at which a command may be issued: what lies until then becomes due.
    #[inline]
    pub(super) fn advance(&mut self, clock: u64) {
        let first = self.now + 1;
        let passed = clock - self.now;
        self.now = clock;
        let mut reached = self.ahead;
        if passed < SLOTS as u64 {
            reached &= (1 << passed) - 1;
            self.ahead >>= passed;
        } else {
            self.ahead = 0;
        }
        while reached != 0 {
            let slot = (first as usize + reached.trailing_zeros() as usize) % SLOTS;
            reached &= reached - 1;
            for (due, here) in self.due.iter_mut().zip(&mut self.wheel[slot]) {
                *due |= std::mem::take(here);
            }
        }
    }

    /// The oldest of the candidates that are due; `youngest` is an age that is above all. (Fewer
    /// than 2^30 requests arrive while one waits, so ages can be compared modulo 2^32.)
    #[inline]
    pub(super) fn oldest_due(&self, youngest: u32) -> Option<usize> {
        let (mut oldest, mut age) = (usize::MAX, youngest);
        for word in 0..W {
            let mut bits = self.due[word];
            while bits != 0 {
                let id = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let its = self.ages[id % CANDIDATES];
                if (its.wrapping_sub(age) as i32) < 0 {
                    (oldest, age) = (id, its);
                }
            }
        }
        (oldest != usize::MAX).then_some(oldest)
    }

    /// Adds a candidate, which must not be there, at `clock`; gives the clock at which it will be
    /// looked at: the next one at the earliest.
    #[inline]
    pub(super) fn add(&mut self, id: usize, candidate: Candidate, age: u32, clock: u64) -> u64 {
        debug_assert!(!self.contains(id), "a candidate twice");
        self.candidates[id % CANDIDATES] = candidate;
        self.ages[id % CANDIDATES] = age;
        self.put(id, clock.max(self.now + 1))
    }

    /// Moves a candidate that is due to `clock`, which is later than now.
    #[inline]
    pub(super) fn postpone(&mut self, id: usize, clock: u64) {
        self.take(id);
        self.put(id, clock);
    }

    #[inline]
    fn put(&mut self, id: usize, clock: u64) -> u64 {
        let clock = clock.min(self.now + SLOTS as u64);
        self.ahead |= 1 << ((clock - self.now - 1) % 64);
        let slot = clock as usize % SLOTS;
        self.slots[id % CANDIDATES] = slot as u8;
        self.wheel[slot][id / 64 % W] |= 1 << (id % 64);
        clock
    }

    /// Removes a candidate, if it is there.
    #[inline]
    pub(super) fn remove(&mut self, id: usize) {
        let slot = self.slots[id % CANDIDATES] as usize % SLOTS;
        self.wheel[slot][id / 64 % W] &= !(1 << (id % 64));
        self.take(id);
    }

    /// Removes a candidate that is due.
    #[inline]
    pub(super) fn take(&mut self, id: usize) {
        self.due[id / 64 % W] &= !(1 << (id % 64));
    }

    /// Removes all candidates.
    pub(super) fn clear(&mut self) {
        self.due = [0; W];
        self.wheel = [[0; W]; SLOTS];
        self.ahead = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATE: Candidate = Candidate { request: 7, bank: 3, step: Step::Activate };

    /// Takes out all that are due, the oldest first.
    fn due(agenda: &mut Agenda<2>) -> Vec<usize> {
        std::iter::from_fn(|| {
            let id = agenda.oldest_due(1000)?;
            agenda.take(id);
            Some(id)
        })
        .collect()
    }

    #[test]
    fn candidates_come_due_at_their_clock_or_at_the_end_of_the_wheel() {
        let mut agenda = Agenda::<2>::new();
        assert_eq!(agenda.next(), NEVER);
        agenda.turn(1000);
        // One that is possible already is looked at in the next clock.
        for (id, clock, looked_at) in
            [(0, 3, 1001), (1, 1003, 1003), (127, 1003, 1003), (2, 1064, 1064), (3, 5000, 1064)]
        {
            assert_eq!(agenda.add(id, CANDIDATE, id as u32, clock), looked_at);
        }
        for (clock, ids) in [(1001, vec![0]), (1003, vec![1, 127]), (1064, vec![2, 3])] {
            assert_eq!(agenda.next(), clock);
            agenda.turn(clock);
            assert_eq!(agenda.next(), clock, "turning stops before a candidate");
            agenda.advance(clock);
            assert_eq!(due(&mut agenda), ids, "at {clock}");
        }
        assert_eq!(agenda.next(), NEVER);
    }

    #[test]
    fn a_jump_over_the_whole_wheel_leaves_nothing_behind() {
        let mut agenda = Agenda::<2>::new();
        for id in 0..64 {
            agenda.add(id, CANDIDATE, 100 - id as u32, 1 + id as u64);
        }
        agenda.advance(500);
        assert_eq!(agenda.next(), 501, "what is due is due in the next clock");
        assert_eq!(due(&mut agenda), (0..64).rev().collect::<Vec<_>>());
        assert_eq!(agenda.add(9, CANDIDATE, 0, 510), 510);
        assert_eq!(agenda.next(), 510);
    }

    #[test]
    fn the_oldest_is_found_when_ages_wrap() {
        let mut agenda = Agenda::<2>::new();
        for (id, age) in [(4, 1), (5, u32::MAX), (70, 0)] {
            agenda.add(id, CANDIDATE, age, 1);
        }
        agenda.advance(1);
        assert_eq!(due(&mut agenda), [5, 70, 4]);
    }

    #[test]
    fn candidates_move_and_go() {
        let mut agenda = Agenda::<2>::new();
        for id in [10, 11, 100] {
            agenda.add(id, CANDIDATE, id as u32, 5);
        }
        agenda.remove(11);
        assert!(agenda.contains(10) && !agenda.contains(11) && agenda.contains(100));
        agenda.advance(5);
        assert!(agenda.contains(10), "one that is due is still there");
        assert_eq!(agenda.get(10).request, 7);
        agenda.postpone(10, 8);
        agenda.remove(100);
        assert_eq!((agenda.oldest_due(1000), agenda.next()), (None, 8));
        agenda.clear();
        agenda.advance(8);
        assert!(agenda.oldest_due(1000).is_none() && !agenda.contains(10));
    }
}
