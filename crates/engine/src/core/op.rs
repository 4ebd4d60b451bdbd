//! What software gives a core to execute: a stream of operations from the applications and the driver.
//!
//! The software is *functional first*: an application does its own work (hashes the key, walks the bucket,
//! appends to the log) at once, and emits every memory access that it really makes. The core then executes
//! the stream in time. The stream of one packet is a few hundred operations, in a buffer that is reused.

use crate::memory::line::{Line, LineKind, PAGE_LINES, lines_in};
use crate::nic::pool::Buffer;

/// How an access depends on the data of an earlier load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dep {
    /// Its address depends on no load: it issues as soon as it is dispatched.
    Free,
    /// Its address comes from the last [`Dep::Chain`] load; it issues when that load has returned.
    After,
    /// Like [`Dep::After`], and later accesses then depend on this load: a pointer chase. The first
    /// load of a chain waits for nothing.
    Chain,
}

/// One operation of a core. Eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Instructions that do not touch memory beyond registers and the stack.
    Compute {
        /// How many.
        instructions: u32,
    },
    /// Time in which the core does nothing for the packet and touches no memory: an interrupt, a
    /// page fault, a slow request. It begins when all earlier operations have retired (stores may
    /// still wait for their lines), and nothing later starts before it ends.
    Delay {
        /// How long.
        ns: u32,
    },
    /// The driver has the IOMMU do an invalidation and spins until that is done, on a word in its
    /// cache. It begins when all earlier operations have retired (stores may still wait for their
    /// lines), and nothing later starts before it ends.
    Invalidate,
    /// One load instruction of a line.
    Load {
        /// The line read.
        line: Line,
        /// What the line holds.
        kind: LineKind,
        /// What the address depends on.
        dep: Dep,
    },
    /// One store instruction to a line (the line is owned before it is written).
    Store {
        /// The line written.
        line: Line,
        /// What the line holds.
        kind: LineKind,
        /// What the address depends on.
        dep: Dep,
    },
    /// `clsweep`: the line is invalidated in every cache without write-back.
    Sweep {
        /// The line, which holds no live data any more.
        line: Line,
    },
    /// `clwb`: the line is written back to memory if it is dirty anywhere, and stays cached clean.
    WriteBack {
        /// The line cleaned.
        line: Line,
    },
    /// A point in the program at which the driver acts: see [`Mark`].
    Mark {
        /// What happens.
        mark: Mark,
        /// The packet: an index given by the driver. For a doorbell, how many packets or buffers it
        /// announces; for a buffer that is given back, its number.
        packet: u32,
    },
}

/// A load or a store: the fields that both kinds of [`Op`] have, and which of them it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) dep: Dep,
    pub(super) store: bool,
}

/// Points in the program to which the host model reacts when the core reaches them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The core begins to process the packet.
    Begin,
    /// The application is done with the packet's receive buffer.
    Release,
    /// The application is done with a receive buffer that it has kept; the buffer's number takes the place of
    /// the packet.
    GiveBack,
    /// The response (or the packet itself) is posted to the transmit queue.
    Transmit,
    /// The request is complete: the end of its service time.
    End,
    /// The driver rings the doorbell for packets it has posted for transmission; their number takes
    /// the place of the packet.
    RingTx,
    /// The burst is over: the driver rings the doorbell for the buffers it gives back to the NIC,
    /// as many as the burst used.
    Ring,
}

impl Mark {
    /// Whether it is a store to the NIC, which becomes visible there only after all earlier stores
    /// (Intel 325384, "Memory ordering", 8.2.2).
    pub(super) fn is_doorbell(self) -> bool {
        matches!(self, Mark::RingTx | Mark::Ring)
    }
}

/// A buffer of operations, written by software and executed by one core.
#[derive(Clone, Debug, Default)]
pub struct Ops {
    ops: Vec<Op>,
    sweeper: bool,
}

impl Ops {
    /// An empty buffer for a core with (`sweeper`) or without the `clsweep` instruction.
    pub fn new(sweeper: bool) -> Ops {
        Ops { ops: Vec::new(), sweeper }
    }

    /// `relinquish(buffer, size)` of Sweeper's API (paper, section V-A): the software will not read
    /// these bytes again before the NIC overwrites them. It becomes one `clsweep` per line on a
    /// machine that has the instruction, and nothing on any other.
    pub fn relinquish(&mut self, first: Line, bytes: u32) {
        if self.sweeper {
            let lines = lines_in(u64::from(bytes));
            self.ops.extend((first..first + lines).map(|line| Op::Sweep { line }));
        }
    }

    /// The software is done with a receive buffer that it has kept since an earlier packet.
    pub(crate) fn give_back(&mut self, buffer: Buffer) {
        self.ops.push(Op::Mark { mark: Mark::GiveBack, packet: buffer });
    }

    /// What the operating system does to a 4 KiB page before it gets a new owner: it zeroes every line and,
    /// on a machine with `clsweep`, writes every line back. Otherwise the new owner could sweep the zeroes
    /// and read the old data from memory (Sweeper paper, section V-B, "Correctness and security concerns").
    pub fn recycle_page(&mut self, first: Line) {
        let page = first..first + PAGE_LINES;
        let zero = |line| Op::Store { line, kind: LineKind::App, dep: Dep::Free };
        self.ops.extend(page.clone().map(zero));
        if self.sweeper {
            self.ops.extend(page.map(|line| Op::WriteBack { line }));
        }
    }

    /// `instructions` that touch no memory.
    #[inline]
    pub fn compute(&mut self, instructions: u32) {
        self.ops.push(Op::Compute { instructions });
    }

    /// A load.
    #[inline]
    pub fn load(&mut self, line: Line, kind: LineKind, dep: Dep) {
        self.ops.push(Op::Load { line, kind, dep });
    }

    /// A store.
    #[inline]
    pub fn store(&mut self, line: Line, kind: LineKind, dep: Dep) {
        self.ops.push(Op::Store { line, kind, dep });
    }

    /// Any other operation.
    #[inline]
    pub fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// Several operations in order, at the cost of one.
    #[inline]
    pub fn push_all<const N: usize>(&mut self, ops: [Op; N]) {
        self.ops.extend_from_slice(&ops);
    }

    /// Operations in order; if their number is known beforehand, there is no capacity check for each of them.
    #[inline]
    pub fn extend(&mut self, ops: impl Iterator<Item = Op>) {
        self.ops.extend(ops);
    }

    /// The `i`-th operation, if there are that many.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Op> {
        self.ops.get(i).copied()
    }

    /// Up to `n` operations, from the `i`-th on.
    #[inline]
    pub(crate) fn some(&self, i: usize, n: usize) -> &[Op] {
        let rest = self.ops.get(i..).unwrap_or_default();
        &rest[..n.min(rest.len())]
    }

    /// Removes all operations but keeps the memory.
    pub fn clear(&mut self) {
        self.ops.clear();
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// All operations in order.
    pub fn iter(&self) -> impl Iterator<Item = Op> + '_ {
        self.ops.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_eight_bytes() {
        assert_eq!(size_of::<Op>(), 8);
    }

    #[test]
    fn relinquish_sweeps_every_line_once_where_the_machine_can() {
        let mut ops = Ops::new(true);
        ops.relinquish(100, 65);
        let swept: Vec<Op> = ops.iter().collect();
        assert_eq!(swept, [Op::Sweep { line: 100 }, Op::Sweep { line: 101 }]);
        let mut ops = Ops::new(false);
        ops.relinquish(100, 65);
        assert!(ops.is_empty());
    }
}
