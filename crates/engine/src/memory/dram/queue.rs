//! Requests that wait in a channel, and the choice among them: first ready, first come.

/// A request in the controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Order of arrival, modulo 2^32.
    pub age: u32,
    pub line: u32,
    pub row: u32,
    pub tag: u32,
    pub bank: u16,
    pub write: bool,
    /// A row has been closed for this request: it counts as a conflict.
    pub conflict: bool,
}

impl Entry {
    /// Fewer than 2^31 requests arrive while one waits.
    #[inline]
    fn is_older_than(&self, other: &Entry) -> bool {
        (self.age.wrapping_sub(other.age) as i32) < 0
    }
}

/// Waiting requests, in no order.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    entries: Vec<Entry>,
    /// Of each entry, a clock before which no command can be issued for it: a lower bound, brought
    /// up to date when it is reached. Kept apart from the entries because it is all that a scan
    /// reads of most of them.
    ready: Vec<u64>,
    /// A lower bound of `ready`.
    next: u64,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Queue {
        let entries = Vec::with_capacity(capacity);
        Queue { entries, ready: Vec::with_capacity(capacity), next: u64::MAX }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// No entry is ready before this clock.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry, ready: u64) {
        self.next = self.next.min(ready);
        self.entries.push(entry);
        self.ready.push(ready);
    }

    #[inline]
    pub(super) fn remove(&mut self, index: usize) -> Entry {
        self.ready.swap_remove(index);
        self.entries.swap_remove(index)
    }

    /// The entry at `index`, to be changed; it is not ready before `ready`.
    #[inline]
    pub(super) fn postpone(&mut self, index: usize, ready: u64) -> &mut Entry {
        self.ready[index] = ready;
        self.next = self.next.min(ready);
        &mut self.entries[index]
    }

    /// The oldest entry whose next command may be issued at `now`, where `ready` computes the
    /// earliest clock for it. Brings all bounds that were reached up to date.
    #[inline]
    pub(super) fn first_ready(&mut self, now: u64, ready: impl Fn(&Entry) -> u64) -> Option<usize> {
        if self.next > now {
            return None;
        }
        let mut best: Option<usize> = None;
        let mut next = u64::MAX;
        for i in 0..self.ready.len() {
            let mut bound = self.ready[i];
            if bound <= now {
                let entry = &self.entries[i];
                bound = ready(entry);
                self.ready[i] = bound;
                if bound <= now {
                    match best {
                        None => {
                            best = Some(i);
                            continue;
                        }
                        // Ready as well, but only one can go.
                        Some(b) if entry.is_older_than(&self.entries[b]) => best = Some(i),
                        Some(_) => {}
                    }
                }
            }
            next = next.min(bound);
        }
        self.next = next;
        best
    }

    /// If the row that is open in the bank of `entries[index]` is wanted by an older entry: a lower
    /// bound of when that one is ready.
    pub(super) fn older_hit(&self, index: usize, open_row: u32) -> Option<u64> {
        let entry = &self.entries[index];
        let with_bounds = self.entries.iter().zip(&self.ready);
        with_bounds
            .filter(|(e, _)| e.bank == entry.bank && e.row == open_row && e.is_older_than(entry))
            .map(|(_, ready)| *ready)
            .min()
    }

    /// The state of `bank` changed in a way that may bring its entries forward.
    pub(super) fn refresh_bounds(&mut self, bank: u16, ready: impl Fn(&Entry) -> u64) {
        for (entry, bound) in self.entries.iter().zip(&mut self.ready) {
            if entry.bank == bank {
                *bound = ready(entry);
                self.next = self.next.min(*bound);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(age: u32) -> Entry {
        Entry { age, line: 0, row: 0, tag: age, bank: 0, write: false, conflict: false }
    }

    #[test]
    fn the_oldest_ready_entry_goes_first_whatever_its_place() {
        let mut q = Queue::new(4);
        // Ages wrap: u32::MAX is older than 0.
        for age in [1, 0, u32::MAX, 2] {
            q.push(entry(age), 10);
        }
        assert_eq!(q.first_ready(9, |_| unreachable!("nothing is due")), None);
        // The oldest is not ready after all: the next oldest goes.
        let ready = |e: &Entry| if e.age == u32::MAX { 30 } else { 10 };
        let first = q.first_ready(10, ready).unwrap();
        assert_eq!(q.remove(first).age, 0);
        assert_eq!(q.next(), 10, "two others are ready");
        let second = q.first_ready(11, ready).unwrap();
        assert_eq!(q.remove(second).age, 1);
        let third = q.first_ready(12, ready).unwrap();
        assert_eq!(q.remove(third).age, 2);
        assert_eq!(q.next(), 30);
    }
}
