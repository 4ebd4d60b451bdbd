//! What serves one thing after another: by the time that each takes, and as a line, exactly at a bit
//! rate.

use crate::time::{PS_PER_S, Ps};
use crate::units::BitRate;

/// Something that serves what it is given in turn, and is never idle while anything is left.
#[derive(Clone, Debug, Default)]
pub(crate) struct InTurn {
    /// When it is done with all that it has been given.
    free_at: Ps,
    /// The time that this takes, since measuring began: including what was still ahead then, and what
    /// is ahead now.
    given: Ps,
}

impl InTurn {
    /// Gives it work that takes `time`; returns when that is done.
    #[inline]
    pub(crate) fn serve(&mut self, now: Ps, time: Ps) -> Ps {
        self.free_at = self.free_at.max(now);
        self.append(time)
    }

    /// Adds work right behind what it has been given.
    #[inline]
    fn append(&mut self, time: Ps) -> Ps {
        self.free_at += time;
        self.given += time;
        self.free_at
    }

    /// How long it has been busy since measuring began, up to `now`, which is not before the last work
    /// was given. It never idles while there is work, so what it has not done yet is exactly what lies
    /// ahead of `now`.
    pub(crate) fn busy(&self, now: Ps) -> Ps {
        self.given - self.free_at.saturating_sub(now)
    }

    /// Starts the measured time.
    pub(crate) fn reset(&mut self, now: Ps) {
        self.given = self.free_at.saturating_sub(now);
    }
}

/// A line of messages. Their end times are exact: rounding errors do not accumulate.
#[derive(Clone, Debug)]
pub(crate) struct Serial {
    /// Bits per second.
    rate: u128,
    /// The line, in whole picoseconds, and the remainder that rounding cut off, in picoseconds times
    /// the rate.
    line: InTurn,
    rest: u128,
}

impl Serial {
    /// An idle line of `rate`, which is above zero.
    pub(crate) fn new(rate: BitRate) -> Serial {
        Serial { rate: u128::from(rate.0), line: InTurn::default(), rest: 0 }
    }

    /// Gives a message to the line; returns when its last bit is out.
    pub(crate) fn send(&mut self, now: Ps, bits: u64) -> Ps {
        if self.line.free_at < now {
            (self.line.free_at, self.rest) = (now, 0);
        }
        self.append(bits)
    }

    /// Gives the line a message whose last bit would be out at `due` if the line were idle; returns
    /// when it is.
    pub(crate) fn ends(&mut self, due: Ps, bits: u64) -> Ps {
        let free_at = self.append(bits);
        if due >= free_at {
            (self.line.free_at, self.rest) = (due, 0);
        }
        self.line.free_at
    }

    /// Appends `bits` to what the line has been given; returns when the last bit is out.
    fn append(&mut self, bits: u64) -> Ps {
        let time = u128::from(bits) * PS_PER_S + self.rest;
        self.rest = time % self.rate;
        self.line.append(Ps((time / self.rate) as u64))
    }

    /// When the last bit of all messages will be out.
    pub(crate) fn free_at(&self) -> Ps {
        self.line.free_at
    }

    /// How long the line has been busy since measuring began, up to `now`, which is not before the last
    /// message was given. Not for a line that is told its `ends`: they move it without work.
    pub(crate) fn busy(&self, now: Ps) -> Ps {
        self.line.busy(now)
    }

    /// Starts the measured time.
    pub(crate) fn reset(&mut self, now: Ps) {
        self.line.reset(now);
    }

    /// Bytes that are not out yet, including the one that has begun.
    pub(crate) fn waiting_bytes(&self, now: Ps) -> u64 {
        let time = u128::from(self.line.free_at.saturating_sub(now).0);
        (time * self.rate).div_ceil(8 * PS_PER_S) as u64
    }

    /// The capacity of the line, GB/s (bytes per nanosecond).
    pub(crate) fn limit_gbytes_per_s(&self) -> f64 {
        self.rate as f64 / 8e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_leave_in_order_at_the_rate_of_the_line() {
        let mut line = Serial::new(BitRate(100_000_000_000));
        let out: Vec<Ps> = (0..3).map(|_| line.send(Ps::ZERO, 10_000)).collect();
        assert_eq!(out, [100, 200, 300].map(Ps::from_ns));
        assert_eq!(line.waiting_bytes(Ps::from_ns(100)), 2500);
        assert_eq!(line.send(Ps::from_ns(1000), 10_000), Ps::from_ns(1100));
        assert_eq!(line.limit_gbytes_per_s(), 12.5);
    }

    #[test]
    fn what_lies_ahead_counts_when_it_is_done() {
        // Three messages of a third of a microsecond each, and one after a pause.
        let mut line = Serial::new(BitRate(3_000_000_000));
        (0..3).for_each(|_| {
            line.send(Ps::from_ns(100), 1000);
        });
        assert_eq!(line.busy(Ps::from_ns(100)), Ps::ZERO);
        assert_eq!(line.busy(Ps::from_ns(500)), Ps::from_ns(400));
        line.reset(Ps::from_ns(500));
        assert_eq!(line.busy(Ps::from_ns(500)), Ps::ZERO);
        assert_eq!(line.busy(Ps::from_ns(1100)), Ps::from_ns(600));
        assert_eq!(line.busy(Ps::from_ns(5000)), Ps::from_ns(600));
        line.send(Ps::from_ns(5000), 3000);
        assert_eq!(line.busy(Ps::from_ns(5250)), Ps::from_ns(600 + 250));
    }

    #[test]
    fn the_mean_is_exact_for_a_rate_that_no_picosecond_divides() {
        let mut line = Serial::new(BitRate(3_000_000_000));
        let last = (0..3000).map(|_| line.send(Ps::ZERO, 1000)).last();
        assert_eq!(last, Some(Ps::from_us(1000)));
    }
}
