//! The one place where errors of the Rust side become Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;

create_exception!(
    nic2core,
    UserError,
    PyValueError,
    "The user's input cannot be run; the message says where, what was given, what is allowed."
);
