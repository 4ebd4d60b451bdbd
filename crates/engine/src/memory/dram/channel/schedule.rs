//! The choice of the next command.

use super::super::device::CLOSED;
use super::super::lanes::BLOCK;
use super::super::requests::{NONE, Request};
use super::super::wants::Serving;
use super::{Channel, NEVER, READ, WRITE};

/// A request whose next command may be issued.
#[derive(Clone, Copy)]
struct Candidate {
    slot: u16,
    bank: u16,
    /// An access to the open row, not a precharge or activate.
    access: bool,
}

impl<const W: usize> Channel<W> {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        loop {
            let ready = self.device.ready(&self.wants);
            let first = self.device.clock(ready.first());
            let now = first.min(self.other_events()).max(self.bus_free);
            if now > clock {
                self.wake = now;
                return;
            }
            if self.calendar.next() <= now {
                self.calendar.collect(now);
                self.wants.serving = Serving::Nobody;
                self.bus_free = now;
                continue;
            }
            if self.device.moves_base(now) {
                continue;
            }
            let due = ready.due(self.device.short(now));
            let occupied = self.issue_first(&due, now);
            // Without a command the bus is free from now on.
            self.bus_free = now + occupied.max(1);
        }
    }

    /// The next clock at which something can happen.
    pub(super) fn next_event(&self) -> u64 {
        let first = self.device.clock(self.device.ready(&self.wants).first());
        first.min(self.other_events()).max(self.bus_free)
    }

    /// The next clock at which something but a request may want the command bus.
    #[inline]
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

    /// Brings what the waiting requests want of a bank up to date, after an access to it or when
    /// the row policy has closed it.
    #[inline]
    pub(super) fn review(&mut self, bank: u16) {
        for which in [READ, WRITE] {
            let first = self.requests.first(bank, which);
            let (mut hit, mut row_wanted) = (NONE, false);
            if first != NONE {
                (hit, row_wanted) = self.review_waiting(bank, first);
            }
            self.requests.set_hit(bank, which, hit);
            self.wants.row(bank, which, row_wanted);
            self.wants.column(bank, which, hit != NONE);
        }
        let opened = self.requests.opened(bank);
        if opened != NONE {
            self.wants.column(bank, usize::from(self.requests.get(opened).write), true);
        }
    }

    /// The oldest that wants the open row of a bank, and whether one goes before it that wants
    /// another. `first` is the oldest of those that wait.
    #[inline]
    fn review_waiting(&self, bank: u16, first: u16) -> (u16, bool) {
        let row = self.device.bank(bank).row;
        if row == CLOSED {
            return (NONE, true);
        }
        // The row stays open while an older request wants it.
        let hit = self.requests.find_row(first, row);
        (hit, hit != first && self.requests.opened(bank) == NONE)
    }

    /// Enters what a new request wants, unless an older one goes before it in all cases; gives the
    /// clock at which its command may be issued. `only` says that no other of its queue waits for
    /// its bank.
    #[inline]
    pub(super) fn enlist(&mut self, slot: u16, request: &Request, only: bool) -> u64 {
        let (bank, which) = (request.bank, usize::from(request.write));
        if self.device.bank(bank).row == request.row {
            if self.requests.hit(bank, which) != NONE {
                return NEVER;
            }
            self.requests.set_hit(bank, which, slot);
            self.wants.column(bank, which, true);
            return self.device.column_ready(bank, which);
        }
        if !only || self.requests.opened(bank) != NONE {
            return NEVER;
        }
        self.wants.row(bank, which, true);
        self.device.row_ready(bank)
    }

    /// Issues the first command there is, if any. Gives the clocks it occupies the command bus.
    #[inline]
    fn issue_first(&mut self, due: &[u64; W], now: u64) -> u64 {
        let opened = self.oldest_opened(due, now);
        if let Some(Candidate { slot, bank, .. }) = opened {
            #[cfg(test)]
            assert_eq!(slot, self.first_by_rule(now), "at {now}");
            self.access_opened(slot, bank, now);
            return self.device.long_command();
        }
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        let waiting = self.oldest_waiting(due);
        #[cfg(test)]
        assert_eq!(waiting.map_or(NONE, |c| c.slot), self.first_by_rule(now), "at {now}");
        if self.next_close <= now && self.close_row(now) {
            return 1;
        }
        let Some(Candidate { slot, bank, access }) = waiting else { return 0 };
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

    /// The oldest request whose row has been opened for it and can be accessed.
    #[inline]
    fn oldest_opened(&self, due: &[u64; W], now: u64) -> Option<Candidate> {
        let (mut oldest, mut age) = (None, self.arrivals);
        for (block, due) in due.iter().enumerate() {
            let mut bits = due & self.wants.opened(block);
            while bits != 0 {
                let bank = (block * BLOCK) as u16 + bits.trailing_zeros() as u16 / 2;
                bits &= bits - 1;
                let slot = self.requests.opened(bank);
                let request = self.requests.get(slot);
                // What is due may be the access of a waiting request of the other kind.
                let is_due = self.device.column_ready(bank, usize::from(request.write)) <= now;
                if is_due && (request.age.wrapping_sub(age) as i32) < 0 {
                    (oldest, age) = (Some(Candidate { slot, bank, access: true }), request.age);
                }
            }
        }
        oldest
    }

    /// The oldest waiting request of the queue served whose command is due. (Fewer than 2^31
    /// requests arrive while one waits, so ages can be compared modulo 2^32.)
    #[inline]
    fn oldest_waiting(&self, due: &[u64; W]) -> Option<Candidate> {
        let (mut oldest, mut age) = (None, self.arrivals);
        for (block, due) in due.iter().enumerate() {
            let mut bits = *due;
            while bits != 0 {
                let bit = bits.trailing_zeros() as u16;
                bits &= bits - 1;
                let (bank, access) = ((block * BLOCK) as u16 + bit / 2, bit % 2);
                let slot = self.requests.next(bank, self.serving, access.into());
                let request = self.requests.get(slot);
                if (request.age.wrapping_sub(age) as i32) < 0 {
                    (oldest, age) = (Some(Candidate { slot, bank, access: access != 0 }), request.age);
                }
            }
        }
        oldest
    }
}
