//! Hits and misses of demand accesses, by level and kind of line; DMA by outcome.

use super::line::LineKind;

/// Counts by kind of line.
pub(crate) type ByKind = [u64; LineKind::COUNT];

/// What the hierarchy counts. Hits are accesses less misses; the L2's misses are the accesses of the LLC.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Loads and stores of cores.
    pub(crate) l1_accesses: ByKind,
    /// Those that the L1d did not hold with the right asked for.
    pub(crate) l1_misses: ByKind,
    /// Those that were not of a line under way to their core already, and so looked the L2 up.
    pub(crate) l2_accesses: ByKind,
    /// Those that the L2 did not hold either.
    pub(crate) l2_misses: ByKind,
    /// Those that no cache on the chip served.
    pub(crate) llc_misses: ByKind,
    /// Per core: requests to the LLC, and those that no cache served.
    pub(crate) llc_by_core: Vec<(u64, u64)>,
    /// DMA writes that found their line in the LLC or in a core's cache.
    pub(crate) io_write_hits: u64,
    /// DMA writes that did not.
    pub(crate) io_write_misses: u64,
    /// DMA reads served by a cache.
    pub(crate) io_read_hits: u64,
    /// DMA reads served by memory.
    pub(crate) io_read_misses: u64,
    /// Lines swept.
    pub(crate) swept: u64,
}

impl Counts {
    pub(crate) fn new(cores: usize) -> Counts {
        Counts { llc_by_core: vec![(0, 0); cores], ..Counts::default() }
    }
}
