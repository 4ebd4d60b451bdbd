//! When to look at which bank, and what to do for it then.

use super::super::device::CLOSED;
use super::super::queue::{Entry, NONE};
use super::super::wheel::NEVER;
use super::{Channel, Kind, Opened, READ, WRITE};

impl Channel {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        while self.wake <= clock {
            let now = self.wake;
            self.device.advance(now);
            if self.next_burst <= now {
                self.place_bursts(now);
            }
            if self.next_refresh() <= now {
                self.refresh(now);
            }
            if self.wheel.next() == now {
                let mut due = self.wheel.take(now);
                while let Some(bank) = due.pop(self.banks) {
                    self.look(bank, now);
                }
            }
            self.wake = self.next_wake();
        }
    }

    /// The next clock with something to do.
    #[inline]
    pub(super) fn next_wake(&self) -> u64 {
        self.wheel.next().min(self.next_burst).min(self.next_refresh())
    }

    /// The next clock at which a rank falls due or, if one is, may be refreshed.
    #[inline]
    fn next_refresh(&self) -> u64 {
        let due = self.calendar.next();
        if self.calendar.is_due() && self.opened.is_empty() {
            due.min(self.held_until)
        } else {
            due
        }
    }

    /// Whether to serve reads or to drain writes: writes above the high watermark or when no read
    /// waits, until below the low watermark.
    #[inline]
    pub(super) fn choose_queue(&mut self, now: u64) {
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
        if self.waiting[self.serving] > 0 {
            self.wheel.add_all(&self.waiting_banks[self.serving], now + 1);
        }
    }

    /// Brings `bank` forward: a command for the requests of the queue that is served, or of the row
    /// policy; or says when to look again.
    #[inline]
    pub(super) fn look(&mut self, bank: u16, now: u64) {
        let b = self.device.bank(bank);
        let first = b.waiting[self.serving].first;
        if first == NONE && !self.closes_rows {
            return;
        }
        if b.reserved {
            // Looked at when the access has its place.
            return;
        }
        if now < self.held_until || self.calendar.is_due() {
            self.wheel.add(bank, self.held_until.max(now + 8));
            return;
        }
        if first == NONE {
            self.close_if_due(bank, now);
            return;
        }
        if b.row == CLOSED {
            let ready = self.device.activate_ready(bank);
            if ready > now {
                self.wheel.add(bank, ready);
            } else {
                self.open(bank, first, now);
            }
            return;
        }
        // The oldest for the open row goes before it is closed, unless an older request wants
        // another row and could have it closed before that one can go.
        let row = b.row;
        let hit = self.pool.find(&b.waiting[self.serving], |e| e.row == row);
        let close = self.device.precharge_ready(bank);
        if hit != NONE {
            let ready = self.device.column_ready(bank);
            if hit == first || ready <= close.max(now) {
                if ready > now {
                    self.wheel.add(bank, ready);
                } else {
                    let write = self.serving == WRITE;
                    let entry = self.dequeue(bank, hit, now);
                    self.counts.hits += u64::from(!entry.conflict);
                    let clock = self.device.column_slot(bank, write, now);
                    self.access(bank, entry.tag, write, clock, now);
                }
                return;
            }
        }
        if close > now {
            self.wheel.add(bank, close);
        } else {
            let entry = self.pool.get_mut(first);
            self.counts.conflicts += u64::from(!entry.conflict);
            entry.conflict = true;
            self.close(bank, now);
            self.wheel.add(bank, self.device.activate_ready(bank));
        }
    }

    /// Takes a request out of its queue.
    #[inline]
    fn dequeue(&mut self, bank: u16, slot: u16, now: u64) -> Entry {
        let which = self.serving;
        let entry = *self.pool.get(slot);
        let list = &mut self.device.bank_mut(bank).waiting[which];
        self.pool.remove(list, slot);
        if list.is_empty() {
            self.waiting_banks[which].remove(bank);
        }
        self.waiting[which] -= 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        self.choose_queue(now);
        entry
    }

    /// Opens the row of a request, which leaves its queue.
    #[inline]
    fn open(&mut self, bank: u16, slot: u16, now: u64) {
        let write = self.serving == WRITE;
        let entry = self.dequeue(bank, slot, now);
        self.counts.misses += u64::from(!entry.conflict);
        let clock = self.device.activate(bank, entry.row, now);
        self.trace.record(clock, Kind::Activate, bank, entry.row);
        let from = clock + self.device.activate_to_column();
        if self.next_burst < from {
            self.place_bursts(now);
        }
        self.opened.push(Opened { from, tag: entry.tag, bank, write });
        self.next_burst = self.next_burst.min(from);
    }

    /// Gives the opened requests their places on the data bus, always the one that can go first
    /// (of several the one opened first), as far as no request opened from `now` on could come
    /// before.
    fn place_bursts(&mut self, now: u64) {
        let horizon = now + self.device.activate_to_column();
        loop {
            let (mut best, mut first) = (0, NEVER);
            for (i, o) in self.opened.iter().enumerate() {
                if o.from >= first {
                    break;
                }
                let clock = self.device.column_after_all(o.bank, o.write);
                if clock < first {
                    (best, first) = (i, clock);
                }
            }
            self.next_burst = first;
            if first >= horizon {
                return;
            }
            let Opened { tag, bank, write, .. } = self.opened.remove(best);
            let clock = self.device.command_slot(first.max(now));
            self.access(bank, tag, write, clock, now);
        }
    }

    /// Reads or writes the open row at `clock`.
    #[inline]
    fn access(&mut self, bank: u16, tag: u32, write: bool, clock: u64, now: u64) {
        let b = self.device.bank(bank);
        let row = b.row;
        let waiting = b.waiting[self.serving];
        let close = b.accesses >= self.close_after;
        let end = self.device.column(bank, write, close, clock, now);
        self.trace.record(clock, Kind::column(write, close), bank, row);
        self.counts.served[usize::from(write)] += 1;
        self.finish(tag, write, end);
        if !waiting.is_empty() {
            let hit = !close && self.pool.find(&waiting, |e| e.row == row) != NONE;
            let next = if hit { clock } else { self.device.bank(bank).next_precharge };
            self.wheel.add(bank, next.max(now + 1));
        } else if self.closes_rows && !close {
            self.wheel.add(bank, clock.max(now + 1));
        }
    }

    /// Precharges a bank.
    #[inline]
    fn close(&mut self, bank: u16, now: u64) {
        let clock = self.device.precharge(bank, now);
        self.trace.record(clock, Kind::Precharge, bank, CLOSED);
    }

    /// Closes the row of a bank if the row policy wants it, or looks again when it will.
    fn close_if_due(&mut self, bank: u16, now: u64) {
        let b = self.device.bank(bank);
        if b.row == CLOSED || (self.timeout.is_none() && b.accesses < self.close_after) {
            return;
        }
        let expiry = self.timeout.map_or(0, |clocks| b.last_access + clocks);
        let due = expiry.max(self.device.precharge_ready(bank));
        if due > now {
            self.wheel.add(bank, due);
        } else {
            self.close(bank, now);
        }
    }

    /// Gives the next rank that is due its refresh, as soon as all opened requests have their places
    /// and its banks can be closed; until then no request is served.
    fn refresh(&mut self, now: u64) {
        self.calendar.collect(now);
        if now < self.held_until || !self.opened.is_empty() {
            return;
        }
        let Some(rank) = self.calendar.head() else { return };
        let first = self.device.banks_of(rank).start as u16;
        if let Some(clock) = self.device.precharge_all(rank, now) {
            self.trace.record(clock, Kind::PrechargeAll, first, CLOSED);
        }
        let clock = self.device.refresh(rank, now);
        self.trace.record(clock, Kind::Refresh, first, CLOSED);
        self.counts.refreshes += 1;
        self.calendar.done();
        self.held_until = clock + 1;
    }
}
