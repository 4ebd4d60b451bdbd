//! What the LLC holds at one point in time: its lines by way, owner and what is in them.

use super::line::LineKind;
use super::line_set::LineSet;
use super::system::Memory;

/// Lines of one way of the LLC that have one owner and hold the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) way: usize,
    /// The owner's number; that after the last tenant's is nobody's.
    pub(crate) owner: usize,
    /// The name of their kind, or [`CONSUMED`].
    pub(crate) kind: &'static str,
    pub(crate) lines: u64,
    /// How many of them are dirty.
    pub(crate) dirty: u64,
}

/// Name of packet data that nobody needs any more.
pub(crate) const CONSUMED: &str = "rx-consumed";

/// The kinds, and consumed packet data after them.
const KINDS: usize = LineKind::COUNT + 1;

fn name(kind: usize) -> &'static str {
    LineKind::ALL.get(kind).map_or(CONSUMED, |kind| kind.name())
}

impl Memory {
    /// What the LLC holds, by way, owner and kind. Packet data in `consumed` lines is told apart.
    pub(crate) fn llc_contents(&self, consumed: &LineSet) -> Vec<Held> {
        let llc = &self.caches.llc;
        let owners = self.traffic.len();
        let mut counted = vec![(0, 0); llc.ways() as usize * owners * KINDS];
        llc.each(|way, line, state| {
            let kind = match state.kind() {
                LineKind::Rx if consumed.holds(line) => LineKind::COUNT,
                kind => kind as usize,
            };
            let of = &mut counted[(way as usize * owners + self.owners.of(line)) * KINDS + kind];
            of.0 += 1;
            of.1 += u64::from(state.dirty());
        });
        let held = |(at, (lines, dirty)): (usize, (u64, u64))| Held {
            way: at / KINDS / owners,
            owner: at / KINDS % owners,
            kind: name(at % KINDS),
            lines,
            dirty,
        };
        counted.into_iter().enumerate().filter(|(_, (lines, _))| *lines > 0).map(held).collect()
    }

    /// How many lines each way of the LLC has room for.
    pub(crate) fn lines_of_an_llc_way(&self) -> u64 {
        self.caches.llc.sets() as u64
    }
}
