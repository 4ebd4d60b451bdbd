//! The machine: what a testbed file in `machines/` describes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::units::{BitRate, Duration, Frequency, Size};
use crate::iommu::config::IommuConfig;
use crate::memory::dram::DramConfig;
use crate::nic::rss::RssConfig;

/// A server: cores, caches, memory and NIC. Every value of a machine file says where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What the machine is, for people.
    pub description: String,
    /// The cores.
    pub core: Core,
    /// The private first-level data cache of each core.
    pub l1d: L1d,
    /// The private second-level cache of each core; it includes the L1d.
    pub l2: L2,
    /// The shared last-level cache.
    pub llc: Llc,
    /// The on-chip network between L2s, LLC and I/O.
    pub noc: Noc,
    /// The memory channels.
    pub dram: DramConfig,
    /// A second socket with memory channels like these, behind a link; absent for one socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// The NIC.
    pub nic: Nic,
    /// The link between NIC and processor; absent for a NIC on the chip.
    #[serde(default)]
    pub pcie: Option<Pcie>,
    /// The IOMMU; absent when it is off and devices use physical addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuConfig>,
}

/// The cores, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// How many (1 to 32).
    pub count: u32,
    /// The core clock, which the caches share.
    pub frequency: Frequency,
    /// Instructions dispatched (and retired) a cycle.
    pub dispatch_width: u32,
    /// Instructions in flight: reorder-buffer entries.
    pub reorder_window: u32,
    /// Line-fill buffers: L1d misses in flight.
    pub l1_miss_registers: u32,
    /// Stores retired or waiting for their line.
    pub store_buffer: u32,
}

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
    /// Which line of a set makes room.
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
    /// Which line of a set makes room.
    #[serde(default)]
    pub replacement: Replacement,
    /// Hardware prefetcher that fills this cache.
    #[serde(default)]
    pub prefetch: Prefetch,
    /// Lines that may be on their way to this cache (the "superqueue"): those that the core waits for, up
    /// to `core.l1_miss_registers`, and in the rest the prefetcher's.
    #[serde(default = "L2::usual_superqueue")]
    pub superqueue: u32,
}

impl L2 {
    /// Levinthal, "Performance Analysis Guide for Intel Core i7 and Xeon 5500" (Intel, 2009). Later ones are
    /// not disclosed.
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
    /// Time from the request's arrival at the slice to the data leaving it, in core cycles.
    pub latency_cycles: u32,
    /// Which line of a set makes room.
    #[serde(default)]
    pub replacement: Replacement,
    /// Relation to the private caches.
    pub inclusion: Inclusion,
    /// What a non-inclusive LLC does with a dirty line of I/O data that a core reads.
    #[serde(default)]
    pub io_lines: IoLines,
    /// How an address finds its set.
    #[serde(default)]
    pub index: SetIndex,
    /// Slices, for [`SetIndex::Sliced`]; the number of cores unless given.
    #[serde(default)]
    pub slices: Option<u32>,
    /// Dirty lines that may wait for room in a memory channel's write queue before the LLC stops
    /// taking requests, per channel.
    pub writeback_buffers: u32,
    /// Reads of memory that the home agents can have under way, for cores, prefetchers and devices
    /// together; while there are so many, the LLC takes no requests. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_trackers: Option<u32>,
    /// Time that a line read from memory takes between memory controller and LLC, beside the latency
    /// of both.
    #[serde(default)]
    pub memory_latency: Duration,
}

/// Which line of a set makes room for a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used.
    #[default]
    Lru,
    /// A binary tree of one bit a node, pointing away from recent use.
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
    /// Every line of a private cache is in the LLC; its eviction there invalidates it everywhere.
    Inclusive,
    /// A victim cache of the L2s: memory fills go to L2 alone, L2 victims go to the LLC, and a hit
    /// moves the line up; for dirty lines of I/O data, see [`IoLines`].
    NonInclusive,
}

