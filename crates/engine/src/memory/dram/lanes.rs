//! A number for every bank of a channel, 16 to a SIMD register: mostly clocks, counted from a base that
//! moves with time.
//!
//! Sixteen bits are enough for that: no timing is longer than [`LONGEST`], so a clock that matters lies
//! at most a few times that ahead, and how far back a clock lies does not matter.

use wide::{bytemuck, i8x32, i16x16};

/// Banks of a block: two registers.
pub(super) const BLOCK: usize = 32;

/// Banks of a register.
const LANES: usize = 16;

/// A clock that never comes.
pub(super) const NEVER: i16 = i16::MAX;

/// The longest timing, in clocks. The sums of the model have at most four of them, so a clock after the
/// base is at most [`SPAN`] plus four times this, well below [`NEVER`].
pub(super) const LONGEST: u32 = 4095;

/// Clocks after which the base is moved.
pub(super) const SPAN: u64 = 8192;

/// One number a bank, for `W` blocks of banks.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Lanes<const W: usize>([[i16; BLOCK]; W]);

impl<const W: usize> Lanes<W> {
    pub(super) fn splat(value: i16) -> Lanes<W> {
        Lanes([[value; BLOCK]; W])
    }

    /// By bank.
    pub(super) fn from_fn(f: impl Fn(usize) -> i16) -> Lanes<W> {
        Lanes(std::array::from_fn(|w| std::array::from_fn(|i| f(w * BLOCK + i))))
    }

    #[inline]
    pub(super) fn get(&self, bank: u16) -> i16 {
        self.0[bank as usize / BLOCK % W][bank as usize % BLOCK]
    }

    #[inline]
    pub(super) fn set(&mut self, bank: u16, value: i16) {
        self.0[bank as usize / BLOCK % W][bank as usize % BLOCK] = value;
    }

    /// Raises one to at least `value`.
    #[inline]
    pub(super) fn raise(&mut self, bank: u16, value: i16) {
        let lane = &mut self.0[bank as usize / BLOCK % W][bank as usize % BLOCK];
        *lane = value.max(*lane);
    }

    /// Half a block.
    #[inline(always)]
    pub(super) fn vector(&self, block: usize, half: usize) -> i16x16 {
        let lanes = &self.0[block][half * LANES..(half + 1) * LANES];
        i16x16::new(lanes.try_into().expect("half a block"))
    }

    #[inline(always)]
    fn put(&mut self, block: usize, half: usize, vector: i16x16) {
        let lanes = &mut self.0[block][half * LANES..(half + 1) * LANES];
        lanes.copy_from_slice(&vector.to_array());
    }

    /// Half a block, counted from a base that is `clocks` later; clocks before that base become the
    /// base.
    #[inline(always)]
    fn moved(&self, block: usize, half: usize, clocks: i16) -> i16x16 {
        let moved = self.vector(block, half).saturating_sub(i16x16::splat(clocks));
        moved.max(i16x16::splat(0))
    }
}

/// When one kind of command may be issued, bank by bank.
#[derive(Clone, Debug)]
pub(super) struct Command<const W: usize> {
    /// The first clocks that the timing rules allow.
    pub allowed: Lanes<W>,
    /// The same for the banks where the command is wanted, [`NEVER`] for the others.
    pub wanted: Lanes<W>,
}

impl<const W: usize> Command<W> {
    pub(super) fn new() -> Command<W> {
        Command { allowed: Lanes::splat(0), wanted: Lanes::splat(NEVER) }
    }

    #[inline]
    pub(super) fn want(&mut self, bank: u16) {
        self.wanted.set(bank, self.allowed.get(bank));
    }

    #[inline]
    pub(super) fn no_want(&mut self, bank: u16) {
        self.wanted.set(bank, NEVER);
    }

    /// In no bank.
    #[inline]
    pub(super) fn want_nowhere(&mut self) {
        self.wanted = Lanes::splat(NEVER);
    }

    /// Allows the command in every bank no earlier than `now` plus a gap; a gap of [`i16::MIN`] changes
    /// nothing.
    #[inline(always)]
    pub(super) fn delay(&mut self, gaps: &Lanes<W>, now: i16) {
        let now = i16x16::splat(now);
        for block in 0..W {
            for half in 0..2 {
                let first = gaps.vector(block, half).saturating_add(now);
                for clocks in [&mut self.allowed, &mut self.wanted] {
                    clocks.put(block, half, clocks.vector(block, half).max(first));
                }
            }
        }
    }

    /// Counts from a base that is `clocks` later.
    pub(super) fn move_base(&mut self, clocks: i16) {
        for block in 0..W {
            for half in 0..2 {
                let wanted = self.wanted.vector(block, half);
                let never: i16x16 = wanted.simd_eq(i16x16::splat(NEVER));
                let moved = self.wanted.moved(block, half, clocks);
                self.wanted.put(block, half, never.select(wanted, moved));
                self.allowed.put(block, half, self.allowed.moved(block, half, clocks));
            }
        }
    }
}

