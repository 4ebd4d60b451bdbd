//! The requests in a channel: for every bank, those that wait, in order of arrival.

use super::WRITE;
use super::mapping::BANKS;

/// No request.
pub(super) const NONE: u16 = u16::MAX;

/// Entries of the pool: a constant power of two, so that an index needs only a mask and no bounds
/// check. Small queues use the beginning.
const POOL: usize = 1024;

/// A request in the controller. (Aligned so that indexing is a shift.)
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Request {
    pub line: u32,
    pub row: u32,
    pub tag: u32,
    pub bank: u16,
    /// The next one of the same bank and queue.
    next: u16,
    pub write: bool,
    /// A row has been closed for this request: it counts as a conflict.
    pub conflict: bool,
}

impl Request {
    pub(super) fn new(line: u32, row: u32, bank: u16, write: bool, tag: u32) -> Request {
        Request { line, row, tag, bank, next: NONE, write, conflict: false }
    }
}

/// All requests of a channel: those waiting in the queues, and those whose row has been opened for
/// them.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    entries: [Request; POOL],
    /// The order of arrival of each, modulo 2^32. Stored separately, because it is read most often.
    ages: [u32; POOL],
    arrivals: u32,
    /// For each bank, the oldest and the youngest of the reads and of the writes that wait for it.
    first: [[u16; 2]; BANKS],
    last: [[u16; 2]; BANKS],
    /// For each bank, the oldest read and the oldest write found to want the open row; out of date for
    /// the queue that is not being served.
    hit: [[u16; 2]; BANKS],
    /// The request that the bank's row has been opened for; it is no longer in a queue.
    opened: [u16; BANKS],
    /// The unused entries, linked.
    free: u16,
}

impl Requests {
    pub(super) fn new(capacity: usize) -> Requests {
        assert!(capacity <= POOL, "at most 2 * 256 queue entries and 256 banks");
        let unused = Request::new(0, 0, 0, false, 0);
        Requests {
            entries: std::array::from_fn(|i| Request { next: i as u16 + 1, ..unused }),
            ages: [0; POOL],
            arrivals: 0,
            first: [[NONE; 2]; BANKS],
            last: [[NONE; 2]; BANKS],
            hit: [[NONE; 2]; BANKS],
            opened: [NONE; BANKS],
            free: 0,
        }
    }

    #[inline]
    pub(super) fn get(&self, slot: u16) -> &Request {
        &self.entries[slot as usize % POOL]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u16) -> &mut Request {
        &mut self.entries[slot as usize % POOL]
    }

    #[inline]
    pub(super) fn age(&self, slot: u16) -> u32 {
        self.ages[slot as usize % POOL]
    }

    /// Appends a request to the queue of its bank. Returns its slot, and whether it is the only one
    /// there. There is an entry for every place of the queues and every bank.
    #[inline]
    pub(super) fn add(&mut self, request: &Request) -> (u16, bool) {
        let slot = self.free;
        let entry = &mut self.entries[slot as usize % POOL];
        self.free = entry.next;
        *entry = *request;
        self.ages[slot as usize % POOL] = self.arrivals;
        self.arrivals = self.arrivals.wrapping_add(1);
        let which = usize::from(request.write);
        let bank = request.bank as usize % BANKS;
        let last = std::mem::replace(&mut self.last[bank][which], slot);
        let first = &mut self.first[bank][which];
        let only = *first == NONE;
        if only {
            *first = slot;
        } else {
            self.entries[last as usize % POOL].next = slot;
        }
        (slot, only)
    }

    /// The oldest request that waits for `bank` in a queue.
    #[inline]
    pub(super) fn first(&self, bank: u16, which: usize) -> u16 {
        self.first[bank as usize % BANKS][which % 2]
    }

    /// The request of the queue being served that is known to want the open row of `bank`.
    #[inline]
    pub(super) fn hit(&self, bank: u16, which: usize) -> u16 {
        self.hit[bank as usize % BANKS][which % 2]
    }

    #[inline]
    pub(super) fn set_hit(&mut self, bank: u16, which: usize, slot: u16) {
        self.hit[bank as usize % BANKS][which % 2] = slot;
    }

    /// The request that the row of `bank` was opened for.
    #[inline]
    pub(super) fn opened(&self, bank: u16) -> u16 {
        self.opened[bank as usize % BANKS]
    }

    /// The first request of a queue, from `slot` on, that wants `row`.
    #[inline]
    pub(super) fn find_row(&self, mut slot: u16, row: u32) -> u16 {
        while slot != NONE {
            let request = self.get(slot);
            if request.row == row {
                break;
            }
            slot = request.next;
        }
        slot
    }

