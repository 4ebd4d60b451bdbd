//! STREAM: vector kernels over arrays far larger than the caches; each core has its own arrays.
//!
//! McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers", IEEE
//! TCCA Newsletter, 1995, and its source (`stream.c` 5.10): three arrays of doubles `a`, `b`, `c`
//! side by side, and four loops over them in turn, `c = a`, `b = q c`, `c = a + b`, `a = b + q c`.
//! One process per core, as the host congestion paper runs it; the processes are independent.
//!
//! Every line of an array is one load or one store here, and the other instructions of the
//! vectorised loop are one compute operation: further vectors of a line hit the L1d and wait for
//! nothing. Stores are ordinary ones, which read their line first.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Verdict};
use super::config::Settings;
use crate::check::Check;
use crate::core::op::{Dep, Op, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind};
use crate::transport::config::ClosedLoopConfig;
use crate::units::Size;

/// The STREAM benchmark on each core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamConfig {
    /// Bytes of each of a core's three arrays; the default is STREAM's own, 10 million doubles.
    pub array: Size,
    /// Which of the loops to run.
    pub kernel: Kernels,
    /// Bytes of a vector register: 32 is what compilers use on the Skylake server (GCC and LLVM
    /// prefer 256 bits there).
    pub vector: Size,
}

impl Default for StreamConfig {
    fn default() -> StreamConfig {
        StreamConfig { array: Size(80_000_000), kernel: Kernels::All, vector: Size(32) }
    }
}

/// Which loops a core runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kernels {
    /// All four in turn, as the benchmark does: for every ten lines read (four of them by stores),
    /// four are written.
    All,
    /// `c = a` alone.
    Copy,
    /// `b = q c` alone.
    Scale,
    /// `c = a + b` alone.
    Add,
    /// `a = b + q c` alone.
    Triad,
}

impl StreamConfig {
    /// Bytes of all arrays of a core.
    fn arrays(&self) -> u64 {
        self.array.0.saturating_mul(3)
    }
}

impl Settings for StreamConfig {
    fn check(&self, check: &mut Check) {
        check.that(
            self.array.0.is_multiple_of(LINE_BYTES)
                && (LINE_BYTES..=1 << 30).contains(&self.array.0),
            "array",
            self.array,
            "a multiple of 64 B from 64 B to 1 GiB",
        );
        let vectors = [8, 16, 32, 64];
        check.that(vectors.contains(&self.vector.0), "vector", self.vector, "8, 16, 32 or 64 B");
    }

    fn bytes(&self, cores: u32, _closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        u128::from(self.arrays()) * u128::from(cores)
    }

    fn serves_packets(&self) -> bool {
        false
    }
}

/// The arrays, in the order in which they lie in memory.
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

/// One of the loops.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    /// Arrays read, and the one written.
    from: &'static [usize],
    to: usize,
    /// Instructions per vector in addition to its loads and its store: arithmetic, and two to
    /// advance to the next (an addition, and a compare and branch, which the core fuses).
    instructions: u32,
}

const COPY: Kernel = Kernel { from: &[A], to: C, instructions: 2 };
const SCALE: Kernel = Kernel { from: &[C], to: B, instructions: 3 };
const ADD: Kernel = Kernel { from: &[A, B], to: C, instructions: 3 };
const TRIAD: Kernel = Kernel { from: &[B, C], to: A, instructions: 4 };

impl Kernels {
    const fn list(self) -> &'static [Kernel] {
        match self {
            Kernels::All => &[COPY, SCALE, ADD, TRIAD],
            Kernels::Copy => &[COPY],
            Kernels::Scale => &[SCALE],
            Kernels::Add => &[ADD],
            Kernels::Triad => &[TRIAD],
        }
    }
}

/// Lines of the written array emitted at a time: enough that asking for more costs nothing, and few
/// compared with the microseconds between two checks of a core's progress.
const SLICE: u32 = 64;

