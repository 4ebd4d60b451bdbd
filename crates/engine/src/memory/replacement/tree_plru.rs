//! Tree pseudo-LRU: a binary tree of bits per set, each pointing to the half used less recently.
//!
//! Under a way mask, a half without candidates is never entered.

/// The tree of a set: bit `n` is node `n` of the heap-numbered tree (root 1); a set bit means go right.
type Tree = u32;

/// How the bits of a set are used, for sets of one size.
#[derive(Clone, Debug)]
pub(crate) struct TreePlru {
    /// The ways, a power of two.
    leaves: u32,
    /// What a use of a way does to the bits.
    uses: [Use; 32],
}

/// A use of a way: every node on the path to it points to the other half.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// The nodes that are not on the path.
    others: Tree,
    /// The nodes on the path that point right then.
    right: Tree,
}

impl TreePlru {
    pub(super) fn new(leaves: u32) -> TreePlru {
        debug_assert!(
            leaves.is_power_of_two(),
            "{leaves} ways, which the check of a cache refuses"
        );
        let mut uses = [Use::default(); 32];
        for (way, used) in (0..leaves).zip(&mut uses) {
            let (mut path, mut node) = (0, leaves + way);
            while node > 1 {
                let went_right = node & 1;
                node >>= 1;
                path |= 1 << node;
                used.right |= (went_right ^ 1) << node;
            }
            used.others = !path;
        }
        TreePlru { leaves, uses }
    }

    #[inline]
    pub(super) fn use_way(&self, set: &mut [u8], way: u32) {
        let used = self.uses[way as usize % 32];
        write(set, tree(set) & used.others | used.right);
    }

    /// The victim among all ways.
    #[inline]
    pub(super) fn next(&self, set: &[u8]) -> u32 {
        let (tree, leaves) = (tree(set), self.leaves);
        let mut node = 1u32;
        while node < leaves {
            node = 2 * node + (tree >> node & 1);
        }
        node - leaves
    }

    #[inline]
    pub(super) fn victim(&self, set: &[u8], mask: u32) -> u32 {
        let (tree, leaves) = (tree(set), self.leaves);
        if mask == ((1u64 << leaves) - 1) as u32 {
            return self.next(set);
        }
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
}

fn tree(set: &[u8]) -> Tree {
    u32::from_le_bytes(*set.first_chunk().expect("a set has at least four bytes"))
}

fn write(set: &mut [u8], tree: Tree) {
    *set.first_chunk_mut().expect("a set has at least four bytes") = tree.to_le_bytes();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_victim_is_never_the_way_used_last() {
        let (plru, mut set) = (TreePlru::new(8), [0; 4]);
        for way in [0, 5, 3, 7, 1, 2, 6, 4] {
            plru.use_way(&mut set, way);
            assert_ne!(plru.victim(&set, 0xff), way);
        }
    }

    #[test]
    fn touching_all_in_order_makes_the_first_the_victim() {
        for ways in [2, 4, 8, 16, 32] {
            let (plru, mut set) = (TreePlru::new(ways), [0; 4]);
            for way in 0..ways {
                plru.use_way(&mut set, way);
            }
            assert_eq!(plru.victim(&set, ((1u64 << ways) - 1) as u32), 0);
        }
    }

    /// A tree as nested halves: which of them was used last, and the two of them.
    enum Half {
        Way(u32),
        Node { right_last: bool, halves: Box<[Half; 2]> },
    }

    impl Half {
        fn new(first: u32, ways: u32) -> Half {
            if ways == 1 {
                return Half::Way(first);
            }
            let half = ways / 2;
            let halves = Box::new([Half::new(first, half), Half::new(first + half, half)]);
            // The bits of an empty set point left.
            Half::Node { right_last: true, halves }
        }

        fn holds(&self, mask: u32) -> bool {
            match self {
                Half::Way(way) => mask >> way & 1 == 1,
                Half::Node { halves, .. } => halves.iter().any(|half| half.holds(mask)),
            }
        }

        fn use_way(&mut self, way: u32) {
            if let Half::Node { right_last, halves } = self {
                *right_last = halves[1].holds(1 << way);
                halves[usize::from(*right_last)].use_way(way);
            }
        }

        fn victim(&self, mask: u32) -> u32 {
            match self {
                Half::Way(way) => *way,
                Half::Node { right_last, halves } => {
                    let older = &halves[usize::from(!right_last)];
                    let newer = &halves[usize::from(*right_last)];
                    if older.holds(mask) { older.victim(mask) } else { newer.victim(mask) }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn it_chooses_as_nested_halves_do(
            levels in 0u32..6,
            uses in prop::collection::vec((0u32..32, any::<u32>()), 1..100),
        ) {
            let ways = 1 << levels;
            let all = ((1u64 << ways) - 1) as u32;
            let (plru, mut set, mut halves) = (TreePlru::new(ways), [0; 4], Half::new(0, ways));
            for (way, mask) in uses {
                plru.use_way(&mut set, way % ways);
                halves.use_way(way % ways);
                let some = if mask & all == 0 { all } else { mask & all };
                for mask in [some, all] {
                    prop_assert_eq!(plru.victim(&set, mask), halves.victim(mask));
                }
            }
        }
    }
}
