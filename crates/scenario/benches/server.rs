//! Speed of the whole simulator on one scenario file: the basis of the figures in `docs/speed.md`.
//!
//! `cargo bench -p nic2core-scenario --bench server -- SCENARIO [KEY=VALUE ...]`; run it under
//! `perf stat -e instructions:u` for host instructions.

#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark program prints its figures")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use nic2core_engine::host::Host;
use nic2core_engine::peak::find_peak;
use nic2core_engine::time::Ps;
use nic2core_scenario::{Disk, load, read_capture};

/// As in the Python extension.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = args.first().map_or_else(|| root.join("scenarios/sweeper-kvs.toml"), PathBuf::from);
    let sets = args.get(1..).unwrap_or_default();
    let loaded =
        load(&Disk, &file, sets, &[root.join("machines")]).unwrap_or_else(|e| panic!("{e}"));
    let scenario = loaded.scenario;
    let capture = read_capture(&Disk, &scenario, &loaded.origins).unwrap_or_else(|e| panic!("{e}"));
    if std::env::var_os("PEAK").is_some() {
        let start = Instant::now();
        let peak = find_peak(&scenario, capture, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        for p in &peak.probes {
            println!(
                "{:.2} -> {:.2} Mpps p99 {:.0} of {:.0} ns, drops {:.4}",
                p.offered_mpps, p.completed_mpps, p.p99_ns, p.p99_limit_ns, p.drop_share
            );
        }
        println!(
            "peak {:.2} Mpps, fails at {:.2?} by {}, {:.1} s",
            peak.peak_mpps,
            peak.fails_at_mpps,
            peak.failed_by,
            start.elapsed().as_secs_f64()
        );
        for c in peak.results.memory.causes.iter().filter(|c| c.lines > 0) {
            println!(
                "{:18} {:7.2} a request {:7.2} GB/s",
                c.cause,
                c.per_request.unwrap_or(0.0),
                c.gbytes_per_s
            );
        }
        println!(
            "memory {:.1} GB/s, DRAM read {:.1} ns",
            peak.results.memory.bandwidth_gbytes_per_s, peak.results.dram.read_latency.mean_ns
        );
        return;
    }
    let start = Instant::now();
    let mut host = Host::new(&scenario, capture).unwrap_or_else(|e| panic!("{e}"));
    let built = start.elapsed();
    let warmup = scenario.run.warmup.ps();
    host.run_until(warmup);
    host.begin_measuring();
    let start = Instant::now();
    host.run_until(warmup + Ps(scenario.run.duration.0));
    let seconds = start.elapsed().as_secs_f64();
    let r = host.results().unwrap_or_else(|e| panic!("{e}"));
    println!("built in {:.2} s", built.as_secs_f64());
    println!(
        "{:.2} ms measured in {seconds:.2} s; {} line accesses, {:.2} million a second",
        r.measured_ns / 1e6,
        r.line_accesses,
        r.line_accesses as f64 / seconds / 1e6
    );
    println!("{:#?}", r.packets);
    if let Some(t) = &r.transport {
        println!(
            "goodput {:.2} Gbps, {} sent, {} again, {} dropped at the switch, {} at the server ({:.2} %)",
            t.goodput_gbps,
            t.sent,
            t.sent_again,
            t.dropped_switch,
            t.dropped_server,
            100.0 * t.lost_share
        );
        println!(
            "{} fast recoveries, {} timeouts, mean window {:.3} packets",
            t.fast_recoveries, t.timeouts, t.mean_window
        );
        for (name, d) in [("rtt", &t.rtt), ("fabric", &t.fabric_delay), ("host", &t.host_delay)] {
            println!("{name:9} mean {:9.1} ns  p99 {:9.1} ns", d.mean_ns, d.percentiles_ns[2].1);
        }
    }
    for s in &r.latency {
        let p = |i: usize| s.distribution.percentiles_ns[i].1;
        println!(
            "{:9} mean {:9.1} ns  p50 {:9.1}  p90 {:9.1}  p99 {:9.1} ns",
            s.stage,
            s.distribution.mean_ns,
            p(0),
            p(1),
            p(2)
        );
    }
    println!(
        "memory {:.1} of {:.1} GB/s, AMAT {:.2} ns, DRAM read {:.1} ns",
        r.memory.bandwidth_gbytes_per_s,
        r.memory.bus_limit_gbytes_per_s,
        r.amat_ns.unwrap_or(f64::NAN),
        r.dram.read_latency.mean_ns
    );
    for c in r.memory.causes.iter().filter(|c| c.lines > 0) {
        println!(
            "{:18} {:7.2} a request {:7.2} GB/s",
            c.cause,
            c.per_request.unwrap_or(0.0),
            c.gbytes_per_s
        );
    }
    for d in &r.domains {
        let used = d.busy_ps as f64 / (r.measured_ns * 1e3);
        println!("{:15} {used:12.1} of {:9} {}", d.domain, d.credits, d.unit);
    }
    println!("{:?}", r.io);
    if let Some(iommu) = &r.iommu {
        println!("{iommu:?}");
    }
    println!("reads after sweep: {}", r.reads_after_sweep);
    for t in &r.tenants {
        println!("{} {:.2} M/s {:?}", t.name, t.progress_mps, t.counters);
    }
    if std::env::var_os("RESULTS").is_some() {
        println!("{r:#?}");
        return;
    }
    if std::env::var_os("SERIES").is_some() {
        for c in &r.series.columns {
            let tell = |v: &Option<f64>| v.map_or("-".into(), |v| format!("{v:.1}"));
            let values: Vec<String> = c.values.iter().map(tell).collect();
            println!("{:10} {:8} {}", c.name, c.unit, values.join(" "));
        }
    }
    for c in &r.caches {
        println!("{:4} {:11} hits {:10} misses {:9}", c.level, c.kind, c.hits, c.misses);
    }
}
