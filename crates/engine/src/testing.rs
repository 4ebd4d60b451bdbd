//! A small machine and runs on it, for the tests of several modules.

use proptest::test_runner::Config as ProptestConfig;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::config::Scenario;
use crate::config::machine::Machine;
use crate::host::Host;
use crate::memory::dram::Dram;
use crate::memory::placement::registry::{Placement, Policy};
use crate::memory::system::Memory;
use crate::stats::results::Results;
use crate::time::Ps;

/// All values of an enum that a user can choose, as its schema lists them: names, which the schema
/// lists one by one if they have a description and together if not; or tables by their `kind`, with
/// defaults for the other keys.
pub(crate) fn every<T: JsonSchema + DeserializeOwned>() -> Vec<T> {
    let schema = schema_for!(T).to_value();
    let forms = schema["oneOf"].as_array().map_or(std::slice::from_ref(&schema), Vec::as_slice);
    let values = forms.iter().flat_map(|form| match (&form["enum"], &form["properties"]["kind"]) {
        (Value::Array(several), _) => several.clone(),
        (_, Value::Object(kind)) => vec![json!({ "kind": kind["const"] })],
        _ => vec![form["const"].clone()],
    });
    values.map(|v| serde_json::from_value(v).expect("a value that the schema lists")).collect()
}

/// This many cases of a property test; what fails is then made as small as half a minute allows. (By
/// default it takes four steps a case and no more, after which an input of thousands of lines still has
/// thousands.)
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_shrink_iters: 100_000,
        max_shrink_time: 30_000,
        ..ProptestConfig::default()
    }
}

/// A placement by this policy, the rest of its keys as by default.
pub(crate) fn placement(policy: Policy) -> Placement {
    serde_json::from_value(json!({ "policy": policy })).expect("no other key is needed")
}

/// The memory of a machine: DDIO into two ways, all ways for each core.
pub(crate) fn memory(machine: &Machine) -> Memory {
    let dram = Dram::new(&machine.dram).expect("the DRAM of the tests is one");
    let ways = vec![u32::MAX; machine.core.count as usize];
    let ddio = placement(Policy::Ddio);
    Memory::new(&machine.hierarchy(), &ddio, dram, ways, 0b11, 1)
}

/// A machine of two cores, small enough that everything overflows; not a real one.
pub(crate) fn machine_json() -> Value {
    json!({
        "description": "two cores for tests",
        "core": {
            "count": 2, "frequency": "2 GHz", "dispatch_width": 4, "reorder_window": 224,
            "l1_miss_registers": 10, "store_buffer": 56
        },
        "l1d": { "size": "4 KiB", "ways": 4, "latency_cycles": 4 },
        "l2": { "size": "16 KiB", "ways": 4, "latency_cycles": 14 },
        "llc": {
            "size": "96 KiB", "ways": 12, "latency_cycles": 30, "inclusion": "non-inclusive",
            "home_trackers": 64
        },
        "noc": { "latency_cycles": 8 },
        "dram": {
            "standard": "DDR4-3200AA", "channels": 1, "ranks": 1, "bank_groups": 4,
            "banks_per_group": 4, "rows": 65536, "columns": 1024
        },
        "nic": {
            "sram": "64 KiB", "write_credits": 92, "read_credits": 92, "descriptor_batch": 4,
            "descriptor_size": "16 B", "completion_size": "16 B"
        }
    })
}

/// The machine of [`machine_json`].
pub(crate) fn machine() -> Machine {
    serde_json::from_value(machine_json()).expect("the machine of the tests is one")
}

/// A PCIe link for it.
pub(crate) fn pcie_json() -> Value {
    json!({
        "generation": 3, "lanes": 16, "max_payload": "256 B", "max_read_request": "512 B",
        "latency": "200 ns", "credit_return": "100 ns", "posted_credits": 16, "non_posted_credits": 8
    })
}

/// An IOMMU with `entries` IOTLB entries, all in one set, and pages of 4 KiB for everything.
pub(crate) fn iommu_json(entries: u32) -> Value {
    json!({
        "iotlb": { "entries": entries, "ways": entries },
        "paging_structures": { "pml4": 4, "pdpt": 4, "pd": 4 },
        "posted_queue": 16, "non_posted_queue": 16, "walkers": 8, "step_latency": "20 ns",
        "pages": {
            "payload": "4 KiB", "descriptors": "4 KiB", "completions": "4 KiB",
            "acknowledgements": "4 KiB"
        }
    })
}

