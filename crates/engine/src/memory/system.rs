//! The memory system: the coherent caches, what they count, and the memory behind them.

use super::backend::{Backend, MemoryBalance};
use super::caches::{Caches, Served};
use super::config::Hierarchy;
use super::counts::{ByKind, Counts};
use super::dram::Dram;
use super::hand_overs::HandOvers;
use super::line::{Line, LineKind, node_of};
use super::owners::Owners;
use super::placement::registry::Placement;
use super::placement::{DmaWrite, Placer, Written};
use super::prefetch::Prefetcher;
use super::prefetched::Prefetched;
use super::private::Found;
use super::sweep::Swept;
use super::traffic::{Agent, Cause, Traffic};
use crate::time::Ps;

pub(crate) use super::due::Due;
pub(crate) use super::reads::Requester;

/// Latencies between the parts, derived from the machine.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    /// LLC lookup and the way back to the requester.
    llc: Ps,
    /// A snoop of another core's L2, in addition to that.
    forward: Ps,
}

/// Caches, and memory behind them.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) caches: Caches,
    placer: Placer,
    /// The L2 prefetcher of each core; empty on machines without one.
    prefetchers: Vec<Prefetcher>,
    /// Whether others wait behind the request that the LLC takes now, as the host says when it releases one: a
    /// prefetch must not go before them.
    pub(crate) others_wait: bool,
    pub(crate) backend: Backend,
    latencies: Latencies,
    hand_overs: HandOvers,
    pub(crate) swept: Swept,
    pub(crate) counts: Counts,
    pub(super) owners: Owners,
    /// By owner and node.
    pub(crate) traffic: Vec<[Traffic; 2]>,
}

impl Memory {
    /// `seed` is the seed of the run.
    pub(crate) fn new(
        parts: &Hierarchy<'_>,
        placement: &Placement,
        dram: Dram,
        core_ways: Vec<u32>,
        io_ways: u32,
        seed: u64,
    ) -> Memory {
        let uncore = parts.uncore.clock();
        let cycles = |n: u32| uncore.at(u64::from(n));
        let noc = parts.noc.latency_cycles;
        let cores = parts.cores as usize;
        let latencies = Latencies {
            llc: cycles(parts.llc.latency_cycles + noc),
            forward: cycles(2 * noc) + parts.frequency.clock().at(parts.l2.latency_cycles.into()),
        };
        Memory {
            caches: Caches::new(parts, core_ways, io_ways, seed),
            placer: Placer::new(placement),
            prefetchers: Prefetcher::for_cores(parts),
            others_wait: false,
            backend: Backend::new(parts, dram, latencies.llc + parts.llc.memory_latency.ps()),
            latencies,
            // The next snoop can already be on its way to the new owner when the line arrives there.
            hand_overs: HandOvers::new(latencies.llc + latencies.forward - cycles(noc)),
            swept: Swept::default(),
            counts: Counts::new(cores, 0),
            owners: Owners::new(Vec::new()),
            traffic: vec![Default::default()],
        }
    }

    /// Counts traffic separately for each of `count` owners.
    pub(crate) fn told_by(mut self, owners: Owners, count: usize) -> Memory {
        self.owners = owners;
        self.traffic = vec![Default::default(); count];
        self
    }

    /// A load or store in the private caches of a core.
    #[inline]
    pub(crate) fn access(&mut self, core: usize, line: Line, kind: LineKind, store: bool) -> Found {
        self.caches.private_access(core, line, store.then_some(kind))
    }

    /// When a line that the L2 of a core holds reaches or has reached it; zero if that is long ago.
    #[inline]
    pub(crate) fn arrives(&self, core: usize, line: Line) -> Ps {
        self.prefetchers.get(core).map_or(Ps::ZERO, |prefetcher| prefetcher.arrives(line))
    }

    /// Counts an L2 lookup of a core, which the core's prefetcher sees.
    #[inline]
    fn count_l2_access(&mut self, core: usize, line: Line, kind: LineKind) {
        self.counts.l2_accesses[kind as usize] += 1;
        if core < self.prefetchers.len() {
            self.observe_lookup(core, line, kind);
        }
    }

