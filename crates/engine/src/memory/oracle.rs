//! The whole cache hierarchy, compared with an oracle that only remembers who wrote what last.
//!
//! Random operations of several cores and the NIC run on tiny caches, so that every set, the directory
//! and the I/O ways overflow all the time. Lines arrive from memory at once or later, when others may
//! have requested, written or swept them. After each operation the hierarchy's own invariants hold, no
//! copy that a core could read is older than the newest value, and a value that memory does not have is
//! dirty somewhere.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::caches::{Caches, Served};
use super::directory::Directory;
use super::line::{Line, LineKind};
use super::prefetched::Prefetched;
use super::private::Found;
use super::shadow::Shadow;
use crate::config::machine::Machine;
use crate::memory::config::{Inclusion, IoLines, Replacement};
use crate::memory::placement::registry::Policy;
use crate::memory::placement::{DmaWrite, Placer, Reader, Written};
use crate::testing::{cases, every, machine, placement};

const CORES: usize = 3;
const LINES: Line = 300;

/// Entries per directory set.
const DIRECTORY_WAYS: u32 = 4;

/// Lines on their way at a time: more than a directory set has entries.
const MOST_COMING: usize = 12;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A line that has to come from memory arrives `late`, in a step of its own, or at once.
    Load {
        core: usize,
        line: Line,
        late: bool,
    },
    Store {
        core: usize,
        line: Line,
        late: bool,
    },
    Prefetch {
        core: usize,
        line: Line,
        late: bool,
    },
    /// A request of a core for a line that it holds by now.
    Held {
        core: usize,
        line: Line,
        store: bool,
    },
    /// One of the lines on their way arrives.
    Arrive {
        which: usize,
    },
    DmaWrite {
        line: Line,
        kind: LineKind,
        index: u32,
        reader: usize,
        waiting: u32,
    },
    DmaRead {
        line: Line,
    },
    Sweep {
        line: Line,
    },
    WriteBack {
        line: Line,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (core, line, late) = (0..CORES, 0..LINES, prop::bool::ANY);
    let by_core = (core, line.clone(), late);
    let kind = prop::sample::select(vec![LineKind::Rx, LineKind::Descriptor]);
    // Most policies tell the first lines of a packet from the others, if any.
    let index = prop_oneof![2 => 0u32..3, 1 => 3u32..100];
    let of_packet = (kind, index, 0..CORES, 0u32..100);
    let step = prop_oneof![
        6 => by_core.clone().prop_map(|(core, line, late)| Step::Load { core, line, late }),
        4 => by_core.clone().prop_map(|(core, line, late)| Step::Store { core, line, late }),
        1 => by_core.clone().prop_map(|(core, line, late)| Step::Prefetch { core, line, late }),
        2 => by_core.prop_map(|(core, line, store)| Step::Held { core, line, store }),
        2 => (0..MOST_COMING).prop_map(|which| Step::Arrive { which }),
        3 => (line.clone(), of_packet).prop_map(|(line, (kind, index, reader, waiting))| {
            Step::DmaWrite { line, kind, index, reader, waiting }
        }),
        2 => line.clone().prop_map(|line| Step::DmaRead { line }),
        1 => line.clone().prop_map(|line| Step::Sweep { line }),
        1 => line.prop_map(|line| Step::WriteBack { line }),
    ];
    prop::collection::vec(step, 1..2000)
}

/// Three cores; the L1d, L2 and LLC hold 4, 16 and 64 lines, the LLC in 8 sets.
fn tiny(inclusion: Inclusion, io_lines: IoLines, replacement: Replacement) -> Machine {
    let mut machine = machine();
    machine.core.count = CORES as u32;
    (machine.l1d.size, machine.l1d.ways) = ("256 B".parse().unwrap(), 2);
    (machine.l2.size, machine.l2.ways) = ("1 KiB".parse().unwrap(), 4);
    (machine.llc.size, machine.llc.ways) = ("4 KiB".parse().unwrap(), 8);
    machine.llc.inclusion = inclusion;
    machine.llc.io_lines = io_lines;
    machine.l1d.replacement = replacement;
    machine.l2.replacement = replacement;
    machine.llc.replacement = replacement;
    machine
}

/// A line on its way from memory.
#[derive(Clone, Copy, Debug)]
struct Coming {
    core: usize,
    line: Line,
    asked: Asked,
    /// It has been written or swept since.
    stale: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Load,
    Store,
    Prefetch,
}

