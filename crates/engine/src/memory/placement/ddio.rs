//! DDIO: update in place where the LLC holds the line in any way, else allocate in the I/O ways without
//! reading memory (Sweeper paper, section II-A). A Xeon keeps the mask of these ways in MSR 0xC8B,
//! `IIO_LLC_WAYS`: the register that the public ddio-bench repository writes.
//!
//! A line that only private caches hold moves to the I/O ways, and the write counts as a hit: the
//! slice's lookup covers its tags and its snoop filter, and no memory is involved. The public
//! ddio-bench data agree: with all 11 ways 100 % of the writes hit, although the core has modified the
//! first line of every packet and so holds the only copy.

use super::{DmaWrite, Place, Written};
use crate::memory::caches::Caches;
use crate::memory::tags::State;

#[derive(Clone, Debug)]
pub(crate) struct Ddio;

impl Place for Ddio {
    type Keys = ();

    fn new((): &()) -> Ddio {
        Ddio
    }

    #[inline(always)]
    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
        let DmaWrite { line, kind, .. } = write;
        let home = caches.home(line);
        let private = caches.invalidate_private(home);
        let state = State::written_by_io(kind);
        if let Some(slot) = caches.llc.lookup(home) {
            caches.llc.set_state(slot, state);
            return Written::Hit;
        }
        if let Some(victim) = caches.llc.insert(home, state, caches.io_ways) {
            caches.evict(home, victim);
        }
        if private { Written::Moved } else { Written::Miss }
    }
}