/// What a non-inclusive LLC does with a dirty line of I/O data that a core reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IoLines {
    /// It keeps the line, and the core gets a clean copy.
    #[default]
    Stay,
    /// It moves the line up as any other. Later the line returns as a victim of the L2, into any way
    /// (the "DMA bloating" of Alian et al., "IDIO", MICRO 2022).
    Move,
}

/// How an address finds its set in the LLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// Line number modulo the number of sets.
    #[default]
    Modulo,
    /// A hash of the upper address bits spreads lines over the slices, evenly within an aligned
    /// block; the low bits choose the set of the slice.
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
    /// A miss also fetches the line after it.
    NextLine,
    /// Two misses in a row of ascending lines start a stream that runs ahead within the page.
    Stream,
    /// Every second lookup in a row of a higher line of a page, hit or miss, adjacent or not, fetches
    /// two lines, up to 20 lines ahead (Intel optimization manual, "streamer").
    Streamer,
}

/// The on-chip network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Noc {
    /// One way between any two agents, in core cycles.
    pub latency_cycles: u32,
    /// Bytes that the port of a NIC on the chip carries towards the caches in a core cycle. Behind
    /// PCIe the link is narrower than any port.
    #[serde(default = "Noc::a_line")]
    pub port_width: Size,
}

impl Noc {
    /// A cache line in a cycle: an estimate. A machine whose NIC is on the chip should say its own.
    const fn a_line() -> Size {
        Size(64)
    }
}

/// The other socket as a second node of memory. Cores and NIC of the simulation are those of the
/// first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Numa {
    /// Links between the sockets, over which lines are spread evenly.
    pub links: u32,
    /// What a link carries in each direction, headers included.
    pub link_bandwidth: BitRate,
    /// One way between the sockets without queueing: a remote access takes two ways more than a
    /// local one.
    pub latency: Duration,
}

/// The NIC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// Line rate of the link; frames arrive no closer together than it carries them. Absent: the
    /// link is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<BitRate>,
    /// Input SRAM that all receive queues share; a packet that does not fit is dropped.
    pub sram: Size,
    /// Cache lines of DMA writes in flight between NIC and the memory system: the credits of the
    /// I/O controller.
    pub write_credits: u32,
    /// Cache lines of DMA reads in flight.
    pub read_credits: u32,
    /// Receive descriptors fetched at a time into the NIC's own cache of descriptors.
    pub descriptor_batch: u32,
    /// Bytes of a receive or transmit descriptor in its ring.
    pub descriptor_size: Size,
    /// Bytes of a completion.
    pub completion_size: Size,
    /// Completions of received packets that the NIC writes together as one line at most, while it is
    /// busy with further packets (mlx5's CQE compression puts 8 into one).
    #[serde(default = "Nic::one")]
    pub completions_per_write: u32,
    /// Descriptors of a send queue that the NIC reads at a time at most, of those that the driver has rung
    /// for. It reads the next when it has asked for the data of all packets before. Absent: each descriptor
    /// is read together with the data of its packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_descriptor_batch: Option<u32>,
    /// Receive-side scaling.
    #[serde(default)]
    pub rss: RssConfig,
}

impl Nic {
    const fn one() -> u32 {
        1
    }
}

/// The PCIe link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pcie {
    /// Generation, 3 to 5.
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
    /// Largest payload of one TLP.
    pub max_payload: Size,
    /// Largest read request of one TLP.
    pub max_read_request: Size,
    /// One way through link, root port and I/O controller.
    pub latency: Duration,
    /// Posted-header credits of the root port: write TLPs not yet taken by the memory system.
    pub posted_credits: u32,
    /// Read requests that wait for their data: non-posted credits and the NIC's tags, whichever are fewer.
    pub non_posted_credits: u32,
    /// Whether the device allows its writes of packet data to pass its earlier writes that wait for
    /// their translation (the Relaxed Ordering attribute). Completions pass nothing.
    #[serde(default)]
    pub relaxed_ordering: bool,
}
