//! An Ethernet frame, and what it occupies on the wire.

use crate::units::BitRate;

/// The largest frame in bytes, synthetic or captured: libpcap's `MAXIMUM_SNAPLEN`, larger than any
/// jumbo frame and any segment that offloads hand over in one piece.
pub const MAX_FRAME_BYTES: u32 = 262_144;

/// The smallest Ethernet frame on the wire without its FCS, in bytes (IEEE 802.3 minFrameSize, 64
/// with FCS). A shorter one is padded by its sender.
pub const MIN_FRAME_BYTES: u32 = 60;

/// Preamble and start delimiter (8), FCS (4) and inter-packet gap (12), in bytes (IEEE 802.3): what
/// a frame occupies on the wire beyond what lands in the buffer.
pub const WIRE_OVERHEAD_BYTES: u32 = 24;

/// The fastest link: the smallest frame takes a picosecond, the resolution of the clock.
pub(crate) const MAX_LINK: BitRate = BitRate(600_000_000_000_000);

/// The bits that a frame of `bytes` occupies on the wire, gap included.
pub(crate) fn wire_bits(bytes: u32) -> u64 {
    u64::from(bytes + WIRE_OVERHEAD_BYTES) * 8
}
