//! The switch port in front of the server: one first-in-first-out queue with a bounded buffer and
//! an ECN threshold on its instantaneous length (DCTCP, SIGCOMM 2010, section 3.1). Lengths are in
//! bytes on the wire, including its overhead of 24 bytes per frame.

use super::telemetry::Hop;
use crate::frame::wire_bits;
use crate::serial::Serial;
use crate::time::Ps;
use crate::units::{BitRate, Size};

/// The port and its queue.
#[derive(Clone, Debug)]
pub(super) struct Switch {
    port: Serial,
    buffer: u64,
    ecn_threshold: Option<u64>,
    /// Bits that it has taken since the run began.
    taken_bits: u64,
}

impl Switch {
    pub(super) fn new(rate: BitRate, buffer: Size, ecn_threshold: Option<Size>) -> Switch {
        Switch {
            port: Serial::new(rate),
            buffer: buffer.0,
            ecn_threshold: ecn_threshold.map(|s| s.0),
            taken_bits: 0,
        }
    }

    /// A frame arrives at the port. Returns when it reaches the server and whether it was marked;
    /// `None` if the buffer has no room.
    pub(super) fn forward(&mut self, now: Ps, bytes: u32) -> Option<(Ps, bool)> {
        let waiting = self.waiting_bytes(now);
        if waiting + wire_bits(bytes) / 8 > self.buffer {
            return None;
        }
        let marked = self.ecn_threshold.is_some_and(|threshold| waiting > threshold);
        self.taken_bits += wire_bits(bytes);
        Some((self.port.send(now, wire_bits(bytes)), marked))
    }

    /// What the port tells of itself when a packet leaves it.
    pub(super) fn hop(&self, now: Ps) -> Hop {
        let queue_bits = 8 * self.waiting_bytes(now);
        Hop { at: now, sent_bits: self.taken_bits.saturating_sub(queue_bits), queue_bits }
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
    fn what_finds_more_than_the_threshold_is_marked_and_what_finds_no_room_is_dropped() {
        let (buffer, threshold) = (Size(5000), Some(Size(1250)));
        let mut switch = Switch::new(BitRate(100_000_000_000), buffer, threshold);
        let fates: Vec<Option<bool>> =
            (0..5).map(|_| switch.forward(Ps::ZERO, 1226).map(|f| f.1)).collect();
        assert_eq!(fates, [Some(false), Some(false), Some(true), Some(true), None]);
        assert_eq!(switch.forward(Ps::from_ns(400), 1226), Some((Ps::from_ns(500), false)));
    }
}
