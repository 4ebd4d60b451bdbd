//! The line rate of the link into the NIC: frames cannot arrive closer together than the link carries them.

use crate::frame::wire_bits;
use crate::serial::Serial;
use crate::time::Ps;
use crate::units::BitRate;

/// The link. Senders that are ahead of it wait, so no frame is lost here.
#[derive(Clone, Debug)]
pub(crate) struct LineRate(Serial);

impl LineRate {
    /// A link of `rate`, which is above zero.
    pub(crate) fn new(rate: BitRate) -> LineRate {
        LineRate(Serial::new(rate))
    }

    /// Returns when a frame of `bytes` arrives whose last bit would arrive at `due` on an otherwise
    /// idle link.
    pub(crate) fn arrives(&mut self, due: Ps, bytes: u32) -> Ps {
        self.0.ends(due, wire_bits(bytes))
    }

    /// Sends `bits` of a frame that are ready at `ready`; returns when the last bit is on the link.
    pub(crate) fn sends(&mut self, ready: Ps, bits: u64) -> Ps {
        self.0.send(ready, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_ready_at_once_arrive_at_the_line_rate() {
        let mut link = LineRate::new("25 Gbps".parse().unwrap());
        let mut last = Ps::ZERO;
        for _ in 0..10_000 {
            last = link.arrives(Ps::ZERO, 1514);
        }
        // 10 000 frames of 1538 bytes with preamble, FCS and gap: 123.04 Mbit at 25 Gbit/s.
        assert_eq!(last, Ps(4_921_600_000));
    }

    #[test]
    fn what_is_sent_takes_its_time_on_an_idle_link_too() {
        let mut link = LineRate::new("10 Gbps".parse().unwrap());
        assert_eq!(link.sends(Ps::from_ns(100), 5120), Ps::from_ns(612));
        assert_eq!(link.sends(Ps::from_ns(600), 5120), Ps::from_ns(1124));
    }

    #[test]
    fn frames_far_apart_arrive_when_they_are_due() {
        let mut link = LineRate::new("100 Gbps".parse().unwrap());
        for us in 1..100 {
            assert_eq!(link.arrives(Ps::from_us(us), 60), Ps::from_us(us));
        }
    }
}
