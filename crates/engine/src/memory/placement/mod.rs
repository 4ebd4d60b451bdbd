//! Where DMA writes of the NIC go: one small file per policy.
//!
//! The worked example of ARCHITECTURE.md adds one, step by step.

pub mod config;
mod ddio;
mod ddio_headers;
mod ddio_l2;
mod dma;
mod ideal_ddio;

use self::config::{Placement, Policy};
use super::caches::Caches;
use super::line::{Line, LineKind};

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
    /// Packets of its queue that it can see or has taken, and has not begun, when this write reaches memory. Packets
    /// that are still being written do not count. It can differ between the lines of a packet.
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
/// A policy has its keys in [`Placement`], and may keep a state from write to write. It sees the caches with the states
/// of their lines, `io_ways`, and what [`DmaWrite`] has. It does not see whether a core has read a line: with
/// `llc.io_lines = "stay"` the line remains dirty and marked as written by I/O.
pub(crate) trait Place {
    fn new(config: &Placement) -> Self;

    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written;

    fn keeps_aside(_kind: LineKind) -> bool {
        false
    }
}

macro_rules! policies {
    ($($name:ident => $policy:ty),* $(,)?) => {
        impl Policy {
            #[inline]
            pub(crate) fn keeps_aside(self, kind: LineKind) -> bool {
                match self {
                    $(Policy::$name => <$policy as Place>::keeps_aside(kind),)*
                }
            }
        }

        /// The policy in force, with its state.
        #[derive(Clone, Debug)]
        pub(crate) enum Placer {
            $($name($policy),)*
        }

        impl Placer {
            /// Conventional DMA, which has no keys.
            pub(crate) const DMA: Placer = Placer::Dma(dma::Dma);

            pub(crate) fn new(config: &Placement) -> Placer {
                match config.policy {
                    $(Policy::$name => Placer::$name(<$policy as Place>::new(config)),)*
                }
            }

            #[inline]
            pub(crate) fn keeps_aside(&self, kind: LineKind) -> bool {
                match self {
                    $(Placer::$name(_) => <$policy as Place>::keeps_aside(kind),)*
                }
            }

            #[inline]
            pub(crate) fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
                // From here on the newest value of the line is that of the device.
                #[cfg(test)]
                caches.shadowed(|shadow| shadow.store(write.line));
                match self {
                    $(Placer::$name(policy) => policy.write(caches, write),)*
                }
            }
        }
    };
}

policies! {
    Dma => dma::Dma,
    Ddio => ddio::Ddio,
    DdioHeaders => ddio_headers::DdioHeaders,
    DdioL2 => ddio_l2::DdioL2,
    IdealDdio => ideal_ddio::IdealDdio,
}
