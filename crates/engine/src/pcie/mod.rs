//! The link between NIC and processor, in both directions: TLPs with their overhead, and the
//! traffic of the data link layer itself.
//!
//! Gen3 and later use 128b/130b coding. A TLP carries 24 bytes of framing, sequence number, header
//! and LCRC as a write with a 64-bit address or a read request, and 20 bytes as a completion.
//! Acknowledgements, flow control and SKIP ordered sets take their share of the link at the rates
//! that the specification recommends, as in the model of Neugebauer et al. ("Understanding PCIe
//! performance for end host networking", SIGCOMM 2018; repository pcie-bench/pcie-model).

pub mod config;

use self::config::Pcie as Config;
use crate::serial::InTurn;
use crate::time::Ps;

const WRITE_OVERHEAD: u64 = 24;
const REQUEST_BYTES: u64 = 24;
const COMPLETION_OVERHEAD: u64 = 20;
/// An acknowledgement or a flow-control update: 4 bytes, their CRC, and framing.
const DLLP_BYTES: u64 = 8;
/// A SKIP ordered set of 4 symbols every 1538 symbols.
const SKIP: (u64, u64) = (4, 1538);

/// Symbol times between acknowledgements, and also between flow-control updates, of a port that
/// sends TLPs of `max_payload` bytes: (payload + 28) × factor / lanes + 115 (PCI Express Base
/// Specification 5.0, tables 2-48 and 3-9; 28 bytes of TLP overhead, 115 symbols of internal delay
/// at 8 GT/s and above, and the factor in tenths).
fn dllp_interval(max_payload: u64, lanes: u64) -> u64 {
    let factor = match (max_payload, lanes) {
        (..=256, 16) => 30,
        (..=256, 8) => 25,
        (..=256, _) => 14,
        (_, 16) => 20,
        (_, _) => 10,
    };
    (max_payload + 28) * factor / (10 * lanes) + 115
}

/// The link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Femtoseconds to move one byte of a TLP, accounting for all lanes, coding and the data link layer.
    fs_per_byte: u64,
    latency: Ps,
    max_payload: u64,
    max_read_request: u64,
    /// The two directions. A message takes whole picoseconds, rounded down: [`crate::serial::Serial`] would
    /// carry the rest over, and committed studies depend on the times as they are.
    up: InTurn,
    down: InTurn,
}

impl Link {
    pub(crate) fn new(config: &Config) -> Link {
        let lanes = u64::from(config.lanes);
        // Gen3: 8 GT/s per lane; every generation doubles it.
        let bits_per_us = 8_000 * (1 << (config.generation - 3)) * lanes;
        // 8 bits per byte, coded as 130 for 128, in femtoseconds (10^9 in a microsecond).
        let raw = 8 * 1_000_000_000_u64 * 130 / 128;
        // Of every `interval × SKIP.1` bytes, `taken` are not part of TLPs.
        let interval = dllp_interval(config.max_payload.0, lanes);
        let all = interval * SKIP.1;
        let taken = 2 * DLLP_BYTES * SKIP.1 + SKIP.0 * interval;
        Link {
            fs_per_byte: raw * all / (bits_per_us * (all - taken)),
            latency: config.latency.ps(),
            max_payload: config.max_payload.0,
            max_read_request: config.max_read_request.0,
            up: InTurn::default(),
            down: InTurn::default(),
        }
    }

    /// One-way latency of link, root port and I/O controller.
    pub(crate) fn latency(&self) -> Ps {
        self.latency
    }

    fn send(fs_per_byte: u64, direction: &mut InTurn, now: Ps, bytes: u64) -> Ps {
        direction.serve(now, Ps(bytes * fs_per_byte / 1_000))
    }

    /// When everything that the NIC has put on the link will have left it.
    pub(crate) fn free_at(&self) -> Ps {
        self.up.free_at()
    }

    /// Sends a write of at most the maximum payload; returns when it reaches the memory system.
    pub(crate) fn write(&mut self, now: Ps, bytes: u64) -> Ps {
        debug_assert!(bytes <= self.max_payload);
        Self::send(self.fs_per_byte, &mut self.up, now, bytes + WRITE_OVERHEAD) + self.latency
    }

    /// Read requests needed to read `bytes` contiguous bytes.
    pub(crate) fn requests(&self, bytes: u64) -> u32 {
        bytes.div_ceil(self.max_read_request) as u32
    }

    /// Sends `requests` read requests; returns when the last one reaches the memory system.
    pub(crate) fn request(&mut self, now: Ps, requests: u32) -> Ps {
        let wire = REQUEST_BYTES * u64::from(requests);
        Self::send(self.fs_per_byte, &mut self.up, now, wire) + self.latency
    }

    /// Returns `bytes` contiguous bytes to the NIC in completions; returns when the last of them
    /// arrives. A completion carries at most the maximum payload and answers one request.
    pub(crate) fn completion(&mut self, now: Ps, bytes: u64) -> Ps {
        let tlps = bytes.div_ceil(self.max_payload.min(self.max_read_request));
        let wire = bytes + tlps * COMPLETION_OVERHEAD;
        Self::send(self.fs_per_byte, &mut self.down, now, wire) + self.latency
    }