/// The first clock at which something wanted may be issued to each bank: its precharge or activate, or
/// an access to its row.
pub(super) struct Ready<const W: usize>(pub [[i16x16; 2]; W]);

impl<const W: usize> Ready<W> {
    /// The first clock of all, or [`NEVER`].
    #[inline(always)]
    pub(super) fn first(&self) -> i16 {
        let of_block = |w: usize| self.0[w][0].min(self.0[w][1]);
        let first = (1..W).fold(of_block(0), |first, w| first.min(of_block(w)));
        // No clock is negative, and the minimum of eight unsigned numbers takes a single instruction.
        let [a, b]: [[u16; 8]; 2] = bytemuck::cast(first);
        let least: [u16; 8] = std::array::from_fn(|i| a[i].min(b[i]));
        least.into_iter().min().expect("eight numbers") as i16
    }

    /// The banks to which something may be issued at `now`.
    #[inline(always)]
    pub(super) fn due(&self, now: i16) -> BankSet<W> {
        let after = i16x16::splat(now + 1);
        BankSet(std::array::from_fn(|w| {
            let due: [i16; BLOCK] = bytemuck::cast(self.0[w].map(|half| after.simd_gt(half)));
            i8x32::new(due.map(|due| due as i8)).to_bitmask()
        }))
    }
}

/// A set of banks of a channel, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BankSet<const W: usize>([u32; W]);

impl<const W: usize> BankSet<W> {
    pub(super) const EMPTY: BankSet<W> = BankSet([0; W]);

    #[inline]
    pub(super) fn insert(&mut self, bank: u16) {
        self.0[bank as usize / BLOCK % W] |= 1 << (bank as usize % BLOCK);
    }

    #[inline]
    pub(super) fn remove(&mut self, bank: u16) {
        self.0[bank as usize / BLOCK % W] &= !(1 << (bank as usize % BLOCK));
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; W]
    }

    #[inline(always)]
    pub(super) fn intersection(&self, other: &BankSet<W>) -> BankSet<W> {
        BankSet(std::array::from_fn(|w| self.0[w] & other.0[w]))
    }
}

/// Takes the banks out of the set, one after the other.
impl<const W: usize> Iterator for BankSet<W> {
    type Item = u16;

    #[inline(always)]
    fn next(&mut self) -> Option<u16> {
        let (w, bits) = self.0.iter_mut().enumerate().find(|(_, bits)| **bits != 0)?;
        let bank = bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some((w * BLOCK + bank) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_delay_a_command_in_the_banks_that_they_concern() {
        let mut command = Command::<2>::new();
        for bank in 0..64 {
            command.allowed.set(bank, bank as i16);
        }
        [2, 3, 40].into_iter().for_each(|bank| command.want(bank));
        command.no_want(40);
        let gaps = Lanes::from_fn(|bank| if bank % 2 == 0 { 10 } else { i16::MIN });
        command.delay(&gaps, 20);
        for bank in 0..64 {
            let expected = if bank % 2 == 0 { bank.max(30) } else { bank };
            assert_eq!(command.allowed.get(bank as u16), expected, "bank {bank}");
        }
        assert_eq!([2, 3, 4, 40].map(|bank| command.wanted.get(bank)), [30, 3, NEVER, NEVER]);
    }

    #[test]
    fn a_later_base_leaves_no_clock_before_it_and_never_remains_never() {
        let mut command = Command::<1>::new();
        command.allowed = Lanes::from_fn(|bank| bank as i16 * 100);
        [9, 31].into_iter().for_each(|bank| command.want(bank));
        command.move_base(1000);
        assert_eq!([0, 9, 10, 11, 31].map(|b| command.allowed.get(b)), [0, 0, 0, 100, 2100]);
        assert_eq!([9, 30, 31].map(|bank| command.wanted.get(bank)), [0, NEVER, 2100]);
    }

    /// Nothing ready but bank 40 at clock 7 and bank 63 at clock 9.
    #[test]
    fn the_first_clock_and_what_is_due_are_found_in_any_block() {
        let mut clocks = Lanes::<2>::splat(NEVER);
        clocks.set(40, 7);
        clocks.set(63, 9);
        let ready =
            Ready::<2>(std::array::from_fn(|w| std::array::from_fn(|half| clocks.vector(w, half))));
        assert_eq!(ready.first(), 7);
        assert_eq!(ready.due(6), BankSet::EMPTY);
        assert_eq!(ready.due(8).collect::<Vec<_>>(), [40]);
        assert_eq!(ready.due(9).collect::<Vec<_>>(), [40, 63]);
    }

    #[test]
    fn a_set_has_the_banks_that_were_put_into_it() {
        let mut set = BankSet::<2>::EMPTY;
        [0, 15, 16, 31, 32, 63].into_iter().for_each(|bank| set.insert(bank));
        set.remove(31);
        let mut other = BankSet::EMPTY;
        [1, 15, 16, 31, 63].into_iter().for_each(|bank| other.insert(bank));
        assert_eq!(set.intersection(&other).collect::<Vec<_>>(), [15, 16, 63]);
    }
}
