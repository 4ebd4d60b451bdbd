//! Conventional DMA: to memory, and every cached copy is invalidated (Sweeper paper, section II-A).

use super::{DmaWrite, Place, Written};
use crate::memory::caches::Caches;
use crate::memory::traffic::{Agent, Cause};

#[derive(Clone, Debug)]
pub(crate) struct Dma;

impl Place for Dma {
    type Keys = ();

    fn new((): &()) -> Dma {
        Dma
    }

    #[inline]
    fn write(&mut self, caches: &mut Caches, write: DmaWrite) -> Written {
        let DmaWrite { line, kind, .. } = write;
        caches.invalidate(line);
        caches.write_to_memory(line, Cause::new(Agent::NicWrite, kind));
        Written::Memory
    }
}
