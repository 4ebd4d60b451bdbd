//! The only place where errors of the Rust side become Python exceptions.

use nic2core_engine::host::BuildError;
use nic2core_engine::peak::PeakError;
use nic2core_scenario::{Origins, UserErrors};
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::problem::Problem;

create_exception!(
    nic2core,
    UserError,
    PyValueError,
    "The user's input cannot be run; the message says where, what was given, what is allowed."
);

create_exception!(
    nic2core,
    ModelError,
    PyRuntimeError,
    "The simulated server broke one of its own laws: a bug of nic2core."
);

/// The attribute of a `UserError` that has its problems as data.
const PROBLEMS: &str = "problems";

/// Errors that Python raises itself have no problems.
pub(crate) fn without_problems(py: Python<'_>) -> PyResult<()> {
    py.get_type::<UserError>().setattr(PROBLEMS, PyTuple::empty(py))
}

/// One paragraph for each thing to change, and the same as data.
pub(crate) fn user_error(errors: UserErrors) -> PyErr {
    let error = UserError::new_err(errors.to_string());
    Python::attach(|py| {
        let problems = PyTuple::new(py, errors.0.into_iter().map(Problem::from))?;
        // An attribute of the instance is pickled with it.
        error.value(py).setattr(PROBLEMS, problems)
    })
    .map_or_else(|failed| failed, |()| error)
}

/// A balance that does not hold.
pub(crate) fn model_error(balance: String) -> PyErr {
    ModelError::new_err(balance)
}

/// A value that turns out to be impossible only when the server is built.
pub(crate) fn build_error(error: BuildError, origins: &Origins) -> PyErr {
    let BuildError { key, given, allowed } = error;
    user_error(origins.refuse(&key, given, "cannot be simulated".into(), allowed).into())
}

/// A search without a peak.
pub(crate) fn peak_error(error: PeakError, origins: &Origins) -> PyErr {
    match error {
        PeakError::Build(error) => build_error(error, origins),
        PeakError::NoRate { key, given, allowed } => {
            let problem = "has no peak".into();
            user_error(origins.refuse(key, given, problem, allowed.into()).into())
        }
        PeakError::Unreachable { key, given, mpps, found, allowed } => {
            let problem =
                format!("cannot be met: at {mpps:.3} Mpps, the lowest rate tried, {found}");
            user_error(origins.refuse(key, given, problem, allowed.into()).into())
        }
        PeakError::TooShort { given, allowed } => {
            let problem = "is too short to tell a peak".into();
            user_error(origins.refuse("run.duration", given.to_string(), problem, allowed).into())
        }
        PeakError::Balance(balance) => model_error(balance),
        PeakError::Stopped => PyRuntimeError::new_err("the search was stopped without a reason"),
    }
}
