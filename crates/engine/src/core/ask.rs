//! Requests from a core to the rest of the machine.

use super::op::Mark;
use crate::memory::line::Line;

/// A request from a core to the rest of the machine. Eight bytes, so that it is passed in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    /// The request of this miss register goes to the LLC.
    Request(u16),
    /// A sweep message: its first line, and how many lines it covers.
    Sweep(Line, u16),
    /// A `clwb`.
    WriteBack(Line),
    /// The IOMMU is to do an invalidation, for which the core waits.
    Invalidate,
    /// The program has reached a mark.
    Mark(Mark, u32),
}
