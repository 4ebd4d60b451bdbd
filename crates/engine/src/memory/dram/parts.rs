//! The DRAM devices on a module, as far as they affect timings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Capacity of one DRAM device, which sets how long a refresh takes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Density {
    /// 4 Gbit.
    #[serde(rename = "4Gb")]
    Gb4,
    /// 8 Gbit.
    #[default]
    #[serde(rename = "8Gb")]
    Gb8,
    /// 16 Gbit.
    #[serde(rename = "16Gb")]
    Gb16,
    /// 24 Gbit (DDR5).
    #[serde(rename = "24Gb")]
    Gb24,
    /// 32 Gbit (DDR5).
    #[serde(rename = "32Gb")]
    Gb32,
}

impl fmt::Display for Density {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Density::Gb4 => "4Gb",
            Density::Gb8 => "8Gb",
            Density::Gb16 => "16Gb",
            Density::Gb24 => "24Gb",
            Density::Gb32 => "32Gb",
        })
    }
}

/// Data pins of one DRAM device, which set its page size and thus how closely activates may follow each
/// other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceWidth {
    /// 4 pins.
    X4,
    /// 8 pins.
    #[default]
    X8,
    /// 16 pins.
    X16,
}
