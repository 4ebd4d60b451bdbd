//! Configuration of the IOMMU.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::units::{Duration, Size};

/// The IOMMU: every DMA is translated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IommuConfig {
    /// Whether DMA is translated, and how buffers are mapped.
    #[serde(default)]
    pub mode: Mode,
    /// The cache of translations.
    pub iotlb: IotlbConfig,
    /// The caches of the upper levels of the page table.
    pub paging_structures: PagingStructures,
    /// How many writes can wait for their translations at a time; a write is looked up when it
    /// enters this queue. Writes beyond that hold their PCIe credits until one of the first has
    /// left.
    pub posted_queue: u32,
    /// The same for reads.
    pub non_posted_queue: u32,
    /// Page walks that can be under way at a time.
    pub walkers: u32,
    /// Time that a walker itself needs for each level that it reads, in addition to the memory read.
    pub step_latency: Duration,
    /// Page sizes with which memory is mapped for the NIC.
    pub pages: Pages,
    /// Cost of mapping and unmapping at run time; used only in modes `strict` and `deferred`.
    #[serde(default)]
    pub run_time: RunTime,
}

/// How devices are confined to their own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Not at all: devices use physical addresses, which the IOMMU passes through.
    Off,
    /// All memory of the queues is mapped once and stays mapped.
    #[default]
    Loose,
    /// A buffer is mapped when it is posted, and unmapped when its packet is received or has been
    /// sent; the core then waits until the buffer's translation is invalidated. Rings stay mapped.
    Strict,
    /// As `strict`, but invalidations accumulate and are done together by a flush of the whole IOTLB.
    Deferred,
}

impl Mode {
    /// Whether buffers are mapped and unmapped individually.
    pub(crate) const fn maps_at_run_time(self) -> bool {
        matches!(self, Mode::Strict | Mode::Deferred)
    }
}

/// Cost of mapping and unmapping a buffer at run time. The times are those of Linux with
/// constant-time address allocation, in cycles of a 3.1 GHz Xeon E3 (Malka, Amit, Ben-Yehuda and
/// Tsafrir, "rIOMMU", ASPLOS 2015, table 1, "strict+"); quoted from memory, not checked against the
/// paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunTime {
    /// Core time to map a buffer, without the memory accesses, which are simulated: 727 cycles.
    pub map: Duration,
    /// Core time to unmap a buffer, without its invalidation: 932 cycles.
    pub unmap: Duration,
    /// IOMMU time per invalidation; requests are processed one after another: 2135 cycles.
    pub invalidation: Duration,
    /// In deferred mode: how many unmapped buffers a core accumulates before a flush
    /// (`IOVA_FQ_SIZE` in Linux, drivers/iommu/iova.c).
    pub flush_after: u32,
    /// In deferred mode: the longest that an unmapped buffer waits for its flush
    /// (`IOVA_FQ_TIMEOUT`, same file); checked when another buffer is unmapped.
    pub flush_interval: Duration,
}

impl Default for RunTime {
    fn default() -> RunTime {
        RunTime {
            map: Duration(235_000),
            unmap: Duration(301_000),
            invalidation: Duration(689_000),
            flush_after: 256,
            flush_interval: Duration(10_000_000_000),
        }
    }
}

/// The cache of translations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IotlbConfig {
    /// How many translations it holds, for pages of any size.
    pub entries: u32,
    /// Associativity; equal to `entries` for a fully associative cache.
    pub ways: u32,
    /// Which translation of a set is evicted for a new one.
    #[serde(default)]
    pub replacement: IotlbReplacement,
}

/// Which translation of a set is evicted for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IotlbReplacement {
    /// The least recently used.
    #[default]
    Lru,
    /// The one that was inserted first.
    Fifo,
}

/// Entries of the caches of the upper page-table levels, each cache fully associative with LRU
/// replacement; 0 for none. A walk starts below the lowest level that is found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PagingStructures {
    /// Entries of the root level, which map 512 GiB each.
    pub pml4: u32,
    /// Entries of the level below, which map 1 GiB each.
    pub pdpt: u32,
    /// Page-directory entries, which map 2 MiB each.
    pub pd: u32,
}

/// Page size with which each kind of data is mapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// Packet data, received and transmitted, except acknowledgements.
    pub payload: PageSize,
    /// Receive and transmit descriptors.
    pub descriptors: PageSize,
    /// Receive and transmit completions.
    pub completions: PageSize,
    /// Acknowledgements sent in reply to closed-loop traffic.
    pub acknowledgements: PageSize,
}

/// A page size of the IOMMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PageSize {
    /// A leaf of the page table.
    #[serde(rename = "4 KiB")]
    Small,
    /// A leaf in a page directory.
    #[serde(rename = "2 MiB")]
    Large,
    /// A leaf in a page-directory-pointer table.
    #[serde(rename = "1 GiB")]
    Huge,
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PageSize::Small => "4 KiB",
            PageSize::Large => "2 MiB",
            PageSize::Huge => "1 GiB",
        })
    }
}

impl PageSize {
    /// The alignment of a memory region that is mapped on its own. A program that asks for a few
    /// megabytes in huge pages gets whole pages of 2 MiB, but only part of a page of 1 GiB.
    pub(crate) const fn region_begins_on(self) -> Size {
        match self {
            PageSize::Small => Size(4 << 10),
            PageSize::Large | PageSize::Huge => Size(2 << 20),
        }
    }
}

impl IommuConfig {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        // Far more than any real IOTLB has; a lookup scans the ways of a set.
        let IotlbConfig { entries, ways, .. } = self.iotlb;
        check.within("iotlb.entries", entries, 1..=65_536);
        let fits = ways > 0 && ways <= entries.min(1024) && entries.is_multiple_of(ways);
        if entries > 0 && !fits {
            let allowed = format!(
                "a divisor of machine.iommu.iotlb.entries ({entries}), at most 1024, for sets of \
                 equal size"
            );
            check.refuse("iotlb.ways", ways, allowed);
        }
        let pages = &self.pages;
        for (key, size) in
            [("pages.payload", pages.payload), ("pages.acknowledgements", pages.acknowledgements)]
        {
            if self.mode.maps_at_run_time() && size != PageSize::Small {
                let allowed = "\"4 KiB\" while machine.iommu.mode is strict or deferred: these map \
                               buffer by buffer";
                check.refuse(key, size, allowed);
            }
        }
        let costs = &self.run_time;
        for (key, time) in [
            ("run_time.map", costs.map),
            ("run_time.unmap", costs.unmap),
            ("run_time.invalidation", costs.invalidation),
        ] {
            check.within(key, time, Duration(0)..=Duration(1_000_000_000));
        }
        check.at_least_one("run_time.flush_after", costs.flush_after);
        let structures = &self.paging_structures;
        check.within("paging_structures.pml4", structures.pml4, 0..=1024);
        check.within("paging_structures.pdpt", structures.pdpt, 0..=1024);
        check.within("paging_structures.pd", structures.pd, 0..=1024);
        check.within("posted_queue", self.posted_queue, 1..=65_536);
        check.within("non_posted_queue", self.non_posted_queue, 1..=65_536);
        check.within("walkers", self.walkers, 1..=1024);
        check.within("step_latency", self.step_latency, Duration(0)..=Duration(10_000_000));
    }
}
