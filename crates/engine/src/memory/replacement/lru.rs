//! Least recently used: the age of each way, in uses of the set.
//!
//! The ages of a set's ways are always a permutation of `0..ways`, 0 for the way used last. A use adds
//! one to all ages below that of the way used: one vector comparison and one vector subtraction.

use wide::i8x16;

use crate::bits::positions;

/// The ages of a set that has not been used: the first way is the youngest.
pub(in crate::memory) fn start<const R: usize>() -> [u8; R] {
    std::array::from_fn(|way| way as u8)
}

/// The first and the last 16 ages. They overlap where there are fewer than 32.
#[inline(always)]
fn vectors<const R: usize>(ages: &[u8; R]) -> [i8x16; 2] {
    let vector = |ages: &[u8; 16]| i8x16::new(ages.map(|age| age as i8));
    let first = vector(ages.first_chunk().expect("a set has at least 16 bytes"));
    [first, if R > 16 { vector(ages.last_chunk().expect("more than 16")) } else { first }]
}

/// A way becomes the most recently used.
#[inline]
pub(in crate::memory) fn use_way<const R: usize>(ages: &mut [u8; R], way: u32) {
    // An array, not a splat, which `wide` builds with a multiplication.
    let age = i8x16::new([ages[way as usize] as i8; 16]);
    // A true comparison yields -1.
    let [first, last] = vectors(ages).map(|ages| {
        let aged = ages - age.simd_gt(ages);
        aged.to_array().map(|age| age as u8)
    });
    *ages.first_chunk_mut().expect("a set has at least 16 bytes") = first;
    if R > 16 {
        *ages.last_chunk_mut().expect("more than 16") = last;
    }
    ages[way as usize] = 0;
}

/// The least recently used of `ways` ways that is in `mask`, which is not empty.
#[inline]
pub(in crate::memory) fn oldest<const R: usize>(ages: &[u8; R], ways: u32, mask: u32) -> u32 {
    let age = i8x16::splat(ways as i8 - 1);
    let [first, last] = vectors(ages).map(|ages| ages.simd_eq(age).to_bitmask());
    let oldest = first | last << (R - 16);
    if oldest & mask != 0 { oldest.trailing_zeros() } else { oldest_of(ages, mask) }
}

/// The same for a mask that lacks the oldest way of all.
#[inline(never)]
fn oldest_of(ages: &[u8], mask: u32) -> u32 {
    positions(mask).max_by_key(|&way| ages[way]).expect("a mask has a way") as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_stay_a_permutation_in_sets_of_every_size() {
        fn check<const R: usize>() {
            let mut ages = start::<R>();
            let mut order: Vec<u8> = (0..R as u8).collect();
            for step in 0..200 {
                let way = (step * step + 7 * step) % R as u32;
                use_way(&mut ages, way);
                order.retain(|&w| u32::from(w) != way);
                order.insert(0, way as u8);
                for (age, &w) in order.iter().enumerate() {
                    assert_eq!(usize::from(ages[w as usize]), age);
                }
                assert_eq!(oldest(&ages, R as u32, u32::MAX), u32::from(order[R - 1]));
            }
        }
        check::<16>();
        check::<20>();
        check::<32>();
    }

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