    /// How long each direction has been busy since measuring began: to the processor, to the NIC.
    pub(crate) fn busy(&self, now: Ps) -> (Ps, Ps) {
        (self.up.busy(now), self.down.busy(now))
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        self.up.reset(now);
        self.down.reset(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(generation: u32, lanes: u32, max_payload: &str) -> Link {
        Link::new(&Config {
            generation,
            lanes,
            max_payload: max_payload.parse().unwrap(),
            max_read_request: "512 B".parse().unwrap(),
            latency: "200 ns".parse().unwrap(),
            credit_return: "100 ns".parse().unwrap(),
            posted_credits: 64,
            non_posted_credits: 64,
            relaxed_ordering: false,
        })
    }

    const N: u64 = 10_000;

    fn gbps(bytes: u64, time: Ps) -> f64 {
        (N * bytes * 8) as f64 / time.as_ns_f64()
    }

    fn write_all(link: &mut Link, bytes: u64) {
        let max = link.max_payload;
        for _ in 0..N {
            for first in (0..bytes).step_by(max as usize) {
                link.write(Ps::ZERO, max.min(bytes - first));
            }
        }
    }

    /// Payload rates in Gbit/s of writes, of reads, and of both at once, for transfers of `bytes`.
    fn rates(mut link: Link, bytes: u64) -> [f64; 3] {
        let mut both = link.clone();
        let mut reads = link.clone();
        write_all(&mut link, bytes);
        for _ in 0..N {
            let requests = reads.requests(bytes);
            reads.request(Ps::ZERO, requests);
            reads.completion(Ps::ZERO, bytes);
        }
        write_all(&mut both, bytes);
        for _ in 0..N {
            let requests = both.requests(bytes);
            both.request(Ps::ZERO, requests);
            both.completion(Ps::ZERO, bytes);
        }
        let slower = |l: &Link| l.up.free_at().max(l.down.free_at());
        [&link, &reads, &both].map(|l| gbps(bytes, slower(l)))
    }

    fn close(got: f64, wanted: f64, what: &str) {
        // The references are rounded to a tenth or to a whole unit; times here are rounded to a picosecond.
        let rounding = if wanted.fract() == 0.0 { 0.5 } else { 0.05 } + wanted / 2000.0;
        assert!((got - wanted).abs() < rounding, "{what}: {got:.2}, expected {wanted}");
    }

    /// What the data link layer leaves for TLPs, from pcie-model with a payload of 256 bytes.
    #[test]
    fn tlps_get_what_acks_flow_control_and_skips_leave() {
        for (generation, lanes, gbps) in
            [(3, 8, 57.9), (3, 16, 113.7), (4, 16, 227.4), (5, 16, 454.8)]
        {
            let got = 8e6 / link(generation, lanes, "256 B").fs_per_byte as f64;
            close(got, gbps, &format!("gen{generation} x{lanes}"));
        }
    }

    /// Rates of writes, of reads and of both at once, from pcie-model with MRRS 512 and RCB 64.
    #[test]
    fn payload_rates_match_the_pcie_model() {
        for (generation, payload, bytes, wanted) in [
            (3, "256 B", 64, [82.7, 86.6, 65.0]),
            (3, "256 B", 256, [104.0, 105.5, 95.7]),
            (3, "256 B", 1500, [103.7, 105.3, 99.4]),
            (4, "256 B", 64, [165.4, 173.3, 129.9]),
            (4, "256 B", 1500, [207.5, 210.6, 198.8]),
            (5, "256 B", 64, [330.8, 346.5, 259.9]),
            (5, "256 B", 1500, [415.0, 421.0, 398.0]),
            (4, "512 B", 1024, [219.0, 221.0, 210.0]),
        ] {
            let got = rates(link(generation, 16, payload), bytes);
            for (what, (got, wanted)) in
                ["write", "read", "both"].iter().zip(got.iter().zip(wanted))
            {
                close(*got, wanted, &format!("gen{generation} {payload} {bytes} B {what}"));
            }
        }
    }

    /// Table 3-9 of the specification, at 8 GT/s.
    #[test]
    fn intervals_are_those_of_the_specification() {
        for (payload, by_lanes) in [
            (128, [333, 224, 169, 163, 144]),
            (256, [512, 313, 214, 203, 168]),
            (512, [655, 385, 250, 182, 182]),
            (4096, [4239, 2177, 1146, 630, 630]),
        ] {
            for (lanes, wanted) in [1, 2, 4, 8, 16].into_iter().zip(by_lanes) {
                assert_eq!(dllp_interval(payload, lanes), wanted, "{payload} B x{lanes}");
            }
        }
    }

    #[test]
    fn what_lies_ahead_is_not_carried_yet() {
        let mut link = link(3, 1, "256 B");
        write_all(&mut link, 256);
        let all = link.free_at();
        let some = Ps(all.0 / 3);
        assert_eq!(link.busy(some), (some, Ps::ZERO));
        link.reset_counts(some);
        assert_eq!(link.busy(some), (Ps::ZERO, Ps::ZERO));
        assert_eq!(link.busy(all + Ps(7)), (all - some, Ps::ZERO));
    }

    #[test]
    fn a_long_read_is_split_into_requests() {
        let link = link(4, 16, "256 B");
        assert_eq!([64, 512, 513, 1500].map(|bytes| link.requests(bytes)), [1, 1, 2, 3]);
    }
}
