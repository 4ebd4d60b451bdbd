//! The port that connects an on-chip NIC to the on-chip network: everything the NIC writes passes
//! through it, line by line.

use crate::memory::config::Noc;
use crate::memory::line::{LINE_BYTES, lines_in};
use crate::serial::Serial;
use crate::time::Ps;
use crate::units::{BitRate, Frequency};

/// The port and its usage counters.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    link: Serial,
    /// One-way latency of the network.
    latency: Ps,
    /// Messages sent since measuring began.
    sent: u64,
}

impl Port {
    pub(crate) fn new(frequency: Frequency, noc: &Noc) -> Port {
        Port {
            // The width is at most 1 KiB, so the product cannot overflow.
            link: Serial::new(BitRate(frequency.0 * 8 * noc.port_width.0)),
            latency: frequency.clock().at(u64::from(noc.latency_cycles)),
            sent: 0,
        }
    }

    pub(crate) fn latency(&self) -> Ps {
        self.latency
    }

    /// Sends a write of `bytes`; returns when it reaches the memory system.
    pub(crate) fn send(&mut self, now: Ps, bytes: u64) -> Ps {
        self.sent += 1;
        self.link.send(now, 8 * LINE_BYTES * u64::from(lines_in(bytes))) + self.latency
    }

    /// How long the port has been busy since measuring began, and how many messages it has been
    /// given.
    pub(crate) fn used(&self, now: Ps) -> (Ps, u64) {
        (self.link.busy(now), self.sent)
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.link.reset(now);
        self.sent = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use crate::units::Size;

    #[test]
    fn a_line_a_cycle_is_a_line_a_cycle_at_any_frequency() {
        // 312.5 ps at 3.2 GHz; a sixteenth of that when 16 lines go side by side.
        for (width, of_1000) in [(64, 312_500), (1024, 19_531)] {
            let noc = Noc { port_width: Size(width), ..machine().noc };
            let mut port = Port::new(Frequency(3_200_000_000), &noc);
            let last = (0..1000).map(|_| port.send(Ps::ZERO, 60)).last();
            assert_eq!(last, Some(Ps(of_1000) + port.latency()));
            let carried = last.expect("it was sent") - port.latency();
            assert_eq!(port.used(carried), (Ps(of_1000), 1000));
            // Time still ahead is not counted yet, but counts if measuring begins in the meantime.
            assert_eq!(port.used(Ps(of_1000 / 4)), (Ps(of_1000 / 4), 1000));
            port.reset_counts(Ps(of_1000 / 4));
            assert_eq!(port.used(Ps(of_1000 / 4)), (Ps::ZERO, 0));
            assert_eq!(port.used(carried + Ps(5)), (Ps(of_1000 - of_1000 / 4), 0));
        }
    }
}
