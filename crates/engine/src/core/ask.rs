//! What a core asks of the rest of the machine.

use super::op::Mark;
use crate::memory::line::Line;

/// What a core asks of the rest of the machine. Eight bytes, so that it is handed on in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    /// Miss register `0` goes to the LLC.
    Request(u16),
    /// A sweep message for so many lines from the first on.
    Sweep(Line, u16),
    /// A `clwb`.
    WriteBack(Line),
    /// The program has reached a mark.
    Mark(Mark, u32),
}
