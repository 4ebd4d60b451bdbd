//! The miss registers (line-fill buffers) of a core, and the accesses that wait for their lines.

use crate::memory::line::{Line, LineKind};
use crate::memory::ways::{EMPTY, first_match};

/// An access that waits for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// Slot in which it was issued.
    pub(super) issue: u64,
    /// Its entry in the store buffer if it is a store, else in the reorder window.
    pub(super) entry: u64,
    pub(super) store: bool,
}

/// Accesses that may wait for one line; more stall dispatch.
const WAITERS: usize = 8;

/// A miss register.
#[derive(Clone, Debug)]
struct Register {
    line: Line,
    kind: LineKind,
    /// The request is for the right to write.
    exclusive: bool,
    /// A store came after a request that was not: ask again when the line is here.
    upgrade: bool,
    /// The last link of the dependence chain waits for it.
    chain: bool,
    waiting: u8,
    /// Slot in which it is free for the next miss, when it is not busy.
    free_at: u64,
}

/// What the arrival of a line has brought about, besides the accesses that it completes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// The last link of the dependence chain has its data.
    pub(super) chain: bool,
    /// Stores still wait for the right to write: the register asks again.
    pub(super) again: bool,
}

/// The miss registers of one core.
#[derive(Clone, Debug)]
pub(super) struct Misses {
    /// The lines that busy registers fetch, for the search.
    lines: Vec<[Line; 4]>,
    registers: Vec<Register>,
    waiters: Vec<[Waiter; WAITERS]>,
    free: Free,
    /// Time integral of busy registers, in register-slots, and when it was last brought up.
    time: u64,
    since: u64,
}

impl Misses {
    pub(super) fn new(registers: u32) -> Misses {
        let register = Register {
            line: 0,
            kind: LineKind::App,
            exclusive: false,
            upgrade: false,
            chain: false,
            waiting: 0,
            free_at: 0,
        };
        let waiter = Waiter { issue: 0, entry: 0, store: false };
        Misses {
            lines: vec![[EMPTY; 4]; registers.div_ceil(4) as usize],
            registers: vec![register; registers as usize],
            waiters: vec![[waiter; WAITERS]; registers as usize],
            free: Free::new(registers as u16),
            time: 0,
            since: 0,
        }
    }

    /// Line and kind that a register asks for, and whether to write.
    pub(super) fn request(&self, register: u16) -> (Line, LineKind, bool) {
        let r = &self.registers[register as usize];
        (r.line, r.kind, r.exclusive)
    }

    /// Whether every register is busy, and none of them with this line.
    #[inline]
    pub(super) fn refuse(&self, line: Line) -> bool {
        self.free.len == 0 && first_match(&self.lines, line).is_none()
    }

    /// The register that already fetches the line, or the one that is free first, and the slot from
    /// which on it takes the access. Nothing if the line has too many waiters or all are busy.
    #[inline]
    pub(super) fn register_for(&self, line: Line) -> Option<(u16, u64)> {
        let register = match first_match(&self.lines, line) {
            Some(r) if usize::from(self.registers[r].waiting) == WAITERS => return None,
            Some(r) => r as u16,
            None => self.free.first()?,
        };
        Some((register, self.registers[register as usize].free_at))
    }

    /// Makes `waiter` wait for the line in `register`, which [`Misses::register_for`] gave. Returns
    /// whether the line has to be requested.
    #[inline]
    pub(super) fn wait(
        &mut self,
        register: u16,
        line: Line,
        kind: LineKind,
        chain: bool,
        waiter: Waiter,
    ) -> bool {
        let number = usize::from(register);
        let r = &mut self.registers[number];
        let new = r.waiting == 0;
        if new {
            let free_at = r.free_at;
            let exclusive = waiter.store;
            *r = Register { line, kind, exclusive, upgrade: false, chain, waiting: 0, free_at };
            self.lines[number / 4][number % 4] = line;
        } else {
            r.chain |= chain;
            r.upgrade |= waiter.store && !r.exclusive;
        }
        self.waiters[number][usize::from(r.waiting)] = waiter;
        r.waiting += 1;
        if new {
            self.count(waiter.issue);
            self.free.take_first();
        }
        new
    }

