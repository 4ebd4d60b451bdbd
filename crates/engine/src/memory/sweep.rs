//! Sweeper (paper, section V): invalidation without write-back, what makes it safe, and the
//! detection of software that reads what it has swept.

use super::caches::Caches;
use super::directory::Entry;
use super::line::Line;
use super::line_set::LineSet;
use super::traffic::{Agent, Cause};
use crate::bits::positions;

impl Caches {
    /// `clsweep`: the sweep message passes L1d, L2 and LLC and invalidates every copy; dirty data
    /// is dropped (section V-B).
    #[inline]
    pub(crate) fn sweep(&mut self, line: Line) {
        self.invalidate(line);
        #[cfg(test)]
        self.shadowed(|shadow| shadow.drop_cached(line));
    }

    /// `clwb`: dirty data goes to memory, and the copies stay, clean.
    pub(crate) fn write_back(&mut self, line: Line) {
        let home = self.home(line);
        let mut dirty_kind = None;
        let known = self.directory.find(home).map(|known| known.1.entry());
        if let Some(Entry::Held(sharers)) = known {
            for core in positions(sharers) {
                if let Some(state) = self.cores[core].state(line).filter(|s| s.dirty()) {
                    self.cores[core].set_state(line, state.with_dirty(false));
                    dirty_kind = Some(state.kind());
                }
            }
        }
        if let Some(slot) = self.llc.find(home) {
            let state = self.llc.state(slot);
            if state.dirty() {
                self.llc.set_state(slot, state.with_dirty(false));
                dirty_kind = Some(state.kind());
            }
        }
        if let Some(kind) = dirty_kind {
            self.write_to_memory(line, Cause::new(Agent::Clean, kind));
        }
    }
}

/// Lines that were swept and not written since: reading one is a bug of the application, like a
/// read after `free()`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    lines: LineSet,
    /// Whether any line has ever been swept: on a machine without Sweeper the bits are never read.
    any: bool,
    /// Reads of swept lines seen.
    pub(crate) reads: u64,
}

impl Swept {
    #[inline]
    pub(crate) fn sweep(&mut self, line: Line) {
        self.any = true;
        self.lines.insert(line);
    }

    /// The line has new data.
    #[inline]
    pub(crate) fn written(&mut self, line: Line) {
        if self.any {
            self.lines.remove(line);
        }
    }

    /// The line is read from memory: its data is stale if it was swept.
    #[inline]
    pub(crate) fn read(&mut self, line: Line) {
        self.reads += u64::from(self.holds(line));
    }

