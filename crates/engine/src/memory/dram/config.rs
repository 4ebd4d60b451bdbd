//! The memory settings of a user: the `[machine.dram]` table of a machine file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lanes::LONGEST;
use super::mapping::{BANKS, Geometry, Mapping, RANKS};
use super::parts::{Density, DeviceWidth};
use super::timing::{Standard, TimingOverrides, Timings};
use crate::check::Check;

/// When an open row is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowPolicy {
    /// A row stays open until another row of its bank is wanted.
    #[default]
    Open,
    /// Every read and write closes its row (auto-precharge).
    Closed,
    /// A read or write closes its row (auto-precharge) unless a waiting request of the same queue wants
    /// the row, as in zSim, and as in gem5's `close_adaptive`.
    ClosedAdaptive,
    /// A row is closed after this many accesses: by a precharge as soon as one may be issued, or by the
    /// auto-precharge of an access that comes before that.
    CloseAfter(u32),
    /// A row is closed when it has not been accessed for this many clocks.
    Timeout(u32),
}

/// How the ranks of a channel are refreshed. A refresh occupies all banks of a rank, and while one is
/// due the controller starts no other read or write on the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// Never: for comparison only, because real DRAM would lose its data.
    Off,
    /// All ranks fall due at the same clock, every tREFI.
    AllRanks,
    /// The ranks take turns: they fall due tREFI / ranks apart.
    #[default]
    Staggered,
}

/// How requests that find the queues of their channel full enter them later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// Reads and writes wait in separate lines: each enters when its own queue has room.
    #[default]
    Separate,
    /// Reads and writes wait in one line, in order of arrival, and enter while both queues have room: a
    /// full write queue also holds up the reads behind it.
    InOrder,
}

/// Which reads wait for tWTR after the data of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WriteToRead {
    /// Those of the same rank, as in the standard.
    #[default]
    SameRank,
    /// All of the channel, as in a controller that counts tWTR on the data bus: reads of other ranks
    /// wait as long as reads of another bank group.
    AllRanks,
}

/// The memory of a machine. All channels are identical.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Standard and speed bin, such as `"DDR4-3200AA"`.
    pub standard: Standard,
    /// Independently scheduled channels: 64 bits wide for DDR4; for DDR5 the 32-bit subchannels, so
    /// that a DDR5 DIMM counts twice.
    pub channels: u32,
    /// Ranks per channel.
    pub ranks: u32,
    /// Bank groups per rank (DDR4: 4, or 2 for x16 devices; DDR5: 8, or 4 for x16).
    pub bank_groups: u32,
    /// Banks per bank group.
    pub banks_per_group: u32,
    /// Rows per bank.
    pub rows: u32,
    /// Columns per row; a multiple of the burst of 8 (DDR4) or 16 (DDR5).
    pub columns: u32,
    /// Capacity of a device; sets tRFC.
    #[serde(default)]
    pub density: Density,
    /// Data pins of a device; sets tFAW, for DDR4 also tRRD, and for DDR5 the tCCD_L of writes.
    #[serde(default)]
    pub device_width: DeviceWidth,
    /// Reads that can wait for their bank, per channel.
    #[serde(default = "default_queue")]
    pub read_queue: u32,
    /// Writes that can wait for their bank, per channel.
    #[serde(default = "default_queue")]
    pub write_queue: u32,
    /// How requests enter full queues.
    #[serde(default)]
    pub admission: Admission,
    /// Writes are drained once they fill more than this share of their queue.
    #[serde(default = "default_high")]
    pub drain_high_percent: u32,
    /// A drain ends when writes fill less than this share of their queue and reads wait.
    #[serde(default = "default_low")]
    pub drain_low_percent: u32,
    /// Reads that must leave their queue between two drains, as long as any wait. Until then a full
    /// write queue stays full, and further writes wait in front of it.
    #[serde(default)]
    pub reads_between_drains: u32,
    /// Which reads tWTR applies to.
    #[serde(default)]
    pub write_to_read: WriteToRead,
    /// When rows are closed.
    #[serde(default)]
    pub row_policy: RowPolicy,
    /// How ranks are refreshed.
    #[serde(default)]
    pub refresh: Refresh,
    /// Order of the address fields, most significant first.
    #[serde(default)]
    #[schemars(with = "String")]
    pub mapping: Mapping,
    /// Individual timings, in clocks, that replace the standard's. Those of a machine file are dropped
    /// if a scenario or an override changes its `standard`.
    #[serde(default)]
    pub timings: TimingOverrides,
}

/// 32 entries, as in both simulators of the validation curves and in most studies.
fn default_queue() -> u32 {
    32
}

/// Watermarks of the validation curves.
fn default_high() -> u32 {
    80
}

fn default_low() -> u32 {
    20
}

impl DramConfig {
    /// The timings in force, in clocks.
    pub fn resolved_timings(&self) -> Timings {
        Timings::resolve(self.standard, self.density, self.device_width, &self.timings)
    }

    /// Bytes of all channels together.
    pub fn capacity_bytes(&self) -> u64 {
        let g = self.geometry();
        [g.channels, g.ranks, g.bank_groups, g.banks_per_group, g.rows, g.bursts]
            .iter()
            .map(|n| u64::from(*n))
            .product::<u64>()
            * 64
    }