    /// The line of a register is here in slot `ready`: hands the accesses that it completes to
    /// `complete`, and frees the register unless it has to ask again.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        register: u16,
        ready: u64,
        mut complete: impl FnMut(&Waiter),
    ) -> Arrived {
        let number = usize::from(register);
        let r = &mut self.registers[number];
        let waiters = &mut self.waiters[number];
        let arrived = Arrived { chain: r.chain, again: r.upgrade && !r.exclusive };
        let waiting = usize::from(std::mem::take(&mut r.waiting));
        if arrived.again {
            // Stores that joined a request for reading need the right to write: ask once more.
            for i in 0..waiting {
                let waiter = waiters[i];
                if waiter.store {
                    waiters[usize::from(r.waiting)] = waiter;
                    r.waiting += 1;
                } else {
                    complete(&waiter);
                }
            }
            (r.exclusive, r.upgrade, r.chain) = (true, false, false);
        } else {
            waiters[..waiting].iter().for_each(complete);
            r.free_at = ready;
            self.lines[number / 4][number % 4] = EMPTY;
            self.count(ready);
            self.free.put(ready, register);
        }
        arrived
    }

    /// Whether a store to one of these lines waits.
    pub(super) fn stores_to(&self, lines: &std::ops::Range<Line>) -> bool {
        self.registers.iter().zip(&self.waiters).any(|(r, waiters)| {
            lines.contains(&r.line)
                && waiters[..usize::from(r.waiting)].iter().any(|waiter| waiter.store)
        })
    }

    fn busy(&self) -> u64 {
        (self.registers.len() - self.free.len) as u64
    }

    /// Brings the time integral of busy registers up to `slot`.
    #[inline]
    fn count(&mut self, slot: u64) {
        self.time += slot.saturating_sub(self.since) * self.busy();
        self.since = self.since.max(slot);
    }

    /// Time integral of busy registers up to `slot` since the measured time began, register-slots.
    pub(super) fn time_until(&self, slot: u64) -> u64 {
        self.time + slot.saturating_sub(self.since) * self.busy()
    }

    /// Starts the measured time.
    pub(super) fn reset_time(&mut self, slot: u64) {
        self.count(slot);
        self.time = 0;
    }
}

/// The registers that are not busy, by the slot in which they are free and their number: a ring.
#[derive(Clone, Debug)]
struct Free {
    ring: Vec<(u64, u16)>,
    head: usize,
    len: usize,
}

impl Free {
    fn new(registers: u16) -> Free {
        let len = usize::from(registers);
        let mut ring: Vec<(u64, u16)> = (0..registers).map(|register| (0, register)).collect();
        ring.resize(len.next_power_of_two(), (0, 0));
        Free { ring, head: 0, len }
    }

    #[inline]
    fn at(&mut self, i: usize) -> &mut (u64, u16) {
        let mask = self.ring.len() - 1;
        &mut self.ring[(self.head + i) & mask]
    }

    #[inline]
    fn first(&self) -> Option<u16> {
        (self.len > 0).then(|| self.ring[self.head & (self.ring.len() - 1)].1)
    }

    #[inline]
    fn take_first(&mut self) {
        debug_assert!(self.len > 0);
        self.head += 1;
        self.len -= 1;
    }

    /// Adds a register in its place: lines mostly arrive in the order of time, so at the end.
    #[inline]
    fn put(&mut self, free_at: u64, register: u16) {
        let new = (free_at, register);
        let mut i = self.len;
        while i > 0 && *self.at(i - 1) > new {
            *self.at(i) = *self.at(i - 1);
            i -= 1;
        }
        *self.at(i) = new;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(entry: u64, store: bool) -> Waiter {
        Waiter { issue: 10, entry, store }
    }

    fn completed(misses: &mut Misses, register: u16, ready: u64) -> (Vec<u64>, Arrived) {
        let mut entries = Vec::new();
        let arrived = misses.arrive(register, ready, |w| entries.push(w.entry));
        (entries, arrived)
    }

    #[test]
    fn accesses_to_one_line_share_a_register_up_to_its_waiters() {
        let mut m = Misses::new(2);
        for entry in 0..WAITERS as u64 {
            let (register, _) = m.register_for(7).expect("there is room");
            let new = m.wait(register, 7, LineKind::App, false, waiter(entry, false));
            assert_eq!((register, new), (0, entry == 0));
        }
        assert_eq!(m.register_for(7), None);
        assert_eq!(m.register_for(8), Some((1, 0)));
        assert_eq!(completed(&mut m, 0, 50).0, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_register_that_is_free_first_is_used_first() {
        let mut m = Misses::new(3);
        for line in 0..3 {
            let (register, _) = m.register_for(line).expect("one is free");
            m.wait(register, line, LineKind::App, false, waiter(0, false));
        }
        assert!(m.refuse(9) && !m.refuse(2));
        for (register, ready) in [(1, 70), (0, 90), (2, 80)] {
            completed(&mut m, register, ready);
        }
        for wanted in [(1, 70), (2, 80), (0, 90)] {
            assert_eq!(m.register_for(9), Some(wanted));
            m.wait(wanted.0, 10 + u32::from(wanted.0), LineKind::App, false, waiter(0, false));
        }
    }

    #[test]
    fn a_store_behind_a_load_asks_for_the_right_to_write() {
        let mut m = Misses::new(1);
        assert!(m.wait(0, 7, LineKind::App, true, waiter(1, false)));
        assert!(!m.wait(0, 7, LineKind::App, false, waiter(2, true)));
        assert_eq!(m.request(0), (7, LineKind::App, false));
        assert!(m.stores_to(&(7..8)) && !m.stores_to(&(8..9)));
        let (entries, arrived) = completed(&mut m, 0, 50);
        assert!(arrived.again && arrived.chain);
        assert_eq!(entries, [1]);
        assert_eq!(m.request(0), (7, LineKind::App, true));
        let (entries, arrived) = completed(&mut m, 0, 90);
        assert!(!arrived.again && !arrived.chain);
        assert_eq!(entries, [2]);
        assert!(!m.stores_to(&(7..8)));
        // One register busy from slot 10 to 90.
        assert_eq!(m.time_until(100), 80);
    }
}
