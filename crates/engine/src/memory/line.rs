//! Cache lines, what they hold, and the simulated physical address space they lie in.

use crate::config::units::Size;

/// Bytes in a cache line.
pub const LINE_BYTES: u64 = 64;

/// The number of a cache line: a physical address divided by [`LINE_BYTES`]. 32 bits reach 256 GiB,
/// and keep the tag arrays of the caches compact.
pub type Line = u32;

/// What the software keeps in a line. The kind decides to which cause its memory traffic is
/// attributed; the hardware never looks at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LineKind {
    /// Packet data in a receive buffer.
    Rx = 0,
    /// Packet data in a transmit buffer.
    Tx = 1,
    /// Descriptors, completions and work-queue entries shared with the NIC.
    Descriptor = 2,
    /// The driver's metadata of a buffer (`struct rte_mbuf`) and the free list of its pool.
    Mbuf = 3,
    /// Everything else: the data of the application.
    App = 4,
}

impl LineKind {
    /// How many kinds there are.
    pub const COUNT: usize = 5;
    /// All kinds, in the order of their numbers.
    pub const ALL: [LineKind; Self::COUNT] =
        [LineKind::Rx, LineKind::Tx, LineKind::Descriptor, LineKind::Mbuf, LineKind::App];

    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            LineKind::Rx => "rx",
            LineKind::Tx => "tx",
            LineKind::Descriptor => "descriptor",
            LineKind::Mbuf => "mbuf",
            LineKind::App => "app",
        }
    }
}

/// Hands out simulated physical memory, one region after the other.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    next_byte: u64,
}

/// Regions begin on pages of this size and are packed: as DPDK packs its memory zones into huge
/// pages. Were each small ring to begin a huge page of its own, all of them would lie in the same
/// bank of memory.
const PAGE: u64 = 4 << 10;

impl AddressSpace {
    /// An empty space that ends where a 32-bit [`Line`] ends.
    pub const LIMIT: Size = Size(LINE_BYTES << 32);

    /// Reserves `bytes` on pages of its own and returns the first line.
    ///
    /// # Panics
    /// When the space of 256 GiB is exhausted; scenarios are refused before that.
    pub fn reserve(&mut self, bytes: u64) -> Line {
        let base = self.next_byte;
        self.next_byte = (base + bytes).next_multiple_of(PAGE);
        assert!(self.next_byte <= Self::LIMIT.0, "the scenario's regions exceed {}", Self::LIMIT);
        (base / LINE_BYTES) as Line
    }

    /// Bytes reserved so far, whole pages.
    pub fn reserved(&self) -> Size {
        Size(self.next_byte)
    }
}

/// The number of lines that `bytes` starting at a line boundary cover.
pub const fn lines_in(bytes: u64) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_do_not_overlap() {
        let mut space = AddressSpace::default();
        let a = space.reserve(1);
        let b = space.reserve(PAGE + 1);
        let c = space.reserve(64);
        assert_eq!(a, 0);
        assert_eq!(u64::from(b) * LINE_BYTES, PAGE);
        assert_eq!(u64::from(c) * LINE_BYTES, 3 * PAGE);
        assert_eq!(space.reserved(), Size(4 * PAGE));
    }
}
