//! Issuing a command: what changes in the devices, the queues and the counters.

use super::super::device::{CLOSED, Step};
use super::super::queue::{Entry, NEVER};
use super::{Channel, Done, Kind};

impl Channel {
    /// Takes an entry out of its queue.
    #[inline]
    pub(super) fn dequeue(&mut self, which: usize, place: usize, now: u64) -> (u16, Entry) {
        let slot = self.queues[which].remove(place);
        let entry = *self.pool.get(slot);
        self.device.banks[entry.bank as usize].queued[which] -= 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        (slot, entry)
    }

    /// Closes another row for a waiting request.
    #[inline]
    pub(super) fn precharge_for(&mut self, which: usize, place: usize, now: u64) {
        let entry = self.pool.get_mut(self.queues[which].slot(place));
        let bank = entry.bank;
        self.counts.conflicts += u64::from(!entry.conflict);
        entry.conflict = true;
        let opens = self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        self.queues[which].postpone(place, opens);
        if self.waiting(bank) > 1 {
            self.refresh_bounds(bank);
        }
    }

    /// Opens the row of a request, which holds the bank until it is served.
    #[inline]
    pub(super) fn open(&mut self, slot: u16, entry: &Entry, now: u64) {
        let ready = self.device.activate(entry.bank, entry.row, now);
        self.trace.record(now, Kind::Activate, entry.bank, entry.row);
        self.counts.misses += u64::from(!entry.conflict);
        self.opened.push(slot, ready);
    }

    /// Serves a request whose row is open.
    #[inline]
    pub(super) fn access(&mut self, slot: u16, now: u64, done: &mut Vec<Done>) {
        let entry = *self.pool.get(slot);
        self.pool.free(slot);
        let bank = &self.device.banks[entry.bank as usize];
        let close = bank.accesses >= self.close_after && !bank.reserved;
        let end = self.device.column(entry.bank, entry.write, close, now);
        self.trace.record(now, Kind::column(entry.write, close), entry.bank, entry.row);
        self.counts.served[usize::from(entry.write)] += 1;
        done.push(Done { tag: entry.tag, write: entry.write, at: self.clock.at(end) });
        if !close {
            self.watch(entry.bank);
        }
        // Requests for other rows could not touch the bank until now.
        if self.waiting(entry.bank) > 0 {
            self.refresh_bounds(entry.bank);
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
            for bank in self.device.banks_of(rank) {
                self.refresh_bounds(bank as u16);
            }
        } else {
            self.device.refresh(rank, now);
            self.trace.record(now, Kind::Refresh, first, CLOSED);
            self.counts.refreshes += 1;
            self.calendar.done();
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
        if self.waiting(bank) > 0 {
            self.refresh_bounds(bank);
        }
        true
    }

    /// Requests in both queues for `bank`.
    #[inline]
    fn waiting(&self, bank: u16) -> u16 {
        self.device.banks[bank as usize].queued.iter().sum()
    }

    fn refresh_bounds(&mut self, bank: u16) {
        for queue in &mut self.queues {
            queue.refresh_bounds(&self.pool, bank, |e| self.device.ready(e));
        }
    }
}