/// The hierarchy, and what the oracle knows.
struct Trial {
    caches: Caches,
    placer: Placer,
    /// The value of a core's copy when the core got it. An entry outlives its copy.
    copies: BTreeMap<(usize, Line), u64>,
    /// By transaction number.
    coming: BTreeMap<u16, Coming>,
    /// The line that the current step stores to.
    stored: Option<Line>,
    /// Lines sent to memory.
    written: u64,
    values: u64,
}

impl Trial {
    fn new(
        inclusion: Inclusion,
        io_lines: IoLines,
        replacement: Replacement,
        policy: Policy,
    ) -> Trial {
        // Cores share two ways with the NIC and may not allocate in the last two.
        let ways = 0b0011_1111;
        let machine = tiny(inclusion, io_lines, replacement);
        let mut caches = Caches::new(&machine.hierarchy(), vec![ways; CORES], 0b11, 1);
        // Fewer entries than the L2s hold lines, so that entries are evicted too.
        caches.directory = Directory::new(8, DIRECTORY_WAYS);
        caches.shadow = Some(Box::new(Shadow::new(LINES as usize)));
        Trial {
            caches,
            placer: Placer::new(&placement(policy)),
            copies: BTreeMap::new(),
            coming: BTreeMap::new(),
            stored: None,
            written: 0,
            values: 0,
        }
    }

    fn shadow(&mut self) -> &mut Shadow {
        self.caches.shadow.as_mut().expect("a trial has a shadow")
    }

    fn newest(&mut self, line: Line) -> u64 {
        self.shadow().read(line)
    }

    /// A transaction number that no line on its way has.
    fn transaction(&self) -> u16 {
        (0..).find(|number| !self.coming.contains_key(number)).expect("few are on their way")
    }

    fn access(
        &mut self,
        core: usize,
        line: Line,
        asked: Asked,
        late: bool,
    ) -> Result<(), TestCaseError> {
        let store = asked == Asked::Store;
        let found = self.caches.private_access(core, line, store.then_some(LineKind::App));
        let newest = self.newest(line);
        if !store && found != Found::Nowhere {
            let copy = self.copies.get(&(core, line)).copied();
            prop_assert_eq!(copy, Some(newest), "core {} hits an old copy of {}", core, line);
        }
        if matches!(found, Found::NotWritable | Found::Nowhere) {
            let others = (0..CORES).filter(|&c| c != core);
            let changed = self.writable_in(line, others);
            let transaction = self.transaction();
            let served = self.caches.request(core, line, LineKind::App, store, transaction);
            prop_assert_eq!(changed, served == Served::Owner, "{:?} of {}", served, line);
            match served {
                Served::Memory => {
                    prop_assert!(!self.dirty(line), "memory is read for {}, which is dirty", line);
                    return self.comes(transaction, core, line, asked, late);
                }
                Served::Wait(other) => {
                    prop_assert_eq!(self.coming.get(&other).map(|c| c.line), Some(line));
                    return Ok(());
                }
                Served::NoEntry(other) => {
                    prop_assert!(self.coming.contains_key(&other) && self.is_swamped(line));
                    return Ok(());
                }
                Served::Own => prop_assert!(false, "core {core} did not have {line} just now"),
                Served::Llc | Served::Forward | Served::Owner => {}
            }
        }
        self.stored = store.then_some(line);
        self.has_got(core, line)
    }

    /// A core that runs ahead has not found a line which its L2 has by the time of its request.
    fn request_of_held(
        &mut self,
        core: usize,
        line: Line,
        store: bool,
    ) -> Result<(), TestCaseError> {
        let Some(state) = self.caches.cores[core].state(line) else { return Ok(()) };
        let transaction = self.transaction();
        let served = self.caches.request(core, line, LineKind::App, store, transaction);
        let own = !store || state.writable();
        prop_assert_eq!(served == Served::Own, own, "{:?} of {}", served, line);
        self.stored = store.then_some(line);
        self.has_got(core, line)
    }

    /// Whether all entries of the line's directory set wait for memory.
    fn is_swamped(&self, line: Line) -> bool {
        let set = |line| self.caches.home(line).set;
        self.coming.values().filter(|c| set(c.line) == set(line)).count() == DIRECTORY_WAYS as usize
    }

