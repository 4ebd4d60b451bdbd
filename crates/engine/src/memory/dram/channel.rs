//! One channel: its queues, its command scheduler, its clock.
//!
//! The scheduler decides once per clock at which something can happen, and skips all others. At
//! such a clock it issues at most one command, the first there is of:
//!
//! 1. the read or write of a request whose row has been opened for it (oldest first),
//! 2. the next command of a refresh that is due,
//! 3. a precharge the row policy asks for,
//! 4. the next command of a waiting request: from the read queue, or while draining from the write
//!    queue; the oldest that may be issued at this clock (FR-FCFS), but never a precharge of a row
//!    that an older request of that queue still wants.
//!
//! No request of step 4 is served while a refresh is due. A request leaves its queue when its row
//! is opened for it, and then occupies its bank: no one else can close the row until it is served.

use super::Done;
use super::config::{DramConfig, RowPolicy};
use super::device::{Device, Step};
use super::mapping::Place;
use super::queue::{Entry, NEVER, Pool, Queue};
use super::refresh::Calendar;
use super::stats::ChannelStats;
use super::trace::{Kind, Trace};
use crate::time::{Clock, Ps};

mod issue;

const READ: usize = 0;
const WRITE: usize = 1;

/// A channel with its controller. Clocks are counted from the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    clock: Clock,
    device: Device,
    pool: Pool,
    /// Waiting reads and writes.
    queues: [Queue; 2],
    capacity: [usize; 2],
    /// Requests whose row is open or opening.
    opened: Queue,
    /// Which queue is served.
    serving: usize,
    /// Writes are drained once there are more than `drain_high`, until fewer than `drain_low`.
    drain_high: usize,
    drain_low: usize,
    calendar: Calendar,
    /// Accesses after which a row is closed; never for `u32::MAX`.
    close_after: u32,
    /// Clocks without access after which a row is closed.
    timeout: Option<u64>,
    /// Banks the row policy will close, and the first clock at which one may be due.
    watched: Vec<u16>,
    next_close: u64,
    /// Next clock with something to do, requests waiting or not.
    wake: u64,
    /// First clock at which the command bus is free.
    bus_free: u64,
    arrivals: u32,
    /// Completed, to be handed out by the next advance, and the earliest of their times.
    finished: Vec<Done>,
    first_finished: Ps,
    /// Clocks from a read or write to its last data beat, whichever is less.
    shortest_access: u64,
    counts: Counts,
    /// Empty, and its methods do nothing, outside this module's tests.
    pub(super) trace: Trace,
}

/// Counters, times in clocks.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    served: [u64; 2],
    forwarded_reads: u64,
    coalesced_writes: u64,
    hits: u64,
    misses: u64,
    conflicts: u64,
    refreshes: u64,
    drains: u64,
    /// Departures from each queue add their clock and arrivals subtract theirs (modulo 2^64): with
    /// the clock of those still waiting added, the sum of all waits.
    waited: [u64; 2],
}

impl Channel {
    pub(super) fn new(cfg: &DramConfig) -> Channel {
        let t = cfg.resolved_timings();
        let banks = (cfg.ranks * cfg.bank_groups * cfg.banks_per_group) as usize;
        let capacity = [cfg.read_queue as usize, cfg.write_queue as usize];
        let calendar = Calendar::new(cfg.refresh, cfg.ranks, t.refi);
        let wake = calendar.next();
        let (close_after, timeout) = match cfg.row_policy {
            RowPolicy::Open => (u32::MAX, None),
            RowPolicy::Closed => (0, None),
            RowPolicy::CloseAfter(n) => (n, None),
            RowPolicy::Timeout(clocks) => (u32::MAX, Some(u64::from(clocks))),
        };
        Channel {
            clock: cfg.standard.clock(),
            device: Device::new(t, cfg.ranks, cfg.bank_groups, cfg.banks_per_group),
            pool: Pool::new(capacity[READ] + capacity[WRITE] + banks),
            queues: capacity.map(Queue::new),
            capacity,
            opened: Queue::new(banks),
            serving: WRITE,
            drain_high: cfg.drain_high_percent as usize * capacity[WRITE] / 100,
            drain_low: (cfg.drain_low_percent as usize * capacity[WRITE]).div_ceil(100),
            calendar,
            close_after,
            timeout,
            watched: Vec::with_capacity(banks),
            next_close: NEVER,
            wake,
            bus_free: 0,
            arrivals: 0,
            finished: Vec::new(),
            first_finished: Ps::MAX,
            shortest_access: u64::from(t.bl + t.cl.min(t.cwl)),
            counts: Counts::default(),
            trace: Trace::default(),
        }
    }

