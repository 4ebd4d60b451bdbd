//! An oracle of data: what value each line has for a reader, and what value memory holds.
//!
//! The model moves no data, only the right to have the newest. The shadow attaches a value to every
//! store, so that tests can ask what a reader would really see. This shows the leak that `clsweep`
//! opens, and the rule that closes it.

use super::line::Line;

/// Values of a range of lines.
#[derive(Clone, Debug)]
pub(crate) struct Shadow {
    /// The value that a coherent reader sees.
    newest: Vec<u64>,
    /// The value in memory.
    memory: Vec<u64>,
    /// The value that the next store writes.
    pub(crate) writing: u64,
    /// Lines written to memory.
    pub(crate) write_backs: u64,
}

impl Shadow {
    /// All lines below `lines`, all zero.
    pub(crate) fn new(lines: usize) -> Shadow {
        Shadow { newest: vec![0; lines], memory: vec![0; lines], writing: 0, write_backs: 0 }
    }

    /// A store, or a DMA write.
    pub(crate) fn store(&mut self, line: Line) {
        self.newest[line as usize] = self.writing;
    }

    /// The newest data goes to memory.
    pub(crate) fn write_back(&mut self, line: Line) {
        self.memory[line as usize] = self.newest[line as usize];
        self.write_backs += 1;
    }

    /// Every cached copy is gone without a write-back: memory's value is the newest again.
    pub(crate) fn drop_cached(&mut self, line: Line) {
        self.newest[line as usize] = self.memory[line as usize];
    }

    /// What a reader sees.
    pub(crate) fn read(&self, line: Line) -> u64 {
        self.newest[line as usize]
    }

    /// What memory holds.
    pub(crate) fn in_memory(&self, line: Line) -> u64 {
        self.memory[line as usize]
    }
}
