//! Cache lines and what they hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes in a cache line.
pub const LINE_BYTES: u64 = 64;

/// Lines of a page of 4 KiB.
pub(crate) const PAGE_LINES: Line = 4096 / LINE_BYTES as Line;

/// The number of a cache line: a physical address divided by [`LINE_BYTES`]. 32 bits cover 256 GiB and
/// keep the tag arrays of the caches compact. The top bit is the node in whose memory the line lies.
pub type Line = u32;

/// A node of memory, as the cores and the NIC see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryNode {
    /// The channels of the socket that the cores and the NIC are on.
    #[default]
    Local = 0,
    /// The channels of the other socket, which `machine.numa` describes.
    Remote = 1,
}

/// The bit of a line's number that says which node the line is on.
pub(super) const NODE_SHIFT: u32 = 31;

/// The node of a line: 0 is that of the cores and the NIC, 1 the other socket.
#[inline]
pub const fn node_of(line: Line) -> usize {
    (line >> NODE_SHIFT) as usize
}

/// Lines over a span as GB/s (bytes per nanosecond).
pub(crate) fn gbytes_per_s(lines: u64, span_ns: f64) -> f64 {
    (lines * LINE_BYTES) as f64 / span_ns
}

/// What the software keeps in a line. The kind decides to which cause its memory traffic is attributed;
/// caches never look at it. A NIC knows what it writes, so placement may depend on the kind.
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
    /// What a device's DMA benchmark reads and writes.
    Bench = 5,
}

impl LineKind {
    /// How many kinds there are.
    pub const COUNT: usize = 6;
    /// All kinds, in the order of their numbers.
    pub const ALL: [LineKind; Self::COUNT] = [
        LineKind::Rx,
        LineKind::Tx,
        LineKind::Descriptor,
        LineKind::Mbuf,
        LineKind::App,
        LineKind::Bench,
    ];

    /// The name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            LineKind::Rx => "rx",
            LineKind::Tx => "tx",
            LineKind::Descriptor => "descriptor",
            LineKind::Mbuf => "mbuf",
            LineKind::App => "app",
            LineKind::Bench => "bench",
        }
    }
}

/// The number of lines that `bytes` starting at a line boundary cover.
pub const fn lines_in(bytes: u64) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}
