//! Tree pseudo-LRU: a binary tree of bits per set, each pointing to the half used less recently.
//!
//! With a number of ways that is not a power of two, or under a way mask, a half without candidates
//! is never entered.

/// The tree of a set with `leaves` ways, rounded up to a power of two: bit `n` is node `n` of the
/// heap-numbered tree (root 1); a set bit means go right.
pub(super) type Tree = u32;

/// Every node on the path to `way` points to the other half.
#[inline]
pub(super) fn point_away(tree: Tree, leaves: u32, way: u32) -> Tree {
    let (mut tree, mut node) = (tree, leaves + way);
    while node > 1 {
        let went_right = node & 1;
        node >>= 1;
        tree = (tree & !(1 << node)) | ((went_right ^ 1) << node);
    }
    tree
}

#[inline]
pub(super) fn victim(tree: Tree, leaves: u32, mask: u32) -> u32 {
    let (mut node, mut first, mut span) = (1u32, 0u32, leaves);
    while span > 1 {
        span /= 2;
        let half = ((1u64 << span) - 1) as u32;
        let left = mask & (half << first) != 0;
        let right = mask & (half << (first + span)) != 0;
        let go_right = right && (!left || (tree >> node) & 1 == 1);
        node = 2 * node + u32::from(go_right);
        first += span * u32::from(go_right);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_victim_is_never_the_way_used_last() {
        let mut tree = 0;
        for way in [0, 5, 3, 7, 1, 2, 6, 4] {
            tree = point_away(tree, 8, way);
            assert_ne!(victim(tree, 8, 0xff), way);
        }
    }

    #[test]
    fn ways_that_do_not_exist_or_are_masked_are_not_chosen() {
        let mut tree = 0;
        for _ in 0..50 {
            let v = victim(tree, 16, 0b1111_0000_0100);
            assert!([2, 8, 9, 10, 11].contains(&v));
            tree = point_away(tree, 16, v);
        }
    }

    #[test]
    fn touching_all_in_order_makes_the_first_the_victim() {
        let mut tree = 0;
        for way in 0..4 {
            tree = point_away(tree, 4, way);
        }
        assert_eq!(victim(tree, 4, 0b1111), 0);
    }
}
