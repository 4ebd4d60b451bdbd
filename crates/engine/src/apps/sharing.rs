//! Data structures that the cores of a tenant share, or of which each core has its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a key of this kind has no effect.
pub(crate) const ONE_CORE: &str = "the tenant has one core";

/// Whether the cores of a tenant share a data structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// One for all cores.
    Shared,
    /// One for each core, with equal contents.
    PerCore,
}

impl Sharing {
    /// How many copies `cores` cores have.
    pub(crate) fn copies(self, cores: u32) -> u32 {
        match self {
            Sharing::Shared => 1,
            Sharing::PerCore => cores,
        }
    }
}

/// The index of the copy that the core of this rank uses, of the number that [`Sharing::copies`]
/// returned.
#[inline]
pub(crate) fn of_core(copies: usize, rank: u32) -> usize {
    if copies == 1 { 0 } else { rank as usize }
}
