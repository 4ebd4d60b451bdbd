//! One channel: its queues, its command scheduler, its clock.
//!
//! The scheduler decides only at clocks at which something can happen. At such a clock it issues at
//! most one command, the first available of:
//!
//! 1. the read or write of a request whose row has been opened for it (oldest first),
//! 2. the next command of a refresh that is due,
//! 3. a precharge that the row policy asks for,
//! 4. the next command of a waiting request, from the read queue or, while draining, from the write
//!    queue: the oldest that may be issued at this clock (FR-FCFS), but never a precharge of a row that
//!    an older request of that queue still wants.
//!
//! No request of step 4 is served while a refresh is due. A request leaves its queue when its row is
//! opened for it, and then occupies its bank: no one else can close the row until it is served.
//!
//! What may come next is kept per bank, not per request: all requests of a queue that need a bank's row
//! closed or opened wait for the same clock, and the oldest of them goes first, so only that one has to
//! be looked at; the same holds for those that wait to access the open row. So a bank has at most two
//! candidates per queue. Which candidates there are changes only with a command to the bank itself, a
//! new request for it or a switch of queues, and when they may be issued changes only with a command;
//! [`Device`] keeps both. The smallest of these clocks is the next at which something happens.

use super::config::{DramConfig, RowPolicy};
use super::device::Device;
use super::lanes::BankSet;
use super::mapping::Place;
use super::refresh::Calendar;
use super::requests::{Request, Requests};
use super::stats::{ChannelStats, Rows};
use super::trace::{Kind, Trace};
use super::{Done, NEVER, READ, SEEN_AFTER, WRITE};
use crate::time::{Clock, Ps};

mod issue;
#[cfg(test)]
mod rule;
mod schedule;

/// A channel with its controller. Clocks are counted from the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Channel<const W: usize> {
    clock: Clock,
    device: Device<W>,
    requests: Requests,
    /// Reads and writes in the queues.
    waiting: [usize; 2],
    capacity: [usize; 2],
    /// Banks held for a request for which the row has been opened.
    held: BankSet<W>,
    /// Of the held banks, those whose open row a waiting request of the other kind wants too, and some
    /// for which that was true at some time since the queues last switched.
    contested: BankSet<W>,
    /// Banks that reads wait for, and banks that writes wait for.
    asked: [BankSet<W>; 2],
    /// Which queue is served, or will be after the refresh that is due.
    serving: usize,
    /// Writes are drained once there are more than `drain_high`, until fewer than `drain_low`.
    drain_high: usize,
    drain_low: usize,
    /// Reads that must leave their queue between two drains, and how many of them still have to.
    reads_between_drains: u32,
    reads_left: u32,
    calendar: Calendar,
    /// Accesses after which a row is closed; never for `u32::MAX`.
    close_after: u32,
    /// Clocks without access after which a row is closed.
    timeout: Option<u64>,
    /// Whether the row policy closes rows at all.
    closes_rows: bool,
    /// Whether an access leaves its row open for a waiting request.
    spares_wanted: bool,
    /// Banks the row policy will close, and the first clock at which one may be due.
    watched: Vec<u16>,
    next_close: u64,
    /// Before this clock nothing but the requests needs attention.
    alarm: u64,
    /// Next clock with something to do, whether or not requests are waiting.
    wake: u64,
    /// First clock at which the command bus is free.
    bus_free: u64,
    /// Completed requests, which the next advance will hand out, and the earliest of their times.
    finished: Vec<Done>,
    first_finished: Ps,
    /// Clocks from a read or from a write to its last data beat, whichever is fewer.
    shortest_access: u64,
    burst_clocks: u64,
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
    /// What accesses found in their banks, by direction.
    rows: [Rows; 2],
    refreshes: u64,
    drains: u64,
    /// Departures from each queue add their clock and arrivals subtract theirs (modulo 2^64). Adding
    /// the current clock for each request still waiting gives the sum of all waits.
    waited: [u64; 2],
}

impl<const W: usize> Channel<W> {
    pub(super) fn new(cfg: &DramConfig) -> Channel<W> {
        let t = cfg.resolved_timings();
        let banks = (cfg.ranks * cfg.bank_groups * cfg.banks_per_group) as usize;
        let capacity = [cfg.read_queue as usize, cfg.write_queue as usize];
        let requests = capacity[READ] + capacity[WRITE] + banks;
        let calendar = Calendar::new(cfg.refresh, cfg.ranks, t.refi);
        let wake = calendar.next();
        let (close_after, timeout) = match cfg.row_policy {
            RowPolicy::Open => (u32::MAX, None),
            RowPolicy::Closed | RowPolicy::ClosedAdaptive => (0, None),
            RowPolicy::CloseAfter(n) => (n, None),
            RowPolicy::Timeout(clocks) => (u32::MAX, Some(u64::from(clocks))),
        };
        Channel {
            clock: cfg.standard.clock(),
            device: Device::new(&t, cfg),
            requests: Requests::new(requests),
            waiting: [0; 2],
            capacity,
            held: BankSet::EMPTY,
            asked: [BankSet::EMPTY; 2],
            contested: BankSet::EMPTY,
            serving: WRITE,
            // A full queue always starts a drain, and an empty one always ends it.
            drain_high: (cfg.drain_high_percent as usize * capacity[WRITE] / 100)
                .min(capacity[WRITE] - 1),
            drain_low: (cfg.drain_low_percent as usize * capacity[WRITE]).div_ceil(100).max(1),
            reads_between_drains: cfg.reads_between_drains,
            reads_left: 0,
            calendar,
            close_after,
            timeout,
            closes_rows: cfg.row_policy != RowPolicy::Open,
            spares_wanted: cfg.row_policy == RowPolicy::ClosedAdaptive,
            watched: Vec::with_capacity(banks),
            next_close: NEVER,
            alarm: 0,
            wake,
            bus_free: 0,
            finished: Vec::with_capacity(requests),
            first_finished: Ps::MAX,
            shortest_access: u64::from(t.bl + t.cl.min(t.cwl)),
            burst_clocks: u64::from(t.bl),
            counts: Counts::default(),
            trace: Trace::default(),
        }
    }