    /// Whether another request of the same queue waits for the row of `slot`, which is the one that the row
    /// was opened for or the oldest that waits for it.
    pub(super) fn others_want_row(&self, slot: u16) -> bool {
        let &Request { row, bank, next, write, .. } = self.get(slot);
        let opened = self.opened(bank) == slot;
        let others = if opened { self.first(bank, usize::from(write)) } else { next };
        self.find_row(others, row) != NONE
    }

    /// All requests that wait for `bank` in a queue, the oldest first.
    #[cfg(test)]
    pub(super) fn waiting(&self, bank: u16, which: usize) -> impl Iterator<Item = u16> {
        let first = self.first(bank, which);
        std::iter::successors(Some(first), |slot| Some(self.get(*slot).next))
            .take_while(|slot| *slot != NONE)
    }

    /// Whether a write of `line` is pending for `bank`.
    #[inline]
    pub(super) fn writes_line(&self, bank: u16, line: u32) -> bool {
        let opened = self.opened(bank);
        if opened != NONE {
            let request = self.get(opened);
            if request.write && request.line == line {
                return true;
            }
        }
        let mut slot = self.first(bank, WRITE);
        while slot != NONE {
            let request = self.get(slot);
            if request.line == line {
                return true;
            }
            slot = request.next;
        }
        false
    }

    /// The row of a bank is opened for its oldest request, `slot`, which leaves its queue.
    #[inline]
    pub(super) fn open(&mut self, slot: u16, bank: u16, write: bool) {
        debug_assert_eq!(self.first(bank, usize::from(write)), slot);
        self.first[bank as usize % BANKS][usize::from(write)] = self.get(slot).next;
        self.opened[bank as usize % BANKS] = slot;
    }

    /// The request that the row of `bank` was opened for has been served.
    #[inline]
    pub(super) fn finish_opened(&mut self, slot: u16, bank: u16) {
        self.opened[bank as usize % BANKS] = NONE;
        self.release(slot);
    }

    /// A request has been served straight from its queue.
    #[inline]
    pub(super) fn finish_waiting(&mut self, slot: u16, bank: u16, write: bool) {
        let next = self.get(slot).next;
        let which = usize::from(write);
        let bank = bank as usize % BANKS;
        if self.first[bank][which] == slot {
            self.first[bank][which] = next;
        } else {
            let mut before = self.first[bank][which];
            while self.entries[before as usize % POOL].next != slot {
                before = self.entries[before as usize % POOL].next;
            }
            self.entries[before as usize % POOL].next = next;
            if self.last[bank][which] == slot {
                self.last[bank][which] = before;
            }
        }
        self.release(slot);
    }

    #[inline]
    fn release(&mut self, slot: u16) {
        self.get_mut(slot).next = self.free;
        self.free = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(line: u32, row: u32) -> Request {
        Request::new(line, row, 5, true, 0)
    }

    #[test]
    fn a_bank_serves_its_requests_in_order_of_arrival_or_of_row() {
        let mut requests = Requests::new(8);
        let (a, only) = requests.add(&write(10, 1));
        assert!(only);
        let (b, only) = requests.add(&write(11, 2));
        assert!(!only);
        let (c, _) = requests.add(&write(12, 2));
        assert_eq!(requests.first(5, 1), a);
        assert_eq!(requests.first(5, 0), NONE, "reads wait by themselves");
        assert_eq!((requests.find_row(a, 2), requests.find_row(a, 3)), (b, NONE));
        // The last, the one between, and the first.
        requests.finish_waiting(c, 5, true);
        let (d, _) = requests.add(&write(13, 2));
        assert_eq!(d, c, "entries are used again");
        requests.finish_waiting(b, 5, true);
        requests.finish_waiting(a, 5, true);
        assert_eq!(requests.first(5, 1), d);
        requests.finish_waiting(d, 5, true);
        assert_eq!(requests.first(5, 1), NONE);
    }

    #[test]
    fn a_write_is_found_until_it_is_served() {
        let mut requests = Requests::new(8);
        requests.add(&Request { write: false, ..write(10, 1) });
        assert!(!requests.writes_line(5, 10), "only a read");
        let (a, _) = requests.add(&write(10, 1));
        assert!(requests.writes_line(5, 10) && !requests.writes_line(4, 10));
        requests.open(a, 5, true);
        assert_eq!((requests.opened(5), requests.first(5, 1)), (a, NONE));
        assert!(requests.writes_line(5, 10));
        requests.finish_opened(a, 5);
        assert!(!requests.writes_line(5, 10));
    }
}