    fn prefetch(&mut self, core: usize, line: Line, late: bool) -> Result<(), TestCaseError> {
        let held = (0..CORES).any(|c| self.caches.cores[c].holds(line));
        let dropped = self.is_swamped(line) || self.coming.values().any(|c| c.line == line);
        let transaction = self.transaction();
        let prefetched = self.caches.request_prefetch(core, line, transaction);
        prop_assert_eq!(prefetched == Prefetched::Dropped, held || dropped);
        match prefetched {
            Prefetched::Dropped => Ok(()),
            Prefetched::Llc => self.has_got(core, line),
            Prefetched::Memory => self.comes(transaction, core, line, Asked::Prefetch, late),
        }
    }

    /// Memory is asked for a line.
    fn comes(
        &mut self,
        transaction: u16,
        core: usize,
        line: Line,
        asked: Asked,
        late: bool,
    ) -> Result<(), TestCaseError> {
        let coming = Coming { core, line, asked, stale: false };
        if late && self.coming.len() < MOST_COMING {
            self.coming.insert(transaction, coming);
            return Ok(());
        }
        self.arrive(transaction, coming)
    }

    fn arrive(&mut self, transaction: u16, coming: Coming) -> Result<(), TestCaseError> {
        let Coming { core, line, asked, stale } = coming;
        if stale {
            self.caches.arrive_stale(transaction);
            return Ok(());
        }
        let newest = self.newest(line);
        prop_assert_eq!(self.shadow().in_memory(line), newest, "memory's {} is old", line);
        if asked == Asked::Prefetch {
            self.caches.arrive_prefetch(core, line, LineKind::App, transaction);
        } else {
            let store = asked == Asked::Store;
            self.stored = store.then_some(line);
            self.caches.arrive(core, line, LineKind::App, store, transaction);
        }
        self.has_got(core, line)
    }

    /// A core has got a copy of the line with its current value.
    fn has_got(&mut self, core: usize, line: Line) -> Result<(), TestCaseError> {
        let value = self.newest(line);
        self.copies.insert((core, line), value);
        prop_assert!(self.caches.cores[core].holds(line));
        Ok(())
    }

    /// A line that was written or swept while on its way must not be kept.
    fn overtake(&mut self, line: Line) -> Result<(), TestCaseError> {
        let on_its_way = self.coming.values_mut().find(|c| c.line == line && !c.stale);
        let overtaken = self.caches.overtaken.take();
        prop_assert!(
            on_its_way.is_none() || overtaken.is_some(),
            "nobody tells that {} is old",
            line
        );
        if let Some(transaction) = overtaken {
            let of = self.coming.get_mut(&transaction).expect("it is on its way");
            prop_assert_eq!(of.line, line);
            of.stale = true;
        }
        Ok(())
    }

    /// Whether one of these cores may have data of the line that is nowhere else.
    fn writable_in(&self, line: Line, mut cores: impl Iterator<Item = usize>) -> bool {
        cores.any(|c| self.caches.cores[c].state(line).is_some_and(|s| s.writable()))
    }

