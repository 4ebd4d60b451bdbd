//! What memory devices say of the banks that a machine file gives them.

use nic2core_engine::check::Violation;
use nic2core_engine::memory::dram::{Density, DramConfig};

/// Banks of a group that no device of this density has: table "Addressing" of JESD79-5. A density that is left as
/// it was for another standard, or left out, would set tRFC all the same.
pub(crate) fn violations(dram: &DramConfig) -> Vec<Violation> {
    let small = dram.standard.is_ddr5() && dram.density <= Density::Gb8;
    let violation = |key: &str, given: String, allowed: &str| Violation {
        key: format!("machine.dram.{key}"),
        given,
        allowed: allowed.into(),
    };
    match (dram.banks_per_group, small) {
        (2, true) | (4, false) => vec![],
        (4, true) => vec![violation(
            "density",
            "8Gb".into(),
            "16Gb, 24Gb, 32Gb, which DDR5 devices with 4 banks a group have \
             (machine.dram.banks_per_group); those of 8Gb have 2",
        )],
        (banks, true) => vec![violation(
            "banks_per_group",
            banks.to_string(),
            "2, which DDR5 devices of 8Gb have (machine.dram.density), or 4 with a larger density",
        )],
        (banks, false) => vec![violation(
            "banks_per_group",
            banks.to_string(),
            "4, which devices of the standard have (machine.dram.standard, density)",
        )],
    }
}