/// The position of a core.
#[derive(Clone, Copy, Debug)]
struct Walker {
    arrays: [Line; 3],
    /// Index into the kernels, and the next line of the arrays.
    kernel: usize,
    line: u32,
    /// Bytes that the loops have read and written since the counters were reset, as STREAM counts them: without the
    /// lines that stores read.
    bytes: u64,
}

/// The benchmark.
#[derive(Clone, Debug)]
pub struct Stream {
    walkers: Vec<Walker>,
    kernels: &'static [Kernel],
    lines: u32,
    vectors_per_line: u32,
}

impl Stream {
    /// STREAM on these cores, each with its own arrays. The configuration has been checked.
    pub(crate) fn new(config: &StreamConfig, on: Range<u32>, space: &mut AddressSpace) -> Stream {
        let kernels = config.kernel.list();
        let lines = (config.array.0 / LINE_BYTES) as u32;
        let walkers = on
            .map(|core| {
                let a = space.reserve(config.arrays());
                // Processes do not run in step. Multiples of the golden ratio spread any number of
                // them evenly over one turn of all loops, so that even a short run covers all
                // loops.
                let turn = u64::from(lines) * kernels.len() as u64;
                let at = (u64::from(core.wrapping_mul(0x9E37_79B9)) * turn) >> 32;
                Walker {
                    arrays: [a, a + lines, a + 2 * lines],
                    kernel: (at / u64::from(lines)) as usize,
                    line: (at % u64::from(lines)) as u32,
                    bytes: 0,
                }
            })
            .collect();
        let vectors_per_line = (LINE_BYTES / config.vector.0) as u32;
        Stream { walkers, kernels, lines, vectors_per_line }
    }
}

impl App for Stream {
    /// STREAM receives no packets.
    fn on_packet(&mut self, _rank: u32, _packet: &Packet, _ops: &mut Ops) -> Verdict {
        Verdict::Consume
    }

