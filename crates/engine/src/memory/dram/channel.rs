//! One channel: its queues, its command scheduler, its clock.
//!
//! The scheduler looks at a bank when the [`Wheel`] says so: at the clock at which its next command
//! may be issued, as far as bank, bank group and rank are concerned. It serves the requests of one
//! queue, reads until writes are drained, and issues, each on the first free clock of the command
//! bus,
//!
//! - for a closed row the activate for the oldest request of the bank, which leaves its queue and
//!   then holds the bank until it is served;
//! - for an open row that a request wants, nothing: that leaves its queue as one whose row is opened;
//! - otherwise the precharge for the oldest request.
//!
//! Requests whose row is opened wait for the data bus. They are given its clocks a little ahead,
//! always the one that can go first; of several the one whose row was ready first.
//!
//! While a refresh is due no bank is looked at.

use super::Done;
use super::config::{DramConfig, RowPolicy};
use super::device::Device;
use super::mapping::Place;
use super::queue::{Entry, NONE, Pool};
use super::refresh::Calendar;
use super::stats::ChannelStats;
use super::trace::{Kind, Trace};
use super::wheel::{BankSet, NEVER, Wheel};
use crate::time::{Clock, Ps};

mod schedule;

const READ: usize = 0;
const WRITE: usize = 1;

/// A channel with its controller. Clocks are counted from the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    clock: Clock,
    device: Device,
    pool: Pool,
    /// Reads and writes in the queues.
    waiting: [usize; 2],
    capacity: [usize; 2],
    /// Banks with waiting reads, and with waiting writes.
    waiting_banks: [BankSet; 2],
    wheel: Wheel,
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
    /// Whether the row policy closes rows at all.
    closes_rows: bool,
    /// Words of 64 banks.
    bank_words: usize,
    /// Requests whose row is opened for them and whose access has no place on the bus yet, by the first
    /// clock of that; and a lower bound of the clock of the first such access.
    opened: Vec<Opened>,
    next_burst: u64,
    /// Next clock at which a rank falls due or, if one is, its refresh goes on.
    next_refresh: u64,
    /// Until then a refresh holds all requests.
    held_until: u64,
    /// Next clock with something to do, requests waiting or not.
    wake: u64,
    /// Completed, to be handed out by the next advance, and the earliest of their times.
    finished: Vec<Done>,
    first_finished: Ps,
    /// Clocks from a read or write to its last data beat, whichever is less.
    shortest_access: u64,
    burst_clocks: u64,
    counts: Counts,
    /// Empty, and its methods do nothing, outside this module's tests.
    pub(super) trace: Trace,
}

/// A request whose row is opened for it.
#[derive(Clone, Copy, Debug)]
struct Opened {
    /// First clock of its access, the data bus apart.
    from: u64,
    tag: u32,
    bank: u16,
    write: bool,
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
            device: Device::new(&t, cfg.bank_groups, cfg.banks_per_group),
            pool: Pool::new(),
            waiting: [0; 2],
            capacity,
            waiting_banks: [BankSet::default(); 2],
            wheel: Wheel::new(),
            serving: WRITE,
            drain_high: cfg.drain_high_percent as usize * capacity[WRITE] / 100,
            drain_low: (cfg.drain_low_percent as usize * capacity[WRITE]).div_ceil(100),
            calendar,
            close_after,
            timeout,
            closes_rows: cfg.row_policy != RowPolicy::Open,
            bank_words: banks.div_ceil(64),
            opened: Vec::with_capacity(banks),
            next_burst: NEVER,
            next_refresh: wake,
            held_until: 0,
            wake,
            finished: Vec::with_capacity(capacity[READ] + capacity[WRITE]),
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

    /// Takes a request and says when the channel must be advanced next.
    pub(super) fn push(&mut self, now: Ps, line: u32, place: Place, write: bool, tag: u32) -> Ps {
        assert!(self.can_accept(write), "push into a full queue: ask can_accept first");
        let clock = self.clock.ticks_at(now);
        if self.wake <= clock {
            self.run_until(clock);
        }
        self.wheel.advance(clock);
        let (bank, which) = (place.bank, usize::from(write));
        let b = self.device.bank_mut(bank);
        if self.pool.find(&b.waiting[WRITE], |e| e.line == line) != NONE {
            // Found in the controller in the clock after arrival.
            if write {
                self.counts.coalesced_writes += 1;
            } else {
                self.counts.forwarded_reads += 1;
            }
            self.finish(tag, write, clock + 1);
            return self.next_advance();
        }
        // Others of its bank have a clock at which they are looked at; a hit may go before.
        let look = b.waiting[which].is_empty() || b.row == place.row;
        let entry = Entry { line, row: place.row, tag, next: NONE, conflict: false };
        self.pool.push(&mut b.waiting[which], entry);
        self.waiting_banks[which].insert(bank);
        self.waiting[which] += 1;
        self.counts.waited[which] = self.counts.waited[which].wrapping_sub(clock);
        self.choose_queue(clock);
        if look && which == self.serving {
            // The controller sees a request in the clock after its arrival.
            if self.next_refresh > clock + 1 {
                self.device.advance(clock + 1);
                self.look(bank, clock + 1);
            } else {
                self.wheel.add(bank, clock + 1);
            }
        }
        self.wake = self.next_wake();
        self.next_advance()
    }

    /// Does everything up to and including `now`, and says when to advance next.
    #[inline]
    pub(super) fn advance(&mut self, now: Ps, done: &mut Vec<Done>) -> Ps {
        let clock = self.clock.ticks_at(now);
        if self.wake <= clock {
            self.run_until(clock);
        }
        done.append(&mut self.finished);
        self.first_finished = Ps::MAX;
        self.next_advance()
    }

    /// When the owner must come back. What happens inside the channel until then shows only in
    /// the data of a request, which takes at least the shortest access from the next command on;
    /// or in a slot that becomes free, which matters when a queue is full.
    #[inline]
    fn next_advance(&self) -> Ps {
        let wake = if self.waiting == [0; 2] && self.opened.is_empty() {
            Ps::MAX
        } else if self.can_accept(false) && self.can_accept(true) {
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
            row_hits: c.hits,
            row_misses: c.misses,
            row_conflicts: c.conflicts,
            data_bus_busy: self.clock.at(bursts * self.burst_clocks),
            refreshes: c.refreshes,
            read_queue_time: waited(READ),
            write_queue_time: waited(WRITE),
            write_drains: c.drains,
        }
    }

    pub(super) fn reset_stats(&mut self, now: Ps) {
        let clock = self.clock.ticks_at(now);
        self.counts = Counts::default();
        for (which, waited) in self.counts.waited.iter_mut().enumerate() {
            let still = clock.wrapping_mul(self.waiting[which] as u64);
            *waited = 0u64.wrapping_sub(still);
        }
    }
}
