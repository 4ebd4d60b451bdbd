//! What a user sets about the memory: the `[machine.dram]` table of a machine file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::device::{BANKS, RANKS};
use super::lanes::LONGEST;
use super::mapping::{Geometry, Mapping};
use super::parts::{Density, DeviceWidth};
use super::timing::{Standard, TimingOverrides, Timings};

/// When a row that was opened is closed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RowPolicy {
    /// Stays open until another row of the bank is wanted.
    #[default]
    Open,
    /// Every read and write closes its row (auto-precharge).
    Closed,
    /// Closed after this many accesses: by a precharge as soon as one may be issued, or by the
    /// auto-precharge of an access that comes before that.
    CloseAfter(u32),
    /// Closed when it has not been accessed for this many clocks.
    Timeout(u32),
}

/// How the ranks of a channel are refreshed. A refresh takes all banks of a rank, and while one is
/// due the controller starts no other read or write on the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// Never: for comparison only, real DRAM would lose its data.
    Off,
    /// All ranks fall due at the same clock, every tREFI.
    AllRanks,
    /// The ranks take turns: they fall due tREFI / ranks apart.
    #[default]
    Staggered,
}

/// The memory of a machine. All channels are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Standard and speed bin, such as `"DDR4-3200AA"`.
    pub standard: Standard,
    /// Channels that are scheduled by themselves: 64 bits wide for DDR4; for DDR5 the 32-bit
    /// subchannels, so that a DDR5 DIMM counts twice.
    pub channels: u32,
    /// Ranks of a channel.
    pub ranks: u32,
    /// Bank groups of a rank (DDR4: 4, or 2 for x16 devices; DDR5: 8, or 4 for x16).
    pub bank_groups: u32,
    /// Banks of a bank group.
    pub banks_per_group: u32,
    /// Rows of a bank.
    pub rows: u32,
    /// Columns of a row; a multiple of the burst of 8 (DDR4) or 16 (DDR5).
    pub columns: u32,
    /// Capacity of a device: sets tRFC.
    #[serde(default)]
    pub density: Density,
    /// Data pins of a device: set tFAW and tRRD.
    #[serde(default)]
    pub device_width: DeviceWidth,
    /// Reads of a channel that can wait for their bank.
    #[serde(default = "default_queue")]
    pub read_queue: u32,
    /// Writes of a channel that can wait for their bank.
    #[serde(default = "default_queue")]
    pub write_queue: u32,
    /// Writes are drained once they fill more than this share of their queue.
    #[serde(default = "default_high")]
    pub drain_high_percent: u32,
    /// A drain ends when writes fill less than this share of their queue and reads wait.
    #[serde(default = "default_low")]
    pub drain_low_percent: u32,
    /// Reads that leave their queue between two drains, as long as any wait: until then a full write
    /// queue stays full, and what is written waits before it.
    #[serde(default)]
    pub reads_between_drains: u32,
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
    /// Single timings, in clocks, that differ from the standard's.
    #[serde(default)]
    pub timings: TimingOverrides,
}

/// 32 entries: both simulators of the validation curves use it, and so do most studies.
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

/// Why a [`DramConfig`] describes no memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DramConfigError {
    /// A number outside its range.
    #[error("{key} = {value}: must be {allowed}")]
    OutOfRange {
        /// The key, such as `ranks`.
        key: &'static str,
        /// What was given.
        value: u32,
        /// What is allowed.
        allowed: &'static str,
    },
    /// More banks than a channel can have.
    #[error(
        "ranks * bank_groups * banks_per_group = {banks}: a channel has at most {max} banks",
        max = BANKS
    )]
    TooManyBanks {
        /// What was given.
        banks: u32,
    },
    /// A row that does not consist of whole bursts.
    #[error("columns = {columns}: a row must hold whole bursts of {burst} columns")]
    BrokenBurst {
        /// What was given.
        columns: u32,
        /// Columns of a burst of the standard.
        burst: u32,
    },
    /// Watermarks in the wrong order.
    #[error(
        "drain_low_percent = {low}: must be below drain_high_percent = {high}, which must be at \
         most 100"
    )]
    Watermarks {
        /// What was given.
        low: u32,
        /// What was given.
        high: u32,
    },
    /// Refreshes that fall due faster than they can be done.
    #[error(
        "timings.refi = {refi}: refreshing takes {busy} clocks (tRFC and one precharge a rank), \
         which must be below tREFI"
    )]
    RefreshTooOften {
        /// Interval in clocks.
        refi: u32,
        /// Clocks one round of refreshes takes.
        busy: u64,
    },
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

    pub(crate) fn check(&self) -> Result<(), DramConfigError> {
        let limits = [
            ("channels", self.channels, 64, "1 to 64"),
            ("ranks", self.ranks, RANKS as u32, "1 to 16"),
            ("bank_groups", self.bank_groups, 16, "1 to 16"),
            ("banks_per_group", self.banks_per_group, 16, "1 to 16"),
            ("rows", self.rows, 1 << 24, "1 to 16777216"),
            ("columns", self.columns, 1 << 16, "1 to 65536"),
            ("read_queue", self.read_queue, 256, "1 to 256"),
            ("write_queue", self.write_queue, 256, "1 to 256"),
        ];
        for (key, value, max, allowed) in limits {
            if value == 0 || value > max {
                return Err(DramConfigError::OutOfRange { key, value, allowed });
            }
        }
        let banks = self.ranks * self.bank_groups * self.banks_per_group;
        if banks as usize > BANKS {
            return Err(DramConfigError::TooManyBanks { banks });
        }
        let limit = match self.row_policy {
            RowPolicy::Open | RowPolicy::Closed => None,
            RowPolicy::CloseAfter(n) => Some(("row_policy.close-after", n)),
            RowPolicy::Timeout(n) => Some(("row_policy.timeout", n)),
        };
        let timings = self.resolved_timings();
        let long = [("refi", timings.refi)].into_iter().chain(limit);
        let long = long.map(|(key, value)| (key, value, 1_000_000, "1 to 1000000 clocks"));
        let short = timings.named().filter(|(key, _)| *key != "refi");
        let short = short.map(|(key, value)| (key, value, LONGEST, "1 to 4095 clocks"));
        for (key, value, max, allowed) in short.chain(long) {
            if value == 0 || value > max {
                return Err(DramConfigError::OutOfRange { key, value, allowed });
            }
        }
        let burst = self.standard.columns_per_burst();
        if !self.columns.is_multiple_of(burst) {
            return Err(DramConfigError::BrokenBurst { columns: self.columns, burst });
        }
        let (low, high) = (self.drain_low_percent, self.drain_high_percent);
        if low >= high || high > 100 {
            return Err(DramConfigError::Watermarks { low, high });
        }
        // The longest a round of refreshes can hold the channel: the last row cycle, a precharge of
        // every rank in turn, and the refresh itself.
        let t = &timings;
        let round =
            u64::from(t.rc + t.cwl + t.bl + t.wr + t.rfc) + u64::from(self.ranks * (t.rp + 2));
        if self.refresh != Refresh::Off && round >= u64::from(t.refi) {
            return Err(DramConfigError::RefreshTooOften { refi: t.refi, busy: round });
        }
        Ok(())
    }
}