    pub(super) fn geometry(&self) -> Geometry {
        Geometry {
            channels: self.channels,
            ranks: self.ranks,
            bank_groups: self.bank_groups,
            banks_per_group: self.banks_per_group,
            rows: self.rows,
            bursts: self.columns / self.standard.columns_per_burst(),
        }
    }

    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        check.within("channels", self.channels, 1..=64);
        check.within("ranks", self.ranks, 1..=RANKS as u32);
        check.within("bank_groups", self.bank_groups, 1..=16);
        check.within("banks_per_group", self.banks_per_group, 1..=16);
        check.within("rows", self.rows, 1..=1 << 24);
        check.within("columns", self.columns, 1..=1 << 16);
        check.within("read_queue", self.read_queue, 1..=256);
        check.within("write_queue", self.write_queue, 1..=256);
        let banks = [self.ranks, self.bank_groups, self.banks_per_group].map(u128::from);
        let banks: u128 = banks.iter().product();
        if banks > BANKS as u128 {
            let of = "ranks × bank_groups × banks_per_group";
            let allowed = format!("at most {BANKS} banks ({of}), which are {banks}");
            check.refuse("ranks", self.ranks, allowed);
        }
        let burst = self.standard.columns_per_burst();
        if !self.columns.is_multiple_of(burst) {
            let allowed = format!("a multiple of {burst}, the burst of the standard");
            check.refuse("columns", self.columns, allowed);
        }
        let (low, high) = (self.drain_low_percent, self.drain_high_percent);
        if !(1..=100).contains(&high) {
            check.refuse("drain_high_percent", high, format!("{} to 100", low.min(99) + 1));
        } else if low >= high {
            let allowed = format!("less than machine.dram.drain_high_percent ({high})");
            check.refuse("drain_low_percent", low, allowed);
        }
        match self.row_policy {
            RowPolicy::Open | RowPolicy::Closed | RowPolicy::ClosedAdaptive => {}
            RowPolicy::CloseAfter(n) => check_clocks(check, "row_policy.close-after", n, 1_000_000),
            RowPolicy::Timeout(n) => check_clocks(check, "row_policy.timeout", n, 1_000_000),
        }
        self.check_timings(check);
    }

    /// Reports values that no device of the standard has, according to the tables "Addressing" and
    /// "Refresh parameters by density" of JESD79-4 and JESD79-5. The model itself accepts any.
    pub(crate) fn check_devices(&self, check: &mut Check) {
        let wide = self.device_width == DeviceWidth::X16;
        let (densities, known, groups) = if self.standard.is_ddr5() {
            let densities = Density::Gb8..=Density::Gb32;
            (densities, "8Gb, 16Gb, 24Gb, 32Gb, which DDR5", if wide { 4 } else { 8 })
        } else {
            let densities = Density::Gb4..=Density::Gb16;
            (densities, "4Gb, 8Gb, 16Gb, which DDR4", if wide { 2 } else { 4 })
        };
        let what = "devices have (machine.dram.standard)";
        let possible = densities.contains(&self.density);
        check.that(possible, "density", self.density, &format!("{known} {what}"));
        // A density left over from another standard would set tRFC all the same.
        let small = self.standard.is_ddr5() && self.density == Density::Gb8;
        let (banks, whose) = if small {
            (2, "DDR5 devices of 8Gb have (machine.dram.density); larger ones have 4")
        } else {
            (4, "devices of the standard have (machine.dram.standard, density)")
        };
        if possible && self.banks_per_group > 0 && self.banks_per_group != banks {
            check.refuse(
                "banks_per_group",
                self.banks_per_group,
                format!("{banks}, which {whose}"),
            );
        }
        if self.bank_groups != groups {
            let width = if wide { "x16" } else { "x4 and x8" };
            let what = "devices of the standard have (machine.dram.standard, device_width)";
            check.refuse(
                "bank_groups",
                self.bank_groups,
                format!("{groups}, which {width} {what}"),
            );
        }
    }

    fn check_timings(&self, check: &mut Check) {
        let timings = self.resolved_timings();
        let longest = |key| if key == "refi" { 1_000_000 } else { LONGEST };
        for (key, clocks) in timings.named() {
            check_clocks(check, &format!("timings.{key}"), clocks, longest(key));
        }
        // The longest a round of refreshes can hold the channel: the last row cycle, a precharge of
        // every rank in turn, and the refresh itself.
        let t = &timings;
        let round = [t.rc, t.cwl, t.bl, t.wr, t.rfc].map(u64::from).iter().sum::<u64>()
            + u64::from(self.ranks) * (u64::from(t.rp) + 2);
        if self.refresh != Refresh::Off && round >= u64::from(t.refi) {
            let allowed = format!("more than the {round} clocks that a round of refreshes takes");
            check.refuse("timings.refi", t.refi, allowed);
        }
    }
}

fn check_clocks(check: &mut Check, key: &str, clocks: u32, most: u32) {
    check.within_what(key, clocks, 1..=most, " clocks");
}
