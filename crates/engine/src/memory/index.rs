//! Which set of a cache a line belongs to.

use super::line::Line;
use crate::divisor::Divisor;
use crate::rng::{below_u32, scatter};

/// A line and the set that it belongs to, found once for all arrays that are indexed alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    pub(crate) line: Line,
    pub(super) set: u32,
}

impl Home {
    /// Another line of the same set.
    #[inline]
    pub(crate) fn of_neighbour(self, line: Line) -> Home {
        Home { line, set: self.set }
    }
}

/// How a line number becomes a set number.
pub(crate) trait Indexing {
    /// The set of a line.
    fn set(&self, line: Line) -> u32;

    #[inline(always)]
    fn home(&self, line: Line) -> Home {
        Home { line, set: self.set(line) }
    }
}

/// The index of private caches: adjacent lines go into adjacent sets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LowBits {
    /// Low bits: the number of sets is a power of two.
    Mask(u32),
    /// Remainder, for any number of sets.
    Modulo(u32),
}

impl LowBits {
    pub(crate) fn new(sets: u32) -> LowBits {
        if sets.is_power_of_two() { LowBits::Mask(sets - 1) } else { LowBits::Modulo(sets) }
    }
}

impl Indexing for LowBits {
    #[inline(always)]
    fn set(&self, line: Line) -> u32 {
        match *self {
            LowBits::Mask(mask) => line & mask,
            LowBits::Modulo(sets) => line % sets,
        }
    }
}

/// The index of an LLC.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    LowBits(LowBits),
    /// A balanced hash chooses the slice, the low bits the set within it.
    Sliced {
        slices: Divisor,
        set_bits: u32,
    },
    /// The same with any number of sets per slice.
    SlicedModulo {
        slices: u32,
        sets_per_slice: u32,
    },
    /// A hash of all bits.
    Hashed(u32),
}

impl Index {
    pub(crate) fn sliced(slices: u32, sets_per_slice: u32) -> Index {
        if sets_per_slice.is_power_of_two() && slices > 1 {
            Index::Sliced { slices: Divisor::below_2_32(slices), set_bits: sets_per_slice.ilog2() }
        } else {
            Index::SlicedModulo { slices, sets_per_slice }
        }
    }

    /// The set under index functions that machines seldom have; outlined to keep the usual path short.
    #[inline(never)]
    fn rare_set(&self, line: Line) -> u32 {
        match *self {
            Index::LowBits(index) => index.set(line),
            Index::Hashed(sets) => below_u32(scatter(line), sets),
            Index::SlicedModulo { slices, sets_per_slice: sets } => {
                let (block, set) = (line / sets, line % sets);
                slice(block / slices * sets + set, block % slices, slices) * sets + set
            }
            Index::Sliced { .. } => self.set(line),
        }
    }
}

impl Indexing for Index {
    #[inline(always)]
    fn set(&self, line: Line) -> u32 {
        match *self {
            Index::Sliced { slices, set_bits: bits } => {
                let set = line & ((1 << bits) - 1);
                let (round, step) = slices.divide(line >> bits);
                slice(round << bits | set, step, slices.n.get() as u32) << bits | set
            }
            _ => self.rare_set(line),
        }
    }
}

/// The slice of a line. As in Intel parts, the low bits are the set within the slice and a hash of all
/// bits chooses the slice. Within a block of `slices * sets_per_slice` lines, those with the same set
/// index visit the slices one after another from a hashed starting point, so every aligned block loads
/// all sets equally (McCalpin, "Mapping addresses to L3/CHA slices in Intel processors", 2021, finds
/// slices balanced in this way). `start` numbers the block and the set.
#[inline]
fn slice(start: u32, step: u32, slices: u32) -> u32 {
    let slice = step + below_u32(scatter(start), slices);
    if slice >= slices { slice - slices } else { slice }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_every_aligned_block_evenly() {
        for (slices, sets_per_slice) in [(18, 2048), (1, 2048), (7, 96), (1, 96)] {
            let index = Index::sliced(slices, sets_per_slice);
            let mut load = vec![0; (slices * sets_per_slice) as usize];
            for line in 5 * slices * sets_per_slice..6 * slices * sets_per_slice {
                load[index.set(line) as usize] += 1;
            }
            assert!(load.iter().all(|&n| n == 1));
        }
    }

    #[test]
    fn shifts_and_divisions_choose_the_same_slices() {
        let divided = Index::SlicedModulo { slices: 24, sets_per_slice: 512 };
        for line in (0..u32::MAX).step_by(9973) {
            assert_eq!(Index::sliced(24, 512).set(line), divided.set(line));
        }
    }
}
