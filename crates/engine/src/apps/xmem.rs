//! X-Mem: a program that only accesses memory, in a private region on each core.
//!
//! Gottscho et al., "X-Mem: A Cross-Platform and Extensible Memory Characterization Tool for the
//! Cloud", ISPASS 2016. Its random kernels chase pointers, for latency and for throughput alike
//! (`randomRead_Word64` of its `benchmark_kernels.cpp` is `p = *p`, unrolled), through a random
//! Hamiltonian cycle over all 64-bit words of the region (`buildRandomPointerPermutation`), and
//! `randomWrite_Word64` writes each pointer back; its sequential kernels go word by word. The
//! Sweeper paper's "sequential random accesses" (section VI-E) are therefore taken to be one after
//! another: `random-chained`. `random`, which the tool does not have, is the same without the
//! dependence, with as many misses in flight as the core can hold.
//!
//! One access is one load (a store, for the written share, in `random` and `sequential`; a load
//! and a store of the same word in `random-chained`, where the next pointer must be read first),
//! and no other instruction: the kernels are unrolled 512 times.

use std::ops::Range;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Verdict};
use super::config::Settings;
use super::draw::Draw;
use crate::check::Check;
use crate::core::op::{Dep, Op, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind};
use crate::rng::{below, below_u32};
use crate::transport::config::ClosedLoopConfig;
use crate::units::{Share, Size};

/// Memory accesses to a private region on each core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct XmemConfig {
    /// Region of each core: "a private 2MB dataset" (Sweeper paper, section VI-E).
    pub region: Size,
    /// Order of the accesses.
    pub pattern: Pattern,
    /// Share of accesses that write.
    pub writes: Share,
}

impl Default for XmemConfig {
    fn default() -> XmemConfig {
        XmemConfig { region: Size(2 << 20), pattern: Pattern::RandomChained, writes: Share(0) }
    }
}

/// Order of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// A chain of pointers through all words of the region in random order; each access waits for the last.
    RandomChained,
    /// Independent random words.
    Random,
    /// Word by word, again and again.
    Sequential,
}

impl Settings for XmemConfig {
    fn check(&self, check: &mut Check) {
        check.that(
            self.region.0.is_multiple_of(LINE_BYTES)
                && (LINE_BYTES..=256 << 20).contains(&self.region.0),
            "region",
            self.region,
            "a multiple of 64 B from 64 B to 256 MiB",
        );
        check.that(self.writes <= Share::WHOLE, "writes", self.writes, "0 % to 100 %");
    }

    fn bytes(&self, cores: u32, _closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        u128::from(self.region.0) * u128::from(cores)
    }

    fn serves_packets(&self) -> bool {
        false
    }
}

/// Accesses emitted at a time: enough that asking for more costs nothing, and few compared with the
/// microseconds between two checks of a core's progress.
const SLICE: u64 = 128;

/// 64-bit words in a line.
const WORDS_PER_LINE: u32 = 8;

/// The position of a core.
#[derive(Clone, Copy, Debug)]
struct Walker {
    region: Line,
    /// The word accessed last.
    word: u32,
    /// Accesses since the start.
    accesses: u64,
    draw: Draw,
}

/// The application.
#[derive(Clone, Debug)]
pub struct Xmem {
    walkers: Vec<Walker>,
    /// For each word, the word that its pointer points to; immutable, shared by all cores and
    /// clones. Empty unless the pattern is chained.
    cycle: Arc<[u32]>,
    words: u32,
    pattern: Pattern,
    write_threshold: u64,
    /// Accesses emitted on all cores since the counters were reset.
    accesses: u64,
}

impl Xmem {
    /// X-Mem on `cores` cores, each with its own region. The configuration has been checked.
    pub(crate) fn new(
        config: &XmemConfig,
        cores: u32,
        seed: u64,
        space: &mut AddressSpace,
    ) -> Xmem {
        let words = (config.region.0 / LINE_BYTES) as u32 * WORDS_PER_LINE;
        let cycle = match config.pattern {
            Pattern::RandomChained => random_cycle(words, Draw::new(seed, 0)),
            Pattern::Random | Pattern::Sequential => Vec::new(),
        };
        let walkers = (0..cores)
            .map(|core| Walker {
                region: space.reserve(config.region.0),
                // Cores start at different positions, like processes started one after another.
                word: below(Draw::new(seed, 1).at(u64::from(core)), u64::from(words)) as u32,
                accesses: 0,
                draw: Draw::new(seed, 2 + u64::from(core)),
            })
            .collect();
        Xmem {
            walkers,
            cycle: cycle.into(),
            words,
            pattern: config.pattern,
            write_threshold: config.writes.threshold_u32(),
            accesses: 0,
        }
    }
}

