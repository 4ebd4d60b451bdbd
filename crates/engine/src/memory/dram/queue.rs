//! The requests that wait in a channel.

/// No entry.
pub(super) const NONE: u16 = u16::MAX;

/// Entries of a pool: 256 reads and 256 writes. A constant power of two, of which small queues use
/// the beginning, so that an index needs no check but a mask.
const POOL: usize = 512;

/// A request that waits. (Aligned so that indexing is a shift.)
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(super) struct Entry {
    pub line: u32,
    pub row: u32,
    pub tag: u32,
    /// Next younger request of the same kind and bank.
    pub next: u16,
    /// A row has been closed for this request: it counts as a conflict.
    pub conflict: bool,
}

/// The requests for one bank of one kind, oldest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub first: u16,
    last: u16,
}

impl List {
    pub(super) const EMPTY: List = List { first: NONE, last: NONE };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }
}

/// The waiting requests of a channel, reads and writes.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    entries: Box<[Entry; POOL]>,
    /// The unused entries, linked.
    free: u16,
}

impl Pool {
    pub(super) fn new() -> Pool {
        let entry = |next| Entry { line: 0, row: 0, tag: 0, next, conflict: false };
        let entries: Vec<Entry> = (1..=POOL as u16).map(entry).collect();
        Pool { entries: entries.try_into().expect("as many as the pool holds"), free: 0 }
    }

    #[inline]
    pub(super) fn get(&self, slot: u16) -> &Entry {
        &self.entries[slot as usize % POOL]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u16) -> &mut Entry {
        &mut self.entries[slot as usize % POOL]
    }

    /// Puts a request at the end of a list. Only called with room: one entry for every queue place.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, entry: Entry) {
        let slot = self.free;
        let place = self.get_mut(slot);
        let next = place.next;
        *place = Entry { next: NONE, ..entry };
        self.free = next;
        if list.first == NONE {
            list.first = slot;
        } else {
            self.get_mut(list.last).next = slot;
        }
        list.last = slot;
    }

    /// Takes a request out of a list.
    #[inline]
    pub(super) fn remove(&mut self, list: &mut List, slot: u16) {
        let next = self.get(slot).next;
        if list.first == slot {
            list.first = next;
        } else {
            let mut before = list.first;
            while self.get(before).next != slot {
                before = self.get(before).next;
            }
            self.get_mut(before).next = next;
            if list.last == slot {
                list.last = before;
            }
        }
        self.get_mut(slot).next = self.free;
        self.free = slot;
    }

    /// The first entry of a list for which `wanted` holds, or [`NONE`].
    #[inline]
    pub(super) fn find(&self, list: &List, wanted: impl Fn(&Entry) -> bool) -> u16 {
        let mut slot = list.first;
        while slot != NONE {
            let entry = self.get(slot);
            if wanted(entry) {
                break;
            }
            slot = entry.next;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_the_pool_reuses_entries() {
        let entry = |row| Entry { line: 0, row, tag: 0, next: NONE, conflict: false };
        let mut pool = Pool::new();
        let (mut a, mut b) = (List::EMPTY, List::EMPTY);
        for row in 0..4 {
            pool.push(&mut a, entry(row));
            pool.push(&mut b, entry(10 + row));
        }
        let rows = |pool: &Pool, list: &List| {
            let (mut rows, mut slot) = (Vec::new(), list.first);
            while slot != NONE {
                rows.push(pool.get(slot).row);
                slot = pool.get(slot).next;
            }
            rows
        };
        for (gone, left) in [(2, vec![0, 1, 3]), (3, vec![0, 1]), (0, vec![1]), (1, vec![])] {
            let slot = pool.find(&a, |e| e.row == gone);
            pool.remove(&mut a, slot);
            assert_eq!(rows(&pool, &a), left);
            pool.push(&mut b, entry(20));
            assert_eq!(pool.find(&a, |e| e.row == gone), NONE);
        }
        assert!(a.is_empty());
        pool.push(&mut a, entry(7));
        assert_eq!(rows(&pool, &a), [7]);
        assert_eq!(rows(&pool, &b), [10, 11, 12, 13, 20, 20, 20, 20]);
    }
}
