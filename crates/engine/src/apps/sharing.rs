//! Data structures that the cores of a tenant share or have each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the cores of a tenant share a data structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// One for all cores.
    Shared,
    /// One for each core, all alike.
    PerCore,
}

impl Sharing {
    /// How many of them `cores` cores have.
    pub(crate) fn copies(self, cores: u32) -> u32 {
        match self {
            Sharing::Shared => 1,
            Sharing::PerCore => cores,
        }
    }
}

/// The one that a core uses of what [`Sharing::copies`] counted.
#[inline]
pub(crate) fn of_core(copies: usize, core: u32) -> usize {
    if copies == 1 { 0 } else { core as usize }
}
