//! The choice of the next command.

use super::super::device::Step;
use super::super::queue::{Entry, NEVER, NONE};
use super::{Channel, READ, WRITE};

impl Channel {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        while self.wake <= clock {
            let now = self.wake;
            if self.calendar.next() <= now {
                self.calendar.collect(now);
            }
            let (first, others) = self.first_ready(now);
            self.bus_free = now + self.issue_first(first, now);
            self.put_back(others, now);
            self.wake = self.next_wake().max(now + 1);
        }
    }

    /// The next clock at which a command may be issued, or a refresh falls due.
    #[inline]
    pub(super) fn next_wake(&self) -> u64 {
        self.wheel.next().min(self.other_events()).max(self.bus_free)
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
    /// waits, until below the low watermark.
    #[inline]
    pub(super) fn choose_queue(&mut self) {
        let [reads, writes] = self.waiting;
        if self.serving == READ {
            if reads > 0 && writes <= self.drain_high {
                return;
            }
            self.serving = WRITE;
            self.counts.drains += u64::from(writes > 0);
        } else {
            if reads == 0 || writes >= self.drain_low {
                return;
            }
            self.serving = READ;
        }
        self.release_held();
    }

    /// Looks at the held requests of the queue that is served.
    pub(super) fn release_held(&mut self) {
        let first = std::mem::replace(&mut self.held[self.serving], NONE);
        self.wheel.add_list(&mut self.pool, first);
    }

    /// Until its queue is served.
    #[inline]
    pub(super) fn hold(&mut self, slot: u16, which: usize) {
        self.pool.get_mut(slot).link = self.held[which];
        self.held[which] = slot;
    }

    /// At `ready`, or if that is never, when the bank is released.
    #[inline]
    pub(super) fn look_again(&mut self, slot: u16, ready: u64) {
        if ready == NEVER {
            self.pool.get_mut(slot).parked = true;
        } else {
            self.wheel.add(&mut self.pool, slot, ready);
        }
    }

    /// Of the requests that are due, takes out the first that may go, and a linked list of the
    /// others that may; those that may not are put where they will be looked at again.
    #[inline]
    fn first_ready(&mut self, now: u64) -> (u16, u16) {
        let clock = self.wheel.next();
        if clock > now {
            self.wheel.skip_to(now);
            return (NONE, NONE);
        }
        let first = self.wheel.take(clock);
        if clock < now || self.pool.get(first).link != NONE {
            return self.contest(first, now);
        }
        // Only one is due.
        (if self.may_go(first, now) { first } else { NONE }, NONE)
    }

    /// As [`Channel::first_ready`], for several: a list of them, and those due after these until
    /// `now`.
    fn contest(&mut self, mut next: u16, now: u64) -> (u16, u16) {
        let (mut best, mut others) = (NONE, NONE);
        loop {
            while next != NONE {
                let slot = next;
                next = self.pool.get(slot).link;
                if !self.may_go(slot, now) {
                    continue;
                }
                let mut loser = slot;
                if best == NONE || self.pool.get(slot).goes_before(self.pool.get(best)) {
                    loser = best;
                    best = slot;
                }
                if loser != NONE {
                    self.pool.get_mut(loser).link = others;
                    others = loser;
                }
            }
            let clock = self.wheel.next();
            if clock > now {
                break;
            }
            next = self.wheel.take(clock);
        }
        self.wheel.skip_to(now);
        (best, others)
    }

    /// Whether the next command of the request may be issued at `now`. If not, the request is put
    /// where it will be looked at again.
    #[inline]
    fn may_go(&mut self, slot: u16, now: u64) -> bool {
        let entry = self.pool.get(slot);
        let which = usize::from(entry.write);
        if !entry.opened && (which != self.serving || self.calendar.is_due()) {
            self.hold(slot, which);
            return false;
        }
        let ready = self.device.ready(entry);
        if ready > now {
            self.look_again(slot, ready.max(now + 1));
            return false;
        }
        true
    }

    /// Puts requests that could have gone where they will be looked at again, now that another
    /// command has been issued.
    #[inline]
    fn put_back(&mut self, mut first: u16, now: u64) {
        while first != NONE {
            let entry = self.pool.get(first);
            let next = entry.link;
            let ready = self.device.ready(entry);
            self.look_again(first, ready.max(now + 1));
            first = next;
        }
    }

    /// Issues at most one command: for the request in `slot`, if any may go, or another that comes before it.
    /// Gives the clocks it occupies the command bus.
    #[inline]
    pub(super) fn issue_first(&mut self, slot: u16, now: u64) -> u64 {
        if slot == NONE {
            return self.maintain(now);
        }
        let entry = *self.pool.get(slot);
        if entry.opened {
            self.device.release(entry.bank);
            self.access(slot, &entry, now);
            return self.device.long_command();
        }
        // A refresh that is due holds all waiting requests, so none is due here.
        if self.next_close <= now && self.close_row(now) {
            self.wheel.add(&mut self.pool, slot, now + 1);
            return 1;
        }
        match self.device.step(&entry) {
            Step::Precharge => {
                if let Some(hit) = self.older_hit(&entry) {
                    // Not while an older request still wants the row. (Another request that could
                    // have gone instead goes in the next clock.)
                    self.wheel.add(&mut self.pool, slot, hit.max(now + 1));
                    return 0;
                }
                self.precharge_for(slot, now);
                return 1;
            }
            Step::Activate => self.open(slot, &entry, now),
            Step::Column => {
                self.counts.hits += u64::from(!entry.conflict);
                self.dequeue(&entry, now);
                self.access(slot, &entry, now);
            }
        }
        self.device.long_command()
    }

    /// A command for no request: of a refresh, or of the row policy.
    #[inline]
    fn maintain(&mut self, now: u64) -> u64 {
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        u64::from(self.next_close <= now && self.close_row(now))
    }

    /// If an older request of the same queue wants the row that `entry` is about to close: when
    /// that one may go.
    #[inline]
    fn older_hit(&self, entry: &Entry) -> Option<u64> {
        let bank = self.device.bank(entry.bank);
        if self.pool.get(bank.first_request).next_of_bank == NONE {
            return None;
        }
        let hits = self
            .pool
            .of_bank(bank.first_request)
            .filter(|e| e.row == bank.row && e.write == entry.write && e.goes_before(entry));
        hits.map(|e| self.device.ready(e)).min()
    }
}
