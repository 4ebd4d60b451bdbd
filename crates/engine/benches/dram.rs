//! Cost of the DRAM model by itself: `cargo bench --bench dram -- [reads|mix] [requests] [GB/s]`.
//!
//! One channel with the settings of the published curves (variant r4b8), Poisson arrivals of
//! uniform random lines, reads only or two reads to a write. Prints requests, simulated time and
//! seconds; divide the instructions of `perf stat -e instructions:u` by the requests.

#![allow(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::collections::VecDeque;
use std::time::Instant;

use nic2core_engine::memory::dram::{
    Density, DeviceWidth, Dram, DramConfig, Mapping, Refresh, RowPolicy, Standard, TimingOverrides,
};
use nic2core_engine::time::Ps;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Gaps drawn once and used in turn, so that the logarithm is not part of what is measured.
const GAPS: usize = 1 << 14;

fn config() -> DramConfig {
    DramConfig {
        standard: Standard::Ddr4_3200aa,
        channels: 1,
        ranks: 4,
        bank_groups: 2,
        banks_per_group: 4,
        rows: 65536,
        columns: 1024,
        density: Density::Gb8,
        device_width: DeviceWidth::X8,
        read_queue: 32,
        write_queue: 32,
        drain_high_percent: 80,
        drain_low_percent: 20,
        row_policy: RowPolicy::Open,
        refresh: Refresh::AllRanks,
        mapping: Mapping::default(),
        timings: TimingOverrides {
            rfc: Some(576),
            rd_to_wr_other_rank: Some(6),
            ..TimingOverrides::default()
        },
    }
}

fn main() {
    // Cargo passes `--bench` to a benchmark without harness.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let mix = args.first().is_some_and(|a| a == "mix");
    let number = |i: usize, default: u64| {
        args.get(i).map_or(default, |a| a.parse().expect("a number: [reads|mix] [requests] [GB/s]"))
    };
    let requests = number(1, 2_000_000);
    let gbps = number(2, 12);

    let mut dram = Dram::new(&config()).expect("a valid configuration");
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mean_ps = 64.0 / gbps as f64 * 1e3;
    let gaps: Vec<u64> = (0..GAPS)
        .map(|_| {
            let unit = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
            (-unit.ln() * mean_ps) as u64
        })
        .collect();

    let start = Instant::now();
    // Requests that found their queue full, in order.
    let mut source = VecDeque::with_capacity(1024);
    let mut done = Vec::with_capacity(64);
    let (mut wake, mut now) = (Ps::MAX, Ps::ZERO);
    let (mut arrival, mut completed) = (Ps::ZERO, 0u64);
    for sent in 0..=requests {
        while wake <= arrival {
            now = wake;
            wake = dram.advance(0, now, &mut done);
            completed += done.len() as u64;
            done.clear();
            while let Some(&(line, write)) = source.front() {
                if !dram.can_accept(line, write) {
                    break;
                }
                source.pop_front();
                wake = dram.push(now, line, write, 0);
            }
        }
        if sent == requests {
            break;
        }
        let random = rng.next_u64();
        let (line, write) = (random as u32, mix && (random >> 32) % 3 == 0);
        if source.is_empty() && dram.can_accept(line, write) {
            wake = dram.push(arrival, line, write, 0);
        } else {
            source.push_back((line, write));
        }
        let gap = gaps[sent as usize % GAPS];
        arrival = if sent + 1 < requests { arrival + Ps(gap) } else { Ps(u64::MAX - 1) };
    }
    assert_eq!(completed, requests, "every request completes");
    let seconds = start.elapsed().as_secs_f64();
    let stats = dram.stats(0, now);
    println!("requests {requests}, simulated {:.0} ns, {seconds:.3} s", now.as_ns_f64());
    println!(
        "{:.2} GB/s, {:.2} M requests/s",
        requests as f64 * 64.0 / now.as_ns_f64(),
        requests as f64 / seconds / 1e6
    );
    println!("{stats:?}");
}
