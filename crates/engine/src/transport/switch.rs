//! The switch port in front of the server: one first-in-first-out queue with a bounded buffer and an
//! ECN threshold on its instantaneous length (DCTCP, SIGCOMM 2010, section 3.1).

use crate::config::units::{BitRate, Size};
use crate::time::Ps;
use crate::wire::WIRE_OVERHEAD_BYTES;

const PS_PER_S: u128 = 1_000_000_000_000;

/// A link that sends one frame after the other.
#[derive(Clone, Debug)]
pub(super) struct Port {
    rate: u128,
    /// When the last bit of what it has been given is out: whole picoseconds, and what rounding cut
    /// off, in picoseconds times the rate.
    free_at: Ps,
    rest: u128,
}

impl Port {
    pub(super) fn new(rate: BitRate) -> Port {
        Port { rate: u128::from(rate.0), free_at: Ps::ZERO, rest: 0 }
    }

    /// A frame is given to the port: when its last bit is out.
    pub(super) fn send(&mut self, now: Ps, bytes: u32) -> Ps {
        if self.free_at < now {
            (self.free_at, self.rest) = (now, 0);
        }
        let bits = u128::from(bytes + WIRE_OVERHEAD_BYTES) * 8;
        let time = bits * PS_PER_S + self.rest;
        self.free_at += Ps((time / self.rate) as u64);
        self.rest = time % self.rate;
        self.free_at
    }

    /// Bytes on the wire that are not out yet. With a fixed rate and a fixed order the time until the
    /// port is free says all of the queue.
    fn waiting_bytes(&self, now: Ps) -> u64 {
        let time = u128::from(self.free_at.saturating_sub(now).0);
        (time * self.rate).div_ceil(8 * PS_PER_S) as u64
    }
}

/// The port and its queue.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    port: Port,
    buffer: u64,
    ecn_threshold: Option<u64>,
}

impl Switch {
    pub(super) fn new(rate: BitRate, buffer: Size, ecn_threshold: Option<Size>) -> Switch {
        Switch {
            port: Port::new(rate),
            buffer: buffer.0,
            ecn_threshold: ecn_threshold.map(|s| s.0),
        }
    }

    /// A frame has arrived: when it is at the server, and whether it was marked; nothing if the
    /// buffer has no room.
    pub(super) fn forward(&mut self, now: Ps, bytes: u32) -> Option<(Ps, bool)> {
        let waiting = self.waiting_bytes(now);
        if waiting + u64::from(bytes) > self.buffer {
            return None;
        }
        let marked = self.ecn_threshold.is_some_and(|threshold| waiting > threshold);
        Some((self.port.send(now, bytes), marked))
    }

    /// Bytes in the queue.
    pub(super) fn waiting_bytes(&self, now: Ps) -> u64 {
        self.port.waiting_bytes(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_leave_in_order_at_the_rate_of_the_link() {
        let mut port = Port::new(BitRate(100_000_000_000));
        // 1226 + 24 bytes are 100 ns at 100 Gbps.
        let out: Vec<Ps> = (0..3).map(|_| port.send(Ps::ZERO, 1226)).collect();
        assert_eq!(out, [100, 200, 300].map(Ps::from_ns));
        assert_eq!(port.waiting_bytes(Ps::from_ns(100)), 2500);
        assert_eq!(port.send(Ps::from_ns(1000), 1226), Ps::from_ns(1100));
        // A rate that no picosecond divides: the mean is exact.
        let mut port = Port::new(BitRate(3_000_000_000));
        let last = (0..3000).map(|_| port.send(Ps::ZERO, 101)).last();
        assert_eq!(last, Some(Ps::from_us(1000)));
    }

    #[test]
    fn what_finds_more_than_the_threshold_is_marked_and_what_finds_no_room_is_dropped() {
        let (buffer, threshold) = (Size(5000), Some(Size(1250)));
        let mut switch = Switch::new(BitRate(100_000_000_000), buffer, threshold);
        let fates: Vec<Option<bool>> =
            (0..5).map(|_| switch.forward(Ps::ZERO, 1226).map(|f| f.1)).collect();
        assert_eq!(fates, [Some(false), Some(false), Some(true), Some(true), None]);
        assert_eq!(switch.forward(Ps::from_ns(400), 1226), Some((Ps::from_ns(500), false)));
    }
}
