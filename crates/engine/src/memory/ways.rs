//! The search of one set: all ways are compared at once, four to a SIMD register.

use wide::{u32x4, u32x8};

/// Never a line: the tag of an empty way.
pub(crate) const EMPTY: u32 = u32::MAX;

/// The most groups that [`in_groups`] takes.
const MAX_GROUPS: usize = 8;

/// The ways, as a mask, that hold `tag`; `W` is a multiple of four.
#[inline(always)]
pub(super) fn matching<const W: usize>(tags: &[u32; W], tag: u32) -> u32 {
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

/// The same for tags in groups of four, of which there are few kinds of numbers: one that is known
/// at compile time lets the compiler unroll the search.
#[inline(always)]
fn in_groups(groups: &[[u32; 4]], tag: u32) -> u32 {
    match groups.len() {
        1 => unrolled::<1>(groups, tag),
        2 => unrolled::<2>(groups, tag),
        3 => unrolled::<3>(groups, tag),
        4 => unrolled::<4>(groups, tag),
        5 => unrolled::<5>(groups, tag),
        6 => unrolled::<6>(groups, tag),
        7 => unrolled::<7>(groups, tag),
        8 => unrolled::<MAX_GROUPS>(groups, tag),
        n => panic!("expected 1 to {MAX_GROUPS} groups of tags; got {n}"),
    }
}

/// The first way that holds `tag`, of any number of groups.
#[inline]
pub(crate) fn first_match(groups: &[[u32; 4]], tag: u32) -> Option<usize> {
    if groups.len() <= MAX_GROUPS {
        let found = in_groups(groups, tag);
        return (found != 0).then(|| found.trailing_zeros() as usize);
    }
    for (i, some) in groups.chunks(MAX_GROUPS).enumerate() {
        let found = in_groups(some, tag);
        if found != 0 {
            return Some(i * MAX_GROUPS * 4 + found.trailing_zeros() as usize);
        }
    }
    None
}

#[inline(always)]
fn unrolled<const N: usize>(groups: &[[u32; 4]], tag: u32) -> u32 {
    let groups: &[[u32; 4]; N] = groups.first_chunk().expect("the caller has matched the length");
    let wanted = u32x4::splat(tag);
    let mut found = 0;
    for (i, group) in groups.iter().enumerate() {
        found |= u32x4::new(*group).simd_eq(wanted).to_bitmask() << (4 * i);
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

    #[test]
    fn every_way_of_every_size_is_found() {
        for n in 1..=MAX_GROUPS {
            let groups: Vec<[u32; 4]> =
                (0..n as u32).map(|g| [4 * g, 4 * g + 1, 4 * g + 2, 4 * g + 3]).collect();
            for way in 0..4 * n as u32 {
                assert_eq!(in_groups(&groups, way), 1 << way);
            }
            assert_eq!(in_groups(&groups, EMPTY), 0);
        }
        let many: Vec<[u32; 4]> =
            (0..20).map(|g| [4 * g, 4 * g + 1, 4 * g + 2, 4 * g + 3]).collect();
        for way in 0..80 {
            assert_eq!(first_match(&many, way), Some(way as usize));
        }
        assert_eq!(first_match(&many, EMPTY), None);
        assert_eq!(in_groups(&[[7, EMPTY, 7, 1], [1, 2, 7, 7]], 7), 0b1100_0101);
    }
}
