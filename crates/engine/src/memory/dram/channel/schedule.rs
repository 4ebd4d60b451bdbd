//! The choice of the next command.

use super::super::agenda::{Candidate, NEVER};
use super::super::device::{CLOSED, Step};
use super::super::requests::{NONE, Request};
use super::{Channel, READ, WRITE};

/// How much older than any waiting request those count whose row is open for them: they go first.
pub(super) const OPENED: u32 = 1 << 30;

impl<const W: usize> Channel<W> {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        while self.wake <= clock {
            let now = self.wake;
            if self.calendar.next() <= now {
                self.calendar.collect(now);
                self.review_all();
            }
            self.agenda.advance(now);
            self.bus_free = now + self.issue_first(now);
            // Without a command the bus is free from now on.
            self.bus_free = self.bus_free.max(now + 1);
            let next = self.agenda.next().min(self.other_events());
            self.wake = next.max(self.bus_free);
        }
    }

    /// The next clock at which something but a waiting request may want the command bus.
    #[inline]
    fn other_events(&self) -> u64 {
        let next = self.calendar.next();
        match self.calendar.head() {
            None => next.min(self.next_close),
            Some(rank) => next.min(self.device.refresh_step(rank).1),
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
        true
    }

    /// Brings the candidates of all banks up to date: after a turn between reads and writes, and
    /// when a refresh falls due or is done.
    pub(super) fn review_all(&mut self) {
        self.agenda.clear();
        for bank in 0..self.banks {
            self.nominate(bank);
        }
    }

    /// Adds the candidates of a bank that has none. (Most banks have nothing to add: only that is
    /// worth having in line.)
    #[inline(always)]
    pub(super) fn nominate(&mut self, bank: u16) {
        let opened = self.requests.opened(bank);
        let first = self.requests.first(bank, self.serving);
        if opened != NONE {
            self.nominate_opened(bank, opened, first);
        } else if first != NONE && !self.calendar.is_due() {
            self.nominate_waiting(bank, first);
        }
    }

    /// The same for a bank whose row has been opened for a request.
    #[inline(never)]
    fn nominate_opened(&mut self, bank: u16, opened: u16, first: u16) {
        let &Request { age, row, write, .. } = self.requests.get(opened);
        self.add(self.row_of(bank), opened, bank, Step::access(write), age.wrapping_sub(OPENED));
        // One of the same queue cannot go before it, but one of the other may.
        if usize::from(write) != self.serving && !self.calendar.is_due() {
            self.nominate_hit(bank, self.requests.find_row(first, row));
        }
    }

    /// The same for a bank whose row may be closed, of whose waiting requests `first` is the
    /// oldest.
    #[inline(never)]
    fn nominate_waiting(&mut self, bank: u16, first: u16) {
        let (row, oldest) = (self.device.bank(bank).row, self.requests.get(first).age);
        if row == CLOSED {
            self.add(self.row_of(bank), first, bank, Step::Activate, oldest);
            return;
        }
        // The row stays open while an older request wants it.
        let hit = self.requests.find_row(first, row);
        if hit != first {
            self.add(self.row_of(bank), first, bank, Step::Precharge, oldest);
        }
        self.nominate_hit(bank, hit);
    }

    #[inline]
    fn nominate_hit(&mut self, bank: u16, hit: u16) {
        if hit != NONE {
            let step = Step::access(self.serving == WRITE);
            self.add(self.hit_of(bank), hit, bank, step, self.requests.get(hit).age);
        }
    }

    /// The candidate for the row of a bank: its activate or precharge, or the access of the request
    /// that its row was opened for.
    #[inline]
    pub(super) fn row_of(&self, bank: u16) -> usize {
        usize::from(bank)
    }

    /// The candidate for an access to the open row of a bank by a waiting request.
    #[inline]
    pub(super) fn hit_of(&self, bank: u16) -> usize {
        usize::from(self.banks + bank)
    }

    /// Adds a candidate and gives the clock at which it will be looked at.
    #[inline]
    fn add(&mut self, id: usize, request: u16, bank: u16, step: Step, age: u32) -> u64 {
        let ready = self.device.ready(bank, step);
        self.agenda.add(id, Candidate { request, bank: bank as u8, step }, age, ready)
    }

    /// A new request of the queue that is served is a candidate unless an older one goes before it
    /// in all cases. `only` says that no other of the queue waits for its bank.
    #[inline]
    pub(super) fn enlist(&mut self, slot: u16, request: &Request, only: bool) -> u64 {
        let (bank, age) = (request.bank, request.age);
        let state = self.device.bank(bank);
        if state.row == request.row {
            let hit = self.hit_of(bank);
            if self.agenda.contains(hit) {
                return NEVER;
            }
            return self.add(hit, slot, bank, Step::access(request.write), age);
        }
        if !only || state.reserved {
            return NEVER;
        }
        let step = if state.row == CLOSED { Step::Activate } else { Step::Precharge };
        self.add(self.row_of(bank), slot, bank, step, age)
    }

    /// Issues the first command there is, if any. Gives the clocks it occupies the command bus.
    #[inline]
    fn issue_first(&mut self, now: u64) -> u64 {
        while let Some(id) = self.agenda.oldest_due(self.arrivals) {
            let Candidate { bank, step, request } = self.agenda.get(id);
            let bank = u16::from(bank);
            let ready = self.device.ready(bank, step);
            if ready > now {
                // Delayed by a command elsewhere.
                self.agenda.postpone(id, ready);
                continue;
            }
            #[cfg(test)]
            assert_eq!(request, self.first_by_rule(now), "at {now}");
            let opened = step >= Step::Read && id < usize::from(self.banks);
            // A refresh that is due holds all waiting requests, so none is due here.
            if self.next_close <= now && !opened && self.close_row(now) {
                return 1;
            }
            self.agenda.take(id);
            match step {
                Step::Precharge => {
                    self.precharge_for(request, bank, now);
                    return 1;
                }
                Step::Activate => self.open(request, bank, now),
                Step::Read | Step::Write if opened => self.access_opened(request, bank, now),
                Step::Read | Step::Write => self.access_waiting(request, bank, now),
            }
            return self.device.long_command();
        }
        #[cfg(test)]
        assert_eq!(NONE, self.first_by_rule(now), "at {now}");
        self.maintain(now)
    }

    /// A command for no request: of a refresh, or of the row policy.
    fn maintain(&mut self, now: u64) -> u64 {
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        u64::from(self.next_close <= now && self.close_row(now))
    }
}
