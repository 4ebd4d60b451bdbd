//! A simulated server that Python runs step by step.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use nic2core_engine::config::scenario::Run;
use nic2core_engine::host::Host;
use nic2core_engine::stats::results;
use nic2core_engine::stats::timeline::TimelineConfig;
use nic2core_engine::time::Ps;
use nic2core_scenario::{Disk, Loaded, read_capture};
use pyo3::prelude::*;

use crate::error::{build_error, model_error, user_error};
use crate::scenario::{Places, parse};

/// Wall time between two checks for Ctrl-C: people do not notice a tenth of a second.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// The JSON Schema of what a peak search and a run return.
#[pyfunction]
pub(crate) fn results_schema() -> String {
    serde_json::to_string(&results::schema()).expect("a schema is plain JSON")
}

/// One simulated server.
#[pyclass(module = "nic2core._core")]
pub(crate) struct Simulation {
    host: Host,
    run: Run,
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (json, origins = None))]
    fn new(py: Python<'_>, json: &str, origins: Option<Places>) -> PyResult<Simulation> {
        let Loaded { scenario, origins } = parse(json, origins)?;
        py.detach(|| {
            let capture = read_capture(&Disk, &scenario, &origins).map_err(user_error)?;
            let host = Host::new(&scenario, capture).map_err(|e| build_error(e, &origins))?;
            Ok(Simulation { host, run: scenario.run })
        })
    }

    /// The simulated time.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.host.now().0
    }

    /// When the scenario's warm-up ends.
    #[getter]
    fn warmup_ps(&self) -> u64 {
        self.run.warmup.0
    }

    /// When the scenario's measured time ends.
    #[getter]
    fn end_ps(&self) -> u64 {
        self.run.warmup.0 + self.run.duration.0
    }

    /// Runs until this simulated time.
    fn advance(&mut self, py: Python<'_>, until_ps: u64) -> PyResult<()> {
        run_until(py, &mut self.host, Ps(until_ps))
    }

    /// Discards what was counted so far.
    fn begin_measuring(&mut self) {
        self.host.begin_measuring();
    }

    /// Records the paths of packets from now on.
    fn record_timeline(&mut self, every: NonZeroU32, packets: u32, interval_ns: NonZeroU32) {
        self.host.record_timeline(TimelineConfig {
            every: every.get(),
            packets,
            interval_ps: u64::from(interval_ns.get()) * 1_000,
        });
    }

    /// What was recorded.
    fn timeline(&self, py: Python<'_>) -> Option<String> {
        let timeline = py.detach(|| self.host.timeline())?;
        Some(serde_json::to_string(&timeline).expect("a timeline is plain data"))
    }

    /// What was measured.
    fn results(&self, py: Python<'_>) -> PyResult<String> {
        let results = py.detach(|| self.host.results()).map_err(model_error)?;
        Ok(serde_json::to_string(&results).expect("results are plain data"))
    }
}

/// Runs in steps, releasing the interpreter's lock in each and checking for signals between them.
/// Where a step ends changes nothing in the simulated server, so wall time may decide it.
fn run_until(py: Python<'_>, host: &mut Host, until: Ps) -> PyResult<()> {
    let mut step = Ps::from_us(1);
    while host.now() < until {
        let to = until.min(host.now() + step);
        let took = py.detach(|| {
            let start = Instant::now();
            host.run_until(to);
            start.elapsed()
        });
        py.check_signals()?;
        if took < LOOK / 2 {
            step = Ps(step.0.saturating_mul(2)).min(until);
        } else if took > LOOK {
            step = Ps((step.0 / 2).max(1));
        }
    }
    Ok(())
}
