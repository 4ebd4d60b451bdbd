//! Windows and fractions as integers with 32 fractional bits: congestion windows are model state,
//! which contains no floating point.
//!
//! Every operation rounds once, towards zero, so an error is below 2^-32 of a packet.

/// One packet; as a fraction, the whole.
pub(crate) const ONE: u64 = 1 << 32;

/// The number nearest to a configured value, which is finite and not negative.
pub(crate) fn from_f64(value: f64) -> u64 {
    (value * ONE as f64).round() as u64
}

/// For reports only.
pub(crate) fn to_f64(value: u64) -> f64 {
    value as f64 / ONE as f64
}

/// `a * b`, saturating.
#[inline]
pub(crate) fn mul(a: u64, b: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)) >> 32).unwrap_or(u64::MAX)
}

/// `a / b`, in the unit of `a` over that of `b`, saturating.
#[inline]
pub(crate) fn div(a: u64, b: u64) -> u64 {
    u64::try_from((u128::from(a) << 32) / u128::from(b)).unwrap_or(u64::MAX)
}

/// `1 / sqrt(x)` for `x` above zero.
#[inline]
pub(crate) fn inverse_sqrt(x: u64) -> u64 {
    ((1u128 << 96) / u128::from(x)).isqrt() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn operations_are_those_of_real_numbers(a in 1u64..1 << 44, b in 1u64..1 << 44) {
            let (x, y) = (to_f64(a), to_f64(b));
            let near = |got: u64, want: f64| (to_f64(got) - want).abs() <= 1e-9 + 1e-9 * want;
            prop_assert!(near(mul(a, b), x * y));
            if x / y < 1e6 {
                prop_assert!(near(div(a, b), x / y));
            }
            // The square root keeps half of its operand's digits.
            let root = 1.0 / x.sqrt();
            prop_assert!((to_f64(inverse_sqrt(a)) - root).abs() <= 1e-9 + 1e-6 * root);
            prop_assert_eq!(from_f64(x), a);
            prop_assert_eq!((mul(u64::MAX, ONE + a), div(u64::MAX, 1)), (u64::MAX, u64::MAX));
        }
    }
}
