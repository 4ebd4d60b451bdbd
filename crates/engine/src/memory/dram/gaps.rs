//! The timings as the scheduler needs them: clocks from the start of one command to the start of
//! another.
//!
//! DDR5 sends activate, read and write in two clocks, and the standard counts its timings from the
//! clock at which a command is complete. So a gap from such a command to a one-clock command is a clock
//! longer than the timing, and a gap from a one-clock command to such a command is a clock shorter.

use super::config::WriteToRead;
use super::lanes::LONGEST;
use super::timing::Timings;

/// Gaps after a read, or after a write. Pairs are (to a read, to a write).
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnGaps {
    pub precharge: i16,
    pub same_group: [i16; 2],
    pub same_rank: [i16; 2],
    pub other_rank: [i16; 2],
    /// To the clock after the last data beat.
    pub data: u64,
}

/// All gaps of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    pub activate_to_activate: i16,
    pub activate_to_activate_rank: i16,
    pub activate_to_activate_group: i16,
    pub activate_to_fifth: i16,
    pub activate_to_column: i16,
    pub activate_to_precharge: i16,
    pub precharge_to_activate: i16,
    pub precharge_to_precharge: i16,
    pub refresh_to_activate: i16,
    pub refresh_to_refresh: i16,
    /// How many clocks later than an activate a refresh may start.
    pub activate_to_refresh: i16,
    /// After a read and after a write.
    pub column: [ColumnGaps; 2],
    /// Clocks that an activate, read or write occupies the command bus.
    pub long_command: u64,
}

impl Gaps {
    pub(super) fn new(t: &Timings, write_to_read: WriteToRead) -> Gaps {
        let tail = t.command_clocks - 1;
        // The configuration refuses longer timings, so that sums of four of them fit.
        const { assert!(4 * LONGEST < i16::MAX as u32 / 2) };
        let long = |clocks: u32| clocks as i16;
        let shorter = |clocks: u32| long(clocks.saturating_sub(tail));
        let pair = |read: u32, write: u32| [long(read), long(write)];
        let read = ColumnGaps {
            precharge: long(t.rtp + tail),
            same_group: pair(t.ccd_l, 0),
            same_rank: pair(t.ccd_s.max(t.bl), t.rd_to_wr),
            other_rank: pair(t.bl + t.rank_switch, t.rd_to_wr_other_rank),
            data: u64::from(tail + t.cl + t.bl),
        };
        // Ranks share only the data bus: the read's first beat follows the write's last by the
        // switching gap.
        let bus = (t.cwl + t.bl + t.rank_switch).saturating_sub(t.cl);
        let write_to_other_rank = match write_to_read {
            WriteToRead::SameRank => bus,
            WriteToRead::AllRanks => bus.max(t.cwl + t.bl + t.wtr_s),
        };
        let write = ColumnGaps {
            precharge: long(t.cwl + t.bl + t.wr + tail),
            same_group: pair(t.cwl + t.bl + t.wtr_l, t.ccd_l_wr),
            same_rank: pair(t.cwl + t.bl + t.wtr_s, t.ccd_s_wr.max(t.bl)),
            other_rank: pair(write_to_other_rank, t.bl),
            data: u64::from(tail + t.cwl + t.bl),
        };
        Gaps {
            activate_to_activate: long(t.rc),
            activate_to_activate_rank: long(t.rrd_s),
            activate_to_activate_group: long(t.rrd_l),
            activate_to_fifth: long(t.faw),
            activate_to_column: long(t.rcd),
            activate_to_precharge: long(t.ras + tail),
            precharge_to_activate: shorter(t.rp),
            precharge_to_precharge: long(t.ppd),
            refresh_to_activate: shorter(t.rfc),
            refresh_to_refresh: long(t.rfc),
            activate_to_refresh: long(tail),
            column: [read, write],
            long_command: u64::from(t.command_clocks),
        }
    }
}
