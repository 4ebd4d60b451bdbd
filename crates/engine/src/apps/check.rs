//! What is wrong with the configuration of an application.

use std::fmt::Display;

/// A value that cannot be simulated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// The key, relative to the application.
    pub key: &'static str,
    /// The value given.
    pub value: String,
    /// What is allowed.
    pub allowed: &'static str,
}

/// Collects what is wrong.
#[derive(Default)]
pub(crate) struct Check {
    pub(crate) invalid: Vec<Invalid>,
}

impl Check {
    /// Notes `key` unless `holds`.
    pub(crate) fn that(
        &mut self,
        holds: bool,
        key: &'static str,
        value: impl Display,
        allowed: &'static str,
    ) {
        if !holds {
            self.invalid.push(Invalid { key, value: value.to_string(), allowed });
        }
    }
}
