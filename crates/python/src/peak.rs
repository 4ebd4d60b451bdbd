//! The search for the highest rate that meets the objective, watched from Python.

use std::time::Instant;

use nic2core_engine::peak::{self, RESOLUTION_PERCENT, Watched};
use nic2core_engine::stats::results::Probe;
use nic2core_scenario::{Disk, Loaded, read_capture};
use pyo3::prelude::*;

use crate::error::{peak_error, user_error};
use crate::scenario::{Places, parse};
use crate::simulation::LOOK;

/// Finds the highest rate that meets the scenario's objective.
#[pyfunction]
#[pyo3(signature = (json, progress = None, origins = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python arguments arrive as values")]
pub(crate) fn find_peak(
    py: Python<'_>,
    json: &str,
    progress: Option<Py<PyAny>>,
    origins: Option<Places>,
) -> PyResult<String> {
    let Loaded { scenario, origins } = parse(json, origins)?;
    py.detach(|| {
        let capture = read_capture(&Disk, &scenario, &origins).map_err(user_error)?;
        let mut stopped: Option<PyErr> = None;
        let mut done = Done::default();
        let mut looked = Instant::now();
        let mut watch = |watched: Watched<'_>| {
            match watched {
                Watched::Tick if looked.elapsed() < LOOK => return true,
                Watched::Tick => {}
                Watched::Probe(probe) => done.tried(probe),
                Watched::Anew => done = Done::default(),
            }
            looked = Instant::now();
            stopped = Python::attach(|py| {
                py.check_signals()?;
                tell(py, progress.as_ref(), done.share)
            })
            .err();
            stopped.is_none()
        };
        let found = peak::find_peak(&scenario, capture, &mut watch);
        match (found, stopped) {
            (_, Some(reason)) => Err(Python::attach(|py| done.noted(py, reason))),
            (Err(error), None) => Err(peak_error(error, &origins)),
            (Ok(peak), None) => {
                Python::attach(|py| tell(py, progress.as_ref(), 1.0))?;
                Ok(serde_json::to_string(&peak).expect("a peak is plain data"))
            }
        }
    })
}

fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(py, (share,)).map(drop))
}

/// The progress of a search.
#[derive(Default)]
struct Done {
    probes: u32,
    share: f64,
    /// The highest rate that held and the lowest that failed, Mpps.
    holds: Option<f64>,
    fails: Option<f64>,
}

impl Done {
    /// The exception that ends the search, with a note of what was found until then.
    fn noted(&self, py: Python<'_>, reason: PyErr) -> PyErr {
        let found = match (self.holds, self.fails) {
            (Some(holds), Some(fails)) => {
                format!("so far {holds:.3} Mpps holds and {fails:.3} Mpps does not.")
            }
            (Some(holds), None) => format!("so far {holds:.3} Mpps holds."),
            (None, Some(fails)) => format!("so far {fails:.3} Mpps does not hold."),
            (None, None) => return reason,
        };
        // Without the note the reason is as good.
        let _ = reason.value(py).call_method1("add_note", (found,));
        reason
    }

    /// Counts a probe; progress is the probes so far as a share of those that the search will
    /// probably take.
    fn tried(&mut self, probe: &Probe) {
        // Finding a bracket of a quarter takes about four probes, and bisecting it five more.
        const UNTIL_BRACKET: u32 = 4;
        const HALVINGS: u32 = 5;
        self.probes += 1;
        let side = if probe.holds { &mut self.holds } else { &mut self.fails };
        *side = Some(probe.offered_mpps);
        let remaining = match (self.holds, self.fails) {
            (Some(holds), Some(fails)) => {
                let width = (fails / holds - 1.0) * 100.0 / RESOLUTION_PERCENT as f64;
                width.max(2.0).log2().ceil()
            }
            _ => f64::from(HALVINGS + UNTIL_BRACKET - self.probes.min(UNTIL_BRACKET)),
        };
        // Arrivals are random, so the bracket of offered rates may grow a little; progress never goes back.
        let share = f64::from(self.probes) / (f64::from(self.probes) + remaining);
        self.share = self.share.max(share);
    }
}
