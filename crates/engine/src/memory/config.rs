//! Configuration of a machine's caches, on-chip network and sockets. (Its channels: [`super::dram`].)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::memory::line::LINE_BYTES;
use crate::units::{BitRate, Duration, Frequency, Size};

/// A first-level data cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L1d {
    /// Capacity.
    pub size: Size,
    /// Associativity.
    pub ways: u32,
    /// Load-to-use latency of a hit, in core cycles.
    pub latency_cycles: u32,
    /// Which line of a set is evicted.
    #[serde(default)]
    pub replacement: Replacement,
}

/// A second-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Capacity.
    pub size: Size,
    /// Associativity.
    pub ways: u32,
    /// Load-to-use latency of a hit, in core cycles.
    pub latency_cycles: u32,
    /// Which line of a set is evicted.
    #[serde(default)]
    pub replacement: Replacement,
    /// Hardware prefetcher that fills this cache.
    #[serde(default)]
    pub prefetch: Prefetch,
    /// Lines that may be on their way to this cache (the "superqueue"): up to `core.l1_miss_registers`
    /// for misses of the core; the remaining entries are for the prefetcher.
    #[serde(default = "L2::usual_superqueue")]
    pub superqueue: u32,
}

impl L2 {
    /// Levinthal, "Performance Analysis Guide for Intel Core i7 and Xeon 5500" (Intel, 2009). Later
    /// values are not disclosed.
    const fn usual_superqueue() -> u32 {
        16
    }
}

/// The last-level cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Llc {
    /// Capacity of all slices together.
    pub size: Size,
    /// Associativity, at most 32.
    pub ways: u32,
    /// Time from the request's arrival at the slice to the data leaving it, in cycles of `machine.uncore`.
    pub latency_cycles: u32,
    /// Which line of a set is evicted.
    #[serde(default)]
    pub replacement: Replacement,
    /// Relation to the private caches.
    pub inclusion: Inclusion,
    /// What a non-inclusive LLC does with a dirty line of I/O data that a core reads.
    #[serde(default)]
    pub io_lines: IoLines,
    /// How an address is mapped to a set.
    #[serde(default)]
    pub index: SetIndex,
    /// Number of slices, for [`SetIndex::Sliced`]; the number of cores unless given.
    #[serde(default)]
    pub slices: Option<u32>,
    /// Transactions that the home agents can have under way: memory reads of cores, prefetchers and
    /// devices together, and write-backs that wait for room in the write queue of their channel. While
    /// all trackers are in use, the LLC accepts no core requests, no DMA and no page walks. With
    /// `machine.numa` the other socket has as many for reads of its memory, which wait there.
    pub home_trackers: u32,
    /// Time that a line read from memory takes between the memory controller and the LLC, in addition
    /// to the latencies of both.
    #[serde(default)]
    pub memory_latency: Duration,
}

/// Which line of a set is evicted for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used.
    #[default]
    Lru,
    /// A binary tree with one bit per node, pointing away from recent use.
    TreePlru,
    /// Static re-reference interval prediction with 2-bit counters (Jaleel et al., ISCA 2010).
    Srrip,
    /// Uniformly random.
    Random,
}

/// Relation of the LLC to the private caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Every line of a private cache is also in the LLC; evicting it from the LLC invalidates it in all
    /// private caches.
    Inclusive,
    /// A victim cache of the L2s: memory fills go to the L2 only, L2 victims go to the LLC, and an LLC
    /// hit moves the line up; for dirty lines of I/O data, see [`IoLines`].
    NonInclusive,
}

/// What a non-inclusive LLC does with a dirty line of I/O data that a core reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoLines {
    /// The LLC keeps the line, and the core gets a clean copy.
    #[default]
    Stay,
    /// The line moves up like any other. Later it returns as a victim of the L2, into any way (the "DMA
    /// bloating" of Alian et al., "IDIO", MICRO 2022).
    Move,
}

/// How an address is mapped to a set of the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// Line number modulo the number of sets.
    #[default]
    Modulo,
    /// A hash of the upper address bits spreads lines over the slices, evenly within an aligned block;
    /// the low bits choose the set within the slice.
    Sliced,
    /// A hash of all address bits: every set is equally likely for every line.
    Hashed,
}