    #[inline]
    pub(super) fn can_accept(&self, write: bool) -> bool {
        self.queues[usize::from(write)].len() < self.capacity[usize::from(write)]
    }

    /// Takes a request and says when the channel must be advanced next.
    pub(super) fn push(&mut self, now: Ps, line: u32, place: Place, write: bool, tag: u32) -> Ps {
        assert!(self.can_accept(write), "push into a full queue: ask can_accept first");
        let clock = self.clock.ticks_at(now);
        if self.wake <= clock {
            let mut finished = std::mem::take(&mut self.finished);
            let known = finished.len();
            self.run_until(clock, &mut finished);
            for done in &finished[known..] {
                self.first_finished = self.first_finished.min(done.at);
            }
            self.finished = finished;
        }
        let bank = &self.device.banks[place.bank as usize];
        if (bank.queued[WRITE] > 0 || bank.reserved) && self.holds_write(line) {
            // Found in the controller in the clock after arrival.
            if write {
                self.counts.coalesced_writes += 1;
            } else {
                self.counts.forwarded_reads += 1;
            }
            let at = self.clock.at(clock + 1);
            self.finished.push(Done { tag, write, at });
            self.first_finished = self.first_finished.min(at);
            return self.next_advance();
        }
        let entry = Entry {
            age: self.arrivals,
            line,
            row: place.row,
            tag,
            bank: place.bank,
            write,
            conflict: false,
        };
        self.arrivals = self.arrivals.wrapping_add(1);
        let which = usize::from(write);
        self.device.banks[place.bank as usize].queued[which] += 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_sub(clock);
        // The controller sees a request in the clock after its arrival.
        let ready = self.device.ready(&entry).max(clock + 1);
        self.queues[which].push(self.pool.add(entry), ready);
        if self.calendar.head().is_none() {
            self.choose_queue();
            let next = self.queues[self.serving].next().max(clock + 1).max(self.bus_free);
            self.wake = self.wake.min(next);
        }
        self.next_advance()
    }

    /// Does everything up to and including `now`, and says when to advance next.
    #[inline]
    pub(super) fn advance(&mut self, now: Ps, done: &mut Vec<Done>) -> Ps {
        if !self.finished.is_empty() {
            done.append(&mut self.finished);
            self.first_finished = Ps::MAX;
        }
        let clock = self.clock.ticks_at(now);
        if self.wake <= clock {
            self.run_until(clock, done);
        }
        self.next_advance()
    }

    /// When the owner must come back. What happens inside the channel until then shows only in
    /// the data of a request, which takes at least the shortest access from the next command on;
    /// or in a slot that becomes free, which matters when a queue is full.
    #[inline]
    fn next_advance(&self) -> Ps {
        let [reads, writes] = &self.queues;
        let [max_reads, max_writes] = self.capacity;
        let wake = if reads.len() == max_reads || writes.len() == max_writes {
            self.clock.at(self.wake)
        } else if reads.is_empty() && writes.is_empty() && self.opened.is_empty() {
            Ps::MAX
        } else {
            self.clock.at(self.wake + self.shortest_access)
        };
        wake.min(self.first_finished)
    }

    fn holds_write(&self, line: u32) -> bool {
        let mut slots = self.queues[WRITE].slots().chain(self.opened.slots());
        slots.any(|slot| {
            let entry = self.pool.get(slot);
            entry.line == line && entry.write
        })
    }

