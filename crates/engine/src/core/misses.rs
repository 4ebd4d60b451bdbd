//! The miss registers (line-fill buffers) of a core, and the accesses that wait for their lines.

use super::ring::Ring;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::memory::ways::{EMPTY, matching};

/// An access that waits for a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    /// Slot in which it was issued.
    pub(super) issue: u64,
    /// Its entry in the store buffer if it is a store, else in the reorder window.
    pub(super) entry: u64,
    pub(super) store: bool,
    /// The dependence chain of which it is the last link, if it is one.
    pub(super) chain: Option<u8>,
}

impl Waiter {
    /// The slot in which a load that waits for a line has its data if the line arrives in slot `ready`. One that is
    /// issued later finds the line in the L1d.
    #[inline]
    pub(super) fn has_data(&self, ready: u64, l1_latency: u64) -> u64 {
        if self.issue > ready { self.issue + l1_latency } else { ready }
    }
}

/// Registers searched at once: as many as most cores have.
const LANES: usize = 16;

/// Accesses that can wait for one line, as many as the line has words; further ones stall dispatch.
const WAITERS: usize = 8;

/// A miss register.
#[derive(Clone, Debug)]
struct Register {
    line: Line,
    kind: LineKind,
    /// The request is for write permission.
    exclusive: bool,
    /// A store has joined a read request: when the line arrives, ask again for write permission.
    upgrade: bool,
    waiting: u8,
    /// While it is not busy, the slot from which it is free for the next miss.
    free_at: u64,
    waiters: [Waiter; WAITERS],
}

/// Why an access gets no miss register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// The register of its line already has as many waiting accesses as it can hold.
    TooManyWaiters,
    /// All registers are busy with other lines.
    AllBusy,
}

impl Refusal {
    /// Whether the line of a refused access, given where it was `found`, stays out of the private
    /// caches until the access gets a register.
    #[inline]
    pub(super) fn stays_away(self, memory: &Memory, found: Found) -> bool {
        found == Found::Nowhere && self == Refusal::AllBusy && !memory.prefetches()
    }
}

/// The miss registers of one core.
#[derive(Clone, Debug)]
pub(super) struct Misses {
    /// The lines that busy registers fetch, laid out for the search.
    lines: Vec<[Line; LANES]>,
    registers: Vec<Register>,
    /// The registers that are not busy, ordered by the slot from which they are free, then by number.
    free: Ring<(u64, u16)>,
    /// Sum of the slots in which registers were freed, minus those in which they were taken, since measuring
    /// began. Adding the current slot for each busy register gives the time integral of busy registers.
    balance: i64,
    /// Time in which all are busy, and the slot up to which it is counted.
    full: u64,
    since: u64,
    /// Lines requested since measuring began.
    pub(super) uses: u64,
}

impl Misses {
    pub(super) fn new(registers: u32) -> Misses {
        let register = Register {
            line: 0,
            kind: LineKind::App,
            exclusive: false,
            upgrade: false,
            waiting: 0,
            free_at: 0,
            waiters: [Waiter { issue: 0, entry: 0, store: false, chain: None }; WAITERS],
        };
        let n = registers as usize;
        let mut free = Ring::new(n, (0, 0));
        for register in 0..registers as u16 {
            free.push_back((0, register));
        }
        Misses {
            lines: vec![[EMPTY; LANES]; n.div_ceil(LANES)],
            registers: vec![register; n],
            free,
            balance: 0,
            full: 0,
            since: 0,
            uses: 0,
        }
    }

    /// Line and kind that a register requests, and whether it is for writing.
    pub(super) fn request(&self, register: u16) -> (Line, LineKind, bool) {
        let r = &self.registers[register as usize];
        (r.line, r.kind, r.exclusive)
    }

    /// Whether stores have joined the read request of a register.
    #[inline]
    pub(super) fn wants_upgrade(&self, register: u16) -> bool {
        self.registers[usize::from(register)].upgrade
    }

    /// The line of a register has arrived with write permission: its stores need not ask for it.
    pub(super) fn has_right(&mut self, register: u16) {
        self.registers[usize::from(register)].upgrade = false;
    }

