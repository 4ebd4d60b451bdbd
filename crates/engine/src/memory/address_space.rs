//! The simulated physical address space: what lies where, on which node, and whose it is.

use super::line::{LINE_BYTES, Line, MemoryNode, NODE_SHIFT};
use super::owners::{Owner, Owners};
use crate::units::Size;

/// Hands out simulated physical memory, on each node one region after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressSpace {
    next_byte: [u64; 2],
    /// The node that regions are reserved on.
    node: MemoryNode,
    /// The owner that they are reserved for.
    owner: Owner,
    /// First lines of regions, and the regions' owners.
    regions: Vec<(Line, Owner)>,
}

/// Regions begin on pages of this size and are packed, as DPDK packs its memory zones into huge pages.
/// If each small ring began a huge page of its own, all of them would lie in the same DRAM bank.
const PAGE: u64 = 4 << 10;

impl AddressSpace {
    /// What a node can hold.
    pub(crate) const LIMIT: Size = Size(LINE_BYTES << NODE_SHIFT);

    /// From now on regions are reserved on this node.
    pub(crate) fn on(&mut self, node: MemoryNode) {
        self.node = node;
    }

    /// From now on regions are reserved for this owner.
    pub(crate) fn owned_by(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// From this line on, up to the next region or the next line given, memory already reserved belongs
    /// to the current owner.
    pub(crate) fn give(&mut self, first: Line) {
        self.regions.push((first, self.owner));
    }

    /// The owners of all that is reserved so far.
    pub(crate) fn owners(&self) -> Owners {
        Owners::new(self.regions.clone())
    }

    /// Reserves `bytes` on pages of its own and returns the first line.
    ///
    /// # Panics
    /// When the node's 128 GiB are exhausted; scenarios are refused before that.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Line {
        self.reserve_on(Size(PAGE), bytes)
    }

    /// Reserves `bytes` that begin on a larger page of this size and returns the first line.
    ///
    /// # Panics
    /// As [`Self::reserve`].
    pub(crate) fn reserve_on(&mut self, page: Size, bytes: u64) -> Line {
        let next = &mut self.next_byte[self.node as usize];
        let base = next.next_multiple_of(page.0);
        *next = (base + bytes).next_multiple_of(PAGE);
        assert!(*next <= Self::LIMIT.0, "the scenario's regions exceed {}", Self::LIMIT);
        let first = (self.node as Line) << NODE_SHIFT | (base / LINE_BYTES) as Line;
        self.give(first);
        first
    }

    /// Bytes reserved so far on the node that has more of them.
    pub(crate) fn largest_node(&self) -> Size {
        Size(self.next_byte[0].max(self.next_byte[1]))
    }

    /// The end of what is reserved so far, in bytes from address 0.
    pub(crate) fn end(&self) -> Size {
        match self.next_byte {
            [local, 0] => Size(local),
            [_, remote] => Size(Self::LIMIT.0 + remote),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::line::node_of;

    #[test]
    fn regions_do_not_overlap() {
        let mut space = AddressSpace::default();
        let a = space.reserve(1);
        let b = space.reserve(PAGE + 1);
        let c = space.reserve(64);
        assert_eq!(a, 0);
        assert_eq!(u64::from(b) * LINE_BYTES, PAGE);
        assert_eq!(u64::from(c) * LINE_BYTES, 3 * PAGE);
        assert_eq!(space.end(), Size(4 * PAGE));
        let large = Size(2 << 20);
        assert_eq!(u64::from(space.reserve_on(large, 64)) * LINE_BYTES, large.0);
        assert_eq!(space.end(), Size(large.0 + PAGE));
    }

    #[test]
    fn the_uppermost_bit_of_a_line_is_its_node() {
        let mut space = AddressSpace::default();
        assert_eq!(node_of(space.reserve(PAGE)), 0);
        space.on(MemoryNode::Remote);
        let remote = space.reserve(PAGE);
        assert_eq!((node_of(remote), remote), (1, 1 << 31));
        assert_eq!(space.end(), Size(AddressSpace::LIMIT.0 + PAGE));
        space.on(MemoryNode::Local);
        assert_eq!(u64::from(space.reserve(PAGE)) * LINE_BYTES, PAGE);
    }
}
