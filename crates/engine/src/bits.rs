//! Sets of small numbers, a bit for each.

/// The positions of the set bits, lowest first.
#[inline]
pub(crate) fn positions(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}
