//! Operations other than loads and stores: instructions, delays, waits for the IOMMU, marks, and the
//! cache-line instructions of Sweeper.

use std::ops::Range;

use super::ask::Ask;
use super::in_order::PENDING;
use super::interval::{Blocked, Core};
use super::op::{Mark, Op};
use crate::memory::line::Line;
use crate::time::Ps;

impl Core {
    /// Executes an operation other than a load or store. Returns false if it has to wait.
    #[inline]
    pub(super) fn execute(&mut self, op: Op, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        match op {
            Op::Compute { instructions } => self.compute(instructions),
            Op::Delay { ns } => self.delay(ns),
            Op::Invalidate => self.invalidate(ask),
            Op::Mark { mark, packet } => self.mark(mark, packet, ask),
            Op::Sweep { line } => self.sweep(line, ask),
            Op::WriteBack { line } => self.at_retirement(Ask::WriteBack(line), line..line + 1, ask),
            Op::Load { .. } | Op::Store { .. } => panic!("{op:?} is an access"),
        }
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

    fn invalidate(&mut self, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        if self.window.is_settled() {
            self.slot = self.slot.max(self.window.last_ready());
            self.blocked = Blocked::Invalidation;
            ask(self.slots.at(self.slot + self.latencies.to_llc), Ask::Invalidate);
        }
        false
    }

    /// The invalidation for which the core waits is done at `at`.
    pub(crate) fn invalidated(&mut self, at: Ps) {
        self.blocked = Blocked::No;
        self.slot = self.slots.ticks_until(at);
        self.next_op += 1;
    }

    fn mark(&mut self, mark: Mark, packet: u32, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        let begins = mark == Mark::Begin;
        if mark.is_doorbell() {
            self.window.leave_until(self.slot);
            if self.window.is_full() || !self.reserve_store() {
                return false;
            }
            let leaves = Some(Ask::Mark(mark, packet));
            self.doorbells.push_back(self.stores.push(self.dispatched, PENDING, leaves));
        }
        if begins {
            let Some(free_at) = self.chains.can_begin() else { return false };
            self.slot = self.slot.max(free_at);
        }
        if !self.retire(Ask::Mark(mark, packet), ask) {
            return false;
        }
        if begins {
            self.chains.begin();
        }
        true
    }

    /// Puts what the program reaches next into the reorder window. Returns false if the window is full.
    fn retire(&mut self, reached: Ask, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        self.window.leave_until(self.slot);
        if self.window.is_full() {
            return false;
        }
        self.window.push(self.dispatched, self.slot, Some(reached));
        self.settle(ask);
        true
    }

    /// A run of `clsweep`s of consecutive lines is one message.
    fn sweep(&mut self, first: Line, ask: &mut impl FnMut(Ps, Ask)) -> bool {
        let mut lines = 1;
        while let Some(Op::Sweep { line }) = self.ops.get(self.next_op + lines as usize)
            && line == first + lines
        {
            lines += 1;
        }
        let message = u16::try_from(lines).expect("a program sweeps less than 4 MiB");
        let done = self.at_retirement(Ask::Sweep(first, message), first..first + lines, ask);
        if done {
            self.next_op += lines as usize - 1;
        }
        done
    }

    /// Cache-line instructions act when they retire: like `clflushopt`, they are ordered after
    /// older accesses to their lines. Those of several lines act with the first of them.
    fn at_retirement(
        &mut self,
        reached: Ask,
        lines: Range<Line>,
        ask: &mut impl FnMut(Ps, Ask),
    ) -> bool {
        let in_the_window = self.compute_left > 0;
        if !in_the_window {
            if self.misses.stores_to(&lines) || self.chains.stores_to(&lines) {
                return false;
            }
            self.window.leave_until(self.slot);
            if !self.reserve() || !self.retire(reached, ask) {
                return false;
            }
        }
        self.compute(lines.end - lines.start)
    }
}
