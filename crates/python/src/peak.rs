//! The search for the highest rate that keeps the objective, watched from Python.

use std::time::Instant;

use nic2core_engine::peak::{self, RESOLUTION_PERCENT, Watched};
use nic2core_engine::stats::results::Probe;
use nic2core_scenario::Loaded;
use pyo3::prelude::*;

use crate::error::peak_error;
use crate::scenario::{Places, parse};
use crate::simulation::{LOOK, load_capture};

/// Finds the highest rate that keeps the scenario's objective.
#[pyfunction]
#[pyo3(signature = (json, capture = None, progress = None, origins = None))]
pub(crate) fn find_peak(
    py: Python<'_>,
    json: &str,
    capture: Option<Vec<u8>>,
    progress: Option<Py<PyAny>>,
    origins: Option<Places>,
) -> PyResult<String> {
    let Loaded { scenario, origins } = parse(json, origins)?;
    py.detach(|| {
        let capture = load_capture(capture, &scenario, &origins)?;
        let mut stopped: Option<PyErr> = None;
        let mut done = Done::default();
        let mut looked = Instant::now();
        let mut watch = |watched: Watched<'_>| {
            match watched {
                Watched::Tick if looked.elapsed() < LOOK => return true,
                Watched::Tick => {}
                Watched::Probe(probe) => done.tried(probe),
            }
            looked = Instant::now();
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |f| f.call1(py, (done.share(),)).map(drop))
            });
            stopped = told.err();
            stopped.is_none()
        };
        let found = peak::find_peak(&scenario, capture, &mut watch);
        match (found, stopped) {
            (_, Some(reason)) => Err(reason),
            (Err(error), None) => Err(peak_error(error, &origins)),
            (Ok(peak), None) => Ok(serde_json::to_string(&peak).expect("a peak is plain data")),
        }
    })
}

/// How far a search is.
#[derive(Default)]
struct Done {
    probes: u32,
    /// The highest rate that held and the lowest that failed, Mpps.
    holds: Option<f64>,
    fails: Option<f64>,
}

impl Done {
    fn tried(&mut self, probe: &Probe) {
        self.probes += 1;
        let side = if probe.holds { &mut self.holds } else { &mut self.fails };
        *side = Some(probe.offered_mpps);
    }

    /// The share of the search that is done: the probes so far of those that will probably do.
    fn share(&self) -> f64 {
        // A bracket of a quarter is halved four times; finding it takes about as many probes.
        const UNTIL_BRACKET: u32 = 4;
        let remaining = match (self.holds, self.fails) {
            (Some(holds), Some(fails)) => {
                let width = (fails / holds - 1.0) * 100.0 / RESOLUTION_PERCENT as f64;
                width.max(1.0).log2().ceil()
            }
            _ => f64::from(2 * UNTIL_BRACKET - self.probes.min(UNTIL_BRACKET)),
        };
        f64::from(self.probes) / (f64::from(self.probes) + remaining.max(0.0)).max(1.0)
    }
}
