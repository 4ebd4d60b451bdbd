//! The page table in simulated memory, and the caches of its upper levels.
//!
//! Four levels of 512 entries of 8 bytes (Intel VT-d specification, second-level paging). Device
//! addresses equal physical ones except that each kind of mapping has a root entry of its own, so
//! that descriptors in small pages and payload in large ones never share a table. The tables of one
//! level lie side by side in memory.

use super::config::{IommuConfig, PageSize};
use super::iotlb::Iotlb;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line};

/// Number of kinds of mapping.
pub(crate) const MAPPINGS: usize = 4;

/// The kind of data that a page is mapped for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Mapping {
    /// Packet data, except acknowledgements.
    Payload = 0,
    /// Receive and transmit descriptors.
    Descriptor = 1,
    /// Receive and transmit completions.
    Completion = 2,
    /// Acknowledgements sent in reply to closed-loop traffic.
    Acknowledgement = 3,
}

impl Mapping {
    pub(crate) const ALL: [Mapping; MAPPINGS] =
        [Mapping::Payload, Mapping::Descriptor, Mapping::Completion, Mapping::Acknowledgement];

    /// The name used in results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Mapping::Payload => "payload",
            Mapping::Descriptor => "descriptor",
            Mapping::Completion => "completion",
            Mapping::Acknowledgement => "acknowledgement",
        }
    }
}

/// The top level. Level 1 maps pages of 4 KiB, and each level above maps 512 times as much.
pub(crate) const ROOT: u8 = 4;
const ENTRY_BYTES: u64 = 8;
/// log2 of the lines that a lowest-level entry maps, and of the entries per table.
const LINE_SHIFT: u32 = 6;
const TABLE_SHIFT: u32 = 9;
/// Bits of a page number: 256 GiB in pages of 4 KiB.
const NUMBER_BITS: u32 = 26;

/// The index of the entry that maps a line, counted over all tables of a level.
const fn index(line: Line, level: u8) -> u32 {
    let shift = LINE_SHIFT + TABLE_SHIFT * (level as u32 - 1);
    // A root entry maps 512 GiB, more than line numbers can reach.
    if shift >= Line::BITS { 0 } else { line >> shift }
}

const fn key(mapping: Mapping, line: Line, level: u8) -> u32 {
    (mapping as u32) << NUMBER_BITS | index(line, level)
}

/// A page of one kind of mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    pub(crate) mapping: Mapping,
    /// Its first line.
    line: Line,
    /// The level whose entry maps it.
    pub(crate) level: u8,
}

impl Page {
    /// The page's key in the IOTLB.
    pub(crate) const fn key(self) -> u32 {
        key(self.mapping, self.line, self.level)
    }
}

/// Where the tables lie in memory, and the caches of their upper levels.
#[derive(Clone, Debug)]
pub(crate) struct PageTable {
    leaf: [u8; MAPPINGS],
    /// First line of the tables of each level, by mapping.
    tables: [[Line; ROOT as usize]; MAPPINGS],
    /// Caches of the entries of levels 2, 3 and 4.
    structures: [Iotlb; 3],
}

impl PageTable {
    /// The tables that map everything reserved in `space` so far.
    pub(crate) fn new(config: &IommuConfig, space: &mut AddressSpace) -> PageTable {
        let lines = (space.end().0 / LINE_BYTES).max(1);
        let pages = &config.pages;
        let sizes = [pages.payload, pages.descriptors, pages.completions, pages.acknowledgements];
        let leaf = sizes.map(|size| match size {
            PageSize::Small => 1,
            PageSize::Large => 2,
            PageSize::Huge => 3,
        });
        let mut tables = [[0; ROOT as usize]; MAPPINGS];
        for (leaf, tables) in leaf.iter().zip(&mut tables) {
            for level in *leaf..=ROOT {
                let entries = u64::from(index((lines - 1) as Line, level)) + 1;
                tables[level as usize - 1] = space.reserve(entries * ENTRY_BYTES);
            }
        }
        let cached = &config.paging_structures;
        let structures = [cached.pd, cached.pdpt, cached.pml4].map(Iotlb::fully_associative);
        PageTable { leaf, tables, structures }
    }

