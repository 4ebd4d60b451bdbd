//! A number for every bank of a channel, 16 to a SIMD register: mostly clocks, counted from a base
//! that moves with the time.
//!
//! Sixteen bits are enough for that: no timing is longer than [`LONGEST`], so a clock that matters
//! lies at most a few of them ahead, and how far one lies back does not matter.

use wide::{bytemuck, i8x32, i16x16};

/// Banks of a block: two registers.
pub(super) const BLOCK: usize = 32;

/// Banks of a register.
const LANES: usize = 16;

/// A clock that never comes. (Ored to a clock it makes it never.)
pub(super) const NEVER: i16 = i16::MAX;

/// The longest timing, in clocks. The sums of the model have at most four of them, so a clock after
/// the base is at most [`SPAN`] plus four and one bit wide of [`NEVER`].
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

    /// Raises each to at least `now` plus its gap; not at all, where that is [`i16::MIN`].
    #[inline(always)]
    pub(super) fn raise_all(&mut self, gaps: &Lanes<W>, now: i16) {
        let now = i16x16::splat(now);
        for block in 0..W {
            for half in 0..2 {
                let raised = gaps.vector(block, half).saturating_add(now);
                self.put(block, half, self.vector(block, half).max(raised));
            }
        }
    }

    /// Counts from a base that is `clocks` later; what lies before that becomes the base.
    pub(super) fn move_base(&mut self, clocks: i16) {
        let (clocks, zero) = (i16x16::splat(clocks), i16x16::splat(0));
        for block in 0..W {
            for half in 0..2 {
                let moved = self.vector(block, half).saturating_sub(clocks).max(zero);
                self.put(block, half, moved);
            }
        }
    }
}

/// What may come next in every bank and when: its precharge or activate, and an access to its row.
pub(super) struct Ready<const W: usize> {
    pub row: [[i16x16; 2]; W],
    pub column: [[i16x16; 2]; W],
}

impl<const W: usize> Ready<W> {
    /// The first clock of all, or [`NEVER`].
    #[inline(always)]
    pub(super) fn first(&self) -> i16 {
        let of_block = |w: usize| {
            let (row, column) = (&self.row[w], &self.column[w]);
            row[0].min(column[0]).min(row[1].min(column[1]))
        };
        let first = (1..W).fold(of_block(0), |first, w| first.min(of_block(w)));
        // None is negative. Of unsigned numbers, eight are compared in one instruction.
        let [a, b]: [[u16; 8]; 2] = bytemuck::cast(first);
        let least: [u16; 8] = std::array::from_fn(|i| a[i].min(b[i]));
        least.into_iter().min().expect("eight numbers") as i16
    }

    /// What is possible at `now`: of every block a mask with two bits a bank, the lower one for its
    /// row and the upper one for an access.
    #[inline(always)]
    pub(super) fn due(&self, now: i16) -> [u64; W] {
        let after = i16x16::splat(now + 1);
        // A comparison sets both bytes of a bank, so that a mask of bytes has two bits for it.
        let lower = i16x16::splat(0x00ff);
        std::array::from_fn(|w| {
            let half = |i: usize| {
                let (row, column): (i16x16, i16x16) =
                    (after.simd_gt(self.row[w][i]), after.simd_gt(self.column[w][i]));
                let both: i8x32 = bytemuck::cast(lower.select(row, column));
                u64::from(both.to_bitmask())
            };
            half(0) | half(1) << 32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_raise_the_clocks_that_they_concern() {
        let mut clocks = Lanes::<2>::from_fn(|bank| bank as i16);
        let gaps = Lanes::from_fn(|bank| if bank % 2 == 0 { 10 } else { i16::MIN });
        clocks.raise_all(&gaps, 20);
        for bank in 0..64 {
            let expected = if bank % 2 == 0 { bank.max(30) } else { bank };
            assert_eq!(clocks.get(bank as u16), expected, "bank {bank}");
        }
    }

    #[test]
    fn a_later_base_leaves_no_clock_before_it() {
        let mut clocks = Lanes::<1>::from_fn(|bank| bank as i16 * 100);
        clocks.move_base(1000);
        assert_eq!([0, 9, 10, 11, 31].map(|bank| clocks.get(bank)), [0, 0, 0, 100, 2100]);
    }

    /// Nothing ready but the row of bank 40 at clock 7 and an access to bank 63 at clock 9.
    #[test]
    fn the_first_clock_and_what_is_due_are_found_in_any_block() {
        let (mut row, mut column) = (Lanes::<2>::splat(NEVER), Lanes::<2>::splat(NEVER));
        row.set(40, 7);
        column.set(63, 9);
        let vectors = |lanes: &Lanes<2>| {
            std::array::from_fn(|w| std::array::from_fn(|half| lanes.vector(w, half)))
        };
        let ready = Ready::<2> { row: vectors(&row), column: vectors(&column) };
        assert_eq!(ready.first(), 7);
        assert_eq!(ready.due(6), [0, 0]);
        assert_eq!(ready.due(8), [0, 1 << 16]);
        assert_eq!(ready.due(9), [0, 1 << 16 | 1 << 63]);
    }
}
