//! The command bus: which of the coming clocks are taken.

/// How far ahead of the present clock a command may be put.
pub(super) const AHEAD: u64 = 32;

/// The present clock and the 63 that follow, one bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandBus {
    now: u64,
    taken: u64,
}

impl CommandBus {
    /// Moves on to the present clock.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        let gone = now - self.now;
        self.taken = if gone < 64 { self.taken >> gone } else { 0 };
        self.now = now;
    }

    /// The first clock from `from` on at which a command of one or two clocks may start; `from` must
    /// lie less than [`AHEAD`] after the present clock.
    #[inline]
    pub(super) fn free(&self, from: u64, long: bool) -> u64 {
        let mut free = !self.taken;
        if long {
            free &= free >> 1;
        }
        from + u64::from((free >> (from - self.now)).trailing_zeros())
    }

    /// The first from the present one on.
    #[inline]
    pub(super) fn next(&self, long: bool) -> u64 {
        self.free(self.now, long)
    }

    /// Whether it lies less than [`AHEAD`] from it, as it must for any command but the next ones on
    /// the data bus.
    #[inline]
    pub(super) fn is_near(&self) -> bool {
        self.taken >> AHEAD == 0
    }

    /// Takes the clocks of a command that starts at `clock`.
    #[inline]
    pub(super) fn take(&mut self, clock: u64, long: bool) {
        let bits = if long { 3 } else { 1 };
        debug_assert!(self.taken >> (clock - self.now) & bits == 0, "two commands at once");
        self.taken |= bits << (clock - self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_take_the_first_free_clocks() {
        let mut bus = CommandBus::default();
        bus.advance(1000);
        for clock in 1000..=1000 + AHEAD {
            assert!(bus.is_near());
            assert_eq!(bus.next(false), clock);
            bus.take(clock, false);
        }
        assert!(!bus.is_near());
        bus.advance(1030);
        bus.take(1034, true);
        assert_eq!(
            (bus.next(false), bus.next(true)),
            (1033, 1036),
            "one clock is too short for two"
        );
        assert_eq!(bus.free(1034, false), 1036);
        bus.advance(1094);
        assert_eq!(bus.next(true), 1094, "the past is forgotten");
    }
}
