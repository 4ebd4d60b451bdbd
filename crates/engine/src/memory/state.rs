//! The state of a cached line, one byte, and an evicted line with its state.

use super::line::{Line, LineKind};

/// State of a cached line: dirty, writable, written by I/O, and its [`LineKind`], in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct State(u8);

impl State {
    const KIND: u8 = 0b0000_0111;
    const DIRTY: u8 = 0b1000_0000;
    const WRITABLE: u8 = 0b0100_0000;
    const IO: u8 = 0b0010_0000;

    /// A clean line that other caches may hold too.
    pub(crate) const fn shared(kind: LineKind) -> State {
        State(kind as u8)
    }
    /// The line as the NIC has just written it.
    pub(crate) const fn written_by_io(kind: LineKind) -> State {
        State(kind as u8 | Self::DIRTY | Self::IO)
    }
    pub(crate) const fn dirty(self) -> bool {
        self.0 & Self::DIRTY != 0
    }
    pub(crate) const fn writable(self) -> bool {
        self.0 & Self::WRITABLE != 0
    }
    pub(crate) const fn io(self) -> bool {
        self.0 & Self::IO != 0
    }
    pub(crate) fn kind(self) -> LineKind {
        LineKind::ALL[(self.0 & Self::KIND) as usize]
    }
    pub(crate) const fn with_dirty(self, dirty: bool) -> State {
        State(if dirty { self.0 | Self::DIRTY } else { self.0 & !Self::DIRTY })
    }
    /// After a store: the data is of the kind that the software names, whatever kind the line was
    /// fetched as.
    pub(crate) const fn stored(self, kind: LineKind) -> State {
        State(self.0 & !Self::KIND | kind as u8 | Self::DIRTY)
    }
    /// After the copy of a level above has come down.
    pub(crate) const fn merged(self, upper: State) -> State {
        if upper.dirty() {
            State(self.0 & !Self::KIND | upper.0 & Self::KIND | Self::DIRTY)
        } else {
            self
        }
    }
    pub(crate) const fn with_writable(self, writable: bool) -> State {
        State(if writable { self.0 | Self::WRITABLE } else { self.0 & !Self::WRITABLE })
    }
    /// The line after a core has held it: that I/O once wrote it no longer matters.
    pub(crate) const fn without_io(self) -> State {
        State(self.0 & !Self::IO)
    }
}

/// A line that left a cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evicted {
    pub(crate) line: Line,
    pub(crate) state: State,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_holds_its_parts_apart() {
        let s = State::written_by_io(LineKind::Descriptor);
        assert!(s.dirty() && s.io() && !s.writable());
        assert_eq!(s.kind(), LineKind::Descriptor);
        let s = s.without_io().with_writable(true).with_dirty(false);
        assert!(!s.dirty() && !s.io() && s.writable());
        assert_eq!(s.kind(), LineKind::Descriptor);
        let stored = s.stored(LineKind::App);
        assert!(stored.dirty() && stored.writable() && stored.kind() == LineKind::App);
        assert_eq!(s.merged(stored), stored);
        assert_eq!(s.merged(State::shared(LineKind::Rx)), s);
    }
}
