//! Where DMA writes of the NIC go: one small file a policy.
//!
//! ARCHITECTURE.md adds one, step by step, as its worked example.

pub mod config;
mod ddio;
mod dma;
mod ideal_ddio;

use self::config::Policy;
use super::caches::Caches;
use super::line::{Line, LineKind};

/// Where a DMA write of one line ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// Where the LLC held the line.
    Hit,
    /// In the I/O ways; a core's cache held the line, and the LLC did not.
    Moved,
    /// In the I/O ways; no cache held the line.
    Miss,
    /// On its way to memory.
    Memory,
    /// In a store of its own that takes part in nothing else.
    Aside,
}

/// A placement policy.
///
/// Contract: `write` is called when a whole line of DMA data reaches the memory system. It makes
/// every older copy invisible, leaves the new data in exactly one place, and leaves lines that have
/// to go to memory in `caches.writebacks`. `keeps_aside` says whether a core's access to a line of
/// this kind is served outside the hierarchy, at the latency of the LLC. For the tests, which remember
/// what each copy holds, it calls `caches.shadowed(|shadow| shadow.store(line))` once, with older copies
/// gone and nothing evicted yet; a policy that calls another one leaves that to it.
///
/// What a policy sees: the caches with the states of their lines, the kind of the line, and `io_ways`. It
/// sees no queue, ring or time, and has neither state nor keys of its own. Nor does a line tell whether a
/// core has read it: with `llc.io_lines = "stay"` it remains dirty and the NIC's.
pub(crate) trait Place {
    fn write(caches: &mut Caches, line: Line, kind: LineKind) -> Written;

    fn keeps_aside(_kind: LineKind) -> bool {
        false
    }
}

macro_rules! policies {
    ($($name:ident => $policy:ty),* $(,)?) => {
        impl Policy {
            #[inline]
            pub(crate) fn write(self, caches: &mut Caches, line: Line, kind: LineKind) -> Written {
                match self {
                    $(Policy::$name => <$policy as Place>::write(caches, line, kind),)*
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
    IdealDdio => ideal_ddio::IdealDdio,
}
