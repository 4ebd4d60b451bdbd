//! Whole runs of scenarios that nobody would write: keys of a small machine, its software and its traffic set at
//! random, many to the ends of what is allowed. Nothing may panic, every balance must hold, and where a run is cut into
//! steps must make no difference.

use std::path::Path;

use nic2core_engine::config::Scenario;
use nic2core_engine::host::Host;
use nic2core_engine::time::Ps;
use nic2core_scenario::load;

use crate::Given;

const MACHINE: &str = include_str!("../runs/machine.toml");
const SCENARIOS: [&str; 3] = [
    include_str!("../runs/open.toml"),
    include_str!("../runs/closed.toml"),
    include_str!("../runs/device.toml"),
];
/// One `KEY=VALUE` a line, as for `--set`.
const KEYS: &str = include_str!("../runs/keys.txt");

/// Tables that a machine need not have: without a link to it, the NIC is on the chip.
const OPTIONAL: [&str; 3] = ["pcie", "iommu", "numa"];

/// Each key is loaded by itself, so more of them take longer.
const MOST_KEYS: usize = 24;

/// Runs the scenario that `input` chooses: its first byte is one of [`SCENARIOS`], of the second each bit leaves a table
/// of [`OPTIONAL`] out, the third is where a second run is cut, and every further two bytes choose a line of [`KEYS`].
pub fn run(input: &[u8]) {
    let [scenario, tables, cut, keys @ ..] = input else { return };
    let scenario = SCENARIOS[usize::from(*scenario) % SCENARIOS.len()];
    let machine = leave_out(MACHINE, *tables);
    let files = Given { scenario: scenario.as_bytes(), machine: machine.as_bytes() };
    let Some(scenario) = accepted(&files, keys) else { return };
    let Ok(mut whole) = Host::new(&scenario, None) else { return };

    let warm = scenario.run.warmup.ps();
    let end = Ps(warm.0 + scenario.run.duration.0);
    whole.run_until(warm);
    whole.begin_measuring();
    let mut cut_up = whole.clone();
    whole.run_until(end);

    cut_up.run_until(Ps(warm.0 + scenario.run.duration.0 / 256 * u64::from(*cut)));
    // A copy goes on as the original would.
    let mut cut_up = cut_up.clone();
    cut_up.run_until(end);

    let [whole, cut_up] = [whole, cut_up].map(|host| {
        let results = host.results().expect("every balance holds");
        serde_json::to_string(&results).expect("results are plain data")
    });
    assert_eq!(whole, cut_up, "a run and the same cut in two");
}

/// The machine without those of the optional tables whose bit is set.
fn leave_out(machine: &str, bits: u8) -> String {
    let absent = |heading: &str| {
        let table = OPTIONAL.iter().position(|table| heading == format!("[{table}]"));
        table.is_some_and(|bit| bits >> bit & 1 == 1)
    };
    let mut kept = true;
    let keep = machine.lines().filter(|line| {
        if line.starts_with('[') {
            kept = !absent(line);
        }
        kept
    });
    keep.collect::<Vec<_>>().join("\n")
}

/// The scenario with those of the chosen keys set that are allowed beside the ones chosen before; none if it is not
/// allowed without any (a device's benchmark without PCIe).
fn accepted(files: &Given<'_>, chosen: &[u8]) -> Option<Scenario> {
    let all: Vec<&str> = KEYS.lines().collect();
    let path = Path::new("scenario.toml");
    let mut sets = Vec::new();
    let mut accepted = load(files, path, &sets, &[]).ok()?;
    for pair in chosen.chunks_exact(2).take(MOST_KEYS) {
        let number = usize::from(u16::from_le_bytes([pair[0], pair[1]]));
        sets.push(all[number % all.len()].into());
        match load(files, path, &sets, &[]) {
            Ok(loaded) => accepted = loaded,
            Err(_) => drop(sets.pop()),
        }
    }
    Some(accepted.scenario)
}
