//! The memory system: the coherent caches, the transactions in flight, and the DRAM behind them.

use std::collections::VecDeque;

use super::caches::{Caches, Served};
use super::counts::Counts;
use super::dram::{Done, Dram};
use super::line::{LINE_BYTES, Line, LineKind};
use super::placement::Written;
use super::prefetch::Prefetcher;
use super::private::Found;
use super::streamer::Streamer;
use super::sweep::Swept;
use super::traffic::{Agent, Cause, Traffic};
use crate::config::machine::{Machine, Prefetch};
use crate::config::scenario::Policy;
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// Who waits for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requester {
    /// Miss register `register` of a core.
    Core { core: u16, register: u16, exclusive: bool },
    /// The prefetcher of a core's L2.
    Prefetch { core: u16 },
    /// A DMA read: the NIC's operation number.
    Nic { operation: u32 },
}

/// A line on its way from memory.
#[derive(Clone, Debug)]
struct Transaction {
    line: Line,
    kind: LineKind,
    requester: Requester,
    /// Requests for the same line that came later.
    waiting: Vec<Requester>,
    /// The line was overwritten or swept on its way: nobody may keep what arrives.
    stale: bool,
    sent: Ps,
}

/// Requests and write-backs that wait for room in a channel's queues.
#[derive(Clone, Debug, Default)]
struct Ingress {
    reads: VecDeque<(Line, u16)>,
    writes: VecDeque<Line>,
    /// The wake-up that is scheduled for the channel.
    wake: Option<Ps>,
}

/// Something the host must schedule on behalf of the memory system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// Call [`Memory::wake`] for the channel.
    Channel(u16),
    /// Call [`Memory::arrive`] for the transaction.
    Arrival(u16),
}

/// Latencies between the parts, derived from the machine.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    /// LLC lookup and the way back to the requester.
    llc: Ps,
    /// A snoop of another core's L2 on top of that.
    forward: Ps,
}

/// The tag of a DRAM write: nobody waits for it.
const WRITE: u32 = u32::MAX;

/// Caches, transactions and DRAM.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) caches: Caches,
    /// The L2 prefetcher of each core; none on machines without.
    streamers: Vec<Streamer>,
    policy: Policy,
    /// One a core, or none.
    prefetchers: Vec<Prefetcher>,
    pub(crate) dram: Dram,
    ingress: Vec<Ingress>,
    transactions: Vec<Transaction>,
    free: Vec<u16>,
    latencies: Latencies,
    /// Write-backs that may wait for each channel before the LLC stops taking requests.
    writeback_buffers: usize,
    /// Channels in which more than that wait.
    full_channels: u32,
    /// What the host must schedule; it drains this after every call.
    pub(crate) due: Vec<(Ps, Due)>,
    done: Vec<Done>,
    pub(crate) swept: Swept,
    pub(crate) counts: Counts,
    pub(crate) traffic: Traffic,
    pub(crate) read_latency: Latency,
    /// Reads and writes in flight when measuring began, and those done since.
    in_flight_begin: (u64, u64),
    reads_done: u64,
    writes_done: u64,
    /// Writes in the channels' queues.
    writes_queued: u64,
    /// Slots of a channel's read and write queue.
    queue_slots: (u32, u32),
    /// What the channels' data buses could carry together, GB/s (bytes per nanosecond).
    pub(crate) bus_limit_gbps: f64,
}

impl Memory {
    /// `lines` is the size of the address space in use.
    pub(crate) fn new(
        machine: &Machine,
        policy: Policy,
        dram: Dram,
        core_ways: Vec<u32>,
        io_ways: u32,
        lines: usize,
    ) -> Memory {
        let clock = machine.core.frequency.clock();
        let cycles = |n: u32| clock.at(u64::from(n));
        let noc = machine.noc.latency_cycles;
        let cores = machine.core.count as usize;
        Memory {
            caches: Caches::new(machine, core_ways, io_ways),
            streamers: match machine.l2.prefetch {
                Prefetch::Streamer => vec![Streamer::new(); cores],
                Prefetch::None | Prefetch::NextLine | Prefetch::Stream => Vec::new(),
            },
            policy,
            prefetchers: Prefetcher::for_cores(machine.l2.prefetch, cores),
            ingress: vec![Ingress::default(); dram.channels()],
            dram,
            transactions: Vec::new(),
            free: Vec::new(),
            latencies: Latencies {
                llc: cycles(machine.llc.latency_cycles + noc),
                forward: cycles(2 * noc + machine.l2.latency_cycles),
            },
            writeback_buffers: machine.llc.writeback_buffers as usize,
            full_channels: 0,
            due: Vec::new(),
            done: Vec::new(),
            swept: Swept::new(lines),
            counts: Counts::new(cores),
            traffic: Traffic::default(),
            read_latency: Latency::default(),
            in_flight_begin: (0, 0),
            reads_done: 0,
            writes_done: 0,
            writes_queued: 0,
            queue_slots: (machine.dram.read_queue, machine.dram.write_queue),
            bus_limit_gbps: bus_limit_gbps(machine),
        }
    }

