//! The machine: what a testbed file in `machines/` describes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::core::config::Core;
use crate::iommu::config::IommuConfig;
use crate::memory::config::{Hierarchy, L1d, L2, Llc, Noc, Numa};
use crate::memory::dram::DramConfig;
use crate::nic::config::Nic;
use crate::pcie::config::Pcie;

/// A server: cores, caches, memory and NIC. Every value of a machine file says where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What the machine is, for people.
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
    /// The memory channels.
    pub dram: DramConfig,
    /// A second socket with memory channels like these, behind a link; absent for one socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// The NIC.
    pub nic: Nic,
    /// The link between NIC and processor; absent for a NIC on the chip.
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
            l1_miss_registers: self.core.l1_miss_registers,
            l1d: &self.l1d,
            l2: &self.l2,
            llc: &self.llc,
            noc: &self.noc,
            numa: self.numa.as_ref(),
        }
    }

    /// Notes which values cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        check.below("core", |check| self.core.check(check));
        self.hierarchy().check(check);
        check.below("dram", |check| self.dram.check(check));
        check.below("nic", |check| self.nic.check(check));
        if let Some(pcie) = &self.pcie {
            check.below("pcie", |check| pcie.check(check));
        }
        if let Some(iommu) = &self.iommu {
            check.below("iommu", |check| iommu.check(check));
        }
    }
}
