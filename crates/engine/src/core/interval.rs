//! The interval core: out-of-order execution, described by its limits.
//!
//! Instructions dispatch at `dispatch_width` per cycle until something stalls them: the reorder window is
//! full behind a load that has not returned, or the store buffer is full. A miss is requested when a miss
//! register is free. Independent loads overlap as far as window and miss registers allow, so memory-level
//! parallelism is a result, not a parameter. The idea is that of interval simulation (Genbrugge, Eyerman and
//! Eeckhout, HPCA 2010); front-end and functional-unit limits are left out.
//!
//! Time inside a core is counted in dispatch slots: a cycle has `dispatch_width` of them.

use std::collections::VecDeque;

use super::ask::Ask;
use super::chain::Chains;
use super::config::Core as Config;
use super::in_order::{InOrder, PENDING};
use super::misses::Misses;
use super::op::{Access, Op, Ops};
use crate::memory::config::Hierarchy;
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::time::{Clock, Ps};

/// How many operations ahead of their execution the simulation loads what they look up.
const OPS_AHEAD: usize = 6;

/// Why a core stopped running.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// It waits for a line, or until an invalidation of the IOMMU is done.
    Waiting,
    /// It is as far ahead of the rest of the machine as it may be.
    Ahead,
    /// There is nothing more to do.
    Finished,
}

/// What the next operation waits for; trying again before that has happened is useless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Blocked {
    /// It is not known to wait for anything.
    No,
    /// The completion of the oldest entry of the reorder window.
    Window,
    /// The completion of the oldest store.
    Stores,
    /// A miss register for this line, which is in no private cache.
    Register(Line),
    /// An invalidation of the IOMMU.
    Invalidation,
}

/// Use of a core's miss registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterUse {
    /// Time integral of busy registers, register × ps.
    pub(crate) busy: Ps,
    /// Time in which all registers are busy.
    pub(crate) full: Ps,
    /// Lines requested.
    pub(crate) uses: u64,
}

/// Latencies in slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latencies {
    pub(super) cycle: u64,
    pub(super) l1: u64,
    pub(super) l2: u64,
    /// From issue to the LLC: the lookups in L1d and L2 and the trip to the LLC.
    pub(super) to_llc: u64,
}

/// One core.
///
/// Its requests to the rest of the machine go to the `ask` closure that its methods are called with.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(super) id: u16,
    pub(super) slots: Clock,
    pub(super) window_size: u64,
    pub(super) store_buffer: usize,
    pub(super) latencies: Latencies,
    /// The next free dispatch slot.
    pub(super) slot: u64,
    /// Instructions dispatched, in total and before measuring began.
    pub(super) dispatched: u64,
    dispatched_before: u64,
    pub(crate) ops: Ops,
    pub(super) next_op: usize,
    /// Instructions left of the operation in progress, a computation or a run of cache-line instructions.
    pub(super) compute_left: u32,
    pub(super) blocked: Blocked,
    /// The slot from which the L2 can send the next line.
    l2_free: u64,
    /// The last access hit the L1d: the next ones may, too.
    pub(super) hit: bool,
    pub(super) chains: Chains,
    pub(super) window: InOrder,
    pub(super) stores: InOrder,
    /// Positions in the store buffer of the doorbells that have not retired, in order.
    pub(super) doorbells: VecDeque<u64>,
    pub(super) misses: Misses,
    /// Sum of the access latencies, in slots, and the number of accesses: AMAT.
    pub(super) access_slots: u64,
    pub(crate) accesses: u64,
}

