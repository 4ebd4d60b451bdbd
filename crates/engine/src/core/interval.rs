//! The interval core: out-of-order execution by its limits.
//!
//! Instructions dispatch `dispatch_width` a cycle until something holds them: the reorder window is
//! full behind a load that has not returned, every miss register is taken, or the store buffer is
//! full. Loads that do not depend on each other overlap as far as window and miss registers allow,
//! so memory-level parallelism is a result, not a parameter. The idea is that of interval
//! simulation (Genbrugge, Eyerman and Eeckhout, HPCA 2010); front-end and functional-unit limits
//! are left out.
//!
//! Time inside a core is counted in dispatch slots: a cycle has `dispatch_width` of them.

use std::collections::VecDeque;

use super::ask::Ask;
use super::in_order::{InOrder, PENDING};
use super::op::{Dep, Mark, Op, Ops};
use crate::config::machine::Machine;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::memory::ways::{EMPTY, first_match};
use crate::time::{Clock, Ps};

/// Why a core stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// It waits for a line.
    Waiting,
    /// It is ahead of the rest of the machine as far as it may be.
    Ahead,
    /// There is nothing more to do.
    Finished,
}

/// Who waits for a miss.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// Its entry in the store buffer if it is a store, else in the reorder window.
    entry: u64,
    store: bool,
    /// Slot in which the access was issued.
    issue: u64,
}

/// Accesses that may wait for one line; more stall dispatch.
const WAITERS: usize = 8;

/// A miss register (line-fill buffer).
#[derive(Clone, Debug)]
struct Miss {
    line: Line,
    kind: LineKind,
    /// The request is for the right to write.
    exclusive: bool,
    /// A store came after a request that was not: ask again when the line is here.
    upgrade: bool,
    /// The last link of the dependence chain waits for it.
    chain: bool,
    waiters: [Waiter; WAITERS],
    waiting: usize,
    busy: bool,
    /// Slot in which it is free for the next miss, when it is not busy.
    free_at: u64,
}

/// An access whose address is not known yet.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    line: Line,
    kind: LineKind,
    store: bool,
    chain: bool,
    /// Slot in which it was dispatched.
    slot: u64,
    /// Its entry in the reorder window.
    entry: u64,
    /// Its entry in the store buffer, if it is a store.
    store_entry: u64,
}

/// Latencies in slots.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    l1: u64,
    l2: u64,
    /// From issue to the LLC: the lookup of L1d and L2 and the way there.
    to_llc: u64,
}

/// One core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    id: u16,
    slots: Clock,
    window_size: u64,
    store_buffer: usize,
    latencies: Latencies,
    /// The next free dispatch slot.
    slot: u64,
    /// Instructions dispatched.
    dispatched: u64,
    pub(crate) ops: Ops,
    next_op: usize,
    /// Instructions left of a compute operation that has begun.
    compute_left: u32,
    /// Slot in which the last link of the dependence chain has its data, or [`PENDING`].
    chain_ready: u64,
    window: InOrder,
    stores: InOrder,
    misses: Vec<Miss>,
    /// The lines that busy miss registers fetch, for the search.
    miss_lines: Vec<[Line; 4]>,
    /// Miss registers that are not busy, by the slot in which they are free and their number.
    free_misses: VecDeque<(u64, u16)>,
    deferred: VecDeque<Deferred>,
    /// What it asks of the machine; the host drains this.
    pub(crate) asks: Vec<(Ps, Ask)>,
    /// Time integral of busy miss registers, in register-slots, and when it was last brought up.
    miss_time: u64,
    miss_since: u64,
    /// Sum of the latencies of accesses, slots, and their number: AMAT.
    access_slots: u64,
    pub(crate) accesses: u64,
}