    /// Whether a cache would have to write the line to memory.
    fn dirty(&self, line: Line) -> bool {
        let in_llc = self
            .caches
            .llc
            .find(self.caches.home(line))
            .is_some_and(|s| self.caches.llc.state(s).dirty());
        in_llc || self.caches.cores.iter().any(|c| c.state(line).is_some_and(|s| s.dirty()))
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        let was_dirty: Vec<bool> = (0..LINES).map(|line| self.dirty(line)).collect();
        self.values += 1;
        self.shadow().writing = self.values;
        self.stored = None;
        match step {
            Step::Load { core, line, late } => self.access(core, line, Asked::Load, late)?,
            Step::Store { core, line, late } => self.access(core, line, Asked::Store, late)?,
            Step::Prefetch { core, line, late } => self.prefetch(core, line, late)?,
            Step::Held { core, line, store } => self.request_of_held(core, line, store)?,
            Step::Arrive { which } => {
                if let Some(&transaction) = self.coming.keys().nth(which) {
                    let coming = self.coming.remove(&transaction).expect("it is one of them");
                    self.arrive(transaction, coming)?;
                }
            }
            Step::DmaWrite { line, kind, index, reader, waiting } => {
                // Data that is kept aside takes no part in the hierarchy.
                let aside = self.placer.keeps_aside(kind);
                let kind = if aside { LineKind::Descriptor } else { kind };
                let home = self.caches.home(line);
                let in_llc = self.caches.llc.find(home).is_some();
                let in_core = (0..CORES).any(|core| self.caches.cores[core].holds(line));
                let core = Reader { core: reader as u16, waiting };
                let write = DmaWrite { line, kind, index, reader: Some(core) };
                let written = self.placer.write(&mut self.caches, write);
                // Only the core that reads the data may hold them now.
                let holds = |core: &usize| self.caches.cores[*core].holds(line);
                let holders: Vec<usize> = (0..CORES).filter(holds).collect();
                prop_assert!(
                    holders.iter().all(|&core| core == reader),
                    "{} holds {}",
                    reader,
                    line
                );
                let cached = self.caches.llc.find(home).is_some() || !holders.is_empty();
                let expected = match (cached, in_llc, in_core) {
                    (false, ..) => Written::Memory,
                    (true, true, _) => Written::Hit,
                    (true, false, true) => Written::Moved,
                    (true, false, false) => Written::Miss,
                };
                prop_assert_eq!(written, expected, "{:?} of {}", self.placer, line);
                for core in holders {
                    self.has_got(core, line)?;
                }
                // The new data alone may go to memory, and not an older copy. They do if the victim of an L2 to which
                // they went up has displaced them from the LLC.
                let sent = self.caches.writebacks.iter().filter(|w| w.line == line).count();
                let displaced = self.caches.llc.find(home).is_none() && !self.dirty(line);
                prop_assert_eq!(sent, usize::from(displaced), "{:?} of {}", written, line);
                let value = self.newest(line);
                prop_assert_eq!(value, self.values);
                self.stored = Some(line);
                self.overtake(line)?;
            }
            Step::DmaRead { line } => {
                let newest = self.newest(line);
                let changed = self.writable_in(line, 0..CORES);
                let served = self.caches.io_read(line);
                prop_assert!(!changed || served == Served::Forward, "{:?} of {}", served, line);
                if served == Served::Memory {
                    prop_assert_eq!(
                        self.shadow().in_memory(line),
                        newest,
                        "DMA reads an old {}",
                        line
                    );
                }
            }
            Step::Sweep { line } => {
                self.caches.sweep(line);
                self.overtake(line)?;
                prop_assert!(!self.dirty(line));
                prop_assert!((0..CORES).all(|c| !self.caches.cores[c].holds(line)));
                prop_assert!(self.caches.llc.find(self.caches.home(line)).is_none());
            }
            Step::WriteBack { line } => {
                self.caches.write_back(line);
                prop_assert!(!self.dirty(line));
                let newest = self.newest(line);
                prop_assert_eq!(self.shadow().in_memory(line), newest);
            }
        }
        self.check(step, &was_dirty)
    }

    fn check(&mut self, step: Step, was_dirty: &[bool]) -> Result<(), TestCaseError> {
        self.caches.check().map_err(|e| TestCaseError::fail(format!("{step:?}: {e}")))?;
        let written = std::mem::take(&mut self.caches.writebacks);
        self.written += written.len() as u64;
        for w in &written {
            let dirty = was_dirty[w.line as usize] || self.stored == Some(w.line);
            prop_assert!(dirty, "{:?} writes {}, which was clean", step, w.line);
        }
        for line in 0..LINES {
            let newest = self.newest(line);
            let lost = self.shadow().in_memory(line) != newest && !self.dirty(line);
            prop_assert!(!lost, "{:?}: the newest data of line {} is gone", step, line);
            let now_clean = was_dirty[line as usize] && !self.dirty(line);
            let gone = matches!(step, Step::Sweep { line: l } | Step::DmaWrite { line: l, .. } if l == line);
            let sent = written.iter().filter(|w| w.line == line).count();
            prop_assert!(
                !now_clean || gone || sent == 1,
                "{:?}: line {} sent {} times",
                step,
                line,
                sent
            );
        }
        prop_assert_eq!(self.written, self.shadow().write_backs);
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases(60))]
    #[test]
    fn a_reader_always_sees_the_newest_value(
        steps in steps(),
        inclusion in prop::sample::select(every::<Inclusion>()),
        io_lines in prop::sample::select(every::<IoLines>()),
        policy in prop::sample::select(every::<Policy>()),
        replacement in prop::sample::select(every::<Replacement>()),
    ) {
        let mut trial = Trial::new(inclusion, io_lines, replacement, policy);
        for step in steps {
            trial.step(step)?;
        }
    }
}
