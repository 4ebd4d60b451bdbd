//! Ideal DDIO: packets land in a separate, infinite cache, so that they never take room in the
//! hierarchy and cause no memory traffic (Sweeper paper, section III). Everything else that the NIC
//! writes is placed as with DDIO.

use super::ddio::Ddio;
use super::{DmaWrite, Place, Written};
use crate::memory::caches::Caches;
use crate::memory::line::LineKind;

#[derive(Clone, Debug)]
pub(crate) struct IdealDdio;

impl Place for IdealDdio {
    type Keys = ();

    fn new((): &()) -> IdealDdio {
        IdealDdio
    }

    #[inline]
    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
        if Self::keeps_aside(write.kind) {
            return Written::Aside;
        }
        Ddio.write(caches, write)
    }

    #[inline]
    fn keeps_aside(kind: LineKind) -> bool {
        kind == LineKind::Rx
    }
}
