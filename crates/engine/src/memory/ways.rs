//! The search of one set: all ways are compared at once, eight or four to a SIMD register.

use wide::{u32x4, u32x8};

/// The tag of an empty way; no line has it.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The mask of the ways that hold `tag`; `W` is a multiple of four.
#[inline(always)]
pub(crate) fn matching<const W: usize>(tags: &[u32; W], tag: u32) -> u32 {
    const { assert!(W.is_multiple_of(4) && W <= 32) };
    let mut found = 0;
    let (groups, rest) = tags.as_chunks::<8>();
    for (i, group) in groups.iter().enumerate() {
        found |= u32x8::new(*group).simd_eq(u32x8::splat(tag)).to_bitmask() << (8 * i);
    }
    if let Some(group) = rest.first_chunk::<4>() {
        let same = u32x4::new(*group).simd_eq(u32x4::splat(tag)).to_bitmask();
        found |= same << (W - 4);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_that_holds_the_tag_is_in_the_mask() {
        fn check<const W: usize>() {
            let tags: [u32; W] = std::array::from_fn(|way| way as u32);
            for way in 0..W as u32 {
                assert_eq!(matching(&tags, way), 1 << way);
            }
            assert_eq!(matching(&tags, W as u32), 0);
            assert_eq!(u64::from(matching(&[7; W], 7)), (1 << W) - 1);
        }
        check::<12>();
        check::<20>();
        check::<32>();
    }
}
