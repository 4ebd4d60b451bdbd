//! Sweeper (paper, section V): invalidation without write-back, what makes it safe, and the
//! detection of software that reads what it has swept.

use super::caches::{Caches, bits};
use super::line::Line;
use super::traffic::{Agent, Cause};

impl Caches {
    /// `clsweep`: the sweep message passes L1d, L2 and LLC and invalidates every copy; dirty data
    /// is dropped (section V-B).
    #[inline]
    pub(crate) fn sweep(&mut self, line: Line) {
        self.invalidate(line);
        if let Some(shadow) = &mut self.shadow {
            shadow.drop_cached(line);
        }
    }

    /// `clwb`: dirty data goes to memory, and the copies stay, clean. The operating system must do
    /// this to every line of a page it has zeroed before a process that may sweep owns the page
    /// (section V-B, "Correctness and security concerns").
    pub(crate) fn write_back(&mut self, line: Line) {
        let home = self.home(line);
        let mut dirty_kind = None;
        if let Some(handle) = self.directory.find(home) {
            for core in bits(self.directory.entry(handle).sharers) {
                if let Some(state) = self.cores[core].state(line).filter(|s| s.dirty()) {
                    self.cores[core].set_state(line, state.with_dirty(false));
                    dirty_kind = Some(state.kind());
                }
            }
        }
        if let Some(slot) = self.llc.find(home) {
            let state = self.llc.state(slot);
            if state.dirty() {
                self.llc.set_state(slot, state.with_dirty(false));
                dirty_kind = Some(state.kind());
            }
        }
        if let Some(kind) = dirty_kind {
            self.write_to_memory(line, Cause::new(Agent::Clean, kind));
        }
    }
}

/// Lines that were swept and not written since: reading one is a bug of the application, like a
/// read after `free()`.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    bits: Vec<u64>,
    /// Reads of swept lines seen.
    pub(crate) reads: u64,
}

impl Swept {
    /// For all lines below `lines`.
    pub(crate) fn new(lines: usize) -> Swept {
        Swept { bits: vec![0; lines.div_ceil(64)], reads: 0 }
    }

    #[inline]
    pub(crate) fn sweep(&mut self, line: Line) {
        self.bits[line as usize / 64] |= 1 << (line % 64);
    }

    /// The line has new data.
    #[inline]
    pub(crate) fn written(&mut self, line: Line) {
        self.bits[line as usize / 64] &= !(1 << (line % 64));
    }

    /// The line is read from memory: its data is stale if it was swept.
    #[inline]
    pub(crate) fn read(&mut self, line: Line) {
        self.reads += self.bits[line as usize / 64] >> (line % 64) & 1;
    }
}