    #[inline]
    pub(super) fn can_accept(&self, write: bool) -> bool {
        self.waiting[usize::from(write)] < self.capacity[usize::from(write)]
    }

    /// Does everything up to and including `now`, and returns its clock.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Ps) -> u64 {
        let clock = self.clock.ticks_at(now);
        if self.wake <= clock {
            self.run_until(clock);
        }
        clock
    }

    /// Takes a request and returns when the channel must be advanced next.
    pub(super) fn push(&mut self, now: Ps, line: u32, place: Place, write: bool, tag: u32) -> Ps {
        assert!(self.can_accept(write), "push into a full queue: ask can_accept first");
        let clock = self.catch_up(now);
        if self.requests.writes_line(place.bank, line) {
            // The controller finds it as soon as it sees the request.
            if write {
                self.counts.coalesced_writes += 1;
            } else {
                self.counts.forwarded_reads += 1;
            }
            self.finish(tag, write, clock + SEEN_AFTER);
            return self.next_advance();
        }
        let request = Request::new(line, place.row, place.bank, write, tag);
        let (slot, only) = self.requests.add(&request);
        let which = usize::from(write);
        self.waiting[which] += 1;
        self.asked[which].insert(place.bank);
        self.counts.waited[which] = self.counts.waited[which].wrapping_sub(clock);
        self.bus_free = self.bus_free.max(clock + SEEN_AFTER);
        if !self.calendar.is_due() {
            if self.choose_queue() {
                self.wake = self.next_event(&self.device.ready());
            } else if which == self.serving {
                let first = self.enlist(slot, &request, only);
                self.wake = self.wake.min(first.max(self.bus_free));
            }
        }
        self.next_advance()
    }

    /// Does everything up to and including `now`, and returns when to advance next.
    #[inline]
    pub(super) fn advance(&mut self, now: Ps, done: &mut Vec<Done>) -> Ps {
        self.catch_up(now);
        if done.is_empty() {
            std::mem::swap(done, &mut self.finished);
        } else {
            done.append(&mut self.finished);
        }
        self.first_finished = Ps::MAX;
        let idle = self.waiting == [0; 2] && self.held.is_empty();
        if idle { Ps::MAX } else { self.next_advance() }
    }

    /// When the owner must come back, while there are requests. What happens inside the channel until
    /// then becomes visible only through the data of a request, which takes at least the shortest
    /// access from the next command on, or through a slot that becomes free, which matters when a queue
    /// is full.
    #[inline]
    fn next_advance(&self) -> Ps {
        let wake = if self.can_accept(false) && self.can_accept(true) {
            self.clock.at(self.wake + self.shortest_access)
        } else {
            self.clock.at(self.wake)
        };
        wake.min(self.first_finished)
    }

    #[inline]
    fn finish(&mut self, tag: u32, write: bool, clock: u64) {
        let at = self.clock.at(clock);
        self.finished.push(Done { tag, write, at });
        self.first_finished = self.first_finished.min(at);
    }

    pub(super) fn stats(&self, now: Ps) -> ChannelStats {
        let clock = self.clock.ticks_at(now);
        let waited = |which: usize| {
            let still = clock.wrapping_mul(self.waiting[which] as u64);
            self.clock.at(self.counts.waited[which].wrapping_add(still))
        };
        let c = &self.counts;
        let bursts = c.served[READ] + c.served[WRITE];
        ChannelStats {
            reads: c.served[READ],
            writes: c.served[WRITE],
            forwarded_reads: c.forwarded_reads,
            coalesced_writes: c.coalesced_writes,
            read_rows: c.rows[READ],
            write_rows: c.rows[WRITE],
            data_bus_busy: self.clock.at(bursts * self.burst_clocks),
            refreshes: c.refreshes,
            read_queue_time: waited(READ),
            write_queue_time: waited(WRITE),
            write_drains: c.drains,
        }
    }

    pub(super) fn reset_stats(&mut self, now: Ps) {
        let clock = self.catch_up(now);
        self.counts = Counts::default();
        for (which, waited) in self.counts.waited.iter_mut().enumerate() {
            let still = clock.wrapping_mul(self.waiting[which] as u64);
            *waited = 0u64.wrapping_sub(still);
        }
    }
}
