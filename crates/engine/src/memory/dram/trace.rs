//! The command trace of a channel, for the tests: outside them it is empty and costs nothing.

/// What a command does; column commands with `close` set (auto-precharge) close their row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "recorded and read by the tests only"))]
pub(super) enum Kind {
    Activate,
    Precharge,
    PrechargeAll,
    Read { close: bool },
    Write { close: bool },
    Refresh,
}

impl Kind {
    pub(super) fn column(write: bool, close: bool) -> Kind {
        if write { Kind::Write { close } } else { Kind::Read { close } }
    }
}

/// A command as seen on the command bus.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// First clock of the command.
    pub clock: u64,
    pub kind: Kind,
    /// Bank of the channel; for a command to a whole rank, the rank's first bank.
    pub bank: u16,
    /// Row of an activate or column command.
    pub row: u32,
}

/// Recorded commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    #[cfg(test)]
    pub commands: Vec<Command>,
}

impl Trace {
    #[inline]
    #[cfg_attr(not(test), allow(unused_variables, clippy::unused_self))]
    pub(super) fn record(&mut self, clock: u64, kind: Kind, bank: u16, row: u32) {
        #[cfg(test)]
        self.commands.push(Command { clock, kind, bank, row });
    }
}
