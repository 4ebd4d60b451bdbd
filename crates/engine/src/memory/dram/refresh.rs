//! When each rank of a channel must be refreshed.

use std::collections::VecDeque;

use super::config::Refresh;

/// The refresh calendar of a channel.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// Per rank, the clock of its next refresh; empty when refresh is off.
    due: Vec<u64>,
    interval: u64,
    /// Smallest of `due`.
    next: u64,
    /// Ranks whose refresh is due and not yet issued, in order.
    pending: VecDeque<u32>,
    /// Whether any are pending.
    is_due: bool,
}

impl Calendar {
    pub(super) fn new(mode: Refresh, ranks: u32, interval: u32) -> Calendar {
        let interval = u64::from(interval);
        let due: Vec<u64> = match mode {
            Refresh::Off => Vec::new(),
            Refresh::AllRanks => vec![interval; ranks as usize],
            Refresh::Staggered => {
                (1..=u64::from(ranks)).map(|r| r * interval / u64::from(ranks)).collect()
            }
        };
        let next = due.iter().copied().min().unwrap_or(u64::MAX);
        // A rank is refreshed before it falls due again (checked with the configuration).
        Calendar {
            due,
            interval,
            next,
            is_due: false,
            pending: VecDeque::with_capacity(2 * ranks as usize),
        }
    }

    /// The clock at which the next rank falls due.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Moves the ranks that are due at `clock` to the pending ones.
    pub(super) fn collect(&mut self, clock: u64) {
        for (rank, due) in self.due.iter_mut().enumerate() {
            if *due <= clock {
                self.pending.push_back(rank as u32);
                *due += self.interval;
                self.is_due = true;
            }
        }
        self.next = self.due.iter().copied().min().unwrap_or(u64::MAX);
    }

    /// Whether a rank is to be refreshed now.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// The rank to be refreshed now, if any.
    #[inline]
    pub(super) fn head(&self) -> Option<u32> {
        if self.is_due { self.pending.front().copied() } else { None }
    }

    /// The rank at the head was refreshed.
    pub(super) fn done(&mut self) {
        self.pending.pop_front();
        self.is_due = !self.pending.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_fall_due_together_and_staggered_ones_in_turn() {
        let mut all = Calendar::new(Refresh::AllRanks, 4, 100);
        assert_eq!(all.next(), 100);
        all.collect(100);
        assert_eq!(all.pending, [0, 1, 2, 3]);
        assert_eq!(all.next(), 200);

        let mut turns = Calendar::new(Refresh::Staggered, 4, 100);
        for (clock, rank) in [(25, 0), (50, 1), (75, 2), (100, 3), (125, 0)] {
            assert_eq!(turns.next(), clock);
            turns.collect(clock);
            assert_eq!(turns.head(), Some(rank));
            turns.done();
        }
        assert_eq!(Calendar::new(Refresh::Off, 4, 100).next(), u64::MAX);
    }
}
