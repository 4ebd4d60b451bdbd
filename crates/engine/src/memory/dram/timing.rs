//! The timings of the DRAM standards, in clocks of the command bus.
//!
//! Speed-bin values are those of JESD79-4 (DDR4) and JESD79-5 (DDR5). Values that the standard gives in
//! nanoseconds are converted to clocks of the bin's exact period, rounded up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parts::{Density, DeviceWidth};
use crate::time::Clock;

/// A DRAM standard at one speed bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// DDR4 at 2400 MT/s, bin T: CL-tRCD-tRP 17-17-17.
    #[serde(rename = "DDR4-2400")]
    Ddr4_2400,
    /// DDR4 at 2666 MT/s, bin V: 19-19-19.
    #[serde(rename = "DDR4-2666")]
    Ddr4_2666,
    /// DDR4 at 2933 MT/s, bin Y: 21-21-21.
    #[serde(rename = "DDR4-2933")]
    Ddr4_2933,
    /// DDR4 at 3200 MT/s, bin AA: 22-22-22.
    #[serde(rename = "DDR4-3200AA")]
    Ddr4_3200aa,
    /// DDR5 at 4800 MT/s, bin B: 40-39-39.
    #[serde(rename = "DDR5-4800")]
    Ddr5_4800,
    /// DDR5 at 5600 MT/s, bin B: 46-45-45.
    #[serde(rename = "DDR5-5600")]
    Ddr5_5600,
}

/// One row of the speed-bin table: what does not follow from a rule of the standard.
struct Bin {
    /// Exact clock period as `ps / ticks`.
    period: (u64, u64),
    cl: u32,
    rcd: u32,
    rp: u32,
    cwl: u32,
}

/// JESD79-4 tables "Speed Bins" and CWL set 1; JESD79-5 tables "Speed Bins", CWL = CL - 2.
const fn bin(standard: Standard) -> Bin {
    match standard {
        Standard::Ddr4_2400 => Bin { period: (2500, 3), cl: 17, rcd: 17, rp: 17, cwl: 12 },
        Standard::Ddr4_2666 => Bin { period: (750, 1), cl: 19, rcd: 19, rp: 19, cwl: 14 },
        Standard::Ddr4_2933 => Bin { period: (7500, 11), cl: 21, rcd: 21, rp: 21, cwl: 16 },
        Standard::Ddr4_3200aa => Bin { period: (625, 1), cl: 22, rcd: 22, rp: 22, cwl: 16 },
        Standard::Ddr5_4800 => Bin { period: (1250, 3), cl: 40, rcd: 39, rp: 39, cwl: 38 },
        Standard::Ddr5_5600 => Bin { period: (2500, 7), cl: 46, rcd: 45, rp: 45, cwl: 44 },
    }
}

impl Standard {
    /// Whether this is DDR5: burst of 16, two-cycle commands, half the refresh interval.
    pub const fn is_ddr5(self) -> bool {
        matches!(self, Standard::Ddr5_4800 | Standard::Ddr5_5600)
    }

    /// Columns of one 64-byte burst: 8 of 64 bits (DDR4), or 16 of 32 bits (DDR5 subchannel).
    pub const fn columns_per_burst(self) -> u32 {
        if self.is_ddr5() { 16 } else { 8 }
    }

    /// The clock of the command bus (half the data rate).
    pub fn clock(self) -> Clock {
        let (ps, ticks) = bin(self).period;
        Clock::from_period(ps, ticks)
    }
}

/// Declares the table of timings once, as resolved values and as optional overrides.
macro_rules! timings {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// All timings of a channel, in clocks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Timings {
            $($(#[$doc])+ pub $name: u32,)+
        }

        /// Individual timings set by hand, in clocks; the others follow the standard.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct TimingOverrides {
            $($(#[$doc])+
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $name: Option<u32>,)+
        }

        impl Timings {
            fn overridden(self, by: &TimingOverrides) -> Timings {
                Timings { $($name: by.$name.unwrap_or(self.$name),)+ }
            }

            /// Every timing with its name, for validation and reports.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u32)> + use<> {
                [$((stringify!($name), self.$name),)+].into_iter()
            }
        }
    };
}

