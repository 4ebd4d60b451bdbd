//! DMA reads: who serves them.

use super::caches::{Caches, Served};
use super::config::Inclusion;
use super::directory::Entry;
use super::line::Line;

impl Caches {
    /// Who serves a DMA read of one line: the LLC, a core or memory. The read changes no copy, and
    /// allocates nothing if it misses.
    #[inline]
    pub(crate) fn io_read(&mut self, line: Line) -> Served {
        let home = self.home(line);
        let in_llc = self.llc.lookup(home).is_some();
        if in_llc && self.inclusion == Inclusion::NonInclusive {
            // No core can have changed the line since it entered the LLC.
            return Served::Llc;
        }
        match self.directory.find(home).map(|known| known.1.entry()) {
            Some(Entry::Held(sharers)) if !in_llc || self.is_owned(line, sharers) => {
                Served::Forward
            }
            _ if in_llc => Served::Llc,
            _ => Served::Memory,
        }
    }
}
