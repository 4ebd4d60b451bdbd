//! Which set of a cache a line belongs to.

use super::line::Line;

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
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    /// Low bits: the sets are a power of two.
    Mask(u32),
    /// Remainder, for any number of sets.
    Modulo(u32),
    /// A balanced hash chooses among the slices, the low bits the set within.
    Sliced { slices: Divisor, sets_per_slice: u32 },
    /// A hash of all bits.
    Hashed(u32),
}

impl Index {
    pub(crate) fn sliced(slices: u32, sets_per_slice: u32) -> Index {
        Index::Sliced { slices: Divisor::new(slices), sets_per_slice }
    }

    #[inline]
    pub(crate) fn home(self, line: Line) -> Home {
        Home { line, set: self.set(line) }
    }

    #[inline]
    fn set(self, line: Line) -> u32 {
        match self {
            Index::Mask(mask) => line & mask,
            Index::Modulo(sets) => line % sets,
            Index::Sliced { slices, sets_per_slice: sets } => {
                // As in Intel parts, the low bits are the set within the slice and a hash of all
                // bits chooses the slice. The lines of one set index in a block of
                // `slices * sets_per_slice` lines go round the slices from a hashed starting point,
                // so that every aligned block loads all sets alike (McCalpin, "Mapping addresses to
                // L3/CHA slices in Intel processors", 2021, finds the slices balanced so).
                // Nearly always a power of two, where a shift is much faster than a division.
                let (block, set) = if sets.is_power_of_two() {
                    (line >> sets.trailing_zeros(), line & (sets - 1))
                } else {
                    (line / sets, line % sets)
                };
                let (round, step) = slices.divide(block);
                let slice = step + scatter(round * sets + set, slices.n);
                let slice = if slice >= slices.n { slice - slices.n } else { slice };
                slice * sets + set
            }
            Index::Hashed(sets) => scatter(line, sets),
        }
    }
}

/// A fixed pseudo-random function of `x` below `n`.
#[inline]
fn scatter(x: u32, n: u32) -> u32 {
    // Two rounds of xor-shift-multiply (the finaliser of MurmurHash3, public domain).
    let mut h = x;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    ((u64::from(h) * u64::from(n)) >> 32) as u32
}

/// A divisor known when the cache is built: a division is a multiplication by its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    n: u32,
    /// 2^63 / n, rounded up.
    reciprocal: u64,
}

impl Divisor {
    fn new(n: u32) -> Divisor {
        assert!((1..1 << 31).contains(&n), "a divisor between 1 and 2^31; got {n}");
        Divisor { n, reciprocal: (1u64 << 63).div_ceil(u64::from(n)) }
    }

    /// Quotient and remainder. Exact: the reciprocal is less than 1 too large in units of 2^-63, so
    /// the quotient errs by less than x / 2^63 < 1 / n (Granlund and Montgomery, "Division by
    /// invariant integers using multiplication", PLDI 1994).
    #[inline]
    fn divide(self, x: u32) -> (u32, u32) {
        let product = u128::from(self.reciprocal) * u128::from(2 * u64::from(x));
        let quotient = (product >> 64) as u32;
        (quotient, x - quotient * self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slices_share_every_aligned_block_evenly() {
        let (slices, sets_per_slice) = (18, 2048);
        let index = Index::sliced(slices, sets_per_slice);
        let mut load = vec![0; (slices * sets_per_slice) as usize];
        for line in 5 * slices * sets_per_slice..6 * slices * sets_per_slice {
            load[index.set(line) as usize] += 1;
        }
        assert!(load.iter().all(|&n| n == 1));
    }

    proptest! {
        #[test]
        fn a_reciprocal_divides_exactly(n in 1u32..1 << 31, x in any::<u32>(), small in 1u32..5000) {
            for n in [n, small] {
                // The last number before a multiple is where a reciprocal errs first.
                for x in [x, u32::MAX, x - x % n, (x - x % n).wrapping_sub(1)] {
                    prop_assert_eq!(Divisor::new(n).divide(x), (x / n, x % n));
                }
            }
        }
    }
}
