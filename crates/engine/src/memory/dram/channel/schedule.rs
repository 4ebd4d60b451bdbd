//! The choice of the next command.

use super::super::device::CLOSED;
use super::super::lanes::{BankSet, Ready};
use super::super::requests::{NONE, Request};
use super::{Channel, NEVER, READ, WRITE};

impl<const W: usize> Channel<W> {
    /// Does everything up to and including `clock`; there is something to do by then.
    pub(super) fn run_until(&mut self, clock: u64) {
        let mut now = self.wake;
        let mut ready = self.device.ready();
        while now <= clock {
            let occupied = if now < self.alarm {
                let due = ready.due(self.device.short(now));
                self.issue_held(&due, now).unwrap_or_else(|| self.issue_waiting(&due, now))
            } else {
                self.attend(now)
            };
            // Without a command the bus is free from the next clock on.
            self.bus_free = now + occupied.max(1);
            ready = self.device.ready();
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

    /// The same decision when more than the requests needs attention.
    #[cold]
    fn attend(&mut self, now: u64) -> u64 {
        if self.calendar.next() <= now {
            self.calendar.collect(now);
            self.review_all();
        }
        if now >= self.device.last_of_base() {
            self.device.move_base(now);
        }
        self.set_alarm();
        let due = self.device.ready().due(self.device.short(now));
        if let Some(occupied) = self.issue_held(&due, now) {
            return occupied;
        }
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        if self.next_close <= now && self.close_row(now) {
            return 1;
        }
        self.issue_waiting(&due, now)
    }

    /// Sets the alarm after a change of something that it depends on.
    pub(super) fn set_alarm(&mut self) {
        let next = self.calendar.next().min(self.next_close).min(self.device.last_of_base());
        self.alarm = if self.calendar.is_due() { 0 } else { next };
    }

    /// The next clock at which something other than a request may want the command bus.
    fn other_events(&self) -> u64 {
        let next = self.calendar.next();
        match self.calendar.head() {
            None => next.min(self.next_close),
            Some(rank) => next.min(self.refresh_step(rank).1),
        }
    }

    /// Decides whether to serve reads or to drain writes. A drain begins above the high watermark, if
    /// enough reads have been served since the last drain, or when no read waits; it ends below the low
    /// watermark, if reads wait. Returns whether the decision has changed.
    #[inline]
    pub(super) fn choose_queue(&mut self) -> bool {
        let [reads, writes] = self.waiting;
        if self.serving == READ {
            if reads > 0 && (writes <= self.drain_high || self.reads_left > 0) {
                return false;
            }
            self.serving = WRITE;
            self.counts.drains += u64::from(writes > 0);
        } else {
            if reads == 0 || writes >= self.drain_low {
                return false;
            }
            self.serving = READ;
            self.reads_left = self.reads_between_drains;
        }
        self.review_all();
        true
    }

    /// Recomputes what is wanted of all banks: for requests whose row has been opened for them and,
    /// unless a refresh is due, for those of the queue being served.
    pub(super) fn review_all(&mut self) {
        self.device.want_nothing();
        self.contested = BankSet::EMPTY;
        for bank in self.held {
            let write = self.requests.get(self.requests.opened(bank)).write;
            self.device.want_column(bank, usize::from(write));
        }
        if !self.calendar.is_due() {
            for bank in self.asked[self.serving % 2] {
                self.enter(bank);
            }
        }
    }

    /// Recomputes what requests of the queue being served want of a bank.
    #[inline]
    pub(super) fn review(&mut self, bank: u16) {
        self.device.want_no_row(bank);
        self.device.want_no_column(bank, self.serving);
        self.requests.set_hit(bank, self.serving, NONE);
        self.enter_any(bank);
    }

    /// Enters what requests of the queue being served, if there are any, want of a bank for which
    /// nothing is entered.
    #[inline]
    pub(super) fn enter_any(&mut self, bank: u16) {
        if self.requests.first(bank, self.serving) != NONE && !self.calendar.is_due() {
            self.enter(bank);
        }
    }

    fn enter(&mut self, bank: u16) {
        let first = self.requests.first(bank, self.serving);
        let row = self.device.bank(bank).row;
        let hit = if row == CLOSED { NONE } else { self.requests.find_row(first, row) };
        self.requests.set_hit(bank, self.serving, hit);
        let opened = self.requests.opened(bank);
        if hit != NONE {
            self.enter_hit(bank, opened);
        }
        // The row stays open while an older request wants it.
        if first != hit && opened == NONE {
            self.device.want_row(bank);
        }
    }

    /// Enters that a request of the queue being served wants the open row of a bank; the row may have
    /// been opened for another request, `opened`.
    #[inline]
    fn enter_hit(&mut self, bank: u16, opened: u16) {
        self.device.want_column(bank, self.serving);
        if opened != NONE && usize::from(self.requests.get(opened).write) != self.serving {
            self.contested.insert(bank);
        }
    }

    /// Enters what a new request of the queue being served wants, unless an older one goes first in any
    /// case. Returns the clock at which its command may be issued. `only` says that no other request of
    /// its queue waits for its bank.
    #[inline]
    pub(super) fn enlist(&mut self, slot: u16, request: &Request, only: bool) -> u64 {
        let (bank, which) = (request.bank, usize::from(request.write));
        let opened = self.requests.opened(bank);
        if self.device.bank(bank).row == request.row {
            if self.requests.hit(bank, self.serving) != NONE {
                return NEVER;
            }
            self.requests.set_hit(bank, self.serving, slot);
            self.enter_hit(bank, opened);
            return self.device.column_ready(bank, which);
        }
        if !only || opened != NONE {
            return NEVER;
        }
        self.device.want_row(bank);
        self.device.row_ready(bank)
    }

    /// Issues the access of a request whose row has been opened for it, if one is due. Returns the
    /// clocks for which it occupies the command bus.
    #[inline(always)]
    fn issue_held(&mut self, due: &BankSet<W>, now: u64) -> Option<u64> {
        let (slot, bank) = self.oldest_held(due, now)?;
        #[cfg(test)]
        assert_eq!(slot, self.first_by_rule(now), "at {now}");
        self.access_opened(slot, bank, now);
        Some(self.device.long_command())
    }

    /// Issues the next command of a waiting request, if one is due. Returns the clocks for which it
    /// occupies the command bus.
    #[inline(always)]
    fn issue_waiting(&mut self, due: &BankSet<W>, now: u64) -> u64 {
        let oldest = self.oldest_waiting(due, now);
        #[cfg(test)]
        assert_eq!(oldest.map_or(NONE, |(slot, _)| slot), self.first_by_rule(now), "at {now}");
        let Some((slot, bank)) = oldest else { return 0 };
        let row = self.device.bank(bank).row;
        if row == CLOSED {
            self.open(slot, bank, now);
        } else if row == self.requests.get(slot).row {
            self.access_waiting(slot, bank, now);
        } else {
            self.precharge_for(slot, bank, now);
            return 1;
        }
        self.device.long_command()
    }

    /// The oldest due request of those whose row has been opened for them, and its bank.
    #[inline(always)]
    fn oldest_held(&self, due: &BankSet<W>, now: u64) -> Option<(u16, u16)> {
        let mut held = due.intersection(&self.held);
        if held.is_empty() {
            return None;
        }
        if !held.intersection(&self.contested).is_empty() {
            held = self.due_as_held(held, now);
        }
        self.oldest(held, |bank| self.requests.opened(bank))
    }

    /// Of the held banks that are due, those due for the access that they are held for, and not only
    /// for one of the other kind.
    #[cold]
    fn due_as_held(&self, mut held: BankSet<W>, now: u64) -> BankSet<W> {
        for bank in held {
            let write = self.requests.get(self.requests.opened(bank)).write;
            if self.device.column_ready(bank, usize::from(write)) > now {
                held.remove(bank);
            }
        }
        held
    }

    /// The oldest waiting request that is due, and its bank, when no held bank is due.
    #[inline(always)]
    fn oldest_waiting(&self, due: &BankSet<W>, now: u64) -> Option<(u16, u16)> {
        self.oldest(*due, |bank| {
            let hit = self.requests.hit(bank, self.serving);
            // Of a bank's two candidates, the first of its queue is the older one.
            let of_row = hit == NONE || self.device.precharge_due(bank, now);
            if of_row { self.requests.first(bank, self.serving) } else { hit }
        })
    }

    /// The oldest of the requests that `of_bank` names for `banks`, and its bank.
    #[inline(always)]
    fn oldest(&self, mut banks: BankSet<W>, of_bank: impl Fn(u16) -> u16) -> Option<(u16, u16)> {
        let bank = banks.next()?;
        let mut oldest = (of_bank(bank), bank);
        if !banks.is_empty() {
            let mut age = self.requests.age(oldest.0);
            for bank in banks {
                let slot = of_bank(bank);
                let other = self.requests.age(slot);
                // Fewer than 2^31 arrive while one waits, so ages can be compared modulo 2^32.
                if (other.wrapping_sub(age) as i32) < 0 {
                    (oldest, age) = ((slot, bank), other);
                }
            }
        }
        Some(oldest)
    }
}