    /// A core's L2 prefetcher sees an L2 lookup, except for lines that are kept aside: they are in no
    /// cache, and memory has old data. Outlined, so that machines without a prefetcher need no
    /// registers for it.
    #[inline(never)]
    fn observe_lookup(&mut self, core: usize, line: Line, kind: LineKind) {
        if !self.placer.keeps_aside(kind) {
            self.prefetchers[core].lookup(line, kind);
        }
    }

    /// Performs and counts the loads in `items`, up to the first item that is not a load or misses the
    /// core's L1d. Returns how many.
    #[inline]
    pub(crate) fn load_all<T>(
        &mut self,
        core: usize,
        items: &[T],
        load: impl Fn(&T) -> Option<(Line, LineKind)>,
    ) -> usize {
        let mut counts = ByKind::default();
        let line = |item: &T| load(item).map(|(line, _)| line);
        let hits = self.caches.cores[core].load_all(items, line, |item| {
            let (_, kind) = load(item).expect("it has hit");
            counts[kind as usize] += 1;
        });
        for (all, hits) in self.counts.l1_accesses.iter_mut().zip(counts) {
            *all += hits;
        }
        hits
    }

    /// Whether private caches can receive lines that their core has not asked for, while an access to
    /// them waits. (The lines that a placement policy puts there are of packets that the core cannot see yet.)
    #[inline]
    pub(crate) fn prefetches(&self) -> bool {
        !self.prefetchers.is_empty()
    }

    /// Counts an access that a private cache has served.
    #[inline]
    pub(crate) fn count_hit(&mut self, core: usize, line: Line, kind: LineKind, found: Found) {
        self.counts.l1_accesses[kind as usize] += 1;
        if found != Found::L1 {
            self.counts.l1_misses[kind as usize] += 1;
            self.count_l2_access(core, line, kind);
        }
    }

    /// An access waits in a miss register: one that has `asked` for its line, or one that joined another
    /// that had. An access that found no free register is retried, and is counted when it gets one.
    #[inline]
    pub(crate) fn missed(&mut self, core: usize, line: Line, kind: LineKind, asked: bool) {
        self.counts.l1_accesses[kind as usize] += 1;
        self.counts.l1_misses[kind as usize] += 1;
        if asked {
            self.caches.load_home_ahead(line);
            self.caches.load_victim_ahead(core, line);
            self.counts.l2_misses[kind as usize] += 1;
            self.count_l2_access(core, line, kind);
        }
    }

    /// Counts a request to the LLC that memory serves.
    fn count_llc_miss(&mut self, core: u16, kind: LineKind) {
        self.counts.llc_by_core[core as usize].1 += 1;
        self.counts.llc_misses[kind as usize] += 1;
    }

    /// The request of a core's miss register reaches the LLC. Returns when its data is back at the
    /// core, or nothing if that is not known yet and an arrival will follow.
    pub(crate) fn request(
        &mut self,
        now: Ps,
        line: Line,
        kind: LineKind,
        core: u16,
        register: u16,
        exclusive: bool,
    ) -> Option<Ps> {
        let requester = Requester::Core { core, register, exclusive };
        self.counts.llc_by_core[core as usize].0 += 1;
        if self.placer.keeps_aside(kind) {
            return Some(now + self.latencies.llc);
        }
        let transaction = self.backend.reads.next();
        let coming =
            self.prefetchers.get_mut(usize::from(core)).and_then(|own| own.take_over(line));
        let served = self.caches.request(core as usize, line, kind, exclusive, transaction);
        let answer = match served {
            Served::Own => {
                let answered = coming.map_or(now, |arrives| arrives.max(now));
                Some(answered.max(self.hand_overs.over(line)))
            }
            Served::Llc => Some((now + self.latencies.llc).max(self.hand_overs.over(line))),
            Served::Forward if !exclusive => {
                let answered = now + self.latencies.llc + self.latencies.forward;
                Some(answered.max(self.hand_overs.over(line)))
            }
            Served::Forward | Served::Owner => {
                let turn = self.hand_overs.turn(now, line);
                Some(turn + self.latencies.llc + self.latencies.forward)
            }
            Served::Wait(other) => {
                if self.backend.reads.wait(other, requester, core, kind) {
                    // The line that its prefetcher has requested from memory counts as served by
                    // memory.
                    self.count_llc_miss(core, kind);
                    self.prefetchers[core as usize].arrived();
                } else {
                    // The request is counted when it is repeated.
                    self.counts.llc_by_core[core as usize].0 -= 1;
                }
                None
            }
            Served::NoEntry(other) => {
                self.backend.reads.wait_behind(other, requester);
                self.counts.llc_by_core[core as usize].0 -= 1;
                None
            }
            Served::Memory => {
                self.count_llc_miss(core, kind);
                if exclusive {
                    self.swept.written(line);
                } else {
                    self.swept.read(line);
                }
                self.count_traffic(line, Cause::new(Agent::Cpu, kind));
                self.backend.read(now, line, kind, requester, false);
                None
            }
        };
        if !self.prefetchers.is_empty() {
            self.prefetch(now, core, line, kind);
        }
        self.send_writebacks(now);
        answer
    }