/// A hardware prefetcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Prefetch {
    /// None.
    #[default]
    None,
    /// A miss also fetches the next line.
    NextLine,
    /// A miss followed by a miss of the next line starts a stream that runs ahead within the page.
    Stream,
    /// Every L2 lookup, hit or miss, for a higher line of its page than the previous lookup there,
    /// adjacent or not, fetches two more lines, up to 20 lines ahead (Intel optimization manual,
    /// "streamer").
    Streamer,
}

/// The on-chip network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noc {
    /// One-way latency between any two agents, in cycles of `machine.uncore`.
    pub latency_cycles: u32,
    /// Bytes that the port of an on-chip NIC carries towards the caches per cycle of `machine.uncore`. It does not
    /// matter for a NIC behind PCIe, whose link is narrower than any port.
    #[serde(default = "Noc::a_line")]
    pub port_width: Size,
}

impl Noc {
    /// One cache line per cycle: an estimate. A machine with an on-chip NIC should set its own value.
    const fn a_line() -> Size {
        Size(64)
    }
}

/// What LLC and on-chip network are clocked with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uncore {
    /// The clock of the LLC and of the on-chip network. Times that are given as such stay what they are when it
    /// changes: `machine.llc.memory_latency` and those of `machine.pcie`.
    pub frequency: Frequency,
}

/// The other socket, as a second memory node. The simulated cores and NIC are on the first socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Numa {
    /// Links between the sockets; lines are spread evenly over them.
    pub links: u32,
    /// Bandwidth of one link in each direction, headers included.
    pub link_bandwidth: BitRate,
    /// One-way latency between the sockets without queueing: a remote access makes two more crossings
    /// than a local one.
    pub latency: Duration,
}

/// The parts of a machine's memory system except its channels, and what it needs to know about the
/// cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hierarchy<'a> {
    /// Cores.
    pub(crate) cores: u32,
    /// The clock of cores and private caches.
    pub(crate) frequency: Frequency,
    /// The clock of LLC and network.
    pub(crate) uncore: Frequency,
    /// L1d misses that a core can have in flight.
    pub(crate) l1_miss_registers: u32,
    pub(crate) l1d: &'a L1d,
    pub(crate) l2: &'a L2,
    pub(crate) llc: &'a Llc,
    pub(crate) noc: &'a Noc,
    pub(crate) numa: Option<&'a Numa>,
}

/// Almost twice the L3 of the largest server (AMD EPYC 9684X: 1152 MiB); its tags still fit in memory. All L1ds
/// together, and all L2s, may have as much.
const MAX_CACHE: Size = Size(2 << 30);

/// Most cycles of a latency: about 25 us, more than any cache or on-chip network takes.
const MAX_LATENCY_CYCLES: u32 = 100_000;

/// Superqueue entries: far more than any L2 has.
const MAX_SUPERQUEUE: u32 = 4096;

/// LLC ways: a way mask is 32 bits wide.
const MAX_WAYS: u32 = 32;

/// A quarter of the reads that can be under way, whose numbers are 16 bits wide: the other lines of a
/// DMA read take a tracker even when none is free.
pub(crate) const MAX_TRACKERS: u32 = 16_384;

