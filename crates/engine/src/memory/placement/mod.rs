//! Where DMA writes of the NIC go: one small file per policy.
//!
//! The worked example of ARCHITECTURE.md adds one, step by step.

mod ddio;
pub mod ddio_headers;
pub mod ddio_l2;
mod dma;
mod ideal_ddio;
pub mod registry;

pub(crate) use self::registry::Placer;
use super::caches::Caches;
use super::line::{Line, LineKind};
use crate::check::Check;

/// A DMA write of one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DmaWrite {
    pub(crate) line: Line,
    pub(crate) kind: LineKind,
    /// Position of the line in its packet, from 0; 0 for completions, any for the DMA benchmark.
    pub(crate) index: u32,
    /// Who reads it; nobody reads what the DMA benchmark writes.
    pub(crate) reader: Option<Reader>,
}

/// The core that reads what a DMA write brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) core: u16,
    /// Packets of its queue that it can see or has taken, and has not begun, when this write reaches
    /// memory. Packets that are still being written do not count. It can differ between the lines of a
    /// packet. No hardware knows this number: it learns from doorbells alone, and later, which packets have
    /// been taken.
    pub(crate) waiting: u32,
}

impl DmaWrite {
    /// The writes of `lines` consecutive lines of which this is the first.
    pub(crate) fn burst(self, lines: u32) -> impl Iterator<Item = DmaWrite> {
        (0..lines).map(move |i| DmaWrite { line: self.line + i, index: self.index + i, ..self })
    }
}

/// Where a DMA write of one line ended up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// In the LLC, which held the line.
    Hit,
    /// In the I/O ways; a core's cache held the line, and the LLC did not.
    Moved,
    /// In the I/O ways; no cache held the line.
    Miss,
    /// On its way to memory.
    Memory,
    /// In a separate store that takes part in nothing else.
    Aside,
}

/// A placement policy.
///
/// Contract: `write` is called when a whole line of DMA data reaches the memory system, in order of time. It makes every
/// older copy invisible, leaves the new data in exactly one place (or in the LLC and, clean, in a core's L2), and leaves
/// lines that have to go to memory in `caches.writebacks`. `keeps_aside` says whether a core's access to a line of this
/// kind is served outside the hierarchy, at the latency of the LLC. No older copy goes to memory: not even one
/// that is dirty.
///
/// Lines in the memory of the other socket are not the policy's to place: DMA data reaches only the LLC of
/// the socket whose memory holds its line, so the memory system writes such a line with `dma`, unless the
/// policy in force keeps lines of its kind aside. `write` may rely on the line being local, or its kind
/// being kept aside.
///
/// Into a core's L2 it puts only data that the core cannot see yet, as that of packets before their completion: a core
/// whose access waits for a miss register does not look up again whether the line has come unrequested.
///
/// A policy may keep a state from write to write. It sees the caches with the states of their lines,
/// `io_ways`, and what [`DmaWrite`] has. It does not see whether a core has read a line: with
/// `llc.io_lines = "stay"` the line remains dirty and marked as written by I/O. Nor is it told when a line
/// that it has placed leaves the LLC, or an L2, as a victim. When it is called, it can look up whether the
/// line is still there.
pub(crate) trait Place {
    /// What only this policy reads, to decide about packets: a table of `placement`, or `()`.
    type Keys;

    /// Reports keys that cannot be simulated.
    fn check(_keys: &Self::Keys, _check: &mut Check) {}

    fn new(keys: &Self::Keys) -> Self;

    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written;

    fn keeps_aside(_kind: LineKind) -> bool {
        false
    }
}