    /// Whether the line was swept and not written since.
    #[inline]
    pub(crate) fn holds(&self, line: Line) -> bool {
        self.any && self.lines.holds(line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::caches::Served;
    use super::super::line::LineKind;
    use super::super::private::Found;
    use super::super::shadow::Shadow;
    use super::*;
    use crate::core::op::{Op, Ops};
    use crate::memory::config::Inclusion;
    use crate::memory::placement::registry::Policy;
    use crate::memory::placement::{DmaWrite, Placer};
    use crate::testing::{machine, placement};

    const LINES: Line = 4096;

    /// Caches with a shadow, and the programs that use them.
    struct Bench(Caches);

    impl Bench {
        fn new(inclusion: Inclusion) -> Bench {
            let mut machine = machine();
            machine.llc.inclusion = inclusion;
            let mut caches = Caches::new(&machine.hierarchy(), vec![u32::MAX; 2], 0b11, 1);
            caches.shadow = Some(Box::new(Shadow::new(LINES as usize)));
            Bench(caches)
        }

        fn shadow(&mut self) -> &mut Shadow {
            self.0.shadow.as_mut().expect("the bench has a shadow")
        }

        fn access(&mut self, core: usize, line: Line, store: bool) {
            if matches!(
                self.0.private_access(core, line, store.then_some(LineKind::App)),
                Found::L1 | Found::L2
            ) {
                return;
            }
            if self.0.request(core, line, LineKind::App, store, 0) == Served::Memory {
                self.0.arrive(core, line, LineKind::App, store, 0);
            }
        }

        fn load(&mut self, core: usize, line: Line) -> u64 {
            self.access(core, line, false);
            self.shadow().read(line)
        }

        fn store(&mut self, core: usize, line: Line, value: u64) {
            self.shadow().writing = value;
            self.access(core, line, true);
        }

        fn execute(&mut self, core: usize, op: Op) {
            match op {
                Op::Load { line, .. } => self.access(core, line, false),
                Op::Store { line, .. } => self.access(core, line, true),
                Op::Sweep { line } => self.0.sweep(line),
                Op::WriteBack { line } => self.0.write_back(line),
                Op::Compute { .. } | Op::Delay { .. } | Op::Mark { .. } | Op::Invalidate => {}
            }
        }

        /// A core executes operations whose stores all write `value`.
        fn run(&mut self, core: usize, ops: &Ops, value: u64) {
            self.shadow().writing = value;
            for op in ops.iter() {
                self.execute(core, op);
            }
        }

        fn dma_write(&mut self, line: Line, value: u64) {
            self.shadow().writing = value;
            let write = DmaWrite { line, kind: LineKind::Rx, index: 0, reader: None };
            Placer::new(&placement(Policy::Ddio)).write(&mut self.0, write);
        }
    }

    const PAGE: std::ops::Range<Line> = 128..192;
    const SECRET: u64 = 0x5ec7e7;

    /// The attack of section V-B: what the new owner of a page reads after it has swept it.
    fn read_after_recycling(inclusion: Inclusion, rule: bool) -> Vec<u64> {
        let mut b = Bench::new(inclusion);
        for line in PAGE {
            b.store(0, line, SECRET);
            b.0.write_back(line);
        }
        // The operating system takes the page back and zeroes it through its own core's cache. It
        // follows the rule if it knows that the machine sweeps.
        let mut ops = Ops::new(rule);
        ops.recycle_page(PAGE.start);
        b.run(1, &ops, 0);
        PAGE.map(|line| {
            assert_eq!(b.load(0, line), 0, "without a sweep the new owner sees zeroes");
            b.0.sweep(line);
            b.load(0, line)
        })
        .collect()
    }

    #[test]
    fn sweeping_a_recycled_page_leaks_its_old_data_unless_the_zeroes_were_written_back() {
        for inclusion in [Inclusion::Inclusive, Inclusion::NonInclusive] {
            assert_eq!(read_after_recycling(inclusion, false), [SECRET; 64]);
            assert_eq!(read_after_recycling(inclusion, true), [0; 64]);
        }
    }

    #[test]
    fn the_rule_writes_each_dirty_line_once_and_keeps_the_copies() {
        let mut b = Bench::new(Inclusion::NonInclusive);
        b.store(0, PAGE.start, 1);
        b.store(1, PAGE.start + 1, 2);
        b.dma_write(PAGE.start + 2, 3);
        b.load(0, PAGE.start + 3);
        b.0.writebacks.clear();
        let mut ops = Ops::new(true);
        ops.recycle_page(PAGE.start);
        for write_back in ops.iter().filter(|op| matches!(op, Op::WriteBack { .. })) {
            b.execute(0, write_back);
        }
        let mut written: Vec<Line> = b.0.writebacks.iter().map(|w| w.line - PAGE.start).collect();
        written.sort_unstable();
        assert_eq!(written, [0, 1, 2]);
        assert!(b.0.cores[0].holds(PAGE.start) && b.0.cores[1].holds(PAGE.start + 1));
        assert!(b.0.llc.find(b.0.home(PAGE.start + 2)).is_some());
    }

    /// Where a line is: in the private caches of each core, and in the LLC.
    fn places(b: &Bench, line: Line) -> [bool; 3] {
        [b.0.cores[0].holds(line), b.0.cores[1].holds(line), b.0.llc.find(b.0.home(line)).is_some()]
    }

    #[test]
    fn a_sweep_drops_every_copy_and_writes_nothing() {
        let line = 7;
        let mut b = Bench::new(Inclusion::NonInclusive);
        // Dirty in an L1d.
        b.store(0, line, 1);
        assert_eq!(places(&b, line), [true, false, false]);
        b.0.sweep(line);
        assert_eq!(places(&b, line), [false; 3]);
        // Dirty in the LLC, shared by both cores.
        b.store(0, line, 2);
        b.load(1, line);
        assert_eq!(places(&b, line), [true, true, true]);
        b.0.sweep(line);
        assert_eq!(places(&b, line), [false; 3]);
        // Dirty in the LLC alone, from the NIC.
        b.dma_write(line, 3);
        assert_eq!(places(&b, line), [false, false, true]);
        b.0.sweep(line);
        assert_eq!(places(&b, line), [false; 3]);
        assert_eq!(b.0.writebacks, [], "dirty data is dropped");
        assert_eq!(b.load(0, line), 0, "memory's old data is back");
        b.0.check().unwrap();
    }
}
