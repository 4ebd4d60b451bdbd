//! The configuration of a tenant's application.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kvs::config::KvsConfig;

/// The application of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum AppConfig {
    /// A MICA-style key-value store.
    Kvs(KvsConfig),
}

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

impl AppConfig {
    /// Everything wrong with the values.
    pub fn check(&self) -> Vec<Invalid> {
        match self {
            AppConfig::Kvs(config) => config.check(),
        }
    }
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