timings! {
    /// tBL: clocks of one burst on the data bus.
    bl,
    /// tCL: read command to first data.
    cl,
    /// tRCD: activate to column command.
    rcd,
    /// tRP: precharge to activate.
    rp,
    /// tRAS: activate to precharge.
    ras,
    /// tRC: activate to activate, same bank.
    rc,
    /// tWR: end of write data to precharge.
    wr,
    /// tRTP: read to precharge.
    rtp,
    /// tCWL: write command to first data.
    cwl,
    /// tCCD_S: read to read, other bank group of the rank.
    ccd_s,
    /// tCCD_L: read to read, same bank group.
    ccd_l,
    /// Write to write, other bank group of the rank (DDR4: tCCD_S).
    ccd_s_wr,
    /// tCCD_L_WR: write to write, same bank group (DDR4: tCCD_L).
    ccd_l_wr,
    /// tRRD_S: activate to activate, other bank group of the rank.
    rrd_s,
    /// tRRD_L: activate to activate, same bank group.
    rrd_l,
    /// tWTR_S: end of write data to read, other bank group of the rank.
    wtr_s,
    /// tWTR_L: end of write data to read, same bank group.
    wtr_l,
    /// tFAW: window that holds at most four activates of a rank.
    faw,
    /// tPPD: precharge to precharge, same rank (DDR4: one command slot).
    ppd,
    /// tRFC: all-bank refresh to the next command of the rank.
    rfc,
    /// tREFI: mean interval between refreshes of a rank.
    refi,
    /// Clocks the data bus stays idle when another rank takes it over (tRTRS; board, not JEDEC).
    rank_switch,
    /// Read to write, same rank: the data bus turns around with a 2-clock preamble.
    rd_to_wr,
    /// Read to write, other rank.
    rd_to_wr_other_rank,
    /// Command-bus clocks of activate, read and write (DDR5 sends them in two halves).
    command_clocks,
}

impl Timings {
    /// The timings of `standard` for the device, with `overrides` applied.
    ///
    /// The read-to-write gaps follow the overridden latencies unless set themselves.
    pub fn resolve(
        standard: Standard,
        density: Density,
        width: DeviceWidth,
        overrides: &TimingOverrides,
    ) -> Timings {
        let base = if standard.is_ddr5() {
            ddr5(standard, density, width)
        } else {
            ddr4(standard, density, width)
        };
        let mut t = base.overridden(overrides);
        if overrides.rc.is_none() {
            t.rc = t.ras.saturating_add(t.rp);
        }
        if !standard.is_ddr5() {
            t.ccd_s_wr = overrides.ccd_s_wr.unwrap_or(t.ccd_s);
            t.ccd_l_wr = overrides.ccd_l_wr.unwrap_or(t.ccd_l);
        }
        // Last read beat at cl + bl after the read, first write beat at cwl after the write.
        // Same rank: 2 clocks of write preamble and turnaround (JESD79-4 "READ to WRITE",
        // JESD79-5 adds 2 clocks for its longer preamble). Other rank: the switching gap.
        // Overrides are checked later.
        let read = t.cl.saturating_add(t.bl);
        let turnaround = if standard.is_ddr5() { 4 } else { 2 };
        if overrides.rd_to_wr.is_none() {
            t.rd_to_wr = read.saturating_add(turnaround).saturating_sub(t.cwl).max(1);
        }
        if overrides.rd_to_wr_other_rank.is_none() {
            let switched = read.saturating_add(t.rank_switch);
            t.rd_to_wr_other_rank = switched.saturating_sub(t.cwl).max(1);
        }
        t
    }
}

/// `max(floor clocks, ps)` in clocks of `standard`, rounded up.
fn at_least(standard: Standard, floor: u32, ps: u64) -> u32 {
    let (period_ps, ticks) = bin(standard).period;
    let clocks = (ps * ticks).div_ceil(period_ps);
    floor.max(u32::try_from(clocks).expect("a timing below a second"))
}

