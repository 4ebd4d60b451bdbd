//! One thing to change in the user's input, as Python sees it.

use nic2core_scenario::{Place, UserError};
use pyo3::prelude::*;

/// One of the problems of a `UserError`. Its place is text, so that a pickled one is as it was.
#[pyclass(frozen, eq, hash, module = "nic2core")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Problem(UserError);

impl From<UserError> for Problem {
    fn from(error: UserError) -> Problem {
        let place = Place::Program(error.place.to_string().into());
        Problem(UserError { place, ..error })
    }
}

/// The fields, in the order of the constructor.
type Fields = (String, Option<String>, String, String, String);

#[pymethods]
impl Problem {
    #[new]
    fn new(
        place: &str,
        key: Option<String>,
        given: String,
        problem: String,
        allowed: String,
    ) -> Problem {
        Problem(UserError { place: Place::Program(place.into()), key, given, problem, allowed })
    }

    /// Where it was given.
    #[getter]
    fn place(&self) -> String {
        self.0.place.to_string()
    }

    /// The dotted key.
    #[getter]
    fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// What was given.
    #[getter]
    fn given(&self) -> &str {
        &self.0.given
    }

    /// What is wrong with it.
    #[getter]
    fn problem(&self) -> &str {
        &self.0.problem
    }

    /// What is allowed instead.
    #[getter]
    fn allowed(&self) -> &str {
        &self.0.allowed
    }

    /// The paragraph without the place.
    #[getter]
    fn without_place(&self) -> String {
        self.0.without_place()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Problem{}", self.__getnewargs__().into_pyobject(py)?.repr()?))
    }

    /// Pickling makes a copy from these.
    fn __getnewargs__(&self) -> Fields {
        let UserError { key, given, problem, allowed, .. } = self.0.clone();
        (self.place(), key, given, problem, allowed)
    }
}
