//! Where DMA writes of the NIC go: one small file per policy.
//!
//! The worked example of ARCHITECTURE.md adds one, step by step.

pub mod config;
mod ddio;
mod ddio_headers;
mod dma;
mod ideal_ddio;

use self::config::Policy;
use super::caches::Caches;
use super::line::{Line, LineKind};

/// A DMA write of one line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DmaWrite {
    pub(crate) line: Line,
    pub(crate) kind: LineKind,
    /// Position of the line in its packet, from 0; 0 for completions, any for the DMA benchmark.
    pub(crate) index: u32,
}

impl DmaWrite {
    /// The writes of `lines` consecutive lines of which this is the first.
    pub(crate) fn burst(self, lines: u32) -> impl Iterator<Item = DmaWrite> {
        let DmaWrite { line, kind, index } = self;
        (0..lines).map(move |i| DmaWrite { line: line + i, kind, index: index + i })
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
/// Contract: `write` is called when a whole line of DMA data reaches the memory system. It makes every
/// older copy invisible, leaves the new data in exactly one place, and leaves lines that have to go to
/// memory in `caches.writebacks`. `keeps_aside` says whether a core's access to a line of this kind is
/// served outside the hierarchy, at the latency of the LLC. No older copy goes to memory: not even one
/// that is dirty.
///
/// Lines in the memory of the other socket are not the policy's to place: DMA data reaches only the LLC of
/// the socket whose memory holds its line, so the memory system writes such a line with `dma`, unless the
/// policy in force keeps lines of its kind aside. `write` may rely on the line being local, or its kind
/// being kept aside.
///
/// A policy sees the caches with the states of their lines, the kind of the line and its position in the
/// packet, and `io_ways`. It sees no queue, ring or time, and has neither state nor keys of its own. Nor can it see whether a
/// core has read a line: with `llc.io_lines = "stay"` the line remains dirty and marked as written by
/// I/O.
pub(crate) trait Place {
    fn write(caches: &mut Caches, write: DmaWrite) -> Written;

    fn keeps_aside(_kind: LineKind) -> bool {
        false
    }
}

macro_rules! policies {
    ($($name:ident => $policy:ty),* $(,)?) => {
        impl Policy {
            #[inline]
            pub(crate) fn write(self, caches: &mut Caches, write: DmaWrite) -> Written {
                // From here on the newest value of the line is that of the device.
                #[cfg(test)]
                caches.shadowed(|shadow| shadow.store(write.line));
                match self {
                    $(Policy::$name => <$policy as Place>::write(caches, write),)*
                }
            }

            #[inline]
            pub(crate) fn keeps_aside(self, kind: LineKind) -> bool {
                match self {
                    $(Policy::$name => <$policy as Place>::keeps_aside(kind),)*
                }
            }
        }
    };
}

policies! {
    Dma => dma::Dma,
    Ddio => ddio::Ddio,
    DdioHeaders => ddio_headers::DdioHeaders,
    IdealDdio => ideal_ddio::IdealDdio,
}
