//! Configuration of the PCIe link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::units::{Duration, Size};

/// The PCIe link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pcie {
    /// Generation, 3 to 5.
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
    /// Largest payload of one TLP.
    #[schemars(example = "256 B")]
    pub max_payload: Size,
    /// Largest read request of one TLP.
    #[schemars(example = "512 B")]
    pub max_read_request: Size,
    /// One-way latency of link, root port and I/O controller.
    pub latency: Duration,
    /// Time from when a written line becomes visible until the device can use its credit again.
    pub credit_return: Duration,
    /// Posted-header credits of the root port: write TLPs that it has not passed on to the LLC yet. Lines that
    /// then wait for room in a write queue hold `nic.write_credits` only.
    pub posted_credits: u32,
    /// Read requests that can wait for their data: the non-posted credits or the NIC's tags,
    /// whichever is fewer. At least as many as the largest fetch of descriptors takes, and two if
    /// the NIC reads transmit descriptors with their packets.
    pub non_posted_credits: u32,
    /// Whether the device allows its writes of packet data to pass its earlier writes that are
    /// waiting for translation (the Relaxed Ordering attribute). Completions pass nothing.
    #[serde(default)]
    pub relaxed_ordering: bool,
    /// Acknowledgements and flow-control updates, of 8 bytes each, in both directions for as many bytes
    /// of TLPs as a write of the largest payload has.
    #[serde(default = "Pcie::one_of_each")]
    pub dllps: u32,
}

/// Longest latency allowed: a thousand times that of real links.
const LONGEST: Duration = Duration(1_000_000_000);

impl Pcie {
    // As calibrated in machines/broadwell-nfp.toml.
    const fn one_of_each() -> u32 {
        2
    }

    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        // Sizes of the Device Control register (PCI Express Base Specification 5.0, section 7.5.3.4).
        let sizes = [128, 256, 512, 1024, 2048, 4096].map(Size);
        check.within("generation", self.generation, 3..=5);
        check.one_of("lanes", self.lanes, &[1, 2, 4, 8, 16]);
        check.one_of("max_payload", self.max_payload, &sizes);
        check.one_of("max_read_request", self.max_read_request, &sizes);
        check.within("latency", self.latency, Duration(0)..=LONGEST);
        check.within("credit_return", self.credit_return, Duration(0)..=LONGEST);
        check.at_least_one("posted_credits", self.posted_credits);
        check.at_least_one("non_posted_credits", self.non_posted_credits);
        check.within("dllps", self.dllps, 0..=64);
    }
}
