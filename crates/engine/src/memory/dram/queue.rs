//! Requests that wait in a channel, and the choice among them: first ready, first come.

/// A clock that never comes (2^48 clocks are more than a day of simulated time).
pub(super) const NEVER: u64 = (1 << 48) - 1;

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
    pub(super) fn is_older_than(&self, other: &Entry) -> bool {
        (self.age.wrapping_sub(other.age) as i32) < 0
    }
}

/// The entries of a channel, which stay in place while they move from queue to queue.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    free: Vec<u16>,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Pool {
        let empty =
            Entry { age: 0, line: 0, row: 0, tag: 0, bank: 0, write: false, conflict: false };
        // Bounded by the configuration: two queues of 1024 and 4096 banks.
        Pool { entries: vec![empty; capacity], free: (0..capacity as u16).rev().collect() }
    }

    #[inline]
    pub(super) fn add(&mut self, entry: Entry) -> u16 {
        let slot = self.free.pop().expect("a slot for every queue place and bank");
        self.entries[slot as usize] = entry;
        slot
    }

    #[inline]
    pub(super) fn free(&mut self, slot: u16) {
        self.free.push(slot);
    }

    #[inline]
    pub(super) fn get(&self, slot: u16) -> &Entry {
        &self.entries[slot as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u16) -> &mut Entry {
        &mut self.entries[slot as usize]
    }
}

/// Waiting entries, sorted by the clock before which nothing can be done for them: a lower bound,
/// which is brought up to date when it is reached.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// Latest first. Clock in the upper 48 bits, slot in the lower 16.
    keys: Vec<u64>,
}

#[inline]
fn key(clock: u64, slot: u16) -> u64 {
    (clock << 16) | u64::from(slot)
}

#[inline]
fn slot_of(key: u64) -> u16 {
    (key & 0xffff) as u16
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Queue {
        Queue { keys: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = u16> + '_ {
        self.keys.iter().map(|k| slot_of(*k))
    }

    /// Nothing can be done before this clock.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.keys.last().map_or(NEVER, |k| k >> 16)
    }

    #[inline]
    pub(super) fn push(&mut self, slot: u16, ready: u64) {
        let place = self.keys.len();
        self.keys.push(0);
        self.settle(place, key(ready, slot));
    }

    /// Puts `key` where it belongs, at or before `place`, whose own key is overwritten.
    #[inline]
    fn settle(&mut self, mut place: usize, key: u64) {
        while place > 0 && self.keys[place - 1] < key {
            self.keys[place] = self.keys[place - 1];
            place -= 1;
        }
        self.keys[place] = key;
    }

    #[inline]
    pub(super) fn slot(&self, place: usize) -> u16 {
        slot_of(self.keys[place])
    }

    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> u16 {
        slot_of(self.keys.remove(place))
    }

    /// Moves the entry at `place` to a later clock.
    #[inline]
    pub(super) fn postpone(&mut self, place: usize, ready: u64) {
        self.settle(place, key(ready, self.slot(place)));
    }

    /// The place of the oldest entry whose next command may be issued at `now`, where `ready`
    /// computes the earliest clock for it. Brings all bounds that were reached up to date.
    #[inline]
    pub(super) fn first_ready(
        &mut self,
        now: u64,
        pool: &Pool,
        ready: impl Fn(&Entry) -> u64,
    ) -> Option<usize> {
        let later = (now + 1) << 16;
        let mut best: Option<(usize, &Entry)> = None;
        let mut end = self.keys.len();
        while end > 0 && self.keys[end - 1] < later {
            let slot = slot_of(self.keys[end - 1]);
            let entry = pool.get(slot);
            let bound = ready(entry);
            if bound > now {
                // What comes to lie at `end - 1` instead is looked at next.
                self.settle(end - 1, key(bound, slot));
                continue;
            }
            end -= 1;
            if best.is_none_or(|(_, b)| entry.is_older_than(b)) {
                best = Some((end, entry));
            }
        }
        best.map(|(place, _)| place)
    }

    /// If the row that is open in the bank of the entry at `place` is wanted by an older entry: a
    /// lower bound of when that one is ready.
    pub(super) fn older_hit(&self, place: usize, pool: &Pool, open_row: u32) -> Option<u64> {
        let entry = pool.get(self.slot(place));
        let older_hit = |k: &&u64| {
            let e = pool.get(slot_of(**k));
            e.bank == entry.bank && e.row == open_row && e.is_older_than(entry)
        };
        self.keys.iter().filter(older_hit).map(|k| k >> 16).min()
    }

    /// The state of `bank` changed in a way that may bring its entries forward.
    pub(super) fn refresh_bounds(&mut self, pool: &Pool, bank: u16, ready: impl Fn(&Entry) -> u64) {
        let mut changed = false;
        for k in &mut self.keys {
            let slot = slot_of(*k);
            let entry = pool.get(slot);
            if entry.bank == bank {
                *k = key(ready(entry), slot);
                changed = true;
            }
        }
        if changed {
            self.keys.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_ready_entry_goes_first_whatever_its_place() {
        let mut pool = Pool::new(4);
        let mut q = Queue::new(4);
        // Ages wrap: u32::MAX is older than 0.
        for age in [1, 0, u32::MAX, 2] {
            let entry =
                Entry { age, line: 0, row: 0, tag: 0, bank: 0, write: false, conflict: false };
            q.push(pool.add(entry), 10);
        }
        assert_eq!(q.first_ready(9, &pool, |_| unreachable!("nothing is due")), None);
        // The oldest is not ready after all: the next oldest goes.
        let ready = |e: &Entry| if e.age == u32::MAX { 30 } else { 10 };
        for age in [0, 1, 2] {
            assert_eq!(q.next(), 10, "{age} is ready");
            let place = q.first_ready(10, &pool, ready).unwrap();
            assert_eq!(pool.get(q.remove(place)).age, age);
        }
        assert_eq!(q.first_ready(10, &pool, ready), None);
        assert_eq!((q.next(), q.len()), (30, 1));
        q.postpone(0, 40);
        q.push(pool.add(*pool.get(0)), 35);
        assert_eq!(q.next(), 35);
        q.refresh_bounds(&pool, 0, |_| 33);
        assert_eq!(q.next(), 33);
    }
}