/// Reads of 2 KiB from five machines in packets of 512 bytes, under Swift.
pub(crate) fn closed_loop_json() -> Value {
    json!({
        "kind": "closed-loop", "senders": 5, "read": "2 KiB", "open_reads": 8,
        "payload": "512 B", "headers": "64 B", "acknowledgement": "64 B",
        "network": {
            "delay": "2 us", "sender_link": "100 Gbps", "buffer": "256 KiB",
            "ecn_threshold": "32 KiB"
        },
        "recovery": { "min_timeout": "200 us" },
        "control": { "kind": "swift", "endpoint_target": "20 us", "max_cwnd": 32.0 }
    })
}

/// Zero-copy forwarding of 1 KB packets on both cores, with the given keys set.
pub(crate) fn forwarder(set: &[(&str, Value)]) -> Scenario {
    let mut scenario = json!({
        "machine": machine_json(),
        "traffic": {
            "kind": "poisson", "rate": "4 Mpps", "flows": 64,
            "sizes": { "kind": "fixed", "size": "1024 B" }
        },
        "placement": { "policy": "ddio", "io_ways": 2 },
        "queues": {
            "rx_descriptors": 64, "tx_descriptors": 64, "buffer_size": "1 KiB", "metadata": "128 B",
            "pool_buffers": 128, "burst": 4, "rx_instructions": 50, "tx_instructions": 50
        },
        "tenants": [{
            "name": "forwarder", "cores": { "first": 0, "count": 2 },
            "app": { "kind": "l3fwd", "rules": 64, "transmit": "zero-copy" }
        }],
        "run": { "warmup": "100 us", "duration": "200 us", "sample": "50 us" }
    });
    apply(&mut scenario, set);
    serde_json::from_value(scenario).expect("the scenario of the tests is one")
}

/// X-Mem on one core, with the given keys set.
pub(crate) fn xmem(pattern: &str, region: &str, set: &[(&str, Value)]) -> Scenario {
    let cores = json!({ "first": 0, "count": 1 });
    let app = json!({ "kind": "xmem", "pattern": pattern, "region": region });
    let mut all = vec![
        ("/traffic", Value::Null),
        ("/tenants", json!([{ "name": "x", "cores": cores, "app": app }])),
    ];
    all.extend_from_slice(set);
    forwarder(&all)
}

fn apply(scenario: &mut Value, set: &[(&str, Value)]) {
    for (pointer, value) in set {
        match scenario.pointer_mut(pointer) {
            Some(old) => *old = value.clone(),
            None => {
                let (parent, key) = pointer.rsplit_once('/').expect("a JSON pointer");
                scenario.pointer_mut(parent).expect("the key has a parent")[key] = value.clone();
            }
        }
    }
}

/// The host of a scenario after its warm-up and its measured time.
pub(crate) fn run(scenario: &Scenario) -> Host {
    let mut host = Host::new(scenario, None).expect("the scenario can be simulated");
    measure(&mut host, scenario, &[]);
    host
}

/// Warms a host up and measures, stopping on the way at the given times.
pub(crate) fn measure(host: &mut Host, scenario: &Scenario, stops: &[Ps]) {
    let warm = scenario.run.warmup.ps();
    let end = warm + scenario.run.duration.ps();
    for &stop in stops.iter().filter(|&&s| s < warm) {
        host.run_until(stop);
    }
    host.run_until(warm);
    host.begin_measuring();
    for &stop in stops.iter().filter(|&&s| s >= warm && s < end) {
        host.run_until(stop);
    }
    host.run_until(end);
}

/// The results of a scenario.
pub(crate) fn results(scenario: &Scenario) -> Results {
    run(scenario).results().unwrap_or_else(|e| panic!("{e}"))
}

/// Lines that a cause moved.
pub(crate) fn lines(results: &Results, cause: &str) -> u64 {
    results.memory.causes.iter().filter(|c| c.cause == cause).map(|c| c.lines).sum()
}
