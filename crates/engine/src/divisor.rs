//! Division by a number that is known beforehand.

use std::num::NonZeroU64;

/// A divisor with its reciprocal: a multiplication takes fewer instructions than a division, and on most
/// processors a fraction of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Divisor {
    pub(crate) n: NonZeroU64,
    /// (2^64 - 1) / n, rounded down.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) fn new(n: NonZeroU64) -> Divisor {
        Divisor { n, reciprocal: u64::MAX / n }
    }

    /// A divisor below 2^32, for [`Self::divide`].
    ///
    /// # Panics
    /// If `n` is zero.
    pub(crate) fn below_2_32(n: u32) -> Divisor {
        Divisor::new(NonZeroU64::new(n.into()).expect("a divisor is not zero"))
    }

    /// Quotient and remainder of a division by a divisor [`Self::below_2_32`].
    #[inline(always)]
    pub(crate) fn divide(self, x: u32) -> (u32, u32) {
        debug_assert!(self.n.get() <= u64::from(u32::MAX));
        // The reciprocal of such a divisor is at least 2^32, so x + 1 is no larger.
        let quotient = self.multiplied(u64::from(x) + 1) as u32;
        (quotient, x - quotient * self.n.get() as u32)
    }

    /// `(y - 1) / n`, rounded down, for a `y` that is not zero.
    #[inline]
    pub(crate) fn quotient_of_one_less(self, y: u64) -> u64 {
        if y <= self.reciprocal { self.multiplied(y) } else { self.divided(y - 1) }
    }

    /// `(y - 1) / n`, rounded down, for a `y` that is neither zero nor larger than the reciprocal.
    ///
    /// The reciprocal is 2^64 / n less an error of at most one, so y * reciprocal / 2^64 is y / n less
    /// at most y / 2^64. That leaves the quotient of y - 1 as long as the error is at most 1 / n,
    /// which y <= reciprocal ensures.
    #[inline(always)]
    fn multiplied(self, y: u64) -> u64 {
        ((u128::from(y) * u128::from(self.reciprocal)) >> 64) as u64
    }

    #[cold]
    fn divided(self, x: u64) -> u64 {
        x / self.n
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_reciprocal_divides_exactly(n in 1u64..20_000, large in 1u64.., x in any::<u64>()) {
            for n in [n, large] {
                let divisor = Divisor::new(NonZeroU64::new(n).expect("not zero"));
                // Around multiples, and around the largest that the reciprocal is used for.
                let near = divisor.reciprocal / n * n;
                for x in [x, x % divisor.reciprocal, near, divisor.reciprocal] {
                    let multiple = x - x % n;
                    for y in [x.max(1), multiple.max(1), multiple.saturating_add(1)] {
                        prop_assert_eq!(divisor.quotient_of_one_less(y), (y - 1) / n);
                    }
                }
            }
        }

        #[test]
        fn so_it_does_with_a_remainder(n in 1u32.., x in any::<u32>(), small in 1u32..5000) {
            for n in [n, small, u32::MAX] {
                let divisor = Divisor::below_2_32(n);
                for x in [x, u32::MAX, x - x % n, (x - x % n).wrapping_sub(1)] {
                    prop_assert_eq!(divisor.divide(x), (x / n, x % n));
                }
            }
        }
    }
}
