//! The choice of the next command.

use super::super::device::CLOSED;
use super::super::lanes::{BLOCK, Ready};
use super::super::requests::{NONE, Request};
use super::super::wants::Serving;
use super::{Channel, NEVER, READ, WRITE};

impl<const W: usize> Channel<W> {
    /// Does everything up to and including `clock`, before which there is something to do.
    pub(super) fn run_until(&mut self, clock: u64) {
        let mut now = self.wake;
        let mut ready = self.device.ready(&self.wants);
        while now <= clock {
            if now >= self.alarm && self.prepare(now) {
                ready = self.device.ready(&self.wants);
            }
            let due = ready.due(self.device.short(now));
            let occupied = self.issue_first(&due, now);
            // Without a command the bus is free from now on.
            self.bus_free = now + occupied.max(1);
            ready = self.device.ready(&self.wants);
            now = self.next_event(&ready);
        }
        self.wake = now;
    }

    /// The next clock at which something can happen.
    #[inline(always)]
    pub(super) fn next_event(&self, ready: &Ready<W>) -> u64 {
        let first = self.device.first(ready);
        let next = first.max(self.bus_free);
        if next < self.alarm { next } else { first.min(self.other_events()).max(self.bus_free) }
    }

    /// Something besides the requests is to be thought of. Says whether that changes which of them
    /// are ready.
    fn prepare(&mut self, now: u64) -> bool {
        let falls_due = self.calendar.next() <= now;
        if falls_due {
            self.calendar.collect(now);
            self.wants.serving = Serving::Nobody;
        }
        let moves = now >= self.device.last_of_base();
        if moves {
            self.device.move_base(now);
        }
        self.set_alarm();
        falls_due || moves
    }

    /// Sets the alarm after a change of what it depends on.
    pub(super) fn set_alarm(&mut self) {
        let next = self.calendar.next().min(self.next_close).min(self.device.last_of_base());
        self.alarm = if self.calendar.is_due() { 0 } else { next };
    }

    /// The next clock at which something but a request may want the command bus.
    fn other_events(&self) -> u64 {
        let next = self.calendar.next();
        match self.calendar.head() {
            None => next.min(self.next_close),
            Some(rank) => next.min(self.refresh_step(rank).1),
        }
    }

    /// Whether to serve reads or to drain writes: writes above the high watermark or when no read
    /// waits, until below the low watermark. Says whether that has changed.
    #[inline]
    pub(super) fn choose_queue(&mut self) -> bool {
        let [reads, writes] = self.waiting;
        if self.serving == READ {
            if reads > 0 && writes <= self.drain_high {
                return false;
            }
            self.serving = WRITE;
            self.counts.drains += u64::from(writes > 0);
        } else {
            if reads == 0 || writes >= self.drain_low {
                return false;
            }
            self.serving = READ;
        }
        self.serve();
        true
    }

    /// Makes the requests of the queue that is served candidates.
    #[inline]
    pub(super) fn serve(&mut self) {
        self.wants.serving = if self.serving == READ { Serving::Reads } else { Serving::Writes };
    }

    /// Brings what the waiting requests of a queue want of a bank up to date, after an access to it
    /// or when it was closed for none of them.
    pub(super) fn review(&mut self, bank: u16, which: usize) {
        let first = self.requests.first(bank, which);
        let row = self.device.bank(bank).row;
        let hit = if row == CLOSED { NONE } else { self.requests.find_row(first, row) };
        self.requests.set_hit(bank, which, hit);
        if hit == NONE {
            self.wants.no_hit(bank, which);
        } else {
            self.wants.hit(bank, which, self.requests.get(hit).age);
        }
        // The row stays open while an older request wants it.
        if first == hit || self.requests.opened(bank) != NONE {
            self.wants.no_row(bank, which);
        } else {
            self.wants.row(bank, which, self.requests.get(first).age);
        }
    }

    /// Enters what a new request wants, unless an older one goes before it in all cases; gives the
    /// clock at which its command may be issued. `only` says that no other of its queue waits for
    /// its bank.
    #[inline]
    pub(super) fn enlist(&mut self, slot: u16, request: &Request, only: bool) -> u64 {
        let (bank, which) = (request.bank, usize::from(request.write));
        let opened = self.requests.opened(bank);
        if self.device.bank(bank).row == request.row {
            if self.requests.hit(bank, which) != NONE {
                return NEVER;
            }
            self.requests.set_hit(bank, which, slot);
            self.wants.hit(bank, which, request.age);
            if opened != NONE && self.requests.get(opened).write != request.write {
                self.wants.contest(bank);
            }
            return self.device.column_ready(bank, which);
        }
        if !only || opened != NONE {
            return NEVER;
        }
        self.wants.row(bank, which, request.age);
        self.device.row_ready(bank)
    }

    /// Issues the first command there is, if any. Gives the clocks it occupies the command bus.
    #[inline(always)]
    fn issue_first(&mut self, due: &[u64; W], now: u64) -> u64 {
        if let Some(bit) = self.oldest_held(due, now) {
            let bank = (bit / 2) as u16;
            let slot = self.requests.opened(bank);
            #[cfg(test)]
            assert_eq!(slot, self.first_by_rule(now), "at {now}");
            self.access_opened(slot, bank, now);
            return self.device.long_command();
        }
        if now >= self.alarm
            && let Some(rank) = self.calendar.head()
        {
            return self.refresh(rank, now);
        }
        let oldest = self.wants.oldest_waiting(due, self.serving, self.arrivals);
        let waiting = oldest.map(|bit| {
            let bank = (bit / 2) as u16;
            (self.requests.next(bank, self.serving, bit % 2), bank, bit % 2 != 0)
        });
        #[cfg(test)]
        assert_eq!(waiting.map_or(NONE, |(slot, ..)| slot), self.first_by_rule(now), "at {now}");
        if now >= self.alarm && self.next_close <= now && self.close_row(now) {
            return 1;
        }
        let Some((slot, bank, access)) = waiting else { return 0 };
        if access {
            self.access_waiting(slot, bank, now);
        } else if self.device.bank(bank).row == CLOSED {
            self.open(slot, bank, now);
        } else {
            self.precharge_for(slot, bank, now);
            return 1;
        }
        self.device.long_command()
    }

    /// The oldest of the requests whose row has been opened for them and that are due, by the
    /// position of its bit.
    #[inline(always)]
    fn oldest_held(&self, due: &[u64; W], now: u64) -> Option<usize> {
        let due = std::array::from_fn(|block| {
            let (held, contested) = self.wants.held(block);
            let due = due[block] & held;
            if due & contested == 0 { due } else { self.due_of_held(block, due, now) }
        });
        self.wants.oldest_held(&due, self.arrivals)
    }

    /// Of the banks of a block that are held and due for an access, those due for the access that
    /// they are held for, and not only for one of the other kind.
    #[cold]
    fn due_of_held(&self, block: usize, due: u64, now: u64) -> u64 {
        let mut held = due;
        let mut bits = due;
        while bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let bank = (block * BLOCK + bit / 2) as u16;
            let write = self.requests.get(self.requests.opened(bank)).write;
            if self.device.column_ready(bank, usize::from(write)) > now {
                held &= !(1 << bit);
            }
        }
        held
    }
}