    /// A core's L2 prefetcher sees its request and asks for lines. Lines that are on their way or in a
    /// private cache are left alone.
    #[inline(never)]
    fn prefetch(&mut self, now: Ps, core: u16, requested: Line, kind: LineKind) {
        self.prefetchers[core as usize].request(now, requested, kind);
        while let Some((line, kind)) = self.prefetchers[core as usize].next() {
            self.prefetch_line(now, core, line, kind);
        }
    }

    fn prefetch_line(&mut self, now: Ps, core: u16, line: Line, kind: LineKind) {
        // A prefetch that finds no room is dropped, as in hardware.
        let admitted = self.backend.takes_requests() && !self.others_wait;
        if !admitted || !self.prefetchers[core as usize].has_room() {
            return;
        }
        let transaction = self.backend.reads.next();
        let prefetcher = &mut self.prefetchers[core as usize];
        match self.caches.request_prefetch(core as usize, line, transaction) {
            Prefetched::Dropped => {}
            Prefetched::Llc => prefetcher.found_in_llc(line, now + self.latencies.llc),
            Prefetched::Memory => {
                prefetcher.sent();
                self.caches.load_victim_ahead(core as usize, line);
                self.count_traffic(line, Cause::new(Agent::Prefetch, kind));
                // It is not a software bug if a prefetcher touches swept data. Its copy is not kept, so
                // that a read by the software still goes to memory and is noticed.
                let stale = self.swept.holds(line);
                self.backend.read(now, line, kind, Requester::Prefetch { core }, stale);
            }
        }
    }

    /// Places DMA data of a line. The data reaches only the LLC of the socket whose memory holds the line (Intel,
    /// VTune cookbook, "IO Issues: Remote Socket Accesses"), so data for the other socket goes to its memory, unless it
    /// is kept outside of the hierarchy.
    #[inline]
    fn place(&mut self, write: DmaWrite) -> Written {
        let mut dma = Placer::DMA;
        let elsewhere = node_of(write.line) != 0 && !self.placer.keeps_aside(write.kind);
        let placer = if elsewhere { &mut dma } else { &mut self.placer };
        placer.write(&mut self.caches, write)
    }

    /// A DMA write of a whole line, with or without a `credit`. If the write goes to memory, the credit
    /// returns when the write is in the queue of its channel: at once, or later with [`Due::Written`].
    /// Returns whether at once.
    #[inline(always)]
    pub(crate) fn io_write(&mut self, now: Ps, write: DmaWrite, credit: bool) -> bool {
        self.swept.written(write.line);
        let written = self.place(write);
        let counts = &mut self.counts.io[write.kind as usize];
        counts.written += 1;
        match written {
            Written::Hit => counts.write_hits += 1,
            Written::Moved => {
                counts.write_hits += 1;
                counts.write_moves += 1;
            }
            Written::Miss => counts.write_misses += 1,
            Written::Memory => counts.write_bypasses += 1,
            Written::Aside => counts.write_asides += 1,
        }
        self.make_stale();
        let mut at_once = true;
        while let Some(writeback) = self.caches.writebacks.pop() {
            self.count_traffic(writeback.line, writeback.cause);
            let credit = credit && writeback.cause.is_nic_write();
            let entered = self.backend.write(now, writeback.line, credit);
            at_once &= entered || !credit;
        }
        at_once
    }

