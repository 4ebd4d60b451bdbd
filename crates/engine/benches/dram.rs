//! Cost of the DRAM model by itself: `cargo bench --bench dram -- [reads|mix] [requests] [GB/s]`.
//!
//! One channel with the settings of the published curves (variant r4b8), Poisson arrivals of
//! uniform random lines, reads only or two reads per write. Prints requests, simulated time and
//! seconds; divide the instructions of `perf stat -e instructions:u` by the requests.

#![allow(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::collections::VecDeque;
use std::time::Instant;

use nic2core_engine::memory::dram::{Done, Dram};
use nic2core_engine::time::Ps;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

#[path = "../tests/dram/variants.rs"]
mod variants;

/// Gaps drawn once and reused in turn, so that the logarithm is not part of the measurement.
const GAPS: usize = 1 << 14;

fn main() {
    // Cargo passes `--bench` to a benchmark without harness.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mix = args.first().is_some_and(|a| a == "mix");
    let number = |i: usize, default: u64| {
        args.get(i).map_or(default, |a| a.parse().expect("a number: [reads|mix] [requests] [GB/s]"))
    };
    let requests = number(1, 2_000_000);
    let gbps = number(2, 12);

    let mut bench = Bench {
        dram: Dram::new(&variants::config("r4b8", 1)).expect("a valid configuration"),
        wake: Ps::MAX,
        now: Ps::ZERO,
        source: VecDeque::with_capacity(1024),
        done: Vec::with_capacity(64),
        completed: 0,
    };
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mean_ps = 64.0 / gbps as f64 * 1e3;
    let gaps = std::array::from_fn(|_| {
        let unit = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (-unit.ln() * mean_ps) as u64
    });

    let start = Instant::now();
    drive(&mut bench, rng, &gaps, requests, mix);
    let seconds = start.elapsed().as_secs_f64();
    let (now, stats) = (bench.now, bench.dram.stats(0, bench.now));
    println!("requests {requests}, simulated {:.0} ns, {seconds:.3} s", now.as_ns_f64());
    println!(
        "{:.2} GB/s, {:.2} M requests/s",
        requests as f64 * 64.0 / now.as_ns_f64(),
        requests as f64 / seconds / 1e6
    );
    println!("{stats:?}");
}

/// The memory, and the requests that wait for room in its queues.
struct Bench {
    dram: Dram,
    /// When the channel needs to be advanced next, and when it last was.
    wake: Ps,
    now: Ps,
    /// Requests that found their queue full, in order.
    source: VecDeque<(u32, bool)>,
    done: Vec<Done>,
    completed: u64,
}

impl Bench {
    fn advance_until(&mut self, time: Ps) {
        while self.wake <= time {
            self.advance();
        }
    }

    #[inline(never)]
    fn advance(&mut self) {
        self.now = self.wake;
        self.wake = self.dram.advance(0, self.now, &mut self.done);
        self.completed += self.done.len() as u64;
        self.done.clear();
        while let Some(&(line, write)) = self.source.front() {
            if !self.dram.can_accept(0, write) {
                break;
            }
            self.source.pop_front();
            self.wake = self.dram.push(self.now, 0, line, write, 0);
        }
    }

    fn send(&mut self, now: Ps, line: u32, write: bool) {
        if self.source.is_empty() && self.dram.can_accept(0, write) {
            self.wake = self.dram.push(now, 0, line, write, 0);
        } else {
            self.source.push_back((line, write));
        }
    }
}

/// Sends the requests and waits for the last. (Not inlined, so that the locals of `main` do not take
/// the registers of this loop.)
#[inline(never)]
fn drive(bench: &mut Bench, mut rng: Pcg64Mcg, gaps: &[u64; GAPS], requests: u64, mix: bool) {
    let mut now = Ps::ZERO;
    for sent in 0..requests {
        let random = rng.next_u64();
        // The highest bit of a line names its node, and there is only one node.
        let line = random as u32 & (u32::MAX >> 1);
        bench.send(now, line, mix && (random >> 32).is_multiple_of(3));
        now += Ps(gaps[sent as usize % GAPS]);
        bench.advance_until(now);
    }
    bench.advance_until(Ps(u64::MAX - 1));
    assert_eq!(bench.completed, requests, "every request completes");
}
