//! The traffic with which the published curves were measured: uniform random lines, either Poisson
//! arrivals with unbounded source queues (one for reads, one for writes) that retry, or a fixed
//! number of reads in flight.

use std::collections::VecDeque;

use nic2core_engine::memory::dram::{Done, Dram, DramConfig};
use nic2core_engine::time::Ps;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The clock of DDR4-3200, on whose edges the drivers of the curves acted.
const CLOCK_PS: u64 = 625;
const LINE_BYTES: f64 = 64.0;

/// What a run measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// GB/s per channel of completed requests.
    pub(crate) gbps: f64,
    /// Mean over reads from queue entry to last data beat, ns.
    pub(crate) read_latency_ns: f64,
}

struct Meter {
    from: Ps,
    to: Ps,
    completed: u64,
    reads: u64,
    latency_ps: u64,
}

impl Meter {
    fn new(warm_up_clocks: u64, clocks: u64) -> Meter {
        let from = Ps(warm_up_clocks * CLOCK_PS);
        let to = from + Ps(clocks * CLOCK_PS);
        Meter { from, to, completed: 0, reads: 0, latency_ps: 0 }
    }

    fn count(&mut self, done: &Done, entered: Ps) {
        if done.at < self.from || done.at >= self.to {
            return;
        }
        self.completed += 1;
        if !done.write {
            self.reads += 1;
            self.latency_ps += (done.at - entered).0;
        }
    }

    fn result(&self, channels: usize) -> Measured {
        let ns = (self.to - self.from).as_ns_f64();
        Measured {
            gbps: self.completed as f64 * LINE_BYTES / ns / channels as f64,
            read_latency_ns: self.latency_ps as f64 / 1e3 / self.reads as f64,
        }
    }
}

/// A uniform number in (0, 1].
fn unit(rng: &mut Pcg64Mcg) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

fn random_line(rng: &mut Pcg64Mcg, lines: u64) -> u32 {
    u32::try_from((u128::from(rng.next_u64()) * u128::from(lines)) >> 64).expect("below 2^32 lines")
}

/// Poisson arrivals at `gbps` per channel, each a read with probability `read_fraction`.
pub(crate) fn poisson(
    cfg: &DramConfig,
    gbps: f64,
    read_fraction: f64,
    warm_up_clocks: u64,
    clocks: u64,
    seed: u64,
) -> Measured {
    let mut dram = Dram::new(cfg).expect("a valid configuration");
    let channels = dram.channels();
    let lines = cfg.capacity_bytes() / 64;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut meter = Meter::new(warm_up_clocks, clocks);
    let clocks_per_arrival = LINE_BYTES / (gbps * channels as f64) * 1e3 / CLOCK_PS as f64;
    let mut arrival = -unit(&mut rng).ln() * clocks_per_arrival;
    let mut wake = vec![Ps::MAX; channels];
    // For each channel, the lines to read and the lines to write.
    let mut sources = vec![[VecDeque::new(), VecDeque::new()]; channels];
    let mut entered: Vec<Ps> = Vec::new();
    let mut done = Vec::new();
    loop {
        let next_arrival = Ps(arrival as u64 * CLOCK_PS);
        let now = wake.iter().copied().fold(next_arrival, Ps::min);
        if now >= meter.to {
            return meter.result(channels);
        }
        for (channel, wake) in wake.iter_mut().enumerate() {
            if *wake <= now {
                *wake = dram.advance(channel, now, &mut done);
            }
        }
        if next_arrival <= now {
            let line = random_line(&mut rng, lines);
            let write = unit(&mut rng) > read_fraction;
            sources[dram.channel_of(line)][usize::from(write)].push_back(line);
            arrival += -unit(&mut rng).ln() * clocks_per_arrival;
        }
        for (channel, sources) in sources.iter_mut().enumerate() {
            for (write, source) in [false, true].into_iter().zip(sources) {
                while let Some(&line) = source.front() {
                    if !dram.can_accept(channel, write) {
                        break;
                    }
                    source.pop_front();
                    let tag = u32::try_from(entered.len()).expect("a bounded run");
                    entered.push(now);
                    wake[channel] = dram.push(now, channel, line, write, tag);
                }
            }
        }
        for d in done.drain(..) {
            meter.count(&d, entered[d.tag as usize]);
        }
    }
}

/// `in_flight` reads: whenever one has its data, the next is sent.
pub(crate) fn closed_loop(
    cfg: &DramConfig,
    in_flight: usize,
    warm_up_clocks: u64,
    clocks: u64,
    seed: u64,
) -> Measured {
    let mut dram = Dram::new(cfg).expect("a valid configuration");
    assert_eq!(dram.channels(), 1, "the published closed loop has one channel");
    let lines = cfg.capacity_bytes() / 64;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut meter = Meter::new(warm_up_clocks, clocks);
    let mut wake = Ps::MAX;
    let mut to_send = in_flight;
    // Reads whose data is on its way, in order of arrival.
    let mut data: VecDeque<Ps> = VecDeque::new();
    let mut entered: Vec<Ps> = Vec::new();
    let mut done = Vec::new();
    let mut now = Ps::ZERO;
    loop {
        while data.front().is_some_and(|at| *at <= now) {
            data.pop_front();
            to_send += 1;
        }
        while to_send > 0 {
            let line = random_line(&mut rng, lines);
            if !dram.can_accept(0, false) {
                break;
            }
            let tag = u32::try_from(entered.len()).expect("a bounded run");
            entered.push(now);
            wake = dram.push(now, 0, line, false, tag);
            to_send -= 1;
        }
        now = data.front().copied().unwrap_or(Ps::MAX).min(wake);
        if now >= meter.to {
            return meter.result(1);
        }
        if wake <= now {
            wake = dram.advance(0, now, &mut done);
        }
        for d in done.drain(..) {
            meter.count(&d, entered[d.tag as usize]);
            data.push_back(d.at);
        }
    }
}