    /// When the data of a read by the I/O controller is there, or nothing if memory has to serve it.
    #[inline]
    fn io_read_on_chip(&mut self, now: Ps, line: Line, kind: LineKind) -> Option<Ps> {
        if self.placer.keeps_aside(kind) {
            return Some(now + self.latencies.llc);
        }
        match self.caches.io_read(line) {
            Served::Llc => Some(now + self.latencies.llc),
            Served::Forward => Some(now + self.latencies.llc + self.latencies.forward),
            Served::Memory | Served::Wait(_) | Served::NoEntry(_) | Served::Owner | Served::Own => {
                None
            }
        }
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
        if let Some(ready) = self.io_read_on_chip(now, line, kind) {
            self.counts.io[kind as usize].read_hits += 1;
            return Some(ready);
        }
        self.counts.io[kind as usize].read_misses += 1;
        self.swept.read(line);
        self.count_traffic(line, Cause::new(Agent::NicRead, kind));
        self.backend.reads.next();
        self.backend.read(now, line, kind, Requester::Nic { operation }, false);
        None
    }

    /// A page walk reads a line of the page table. Returns when the line is at the IOMMU, or nothing if
    /// memory serves it. Like any read by the I/O controller, it allocates nothing.
    pub(crate) fn walk_read(&mut self, now: Ps, line: Line, walker: u16) -> Option<Ps> {
        if let Some(ready) = self.io_read_on_chip(now, line, LineKind::App) {
            return Some(ready);
        }
        self.count_traffic(line, Cause::new(Agent::Walk, LineKind::App));
        self.backend.reads.next();
        self.backend.read(now, line, LineKind::App, Requester::Walker { walker }, false);
        None
    }

    /// A sweep message for `lines` lines reaches the LLC.
    pub(crate) fn sweep(&mut self, first: Line, lines: u32) {
        for line in first..first + lines {
            self.caches.sweep(line);
            self.make_stale();
            self.swept.sweep(line);
        }
    }

    /// If the line of a transaction has just been invalidated, nobody may keep what the transaction
    /// fetches.
    #[inline]
    fn make_stale(&mut self) {
        if let Some(transaction) = self.caches.overtaken.take() {
            self.backend.reads.make_stale(transaction);
        }
    }

    /// `clwb` of a line reaches the LLC.
    pub(crate) fn write_back(&mut self, now: Ps, line: Line) {
        self.caches.write_back(line);
        self.send_writebacks(now);
    }

    /// Counts a line that crosses a memory bus.
    #[inline]
    fn count_traffic(&mut self, line: Line, cause: Cause) {
        self.traffic[self.owners.of(line)][node_of(line)].count(cause);
    }

    /// Lines read from, and written to, the memory of all nodes.
    pub(crate) fn moved(&self) -> (u64, u64) {
        let all = self.traffic.iter().flatten();
        all.fold((0, 0), |(reads, writes), t| (reads + t.reads(), writes + t.writes()))
    }

    /// Sends the write-backs of the caches to memory.
    #[inline]
    fn send_writebacks(&mut self, now: Ps) {
        while let Some(writeback) = self.caches.writebacks.pop() {
            self.count_traffic(writeback.line, writeback.cause);
            self.backend.write(now, writeback.line, false);
        }
    }

