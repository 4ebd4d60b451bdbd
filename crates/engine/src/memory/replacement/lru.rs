//! Least recently used: the age of each way, in uses of the set.
//!
//! The ages of a set's ways are always a permutation of `0..ways`, 0 for the way used last. A use
//! adds one to all younger than the way used: one comparison and one subtraction of a vector.

use wide::i8x16;

/// The ages of a set that has not been used: the first way the youngest.
pub(super) fn start<const R: usize>() -> [u8; R] {
    std::array::from_fn(|way| way as u8)
}

/// A way becomes the most recently used.
#[inline]
pub(super) fn use_way<const R: usize>(ages: &mut [u8; R], way: u32) {
    let age = i8x16::splat(ages[way as usize] as i8);
    for vector in ages.as_chunks_mut::<16>().0 {
        let ages = i8x16::new(vector.map(|age| age as i8));
        // A comparison that holds is -1.
        let aged = ages - age.simd_gt(ages);
        *vector = aged.to_array().map(|age| age as u8);
    }
    ages[way as usize] = 0;
}

/// The least recently used of `ways` ways that is in `mask`, which is not empty.
#[inline]
pub(super) fn oldest<const R: usize>(ages: &[u8; R], ways: u32, mask: u32) -> u32 {
    let mut oldest = 0;
    let (vectors, _) = ages.as_chunks::<16>();
    for (i, vector) in vectors.iter().enumerate() {
        let ages = i8x16::new(vector.map(|age| age as i8));
        oldest |= ages.simd_eq(i8x16::splat(ways as i8 - 1)).to_bitmask() << (16 * i);
    }
    if oldest & mask != 0 { oldest.trailing_zeros() } else { oldest_of(ages, mask) }
}

/// The same for a mask without the oldest way of all.
#[inline(never)]
fn oldest_of(ages: &[u8], mask: u32) -> u32 {
    super::ways(mask).max_by_key(|&way| ages[way as usize]).expect("a mask has a way")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_way_of_a_mask_is_found_in_the_order_of_use() {
        let ways = 5;
        let mut ages = start::<16>();
        for way in [2, 0, 4, 3, 1, 0] {
            use_way(&mut ages, way);
        }
        assert_eq!(oldest(&ages, ways, 0b11111), 2);
        assert_eq!(oldest(&ages, ways, 0b11011), 4);
        assert_eq!(oldest(&ages, ways, 0b01011), 3);
        use_way(&mut ages, 2);
        assert_eq!(oldest(&ages, ways, 0b11111), 4);
        assert_eq!(oldest(&ages, ways, 0b00001), 0);
        assert_eq!(ages[..5], [1, 2, 0, 3, 4]);
    }
}
