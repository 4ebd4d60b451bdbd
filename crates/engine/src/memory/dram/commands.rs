//! The command bus: which of the coming clocks are taken.

/// A constant power of two, so that an index needs no check but a mask.
const WORDS: usize = 64;

/// How far ahead of the present clock a command may be put.
pub(super) const HORIZON: u64 = (WORDS as u64 - 1) * 64;

/// A bit for each clock from the word of the present one on, in a ring.
#[derive(Clone, Debug)]
pub(super) struct CommandBus {
    taken: [u64; WORDS],
    /// The word of the present clock.
    first_word: u64,
}

impl CommandBus {
    pub(super) fn new() -> CommandBus {
        CommandBus { taken: [0; WORDS], first_word: 0 }
    }

    /// Moves on to the present clock: what lies before its word is forgotten.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        let word = now / 64;
        if word == self.first_word {
            return;
        }
        for old in self.first_word..word.min(self.first_word + WORDS as u64) {
            self.taken[old as usize % WORDS] = 0;
        }
        self.first_word = word;
    }

    /// The first clock from `from` on at which a command of one or two clocks may start.
    #[inline]
    pub(super) fn free_from(&self, from: u64, long: bool) -> u64 {
        let mut clock = from;
        loop {
            debug_assert!(clock < self.first_word * 64 + HORIZON, "a command too far ahead");
            let (word, bit) = (clock / 64, clock % 64);
            let low = self.taken[word as usize % WORDS] >> bit;
            // In two shifts, since one by 64 is none.
            let high = self.taken[(word + 1) as usize % WORDS] << 1 << (63 - bit);
            let mut free = !(low | high);
            if long {
                free &= free >> 1;
            }
            if free != 0 {
                return clock + u64::from(free.trailing_zeros());
            }
            clock += 63;
        }
    }

    /// Takes the clocks of a command that starts at `clock`.
    #[inline]
    pub(super) fn take(&mut self, clock: u64, long: bool) {
        for clock in clock..=clock + u64::from(long) {
            self.taken[(clock / 64) as usize % WORDS] |= 1 << (clock % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_take_the_first_free_clocks_across_words() {
        let mut bus = CommandBus::new();
        for clock in 60..70 {
            assert_eq!(bus.free_from(60, false), clock);
            bus.take(clock, false);
        }
        assert_eq!(bus.free_from(58, true), 58);
        assert_eq!(bus.free_from(59, true), 70, "59 alone is too short");
        bus.take(71, true);
        assert_eq!(bus.free_from(59, true), 73);
        assert_eq!(bus.free_from(70, false), 70);
        assert_eq!(bus.free_from(63, true), 73);
    }

    #[test]
    fn the_past_is_forgotten() {
        let mut bus = CommandBus::new();
        bus.take(3, false);
        bus.advance(64);
        assert_eq!(bus.free_from(WORDS as u64 * 64 - 70, false), WORDS as u64 * 64 - 70);
        bus.advance(WORDS as u64 * 64);
        assert_eq!(bus.free_from(WORDS as u64 * 64 + 3, false), WORDS as u64 * 64 + 3);
        bus.take(WORDS as u64 * 64 + 3, false);
        bus.advance(u64::from(u32::MAX));
        assert_eq!(bus.taken, [0; WORDS]);
    }
}
