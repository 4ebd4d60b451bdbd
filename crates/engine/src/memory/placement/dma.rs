//! Conventional DMA: to memory, and every cached copy is invalidated (Sweeper paper, section II-A).

use super::{Place, Written};
use crate::memory::caches::Caches;
use crate::memory::line::{Line, LineKind};
use crate::memory::traffic::{Agent, Cause};

pub(super) struct Dma;

impl Place for Dma {
    #[inline]
    fn write(caches: &mut Caches, line: Line, kind: LineKind) -> Written {
        caches.invalidate(line);
        #[cfg(test)]
        caches.shadowed(|shadow| shadow.store(line));
        caches.write_to_memory(line, Cause::new(Agent::NicWrite, kind));
        Written::Memory
    }
}
