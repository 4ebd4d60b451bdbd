//! A queue whose entries complete in any order and leave in the order in which they entered: the
//! reorder window and the store buffer.

use super::ask::Ask;
use super::ring::Ring;

/// A completion that is not known yet.
pub(super) const PENDING: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Number of the instruction.
    instruction: u64,
    /// Slot in which it completes, or [`PENDING`]; once `known` has passed it, the slot in which it
    /// leaves, which is not before any older entry leaves.
    ready: u64,
    /// The request that it makes to the machine when it leaves.
    ask: Option<Ask>,
}

/// The queue. An entry is identified by its position in the ring.
#[derive(Clone, Debug)]
pub(super) struct InOrder {
    ring: Ring<Entry>,
    /// Position of the first entry whose completion is not known.
    known: u64,
    last_ready: u64,
}

impl InOrder {
    /// A queue for at most `capacity` entries, rounded up to a power of two.
    pub(super) fn new(capacity: usize) -> InOrder {
        let unused = Entry { instruction: 0, ready: 0, ask: None };
        InOrder { ring: Ring::new(capacity, unused), known: 0, last_ready: 0 }
    }

    /// Drops entries that have left by `slot`.
    #[inline]
    pub(super) fn leave_until(&mut self, slot: u64) {
        while self.ring.head() < self.known && self.ring.at(self.ring.head()).ready <= slot {
            self.ring.pop_front();
        }
    }

    /// Drops the oldest entry.
    #[inline]
    pub(super) fn drop_oldest(&mut self) {
        debug_assert!(self.ring.head() < self.known);
        self.ring.pop_front();
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.ring.is_full()
    }

    /// Instruction number of the oldest entry and the slot in which it leaves, if there is one.
    #[inline]
    pub(super) fn oldest(&self) -> Option<(u64, u64)> {
        let oldest = self.ring.front()?;
        Some((oldest.instruction, if self.knows_oldest() { oldest.ready } else { PENDING }))
    }

    /// Whether the completion of the oldest entry is known.
    #[inline]
    pub(super) fn knows_oldest(&self) -> bool {
        self.ring.head() < self.known
    }

    /// Adds an entry and returns its position.
    #[inline]
    pub(super) fn push(&mut self, instruction: u64, ready: u64, ask: Option<Ask>) -> u64 {
        self.ring.push_back(Entry { instruction, ready, ask })
    }

    /// An entry's completion becomes known.
    #[inline]
    pub(super) fn complete(&mut self, position: u64, ready: u64) {
        debug_assert!(self.known <= position && position < self.ring.tail());
        self.ring.at_mut(position).ready = ready;
    }

    /// Advances over the entries whose completion is known, and passes their requests to `reach`,
    /// with the slot in which each entry leaves.
    #[inline]
    pub(super) fn settle(&mut self, mut reach: impl FnMut(Ask, u64)) {
        while self.known < self.ring.tail() {
            let entry = self.ring.at_mut(self.known);
            if entry.ready == PENDING {
                break;
            }
            entry.ready = entry.ready.max(self.last_ready);
            self.last_ready = entry.ready;
            self.known += 1;
            if let Some(ask) = entry.ask {
                reach(ask, entry.ready);
            }
        }
    }

    /// Whether the completions of all entries are known.
    pub(super) fn is_settled(&self) -> bool {
        self.known == self.ring.tail()
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
