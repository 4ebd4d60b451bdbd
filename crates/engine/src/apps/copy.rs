//! `memcpy` of whole cache lines, as the applications do it.

use crate::core::op::{Dep, Op, Ops};
use crate::memory::line::{Line, LineKind};

/// Source or destination of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// The first line.
    pub(crate) first: Line,
    /// The number of lines.
    pub(crate) count: u32,
    /// What they hold.
    pub(crate) kind: LineKind,
    /// What their addresses depend on.
    pub(crate) dep: Dep,
}

/// Copies `from` to `to`, with `instructions` per line in addition to the load and the store. The
/// first line of `from` is not loaded: it holds the header that the caller has already read. The
/// line counts may differ by one if the data lies at different offsets.
#[inline]
pub(crate) fn copy(ops: &mut Ops, from: Lines, to: Lines, instructions: u32) {
    let load = |i| Op::Load { line: from.first + i, kind: from.kind, dep: from.dep };
    let store = |i| Op::Store { line: to.first + i, kind: to.kind, dep: to.dep };
    let compute = Op::Compute { instructions };
    let both = from.count.min(to.count);
    ops.push_all([store(0), compute]);
    for i in 1..both {
        ops.push_all([load(i), store(i), compute]);
    }
    for i in both..from.count {
        ops.push_all([load(i), compute]);
    }
    for i in both..to.count {
        ops.push_all([store(i), compute]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_touched_once_but_the_first_of_the_source() {
        for (source, destination) in [(1, 1), (1, 2), (16, 16), (16, 17), (17, 16)] {
            let side = |first, count, kind| Lines { first, count, kind, dep: Dep::Free };
            let (from, to) =
                (side(100, source, LineKind::Rx), side(200, destination, LineKind::Tx));
            let mut ops = Ops::new(false);
            copy(&mut ops, from, to, 4);
            let lines = |wanted: fn(Op) -> Option<Line>| ops.iter().filter_map(wanted);
            let loads = lines(|op| match op {
                Op::Load { line, kind: LineKind::Rx, .. } => Some(line),
                _ => None,
            });
            let stores = lines(|op| match op {
                Op::Store { line, kind: LineKind::Tx, .. } => Some(line),
                _ => None,
            });
            assert!(loads.eq(101..100 + source), "{source} to {destination}");
            assert!(stores.eq(200..200 + destination), "{source} to {destination}");
            let computes = ops.iter().filter(|op| matches!(op, Op::Compute { instructions: 4 }));
            assert_eq!(computes.count() as u32, source.max(destination));
        }
    }
}
