//! Ideal DDIO: packets land in a separate, infinite cache, so that they never take room in the
//! hierarchy and cause no memory traffic (Sweeper paper, section III). Everything else that the NIC
//! writes is placed as with DDIO.

use super::{Place, Written, ddio};
use crate::memory::caches::Caches;
use crate::memory::line::{Line, LineKind};

pub(super) struct IdealDdio;

impl Place for IdealDdio {
    #[inline]
    fn write(caches: &mut Caches, line: Line, kind: LineKind) -> Written {
        if kind == LineKind::Rx {
            #[cfg(test)]
            caches.shadowed(|shadow| shadow.store(line));
            return Written::Aside;
        }
        ddio::Ddio::write(caches, line, kind)
    }

    #[inline]
    fn keeps_aside(kind: LineKind) -> bool {
        kind == LineKind::Rx
    }
}