    /// Whether the LLC takes requests: it does not while write-backs wait for room.
    #[inline]
    pub(crate) fn takes_requests(&self) -> bool {
        self.full_channels == 0
    }

    /// A load or store in the private caches of a core.
    #[inline]
    pub(crate) fn access(&mut self, core: usize, line: Line, store: bool) -> Found {
        let found = self.caches.private_access(core, line, store);
        if found != Found::L1
            && let Some(streamer) = self.streamers.get_mut(core)
        {
            streamer.lookup(line);
        }
        found
    }

    /// Counts an access that the core has issued. One that found no miss register free is tried
    /// again, and is counted when it goes.
    #[inline]
    pub(crate) fn count(&mut self, kind: LineKind, found: Found) {
        self.counts.l1_accesses[kind as usize] += 1;
        if found != Found::L1 {
            self.counts.l1_misses[kind as usize] += 1;
            if found != Found::L2 {
                self.counts.l2_misses[kind as usize] += 1;
            }
        }
    }

    /// A core's request reaches the LLC. Returns when its data is back at the core, or nothing if
    /// that is not known yet: an arrival will tell.
    pub(crate) fn request(
        &mut self,
        now: Ps,
        line: Line,
        kind: LineKind,
        requester: Requester,
    ) -> Option<Ps> {
        let Requester::Core { core, exclusive, .. } = requester else {
            panic!("requests to the LLC come from cores; got {requester:?}")
        };
        self.counts.llc_by_core[core as usize].0 += 1;
        if self.policy.keeps_aside(kind) {
            return Some(now + self.latencies.llc);
        }
        let transaction = self.next_transaction();
        let served = self.caches.request(core as usize, line, kind, exclusive, transaction);
        let answer = match served {
            Served::Llc => Some(now + self.latencies.llc),
            Served::Forward => Some(now + self.latencies.llc + self.latencies.forward),
            Served::Wait(other) => {
                self.wait(other, requester, core);
                None
            }
            Served::Memory => {
                self.counts.llc_by_core[core as usize].1 += 1;
                self.counts.llc_misses[kind as usize] += 1;
                if exclusive {
                    self.swept.written(line);
                } else {
                    self.swept.read(line);
                }
                self.traffic.count(Cause::new(Agent::Cpu, kind));
                self.read(now, transaction, line, kind, requester);
                None
            }
        };
        if !self.streamers.is_empty() {
            while let Some(wanted) = self.streamers[core as usize].next() {
                self.prefetch_line(now, core, wanted, kind);
            }
        } else if !self.prefetchers.is_empty() {
            self.prefetch(now, core, line, kind);
        }
        self.send_writebacks(now);
        answer
    }

    /// A request waits for the transaction that brings its line. A prefetch of the same core becomes
    /// the request itself, unless its line is stale: then there is something newer to ask for.
    fn wait(&mut self, transaction: u16, requester: Requester, core: u16) {
        let t = &mut self.transactions[transaction as usize];
        if t.requester == (Requester::Prefetch { core }) && !t.stale {
            t.requester = requester;
            self.prefetchers[core as usize].arrived();
        } else {
            t.waiting.push(requester);
            // It is counted when it asks again.
            self.counts.llc_by_core[core as usize].0 -= 1;
        }
    }

    /// The L2 prefetcher of a core sees its request and asks for lines. One that is on its way or
    /// in a private cache is left alone.
    fn prefetch(&mut self, now: Ps, core: u16, requested: Line, kind: LineKind) {
        for line in self.prefetchers[core as usize].observe(requested) {
            self.prefetch_line(now, core, line, kind);
        }
    }

    fn prefetch_line(&mut self, now: Ps, core: u16, line: Line, kind: LineKind) {
        if !self.prefetchers[core as usize].has_room() {
            return;
        }
        let transaction = self.next_transaction();
        if self.caches.request_prefetch(core as usize, line, transaction) {
            self.traffic.count(Cause::new(Agent::Prefetch, kind));
            self.prefetchers[core as usize].sent();
            self.read(now, transaction, line, kind, Requester::Prefetch { core });
            // That a prefetcher touches swept data is no bug of the software. Its copy is not
            // kept, so that a read by the software still goes to memory and is noticed.
            self.transactions[transaction as usize].stale = self.swept.holds(line);
        }
    }