    fn run_until(&mut self, clock: u64, done: &mut Vec<Done>) {
        while self.wake <= clock {
            let now = self.wake;
            if self.calendar.next() <= now {
                self.calendar.collect(now);
            }
            let busy = self.schedule(now, done);
            self.bus_free = now + busy;
            self.wake = self.next_event().max(now + busy.max(1));
        }
    }

    /// Whether to serve reads or to drain writes: writes above the high watermark or when no read
    /// waits, until below the low watermark.
    #[inline]
    fn choose_queue(&mut self) {
        let (reads, writes) = (self.queues[READ].len(), self.queues[WRITE].len());
        if self.serving == READ {
            if reads == 0 || writes > self.drain_high {
                self.serving = WRITE;
                self.counts.drains += u64::from(writes > 0);
            }
        } else if reads > 0 && writes < self.drain_low {
            self.serving = READ;
        }
    }

    /// A lower bound of the next clock at which a command may be issued.
    #[inline]
    fn next_event(&mut self) -> u64 {
        let next = self.opened.next().min(self.calendar.next());
        if let Some(rank) = self.calendar.head() {
            return next.min(self.device.refresh_step(rank).1);
        }
        self.choose_queue();
        next.min(self.next_close).min(self.queues[self.serving].next())
    }

    /// Issues at most one command; gives the clocks it occupies the command bus.
    #[inline]
    fn schedule(&mut self, now: u64, done: &mut Vec<Done>) -> u64 {
        if let Some(place) =
            self.opened.first_ready(now, &self.pool, |e| self.device.column_ready(e))
        {
            let slot = self.opened.remove(place);
            self.device.release(self.pool.get(slot).bank);
            self.access(slot, now, done);
            return u64::from(self.device.t.command_clocks);
        }
        if let Some(rank) = self.calendar.head() {
            return self.refresh(rank, now);
        }
        if self.next_close <= now && self.close_row(now) {
            return 1;
        }
        let which = self.serving;
        while let Some(place) =
            self.queues[which].first_ready(now, &self.pool, |e| self.device.ready(e))
        {
            let entry = self.pool.get(self.queues[which].slot(place));
            match self.device.step(entry) {
                Step::Precharge => {
                    let bank = &self.device.banks[entry.bank as usize];
                    if bank.queued[which] > 1
                        && let Some(hit) = self.queues[which].older_hit(place, &self.pool, bank.row)
                    {
                        // Not while an older request still wants the row.
                        self.queues[which].postpone(place, hit.max(now + 1));
                        continue;
                    }
                    self.precharge_for(which, place, now);
                    return 1;
                }
                Step::Activate => {
                    let (slot, entry) = self.dequeue(which, place, now);
                    self.open(slot, &entry, now);
                }
                Step::Column => {
                    let (slot, entry) = self.dequeue(which, place, now);
                    self.counts.hits += u64::from(!entry.conflict);
                    self.access(slot, now, done);
                }
            }
            return u64::from(self.device.t.command_clocks);
        }
        0
    }

    pub(super) fn stats(&self, now: Ps) -> ChannelStats {
        let clock = self.clock.ticks_at(now);
        let waited = |which: usize| {
            let still = clock.wrapping_mul(self.queues[which].len() as u64);
            self.clock.at(self.counts.waited[which].wrapping_add(still))
        };
        let c = &self.counts;
        ChannelStats {
            reads: c.served[READ],
            writes: c.served[WRITE],
            forwarded_reads: c.forwarded_reads,
            coalesced_writes: c.coalesced_writes,
            row_hits: c.hits,
            row_misses: c.misses,
            row_conflicts: c.conflicts,
            data_bus_busy: self
                .clock
                .at((c.served[READ] + c.served[WRITE]) * u64::from(self.device.t.bl)),
            refreshes: c.refreshes,
            read_queue_time: waited(READ),
            write_queue_time: waited(WRITE),
            write_drains: c.drains,
        }
    }

    pub(super) fn reset_stats(&mut self, now: Ps) {
        let clock = self.clock.ticks_at(now);
        self.counts = Counts::default();
        for (waited, queue) in self.counts.waited.iter_mut().zip(&self.queues) {
            *waited = 0u64.wrapping_sub(clock.wrapping_mul(queue.len() as u64));
        }
    }
}
