//! Requests in a channel, and the wheel that says when to look at each of them again.

/// A clock that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// No entry.
pub(super) const NONE: u16 = u16::MAX;

/// Entries of a pool. A constant power of two, of which small queues use the beginning, so that an
/// index needs no check but a mask.
const POOL: usize = 1024;

/// A request in the controller. (Aligned so that indexing is a shift.)
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Entry {
    /// Order of arrival, modulo 2^32.
    pub age: u32,
    pub line: u32,
    pub row: u32,
    pub tag: u32,
    pub bank: u16,
    /// Next entry of the list (of the wheel, or of held requests) that this one is on.
    pub link: u16,
    /// Next entry of the same bank.
    pub next_of_bank: u16,
    pub write: bool,
    /// A row has been closed for this request: it counts as a conflict.
    pub conflict: bool,
    /// Its row has been opened for it: it is no longer in a queue.
    pub opened: bool,
    /// On no list until the request its bank is opened for is served.
    pub parked: bool,
}

impl Entry {
    pub(super) fn new(age: u32, line: u32, row: u32, bank: u16, write: bool, tag: u32) -> Entry {
        Entry {
            age,
            line,
            row,
            tag,
            bank,
            link: NONE,
            next_of_bank: NONE,
            write,
            conflict: false,
            opened: false,
            parked: false,
        }
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
    entries: Box<[Entry; POOL]>,
    /// The unused entries, linked.
    free: u16,
    /// Requests in the pool.
    len: usize,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Pool {
        assert!(capacity <= POOL, "at most 2 * 256 queue entries and 256 banks");
        let entry = |link| Entry { link, ..Entry::new(0, 0, 0, 0, false, 0) };
        let entries: Vec<Entry> = (1..=POOL as u16).map(entry).collect();
        Pool { entries: entries.try_into().expect("as many as the pool holds"), free: 0, len: 0 }
    }

    /// Only called with room for the entry: one for every queue place and bank.
    #[inline]
    pub(super) fn add(&mut self, entry: Entry) -> u16 {
        let slot = self.free;
        let place = self.get_mut(slot);
        let next = place.link;
        *place = entry;
        self.free = next;
        self.len += 1;
        slot
    }

    #[inline]
    pub(super) fn free(&mut self, slot: u16) {
        self.get_mut(slot).link = self.free;
        self.free = slot;
        self.len -= 1;
    }

    #[inline]
    pub(super) fn get(&self, slot: u16) -> &Entry {
        &self.entries[slot as usize % POOL]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u16) -> &mut Entry {
        &mut self.entries[slot as usize % POOL]
    }

    /// The entries of a bank, given its first.
    pub(super) fn of_bank(&self, first: u16) -> impl Iterator<Item = &Entry> {
        let mut slot = first;
        std::iter::from_fn(move || {
            if slot == NONE {
                return None;
            }
            let entry = self.get(slot);
            slot = entry.next_of_bank;
            Some(entry)
        })
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
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

    /// Moves on to `clock`, or until just before the first entry.
    #[inline]
    pub(super) fn turn(&mut self, clock: u64) {
        self.now = clock.min(self.next() - 1);
    }

    /// Moves on to `clock`, where the first entry is known to lie later.
    #[inline]
    pub(super) fn skip_to(&mut self, clock: u64) {
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

    /// Puts all entries of a linked list into the next clock.
    pub(super) fn add_list(&mut self, pool: &mut Pool, mut slot: u16) {
        while slot != NONE {
            let link = pool.get(slot).link;
            self.add(pool, slot, self.now + 1);
            slot = link;
        }
    }

    /// Moves on to `clock`, which is [`Wheel::next`], and takes out the linked list of its entries.
    #[inline]
    pub(super) fn take(&mut self, clock: u64) -> u16 {
        debug_assert_eq!(self.next(), clock);
        self.now = clock;
        let index = clock % SLOTS;
        self.occupied &= !(1 << index);
        std::mem::replace(&mut self.heads[index as usize], NONE)
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
        let mut pool = Pool::new(8);
        let mut wheel = Wheel::new();
        wheel.turn(1000);
        for clock in [1001, 1003, 1003, 1063, 5000] {
            let slot = pool.add(Entry::new(0, 0, 0, 0, false, 0));
            wheel.add(&mut pool, slot, clock);
        }
        for (clock, slots) in [(1001, vec![0]), (1003, vec![2, 1]), (1063, vec![4, 3])] {
            assert_eq!(wheel.next(), clock);
            let mut slot = wheel.take(clock);
            for expected in slots {
                assert_eq!(slot, expected, "at {clock}");
                slot = pool.get(slot).link;
            }
            assert_eq!(slot, NONE);
            wheel.turn(clock);
        }
        assert_eq!(wheel.next(), NEVER);
    }

    #[test]
    fn a_pool_reuses_its_entries() {
        let mut pool = Pool::new(8);
        let a = pool.add(Entry::new(1, 0, 0, 0, false, 0));
        let b = pool.add(Entry::new(2, 0, 0, 0, false, 0));
        assert_ne!(a, b);
        pool.free(a);
        assert_eq!(pool.add(Entry::new(3, 0, 0, 0, false, 0)), a);
        assert_eq!((pool.get(a).age, pool.get(b).age), (3, 2));
        pool.free(a);
        pool.free(b);
        assert!(pool.is_empty());
    }
}
