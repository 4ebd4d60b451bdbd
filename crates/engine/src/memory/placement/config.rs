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
    /// Number of LLC ways in which `ddio`, `ddio-headers` and `ddio-l2` may allocate, and in which `ideal-ddio` may allocate data
    /// other than packets; they are the lowest-numbered ways. No effect with `dma`.
    #[serde(default = "Placement::default_io_ways")]
    pub io_ways: u32,
    /// With `ddio-l2`: a packet goes up to the core's L2 while fewer packets than this wait for the core in its queue.
    /// Only `ddio-l2` reads it.
    #[serde(default = "Placement::default_l2_packets")]
    pub l2_packets: u32,
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

    /// Two bursts of the 32 packets that DPDK's examples take at a time: one that the core works on, one that waits.
    const fn default_l2_packets() -> u32 {
        64
    }
}

/// A placement policy for DMA writes of the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// To memory; cached copies are invalidated.
    Dma,
    /// To the LLC: updated in place if the LLC holds the line in any way, otherwise allocated in the
    /// I/O ways.
    Ddio,
    /// The first line of each packet (its headers), descriptors and completions as `ddio`; the other lines of
    /// packets as `dma`.
    DdioHeaders,
    /// As `ddio`; lines of packets also go up into the L2 of the core that will read them, unless `l2_packets` packets
    /// wait for it.
    DdioL2,
    /// To a separate, infinite cache: received packets never take part in the LLC or in memory traffic
    /// (Sweeper paper, section III).
    IdealDdio,
}

impl Placement {
    /// Reports values that cannot be simulated with an LLC of `llc_ways` ways.
    pub(crate) fn check(&self, llc_ways: u32, check: &mut Check) {
        let what = ", the ways of the LLC (machine.llc.ways)";
        check.within_what("io_ways", self.io_ways, 1..=llc_ways.max(1), what);
        check.at_least_one("l2_packets", self.l2_packets);
    }
}
