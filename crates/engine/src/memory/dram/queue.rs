//! Requests in a channel, and the wheel that says when to look at each of them again.

/// A clock that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// No entry.
const NONE: u16 = u16::MAX;

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
    /// Its row has been opened for it: it is no longer in a queue.
    pub opened: bool,
    /// Index in its queue.
    place: u16,
    /// Next entry of the same slot of the wheel.
    link: u16,
}

impl Entry {
    pub(super) fn new(age: u32, line: u32, row: u32, bank: u16, write: bool, tag: u32) -> Entry {
        let (conflict, opened) = (false, false);
        Entry { age, line, row, tag, bank, write, conflict, opened, place: NONE, link: NONE }
    }

    /// Requests whose row is open for them come first, then the older ones. (Fewer than 2^31
    /// requests arrive while one waits, so ages can be compared modulo 2^32.)
    #[inline]
    pub(super) fn goes_before(&self, other: &Entry) -> bool {
        if self.opened != other.opened {
            return self.opened;
        }
        (self.age.wrapping_sub(other.age) as i32) < 0
    }
}

/// The requests of a channel: those waiting in the queues and those whose row is opened for them.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    entries: Vec<Entry>,
    free: Vec<u16>,
    /// The slots of the waiting reads and writes, in no order.
    waiting: [Vec<u16>; 2],
}

impl Pool {
    /// `capacity` entries of each queue, and one opened request for each bank.
    pub(super) fn new(capacity: [usize; 2], banks: usize) -> Pool {
        let total = capacity[0] + capacity[1] + banks;
        assert!(total < NONE as usize, "at most 2 * 1024 queue entries and 4096 banks");
        Pool {
            entries: vec![Entry::new(0, 0, 0, 0, false, 0); total],
            free: (0..total as u16).rev().collect(),
            waiting: capacity.map(Vec::with_capacity),
        }
    }

    /// Puts a request into its queue.
    #[inline]
    pub(super) fn enqueue(&mut self, mut entry: Entry) -> u16 {
        let slot = self.free.pop().expect("a slot for every queue place and bank");
        let queue = &mut self.waiting[usize::from(entry.write)];
        entry.place = queue.len() as u16;
        queue.push(slot);
        self.entries[slot as usize] = entry;
        slot
    }

    /// Takes a request out of its queue; it stays in the pool.
    #[inline]
    pub(super) fn dequeue(&mut self, slot: u16) -> &mut Entry {
        let Entry { write, place, .. } = self.entries[slot as usize];
        let queue = &mut self.waiting[usize::from(write)];
        queue.swap_remove(place as usize);
        if let Some(&moved) = queue.get(place as usize) {
            self.entries[moved as usize].place = place;
        }
        &mut self.entries[slot as usize]
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

    /// Waiting reads (0) or writes (1).
    #[inline]
    pub(super) fn waiting(&self, which: usize) -> usize {
        self.waiting[which].len()
    }

    pub(super) fn queue(&self, which: usize) -> impl Iterator<Item = &Entry> {
        self.waiting[which].iter().map(|slot| self.get(*slot))
    }

    /// Whether no request is left.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }
}

/// Slots of the wheel: a power of two, one bit each of a word.
const SLOTS: u64 = 64;

/// Entries by the clock at which to look at them next, within the next 63 clocks. One that can
/// only be served later is put at the end and moved on when its turn comes.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// First entry of each slot.
    heads: [u16; SLOTS as usize],
    /// Slots that hold entries.
    occupied: u64,
    /// All entries lie after this clock.
    now: u64,
}

impl Wheel {
    pub(super) fn new() -> Wheel {
        Wheel { heads: [NONE; SLOTS as usize], occupied: 0, now: 0 }
    }

    /// The first clock with an entry.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        if self.occupied == 0 {
            return NEVER;
        }
        let first = self.now + 1;
        first + u64::from(self.occupied.rotate_right((first % SLOTS) as u32).trailing_zeros())
    }

    /// Moves on to `clock`, before which no entry lies.
    #[inline]
    pub(super) fn turn(&mut self, clock: u64) {
        debug_assert!(self.next() > clock, "an entry was skipped");
        self.now = clock;
    }

    #[inline]
    pub(super) fn add(&mut self, pool: &mut Pool, slot: u16, clock: u64) {
        debug_assert!(clock > self.now, "an entry in the past");
        let index = clock.min(self.now + SLOTS - 1) % SLOTS;
        pool.get_mut(slot).link = self.heads[index as usize];
        self.heads[index as usize] = slot;
        self.occupied |= 1 << index;
    }

    /// Moves on to `clock` and hands out all entries up to it.
    #[inline]
    pub(super) fn take_due(&mut self, clock: u64, pool: &Pool, due: &mut Vec<u16>) {
        while self.next() <= clock {
            let index = self.next() % SLOTS;
            self.occupied &= !(1 << index);
            let mut slot = self.heads[index as usize];
            self.heads[index as usize] = NONE;
            while slot != NONE {
                due.push(slot);
                slot = pool.get(slot).link;
            }
        }
        self.now = clock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_requests_go_first_then_older_ones() {
        let entry = |age, opened| Entry { opened, ..Entry::new(age, 0, 0, 0, false, 0) };
        assert!(entry(u32::MAX, false).goes_before(&entry(0, false)), "ages wrap");
        assert!(!entry(1, false).goes_before(&entry(0, false)));
        assert!(entry(1, true).goes_before(&entry(0, false)));
    }

    #[test]
    fn the_wheel_hands_out_entries_at_their_clock_or_at_its_end() {
        let mut pool = Pool::new([8, 0], 0);
        let mut wheel = Wheel::new();
        let mut due = Vec::new();
        wheel.turn(1000);
        for clock in [1001, 1003, 1003, 1063, 5000] {
            let slot = pool.enqueue(Entry::new(0, 0, 0, 0, false, 0));
            wheel.add(&mut pool, slot, clock);
        }
        for (clock, slots) in [(1001, vec![0]), (1003, vec![2, 1]), (1063, vec![4, 3])] {
            assert_eq!(wheel.next(), clock);
            wheel.take_due(clock, &pool, &mut due);
            assert_eq!(std::mem::take(&mut due), slots, "at {clock}");
        }
        assert_eq!(wheel.next(), NEVER);
    }

    #[test]
    fn a_queue_knows_its_entries() {
        let mut pool = Pool::new([3, 3], 0);
        let slots: Vec<u16> =
            (0..3).map(|age| pool.enqueue(Entry::new(age, 0, 0, 0, true, 0))).collect();
        pool.dequeue(slots[0]);
        pool.dequeue(slots[2]);
        assert_eq!((pool.waiting(0), pool.waiting(1)), (0, 1));
        assert_eq!(pool.queue(1).map(|e| e.age).collect::<Vec<_>>(), [1]);
        pool.dequeue(slots[1]);
        assert!(!pool.is_empty(), "out of the queue, but not gone");
        slots.into_iter().for_each(|slot| pool.free(slot));
        assert!(pool.is_empty());
    }
}
