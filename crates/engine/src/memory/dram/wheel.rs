//! The clocks at which to look at each bank again.

use super::device::BANKS;

/// A clock that never comes.
pub(super) const NEVER: u64 = u64::MAX;

const WORDS: usize = BANKS / 64;

/// A set of banks, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BankSet([u64; WORDS]);

impl BankSet {
    #[inline]
    pub(super) fn insert(&mut self, bank: u16) {
        self.0[bank as usize / 64 % WORDS] |= 1 << (bank % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, bank: u16) {
        self.0[bank as usize / 64 % WORDS] &= !(1 << (bank % 64));
    }
}

/// Slots of the wheel: a power of two, one bit each of a word.
const SLOTS: u64 = 64;

/// Banks by the clock at which to look at them, within the next 63 clocks. One that is to be looked
/// at later is put at the end and moved on when its turn comes. A bank may be in several slots:
/// looking too early does no harm.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    slots: [BankSet; SLOTS as usize],
    /// Slots that hold banks.
    occupied: u64,
    /// All banks are to be looked at after this clock.
    now: u64,
}

impl Wheel {
    pub(super) fn new() -> Wheel {
        Wheel { slots: [BankSet::default(); SLOTS as usize], occupied: 0, now: 0 }
    }

    /// The first clock with a bank to look at.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        if self.occupied == 0 {
            return NEVER;
        }
        let first = self.now + 1;
        first + u64::from(self.occupied.rotate_right((first % SLOTS) as u32).trailing_zeros())
    }

    /// Moves on to `clock`, at most to [`Wheel::next`]. Gives whether there are banks to look at now:
    /// then they must be taken out.
    #[inline]
    pub(super) fn advance(&mut self, clock: u64) -> bool {
        debug_assert!(self.next() >= clock, "a bank was skipped");
        self.now = clock;
        let bit = 1 << (clock % SLOTS);
        let due = self.occupied & bit != 0;
        self.occupied &= !bit;
        due
    }

    /// Looks at `bank` at `clock`, which must lie ahead.
    #[inline]
    pub(super) fn add(&mut self, bank: u16, clock: u64) {
        debug_assert!(clock > self.now, "a look into the past");
        let index = clock.min(self.now + SLOTS - 1) % SLOTS;
        self.slots[index as usize].insert(bank);
        self.occupied |= 1 << index;
    }

    /// Looks at all of `banks` at `clock`, which must lie less than 64 clocks ahead.
    pub(super) fn add_all(&mut self, banks: &BankSet, clock: u64) {
        debug_assert!(clock > self.now && clock < self.now + SLOTS, "beyond the wheel");
        let index = clock % SLOTS;
        for (slot, word) in self.slots[index as usize].0.iter_mut().zip(&banks.0) {
            *slot |= word;
        }
        self.occupied |= 1 << index;
    }

    /// Takes out those to be looked at now: one bit each of banks 64 * `word` and up.
    #[inline]
    pub(super) fn take(&mut self, word: usize) -> u64 {
        std::mem::take(&mut self.slots[(self.now % SLOTS) as usize].0[word % WORDS])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(wheel: &mut Wheel, clock: u64) -> Vec<usize> {
        assert!(wheel.advance(clock));
        let words: Vec<u64> = (0..WORDS).map(|word| wheel.take(word)).collect();
        (0..BANKS).filter(|bank| words[bank / 64] >> (bank % 64) & 1 == 1).collect()
    }

    #[test]
    fn the_wheel_hands_out_banks_at_their_clock_or_at_its_end() {
        let mut wheel = Wheel::new();
        assert!(!wheel.advance(1000));
        for (bank, clock) in [(7, 1001), (200, 1003), (3, 1003), (0, 1063), (1, 5000)] {
            wheel.add(bank, clock);
        }
        for (clock, banks) in [(1001, vec![7]), (1003, vec![3, 200]), (1063, vec![0, 1])] {
            assert_eq!(wheel.next(), clock);
            assert_eq!(drain(&mut wheel, clock), banks, "at {clock}");
        }
        assert_eq!(wheel.next(), NEVER);
    }

    #[test]
    fn a_set_holds_each_bank_once() {
        let mut set = BankSet::default();
        for bank in [255, 64, 63, 64, 5] {
            set.insert(bank);
        }
        set.remove(5);
        let mut wheel = Wheel::new();
        wheel.add(63, 9);
        wheel.add_all(&set, 9);
        assert_eq!(drain(&mut wheel, 9), [63, 64, 255]);
    }
}
