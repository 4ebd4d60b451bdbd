//! What a control with windows of fractions of a packet has: the window itself, and its pacing.

use crate::time::Ps;
use crate::transport::fixed::{self, ONE};

/// A congestion window between the least and the largest that its control allows, in packets ([`ONE`] is one).
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    cwnd: u64,
    min: u64,
    max: u64,
    last_decrease: Ps,
}

impl Window {
    /// A window of `first` packets, from `min` to `max`.
    pub(super) fn new(first: f64, min: f64, max: f64) -> Window {
        let [cwnd, min, max] = [first, min, max].map(fixed::from_f64);
        Window { cwnd, min, max, last_decrease: Ps::ZERO }
    }

    /// Its packets.
    pub(super) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Sets it to `cwnd` packets, or the nearest that is allowed. Only an actual decrease counts as one.
    pub(super) fn set(&mut self, now: Ps, cwnd: u64) {
        let cwnd = cwnd.clamp(self.min, self.max);
        if cwnd < self.cwnd {
            self.last_decrease = now;
        }
        self.cwnd = cwnd;
    }

    /// Adds what `acked` acknowledgements add of `packets` a round trip. Below one packet there is no more than one
    /// acknowledgement in a round trip.
    pub(super) fn increase(&mut self, now: Ps, packets: u64, acked: u64) {
        let step = if self.cwnd >= ONE { fixed::div(packets, self.cwnd) } else { packets };
        self.set(now, self.cwnd + acked * step);
    }

    /// Whether a round trip has passed since it was last decreased.
    pub(super) fn can_decrease(&self, now: Ps, rtt: Ps) -> bool {
        now.saturating_sub(self.last_decrease) >= rtt
    }

    /// Takes this share of it, the whole being [`ONE`].
    pub(super) fn cut(&mut self, now: Ps, share: u64) {
        self.set(now, fixed::mul(self.cwnd, ONE - share));
    }
}

/// Time between packets of a window: a window of one packet or more is limited by itself. `rtt` is the
/// smoothed round trip. With only the last one, a window below one packet, which learns of the queue
/// several round trips late, oscillates with it between empty and full.
pub(super) fn pacing(cwnd: u64, rtt: Ps) -> Ps {
    if cwnd < ONE { Ps(fixed::div(rtt.0, cwnd)) } else { Ps::ZERO }
}
