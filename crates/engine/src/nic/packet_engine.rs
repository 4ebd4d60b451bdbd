//! How many packets a second the NIC processes in one direction, whatever their size: parsing, steering and
//! scheduling take their time for each packet.

use crate::serial::Serial;
use crate::stats::occupancy::Starvation;
use crate::time::Ps;
use crate::units::{BitRate, Rate};

/// One direction of the NIC's packet processing. A packet begins when the one before has had its time, and goes on
/// at once: only the rate is limited, and no latency is added.
#[derive(Clone, Debug)]
pub(crate) struct PacketEngine {
    /// A line that carries packets instead of bits; `None` if there is no limit.
    line: Option<Serial>,
    free_at: Ps,
    /// It has been promised to be asked again at `free_at`.
    asked_again: bool,
    /// Packets begun since measuring began.
    begun: u64,
    waiting: Starvation,
}

impl PacketEngine {
    pub(crate) fn new(rate: Option<Rate>) -> PacketEngine {
        PacketEngine {
            line: rate.map(|rate| Serial::new(BitRate(rate.0))),
            free_at: Ps::ZERO,
            asked_again: false,
            begun: 0,
            waiting: Starvation::default(),
        }
    }

    /// Whether the next packet can begin. If not, it waits.
    #[inline]
    pub(crate) fn is_free(&mut self, now: Ps) -> bool {
        let free = self.free_at <= now;
        if !free {
            self.waiting.begin(now);
        }
        free
    }

    /// Whether the next packet can begin at a later time.
    pub(crate) fn is_free_by(&self, then: Ps) -> bool {
        self.free_at <= then
    }

    /// When to ask again, for a packet that waits; `None` if somebody has been told already.
    pub(crate) fn ask_again(&mut self) -> Option<Ps> {
        (!std::mem::replace(&mut self.asked_again, true)).then_some(self.free_at)
    }

    /// The time has come to ask again: nothing waits for it any more.
    pub(crate) fn asked(&mut self, now: Ps) {
        self.asked_again = false;
        self.waiting.end(now);
    }

    /// A packet begins, for which it is free.
    #[inline]
    pub(crate) fn begin(&mut self, now: Ps) {
        if let Some(line) = &mut self.line {
            self.begun += 1;
            self.free_at = line.send(now, 1);
        }
    }

    /// How long it has been busy since measuring began, how many packets it has begun, and how long packets have
    /// waited for it; `None` if there is no limit.
    pub(crate) fn used(&self, now: Ps) -> Option<(Ps, u64, Ps)> {
        let line = self.line.as_ref()?;
        Some((line.busy(now), self.begun, self.waiting.time(now)))
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        if let Some(line) = &mut self.line {
            line.reset(now);
        }
        self.begun = 0;
        self.waiting.reset(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_begin_at_exactly_the_rate() {
        // 1/37 us each, which is no whole number of picoseconds.
        let mut engine = PacketEngine::new(Some(Rate(37_000_000)));
        let mut now = Ps::ZERO;
        for packet in 0..37_000 {
            if packet > 0 {
                assert!(!engine.is_free(now));
                now = engine.ask_again().expect("nobody has been told");
                assert_eq!(engine.ask_again(), None);
                engine.asked(now);
            }
            assert!(engine.is_free(now));
            engine.begin(now);
        }
        engine.is_free(now);
        now = engine.ask_again().unwrap();
        assert_eq!(now, Ps::from_ns(1_000_000));
        assert_eq!(engine.used(now), Some((now, 37_000, now)));
        engine.reset_counts(now);
        assert_eq!(engine.used(now), Some((Ps::ZERO, 0, Ps::ZERO)));
    }

    #[test]
    fn without_a_rate_any_number_begins_at_once() {
        let mut engine = PacketEngine::new(None);
        for _ in 0..1000 {
            assert!(engine.is_free(Ps(5)));
            engine.begin(Ps(5));
        }
        assert_eq!(engine.used(Ps(5)), None);
    }
}