impl Core {
    pub(crate) fn new(machine: &Machine, id: u16, sweeper: bool) -> Core {
        let c = &machine.core;
        let width = u64::from(c.dispatch_width);
        let in_slots = |cycles: u32| u64::from(cycles) * width;
        let miss = Miss {
            line: 0,
            kind: LineKind::App,
            exclusive: false,
            upgrade: false,
            chain: false,
            waiters: [Waiter { entry: 0, store: false, issue: 0 }; WAITERS],
            waiting: 0,
            busy: false,
            free_at: 0,
        };
        Core {
            id,
            slots: c.frequency.clock().divided(width),
            window_size: u64::from(c.reorder_window),
            store_buffer: c.store_buffer as usize,
            latencies: Latencies {
                l1: in_slots(machine.l1d.latency_cycles),
                l2: in_slots(machine.l2.latency_cycles),
                to_llc: in_slots(machine.l2.latency_cycles + machine.noc.latency_cycles),
            },
            slot: 0,
            dispatched: 0,
            ops: Ops::new(sweeper),
            next_op: 0,
            compute_left: 0,
            chain_ready: 0,
            // Marks take an entry and no instruction, hence the factor.
            window: InOrder::new(4 * c.reorder_window as usize),
            stores: InOrder::new(c.store_buffer as usize),
            misses: vec![miss; c.l1_miss_registers as usize],
            miss_lines: vec![[EMPTY; 4]; c.l1_miss_registers.div_ceil(4) as usize],
            free_misses: (0..c.l1_miss_registers as u16).map(|register| (0, register)).collect(),
            deferred: VecDeque::new(),
            asks: Vec::new(),
            miss_time: 0,
            miss_since: 0,
            access_slots: 0,
            accesses: 0,
        }
    }

    /// Local time of the core.
    pub(crate) fn now(&self) -> Ps {
        self.slots.at(self.slot)
    }

    /// An idle core becomes active at `now`.
    pub(crate) fn wake_at(&mut self, now: Ps) {
        self.slot = self.slot.max(self.slots.ticks_until(now));
    }

    /// Makes room for the next stretch of operations; the last must have been executed.
    pub(crate) fn clear_ops(&mut self) {
        debug_assert!(self.next_op >= self.ops.len());
        self.ops.clear();
        self.next_op = 0;
    }

    /// Line and kind that a miss register asks for, and whether to write.
    pub(crate) fn miss(&self, register: u16) -> (Line, LineKind, bool) {
        let m = &self.misses[register as usize];
        (m.line, m.kind, m.exclusive)
    }

    /// Executes operations until something stops it, at most until local time `until`.
    pub(crate) fn run(&mut self, memory: &mut Memory, until: Ps) -> Stop {
        let limit = self.slots.ticks_until(until);
        while let Some(op) = self.ops.get(self.next_op) {
            if self.slot > limit {
                return Stop::Ahead;
            }
            let done = match op {
                Op::Load { line, kind, dep } => self.access(memory, line, kind, dep, false),
                Op::Store { line, kind, dep } => self.access(memory, line, kind, dep, true),
                Op::Compute { instructions } => self.compute(instructions),
                Op::Delay { ns } => self.delay(ns),
                Op::Mark { mark, packet } => self.mark(mark, packet),
                Op::Sweep { line } => self.sweep(line),
                Op::WriteBack { line } => self.at_retirement(Ask::WriteBack(line), 1),
            };
            if !done {
                return Stop::Waiting;
            }
            self.next_op += 1;
        }
        Stop::Finished
    }

    #[inline]
    fn dispatch(&mut self, instructions: u64) {
        self.slot += instructions;
        self.dispatched += instructions;
    }

    fn ask(&mut self, slot: u64, ask: Ask) {
        self.asks.push((self.slots.at(slot), ask));
    }

    /// Waits until the next `instructions` fit into the reorder window with the oldest entry.
    /// Returns false if the oldest entry's completion is not known.
    #[inline]
    fn reserve(&mut self, instructions: u64) -> bool {
        while let Some((oldest, leaves)) = self.window.oldest() {
            if leaves > self.slot && self.dispatched + instructions <= oldest + self.window_size {
                break;
            }
            if leaves == PENDING {
                return false;
            }
            self.slot = self.slot.max(leaves);
            self.window.drop_oldest();
        }
        true
    }

