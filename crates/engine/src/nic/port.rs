//! The port of a NIC on the chip to the on-chip network: what the NIC writes goes through it line
//! after line.

use crate::memory::config::Noc;
use crate::memory::line::{LINE_BYTES, lines_in};
use crate::time::Ps;
use crate::units::Frequency;

/// The port, and how it was used.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// What a line takes.
    line: Ps,
    /// One way through the network.
    latency: Ps,
    free_at: Ps,
    busy: Ps,
    /// Messages since the measured time began.
    sent: u64,
}

impl Port {
    pub(crate) fn new(frequency: Frequency, noc: &Noc) -> Port {
        let clock = frequency.clock();
        Port {
            line: Ps(clock.at(LINE_BYTES).0 / noc.port_width.0),
            latency: clock.at(u64::from(noc.latency_cycles)),
            free_at: Ps::ZERO,
            busy: Ps::ZERO,
            sent: 0,
        }
    }

    pub(crate) fn latency(&self) -> Ps {
        self.latency
    }

    /// A write of `bytes` leaves the NIC: when it is at the memory system.
    pub(crate) fn send(&mut self, now: Ps, bytes: u64) -> Ps {
        let time = Ps(self.line.0 * u64::from(lines_in(bytes)));
        self.free_at = self.free_at.max(now) + time;
        self.busy += time;
        self.sent += 1;
        self.free_at + self.latency
    }

    /// Since the measured time began: how long it carried something, and how many messages.
    pub(crate) fn used(&self) -> (Ps, u64) {
        (self.busy, self.sent)
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self) {
        self.busy = Ps::ZERO;
        self.sent = 0;
    }
}
