//! The link between NIC and processor: TLPs with their overhead, both directions, and the credits
//! that bound what is in flight.
//!
//! Gen3 and later use 128b/130b coding. A TLP carries 24 bytes of framing, sequence number, header
//! and LCRC as a write with a 64-bit address or a read request, and 20 bytes as a completion; flow
//! control and acknowledgements cost 8 bytes a TLP, and SKIP ordered sets 4 bytes in 1538 (the
//! pcie-model values of the reference facts, section D).

use crate::config::machine::Pcie as Config;
use crate::time::Ps;

const WRITE_OVERHEAD: u64 = 24;
const REQUEST_BYTES: u64 = 24;
const COMPLETION_OVERHEAD: u64 = 20;
/// A DLLP of acknowledgement or flow control, counted once per TLP in the direction of the TLP: what
/// the other direction's TLPs need.
const DLLP_BYTES: u64 = 8;
/// The most data one completion carries (the read completion boundary of root ports is 64 bytes;
/// they return up to the maximum payload).
const SKIP: (u64, u64) = (1538, 1538 + 4);

/// One direction of the link.
#[derive(Clone, Debug, Default)]
struct Direction {
    free_at: Ps,
    busy: Ps,
}

/// The link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Femtoseconds to move a byte, all lanes, coding and SKIPs included.
    fs_per_byte: u64,
    latency: Ps,
    max_payload: u64,
    /// Bytes that one read request asks for at most.
    pub(crate) max_read_request: u64,
    up: Direction,
    down: Direction,
}

impl Link {
    pub(crate) fn new(config: &Config) -> Link {
        // Gen3: 8 GT/s a lane; every generation doubles it.
        let bits_per_us = 8_000 * (1 << (config.generation - 3)) * u64::from(config.lanes);
        // 8 bits a byte, 130 for 128, SKIPs: in femtoseconds (10^9 in a microsecond).
        let fs = 8 * 1_000_000_000_u64 * 130 * SKIP.1 / (bits_per_us * 128 * SKIP.0);
        Link {
            fs_per_byte: fs,
            latency: config.latency.ps(),
            max_payload: config.max_payload.0,
            max_read_request: config.max_read_request.0,
            up: Direction::default(),
            down: Direction::default(),
        }
    }

    /// One way through link, root port and I/O controller.
    pub(crate) fn latency(&self) -> Ps {
        self.latency
    }

    fn send(fs_per_byte: u64, direction: &mut Direction, now: Ps, bytes: u64) -> Ps {
        let time = Ps(bytes * fs_per_byte / 1_000);
        direction.free_at = direction.free_at.max(now) + time;
        direction.busy += time;
        direction.free_at
    }

    /// A write of at most the maximum payload leaves the NIC: when it has left, and when it is at
    /// the memory system.
    pub(crate) fn write(&mut self, now: Ps, bytes: u64) -> (Ps, Ps) {
        debug_assert!(bytes <= self.max_payload);
        let wire = bytes + WRITE_OVERHEAD + DLLP_BYTES;
        let left = Self::send(self.fs_per_byte, &mut self.up, now, wire);
        (left, left + self.latency)
    }

    /// A read request leaves the NIC: when it is at the memory system.
    pub(crate) fn request(&mut self, now: Ps) -> Ps {
        let wire = REQUEST_BYTES + DLLP_BYTES;
        Self::send(self.fs_per_byte, &mut self.up, now, wire) + self.latency
    }

    /// Data of `bytes` comes back to the NIC in completions: when the last of it is there.
    pub(crate) fn completion(&mut self, now: Ps, bytes: u64) -> Ps {
        let tlps = bytes.div_ceil(self.max_payload);
        let wire = bytes + tlps * (COMPLETION_OVERHEAD + DLLP_BYTES);
        Self::send(self.fs_per_byte, &mut self.down, now, wire) + self.latency
    }

    /// Time for which each direction has carried something: to the processor, to the NIC.
    pub(crate) fn busy(&self) -> (Ps, Ps) {
        (self.up.busy, self.down.busy)
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self) {
        self.up.busy = Ps::ZERO;
        self.down.busy = Ps::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(generation: u32, max_payload: &str) -> Link {
        Link::new(&Config {
            generation,
            lanes: 16,
            max_payload: max_payload.parse().unwrap(),
            max_read_request: "512 B".parse().unwrap(),
            latency: "200 ns".parse().unwrap(),
            posted_credits: 64,
            non_posted_credits: 64,
        })
    }

    /// Gbit/s of payload that writes of `bytes` reach on an idle link.
    fn write_gbps(mut link: Link, bytes: u64) -> f64 {
        let n = 10_000;
        let mut left = Ps::ZERO;
        for _ in 0..n {
            left = link.write(Ps::ZERO, bytes).0;
        }
        (n * bytes * 8) as f64 / left.as_ns_f64()
    }

    /// Reference facts, section D: effective write rates with MPS 256.
    #[test]
    fn write_rates_match_the_pcie_model() {
        for (generation, bytes, gbps) in
            [(3, 64, 82.7), (3, 256, 104.0), (4, 64, 165.4), (5, 64, 330.8)]
        {
            let got = write_gbps(link(generation, "256 B"), bytes);
            assert!(
                (got - gbps).abs() / gbps < 0.06,
                "gen{generation} {bytes} B: {got} not {gbps}"
            );
        }
    }
}