    /// A DMA write of a whole line.
    #[inline]
    pub(crate) fn io_write(&mut self, now: Ps, line: Line, kind: LineKind) {
        self.swept.written(line);
        match self.policy.write(&mut self.caches, line, kind) {
            Written::Hit => self.counts.io_write_hits += 1,
            Written::Miss => self.counts.io_write_misses += 1,
            Written::Memory | Written::Aside => {}
        }
        self.make_stale();
        self.send_writebacks(now);
    }

    /// A DMA read of a line. Returns when its data is at the I/O controller, or nothing if memory
    /// serves it.
    #[inline]
    pub(crate) fn io_read(
        &mut self,
        now: Ps,
        line: Line,
        kind: LineKind,
        operation: u32,
    ) -> Option<Ps> {
        if self.policy.keeps_aside(kind) || self.caches.io_read(line) {
            self.counts.io_read_hits += 1;
            return Some(now + self.latencies.llc);
        }
        self.counts.io_read_misses += 1;
        self.swept.read(line);
        self.traffic.count(Cause::new(Agent::NicRead, kind));
        let transaction = self.next_transaction();
        self.read(now, transaction, line, kind, Requester::Nic { operation });
        None
    }

    /// A sweep message for `lines` lines reaches the LLC.
    pub(crate) fn sweep(&mut self, first: Line, lines: u32) {
        for line in first..first + lines {
            self.caches.sweep(line);
            self.make_stale();
            self.swept.sweep(line);
        }
        self.counts.swept += u64::from(lines);
    }

    /// Nobody may keep what a transaction brings after its line was invalidated.
    #[inline]
    fn make_stale(&mut self) {
        if let Some(transaction) = self.caches.overtaken.take() {
            self.transactions[transaction as usize].stale = true;
        }
    }

    /// `clwb` of a line reaches the LLC.
    pub(crate) fn write_back(&mut self, now: Ps, line: Line) {
        self.caches.write_back(line);
        self.send_writebacks(now);
    }

    #[inline]
    fn next_transaction(&mut self) -> u16 {
        if let Some(&free) = self.free.last() {
            return free;
        }
        let new = self.transactions.len() as u16;
        self.transactions.push(Transaction {
            line: 0,
            kind: LineKind::App,
            requester: Requester::Nic { operation: 0 },
            waiting: Vec::new(),
            stale: false,
            sent: Ps::ZERO,
        });
        self.free.push(new);
        new
    }

    /// Sends a read to memory under the transaction that [`Self::next_transaction`] offered.
    fn read(
        &mut self,
        now: Ps,
        transaction: u16,
        line: Line,
        kind: LineKind,
        requester: Requester,
    ) {
        let taken = self.free.pop();
        debug_assert_eq!(taken, Some(transaction));
        let t = &mut self.transactions[transaction as usize];
        (t.line, t.kind, t.requester, t.stale, t.sent) = (line, kind, requester, false, now);
        let channel = self.dram.channel_of(line);
        let ingress = &mut self.ingress[channel];
        if ingress.reads.is_empty() && self.dram.can_accept(line, false) {
            let wake = self.dram.push(now, line, false, u32::from(transaction));
            self.schedule(channel, wake);
        } else {
            ingress.reads.push_back((line, transaction));
        }
    }

    /// Sends what the caches gave up to memory.
    #[inline]
    fn send_writebacks(&mut self, now: Ps) {
        while let Some(writeback) = self.caches.writebacks.pop() {
            self.traffic.count(writeback.cause);
            let line = writeback.line;
            let channel = self.dram.channel_of(line);
            let ingress = &mut self.ingress[channel];
            if ingress.writes.is_empty() && self.dram.can_accept(line, true) {
                let wake = self.dram.push(now, line, true, WRITE);
                self.writes_queued += 1;
                self.schedule(channel, wake);
            } else {
                ingress.writes.push_back(line);
                if ingress.writes.len() == self.writeback_buffers {
                    self.full_channels += 1;
                }
            }
        }
    }

    #[inline]
    fn schedule(&mut self, channel: usize, wake: Ps) {
        let ingress = &mut self.ingress[channel];
        if wake < Ps::MAX && ingress.wake.is_none_or(|at| wake < at) {
            ingress.wake = Some(wake);
            self.due.push((wake, Due::Channel(channel as u16)));
        }
    }

