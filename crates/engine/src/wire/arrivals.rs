//! The closed set of packet sources whose packets arrive at given times.

use super::Arrival;
use super::bursts::Bursts;
use super::constant::Constant;
use super::draw::Draw;
use super::poisson::Poisson;
use super::replay::Replay;
use crate::stats::results::CaptureFacts;
use crate::units::Rate;

/// An endless stream of packets in time order.
///
/// Contract: times never decrease; a clone continues exactly as the original would have; nothing
/// is allocated after construction.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Packets at equal intervals.
    Constant(Constant, Draw),
    /// Packets at exponentially distributed intervals.
    Poisson(Poisson, Draw),
    /// A constant rate that is switched on and off.
    Bursts(Bursts, Draw),
    /// The packets of a capture.
    Replay(Replay),
}

impl Arrivals {
    /// The next packet.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "endless: an Option would never be None")]
    pub fn next(&mut self) -> Arrival {
        match self {
            Arrivals::Constant(times, draw) => draw.draw(times.next()),
            Arrivals::Poisson(times, draw) => draw.draw(times.next()),
            Arrivals::Bursts(times, draw) => draw.draw(times.next()),
            Arrivals::Replay(replay) => replay.next(),
        }
    }

    /// From the last returned packet on, packets come at `mean` on average, pauses and rounds
    /// included; this is what a search for the peak rate varies. Sizes, flows, burst lengths and
    /// the shape of a capture stay the same.
    ///
    /// # Panics
    /// If `mean` is zero.
    pub fn set_rate(&mut self, mean: Rate) {
        assert!(mean.0 > 0, "arrivals need a rate above zero");
        match self {
            Arrivals::Constant(times, _) => times.set_rate(mean),
            Arrivals::Poisson(times, _) => times.set_rate(mean),
            Arrivals::Bursts(times, _) => times.set_rate(mean),
            Arrivals::Replay(replay) => replay.set_rate(mean),
        }
    }

    /// For reports only: the offered packets per second, averaged over pauses and rounds.
    pub fn mean_rate_f64(&self) -> f64 {
        match self {
            Arrivals::Constant(times, _) => times.mean_f64(),
            Arrivals::Poisson(times, _) => times.mean_f64(),
            Arrivals::Bursts(times, _) => times.mean_f64(),
            Arrivals::Replay(replay) => replay.mean_f64(),
        }
    }

    /// For reports only: the capture that is replayed, if one is.
    pub fn capture_facts(&self) -> Option<CaptureFacts> {
        match self {
            Arrivals::Replay(replay) => Some(replay.capture().facts()),
            Arrivals::Constant(..) | Arrivals::Poisson(..) | Arrivals::Bursts(..) => None,
        }
    }
}
