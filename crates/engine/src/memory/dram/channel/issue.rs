//! Issuing a command: what changes in the devices, the queues and the counters.

use super::super::agenda::{Candidate, NEVER};
use super::super::device::{CLOSED, Step};
use super::super::requests::Request;
use super::schedule::OPENED;
use super::{Channel, Kind};

impl<const W: usize> Channel<W> {
    /// Closes another row of `bank` for a waiting request.
    #[inline]
    pub(super) fn precharge_for(&mut self, slot: u16, bank: u16, now: u64) {
        let request = self.requests.get_mut(slot);
        self.counts.conflicts += u64::from(!request.conflict);
        request.conflict = true;
        let age = request.age;
        let ready = self.device.precharge(bank, now);
        self.trace.record(now, Kind::Precharge, bank, CLOSED);
        // The request is the oldest for its bank, and now the only candidate.
        self.agenda.remove(self.hit_of(bank));
        let candidate = Candidate { request: slot, bank: bank as u8, step: Step::Activate };
        self.agenda.add(self.row_of(bank), candidate, age, ready);
    }

    /// Opens the row of a request, which holds the bank until it is served.
    #[inline]
    pub(super) fn open(&mut self, slot: u16, bank: u16, now: u64) {
        let &Request { row, conflict, write, age, .. } = self.requests.get(slot);
        self.counts.misses += u64::from(!conflict);
        self.requests.open(slot, bank, write);
        let ready = self.device.activate(bank, row, now);
        self.trace.record(now, Kind::Activate, bank, row);
        let step = Step::access(write);
        let candidate = Candidate { request: slot, bank: bank as u8, step };
        if self.left_queue(write, now) {
            self.review_all();
        } else {
            self.agenda.add(self.row_of(bank), candidate, age.wrapping_sub(OPENED), ready);
        }
    }

    /// Serves the request that the row of its bank was opened for.
    #[inline]
    pub(super) fn access_opened(&mut self, slot: u16, bank: u16, now: u64) {
        self.device.release(bank);
        self.access(slot, bank, now);
        self.requests.finish_opened(slot, bank);
        self.agenda.remove(self.hit_of(bank));
        self.nominate(bank);
    }

    /// Serves a waiting request whose row is open.
    #[inline]
    pub(super) fn access_waiting(&mut self, slot: u16, bank: u16, now: u64) {
        let &Request { write, conflict, .. } = self.requests.get(slot);
        self.counts.hits += u64::from(!conflict);
        self.access(slot, bank, now);
        self.requests.finish_waiting(slot, bank, write);
        if self.left_queue(write, now) {
            self.review_all();
        } else {
            self.agenda.remove(self.row_of(bank));
            self.nominate(bank);
        }
    }

    /// Reads or writes the open row of a bank.
    #[inline]
    fn access(&mut self, slot: u16, bank: u16, now: u64) {
        let &Request { row, tag, write, .. } = self.requests.get(slot);
        let b = self.device.bank(bank);
        let close = b.accesses >= self.close_after && !b.reserved;
        let end = self.device.column(bank, write, close, now);
        self.trace.record(now, Kind::column(write, close), bank, row);
        self.counts.served[usize::from(write)] += 1;
        self.finish(tag, write, end);
        if self.closes_rows && !close {
            self.watch(bank);
        }
    }

    /// A request has left its queue. Says whether the other queue is to be served now.
    #[inline]
    fn left_queue(&mut self, write: bool, now: u64) -> bool {
        let which = usize::from(write);
        self.waiting[which] -= 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_add(now);
        self.choose_queue()
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
                self.review_all();
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
        self.agenda.remove(self.row_of(bank));
        self.agenda.remove(self.hit_of(bank));
        self.nominate(bank);
        true
    }
}
