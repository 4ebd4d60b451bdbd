//! Cost of an access that hits the L1d: X-Mem over 16 KiB on one core.
//!
//! `perf stat -e instructions:u cargo bench -p nic2core-engine --bench l1 -- PATTERN`, less what the
//! same command takes with `-- PATTERN 0`, over the accesses printed. PATTERN is one of X-Mem's.

#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark program prints its figures")]

use std::time::Instant;

use nic2core_engine::config::Scenario;
use nic2core_engine::host::Host;
use serde_json::json;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let pattern = args.first().map_or("random", String::as_str);
    let us: u64 = args.get(1).map_or(20_000, |a| a.parse().expect("microseconds to simulate"));
    let scenario: Scenario = serde_json::from_value(json!({
        "machine": {
            "description": "one core",
            "core": {
                "count": 1, "frequency": "3.2 GHz", "dispatch_width": 4, "reorder_window": 224,
                "l1_miss_registers": 10, "store_buffer": 56
            },
            "l1d": { "size": "48 KiB", "ways": 12, "latency_cycles": 4 },
            "l2": { "size": "1.25 MiB", "ways": 20, "latency_cycles": 14 },
            "llc": {
                "size": "1.5 MiB", "ways": 12, "latency_cycles": 35, "inclusion": "non-inclusive",
                "writeback_buffers": 32
            },
            "noc": { "latency_cycles": 8 },
            "dram": {
                "standard": "DDR4-3200AA", "channels": 1, "ranks": 1, "bank_groups": 4,
                "banks_per_group": 4, "rows": 65536, "columns": 1024
            },
            "nic": {
                "sram": "64 KiB", "write_credits": 64, "read_credits": 64, "descriptor_batch": 4,
                "descriptor_size": "16 B", "completion_size": "16 B"
            }
        },
        "placement": { "policy": "ddio" },
        "queues": {
            "rx_descriptors": 64, "tx_descriptors": 64, "buffer_size": "1 KiB",
            "rx_instructions": 0, "tx_instructions": 0
        },
        "tenants": [{
            "name": "x", "cores": { "first": 0, "count": 1 },
            "app": { "kind": "xmem", "pattern": pattern, "region": "16 KiB" }
        }],
        "run": { "warmup": "100 us", "duration": format!("{} us", us.max(1)) }
    }))
    .expect("the scenario is one");
    let mut host = Host::new(&scenario, None).unwrap_or_else(|e| panic!("{e}"));
    let warm = scenario.run.warmup.ps();
    host.run_until(warm);
    host.begin_measuring();
    if us == 0 {
        return;
    }
    let start = Instant::now();
    host.run_until(warm + scenario.run.duration.ps());
    let seconds = start.elapsed().as_secs_f64();
    let r = host.results().unwrap_or_else(|e| panic!("{e}"));
    let l1_misses: u64 = r.caches.iter().filter(|c| c.level == "l1d").map(|c| c.misses).sum();
    println!(
        "{} accesses, {l1_misses} L1d misses, {:.1} million a second",
        r.line_accesses,
        r.line_accesses as f64 / seconds / 1e6
    );
}