    fn on_idle(&mut self, rank: u32, ops: &mut Ops) {
        let w = &mut self.walkers[rank as usize];
        let mut left = SLICE;
        while left > 0 {
            let Kernel { from, to, instructions } = self.kernels[w.kernel];
            let accesses = from.len() as u32 + 1;
            // The first vector's loads and store are operations of their own.
            let rest = self.vectors_per_line * (accesses + instructions) - accesses;
            let end = self.lines.min(w.line + left);
            for line in w.line..end {
                for &array in from {
                    ops.load(w.arrays[array] + line, LineKind::App, Dep::Free);
                }
                ops.push_all([
                    Op::Compute { instructions: rest },
                    Op::Store { line: w.arrays[to] + line, kind: LineKind::App, dep: Dep::Free },
                ]);
            }
            let lines = end - w.line;
            w.bytes += u64::from(lines * accesses) * LINE_BYTES;
            left -= lines;
            w.line = end;
            if end == self.lines {
                w.line = 0;
                w.kernel = (w.kernel + 1) % self.kernels.len();
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("bytes", self.progress())]
    }

    fn progress(&self) -> u64 {
        self.walkers.iter().map(|w| w.bytes).sum()
    }

    /// Whole lines.
    fn accesses(&self) -> u64 {
        self.progress() / LINE_BYTES
    }

    fn bytes_by_core(&self) -> Option<Vec<u64>> {
        Some(self.walkers.iter().map(|w| w.bytes).collect())
    }

    fn reset_counters(&mut self) {
        self.walkers.iter_mut().for_each(|w| w.bytes = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::violations;
    use proptest::prelude::*;

    const LINES: u32 = 100;

    fn build(kernel: Kernels, cores: u32) -> Stream {
        let array = Size(u64::from(LINES) * LINE_BYTES);
        let config = StreamConfig { array, kernel, ..StreamConfig::default() };
        assert_eq!(violations(|check| config.check(check)), []);
        Stream::new(&config, 0..cores, &mut AddressSpace::default())
    }

    /// The operations of core 0 for `lines` lines written.
    fn emit(app: &mut Stream, lines: u32) -> Vec<Op> {
        assert!(lines.is_multiple_of(SLICE));
        let mut ops = Ops::new(false);
        for _ in 0..lines / SLICE {
            app.on_idle(0, &mut ops);
        }
        ops.iter().collect()
    }

    #[test]
    fn one_iteration_of_each_kernel_is_these_operations() {
        let load =
            |array: u32| Op::Load { line: array * LINES, kind: LineKind::App, dep: Dep::Free };
        let store =
            |array: u32| Op::Store { line: array * LINES, kind: LineKind::App, dep: Dep::Free };
        // Two vectors per line: twice the accesses, arithmetic and two loop instructions, less the
        // accesses that are operations of their own.
        let compute = |instructions| Op::Compute { instructions };
        let expected = [
            (Kernels::Copy, vec![load(0), compute(2 * 4 - 2), store(2)]),
            (Kernels::Scale, vec![load(2), compute(2 * 5 - 2), store(1)]),
            (Kernels::Add, vec![load(0), load(1), compute(2 * 6 - 3), store(2)]),
            (Kernels::Triad, vec![load(1), load(2), compute(2 * 7 - 3), store(0)]),
        ];
        for (kernel, ops) in expected {
            let emitted = emit(&mut build(kernel, 1), SLICE);
            assert_eq!(emitted[..ops.len()], ops, "{kernel:?}");
            assert_eq!(emitted.len(), ops.len() * SLICE as usize);
        }
    }

    #[test]
    fn a_turn_of_all_kernels_touches_every_line_of_every_array_as_often_as_it_should() {
        let mut app = build(Kernels::All, 1);
        // 16 turns, so that whole slices make whole turns.
        let ops = emit(&mut app, 16 * 4 * LINES);
        let (mut loads, mut stores) = ([0; 3], [0; 3]);
        for op in &ops {
            match *op {
                Op::Load { line, .. } => loads[(line / LINES) as usize] += 1,
                Op::Store { line, .. } => stores[(line / LINES) as usize] += 1,
                _ => {}
            }
        }
        assert_eq!(loads, [2, 2, 2].map(|n| n * 16 * LINES));
        assert_eq!(stores, [1, 1, 2].map(|n| n * 16 * LINES));
        // With the lines that stores read, 10 are read for 4 written.
        let (read, written): (u32, u32) = (loads.iter().sum(), stores.iter().sum());
        assert_eq!((read + written) * 4, written * 10);
        assert_eq!(app.progress(), u64::from(16 * LINES) * 64 * 10);
    }

    #[test]
    fn cores_begin_evenly_spread_over_the_kernels() {
        for cores in [4, 8, 15, 28] {
            let app = build(Kernels::All, cores);
            let mut begun = [0u32; 4];
            app.walkers.iter().for_each(|w| begun[w.kernel] += 1);
            let (least, most) = (begun.iter().min().unwrap(), begun.iter().max().unwrap());
            assert!(most - least <= 2, "{cores} cores: {begun:?}");
        }
    }

    proptest! {
        #[test]
        fn cores_stay_in_their_arrays_and_count_what_they_do(
            lines in 1u32..300, cores in 1u32..5, slices in 1u32..20, vector in 0u32..4,
        ) {
            let array = Size(u64::from(lines) * LINE_BYTES);
            let config = StreamConfig { array, vector: Size(8 << vector), kernel: Kernels::All };
            let mut space = AddressSpace::default();
            let mut app = Stream::new(&config, 0..cores, &mut space);
            let mut bytes = 0;
            for core in 0..cores {
                let mut ops = Ops::new(false);
                for _ in 0..slices {
                    app.on_idle(core, &mut ops);
                }
                let first = app.walkers[core as usize].arrays[0];
                for op in ops.iter() {
                    if let Op::Load { line, .. } | Op::Store { line, .. } = op {
                        prop_assert!((first..first + 3 * lines).contains(&line));
                        bytes += LINE_BYTES;
                    }
                }
            }
            prop_assert_eq!(app.progress(), bytes);
        }
    }
}
