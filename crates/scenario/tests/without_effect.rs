//! What is said to have no effect has none: a run with the key changed gives the same results.

#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use nic2core_engine::config::without_effect::without_effect;
use nic2core_engine::host::Host;
use nic2core_engine::stats::results::Results;
use nic2core_scenario::{Disk, Loaded, load, read_capture};

fn loaded(scenario: &str, sets: &[&str]) -> Loaded {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let short = ["run.warmup=50 us", "run.duration=50 us", "run.sample=50 us"];
    let sets: Vec<String> = short.iter().chain(sets).map(|s| (*s).to_owned()).collect();
    let file = root.join("scenarios").join(scenario).with_extension("toml");
    load(&Disk, &file, &sets, &[root.join("machines")]).unwrap_or_else(|e| panic!("{e}"))
}

fn keys(loaded: &Loaded) -> Vec<String> {
    without_effect(&loaded.scenario).into_iter().map(|k| k.key).collect()
}

fn run(loaded: &Loaded) -> Results {
    let capture = read_capture(&Disk, &loaded.scenario, &loaded.origins).expect("it is there");
    let mut host = Host::new(&loaded.scenario, capture).expect("it can be simulated");
    let run = &loaded.scenario.run;
    host.run_until(run.warmup.ps());
    host.begin_measuring();
    host.run_until(run.warmup.ps() + run.duration.ps());
    host.results().expect("it balances")
}

/// A store that is populated at once.
const SMALL: &[&str] = &["tenants.0.app.keys=4096", "tenants.0.app.log=4 MiB"];

/// A scenario, what is set in it, a key without effect then, and another value of it.
const CASES: &[(&str, &[&str], &str, &str)] = &[
    ("sweeper-l3fwd", &["placement.policy=dma"], "placement.io_ways", "=7"),
    ("host-congestion", &[], "machine.numa", ".latency=1 us"),
    ("sweeper-kvs", SMALL, "traffic.sizes", ".size=64 B"),
    ("sweeper-kvs", SMALL, "tenants.0.app.set_from", "=64 B"),
    ("explain-link", &[], "machine.iommu.run_time", ".map=9 us"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.iommu.walkers", "=1"),
];

#[test]
fn what_has_no_effect_changes_nothing() {
    for &(scenario, sets, key, value) in CASES {
        let as_is = loaded(scenario, sets);
        assert!(keys(&as_is).iter().any(|k| k == key), "{scenario} {sets:?}: {key}");
        let set = format!("{key}{value}");
        let changed = loaded(scenario, &[sets, &[set.as_str()]].concat());
        assert_ne!(changed.scenario, as_is.scenario, "{scenario}: {set}");
        assert!(run(&changed) == run(&as_is), "{scenario} {sets:?}: {set} has an effect");
    }
}

#[test]
fn what_has_an_effect_is_not_named() {
    for (scenario, sets, set) in [
        ("sweeper-l3fwd", &[][..], "placement.io_ways=7"),
        // What is no packet, descriptors for instance, still lands in the I/O ways.
        ("sweeper-l3fwd", &["placement.policy=ideal-ddio"], "placement.io_ways=7"),
        ("sweeper-l3fwd", &[], "traffic.sizes.size=64 B"),
        ("demo", SMALL, "tenants.0.app.set_from=64 B"),
        ("host-congestion", &["queues.memory=remote"], "machine.numa.latency=1 us"),
        ("explain-iommu", &[], "machine.iommu.step_latency=1 us"),
        (
            "explain-link",
            &["machine.iommu.mode=strict", "machine.iommu.pages.payload=4 KiB"],
            "machine.iommu.run_time.map=9 us",
        ),
    ] {
        let (as_is, changed) = (loaded(scenario, sets), loaded(scenario, &[sets, &[set]].concat()));
        assert!(!keys(&as_is).iter().any(|k| set.starts_with(k)), "{scenario}: {set}");
        assert!(run(&changed) != run(&as_is), "{scenario}: {set}");
    }
}