    /// A line arrives from memory and enters the caches. Returns who asked for it; the requests that
    /// waited for it are in `backend.reads.again`.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Ps, transaction: u16) -> Requester {
        let read = self.backend.end(now, transaction);
        let (line, kind, requester) = (read.line, read.kind, read.requester);
        if let Requester::Prefetch { core } = requester {
            self.prefetchers[core as usize].arrived();
        }
        match requester {
            Requester::Core { .. } | Requester::Prefetch { .. } if read.stale => {
                self.caches.arrive_stale(transaction);
            }
            Requester::Core { core, exclusive, .. } => {
                self.caches.arrive(core as usize, line, kind, exclusive, transaction);
            }
            Requester::Prefetch { core } => {
                self.caches.arrive_prefetch(core as usize, line, kind, transaction);
            }
            Requester::Nic { .. } | Requester::Walker { .. } => {}
        }
        self.send_writebacks(now);
        requester
    }

    /// Both sides of the balances of memory reads and writes since the measured time began.
    pub(crate) fn balance(&self) -> MemoryBalance {
        let (reads, writes) = self.moved();
        self.backend.balance(reads, writes)
    }

    /// A line enters the caches of a core without a transaction.
    pub(crate) fn fill_at_once(
        &mut self,
        core: usize,
        line: Line,
        kind: LineKind,
        exclusive: bool,
    ) {
        let transaction = self.backend.reads.next();
        if self.caches.request(core, line, kind, exclusive, transaction) == Served::Memory {
            self.caches.arrive(core, line, kind, exclusive, transaction);
        }
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.backend.reset_counts(now);
        self.counts = Counts::new(self.counts.llc_by_core.len(), self.caches.dirty());
        self.traffic.fill(Default::default());
        self.swept.reads = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::config::Prefetch;
    use crate::testing::{machine, memory};

    /// An access that joins a miss register, or is retried because none was free, does not look up the
    /// L2.
    #[test]
    fn a_streamer_sees_each_lookup_of_the_l2_once() {
        let mut machine = machine();
        (machine.l2.prefetch, machine.l2.superqueue) = (Prefetch::Streamer, 30);
        let mut m = memory(&machine);
        for asked in [true, false, false] {
            for line in [64, 66] {
                assert_eq!(m.access(0, line, LineKind::App, false), Found::Nowhere);
                m.access(0, line, LineKind::App, false);
                m.missed(0, line, LineKind::App, asked);
            }
        }
        m.prefetchers[0].request(Ps::ZERO, 66, LineKind::App);
        assert_eq!(std::iter::from_fn(|| m.prefetchers[0].next()).count(), 2);
    }

    #[test]
    fn a_prefetch_does_not_go_before_requests_that_wait() {
        let mut machine = machine();
        (machine.l2.prefetch, machine.l2.superqueue) = (Prefetch::NextLine, 30);
        let reads = |others_wait| {
            let mut m = memory(&machine);
            m.others_wait = others_wait;
            assert_eq!(m.request(Ps::ZERO, 64, LineKind::App, 0, 0, false), None);
            m.backend.trackers.used.inside()
        };
        assert_eq!((reads(false), reads(true)), (2, 1));
    }

    /// A core that runs ahead has not found a line that its prefetcher had brought when its request came.
    #[test]
    fn a_line_that_a_prefetch_has_brought_meanwhile_is_there() {
        let mut machine = machine();
        let now = Ps::from_ns(500);
        let mut answer = |prefetch, by: &[usize], exclusive| {
            machine.l2.prefetch = prefetch;
            machine.l2.superqueue = 30;
            let mut m = memory(&machine);
            by.iter().for_each(|&core| m.fill_at_once(core, 7, LineKind::App, false));
            m.request(now, 7, LineKind::App, 0, 0, exclusive).expect("it is on the chip")
        };
        assert_eq!(answer(Prefetch::NextLine, &[0], false), now);
        assert_eq!(answer(Prefetch::NextLine, &[0], true), now);
        assert_eq!(answer(Prefetch::NextLine, &[1, 0], false), now);
        assert!(answer(Prefetch::NextLine, &[1, 0], true) > now, "the right to write is not there");
        assert!(answer(Prefetch::NextLine, &[1], false) > now);
        assert_eq!(answer(Prefetch::None, &[0], false), now);
    }
}
