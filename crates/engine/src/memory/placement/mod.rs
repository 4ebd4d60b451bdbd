//! Where DMA writes of the NIC go: one small file a policy.
//!
//! To add a policy: write its file, which implements [`Place`], and add its line to `policies!`.

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
    /// In the LLC; a cache held the line.
    Hit,
    /// In the LLC; no cache held the line.
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
/// this kind is served outside the hierarchy, at the latency of the LLC.
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
