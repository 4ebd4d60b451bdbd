//! DDIO: update in place where the LLC holds the line in any way, else allocate in the I/O ways
//! without reading memory (Sweeper paper, section II-A; `IIO_LLC_WAYS` in the reference facts).

use super::{Place, Written};
use crate::memory::caches::Caches;
use crate::memory::line::{Line, LineKind};
use crate::memory::tags::State;

pub(super) struct Ddio;

impl Place for Ddio {
    #[inline]
    fn write(caches: &mut Caches, line: Line, kind: LineKind) -> Written {
        let home = caches.home(line);
        caches.invalidate_private(home);
        #[cfg(test)]
        caches.shadowed(|shadow| shadow.store(line));
        let state = State::written_by_io(kind);
        if let Some(slot) = caches.llc.lookup(home) {
            caches.llc.set_state(slot, state);
            return Written::LlcHit;
        }
        if let Some(victim) = caches.llc.insert(home, state, caches.io_ways) {
            caches.evict(home, victim);
        }
        Written::LlcMiss
    }
}
