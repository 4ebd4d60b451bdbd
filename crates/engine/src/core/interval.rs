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

use std::ops::Range;

use super::ask::Ask;
use super::chain::{Chain, Deferred, stays_away};
use super::in_order::{InOrder, PENDING};
use super::misses::{Misses, Waiter};
use super::op::{Dep, Mark, Op, Ops};
use crate::config::machine::Machine;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
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

/// A load or store.
#[derive(Clone, Copy, Debug)]
struct Access {
    line: Line,
    kind: LineKind,
    dep: Dep,
    store: bool,
}

/// What the next operation waits for. Until it has come there is no use in trying again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Blocked {
    /// Nothing that is known.
    No,
    /// The completion of the oldest entry of the reorder window.
    Window,
    /// That of the oldest store.
    Stores,
    /// A miss register for this line, which is in no private cache.
    Register(Line),
}

/// Latencies in slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latencies {
    pub(super) l1: u64,
    pub(super) l2: u64,
    /// From issue to the LLC: the lookup of L1d and L2 and the way there.
    pub(super) to_llc: u64,
}

/// One core.
///
/// What it asks of the rest of the machine goes to the `ask` that its methods are called with.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(super) id: u16,
    pub(super) slots: Clock,
    window_size: u64,
    store_buffer: usize,
    pub(super) latencies: Latencies,
    /// The next free dispatch slot.
    pub(super) slot: u64,
    /// Instructions dispatched.
    pub(super) dispatched: u64,
    pub(crate) ops: Ops,
    next_op: usize,
    /// Instructions left of a compute operation that has begun.
    compute_left: u32,
    blocked: Blocked,
    /// The last access hit the L1d: the next ones may, too.
    hit: bool,
    pub(super) chain: Chain,
    pub(super) window: InOrder,
    pub(super) stores: InOrder,
    pub(super) misses: Misses,
    /// Sum of the latencies of accesses, slots, and their number: AMAT.
    pub(super) access_slots: u64,
    pub(crate) accesses: u64,
}

impl Core {
    pub(crate) fn new(machine: &Machine, id: u16, sweeper: bool) -> Core {
        let c = &machine.core;
        let width = u64::from(c.dispatch_width);
        let in_slots = |cycles: u32| u64::from(cycles) * width;
        // Marks take an entry and no instruction, hence the factor.
        let window = 4 * c.reorder_window as usize;
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
            blocked: Blocked::No,
            hit: false,
            chain: Chain::new(window),
            window: InOrder::new(window),
            stores: InOrder::new(c.store_buffer as usize),
            misses: Misses::new(c.l1_miss_registers),
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
        self.misses.request(register)
    }

