//! The rate of a connection under a rate-based control.

use super::Path;
use crate::time::{PS_PER_S, Ps};
use crate::transport::fixed::{self, ONE};
use crate::units::BitRate;

/// Bits after the point.
const POINT: u32 = 8;

/// A rate between the least that its control allows and that of the sender's link.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    /// Bits per second with [`POINT`] bits after the point, like the next two.
    now: u64,
    min: u64,
    max: u64,
    frame_bits: u64,
}

impl Rate {
    pub(super) fn new(first: BitRate, min: BitRate, path: &Path) -> Rate {
        let of = |rate: BitRate| rate.0 << POINT;
        let mut rate =
            Rate { now: 0, min: of(min), max: of(path.link), frame_bits: path.frame_bits };
        rate.set(of(first));
        rate
    }

    fn set(&mut self, rate: u64) {
        self.now = rate.clamp(self.min, self.max);
    }

    pub(super) fn increase(&mut self, by: BitRate) {
        self.set(self.now.saturating_add(by.0.saturating_mul(1 << POINT)));
    }

    /// Takes this share of the rate, the whole being [`ONE`].
    pub(super) fn cut(&mut self, share: u64) {
        self.set(fixed::mul(self.now, ONE - share));
    }

    /// Goes half of the way to another rate.
    pub(super) fn approach(&mut self, other: &Rate) {
        self.set(self.now.midpoint(other.now));
    }

    /// Whole bits per second.
    pub(super) fn bit_rate(&self) -> BitRate {
        BitRate(self.now >> POINT)
    }

    /// Time from one frame to the next at this rate.
    pub(super) fn pacing(&self) -> Ps {
        let bits = (u128::from(self.frame_bits) * PS_PER_S) << POINT;
        Ps(u64::try_from(bits / u128::from(self.now)).unwrap_or(u64::MAX))
    }

    /// For tests.
    #[cfg(test)]
    pub(super) fn gbps(&self) -> f64 {
        self.now as f64 / f64::from(1 << POINT) / 1e9
    }
}
