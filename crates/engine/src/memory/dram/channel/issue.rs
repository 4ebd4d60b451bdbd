//! Issuing a command: what changes in the devices, the queues and the counters.

use super::super::device::{CLOSED, Step};
use super::super::queue::{Entry, NEVER};
use super::{Channel, Kind, READ, WRITE};

impl Channel {
    /// Takes a request out of its queue.
    #[inline]
    pub(super) fn dequeue(&mut self, slot: u16, now: u64) {
        let entry = self.pool.dequeue(slot);
        let which = usize::from(entry.write);
        self.device.banks[entry.bank as usize].queued[which] -= 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        if !self.calendar.is_due() {
            self.choose_queue();
        }
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
    pub(super) fn open(&mut self, slot: u16, now: u64) {
        let entry = self.pool.get_mut(slot);
        entry.opened = true;
        self.counts.misses += u64::from(!entry.conflict);
        let (bank, row) = (entry.bank, entry.row);
        let write = entry.write.then_some(entry.line);
        let ready = self.device.activate(bank, row, write, now);
        self.trace.record(now, Kind::Activate, bank, row);
        self.wheel.add(&mut self.pool, slot, ready);
        self.dequeue(slot, now);
    }

    /// Serves a request whose row is open.
    #[inline]
    pub(super) fn access(&mut self, slot: u16, now: u64) {
        let Entry { bank, row, tag, write, .. } = *self.pool.get(slot);
        self.pool.free(slot);
        let b = &self.device.banks[bank as usize];
        let close = b.accesses >= self.close_after && !b.reserved;
        let waiting = b.queued[READ] + b.queued[WRITE] > 0;
        let end = self.device.column(bank, write, close, now);
        self.trace.record(now, Kind::column(write, close), bank, row);
        self.counts.served[usize::from(write)] += 1;
        self.finish(tag, write, end);
        if !close {
            self.watch(bank);
        }
        if waiting {
            self.unpark(bank);
        }
    }

    /// Requests for other rows of `bank` could not touch it until now.
    fn unpark(&mut self, bank: u16) {
        let mut i = 0;
        while i < self.parked.len() {
            if self.pool.get(self.parked[i]).bank == bank {
                self.hot.push(self.parked.swap_remove(i));
            } else {
                i += 1;
            }
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
                let serving = self.serving;
                self.hot.append(&mut self.held[serving]);
            }
        }
        1
    }

    /// After an access that left its row open: whether the row policy will close it.
    #[inline]
    fn watch(&mut self, bank: u16) {
        let b = &mut self.device.banks[bank as usize];
        if b.watched || (self.timeout.is_none() && b.accesses < self.close_after) {
            return;
        }
        b.watched = true;
        self.watched.push(bank);
        self.next_close = self.next_close.min(self.close_due(bank));
    }

    /// When the row policy closes the open row of a bank.
    fn close_due(&self, bank: u16) -> u64 {
        let expiry = match self.timeout {
            Some(clocks) => self.device.banks[bank as usize].last_access + clocks,
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
            let b = &mut self.device.banks[bank as usize];
            // Closed meanwhile by someone else; or opened again, and watched after its access.
            let gone = b.row == CLOSED || b.reserved;
            let due = if gone { NEVER } else { self.close_due(bank) };
            if gone || (due <= now && closed.is_none()) {
                if !gone {
                    closed = Some(bank);
                }
                self.device.banks[bank as usize].watched = false;
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
