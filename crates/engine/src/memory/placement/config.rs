//! Where the data of received packets goes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;

/// Where the data of received packets goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// The policy.
    pub policy: Policy,
    /// LLC ways in which `ddio` may allocate, and `ideal-ddio` what is no packet: the lowest so many.
    /// Without effect with `dma`.
    #[serde(default = "Placement::default_io_ways")]
    pub io_ways: u32,
    /// Whether consumed buffers are swept (the `clsweep` instruction and the `SweepBuffer` flag of
    /// transmit work-queue entries).
    #[serde(default)]
    pub sweeper: bool,
}

impl Placement {
    /// DDIO's default of two ways (Sweeper paper, section II-A).
    const fn default_io_ways() -> u32 {
        2
    }
}

/// A placement policy for DMA writes of the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// To memory; cached copies are invalidated.
    Dma,
    /// To the LLC: updated in place if it holds the line in any way, else allocated in the I/O ways.
    Ddio,
    /// To an infinite cache of its own: no received packet ever takes part in the LLC or in memory
    /// traffic (Sweeper paper, section III).
    IdealDdio,
}

impl Placement {
    /// Notes which values cannot be simulated with an LLC of so many ways.
    pub(crate) fn check(&self, llc_ways: u32, check: &mut Check) {
        let what = ", the ways of the LLC (machine.llc.ways)";
        check.within_what("io_ways", self.io_ways, 1..=llc_ways.max(1), what);
    }
}
