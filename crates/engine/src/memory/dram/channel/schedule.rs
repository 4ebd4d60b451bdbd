//! When to look at which bank, and what to do for it then.

use super::super::commands::AHEAD;
use super::super::device::CLOSED;
use super::super::queue::{Entry, NONE};
use super::super::wheel::NEVER;
use super::{Channel, Kind, Opened, READ, WRITE};

/// How far ahead, in clocks, reads and writes are given their clocks: less than tRCD of every bin, so
/// that no request whose row is opened later could have come before them.
const PLAN: u64 = 16;

/// How far ahead, in clocks, the next read or write is given its clock at the latest: so that a
/// precharge or activate does not take that clock of the command bus.
const LEAD: u64 = 2;

impl Channel {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        while self.wake <= clock {
            let now = self.wake;
            self.device.advance(now);
            let banks_due = self.wheel.advance(now);
            if self.next_burst <= now + LEAD {
                self.place_bursts(now);
            }
            if self.next_refresh <= now {
                self.refresh(now);
            }
            if banks_due {
                for word in 0..self.bank_words {
                    let mut due = self.wheel.take(word);
                    while due != 0 {
                        self.look((word * 64) as u16 + due.trailing_zeros() as u16, now);
                        due &= due - 1;
                    }
                }
            }
            self.wake = self.next_wake();
            debug_assert!(self.wake > now, "time stands still");
        }
    }

    /// The next clock with something to do.
    #[inline]
    pub(super) fn next_wake(&self) -> u64 {
        let burst = self.next_burst.saturating_sub(LEAD);
        self.wheel.next().min(burst).min(self.next_refresh)
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
        if self.waiting[self.serving % 2] > 0 {
            self.wheel.add_all(&self.waiting_banks[self.serving], now + 1);
        }
    }

    /// Brings `bank` forward: a command for the requests of the queue that is served, or of the row
    /// policy; or says when to look again.
    #[inline]
    pub(super) fn look(&mut self, bank: u16, now: u64) {
        let b = self.device.bank(bank);
        let first = b.waiting[self.serving % 2].first;
        if first == NONE && !self.closes_rows {
            return;
        }
        if b.reserved {
            // Looked at when the access has its place.
            return;
        }
        if now < self.held_until {
            self.wheel.add(bank, self.held_until);
            return;
        }
        if !self.device.takes_commands() {
            self.wheel.add(bank, now + AHEAD / 2);
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
        let hit = self.pool.find(&b.waiting[self.serving % 2], |e| e.row == row);
        let close = self.device.precharge_ready(bank);
        if hit != NONE {
            let write = self.serving == WRITE;
            let ready = self.device.column_ready(bank, write);
            if hit == first || ready <= close.max(now) {
                if ready > now {
                    self.wheel.add(bank, ready);
                } else {
                    let entry = self.dequeue(bank, hit, now);
                    self.counts.hits += u64::from(!entry.conflict);
                    self.device.bank_mut(bank).reserved = true;
                    self.await_bus(Opened { from: now, tag: entry.tag, bank, write }, now);
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
            self.close(bank);
            self.wheel.add(bank, self.device.activate_ready(bank));
        }
    }

    /// Takes a request out of its queue.
    #[inline]
    fn dequeue(&mut self, bank: u16, slot: u16, now: u64) -> Entry {
        let which = self.serving;
        let entry = *self.pool.get(slot);
        let list = &mut self.device.bank_mut(bank).waiting[which % 2];
        self.pool.remove(list, slot);
        if list.is_empty() {
            self.waiting_banks[which % 2].remove(bank);
        }
        self.waiting[which % 2] -= 1;
        self.counts.waited[which % 2] = self.counts.waited[which % 2].wrapping_add(now);
        self.choose_queue(now);
        entry
    }

    /// Opens the row of a request, which leaves its queue.
    #[inline]
    fn open(&mut self, bank: u16, slot: u16, now: u64) {
        let write = self.serving == WRITE;
        let entry = self.dequeue(bank, slot, now);
        self.counts.misses += u64::from(!entry.conflict);
        let clock = self.device.activate(bank, entry.row);
        self.trace.record(clock, Kind::Activate, bank, entry.row);
        let from = self.device.next_column(bank);
        self.await_bus(Opened { from, tag: entry.tag, bank, write }, now);
    }

    /// Puts a request in the place that its clock has among the opened ones.
    #[inline]
    fn await_bus(&mut self, new: Opened, now: u64) {
        self.opened.push(new);
        let mut place = self.opened.len() - 1;
        while place > 0 && self.opened[place - 1].from > new.from {
            self.opened.swap(place - 1, place);
            place -= 1;
        }
        self.next_burst = self.next_burst.min(new.from);
        if self.next_burst <= now + LEAD {
            self.place_bursts(now);
        }
    }

    /// Gives opened requests their clocks on the buses, up to [`PLAN`] clocks ahead: each time the
    /// one that can go first.
    fn place_bursts(&mut self, now: u64) {
        loop {
            let (mut best, mut first) = (0, NEVER);
            for (i, o) in self.opened.iter().enumerate() {
                if o.from >= first {
                    break;
                }
                let clock = self.device.column_ready(o.bank, o.write);
                if clock < first {
                    (best, first) = (i, clock);
                }
            }
            self.next_burst = first;
            if first > now + PLAN {
                return;
            }
            let request = self.opened[best];
            // A few entries: no call to move them.
            for i in best + 1..self.opened.len() {
                self.opened[i - 1] = self.opened[i];
            }
            self.opened.pop();
            self.access(&request, first.max(now), now);
        }
    }

    /// Reads or writes the open row for a request.
    #[inline]
    fn access(&mut self, request: &Opened, from: u64, now: u64) {
        let Opened { bank, tag, write, .. } = *request;
        let b = self.device.bank(bank);
        let row = b.row;
        let waiting = b.waiting[self.serving % 2];
        let close = b.accesses >= self.close_after;
        let (clock, end) = self.device.column(bank, write, close, from);
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
    fn close(&mut self, bank: u16) {
        let clock = self.device.precharge(bank);
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
            self.close(bank);
        }
    }

    /// Issues the next command for the rank that is due to be refreshed, if it may go now. Until it
    /// may, requests are held.
    fn refresh(&mut self, now: u64) {
        self.calendar.collect(now);
        if now >= self.held_until
            && let Some(rank) = self.calendar.head()
        {
            self.held_until = self.refresh_rank(rank, now);
        }
        let due = self.calendar.next();
        self.next_refresh = if self.calendar.is_due() { due.min(self.held_until) } else { due };
    }

    /// Gives the clock until which nothing further can be done for it.
    fn refresh_rank(&mut self, rank: u32, now: u64) -> u64 {
        if let Some(last) = self.opened.last() {
            // Those whose row is open are served before.
            return last.from.max(self.next_burst).max(now) + 1;
        }
        let (ready, open) = self.device.refresh_ready(rank);
        if ready > now {
            return ready;
        }
        let first = self.device.banks_of(rank).start as u16;
        if open {
            let clock = self.device.precharge_all(rank);
            self.trace.record(clock, Kind::PrechargeAll, first, CLOSED);
        } else {
            let clock = self.device.refresh(rank);
            self.trace.record(clock, Kind::Refresh, first, CLOSED);
            self.counts.refreshes += 1;
            self.calendar.done();
        }
        now + 1
    }
}
