//! What the NIC does to the cache hierarchy: DMA reads, and the effects DMA writes share.

use super::caches::Caches;
use super::directory::Entry;
use super::line::Line;

impl Caches {
    /// A DMA read of one line: whether a cache serves it. A read that misses allocates nothing.
    #[inline]
    pub(crate) fn io_read(&mut self, line: Line) -> bool {
        let home = self.home(line);
        if self.llc.lookup(home).is_some() {
            return true;
        }
        let known = self.directory.find(home).map(|known| known.1.entry());
        matches!(known, Some(Entry::Held(_)))
    }

    /// Removes every copy of a line; dirty data is lost.
    #[inline]
    pub(crate) fn invalidate(&mut self, line: Line) {
        let home = self.home(line);
        self.invalidate_private(home);
        if let Some(slot) = self.llc.find(home) {
            self.llc.remove(slot);
        }
    }
}
