//! Queues of DMA transactions that wait for their translation.
//!
//! Transactions leave in the order in which they came, posted writes and reads each in their own
//! order: a write must not pass a write (PCI Express Base Specification, section 2.4.1), and read
//! requests wait in a queue as well. While they wait they hold their PCIe credits or read tags, so
//! the rate falls as latency grows (Little's law).
//!
//! With relaxed ordering, a write of packet data passes whatever waits ahead of it; completions
//! pass nothing, so they stay behind their data.

use std::collections::VecDeque;

use super::Touched;
use super::page_table::{MAPPINGS, Page};

/// The order to which a transaction belongs: transactions of one order leave in sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Order {
    /// Writes.
    Posted = 0,
    /// Reads.
    NonPosted = 1,
}

/// A transaction, by its number within its order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    pub(super) order: Order,
    pub(super) number: u64,
}

/// A transaction that has arrived.
#[derive(Clone, Debug)]
pub(super) struct Arrival<T> {
    pub(super) transaction: T,
    pub(super) touched: Touched,
    /// Whether it may leave before those ahead of it.
    pub(super) passes: bool,
    /// For a read: how many writes had arrived before it. It leaves after all of them, since a
    /// non-posted request must not pass a posted one (PCI Express Base Specification, section
    /// 2.4.1, entry B2).
    pub(super) writes_before: u64,
}

/// The outcome of a transaction's page lookups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Walks that it waits for.
    pub(super) missing: u32,
    /// The number of an earlier transaction that waits for the walk of a page which both need.
    pub(super) after: Option<u64>,
}

/// A transaction in the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    transaction: T,
    found: Found,
    passes: bool,
    writes_before: u64,
    /// Whether it has left ahead of earlier transactions.
    left: bool,
}

/// The transactions of one order.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    waiting: VecDeque<Waiting<T>>,
    /// How many transactions are in the queue, how many it has room for, and those for which it has
    /// no room yet.
    queued: usize,
    room: usize,
    behind: VecDeque<Arrival<T>>,
    /// Number of the first transaction in `waiting`.
    first: u64,
    /// For each kind of mapping, the page that was looked up last, and the number of the transaction.
    last: [Option<(Page, u64)>; MAPPINGS],
}

impl<T: Copy> Queue<T> {
    /// An empty queue with room for `room` transactions.
    pub(super) fn new(room: u32) -> Queue<T> {
        Queue {
            waiting: VecDeque::new(),
            queued: 0,
            room: room as usize,
            behind: VecDeque::new(),
            first: 0,
            last: [None; MAPPINGS],
        }
    }

    /// A transaction arrives. Returns it if the queue has room; if not, it waits outside the queue.
    #[inline]
    pub(super) fn make_room(&mut self, arrival: Arrival<T>) -> Option<Arrival<T>> {
        if self.queued < self.room {
            return Some(arrival);
        }
        self.behind.push_back(arrival);
        None
    }

    /// Takes the next transaction that waits outside the queue.
    pub(super) fn next_behind(&mut self) -> Option<Arrival<T>> {
        self.behind.pop_front()
    }