impl Core {
    pub(crate) fn new(c: &Config, parts: &Hierarchy<'_>, id: u16, sweeper: bool) -> Core {
        let width = u64::from(c.dispatch_width);
        let in_slots = |cycles: u32| u64::from(cycles) * width;
        // The slots of the network's cycles, to the nearest.
        let (hz, uncore) = (u128::from(parts.frequency.0), u128::from(parts.uncore.0));
        let trip = u128::from(in_slots(parts.noc.latency_cycles)) * hz;
        let trip = ((2 * trip + uncore) / (2 * uncore)) as u64;
        // Marks take an entry but are no instruction, hence the factor.
        let window = 4 * c.reorder_window as usize;
        Core {
            id,
            slots: c.frequency.clock().divided(width),
            window_size: u64::from(c.reorder_window),
            store_buffer: c.store_buffer as usize,
            latencies: Latencies {
                cycle: width,
                l1: in_slots(parts.l1d.latency_cycles),
                l2: in_slots(parts.l2.latency_cycles),
                to_llc: in_slots(parts.l2.latency_cycles) + trip,
            },
            slot: 0,
            dispatched: 0,
            dispatched_before: 0,
            ops: Ops::new(sweeper),
            next_op: 0,
            compute_left: 0,
            blocked: Blocked::No,
            l2_free: 0,
            hit: false,
            chains: Chains::new(window),
            window: InOrder::new(window),
            stores: InOrder::new(c.store_buffer as usize),
            doorbells: VecDeque::new(),
            misses: Misses::new(c.l1_miss_registers),
            access_slots: 0,
            accesses: 0,
        }
    }

    /// Number of the core.
    pub(crate) fn number(&self) -> usize {
        self.id as usize
    }

    /// Local time of the core.
    pub(crate) fn now(&self) -> Ps {
        self.slots.at(self.slot)
    }

    /// An idle core becomes active at `now`.
    pub(crate) fn wake_at(&mut self, now: Ps) {
        self.slot = self.slot.max(self.slots.ticks_until(now));
    }

    /// Makes room for the next operations; the previous ones must have been executed.
    pub(crate) fn clear_ops(&mut self) {
        debug_assert!(self.next_op >= self.ops.len());
        self.ops.clear();
        self.next_op = 0;
    }

    /// Line and kind that a miss register requests, and whether it is for writing.
    pub(crate) fn miss(&self, register: u16) -> (Line, LineKind, bool) {
        self.misses.request(register)
    }