/// DDR4: JESD79-4 tables "Timing Parameters by Speed Grade" and "Refresh parameters by density".
fn ddr4(standard: Standard, density: Density, width: DeviceWidth) -> Timings {
    let Bin { cl, rcd, rp, cwl, .. } = bin(standard);
    let clocks = |floor, ps| at_least(standard, floor, ps);
    let two_kib_page = width == DeviceWidth::X16;
    let ras = clocks(0, 32_000);
    // tFAW: 1/2 KiB page max(16, 13..10 ns) is 16 in every bin; 1 KiB 21 ns; 2 KiB 30 ns.
    let faw = match width {
        DeviceWidth::X4 => 16,
        DeviceWidth::X8 => clocks(20, 21_000),
        DeviceWidth::X16 => clocks(28, 30_000),
    };
    let rfc_ps = match density {
        Density::Gb4 => 260_000,
        Density::Gb8 => 350_000,
        // JESD79-4 ends at 16 Gb.
        Density::Gb16 | Density::Gb24 | Density::Gb32 => 550_000,
    };
    Timings {
        bl: 4,
        cl,
        rcd,
        rp,
        ras,
        rc: ras + rp,
        wr: clocks(0, 15_000),
        rtp: clocks(4, 7_500),
        cwl,
        ccd_s: 4,
        ccd_l: clocks(5, 5_000),
        ccd_s_wr: 4,
        ccd_l_wr: clocks(5, 5_000),
        rrd_s: if two_kib_page { clocks(4, 5_300) } else { 4 },
        rrd_l: if two_kib_page { clocks(4, 6_400) } else { clocks(4, 4_900) },
        wtr_s: clocks(2, 2_500),
        wtr_l: clocks(4, 7_500),
        faw,
        ppd: 1,
        rfc: clocks(0, rfc_ps),
        refi: floor_clocks(standard, 7_800_000),
        rank_switch: 2,
        rd_to_wr: 0,
        rd_to_wr_other_rank: 0,
        command_clocks: 1,
    }
}

/// DDR5: JESD79-5 tables "Timing Parameters" and "Refresh parameters by density".
fn ddr5(standard: Standard, density: Density, width: DeviceWidth) -> Timings {
    let Bin { cl, rcd, rp, cwl, .. } = bin(standard);
    let clocks = |floor, ps| at_least(standard, floor, ps);
    let ras = clocks(0, 32_000);
    let rfc_ps = match density {
        Density::Gb4 | Density::Gb8 => 195_000,
        Density::Gb16 => 295_000,
        Density::Gb24 | Density::Gb32 => 410_000,
    };
    Timings {
        bl: 8,
        cl,
        rcd,
        rp,
        ras,
        rc: ras + rp,
        wr: clocks(0, 30_000),
        rtp: clocks(12, 7_500),
        cwl,
        ccd_s: 8,
        ccd_l: clocks(8, 5_000),
        ccd_s_wr: 8,
        // tCCD_L_WR applies to writes for which the device must first read the rest of a word of its
        // own ECC, because a burst to an x4 device is half such a word; wider bursts are whole words
        // (tCCD_L_WR2).
        ccd_l_wr: match width {
            DeviceWidth::X4 => clocks(32, 20_000),
            DeviceWidth::X8 | DeviceWidth::X16 => clocks(16, 10_000),
        },
        rrd_s: 8,
        rrd_l: clocks(8, 5_000),
        wtr_s: clocks(4, 2_500),
        wtr_l: clocks(16, 10_000),
        // max(32 or 40 nCK, ns): the clock count governs from 4800 MT/s on.
        faw: if width == DeviceWidth::X16 { 40 } else { 32 },
        ppd: 2,
        rfc: clocks(0, rfc_ps),
        refi: floor_clocks(standard, 3_900_000),
        rank_switch: 2,
        rd_to_wr: 0,
        rd_to_wr_other_rank: 0,
        command_clocks: 2,
    }
}

/// An upper limit such as tREFI in clocks: rounded down.
fn floor_clocks(standard: Standard, ps: u64) -> u32 {
    let (period_ps, ticks) = bin(standard).period;
    u32::try_from(ps * ticks / period_ps).expect("a refresh interval below a second")
}
