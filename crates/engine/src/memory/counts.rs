//! Hits and misses of demand accesses, by level and kind of line; DMA by outcome.

use super::line::LineKind;

/// Counts by kind of line.
pub(crate) type ByKind = [u64; LineKind::COUNT];

/// What the hierarchy counts. Hits are accesses minus misses; the L2's misses are the accesses of the
/// LLC.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// Loads and stores of cores.
    pub(crate) l1_accesses: ByKind,
    /// L1d accesses whose line the L1d did not hold with the right that they need.
    pub(crate) l1_misses: ByKind,
    /// L1d misses that looked up the L2, because their line was not already on its way to their core.
    pub(crate) l2_accesses: ByKind,
    /// L2 accesses that the L2 could not serve either.
    pub(crate) l2_misses: ByKind,
    /// L2 misses that no cache on the chip served, including those for lines that the core's prefetcher
    /// was already fetching.
    pub(crate) llc_misses: ByKind,
    /// Per core: requests to the LLC, and those that no cache served.
    pub(crate) llc_by_core: Vec<(u64, u64)>,
    /// DMA by kind of line.
    pub(crate) io: [IoCounts; LineKind::COUNT],
    /// Dirty lines in the caches when counting began.
    pub(crate) dirty_begin: usize,
}

/// DMA of lines, by outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IoCounts {
    /// Lines written, wherever they went: the denominator of every share of them.
    pub(crate) written: u64,
    /// Writes that found their line in the LLC or in a core's cache.
    pub(crate) write_hits: u64,
    /// Of these, those whose line only a core's cache held, so that they took a line of the I/O ways as misses do.
    pub(crate) write_moves: u64,
    /// Writes that found it in neither.
    pub(crate) write_misses: u64,
    /// Writes that went to memory.
    pub(crate) write_bypasses: u64,
    /// Writes of what is kept outside of the hierarchy.
    pub(crate) write_asides: u64,
    /// Reads served by a cache, or from outside of the hierarchy.
    pub(crate) read_hits: u64,
    /// Reads served by memory.
    pub(crate) read_misses: u64,
}

impl IoCounts {
    /// Writes that looked for their line in the caches.
    pub(crate) fn looked_up(&self) -> u64 {
        self.write_hits + self.write_misses
    }

    /// Lines written by where they went, which a balance holds against `written`.
    pub(crate) fn went_somewhere(&self) -> u64 {
        self.looked_up() + self.write_bypasses + self.write_asides
    }

    /// Writes that took a line of the I/O ways.
    pub(crate) fn fills(&self) -> u64 {
        self.write_misses + self.write_moves
    }
}

impl Counts {
    pub(crate) fn new(cores: usize, dirty_begin: usize) -> Counts {
        Counts { llc_by_core: vec![(0, 0); cores], dirty_begin, ..Counts::default() }
    }

    /// DMA of all kinds of lines.
    pub(crate) fn all_io(&self) -> IoCounts {
        self.io.iter().fold(IoCounts::default(), |sum, of| IoCounts {
            written: sum.written + of.written,
            write_hits: sum.write_hits + of.write_hits,
            write_moves: sum.write_moves + of.write_moves,
            write_misses: sum.write_misses + of.write_misses,
            write_bypasses: sum.write_bypasses + of.write_bypasses,
            write_asides: sum.write_asides + of.write_asides,
            read_hits: sum.read_hits + of.read_hits,
            read_misses: sum.read_misses + of.read_misses,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{results, xmem};

    #[test]
    fn what_joins_a_miss_register_looks_no_other_cache_up() {
        // Eight 8-byte accesses per line, to more lines than the caches hold.
        let r = results(&xmem("sequential", "4 MiB", &[]));
        let of = |level: &str| r.caches.iter().find(|c| c.level == level).expect("a level");
        let [l1d, l2, llc] = ["l1d", "l2", "llc"].map(of);
        assert!(l1d.misses > 2 * llc.misses, "several wait for each line: {l1d:?}");
        assert_eq!((l2.hits, llc.hits), (0, 0));
        assert!(l2.misses.abs_diff(llc.misses) < 20 && llc.misses > 1000, "{l2:?} {llc:?}");
        let lines = r.tenants[0].llc_misses;
        assert!(llc.misses.abs_diff(lines) < 20, "{llc:?}, {lines} by the tenant");
    }

    #[test]
    fn what_a_prefetch_is_bringing_from_memory_is_no_hit() {
        let next_line = ("/machine/l2/prefetch", "next-line".into());
        let r = results(&xmem("sequential", "4 MiB", &[next_line]));
        let causes = r.memory.causes.iter();
        let prefetched: u64 = causes.filter(|c| c.cause == "prefetch-rd").map(|c| c.lines).sum();
        assert!(prefetched > 1000, "{:?}", r.memory.causes);
        // A core that only loads finds the next line on its way.
        let tenant = &r.tenants[0];
        assert!(tenant.llc_hits * 50 < tenant.llc_misses, "{tenant:?}");
    }
}
