//! Every point of `tests/data/dram_curves.csv` (its settings: `docs/models/dram.md`).

use crate::traffic::{Measured, closed_loop, poisson};
use crate::variants::config;

/// The published runs: 100 000 clocks of warm-up, then 2 000 000 measured.
const WARM_UP_CLOCKS: u64 = 100_000;
const CLOCKS: u64 = 2_000_000;

struct Point {
    variant: String,
    channels: u32,
    pattern: String,
    read_fraction: f64,
    offered: f64,
    achieved: f64,
    latency: f64,
    saturated: bool,
}

fn points() -> Vec<Point> {
    let text = include_str!("../data/dram_curves.csv");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let text = |name: &str| {
            let i = columns.iter().position(|c| *c == name);
            cells[i.unwrap_or_else(|| panic!("no column {name}"))]
        };
        let number = |name: &str| text(name).parse::<f64>().expect("a number");
        Point {
            variant: text("variant").to_owned(),
            channels: number("channels") as u32,
            pattern: text("pattern").to_owned(),
            read_fraction: number("read_fraction"),
            offered: number("offered_gbps"),
            achieved: number("achieved_gbps"),
            latency: number("mean_read_latency_ns"),
            saturated: text("saturated") == "1",
        }
    });
    rows.collect()
}

fn simulate(p: &Point, seed: u64) -> Measured {
    let cfg = config(&p.variant, p.channels);
    match p.pattern.strip_prefix("random_closedloop_") {
        Some(n) => closed_loop(&cfg, n.parse().expect("a count"), WARM_UP_CLOCKS, CLOCKS, seed),
        None => poisson(&cfg, p.offered, p.read_fraction, WARM_UP_CLOCKS, CLOCKS, seed),
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the table is what a reader of the test wants to see")]
fn every_point_of_ramulator_is_met() {
    let points = points();
    assert_eq!(points.len(), 187, "the published table is complete");
    let mut misses = Vec::new();
    let mut checked = 0;
    println!(
        "{:<10} {:>3} {:<20} {:>5} | {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7}",
        "variant", "ch", "pattern", "reads", "GB/s", "sim", "err %", "ns", "sim", "err %"
    );
    for (i, p) in points.iter().enumerate() {
        if p.variant == "ds3" || p.saturated {
            continue;
        }
        let curve = points.iter().filter(|q| {
            let same_loop = p.pattern == q.pattern || p.variant == "closedloop";
            q.variant == p.variant && q.read_fraction == p.read_fraction && same_loop
        });
        let saturation = curve.map(|q| q.achieved).fold(0.0, f64::max);
        let m = simulate(p, i as u64);
        let bandwidth_error = (m.gbps / p.achieved - 1.0) * 100.0;
        let latency_error = (m.read_latency_ns / p.latency - 1.0) * 100.0;
        let latency_counts = p.achieved <= 0.85 * saturation;
        let row = format!(
            "{:<10} {:>3} {:<20} {:>5.2} | {:>7.3} {:>7.3} {:>7.2} | {:>7.2} {:>7.2} {:>7.2}{}",
            p.variant,
            p.channels,
            p.pattern,
            p.read_fraction,
            p.achieved,
            m.gbps,
            bandwidth_error,
            p.latency,
            m.read_latency_ns,
            latency_error,
            if latency_counts { "" } else { "  (above 85 % of saturation)" },
        );
        println!("{row}");
        checked += 1;
        if bandwidth_error.abs() > 5.0 || (latency_counts && latency_error.abs() > 10.0) {
            misses.push(row);
        }
    }
    assert!(checked == 140, "{checked} points below saturation");
    assert!(misses.is_empty(), "outside 5 % bandwidth or 10 % latency:\n{}", misses.join("\n"));
}
