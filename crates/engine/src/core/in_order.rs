//! A queue whose entries complete in any order and leave in the order they came: the reorder window
//! and the store buffer.

use super::ask::Ask;

/// A completion that is not known yet.
pub(super) const PENDING: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Number of the instruction.
    instruction: u64,
    /// Slot in which it completes, or [`PENDING`]; once `known` has passed it, the slot in which it
    /// leaves, which is not before its elders.
    ready: u64,
    /// What it asks of the machine when it leaves.
    ask: Option<Ask>,
}

/// The queue. Indices count up without end; an entry keeps its index.
#[derive(Clone, Debug)]
pub(super) struct InOrder {
    ring: Vec<Entry>,
    head: u64,
    known: u64,
    tail: u64,
    last_ready: u64,
}

impl InOrder {
    /// A queue for at most `capacity` entries, rounded up to a power of two.
    pub(super) fn new(capacity: usize) -> InOrder {
        let empty = Entry { instruction: 0, ready: 0, ask: None };
        InOrder {
            ring: vec![empty; capacity.next_power_of_two()],
            head: 0,
            known: 0,
            tail: 0,
            last_ready: 0,
        }
    }

    #[inline]
    fn at(&mut self, index: u64) -> &mut Entry {
        let mask = self.ring.len() - 1;
        &mut self.ring[index as usize & mask]
    }

    /// Drops entries that have left by `slot`.
    #[inline]
    pub(super) fn leave_until(&mut self, slot: u64) {
        while self.head < self.known && self.at(self.head).ready <= slot {
            self.head += 1;
        }
    }

    /// Drops the oldest entry.
    #[inline]
    pub(super) fn drop_oldest(&mut self) {
        debug_assert!(self.head < self.known);
        self.head += 1;
    }

    pub(super) fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() == self.ring.len()
    }

    /// Instruction number of the oldest entry and the slot in which it leaves, if there is one.
    #[inline]
    pub(super) fn oldest(&mut self) -> Option<(u64, u64)> {
        if self.head == self.tail {
            return None;
        }
        let known = self.head < self.known;
        let e = self.at(self.head);
        Some((e.instruction, if known { e.ready } else { PENDING }))
    }

    /// Adds an entry and returns its index.
    #[inline]
    pub(super) fn push(&mut self, instruction: u64, ready: u64, ask: Option<Ask>) -> u64 {
        debug_assert!(!self.is_full());
        let index = self.tail;
        *self.at(index) = Entry { instruction, ready, ask };
        self.tail += 1;
        index
    }

    /// An entry's completion becomes known.
    #[inline]
    pub(super) fn complete(&mut self, index: u64, ready: u64) {
        debug_assert!(self.known <= index && index < self.tail);
        self.at(index).ready = ready;
    }

    /// Advances over entries whose completion is known, and hands what they ask of the machine to
    /// `reach`, with the slot in which they leave.
    #[inline]
    pub(super) fn settle(&mut self, mut reach: impl FnMut(Ask, u64)) {
        while self.known < self.tail {
            let last = self.last_ready;
            let e = self.at(self.known);
            if e.ready == PENDING {
                break;
            }
            e.ready = e.ready.max(last);
            let (ready, ask) = (e.ready, e.ask);
            self.last_ready = ready;
            self.known += 1;
            if let Some(ask) = ask {
                reach(ask, ready);
            }
        }
    }

    /// Whether everything in it has a known completion.
    pub(super) fn is_settled(&self) -> bool {
        self.known == self.tail
    }

    /// The slot in which the last settled entry leaves.
    pub(super) fn last_ready(&self) -> u64 {
        self.last_ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::op::Mark;

    #[test]
    fn entries_leave_in_order_whatever_completes_first() {
        let mut q = InOrder::new(4);
        let a = q.push(0, PENDING, None);
        q.push(1, 5, Some(Ask::Mark(Mark::End, 7)));
        let mut reached = Vec::new();
        q.settle(|ask, s| reached.push((ask, s)));
        assert!(reached.is_empty());
        assert_eq!(q.oldest(), Some((0, PENDING)));
        q.complete(a, 20);
        q.settle(|ask, s| reached.push((ask, s)));
        assert_eq!(reached, [(Ask::Mark(Mark::End, 7), 20)]);
        q.leave_until(19);
        assert_eq!(q.len(), 2);
        q.leave_until(20);
        assert_eq!(q.len(), 0);
    }
}
