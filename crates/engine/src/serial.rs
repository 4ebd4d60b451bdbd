//! A line that carries one message after another, exactly at a bit rate.

use crate::time::{PS_PER_S, Ps};
use crate::units::BitRate;

/// A line of messages. Their end times are exact: rounding errors do not accumulate.
#[derive(Clone, Debug)]
pub(crate) struct Serial {
    /// Bits per second.
    rate: u128,
    /// When the last bit given to the line is out: whole picoseconds, and the remainder that
    /// rounding cut off, in picoseconds times the rate.
    free_at: Ps,
    rest: u128,
}

impl Serial {
    /// An idle line of `rate`, which is above zero.
    pub(crate) fn new(rate: BitRate) -> Serial {
        Serial { rate: u128::from(rate.0), free_at: Ps::ZERO, rest: 0 }
    }

    /// Gives a message to the line; returns when its last bit is out.
    pub(crate) fn send(&mut self, now: Ps, bits: u64) -> Ps {
        if self.free_at < now {
            (self.free_at, self.rest) = (now, 0);
        }
        self.append(bits)
    }

    /// Gives the line a message whose last bit would be out at `due` if the line were idle; returns
    /// when it is.
    pub(crate) fn ends(&mut self, due: Ps, bits: u64) -> Ps {
        let free_at = self.append(bits);
        if due >= free_at {
            (self.free_at, self.rest) = (due, 0);
        }
        self.free_at
    }

    /// Appends `bits` to what the line has been given; returns when the last bit is out.
    fn append(&mut self, bits: u64) -> Ps {
        let time = u128::from(bits) * PS_PER_S + self.rest;
        self.free_at += Ps((time / self.rate) as u64);
        self.rest = time % self.rate;
        self.free_at
    }

    /// Bytes that are not out yet, including the one that has begun.
    pub(crate) fn waiting_bytes(&self, now: Ps) -> u64 {
        let time = u128::from(self.free_at.saturating_sub(now).0);
        (time * self.rate).div_ceil(8 * PS_PER_S) as u64
    }

    /// How long it takes to carry `bytes` bytes.
    pub(crate) fn time(&self, bytes: u64) -> Ps {
        Ps((u128::from(8 * bytes) * PS_PER_S / self.rate) as u64)
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
        assert_eq!((line.time(1250), line.limit_gbytes_per_s()), (Ps::from_ns(100), 12.5));
    }

    #[test]
    fn the_mean_is_exact_for_a_rate_that_no_picosecond_divides() {
        let mut line = Serial::new(BitRate(3_000_000_000));
        let last = (0..3000).map(|_| line.send(Ps::ZERO, 1000)).last();
        assert_eq!(last, Some(Ps::from_us(1000)));
    }
}
