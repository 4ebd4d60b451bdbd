//! What a core does, as the applications and the driver tell it: a stream of operations.
//!
//! The software is *functional first*: an application computes what it would compute (hash the key,
//! walk the bucket, append to the log) at once, and emits every memory access it really makes. The
//! core then executes the stream in time. The stream of one packet is a few hundred operations in a
//! buffer that is reused.

use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};

/// How an access depends on data that an earlier load brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dep {
    /// Its address is known without any load: it issues as soon as it is dispatched.
    Free,
    /// Its address comes from the last [`Dep::Chain`] load, and it issues when that has returned.
    After,
    /// Like [`Dep::After`], and it becomes the load that later accesses depend on: a pointer chase.
    /// The first of a chain waits for nothing.
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
        /// The line that holds no live data any more.
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
        /// The packet it happens to: an index the driver gave; of a doorbell, how much it brings.
        packet: u32,
    },
}

/// A load or store: what both are of an [`Op`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) dep: Dep,
    pub(super) store: bool,
}

/// Points of the program that the model of the host reacts to when the core reaches them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The core begins to process the packet.
    Begin,
    /// The application is done with the packet's receive buffer.
    Release,
    /// The response (or the packet itself) is posted to the transmit queue.
    Transmit,
    /// The request is complete: the end of its service time.
    End,
    /// The driver rings for packets that it has posted to be sent: so many, in the place of a packet.
    RingTx,
    /// The burst is over: the driver rings for the buffers it gives back to the NIC, as many as it has used.
    Ring,
}

impl Mark {
    /// Whether it is a store to the NIC, which is visible there behind all stores before it (Intel 325384,
    /// "Memory ordering", 8.2.2).
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
    /// these bytes again before the NIC overwrites them. Compiled into one `clsweep` a line where
    /// the machine has it, and into nothing where it has not.
    pub fn relinquish(&mut self, first: Line, bytes: u32) {
        if self.sweeper {
            let lines = lines_in(u64::from(bytes));
            self.ops.extend((first..first + lines).map(|line| Op::Sweep { line }));
        }
    }

    /// What the operating system does to a page of 4 KiB before it has a new owner: it zeroes every
    /// line, and, on a machine with `clsweep`, writes every line back. Without that the new owner
    /// could sweep the zeroes and read the old data from memory (Sweeper paper, section V-B,
    /// "Correctness and security concerns").
    pub fn recycle_page(&mut self, first: Line) {
        const PAGE: u32 = (4096 / LINE_BYTES) as u32;
        let page = first..first + PAGE;
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

    /// Operations in order; a number of them that is known beforehand costs no check of each.
    #[inline]
    pub fn extend(&mut self, ops: impl Iterator<Item = Op>) {
        self.ops.extend(ops);
    }

    /// The `i`-th operation, if there are that many.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Op> {
        self.ops.get(i).copied()
    }

    /// At most `n` operations from the `i`-th on.
    #[inline]
    pub(crate) fn some(&self, i: usize, n: usize) -> &[Op] {
        let rest = self.ops.get(i..).unwrap_or_default();
        &rest[..n.min(rest.len())]
    }

    /// Forgets all operations and keeps the memory.
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