    /// Whether the next operation still waits for what it has waited for.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        match self.blocked {
            Blocked::No => false,
            Blocked::Window => !self.window.knows_oldest(),
            Blocked::Stores => !self.stores.knows_oldest(),
            Blocked::Register(line) => self.misses.all_busy(line),
        }
    }

    /// Executes operations until something stops it, at most until local time `until`.
    pub(crate) fn run(
        &mut self,
        memory: &mut Memory,
        until: Ps,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> Stop {
        if self.is_blocked() {
            return Stop::Waiting;
        }
        if let Blocked::Window | Blocked::Stores = self.blocked {
            self.blocked = Blocked::No;
        }
        let limit = self.slots.ticks_until(until);
        loop {
            if self.hit {
                self.load_hits(memory, limit);
            }
            let Some(op) = self.ops.get(self.next_op) else { return Stop::Finished };
            if self.slot > limit {
                return Stop::Ahead;
            }
            let access = match op {
                Op::Load { line, kind, dep } => Access { line, kind, dep, store: false },
                Op::Store { line, kind, dep } => Access { line, kind, dep, store: true },
                other => {
                    if !self.execute(other, ask) {
                        return Stop::Waiting;
                    }
                    self.next_op += 1;
                    continue;
                }
            };
            if !self.access(memory, access, ask) {
                return Stop::Waiting;
            }
            self.next_op += 1;
        }
    }

    /// Executes an operation that is no load or store. Returns false if it has to wait.
    #[inline]
    fn execute(&mut self, op: Op, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        match op {
            Op::Compute { instructions } => self.compute(instructions),
            Op::Delay { ns } => self.delay(ns),
            Op::Mark { mark, packet } => self.mark(mark, packet, ask),
            Op::Sweep { line } => self.sweep(line, ask),
            Op::WriteBack { line } => self.at_retirement(Ask::WriteBack(line), line..line + 1, ask),
            Op::Load { .. } | Op::Store { .. } => panic!("{op:?} is an access"),
        }
    }

    /// Executes the loads that come next, as long as they hit the L1d and wait for nothing: each takes
    /// its slot and leaves no trace in the reorder window.
    #[inline]
    fn load_hits(&mut self, memory: &mut Memory, limit: u64) {
        // Up to the limit, and until the window has to be looked at again.
        let mut slots = (limit + 1).saturating_sub(self.slot);
        if let Some((oldest, leaves)) = self.window.oldest() {
            slots = slots
                .min(leaves.saturating_sub(self.slot))
                .min((oldest + self.window_size).saturating_sub(self.dispatched));
        }
        let ops = self.ops.some(self.next_op, slots as usize);
        let hits = memory.load_all(self.id as usize, ops, |op| match *op {
            Op::Load { line, kind, dep: Dep::Free } => Some((line, kind)),
            _ => None,
        });
        self.hit = hits == ops.len();
        self.next_op += hits;
        let hits = hits as u64;
        self.accesses += hits;
        self.access_slots += hits * self.latencies.l1;
        self.dispatch(hits);
    }

    #[inline]
    fn dispatch(&mut self, instructions: u64) {
        self.slot += instructions;
        self.dispatched += instructions;
    }

    /// Waits until the next instruction fits into the reorder window with the oldest entry. Returns
    /// false if the oldest entry's completion is not known.
    #[inline]
    fn reserve(&mut self) -> bool {
        while let Some((oldest, leaves)) = self.window.oldest() {
            if leaves > self.slot && self.dispatched < oldest + self.window_size {
                break;
            }
            if leaves == PENDING {
                self.blocked = Blocked::Window;
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
                if !self.reserve() {
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

    fn mark(&mut self, mark: Mark, packet: u32, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        if mark == Mark::Begin {
            self.chain.begin();
        }
        self.retire(Ask::Mark(mark, packet), ask)
    }

    /// Puts what the program reaches next into the reorder window. Returns false if that is full.
    fn retire(&mut self, reached: Ask, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        self.window.leave_until(self.slot);
        if self.window.is_full() {
            return false;
        }
        self.window.push(self.dispatched, self.slot, Some(reached));
        self.settle(ask);
        true
    }

    /// A run of consecutive `clsweep`s is one message.
    fn sweep(&mut self, first: Line, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        let mut lines = 1;
        while let Some(Op::Sweep { line }) = self.ops.get(self.next_op + lines as usize)
            && line == first + lines
        {
            lines += 1;
        }
        let done = self.at_retirement(Ask::Sweep(first, lines), first..first + lines, ask);
        if done {
            self.next_op += lines as usize - 1;
        }
        done
    }

    /// Cache-line instructions act when they retire: like `clflushopt`, they are ordered behind the
    /// older accesses to their lines.
    fn at_retirement(
        &mut self,
        reached: Ask,
        lines: Range<Line>,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        if self.misses.stores_to(&lines) || self.chain.stores_to(&lines) {
            return false;
        }
        self.window.leave_until(self.slot);
        if !self.reserve() || !self.retire(reached, ask) {
            return false;
        }
        self.dispatch(u64::from(lines.end - lines.start));
        true
    }

    /// Dispatches a load or store. Returns false if it has to wait.
    #[inline(always)]
    fn access(
        &mut self,
        memory: &mut Memory,
        access: Access,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        let Access { line, kind, dep, store } = access;
        if !self.reserve() || (store && !self.reserve_store()) {
            return false;
        }
        let chained = dep != Dep::Free;
        if chained && !self.chain.is_known() {
            return self.defer(access);
        }
        let issue = if chained { self.slot.max(self.chain.ready) } else { self.slot };
        let found = match std::mem::replace(&mut self.blocked, Blocked::No) {
            Blocked::Register(_) => Found::Nowhere,
            _ => memory.access(self.id as usize, line, store),
        };
        let latency = match found {
            Found::L1 => self.latencies.l1,
            Found::L2 => self.latencies.l2,
            Found::NotWritable | Found::Nowhere => {
                if self.window.is_full() {
                    return false;
                }
                match self.misses.register_for(line) {
                    Ok((register, free_at)) => {
                        memory.count(kind, found);
                        // A register that frees later delays the access, not the dispatch of what
                        // follows it.
                        self.dispatch_miss(access, register, issue.max(free_at), ask);
                        return true;
                    }
                    Err(refusal) => {
                        if stays_away(memory, found, refusal) {
                            self.blocked = Blocked::Register(line);
                        }
                        return false;
                    }
                }
            }
        };
        memory.count(kind, found);
        self.hit = found == Found::L1;
        self.accesses += 1;
        self.access_slots += latency;
        let ready = issue + latency;
        if store {
            if !self.stores.is_empty() {
                self.stores.push(self.dispatched, issue, None);
                self.stores.settle(|_, _| {});
            }
        } else {
            if dep == Dep::Chain {
                self.chain.ready = ready;
            }
            // A hit that waited for nothing completes within the pipeline.
            if (chained || found == Found::L2) && !self.window.is_full() {
                self.window.push(self.dispatched, ready, None);
                self.settle(ask);
            }
        }
        self.dispatch(1);
        true
    }

    /// Waits until the store buffer has room for one more. Returns false if its oldest store's
    /// completion is not known.
    #[inline]
    fn reserve_store(&mut self) -> bool {
        self.stores.leave_until(self.slot);
        if self.stores.len() >= self.store_buffer {
            let Some((_, leaves)) = self.stores.oldest().filter(|o| o.1 != PENDING) else {
                self.blocked = Blocked::Stores;
                return false;
            };
            self.slot = self.slot.max(leaves);
            self.stores.leave_until(self.slot);
        }
        true
    }

    /// Dispatches an access whose address comes from a load that has not returned.
    fn defer(&mut self, Access { line, kind, dep, store }: Access) -> bool {
        if self.window.is_full() {
            return false;
        }
        self.chain.defer(Deferred {
            line,
            kind,
            store,
            link: dep == Dep::Chain && !store,
            slot: self.slot,
            entry: self.window.push(self.dispatched, PENDING, None),
            store_entry: if store { self.stores.push(self.dispatched, PENDING, None) } else { 0 },
        });
        self.dispatch(1);
        true
    }

    #[inline]
    fn dispatch_miss(
        &mut self,
        Access { line, kind, dep, store }: Access,
        register: u16,
        issue: u64,
        ask: &mut impl FnMut(Ps, Ask),
    ) {
        let queue = if store { &mut self.stores } else { &mut self.window };
        let waiter = Waiter { entry: queue.push(self.dispatched, PENDING, None), store, issue };
        self.wait_for(register, line, kind, dep == Dep::Chain && !store, waiter, ask);
        self.dispatch(1);
    }

    /// Makes `waiter` wait for the line in `register`, which is requested if it is not yet.
    #[inline]
    pub(super) fn wait_for(
        &mut self,
        register: u16,
        line: Line,
        kind: LineKind,
        chain: bool,
        waiter: Waiter,
        ask: &mut impl FnMut(Ps, Ask),
    ) {
        if chain {
            self.chain.ready = PENDING;
        }
        if self.misses.wait(register, line, kind, chain, waiter) {
            let at = self.slots.at(waiter.issue + self.latencies.to_llc);
            ask(at, Ask::Request(register));
        }
    }

    /// The line of a miss register is here at `at`.
    pub(crate) fn complete(
        &mut self,
        memory: &mut Memory,
        register: u16,
        at: Ps,
        ask: &mut impl FnMut(Ps, Ask),
    ) {
        let ready = self.slots.ticks_until(at);
        if self.blocked == Blocked::Register(self.misses.request(register).0) {
            // Its line has come with an access that was deferred.
            self.blocked = Blocked::No;
        }
        let (mut accesses, mut slots) = (0, 0);
        let (window, stores) = (&mut self.window, &mut self.stores);
        let arrived = self.misses.arrive(register, ready, |waiter| {
            accesses += 1;
            slots += ready.saturating_sub(waiter.issue);
            let queue = if waiter.store { &mut *stores } else { &mut *window };
            queue.complete(waiter.entry, ready);
        });
        self.accesses += accesses;
        self.access_slots += slots;
        if arrived.again {
            ask(self.slots.at(ready + self.latencies.to_llc), Ask::Request(register));
        }
        if arrived.chain {
            self.chain.ready = ready;
        }
        self.issue_deferred(memory, ask);
        self.stores.settle(|_, _| {});
        self.settle(ask);
    }

    /// Hands what the program has reached to the machine.
    #[inline]
    fn settle(&mut self, ask: &mut impl FnMut(Ps, Ask)) {
        let (slots, to_llc) = (self.slots, self.latencies.to_llc);
        self.window.settle(|reached, slot| {
            let slot = if matches!(reached, Ask::Mark(..)) { slot } else { slot + to_llc };
            ask(slots.at(slot), reached);
        });
    }

    /// Time integral of busy miss registers since the measured time began, register-picoseconds.
    pub(crate) fn miss_time_ps(&self) -> f64 {
        self.slots.at(self.misses.time_until(self.slot)).0 as f64
    }

    /// Sum of the latencies of all accesses that have completed, ps.
    pub(crate) fn access_ps(&self) -> f64 {
        self.slots.at(self.access_slots).0 as f64
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self) {
        self.misses.reset_time(self.slot);
        self.access_slots = 0;
        self.accesses = 0;
    }
}
