//! The time of a read that waits for no other request.

use super::config::DramConfig;
use super::gaps::Gaps;
use super::stats::Rows;
use super::{READ, SEEN_AFTER};
use crate::time::Clock;

/// Clocks from the arrival of a read, at the beginning of a clock, until its last data beat is on the bus,
/// in a channel without other requests and with no refresh due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnloadedRead {
    clock: Clock,
    /// Its row is open.
    pub(super) hit: u64,
    /// Its bank is closed.
    pub(super) miss: u64,
    /// Its bank has another row open, which may be closed.
    pub(super) conflict: u64,
}

impl UnloadedRead {
    /// Reads of the memory that `cfg` describes.
    pub(crate) fn new(cfg: &DramConfig) -> UnloadedRead {
        let gaps = Gaps::new(&cfg.resolved_timings(), cfg.write_to_read);
        let hit = SEEN_AFTER + gaps.column[READ].data;
        let miss = hit + gaps.activate_to_column as u64;
        let conflict = miss + gaps.precharge_to_activate as u64;
        UnloadedRead { clock: cfg.standard.clock(), hit, miss, conflict }
    }

    /// The mean of reads that found their banks like this, ns; nothing if there were none.
    pub(crate) fn mean_ns(&self, rows: Rows) -> Option<f64> {
        let Rows { hits, misses, conflicts } = rows;
        let clocks = hits * self.hit + misses * self.miss + conflicts * self.conflict;
        let all = rows.all();
        (all > 0).then(|| self.clock.at(clocks).as_ns_f64() / all as f64)
    }
}