impl Xmem {
    /// Emits the accesses `numbers`, which follow the one to `word`; returns the last word.
    fn walk(
        &self,
        region: Line,
        mut word: u32,
        numbers: Range<u64>,
        draw: Draw,
        ops: &mut Ops,
    ) -> u32 {
        for n in numbers {
            word = match self.pattern {
                Pattern::RandomChained => self.cycle[word as usize],
                Pattern::Random => below_u32(draw.at_u32(n), self.words),
                Pattern::Sequential if word + 1 < self.words => word + 1,
                Pattern::Sequential => 0,
            };
            let line = region + word / WORDS_PER_LINE;
            let write =
                self.write_threshold > 0 && u64::from(draw.at(n) as u32) < self.write_threshold;
            match (self.pattern, write) {
                (Pattern::RandomChained, false) => ops.load(line, LineKind::App, Dep::Chain),
                (Pattern::RandomChained, true) => ops.push_all([
                    Op::Load { line, kind: LineKind::App, dep: Dep::Chain },
                    Op::Store { line, kind: LineKind::App, dep: Dep::After },
                ]),
                (_, false) => ops.load(line, LineKind::App, Dep::Free),
                (_, true) => ops.store(line, LineKind::App, Dep::Free),
            }
        }
        word
    }
}

/// A random permutation of `0..n` that is one cycle, as a table of successors (Sattolo 1986).
fn random_cycle(n: u32, draw: Draw) -> Vec<u32> {
    let mut next: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        next.swap(i as usize, below(draw.at(u64::from(i)), u64::from(i)) as usize);
    }
    next
}

impl App for Xmem {
    /// X-Mem receives no packets.
    fn on_packet(&mut self, _rank: u32, _packet: &Packet, _ops: &mut Ops) -> Verdict {
        Verdict::Consume
    }

    fn on_idle(&mut self, rank: u32, ops: &mut Ops) {
        let Walker { region, word, accesses, draw } = self.walkers[rank as usize];
        match self.pattern {
            Pattern::Random if self.write_threshold == 0 => {
                // Draws the lines of random words directly, without the words.
                let n = self.words / WORDS_PER_LINE;
                let mut lines = [region; SLICE as usize];
                for (line, i) in lines.iter_mut().zip(accesses..) {
                    *line += below_u32(draw.at_u32(i), n);
                }
                ops.extend(lines.iter().map(|&line| Op::Load {
                    line,
                    kind: LineKind::App,
                    dep: Dep::Free,
                }));
            }
            _ => {
                let word = self.walk(region, word, accesses..accesses + SLICE, draw, ops);
                self.walkers[rank as usize].word = word;
            }
        }
        self.walkers[rank as usize].accesses += SLICE;
        self.accesses += SLICE;
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("accesses", self.accesses)]
    }

    fn progress(&self) -> u64 {
        self.accesses
    }

    fn reset_counters(&mut self) {
        self.accesses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::violations;

    fn build(config: &XmemConfig, cores: u32) -> Xmem {
        assert_eq!(violations(|check| config.check(check)), []);
        Xmem::new(config, cores, 1, &mut AddressSpace::default())
    }

    fn emit(app: &mut Xmem, core: u32, accesses: u64) -> Vec<Op> {
        let mut ops = Ops::new(false);
        for _ in 0..accesses.div_ceil(SLICE) {
            app.on_idle(core, &mut ops);
        }
        ops.iter().collect()
    }

    #[test]
    fn a_chain_visits_every_word_once_a_round() {
        let region = XmemConfig { region: Size(1 << 16), ..XmemConfig::default() };
        let mut app = build(&region, 1);
        let words = 1 << 13;
        let mut visits = vec![0u32; words / 8];
        let ops = emit(&mut app, 0, words as u64);
        for op in &ops {
            let &Op::Load { line, kind: LineKind::App, dep: Dep::Chain } = op else {
                panic!("{op:?} in a chain of loads");
            };
            visits[line as usize] += 1;
        }
        assert!(visits.iter().all(|&v| v == 8), "each line has eight words");
        assert_eq!(app.progress(), words as u64);
    }

    #[test]
    fn cores_stay_in_their_regions() {
        for pattern in [Pattern::RandomChained, Pattern::Random, Pattern::Sequential] {
            let mut app = build(&XmemConfig { pattern, ..XmemConfig::default() }, 3);
            let lines = (2 << 20) / LINE_BYTES as u32;
            for core in 0..3 {
                for op in emit(&mut app, core, 10_000) {
                    let Op::Load { line, .. } = op else { panic!("{op:?} without writes") };
                    assert_eq!(line / lines, core, "{pattern:?}");
                }
            }
        }
    }

    #[test]
    fn sequential_reads_a_line_eight_times_and_goes_on() {
        let config =
            XmemConfig { region: Size(128), pattern: Pattern::Sequential, ..XmemConfig::default() };
        let mut app = build(&config, 1);
        let start = app.walkers[0].word;
        for (n, op) in emit(&mut app, 0, 64).into_iter().enumerate() {
            let line = (start + 1 + n as u32) % 16 / 8;
            assert_eq!(op, Op::Load { line, kind: LineKind::App, dep: Dep::Free });
        }
    }

    #[test]
    fn the_written_share_is_the_one_asked_for() {
        for pattern in [Pattern::RandomChained, Pattern::Random, Pattern::Sequential] {
            let config = XmemConfig { pattern, writes: Share(30_000), ..XmemConfig::default() };
            let ops = emit(&mut build(&config, 1), 0, 128_000);
            let stores = ops.iter().filter(|op| matches!(op, Op::Store { .. })).count();
            // Binomial: sigma = 164.
            assert!(stores.abs_diff(38_400) < 820, "{pattern:?}: {stores}");
        }
    }
}