    /// Whether the next operation is still blocked by what it waits for.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        match self.blocked {
            Blocked::No => false,
            Blocked::Window => !self.window.knows_oldest(),
            Blocked::Stores => !self.stores.knows_oldest(),
            Blocked::Register(line) => self.misses.all_busy(line),
            Blocked::Invalidation => true,
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
            if let Some(Op::Load { line, .. } | Op::Store { line, .. }) =
                self.ops.get(self.next_op + OPS_AHEAD)
            {
                memory.caches.load_private_ahead(self.id as usize, line);
            }
            if !self.access(memory, access, ask) {
                return Stop::Waiting;
            }
            self.next_op += 1;
        }
    }

    /// When the L2 sends the L1d a line that is asked for at `issue`: one a cycle. Only for accesses that
    /// issue in the order in which they dispatch.
    #[inline]
    pub(super) fn l2_turn(&mut self, issue: u64) -> u64 {
        let turn = issue.max(self.l2_free);
        self.l2_free = turn + self.latencies.cycle;
        turn
    }

    /// Latency of an access, issued at `issue`, that finds its line in the L2. A line that has been
    /// prefetched from the LLC may still be on its way.
    #[inline]
    pub(super) fn l2_latency(&self, memory: &Memory, line: Line, issue: u64) -> u64 {
        if !memory.prefetches() {
            return self.latencies.l2;
        }
        let arrives = self.slots.ticks_until(memory.arrives(self.number(), line));
        self.latencies.l2.max(arrives.saturating_sub(issue))
    }

    /// When a store with this latency, whose line is in the private caches, leaves the store buffer: at
    /// once, unless the line is still on its way.
    #[inline]
    pub(super) fn hit_store_leaves(&self, issue: u64, latency: u64) -> u64 {
        if latency > self.latencies.l2 { issue + latency } else { issue }
    }

    #[inline]
    pub(super) fn dispatch(&mut self, instructions: u64) {
        self.slot += instructions;
        self.dispatched += instructions;
    }

    /// Waits until the reorder window has room for the next instruction. Returns false if the
    /// completion of the oldest entry, which it waits for, is not known.
    #[inline]
    pub(super) fn reserve(&mut self) -> bool {
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

    /// The line of a miss register arrives at `at`.
    pub(crate) fn complete(
        &mut self,
        memory: &mut Memory,
        register: u16,
        at: Ps,
        ask: &mut impl FnMut(Ps, Ask),
    ) {
        let ready = self.slots.ticks_until(at);
        if self.blocked == Blocked::Register(self.misses.request(register).0) {
            // A deferred access has fetched the line in the meantime.
            self.blocked = Blocked::No;
        }
        if self.misses.wants_upgrade(register) {
            self.store_where_writable(memory, register);
        }
        let (accesses, slots) = (&mut self.accesses, &mut self.access_slots);
        let (window, stores, chains) = (&mut self.window, &mut self.stores, &mut self.chains);
        let l1_latency = self.latencies.l1;
        let again = self.misses.arrive(register, ready, |waiter| {
            *accesses += 1;
            if waiter.store {
                *slots += ready.saturating_sub(waiter.issue);
                stores.complete(waiter.entry, ready.max(waiter.issue));
            } else {
                let has_data = waiter.has_data(ready, l1_latency);
                *slots += has_data - waiter.issue;
                window.complete(waiter.entry, has_data);
                if let Some(chain) = waiter.chain {
                    chains.at(usize::from(chain)).ready = has_data;
                }
            }
        });
        if let Some(slot) = again {
            ask(self.slots.at(slot + self.latencies.to_llc), Ask::Request(register));
        }
        self.issue_deferred(memory, ask);
        self.settle(ask);
    }

    /// Stores that have joined a read request complete if the line arrives writable, as it does
    /// when no other core holds it.
    #[inline(never)]
    fn store_where_writable(&mut self, memory: &mut Memory, register: u16) {
        let (line, kind, _) = self.misses.request(register);
        if let Found::L1 | Found::L2 = memory.access(self.number(), line, kind, true) {
            self.misses.has_right(register);
        }
    }

    /// Passes what the program has reached to the machine. A doorbell that retires must then still
    /// leave the store buffer.
    #[inline]
    pub(super) fn settle(&mut self, ask: &mut impl FnMut(Ps, Ask)) {
        let (slots, to_llc) = (self.slots, self.latencies.to_llc);
        let (stores, doorbells) = (&mut self.stores, &mut self.doorbells);
        self.window.settle(|reached, slot| match reached {
            Ask::Mark(mark, _) if mark.is_doorbell() => {
                stores.complete(doorbells.pop_front().expect("it was put there"), slot);
            }
            Ask::Mark(..) => ask(slots.at(slot), reached),
            _ => ask(slots.at(slot + to_llc), reached),
        });
        stores.settle(|doorbell, slot| ask(slots.at(slot), doorbell));
    }

    /// Use of the miss registers since the measured time began.
    pub(crate) fn miss_registers(&self, now: Ps) -> RegisterUse {
        // A core that waits lags behind `now`, and one in a long computation is ahead of it.
        let (busy, full) = self.misses.times_until(self.slots.ticks_at(now));
        RegisterUse {
            busy: self.slots.sum(busy),
            full: self.slots.at(full),
            uses: self.misses.uses,
        }
    }

    /// Time that the core spent dispatching instructions since the measured time began; in the rest
    /// of its busy time it waits.
    pub(crate) fn dispatch_time(&self) -> Ps {
        self.slots.at(self.dispatched - self.dispatched_before)
    }

    /// Sum of the latencies of all accesses that have completed, ps.
    pub(crate) fn access_ps(&self) -> f64 {
        self.slots.sum(self.access_slots).0 as f64
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.misses.reset_time(self.slots.ticks_at(now));
        self.dispatched_before = self.dispatched;
        self.access_slots = 0;
        self.accesses = 0;
    }
}
