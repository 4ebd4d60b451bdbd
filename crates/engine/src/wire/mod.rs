//! What arrives: packets, their times, sizes and flows.
//!
//! [`config::TrafficConfig`] says what is sent; its `build` makes a [`Source`] of it, and the
//! [`FlowTable`] that its packets point into. Times are integer picoseconds; the mean rate is exact
//! because what rounding cuts off is carried into the next gap.

pub mod config;

mod arrivals;
mod bursts;
mod capture;
mod capture_error;
mod check;
mod constant;
mod draw;
mod flow;
mod headers;
pub(crate) mod line_rate;
mod pace;
mod parse;
mod pcap;
mod pcapng;
mod poisson;
mod replay;
mod source;

pub use arrivals::Arrivals;
pub use bursts::Bursts;
pub use capture::{Capture, CapturedPacket};
pub use capture_error::CaptureError;
pub use check::TrafficError;
pub use constant::Constant;
pub use draw::Draw;
pub use flow::{FiveTuple, Flow, FlowTable};
pub use poisson::Poisson;
pub use replay::Replay;
pub use source::Source;

use crate::time::Ps;

/// The largest frame in bytes, synthetic or captured: libpcap's `MAXIMUM_SNAPLEN`, above every
/// jumbo frame and every segment that offloads hand over in one piece.
pub const MAX_FRAME_BYTES: u32 = 262_144;

/// The smallest Ethernet frame on the wire without its FCS, in bytes (IEEE 802.3 minFrameSize, 64
/// with FCS). A shorter one is padded by its sender.
pub const MIN_FRAME_BYTES: u32 = 60;

/// Preamble and start delimiter (8), FCS (4) and inter-packet gap (12), in bytes (IEEE 802.3): what
/// a frame occupies on the wire beyond what lands in the buffer.
pub const WIRE_OVERHEAD_BYTES: u32 = 24;

/// One packet reaching the NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When its last bit is in the NIC.
    pub at: Ps,
    /// The frame as it lands in the buffer: without preamble, FCS and inter-packet gap.
    pub bytes: u32,
    /// Index into the [`FlowTable`].
    pub flow: u32,
}

/// The bits that a frame of `bytes` occupies on the wire, gap included.
pub(crate) fn wire_bits(bytes: u32) -> u64 {
    u64::from(bytes + WIRE_OVERHEAD_BYTES) * 8
}
