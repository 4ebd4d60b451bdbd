//! The scenario files that come with nic2core, each run for a moment.

#![allow(missing_docs, reason = "a test")]

use std::path::{Path, PathBuf};

use nic2core_engine::host::Host;
use nic2core_engine::stats::results::Results;
use nic2core_scenario::schema::scenario_schema;
use nic2core_scenario::{Disk, Origins, from_json, load, read_capture};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("scenarios")).expect("there are scenarios");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

fn run(file: &Path, sets: &[&str]) -> Results {
    let times = ["run.warmup=200 us", "run.duration=200 us", "run.sample=50 us"];
    let sets: Vec<String> = times.iter().chain(sets).map(|s| (*s).to_owned()).collect();
    let loaded = load(&Disk, file, &sets, &[root().join("machines")])
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let capture = read_capture(&Disk, &loaded.scenario, &loaded.origins)
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let run = &loaded.scenario.run;
    let mut host = Host::new(&loaded.scenario, capture).unwrap_or_else(|e| panic!("{e}"));
    host.run_until(run.warmup.ps());
    host.begin_measuring();
    host.run_until(run.warmup.ps() + run.duration.ps());
    host.results().unwrap_or_else(|e| panic!("{} with {sets:?}: {e}", file.display()))
}

/// The front end passes a scenario back as the text that it was given, which must mean the same to
/// the last digit.
#[test]
fn every_scenario_is_the_same_after_a_way_through_json() {
    for file in files() {
        let sets = ["slo.drops=0.125 %".to_owned()];
        let loaded = load(&Disk, &file, &sets, &[root().join("machines")]).expect("loads").scenario;
        let text = serde_json::to_string(&loaded).expect("a scenario is plain data");
        let again = from_json(&Disk, &text, &[], &Origins::default()).expect("reads").scenario;
        assert_eq!(again, loaded, "{}", file.display());
    }
}

/// Every placement policy, as a user writes it.
fn policies() -> Vec<String> {
    let schema: Value = serde_json::from_str(&scenario_schema()).expect("a schema is JSON");
    let policies = schema["$defs"]["Policy"]["oneOf"].as_array().expect("a list of policies");
    policies.iter().map(|p| p["const"].as_str().expect("a name").to_owned()).collect()
}

/// All balances hold and no application reads what it has relinquished, whatever the placement.
#[test]
fn every_scenario_balances_under_every_placement() {
    let files = files();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        for policy in policies() {
            let sweeper = format!("placement.sweeper={}", policy == "ddio");
            let sets = [&format!("placement.policy={policy}"), sweeper.as_str()];
            let results = run(&file, &sets);
            let name = file.display();
            assert_eq!(results.reads_after_sweep, 0, "{name} {sets:?}");
            let moved = match &results.dma {
                Some(dma) => dma.transactions,
                // Memory benchmarks alone.
                None if results.queues.is_empty() => results.line_accesses,
                None => results.packets.completed,
            };
            assert!(moved > 0, "{name} {sets:?}: {:?}", results.packets);
        }
    }
}
