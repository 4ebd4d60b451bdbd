//! Tree pseudo-LRU: a binary tree of bits per set, each pointing to the half used less recently.
//!
//! With a number of ways that is not a power of two, or under a way mask, a half without candidates
//! is never entered.

#[derive(Clone, Debug)]
pub(crate) struct TreePlru {
    /// Bit `n` of a set's word is node `n` of the heap-numbered tree (root 1); set: go right.
    bits: Vec<u32>,
    leaves: u32,
}

impl TreePlru {
    pub(super) fn new(sets: usize, ways: u32) -> TreePlru {
        TreePlru { bits: vec![0; sets], leaves: ways.next_power_of_two() }
    }

    /// Every node on the path to `way` points to the other half.
    #[inline]
    pub(super) fn point_away(&mut self, set: usize, way: u32) {
        let mut node = self.leaves + way;
        while node > 1 {
            let went_right = node & 1;
            node >>= 1;
            self.bits[set] = (self.bits[set] & !(1 << node)) | ((went_right ^ 1) << node);
        }
    }

    #[inline]
    pub(super) fn victim(&self, set: usize, mask: u32) -> u32 {
        let bits = self.bits[set];
        let (mut node, mut first, mut span) = (1u32, 0u32, self.leaves);
        while span > 1 {
            span /= 2;
            let half = ((1u64 << span) - 1) as u32;
            let left = mask & (half << first) != 0;
            let right = mask & (half << (first + span)) != 0;
            let go_right = right && (!left || (bits >> node) & 1 == 1);
            node = 2 * node + u32::from(go_right);
            first += span * u32::from(go_right);
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_victim_is_never_the_way_used_last() {
        let mut p = TreePlru::new(1, 8);
        for way in [0, 5, 3, 7, 1, 2, 6, 4] {
            p.point_away(0, way);
            assert_ne!(p.victim(0, 0xff), way);
        }
    }

    #[test]
    fn ways_that_do_not_exist_or_are_masked_are_not_chosen() {
        let mut p = TreePlru::new(1, 12);
        for _ in 0..50 {
            let v = p.victim(0, 0b1111_0000_0100);
            assert!([2, 8, 9, 10, 11].contains(&v));
            p.point_away(0, v);
        }
    }

    #[test]
    fn touching_all_in_order_makes_the_first_the_victim() {
        let mut p = TreePlru::new(1, 4);
        for way in 0..4 {
            p.point_away(0, way);
        }
        assert_eq!(p.victim(0, 0b1111), 0);
    }
}