impl Hierarchy<'_> {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        let Hierarchy { l1d, l2, llc, noc, .. } = self;
        // Without any latency at all, a device that reads the LLC would read for ever at one point in time.
        for (key, cycles, least) in [
            ("l1d.latency_cycles", l1d.latency_cycles, 0),
            ("l2.latency_cycles", l2.latency_cycles, 0),
            ("llc.latency_cycles", llc.latency_cycles, 1),
            ("noc.latency_cycles", noc.latency_cycles, 0),
        ] {
            check.within(key, cycles, least..=MAX_LATENCY_CYCLES);
        }
        let cores = self.cores.max(1);
        check.below("l1d", |c| check_cache(c, l1d.size, l1d.ways, l1d.replacement, 1, cores));
        check.below("l2", |check| {
            check_cache(check, l2.size, l2.ways, l2.replacement, 1, cores);
            if l2.size < l1d.size {
                let size = l1d.size;
                let allowed =
                    format!("at least machine.l1d.size ({size}), because the L2 includes the L1d");
                check.refuse("size", l2.size, allowed);
            }
            check.within("superqueue", l2.superqueue, 1..=MAX_SUPERQUEUE);
            let registers = self.l1_miss_registers;
            if l2.prefetch != Prefetch::None && l2.superqueue <= registers {
                let allowed = format!(
                    "more than machine.core.l1_miss_registers ({registers}), so that something is \
                     left for machine.l2.prefetch"
                );
                check.refuse("superqueue", l2.superqueue, allowed);
            }
        });
        check.below("llc", |check| self.llc.check(self.cores, check));
        let widths = [8, 16, 32, 64, 128, 256, 512, 1024].map(Size);
        check.below("noc", |check| check.one_of("port_width", self.noc.port_width, &widths));
        if let Some(numa) = self.numa {
            check.below("numa", |check| numa.check(check));
        }
    }
}

impl Llc {
    fn check(&self, cores: u32, check: &mut Check) {
        let slices = match self.index {
            SetIndex::Sliced => self.slices.unwrap_or(cores),
            SetIndex::Modulo | SetIndex::Hashed => 1,
        };
        if let Some(slices) = self.slices {
            check.at_least_one("slices", slices);
        }
        check.within("home_trackers", self.home_trackers, 1..=MAX_TRACKERS);
        check.within("memory_latency", self.memory_latency, Duration(0)..=Duration(1_000_000));
        check_cache(check, self.size, self.ways, self.replacement, slices.max(1), 1);
    }
}

/// The number of slices closest to `given` that divides `sets`, for users whose number of slices is
/// wrong, not their size: the size may be that of a large socket of which 32 cores are simulated.
fn slices_that_fit(sets: u64, given: u32) -> Option<u64> {
    let given = u64::from(given);
    (2..=sets.min(2 * given)).filter(|&n| sets.is_multiple_of(n)).min_by_key(|n| n.abs_diff(given))
}

impl Uncore {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        check.clock("frequency", self.frequency);
    }
}

impl Numa {
    fn check(&self, check: &mut Check) {
        check.within("links", self.links, 1..=8);
        let rates = BitRate(1_000_000_000)..=BitRate(10_000_000_000_000);
        check.within("link_bandwidth", self.link_bandwidth, rates);
        check.within("latency", self.latency, Duration(0)..=Duration(1_000_000));
    }
}

/// Checks one of `copies` equal caches.
fn check_cache(
    check: &mut Check,
    size: Size,
    ways: u32,
    replacement: Replacement,
    slices: u32,
    copies: u32,
) {
    check.within("ways", ways, 1..=MAX_WAYS);
    if ways == 0 {
        return;
    }
    check.that(
        replacement != Replacement::TreePlru || ways.is_power_of_two(),
        "ways",
        ways,
        "a power of two with the replacement tree-plru, whose tree is binary",
    );
    if size.0.saturating_mul(copies.into()) > MAX_CACHE.0 {
        let all =
            if copies > 1 { format!(" for all {copies} cores together") } else { String::new() };
        check.refuse("size", size, format!("at most {MAX_CACHE}{all}"));
        return;
    }
    let row = LINE_BYTES * u64::from(ways) * u64::from(slices);
    if size.0 == 0 || !size.0.is_multiple_of(row) {
        let of = if slices > 1 { format!(" × {slices} slices") } else { String::new() };
        let mut allowed = format!("a multiple of {} ({LINE_BYTES} B × {ways} ways{of})", Size(row));
        let set = LINE_BYTES * u64::from(ways);
        if slices > 1
            && size.0 > 0
            && size.0.is_multiple_of(set)
            && let Some(n) = slices_that_fit(size.0 / set, slices)
        {
            allowed += &format!("; or another machine.llc.slices, such as {n}, which fits");
        }
        check.refuse("size", size, allowed);
    }
}
