//! One set of a cache: its tags, states and replacement order side by side, so that an operation
//! touches two or three cache lines of the host.

use super::line::Line;
use super::replacement::Order;
use super::state::{Evicted, State};
use super::ways::{EMPTY, matching};

/// Alignment of a set that fills whole cache lines of the host.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct WholeLines;

/// Alignment of a set that would leave much of its last host line empty.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(super) struct Packed;

/// A set of at most `W` ways, a multiple of four. `R` is the number of replacement bytes: `W`, but at
/// least 16 so that they fill a vector, or none for a policy that keeps no state per set. `A` is a type
/// whose alignment lets a set touch the fewest cache lines of the host.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Set<const W: usize, const R: usize, A> {
    aligned: [A; 0],
    tags: [Line; W],
    /// The ways in use.
    valid: u32,
    /// The replacement policy's byte of each way.
    order: [u8; R],
    states: [State; W],
}

impl<const W: usize, const R: usize, A> Set<W, R, A> {
    pub(super) fn new(order: &Order) -> Set<W, R, A> {
        Set {
            aligned: [],
            tags: [EMPTY; W],
            valid: 0,
            order: order.start(),
            states: [State::default(); W],
        }
    }

    /// The way of a line.
    #[inline]
    pub(super) fn find(&self, line: Line) -> Option<u32> {
        let found = matching(&self.tags, line);
        (found != 0).then(|| found.trailing_zeros())
    }

    /// The line that would leave if another one came, where all ways are full and the policy tells.
    #[inline(always)]
    pub(super) fn next_to_leave(&self, order: &Order) -> Option<Line> {
        let line = self.tags[order.next_victim(&self.order)? as usize];
        (line != EMPTY).then_some(line)
    }

    /// The line of a way has been used.
    #[inline]
    pub(super) fn touch(&mut self, order: &Order, way: u32) {
        order.touch(&mut self.order, way);
    }

    #[inline]
    pub(super) fn state(&self, way: u32) -> State {
        self.states[way as usize]
    }

    #[inline]
    pub(super) fn set_state(&mut self, way: u32, state: State) {
        self.states[way as usize] = state;
    }

    #[inline]
    pub(super) fn remove(&mut self, way: u32) -> State {
        self.tags[way as usize] = EMPTY;
        self.valid &= !(1 << way);
        self.states[way as usize]
    }

    /// Puts a line into the last empty way of `mask`, or in the place of the line that it returns. The
    /// I/O ways are the first ones, and lines not allocated by DMA should not fill empty I/O ways while
    /// other ways are empty. (Intel counts from the other end, with the I/O ways uppermost: mask 0x600
    /// of 11.)
    #[inline]
    pub(super) fn insert(
        &mut self,
        order: &mut Order,
        line: Line,
        state: State,
        mask: u32,
    ) -> Option<Evicted> {
        let empty = mask & !self.valid;
        let full = empty == 0;
        let way = if full { order.victim(&mut self.order, mask) } else { empty.ilog2() };
        self.valid |= 1 << way;
        let w = way as usize;
        let evicted = full.then(|| Evicted { line: self.tags[w], state: self.states[w] });
        (self.tags[w], self.states[w]) = (line, state);
        order.fill(&mut self.order, way);
        evicted
    }

    /// How many of the ways of `mask` hold a line.
    pub(super) fn held_in(&self, mask: u32) -> u32 {
        (self.valid & mask).count_ones()
    }

    /// How many of the lines held are dirty.
    pub(super) fn dirty(&self) -> usize {
        self.lines().filter(|(_, state)| state.dirty()).count()
    }

    /// Every line held, in the order of ways.
    pub(super) fn lines(&self) -> impl Iterator<Item = (Line, State)> + '_ {
        self.by_way().map(|(_, line, state)| (line, state))
    }

    /// Every line held with its way, in the order of ways.
    pub(super) fn by_way(&self) -> impl Iterator<Item = (u32, Line, State)> + '_ {
        let ways = (0..).zip(self.tags).zip(self.states);
        ways.filter(|((_, tag), _)| *tag != EMPTY).map(|((way, tag), state)| (way, tag, state))
    }
}
