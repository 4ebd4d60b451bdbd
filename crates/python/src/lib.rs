//! `nic2core._core`: the engine as a Python module.
//!
//! Thin on purpose: only JSON text and plain data cross the border; everything with a shape is
//! built on the Python side from the generated models. `python/nic2core/_core.pyi` describes it to
//! Python.

mod bursts;
mod error;
mod peak;
mod problem;
mod scenario;
mod simulation;

use pyo3::prelude::*;

/// In pages of 2 MiB, which `.cargo/config.toml` asks for: up to a quarter less time (docs/speed.md).
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The extension module.
#[pymodule]
mod _core {
    use nic2core_engine::peak::{
        BEHIND_PERCENT, CHANCE_DEVIATIONS, MIN_PACKETS, RESOLUTION_PERCENT, SETTLE_DIVISOR, WARMUPS,
    };
    use nic2core_engine::wire::WIRE_OVERHEAD_BYTES;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bursts::Bursts;
    #[pymodule_export]
    use crate::error::{ModelError, UserError};
    #[pymodule_export]
    use crate::peak::find_peak;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::scenario::{
        change_scenario, check_scenario, load_scenario, scenario_schema, without_effect,
    };
    #[pymodule_export]
    use crate::simulation::{Simulation, results_schema};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::without_problems(module.py())?;
        module.add("PEAK_BEHIND_PERCENT", BEHIND_PERCENT)?;
        module.add("PEAK_CHANCE_DEVIATIONS", CHANCE_DEVIATIONS)?;
        module.add("PEAK_MIN_PACKETS", MIN_PACKETS)?;
        module.add("PEAK_RESOLUTION_PERCENT", RESOLUTION_PERCENT)?;
        module.add("PEAK_SETTLE_DIVISOR", SETTLE_DIVISOR)?;
        module.add("PEAK_WARMUPS", WARMUPS)?;
        module.add("WIRE_OVERHEAD_BYTES", WIRE_OVERHEAD_BYTES)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