    /// The wake-up of a channel: its controller acts. One that a sooner wake-up has replaced is
    /// ignored.
    pub(crate) fn wake(&mut self, now: Ps, channel: u16) {
        let c = channel as usize;
        if self.ingress[c].wake != Some(now) {
            return;
        }
        self.ingress[c].wake = None;
        let mut wake = self.dram.advance(c, now, &mut self.done);
        for done in self.done.drain(..) {
            if done.write {
                self.writes_done += 1;
                self.writes_queued -= 1;
            } else {
                let transaction = done.tag as u16;
                let sent = self.transactions[transaction as usize].sent;
                self.read_latency.record(done.at - sent);
                let back = done.at + self.latencies.llc;
                self.due.push((back, Due::Arrival(transaction)));
            }
        }
        let ingress = &mut self.ingress[c];
        while let Some(&(line, transaction)) = ingress.reads.front()
            && self.dram.can_accept(line, false)
        {
            ingress.reads.pop_front();
            wake = wake.min(self.dram.push(now, line, false, u32::from(transaction)));
        }
        while let Some(&line) = ingress.writes.front()
            && self.dram.can_accept(line, true)
        {
            if ingress.writes.len() == self.writeback_buffers {
                self.full_channels -= 1;
            }
            ingress.writes.pop_front();
            wake = wake.min(self.dram.push(now, line, true, WRITE));
            self.writes_queued += 1;
        }
        self.schedule(c, wake);
    }

    /// A line arrives from memory and enters the caches. Returns who asked for it; `again` gets the
    /// requests that waited for it and must be made anew.
    pub(crate) fn arrive(
        &mut self,
        now: Ps,
        transaction: u16,
        again: &mut Vec<Requester>,
    ) -> Requester {
        let t = &mut self.transactions[transaction as usize];
        let (line, kind, requester, stale) = (t.line, t.kind, t.requester, t.stale);
        again.append(&mut t.waiting);
        if let Requester::Prefetch { core } = requester {
            self.prefetchers[core as usize].arrived();
        }
        match requester {
            Requester::Core { .. } | Requester::Prefetch { .. } if stale => {
                self.caches.arrive_stale(line);
            }
            Requester::Core { core, exclusive, .. } => {
                self.caches.arrive(core as usize, line, kind, exclusive);
            }
            Requester::Prefetch { core } => self.caches.arrive_prefetch(core as usize, line, kind),
            Requester::Nic { .. } => {}
        }
        self.free.push(transaction);
        self.reads_done += 1;
        self.send_writebacks(now);
        requester
    }

    /// Mean shares of the read and write queues of the channels in use, the higher of the two.
    pub(crate) fn queue_share(&self, now: Ps, span_ps: f64) -> f64 {
        let (mut reads, mut writes) = (0.0, 0.0);
        for channel in 0..self.dram.channels() {
            let s = self.dram.stats(channel, now);
            reads += s.read_queue_time.0 as f64;
            writes += s.write_queue_time.0 as f64;
        }
        let (read_slots, write_slots) = self.queue_slots;
        let all = span_ps * self.dram.channels() as f64;
        (reads / all / f64::from(read_slots)).max(writes / all / f64::from(write_slots))
    }

    /// Reads and writes on their way to memory or in its queues.
    fn in_flight(&self) -> (u64, u64) {
        let reads = self.transactions.len() - self.free.len();
        let waiting: usize = self.ingress.iter().map(|i| i.writes.len()).sum();
        (reads as u64, waiting as u64 + self.writes_queued)
    }

    /// Both sides of the balances of memory reads and writes since the measured time began.
    pub(crate) fn balance(&self) -> MemoryBalance {
        let (reads, writes) = self.in_flight();
        MemoryBalance {
            reads_sent: self.in_flight_begin.0 + self.traffic.reads(),
            reads_done: self.reads_done + reads,
            writes_sent: self.in_flight_begin.1 + self.traffic.writes(),
            writes_done: self.writes_done + writes,
        }
    }

    /// A line enters the caches of core 0 without a transaction.
    #[cfg(test)]
    pub(crate) fn fill_at_once(&mut self, line: Line, kind: LineKind, exclusive: bool) {
        if self.caches.request(0, line, kind, exclusive, 0) == Served::Memory {
            self.caches.arrive(0, line, kind, exclusive);
        }
    }

    /// A seeded fault: a write-back vanishes on its way to memory.
    #[cfg(test)]
    pub(crate) fn lose_a_write(&mut self) {
        self.writes_done -= 1;
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.in_flight_begin = self.in_flight();
        (self.reads_done, self.writes_done) = (0, 0);
        self.counts = Counts::new(self.counts.llc_by_core.len());
        self.traffic = Traffic::default();
        self.read_latency.reset();
        self.dram.reset_stats(now);
        self.swept.reads = 0;
        self.caches.io_evictions = 0;
    }
}

fn bus_limit_gbps(machine: &Machine) -> f64 {
    let dram = &machine.dram;
    let burst = dram.standard.clock().at(u64::from(dram.resolved_timings().bl));
    (LINE_BYTES * u64::from(dram.channels)) as f64 / burst.as_ns_f64()
}

/// Both sides of the balances of memory traffic, in lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBalance {
    pub(crate) reads_sent: u64,
    pub(crate) reads_done: u64,
    pub(crate) writes_sent: u64,
    pub(crate) writes_done: u64,
}
