//! The packets of a run in front of a server of given rates, for `explain`.

use nic2core_engine::fluid::{self, Passed, Server};
use nic2core_engine::units::Rate;
use nic2core_scenario::{Disk, Loaded, read_capture};
use pyo3::prelude::*;

use crate::error::{build_error, user_error};
use crate::scenario::parse;

/// The fields of a [`Server`], in their order.
type Rates = (f64, f64, f64, f64, f64, u32, f64);

/// The packets of a run whose traffic has times of its own.
#[pyclass(frozen, module = "nic2core._core")]
pub(crate) struct Bursts(fluid::Bursts);

#[pymethods]
impl Bursts {
    /// The packets of a scenario; `None` if they do not come at times of their own.
    #[staticmethod]
    fn of(py: Python<'_>, json: &str) -> PyResult<Option<Bursts>> {
        let Loaded { scenario, origins } = parse(json, None)?;
        py.detach(|| {
            let capture = read_capture(&Disk, &scenario, &origins).map_err(user_error)?;
            let bursts =
                fluid::Bursts::new(&scenario, capture).map_err(|e| build_error(e, &origins))?;
            Ok(bursts.map(Bursts))
        })
    }

    /// The packets at another mean rate.
    fn at(&self, py: Python<'_>, mean_mpps: f64) -> Bursts {
        let mean = Rate((mean_mpps * 1e6).round().max(1.0) as u64);
        py.detach(|| Bursts(self.0.at(mean)))
    }

    /// What becomes of them in front of a server.
    fn in_front_of(&self, py: Python<'_>, server: Rates) -> (u64, f64, f64, f64, f64) {
        let (leaves_sram, sram, serves, serves_ring, ring, post_batch, posting_us) = server;
        let server =
            Server { leaves_sram, sram, serves, serves_ring, ring, post_batch, posting_us };
        let Passed { came, lost_in_sram, lost_in_rings, most_in_sram, most_in_ring } =
            py.detach(|| self.0.pass(&server));
        (came, lost_in_sram, lost_in_rings, most_in_sram, most_in_ring)
    }
}