    /// The register that fetches a line.
    #[inline]
    fn find(&self, line: Line) -> Option<usize> {
        for (i, lines) in self.lines.iter().enumerate() {
            let same = matching(lines, line);
            if same != 0 {
                return Some(i * LANES + same.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Whether every register is busy with another line.
    #[inline]
    pub(super) fn all_busy(&self, line: Line) -> bool {
        self.free.is_empty() && self.find(line).is_none()
    }

    /// The register that already fetches the line, or else the one that is free first, and the slot
    /// from which it can take the access.
    #[inline]
    pub(super) fn register_for(&self, line: Line) -> Result<(u16, u64), Refusal> {
        if let Some(number) = self.find(line) {
            let r = &self.registers[number];
            return if usize::from(r.waiting) < WAITERS {
                Ok((number as u16, r.free_at))
            } else {
                Err(Refusal::TooManyWaiters)
            };
        }
        match self.free.front() {
            Some(&(free_at, register)) => Ok((register, free_at)),
            None => Err(Refusal::AllBusy),
        }
    }

    /// Makes `waiter` wait for the line in `register`, as returned by [`Misses::register_for`].
    /// Returns whether the line has to be requested.
    #[inline(always)]
    pub(super) fn wait(
        &mut self,
        register: u16,
        line: Line,
        kind: LineKind,
        waiter: Waiter,
    ) -> bool {
        let number = usize::from(register);
        let r = &mut self.registers[number];
        let new = r.waiting == 0;
        if new {
            (r.line, r.kind, r.exclusive) = (line, kind, waiter.store);
            r.upgrade = false;
            self.lines[number / LANES][number % LANES] = line;
        } else {
            r.upgrade |= waiter.store && !r.exclusive;
        }
        r.waiters[usize::from(r.waiting)] = waiter;
        r.waiting += 1;
        if new {
            self.count(waiter.issue);
            self.balance -= waiter.issue as i64;
            self.free.pop_front();
            self.uses += 1;
        }
        new
    }

    /// The line of a register arrives in slot `ready`: passes the accesses that it completes to
    /// `complete`, and frees the register. If stores still wait for write permission, it stays busy, and the
    /// slot is returned in which it asks for that.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        register: u16,
        ready: u64,
        mut complete: impl FnMut(&Waiter),
    ) -> Option<u64> {
        let number = usize::from(register);
        let r = &mut self.registers[number];
        let waiting = usize::from(std::mem::take(&mut r.waiting));
        let mut again = None;
        if r.upgrade {
            // Stores that joined a read request need write permission: ask once more.
            let mut first = u64::MAX;
            for i in 0..waiting {
                let waiter = r.waiters[i];
                if waiter.store {
                    r.waiters[usize::from(r.waiting)] = waiter;
                    r.waiting += 1;
                    first = first.min(waiter.issue);
                } else {
                    complete(&waiter);
                }
            }
            (r.exclusive, r.upgrade) = (true, false);
            again = Some(first.max(ready));
        } else {
            r.waiters[..waiting].iter().for_each(complete);
            r.free_at = ready;
            self.lines[number / LANES][number % LANES] = EMPTY;
            self.count(ready);
            self.balance += ready as i64;
            self.put_free(ready, register);
        }
        again
    }

    /// Inserts a register among the free ones, mostly at the end, because lines mostly arrive in time order.
    #[inline]
    fn put_free(&mut self, free_at: u64, register: u16) {
        let mut position = self.free.push_back((free_at, register));
        while position > self.free.head() && *self.free.at(position - 1) > (free_at, register) {
            *self.free.at_mut(position) = *self.free.at(position - 1);
            position -= 1;
        }
        *self.free.at_mut(position) = (free_at, register);
    }

    /// Whether a store to one of these lines is waiting.
    pub(super) fn stores_to(&self, lines: &std::ops::Range<Line>) -> bool {
        self.registers.iter().any(|r| {
            lines.contains(&r.line)
                && r.waiters[..usize::from(r.waiting)].iter().any(|waiter| waiter.store)
        })
    }

    fn busy(&self) -> i64 {
        (self.registers.len() - self.free.len()) as i64
    }

    /// Counts the time in which all are busy up to `slot`.
    #[inline]
    fn count(&mut self, slot: u64) {
        self.full = self.full_until(slot);
        self.since = self.since.max(slot);
    }

    fn full_until(&self, slot: u64) -> u64 {
        self.full + if self.free.is_empty() { slot.saturating_sub(self.since) } else { 0 }
    }

    /// Time integral of busy registers, in register-slots, and time in which all are busy, in
    /// slots, from the beginning of the measured time to `slot`.
    #[inline]
    pub(super) fn times_until(&self, slot: u64) -> (u64, u64) {
        ((self.balance + self.busy() * slot as i64).max(0) as u64, self.full_until(slot))
    }

    /// Starts the measured time.
    pub(super) fn reset_time(&mut self, slot: u64) {
        self.count(slot);
        (self.balance, self.full, self.uses) = (-self.busy() * slot as i64, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiter(entry: u64, store: bool) -> Waiter {
        Waiter { issue: 10, entry, store, chain: None }
    }

    fn completed(misses: &mut Misses, register: u16, ready: u64) -> (Vec<u64>, Option<u64>) {
        let mut entries = Vec::new();
        let again = misses.arrive(register, ready, |w| entries.push(w.entry));
        (entries, again)
    }

    #[test]
    fn accesses_to_one_line_share_a_register_up_to_its_waiters() {
        let mut m = Misses::new(2);
        for entry in 0..WAITERS as u64 {
            let (register, _) = m.register_for(7).expect("there is room");
            let new = m.wait(register, 7, LineKind::App, waiter(entry, false));
            assert_eq!((register, new), (0, entry == 0));
        }
        assert_eq!(m.register_for(7), Err(Refusal::TooManyWaiters));
        assert_eq!(m.register_for(8), Ok((1, 0)));
        assert_eq!(completed(&mut m, 0, 50).0, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_time_that_registers_are_busy_is_that_of_each() {
        let mut m = Misses::new(2);
        let wait = |m: &mut Misses, line, issue| {
            let (register, _) = m.register_for(line).expect("one is free");
            m.wait(
                register,
                line,
                LineKind::App,
                Waiter { issue, entry: 0, store: false, chain: None },
            );
            register
        };
        // Busy from 0 to 100, which is known before the second is taken; from 60 to 160; and from 150 on.
        let first = wait(&mut m, 1, 0);
        completed(&mut m, first, 100);
        let second = wait(&mut m, 2, 60);
        completed(&mut m, second, 160);
        wait(&mut m, 3, 150);
        assert_eq!(m.times_until(170).0, 100 + 100 + 20);
        m.reset_time(170);
        assert_eq!(m.times_until(200).0, 30);
    }

    #[test]
    fn the_register_that_is_free_first_is_used_first() {
        let mut m = Misses::new(3);
        for line in 0..3 {
            let (register, _) = m.register_for(line).expect("one is free");
            m.wait(register, line, LineKind::App, waiter(0, false));
        }
        assert_eq!(m.register_for(9), Err(Refusal::AllBusy));
        assert!(m.all_busy(9) && !m.all_busy(2));
        for (register, ready) in [(1, 70), (0, 90), (2, 80)] {
            completed(&mut m, register, ready);
        }
        for wanted in [(1, 70), (2, 80), (0, 90)] {
            assert_eq!(m.register_for(9), Ok(wanted));
            m.wait(wanted.0, 10 + u32::from(wanted.0), LineKind::App, waiter(0, false));
        }
    }

    #[test]
    fn a_store_behind_a_load_asks_for_the_right_to_write() {
        let mut m = Misses::new(1);
        assert!(m.wait(0, 7, LineKind::App, waiter(1, false)));
        assert!(!m.wait(0, 7, LineKind::App, waiter(2, true)));
        assert_eq!(m.request(0), (7, LineKind::App, false));
        assert!(m.stores_to(&(7..8)) && !m.stores_to(&(8..9)));
        assert_eq!(completed(&mut m, 0, 50), (vec![1], Some(50)));
        assert_eq!(m.request(0), (7, LineKind::App, true));
        assert_eq!(completed(&mut m, 0, 90), (vec![2], None));
        assert!(!m.stores_to(&(7..8)));
        // The only register is busy from slot 10 to 90.
        assert_eq!((m.times_until(100), m.uses), ((80, 80), 1));
    }

    #[test]
    fn what_is_issued_after_its_line_has_arrived_finds_it() {
        let at = |issue| Waiter { issue, ..waiter(1, false) };
        assert_eq!([40, 50, 51].map(|issue| at(issue).has_data(50, 4)), [50, 50, 55]);
        // A store that joins a read and is issued later asks later for the right to write.
        let mut m = Misses::new(1);
        m.wait(0, 7, LineKind::App, at(10));
        m.wait(0, 7, LineKind::App, Waiter { store: true, ..at(60) });
        assert_eq!(completed(&mut m, 0, 50), (vec![1], Some(60)));
    }
}
