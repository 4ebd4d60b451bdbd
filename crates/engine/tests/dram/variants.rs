//! The memories of the published curves; the benchmark uses one of them, too.

use nic2core_engine::memory::dram::{
    Admission, Density, DeviceWidth, DramConfig, Mapping, Refresh, RowPolicy, Standard,
    TimingOverrides, WriteToRead,
};

/// The memory of a variant. Where the simulators' tables differ from the standard, an override says so.
pub(crate) fn config(variant: &str, channels: u32) -> DramConfig {
    DramConfig {
        standard: Standard::Ddr4_3200aa,
        channels,
        ranks: 4,
        bank_groups: 2,
        banks_per_group: 4,
        rows: 65536,
        columns: 1024,
        density: Density::Gb8,
        device_width: DeviceWidth::X8,
        read_queue: 32,
        write_queue: 32,
        drain_high_percent: 80,
        drain_low_percent: 20,
        reads_between_drains: 0,
        admission: Admission::Separate,
        write_to_read: WriteToRead::SameRank,
        row_policy: RowPolicy::Open,
        refresh: match variant {
            "r4b8noref" => Refresh::Off,
            "r4b8stag" | "ds3" => Refresh::Staggered,
            _ => Refresh::AllRanks,
        },
        mapping: Mapping::default(),
        timings: TimingOverrides {
            // 360 ns; the standard has 350 ns for 8 Gb.
            rfc: Some(576),
            // The gap as shipped, too short for the data bus: 6 clocks where it needs 12.
            rd_to_wr_other_rank: (!matches!(variant, "r4b8fix" | "ds3")).then_some(6),
            ..TimingOverrides::default()
        },
    }
}