    #[inline]
    fn compute(&mut self, instructions: u32) -> bool {
        let mut left = if self.compute_left > 0 { self.compute_left } else { instructions };
        while left > 0 {
            let room = match self.window.oldest() {
                None => u64::from(left),
                Some((oldest, _)) => (oldest + self.window_size).saturating_sub(self.dispatched),
            };
            if room == 0 {
                if !self.reserve(1) {
                    self.compute_left = left;
                    return false;
                }
                continue;
            }
            let step = room.min(u64::from(left));
            self.dispatch(step);
            left -= step as u32;
        }
        self.compute_left = 0;
        true
    }

    fn delay(&mut self, ns: u32) -> bool {
        if !self.window.is_settled() {
            return false;
        }
        self.slot = self.slot.max(self.window.last_ready());
        self.slot = self.slots.ticks_until(self.slots.at(self.slot) + Ps::from_ns(u64::from(ns)));
        true
    }

    fn mark(&mut self, mark: Mark, packet: u32) -> bool {
        if mark == Mark::Begin && self.chain_ready != PENDING && self.deferred.is_empty() {
            // The addresses of a new packet depend on nothing of the one before.
            self.chain_ready = 0;
        }
        self.window.leave_until(self.slot);
        if self.window.is_full() {
            return false;
        }
        self.window.push(self.dispatched, self.slot, Some(Ask::Mark(mark, packet)));
        self.settle();
        true
    }

    /// A run of consecutive `clsweep`s is one message.
    fn sweep(&mut self, first: Line) -> bool {
        let mut lines = 1;
        while let Some(Op::Sweep { line }) = self.ops.get(self.next_op + lines as usize)
            && line == first + lines
        {
            lines += 1;
        }
        let done = self.at_retirement(Ask::Sweep(first, lines), u64::from(lines));
        if done {
            self.next_op += lines as usize - 1;
        }
        done
    }

    /// Whether an older store to one of these lines has not been performed.
    fn stores_to(&self, lines: std::ops::Range<Line>) -> bool {
        let stores = |m: &Miss| m.busy && m.waiters[..m.waiting].iter().any(|w| w.store);
        self.misses.iter().any(|m| stores(m) && lines.contains(&m.line))
            || self.deferred.iter().any(|d| d.store && lines.contains(&d.line))
    }

    /// Cache-line instructions act when they retire: like `clflushopt`, they are ordered behind the
    /// older accesses to their line.
    fn at_retirement(&mut self, ask: Ask, instructions: u64) -> bool {
        let lines = match ask {
            Ask::Sweep(first, lines) => first..first + lines,
            Ask::WriteBack(line) => line..line + 1,
            Ask::Request(_) | Ask::Mark(..) => 0..0,
        };
        if self.stores_to(lines) {
            return false;
        }
        self.window.leave_until(self.slot);
        if !self.reserve(1) || self.window.is_full() {
            return false;
        }
        self.window.push(self.dispatched, self.slot, Some(ask));
        self.dispatch(instructions);
        self.settle();
        true
    }

    /// Dispatches a load or store. Returns false if it has to wait.
    #[inline]
    fn access(
        &mut self,
        memory: &mut Memory,
        line: Line,
        kind: LineKind,
        dep: Dep,
        store: bool,
    ) -> bool {
        if !self.reserve(1) {
            return false;
        }
        if store {
            self.stores.leave_until(self.slot);
            if self.stores.len() >= self.store_buffer {
                let Some((_, leaves)) = self.stores.oldest().filter(|o| o.1 != PENDING) else {
                    return false;
                };
                self.slot = self.slot.max(leaves);
                self.stores.leave_until(self.slot);
            }
        }
        let chained = dep != Dep::Free;
        if chained && (self.chain_ready == PENDING || !self.deferred.is_empty()) {
            if self.window.is_full() {
                return false;
            }
            self.defer(line, kind, store, dep == Dep::Chain);
            self.dispatch(1);
            return true;
        }
        let issue = if chained { self.slot.max(self.chain_ready) } else { self.slot };
        let found = memory.access(self.id as usize, line, store);
        let latency = match found {
            Found::L1 => self.latencies.l1,
            Found::L2 => self.latencies.l2,
            Found::NotWritable | Found::Nowhere => {
                let done = self.dispatch_miss(line, kind, dep, store, issue);
                if done {
                    memory.count(kind, found);
                }
                return done;
            }
        };
        memory.count(kind, found);
        self.accesses += 1;
        self.access_slots += latency;
        let ready = issue + latency;
        if store {
            if self.stores.len() > 0 {
                self.stores.push(self.dispatched, issue, None);
                self.stores.settle(|_, _| {});
            }
        } else {
            if dep == Dep::Chain {
                self.chain_ready = ready;
            }
            // A hit that waited for nothing completes within the pipeline.
            if (chained || found == Found::L2) && !self.window.is_full() {
                self.window.push(self.dispatched, ready, None);
                self.settle();
            }
        }
        self.dispatch(1);
        true
    }