    /// The number that the next transaction to [`Self::enter`] will have.
    #[inline]
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.waiting.len() as u64
    }

    /// The IOTLB holds the page that was looked up, so nothing waits for its translation, not even
    /// if it is evicted before all transactions that found it have left.
    #[inline]
    pub(super) fn found(&mut self, page: Page) -> Option<u64> {
        self.last[page.mapping as usize] = None;
        None
    }

    /// Transaction `number` asks for the translation of a page. Returns the number of the
    /// transaction that asked for it last, if that one has not left and no other page of this kind
    /// has been looked up since.
    #[inline]
    pub(super) fn ask(&mut self, page: Page, number: u64) -> Option<u64> {
        let last = self.last[page.mapping as usize].replace((page, number));
        last.filter(|&(asked, by)| asked == page && !self.has_left(by)).map(|(_, by)| by)
    }

    /// A transaction enters the queue. Returns whether it has to wait; unless `at_once`, it always waits.
    pub(super) fn enter(&mut self, arrival: &Arrival<T>, found: Found, at_once: bool) -> bool {
        let Arrival { transaction, passes, writes_before, .. } = *arrival;
        let first = self.waiting.is_empty();
        let free = first || (passes && found.after.is_none());
        let left = at_once && found.missing == 0 && free;
        self.queued += usize::from(!left);
        if left && first {
            self.first += 1;
        } else {
            // A transaction that left early keeps its number until all earlier ones have left.
            self.waiting.push_back(Waiting { transaction, found, passes, writes_before, left });
        }
        !left
    }

    /// A page has been translated for transaction `number`.
    pub(super) fn translated(&mut self, number: u64) {
        self.waiting[(number - self.first) as usize].found.missing -= 1;
    }

    /// How many transactions have arrived.
    pub(super) fn arrived(&self) -> u64 {
        self.next_number() + self.behind.len() as u64
    }

    /// How many transactions have left such that all that arrived before them have left too.
    pub(super) fn gone(&self) -> u64 {
        self.first
    }

    /// Whether transaction `number` has left.
    fn has_left(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|at| self.waiting.get(at as usize).is_some_and(|w| w.left))
    }

    /// The position of the next transaction that may leave, once `writes_gone` writes have left.
    pub(super) fn ready(&self, writes_gone: u64) -> Option<usize> {
        let front = self.waiting.front()?;
        if front.found.missing == 0 && front.writes_before <= writes_gone {
            return Some(0);
        }
        let may_leave = |w: &Waiting<T>| {
            let free = w.found.after.is_none_or(|number| self.has_left(number));
            w.passes && w.found.missing == 0 && !w.left && free
        };
        self.waiting.iter().position(may_leave)
    }

    /// Removes and returns the transaction at a position that [`Self::ready`] returned.
    pub(super) fn leave(&mut self, place: usize) -> T {
        let leaves = &mut self.waiting[place];
        leaves.left = true;
        let transaction = leaves.transaction;
        self.queued -= 1;
        while self.waiting.front().is_some_and(|w| w.left) {
            self.waiting.pop_front();
            self.first += 1;
        }
        transaction
    }

    /// All transactions that wait, in the queue or outside it.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &T> {
        let queued = self.waiting.iter().filter(|w| !w.left).map(|w| &w.transaction);
        queued.chain(self.behind.iter().map(|b| &b.transaction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iommu::{Mapping, one_range};

    fn arrival(name: char, passes: bool) -> Arrival<char> {
        let touched = one_range(Mapping::Payload, 0..4);
        Arrival { transaction: name, touched, passes, writes_before: 0 }
    }

    /// Enters a transaction that waits for `missing` walks; returns whether it waits.
    fn enter(queue: &mut Queue<char>, name: char, passes: bool, missing: u32) -> bool {
        let arrival = queue.make_room(arrival(name, passes)).expect("there is room");
        queue.enter(&arrival, Found { missing, after: None }, true)
    }

    #[test]
    fn what_leaves_from_behind_keeps_its_number_and_no_room() {
        let mut queue = Queue::new(2);
        assert!(enter(&mut queue, 'a', false, 1));
        assert!(!enter(&mut queue, 'b', true, 0), "it passes");
        assert!(enter(&mut queue, 'c', false, 0), "it must not");
        assert_eq!(queue.next_number(), 3);
        assert!(queue.waiting().eq(&['a', 'c']));
        assert!(queue.has_left(1) && !queue.has_left(0) && !queue.has_left(2));
        // Two are in the queue; a third waits outside.
        assert!(queue.make_room(arrival('d', false)).is_none());
        assert!(queue.waiting().eq(&['a', 'c', 'd']));
        assert_eq!(queue.ready(0), None);
        queue.translated(0);
        assert_eq!((queue.ready(0), queue.leave(0)), (Some(0), 'a'));
        assert_eq!((queue.ready(0), queue.leave(0)), (Some(0), 'c'));
        assert_eq!(queue.next_behind().map(|d| d.transaction), Some('d'));
        assert_eq!(queue.next_number(), 3);
    }
}
