//! What a channel counts.

use crate::time::Ps;

/// What accesses found in their banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Accesses that found their row open.
    pub hits: u64,
    /// Accesses that found their bank closed.
    pub misses: u64,
    /// Accesses that found another row open in their bank.
    pub conflicts: u64,
}

impl Rows {
    /// The sum of both.
    pub(crate) fn and(self, other: Rows) -> Rows {
        Rows {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            conflicts: self.conflicts + other.conflicts,
        }
    }

    /// All accesses.
    pub(crate) fn all(self) -> u64 {
        self.hits + self.misses + self.conflicts
    }
}

/// Counters of one channel since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Read bursts issued.
    pub reads: u64,
    /// Write bursts issued.
    pub writes: u64,
    /// Reads answered from a waiting write to the same line, without a DRAM access.
    pub forwarded_reads: u64,
    /// Writes absorbed by a waiting write to the same line.
    pub coalesced_writes: u64,
    /// What reads found in their banks.
    pub read_rows: Rows,
    /// What writes found.
    pub write_rows: Rows,
    /// Time the data bus carried bursts.
    pub data_bus_busy: Ps,
    /// Rank refreshes.
    pub refreshes: u64,
    /// Reads waiting in the queue, integrated over time: divide by the time for the mean.
    pub read_queue_time: Ps,
    /// Writes waiting in the queue, integrated over time.
    pub write_queue_time: Ps,
    /// Times the channel switched from serving reads to draining writes.
    pub write_drains: u64,
}