    fn dispatch_miss(
        &mut self,
        line: Line,
        kind: LineKind,
        dep: Dep,
        store: bool,
        issue: u64,
    ) -> bool {
        if self.window.is_full() {
            return false;
        }
        let Some(register) = self.register_for(line) else { return false };
        // A register that frees later delays the access, not the dispatch of what follows it.
        let issue = issue.max(self.misses[register].free_at);
        let queue = if store { &mut self.stores } else { &mut self.window };
        let waiter = Waiter { entry: queue.push(self.dispatched, PENDING, None), store, issue };
        self.wait_for(register, line, kind, dep == Dep::Chain && !store, waiter);
        self.dispatch(1);
        true
    }

    /// The register that already fetches the line, or the one that is free first.
    #[inline]
    fn register_for(&self, line: Line) -> Option<usize> {
        match first_match(&self.miss_lines, line) {
            Some(register) => (self.misses[register].waiting < WAITERS).then_some(register),
            None => self.free_misses.front().map(|&(_, register)| usize::from(register)),
        }
    }

    /// Makes `waiter` wait for the line in `register`, which is requested if it is not yet.
    fn wait_for(
        &mut self,
        register: usize,
        line: Line,
        kind: LineKind,
        chain: bool,
        waiter: Waiter,
    ) {
        let new = !self.misses[register].busy;
        if new {
            self.count_misses(waiter.issue);
            let first = self.free_misses.pop_front();
            debug_assert_eq!(first.map(|f| usize::from(f.1)), Some(register));
            self.miss_lines[register / 4][register % 4] = line;
        }
        let m = &mut self.misses[register];
        if new {
            (m.line, m.kind, m.exclusive) = (line, kind, waiter.store);
            (m.upgrade, m.chain, m.waiting, m.busy) = (false, false, 0, true);
        }
        m.waiters[m.waiting] = waiter;
        m.waiting += 1;
        m.chain |= chain;
        m.upgrade |= waiter.store && !m.exclusive;
        if chain {
            self.chain_ready = PENDING;
        }
        if new {
            self.ask(waiter.issue + self.latencies.to_llc, Ask::Request(register as u16));
        }
    }

    fn defer(&mut self, line: Line, kind: LineKind, store: bool, chain: bool) {
        let entry = self.window.push(self.dispatched, PENDING, None);
        let store_entry = if store { self.stores.push(self.dispatched, PENDING, None) } else { 0 };
        let chain = chain && !store;
        self.deferred.push_back(Deferred {
            line,
            kind,
            store,
            chain,
            slot: self.slot,
            entry,
            store_entry,
        });
    }

    /// Issues the accesses whose address has become known, oldest first.
    fn issue_deferred(&mut self, memory: &mut Memory) {
        while self.chain_ready != PENDING
            && let Some(&d) = self.deferred.front()
        {
            let issue = d.slot.max(self.chain_ready);
            let found = memory.access(self.id as usize, d.line, d.store);
            let latency = match found {
                Found::L1 => self.latencies.l1,
                Found::L2 => self.latencies.l2,
                Found::NotWritable | Found::Nowhere => {
                    let Some(register) = self.register_for(d.line) else { return };
                    memory.count(d.kind, found);
                    let issue = issue.max(self.misses[register].free_at);
                    self.deferred.pop_front();
                    let entry = if d.store {
                        // The store can retire; its line is the store buffer's business.
                        self.window.complete(d.entry, issue);
                        d.store_entry
                    } else {
                        d.entry
                    };
                    let waiter = Waiter { entry, store: d.store, issue };
                    self.wait_for(register, d.line, d.kind, d.chain, waiter);
                    continue;
                }
            };
            memory.count(d.kind, found);
            self.deferred.pop_front();
            self.accesses += 1;
            self.access_slots += latency;
            if d.store {
                self.window.complete(d.entry, issue);
                self.stores.complete(d.store_entry, issue);
            } else {
                self.window.complete(d.entry, issue + latency);
                if d.chain {
                    self.chain_ready = issue + latency;
                }
            }
        }
    }

