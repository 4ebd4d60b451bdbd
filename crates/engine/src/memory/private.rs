//! A core's private caches: L1d and an L2 that includes it.

use super::line::{Line, LineKind};
use super::tags::{Evicted, LowBits, Slot, State, Tags};
use crate::memory::config::{Hierarchy, L1d, L2, Replacement};
use crate::units::Size;

/// Where a core's access ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// In the L1d, with the right that the access needs.
    L1,
    /// In the L2, with the right that the access needs; the line is in the L1d now.
    L2,
    /// Held, but a store needs the other copies invalidated first.
    NotWritable,
    /// Not held.
    Nowhere,
}

/// L1d and L2 of one core.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    l1: Tags<LowBits>,
    l2: Tags<LowBits>,
}

const ALL_WAYS: u32 = u32::MAX;

fn tags(size: Size, ways: u32, replacement: Replacement, seed: u64, name: &str) -> Tags<LowBits> {
    let sets = (size.0 / super::line::LINE_BYTES / u64::from(ways)) as u32;
    Tags::new(LowBits::new(sets), sets, ways, replacement, seed, name)
}

impl Private {
    pub(crate) fn new(parts: &Hierarchy<'_>, core: u32, seed: u64) -> Private {
        let L1d { size, ways, replacement, .. } = *parts.l1d;
        let l1 = tags(size, ways, replacement, seed, &format!("l1d {core}"));
        let L2 { size, ways, replacement, .. } = *parts.l2;
        let l2 = tags(size, ways, replacement, seed, &format!("l2 {core}"));
        Private { l1, l2 }
    }

    /// Loads the sets of a line ahead of their use.
    #[inline(always)]
    pub(crate) fn load_ahead(&self, line: Line) {
        self.l1.load_ahead(self.l1.home(line));
        self.l2.load_ahead(self.l2.home(line));
    }

    /// The line that would leave the L2 for this one, where its policy tells.
    #[inline(always)]
    pub(crate) fn next_to_leave(&self, line: Line) -> Option<Line> {
        self.l2.next_to_leave(self.l2.home(line))
    }

    /// A load by the core, or a store to data of the given kind. Most accesses that come here miss,
    /// which takes only two searches; what a hit does is outlined, so that misses need no registers for
    /// it.
    #[inline]
    pub(crate) fn access(&mut self, line: Line, store: Option<LineKind>) -> Found {
        if let Some(slot) = self.l1.find(self.l1.home(line)) {
            return self.access_l1(slot, store);
        }
        match self.l2.find(self.l2.home(line)) {
            Some(slot) => self.access_l2(slot, line, store),
            None => Found::Nowhere,
        }
    }

    #[inline(never)]
    fn access_l1(&mut self, slot: Slot, store: Option<LineKind>) -> Found {
        self.l1.touch(slot);
        if let Some(kind) = store {
            let state = self.l1.state(slot);
            if !state.writable() {
                return Found::NotWritable;
            }
            self.l1.set_state(slot, state.stored(kind));
        }
        Found::L1
    }

    #[inline(never)]
    fn access_l2(&mut self, slot: Slot, line: Line, store: Option<LineKind>) -> Found {
        self.l2.touch(slot);
        let state = self.l2.state(slot);
        if store.is_some() && !state.writable() {
            return Found::NotWritable;
        }
        self.fill_l1(line, store.map_or(state.with_dirty(false), |kind| state.stored(kind)));
        Found::L2
    }

    /// Loads by the core, up to the first item that is not a load or misses the L1d. Returns how many
    /// hit, and calls `hit` for each.
    #[inline]
    pub(crate) fn load_all<T>(
        &mut self,
        items: &[T],
        line: impl Fn(&T) -> Option<Line>,
        hit: impl FnMut(&T),
    ) -> usize {
        self.l1.lookup_all(items, line, hit)
    }

    /// Puts a line that has arrived into both levels and returns the L2's victim.
    #[inline(never)]
    pub(crate) fn fill(&mut self, line: Line, state: State) -> Option<Evicted> {
        let victim = self.fill_l2(line, state);
        self.fill_l1(line, state.with_dirty(false));
        victim
    }

