//! The one place where errors of the Rust side become Python exceptions.

use nic2core_scenario::UserErrors;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};

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

/// One paragraph for each thing to change.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
pub(crate) fn user_error(errors: UserErrors) -> PyErr {
    UserError::new_err(errors.to_string())
}

/// A balance that does not hold.
pub(crate) fn model_error(balance: String) -> PyErr {
    ModelError::new_err(balance)
}
