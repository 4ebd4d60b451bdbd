//! Issuing a command: what changes in the devices, the queues and the counters.

use super::super::device::{CLOSED, RefreshStep};
use super::super::requests::{NONE, Request};
use super::{Channel, Kind, NEVER, READ, WRITE};

impl<const W: usize> Channel<W> {
    /// Closes the open row of `bank` for a waiting request that wants another one.
    #[inline(always)]
    pub(super) fn precharge_for(&mut self, slot: u16, bank: u16, now: u64) {
        let request = self.requests.get_mut(slot);
        self.counts.rows[usize::from(request.write)].conflicts += u64::from(!request.conflict);
        request.conflict = true;
        self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        if self.requests.hit(bank, self.serving) != NONE {
            self.requests.set_hit(bank, self.serving, NONE);
            self.device.want_no_column(bank, self.serving);
        }
        self.device.want_no_row(bank);
        self.device.want_row(bank);
    }

    /// Opens the row of a request, which holds the bank until it is served.
    #[inline(always)]
    pub(super) fn open(&mut self, slot: u16, bank: u16, now: u64) {
        let &Request { row, conflict, write, .. } = self.requests.get(slot);
        self.counts.rows[usize::from(write)].misses += u64::from(!conflict);
        self.requests.open(slot, bank, write);
        self.device.activate(bank, row, now);
        self.trace.record(now, Kind::Activate, bank, row);
        self.device.want_no_row(bank);
        self.device.want_column(bank, usize::from(write));
        self.held.insert(bank);
        self.left_queue(bank, write, now);
    }

    /// Serves the request that the row of its bank was opened for.
    #[inline(always)]
    pub(super) fn access_opened(&mut self, slot: u16, bank: u16, now: u64) {
        self.access(slot, bank, false, now);
        self.requests.finish_opened(slot, bank);
        self.held.remove(bank);
        // While the bank was held, only accesses to its open row were wanted.
        self.device.want_no_column(bank, READ);
        self.device.want_no_column(bank, WRITE);
        self.enter_any(bank);
    }

    /// Serves a waiting request whose row is open.
    #[inline]
    pub(super) fn access_waiting(&mut self, slot: u16, bank: u16, now: u64) {
        let &Request { conflict, write, .. } = self.requests.get(slot);
        self.counts.rows[usize::from(write)].hits += u64::from(!conflict);
        let held = self.requests.opened(bank) != NONE;
        self.access(slot, bank, held, now);
        self.requests.finish_waiting(slot, bank, write);
        self.review(bank);
        self.left_queue(bank, write, now);
    }

    /// Reads or writes the open row of a bank, which may be held for another request.
    #[inline(always)]
    fn access(&mut self, slot: u16, bank: u16, held: bool, now: u64) {
        let &Request { row, tag, write, .. } = self.requests.get(slot);
        let end = self.device.column(bank, write, now);
        let close = self.closes_rows && self.apply_policy(slot, bank, held, now);
        self.trace.record(now, Kind::column(write, close), bank, row);
        self.counts.served[usize::from(write)] += 1;
        self.finish(tag, write, end);
    }

    /// A request for `bank` has left its queue.
    #[inline]
    fn left_queue(&mut self, bank: u16, write: bool, now: u64) {
        let which = usize::from(write);
        self.waiting[which] -= 1;
        if self.reads_left > 0 && !write {
            self.reads_left -= 1;
        }
        if self.requests.first(bank, which) == NONE {
            self.asked[which].remove(bank);
        }
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        self.choose_queue();
    }

    /// The next command towards a refresh of `rank`, and its first clock: never, while a bank is held
    /// for a request.
    pub(super) fn refresh_step(&self, rank: u32) -> (RefreshStep, u64) {
        let mut banks = self.device.banks_of(rank);
        let (step, ready) = self.device.refresh_step(rank);
        (step, if banks.any(|bank| self.requests.opened(bank) != NONE) { NEVER } else { ready })
    }

    /// Issues the next command of the refresh of `rank`, if that is allowed at `now`. Returns the
    /// clocks for which it occupies the command bus.
    pub(super) fn refresh(&mut self, rank: u32, now: u64) -> u64 {
        let (step, ready) = self.refresh_step(rank);
        if ready > now {
            return 0;
        }
        let first = self.device.banks_of(rank).start;
        if step == RefreshStep::Precharge {
            self.device.precharge_all(rank, now);
            self.trace.record(now, Kind::PrechargeAll, first, CLOSED);
        } else {
            self.device.refresh(rank, now);
            self.trace.record(now, Kind::Refresh, first, CLOSED);
            self.counts.refreshes += 1;
            self.calendar.done();
            if !self.calendar.is_due() {
                if !self.choose_queue() {
                    self.review_all();
                }
                self.set_alarm();
            }
        }
        1
    }

    /// After an access: if the row policy lets the access close its row, does so and returns true;
    /// otherwise the policy may close the row later.
    #[inline(never)]
    fn apply_policy(&mut self, slot: u16, bank: u16, held: bool, now: u64) -> bool {
        if self.spares_wanted {
            let close = !held && !self.requests.others_want_row(slot);
            if close {
                self.device.close_after_access(bank);
            }
            return close;
        }
        let close_after = self.close_after;
        let b = self.device.bank_mut(bank);
        if !held && b.accesses >= close_after {
            self.device.close_after_access(bank);
            return true;
        }
        b.accesses += 1;
        b.last_access = now;
        if b.watched || (self.timeout.is_none() && b.accesses < close_after) {
            return false;
        }
        b.watched = true;
        self.watched.push(bank);
        self.next_close = self.next_close.min(self.close_due(bank));
        self.set_alarm();
        false
    }

    /// When the row policy closes a bank, whose row is open.
    fn close_due(&self, bank: u16) -> u64 {
        let expiry = match self.timeout {
            Some(clocks) => self.device.bank(bank).last_access + clocks,
            None => 0,
        };
        expiry.max(self.device.row_ready(bank))
    }

    /// Precharges the first watched bank that is due, and brings the list up to date.
    pub(super) fn close_row(&mut self, now: u64) -> bool {
        let mut closed = None;
        self.next_close = NEVER;
        let mut i = 0;
        while i < self.watched.len() {
            let bank = self.watched[i];
            // Either the bank has been closed in the meantime, or it has been opened again and will be
            // watched after that access.
            let gone = self.device.bank(bank).row == CLOSED || self.requests.opened(bank) != NONE;
            let due = if gone { NEVER } else { self.close_due(bank) };
            if gone || (due <= now && closed.is_none()) {
                if !gone {
                    closed = Some(bank);
                }
                self.device.bank_mut(bank).watched = false;
                self.watched.remove(i);
                continue;
            }
            self.next_close = self.next_close.min(due);
            i += 1;
        }
        self.set_alarm();
        let Some(bank) = closed else { return false };
        self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        self.review(bank);
        true
    }
}