    /// Puts a prefetched line into the L2 only and returns the L2's victim.
    #[inline(always)]
    pub(crate) fn fill_l2(&mut self, line: Line, state: State) -> Option<Evicted> {
        let mut victim = self.l2.insert(self.l2.home(line), state, ALL_WAYS);
        if let Some(victim) = &mut victim {
            self.leave_l1(victim);
        }
        victim
    }

    /// A victim of the L2 leaves the L1d, if it is there.
    #[inline(always)]
    fn leave_l1(&mut self, victim: &mut Evicted) {
        if let Some(slot) = self.l1.find(self.l1.home(victim.line)) {
            victim.state = victim.state.merged(self.l1.remove(slot));
        }
    }

    #[inline(always)]
    fn fill_l1(&mut self, line: Line, state: State) {
        if let Some(victim) = self.l1.insert(self.l1.home(line), state, ALL_WAYS)
            && victim.state.dirty()
        {
            self.write_to_l2(victim);
        }
    }

    /// A dirty line leaves the L1d. Outlined, because most fills do not need it.
    #[inline(never)]
    fn write_to_l2(&mut self, victim: Evicted) {
        let slot = self.l2.find(self.l2.home(victim.line)).expect("the L2 includes the L1d");
        self.l2.set_state(slot, self.l2.state(slot).merged(victim.state));
    }

    /// The state of a line in these caches, both levels together.
    #[inline]
    pub(crate) fn state(&self, line: Line) -> Option<State> {
        let slot = self.l2.find(self.l2.home(line))?;
        let state = self.l2.state(slot);
        let upper = self.l1.find(self.l1.home(line)).map(|slot| self.l1.state(slot));
        Some(upper.map_or(state, |upper| state.merged(upper)))
    }

    /// Whether the L2 (and so possibly the L1d) holds the line.
    #[inline]
    pub(crate) fn holds(&self, line: Line) -> bool {
        self.l2.find(self.l2.home(line)).is_some()
    }

    /// Sets the state of a held line: a dirty line becomes dirty in the L2 only.
    pub(crate) fn set_state(&mut self, line: Line, state: State) {
        if let Some(slot) = self.l2.find(self.l2.home(line)) {
            self.l2.set_state(slot, state);
        }
        if let Some(slot) = self.l1.find(self.l1.home(line)) {
            self.l1.set_state(slot, state.with_dirty(false));
        }
    }

    /// An access to a line that the L2 holds has been granted this state: the L1d holds it, too. Returns
    /// whether the line could be written already.
    pub(crate) fn grant(&mut self, line: Line, state: State) -> bool {
        let slot = self.l2.find(self.l2.home(line)).expect("the L2 holds it");
        let could_be_written = self.l2.state(slot).writable();
        self.l2.set_state(slot, state);
        let upper = state.with_dirty(false);
        match self.l1.find(self.l1.home(line)) {
            Some(slot) => self.l1.set_state(slot, upper),
            None => self.fill_l1(line, upper),
        }
        could_be_written
    }

    /// Removes a line and returns its state, if it was held.
    #[inline]
    pub(crate) fn remove(&mut self, line: Line) -> Option<State> {
        let slot = self.l2.find(self.l2.home(line))?;
        let state = self.l2.remove(slot);
        let upper = self.l1.find(self.l1.home(line)).map(|slot| self.l1.remove(slot));
        Some(upper.map_or(state, |upper| state.merged(upper)))
    }

    /// How many lines are dirty, in either level.
    pub(crate) fn dirty(&self) -> usize {
        let in_l1 = self.l1.lines().filter(|(line, state)| {
            let home = self.l2.home(*line);
            state.dirty() && !self.l2.find(home).is_some_and(|slot| self.l2.state(slot).dirty())
        });
        in_l1.count() + self.l2.dirty()
    }

    /// Every line of the L2.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (Line, State)> + '_ {
        self.l2.lines()
    }

    /// Every line of the L1d.
    pub(crate) fn l1_lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.l1.lines().map(|l| l.0)
    }
}

/// The state in which a core receives a line.
#[inline]
pub(crate) fn granted(kind: LineKind, writable: bool, dirty: bool) -> State {
    State::shared(kind).with_writable(writable).with_dirty(dirty)
}
