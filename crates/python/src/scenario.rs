//! Scenarios as JSON text: loaded from files, and checked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nic2core_engine::config::{Scenario, without_effect as keys};
use nic2core_scenario::{Disk, Loaded, Origins};
use pyo3::prelude::*;

use crate::error::user_error;

/// Places by key, as Python passes them back.
pub(crate) type Places = BTreeMap<String, String>;

/// A checked scenario from Python.
pub(crate) fn parse(json: &str, origins: Option<Places>) -> PyResult<Loaded> {
    let origins = Origins::from_texts(origins.unwrap_or_default());
    nic2core_scenario::from_json(&Disk, json, &[], &origins).map_err(user_error)
}

fn to_json(scenario: &Scenario) -> String {
    serde_json::to_string(scenario).expect("a scenario is plain data")
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub(crate) fn scenario_schema() -> String {
    nic2core_scenario::schema::scenario_schema()
}

/// Loads a scenario file with its machine and overrides.
#[pyfunction]
#[pyo3(signature = (path, sets = Vec::new(), machine_dirs = Vec::new()))]
#[expect(clippy::needless_pass_by_value, reason = "Python arguments arrive as values")]
pub(crate) fn load_scenario(
    path: PathBuf,
    sets: Vec<String>,
    machine_dirs: Vec<PathBuf>,
) -> PyResult<(String, Places)> {
    let loaded = nic2core_scenario::load(&Disk, &path, &sets, &machine_dirs).map_err(user_error)?;
    Ok((to_json(&loaded.scenario), loaded.origins.texts()))
}

/// Checks a scenario and writes out its defaults.
#[pyfunction]
#[pyo3(signature = (json, origins = None))]
pub(crate) fn check_scenario(json: &str, origins: Option<Places>) -> PyResult<String> {
    Ok(to_json(&parse(json, origins)?.scenario))
}

/// Checks a scenario with overrides laid over it.
#[pyfunction]
#[pyo3(signature = (json, sets, origins = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python arguments arrive as values")]
pub(crate) fn change_scenario(
    json: &str,
    sets: Vec<String>,
    origins: Option<Places>,
) -> PyResult<(String, Places)> {
    let origins = Origins::from_texts(origins.unwrap_or_default());
    let changed = nic2core_scenario::from_json(&Disk, json, &sets, &origins).map_err(user_error)?;
    Ok((to_json(&changed.scenario), changed.origins.texts()))
}

/// The keys that have no effect in a checked scenario, and why.
#[pyfunction]
pub(crate) fn without_effect(json: &str) -> PyResult<BTreeMap<String, &'static str>> {
    let found = keys::without_effect(&parse(json, None)?.scenario);
    Ok(found.into_iter().map(|k| (k.key, k.because)).collect())
}
