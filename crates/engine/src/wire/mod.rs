//! The traffic that arrives: packets with their times, sizes and flows.
//!
//! [`config::TrafficConfig`] describes the traffic; its `build` turns it into a [`Source`] and the
//! [`FlowTable`] that the packets index. Times are integer picoseconds; the mean rate is exact
//! because the remainder of rounding is carried into the next gap.

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
pub(crate) mod rate;
mod replay;
mod source;

pub use arrivals::Arrivals;
pub use bursts::Bursts;
pub use capture::{Capture, CapturedPacket};
pub use capture_error::CaptureError;
pub use constant::Constant;
pub use draw::Draw;
pub use flow::{FiveTuple, Flow, FlowTable};
pub use poisson::Poisson;
pub use replay::Replay;
pub use source::Source;

pub use crate::frame::{MAX_FRAME_BYTES, MIN_FRAME_BYTES, WIRE_OVERHEAD_BYTES};
use crate::time::Ps;

/// One packet reaching the NIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When its last bit arrives at the NIC.
    pub at: Ps,
    /// The frame as it lands in the buffer: without preamble, FCS and inter-packet gap.
    pub bytes: u32,
    /// Index into the [`FlowTable`].
    pub flow: u32,
}
