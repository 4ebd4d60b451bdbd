//! The machine: what a testbed file in `machines/` describes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::core::config::Core;
use crate::iommu::config::IommuConfig;
use crate::memory::config::{Hierarchy, L1d, L2, Llc, Noc, Numa, Uncore};
use crate::memory::dram::DramConfig;
use crate::memory::line::{LINE_BYTES, lines_in};
use crate::nic::config::Nic;
use crate::pcie::config::Pcie;
use crate::units::{Frequency, Size};

/// Lines that an on-chip NIC sends at a time: 256 bytes, the usual maximum payload of a TLP.
const ON_CHIP_BURST: u32 = 4;

/// A server: cores, caches, memory and NIC. Every value in a machine file states its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// A description of the machine, for people.
    pub description: String,
    /// The cores.
    pub core: Core,
    /// The private first-level data cache of each core.
    pub l1d: L1d,
    /// The private second-level cache of each core; it includes the L1d.
    pub l2: L2,
    /// The shared last-level cache.
    pub llc: Llc,
    /// The on-chip network between L2s, LLC and I/O.
    pub noc: Noc,
    /// The clock of LLC and network; absent where they have that of the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncore: Option<Uncore>,
    /// The memory channels.
    pub dram: DramConfig,
    /// A second socket with memory channels like these, behind a link; absent for a single socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// The NIC.
    pub nic: Nic,
    /// The link between NIC and processor; absent for an on-chip NIC.
    #[serde(default)]
    pub pcie: Option<Pcie>,
    /// The IOMMU; absent when it is off and devices use physical addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuConfig>,
}

impl Machine {
    /// What the memory system is built from.
    pub(crate) fn hierarchy(&self) -> Hierarchy<'_> {
        Hierarchy {
            cores: self.core.count,
            frequency: self.core.frequency,
            uncore: self.uncore_frequency(),
            l1_miss_registers: self.core.l1_miss_registers,
            l1d: &self.l1d,
            l2: &self.l2,
            llc: &self.llc,
            noc: &self.noc,
            numa: self.numa.as_ref(),
        }
    }

    /// The clock of LLC and network.
    pub(crate) fn uncore_frequency(&self) -> Frequency {
        self.uncore.as_ref().map_or(self.core.frequency, |uncore| uncore.frequency)
    }

    /// Maximum number of lines that the NIC writes at a time.
    pub(crate) fn burst_lines(&self) -> u32 {
        self.pcie.as_ref().map_or(ON_CHIP_BURST, |pcie| lines_in(pcie.max_payload.0))
    }

    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        check.below("core", |check| self.core.check(check));
        if let Some(uncore) = &self.uncore {
            check.below("uncore", |check| uncore.check(check));
        }
        self.hierarchy().check(check);
        check.below("dram", |check| {
            self.dram.check(check);
            self.dram.check_devices(check);
        });
        check.below("nic", |check| self.nic.check(check));
        if self.pcie.as_ref().is_none_or(|pcie| check.below("pcie", |check| pcie.check(check))) {
            self.check_burst(check);
        }
        if let Some(iommu) = &self.iommu {
            check.below("iommu", |check| iommu.check(check));
        }
    }

    /// Checks that the longest write can get its credits, which it takes all at once. PCIe requires
    /// the same of what a port grants (PCI Express Base Specification 5.0, section 2.6.1: initial
    /// credits for at least one TLP of the largest payload).
    fn check_burst(&self, check: &mut Check) {
        let (credits, burst) = (self.nic.write_credits, self.burst_lines());
        if credits < burst {
            let of = match &self.pcie {
                Some(pcie) => format!("a TLP of machine.pcie.max_payload ({})", pcie.max_payload),
                None => {
                    let bytes = Size(u64::from(burst) * LINE_BYTES);
                    format!("the {bytes} that a NIC on the chip writes at a time")
                }
            };
            let allowed =
                format!("at least {burst}, the lines of {of}, which take their credits together");
            check.refuse("nic.write_credits", credits, allowed);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::config::validate::violations;
    use crate::testing::{forwarder, pcie_json, results};

    #[test]
    fn the_fewest_write_credits_allowed_let_packets_through_and_one_less_none() {
        let link = |payload: &str| {
            let mut link = pcie_json();
            link["max_payload"] = payload.into();
            link
        };
        for (pcie, fewest) in [(Value::Null, 4), (link("128 B"), 2), (link("2 KiB"), 32)] {
            let with = |credits: u32| {
                forwarder(&[
                    ("/machine/pcie", pcie.clone()),
                    ("/machine/nic/write_credits", credits.into()),
                    ("/traffic/sizes/size", json!("2 KiB")),
                    ("/queues/buffer_size", json!("2 KiB")),
                ])
            };
            assert_eq!(violations(&with(fewest)), []);
            assert!(results(&with(fewest)).packets.completed > 0, "{fewest}");
            let refused = violations(&with(fewest - 1));
            assert_eq!(refused.len(), 1, "{refused:?}");
            assert_eq!(refused[0].key, "machine.nic.write_credits");
            let packets = results(&with(fewest - 1)).packets;
            assert_eq!(packets.completed, 0, "{fewest}");
        }
    }
}