    /// The page that contains a line, for a kind of mapping.
    #[inline]
    pub(crate) fn page(&self, mapping: Mapping, line: Line) -> Page {
        let level = self.leaf[mapping as usize];
        let shift = LINE_SHIFT + TABLE_SHIFT * (u32::from(level) - 1);
        Page { mapping, line: line >> shift << shift, level }
    }

    /// The page that follows `page`.
    #[inline]
    pub(crate) fn next(&self, page: Page) -> Page {
        let lines = 1 << (LINE_SHIFT + TABLE_SHIFT * (u32::from(page.level) - 1));
        Page { line: page.line + lines, ..page }
    }

    /// The level that a walk for a page has to read first.
    pub(crate) fn first_level(&mut self, page: Page) -> u8 {
        for above in page.level + 1..=ROOT {
            if self.structures[above as usize - 2].look_up(key(page.mapping, page.line, above)) {
                return above - 1;
            }
        }
        ROOT
    }

    /// The line that holds the entry of a level for a page.
    pub(crate) fn entry(&self, page: Page, level: u8) -> Line {
        let offset = u64::from(index(page.line, level)) * ENTRY_BYTES / LINE_BYTES;
        self.tables[page.mapping as usize][level as usize - 1] + offset as Line
    }

    /// Empties the caches of the upper levels.
    pub(crate) fn flush(&mut self) {
        self.structures.iter_mut().for_each(Iotlb::flush);
    }

    /// Caches an entry above the page's own level that a walk has read.
    pub(crate) fn keep(&mut self, page: Page, level: u8) {
        self.structures[level as usize - 2].insert(key(page.mapping, page.line, level));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iommu::testing::config;

    fn table(pd: u32) -> (PageTable, AddressSpace) {
        let mut space = AddressSpace::default();
        space.reserve(8 << 20);
        let mut config = config(4);
        config.paging_structures.pd = pd;
        config.pages.payload = PageSize::Small;
        config.pages.completions = PageSize::Large;
        (PageTable::new(&config, &mut space), space)
    }

    #[test]
    fn tables_hold_eight_bytes_a_page_and_lie_apart() {
        let (table, _) = table(0);
        let page = |line| table.page(Mapping::Payload, line);
        let first = table.entry(page(0), 1);
        assert_eq!(u64::from(first) * LINE_BYTES, 8 << 20, "behind what it maps");
        // Eight entries per line, and one entry per 64 lines of 64 bytes.
        assert_eq!(table.entry(page(8 * 64 - 1), 1), first);
        assert_eq!(table.entry(page(8 * 64), 1), first + 1);
        let last = table.entry(page((8 << 20) / 64 - 1), 1);
        assert!(table.entry(page(0), 2) > last, "a level begins behind the one below");
        let large = table.page(Mapping::Completion, 40_000);
        assert_eq!((large.line, large.level), (32_768, 2));
    }

    #[test]
    fn a_walk_begins_below_what_is_cached() {
        let (mut table, _) = table(1);
        let page = table.page(Mapping::Payload, 0);
        let far = table.page(Mapping::Payload, 64 * 512);
        assert_eq!(table.first_level(page), ROOT);
        table.keep(page, 3);
        assert_eq!((table.first_level(page), table.first_level(far)), (2, 2));
        table.keep(page, 2);
        assert_eq!((table.first_level(page), table.first_level(far)), (1, 2));
        table.keep(far, 2);
        assert_eq!(table.first_level(page), 2, "one entry only");
        let other = table.page(Mapping::Descriptor, 0);
        assert_eq!(table.first_level(other), ROOT, "kinds of mapping share no table");
    }

    #[test]
    fn keys_tell_mappings_and_pages_apart() {
        let (table, _) = table(0);
        let keys = [(Mapping::Payload, 0), (Mapping::Payload, 64), (Mapping::Descriptor, 0)]
            .map(|(mapping, line)| table.page(mapping, line).key());
        assert_eq!(keys, [0, 1, 1 << 26]);
    }
}
