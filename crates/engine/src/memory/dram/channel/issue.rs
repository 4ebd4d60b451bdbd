//! Issuing a command: what changes in the devices, the queues and the counters.

use super::super::device::{CLOSED, Step};
use super::super::queue::{Entry, NEVER, NONE};
use super::{Channel, Kind};

impl Channel {
    /// Takes a request out of its queue.
    #[inline]
    pub(super) fn dequeue(&mut self, entry: &Entry, now: u64) {
        let which = usize::from(entry.write);
        self.waiting[which] -= 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        self.choose_queue();
    }

    /// Closes another row for a waiting request.
    #[inline]
    pub(super) fn precharge_for(&mut self, slot: u16, now: u64) {
        let entry = self.pool.get_mut(slot);
        let bank = entry.bank;
        self.counts.conflicts += u64::from(!entry.conflict);
        entry.conflict = true;
        let ready = self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        self.wheel.add(&mut self.pool, slot, ready);
    }

    /// Opens the row of a request, which holds the bank until it is served.
    #[inline]
    pub(super) fn open(&mut self, slot: u16, entry: &Entry, now: u64) {
        self.pool.get_mut(slot).opened = true;
        self.counts.misses += u64::from(!entry.conflict);
        let ready = self.device.activate(entry.bank, entry.row, now);
        self.trace.record(now, Kind::Activate, entry.bank, entry.row);
        self.wheel.add(&mut self.pool, slot, ready);
        self.dequeue(entry, now);
    }

    /// Serves a request whose row is open.
    #[inline]
    pub(super) fn access(&mut self, slot: u16, entry: &Entry, now: u64) {
        let Entry { bank, row, tag, write, .. } = *entry;
        let others = self.forget(slot, bank);
        let b = self.device.bank(bank);
        let close = b.accesses >= self.close_after && !b.reserved;
        let end = self.device.column(bank, write, close, now);
        self.trace.record(now, Kind::column(write, close), bank, row);
        self.counts.served[usize::from(write)] += 1;
        self.finish(tag, write, end);
        if self.closes_rows && !close {
            self.watch(bank);
        }
        if others != NONE {
            self.unpark(others, now);
        }
    }

    /// Takes a request out of the pool and off the list of its bank, and gives the first of the
    /// others on that.
    #[inline]
    fn forget(&mut self, slot: u16, bank: u16) -> u16 {
        let next = self.pool.get(slot).next_of_bank;
        self.pool.free(slot);
        let first = &mut self.device.bank_mut(bank).first_request;
        if *first == slot {
            *first = next;
            return next;
        }
        let first = *first;
        let mut before = first;
        while self.pool.get(before).next_of_bank != slot {
            before = self.pool.get(before).next_of_bank;
        }
        self.pool.get_mut(before).next_of_bank = next;
        first
    }

    /// Requests for other rows of a bank could not touch it until now.
    fn unpark(&mut self, first: u16, now: u64) {
        let mut slot = first;
        while slot != NONE {
            let entry = self.pool.get_mut(slot);
            let next = entry.next_of_bank;
            if std::mem::take(&mut entry.parked) {
                let ready = self.device.ready(entry).max(now + 1);
                self.look_again(slot, ready);
            }
            slot = next;
        }
    }

    /// The next command of the refresh of `rank`, if it may be issued at `now`.
    pub(super) fn refresh(&mut self, rank: u32, now: u64) -> u64 {
        let (step, ready) = self.device.refresh_step(rank);
        if ready > now {
            return 0;
        }
        let first = self.device.banks_of(rank).start as u16;
        if step == Step::Precharge {
            self.device.precharge_all(rank, now);
            self.trace.record(now, Kind::PrechargeAll, first, CLOSED);
        } else {
            self.device.refresh(rank, now);
            self.trace.record(now, Kind::Refresh, first, CLOSED);
            self.counts.refreshes += 1;
            self.calendar.done();
            if !self.calendar.is_due() {
                self.choose_queue();
                self.release_held();
            }
        }
        1
    }

    /// After an access that left its row open: whether the row policy will close it.
    #[inline]
    fn watch(&mut self, bank: u16) {
        let close_after = self.close_after;
        let b = self.device.bank_mut(bank);
        if b.watched || (self.timeout.is_none() && b.accesses < close_after) {
            return;
        }
        b.watched = true;
        self.watched.push(bank);
        self.next_close = self.next_close.min(self.close_due(bank));
    }

    /// When the row policy closes the open row of a bank.
    fn close_due(&self, bank: u16) -> u64 {
        let expiry = match self.timeout {
            Some(clocks) => self.device.bank(bank).last_access + clocks,
            None => 0,
        };
        expiry.max(self.device.precharge_ready(bank))
    }

    /// Precharges the first watched bank that is due, and brings the list up to date.
    pub(super) fn close_row(&mut self, now: u64) -> bool {
        let mut closed = None;
        self.next_close = NEVER;
        let mut i = 0;
        while i < self.watched.len() {
            let bank = self.watched[i];
            let b = self.device.bank_mut(bank);
            // Closed meanwhile by someone else; or opened again, and watched after its access.
            let gone = b.row == CLOSED || b.reserved;
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
        let Some(bank) = closed else { return false };
        self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        true
    }
}
