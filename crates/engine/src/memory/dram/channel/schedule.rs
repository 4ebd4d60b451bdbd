//! The choice of the next command.

use super::super::device::Step;
use super::super::queue::NEVER;
use super::{Channel, READ, WRITE};

impl Channel {
    /// Does everything up to and including `clock`.
    pub(super) fn run_until(&mut self, clock: u64) {
        while self.wake <= clock {
            let now = self.wake;
            if self.calendar.next() <= now {
                self.calendar.collect(now);
            }
            self.wheel.take_due(now, &self.pool, &mut self.hot);
            let busy = self.schedule(now);
            self.bus_free = now + busy;
            let next = if self.hot.is_empty() { self.wheel.next() } else { now + 1 };
            self.wake = next.min(self.other_events()).max(now + busy.max(1));
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
    /// waits, until below the low watermark. Says whether that changed.
    #[inline]
    pub(super) fn choose_queue(&mut self) -> bool {
        let (reads, writes) = (self.pool.waiting(READ), self.pool.waiting(WRITE));
        let serving = if self.serving == READ {
            if reads > 0 && writes <= self.drain_high {
                return false;
            }
            self.counts.drains += u64::from(writes > 0);
            WRITE
        } else {
            if reads == 0 || writes >= self.drain_low {
                return false;
            }
            READ
        };
        self.serving = serving;
        self.hot.append(&mut self.held[serving]);
        true
    }

    /// Issues at most one command; gives the clocks it occupies the command bus.
    #[inline]
    fn schedule(&mut self, now: u64) -> u64 {
        loop {
            let Some(place) = self.first_ready(now) else {
                return self.maintain(now);
            };
            let slot = self.hot[place];
            let entry = *self.pool.get(slot);
            if !entry.opened {
                // A refresh that is due holds all waiting requests, so none is due here.
                if self.next_close <= now && self.close_row(now) {
                    return 1;
                }
                match self.device.step(&entry) {
                    Step::Precharge => {
                        if let Some(hit) = self.older_hit(&entry) {
                            // Not while an older request still wants the row.
                            self.hot.swap_remove(place);
                            self.wheel.add(&mut self.pool, slot, hit.max(now + 1));
                            continue;
                        }
                        self.hot.swap_remove(place);
                        self.precharge_for(slot, now);
                        return 1;
                    }
                    Step::Activate => {
                        self.hot.swap_remove(place);
                        self.open(slot, now);
                    }
                    Step::Column => {
                        self.hot.swap_remove(place);
                        self.dequeue(slot, now);
                        self.counts.hits += u64::from(!entry.conflict);
                        self.access(slot, now);
                    }
                }
            } else {
                self.hot.swap_remove(place);
                self.device.release(entry.bank);
                self.access(slot, now);
            }
            return u64::from(self.device.t.command_clocks);
        }
    }

    /// A command for no request: of a refresh, or of the row policy.
    #[inline]
    fn maintain(&mut self, now: u64) -> u64 {
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        u64::from(self.next_close <= now && self.close_row(now))
    }

    /// The first of the hot requests that may go; all that may not are put elsewhere.
    #[inline]
    fn first_ready(&mut self, now: u64) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut i = 0;
        while i < self.hot.len() {
            let slot = self.hot[i];
            let entry = self.pool.get(slot);
            let ready = if entry.opened {
                self.device.column_ready(entry)
            } else {
                let which = usize::from(entry.write);
                if which != self.serving || self.calendar.is_due() {
                    self.hot.swap_remove(i);
                    self.held[which].push(slot);
                    continue;
                }
                self.device.ready(entry)
            };
            if ready > now {
                self.hot.swap_remove(i);
                if ready == NEVER {
                    self.parked.push(slot);
                } else {
                    self.wheel.add(&mut self.pool, slot, ready);
                }
                continue;
            }
            if best.is_none_or(|b| entry.goes_before(self.pool.get(self.hot[b]))) {
                best = Some(i);
            }
            i += 1;
        }
        best
    }

    /// If an older request of the same queue wants the row that `entry` is about to close: when
    /// that one may go.
    #[inline]
    fn older_hit(&self, entry: &super::Entry) -> Option<u64> {
        let which = usize::from(entry.write);
        let bank = &self.device.banks[entry.bank as usize];
        if bank.queued[which] == 1 {
            return None;
        }
        let hits = self
            .pool
            .queue(which)
            .filter(|e| e.bank == entry.bank && e.row == bank.row && e.goes_before(entry));
        hits.map(|e| self.device.ready(e)).min()
    }
}