    /// The line of a miss register is here at `at`.
    pub(crate) fn complete(&mut self, memory: &mut Memory, register: u16, at: Ps) {
        let ready = self.slots.ticks_until(at);
        let m = &mut self.misses[register as usize];
        let waiting = m.waiting;
        let chain = std::mem::take(&mut m.chain);
        // Stores that joined a request for reading need the right to write: ask once more.
        let again = m.upgrade && !m.exclusive;
        m.waiting = 0;
        for i in 0..waiting {
            let m = &mut self.misses[register as usize];
            let waiter = m.waiters[i];
            if waiter.store && again {
                m.waiters[m.waiting] = waiter;
                m.waiting += 1;
                continue;
            }
            self.accesses += 1;
            self.access_slots += ready.saturating_sub(waiter.issue);
            if waiter.store {
                self.stores.complete(waiter.entry, ready);
            } else {
                self.window.complete(waiter.entry, ready);
            }
        }
        let m = &mut self.misses[register as usize];
        if again {
            (m.exclusive, m.upgrade) = (true, false);
            self.ask(ready + self.latencies.to_llc, Ask::Request(register));
        } else {
            (m.busy, m.free_at) = (false, ready);
            self.count_misses(ready);
            self.free_register(register, ready);
        }
        if chain {
            self.chain_ready = ready;
        }
        if !self.deferred.is_empty() {
            self.issue_deferred(memory);
        }
        self.stores.settle(|_, _| {});
        self.settle();
    }

    /// A miss register is free from slot `ready` on: it takes its place in the order of use.
    fn free_register(&mut self, register: u16, ready: u64) {
        let r = usize::from(register);
        self.miss_lines[r / 4][r % 4] = EMPTY;
        self.free_misses.push_back((ready, register));
        let mut i = self.free_misses.len() - 1;
        while i > 0 && self.free_misses[i - 1] > self.free_misses[i] {
            self.free_misses.swap(i - 1, i);
            i -= 1;
        }
    }

    fn busy_misses(&self) -> u64 {
        (self.misses.len() - self.free_misses.len()) as u64
    }

    /// Brings the time integral of busy miss registers up to `slot`.
    fn count_misses(&mut self, slot: u64) {
        let span = slot.saturating_sub(self.miss_since);
        self.miss_time += span * self.busy_misses();
        self.miss_since = self.miss_since.max(slot);
    }

    /// Hands what the program has reached to the machine.
    #[inline]
    fn settle(&mut self) {
        let (slots, to_llc, asks) = (self.slots, self.latencies.to_llc, &mut self.asks);
        self.window.settle(|ask, slot| {
            let slot = if matches!(ask, Ask::Mark(..)) { slot } else { slot + to_llc };
            asks.push((slots.at(slot), ask));
        });
    }

    /// Time integral of busy miss registers since the measured time began, register-picoseconds.
    pub(crate) fn miss_time_ps(&self) -> f64 {
        let open = self.slot.saturating_sub(self.miss_since) * self.busy_misses();
        self.slots.at(self.miss_time + open).0 as f64
    }

    /// Sum of the latencies of all accesses that have completed, ps.
    pub(crate) fn access_ps(&self) -> f64 {
        self.slots.at(self.access_slots).0 as f64
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self) {
        self.count_misses(self.slot);
        self.miss_time = 0;
        self.access_slots = 0;
        self.accesses = 0;
    }
}
