//! The link between two sockets, which carries every access to the memory of the other one.
//!
//! Each direction is a line of messages, one after the other. Sizes are those of Intel's links: a
//! message is made of flits of 8 bytes of payload, one with the header, and 8 more if it carries a
//! line (Intel, "An Introduction to the Intel QuickPath Interconnect", 2009). Snoops and completions
//! of writes, a flit each, are left out.

use crate::config::machine::Numa;
use crate::memory::line::LINE_BYTES;
use crate::time::Ps;

const HEADER_BYTES: u64 = 8;

/// One direction.
#[derive(Clone, Debug, Default)]
struct Direction {
    free_at: Ps,
    /// Bytes carried since the measured time began.
    bytes: u64,
}

/// The link, all its lanes together.
#[derive(Clone, Debug)]
pub(crate) struct SocketLink {
    fs_per_byte: u64,
    latency: Ps,
    to_remote: Direction,
    to_local: Direction,
}

impl SocketLink {
    pub(super) fn new(config: &Numa) -> SocketLink {
        // Bits of all links in a millisecond. Femtoseconds a byte are rounded down, and so is the time
        // of a message: together by less than 0.3 % for 60 GB/s.
        let bits_per_ms = u64::from(config.links) * config.link_bandwidth.0 / 1_000;
        SocketLink {
            fs_per_byte: 8 * 1_000_000_000_000 / bits_per_ms,
            latency: config.latency.ps(),
            to_remote: Direction::default(),
            to_local: Direction::default(),
        }
    }

    fn send(&self, direction: &Direction, now: Ps, bytes: u64) -> Direction {
        let time = Ps(bytes * self.fs_per_byte / 1_000);
        Direction { free_at: direction.free_at.max(now) + time, bytes: direction.bytes + bytes }
    }

    /// A request for a line leaves for the other socket: when it is there.
    pub(super) fn request(&mut self, now: Ps) -> Ps {
        self.to_remote = self.send(&self.to_remote, now, HEADER_BYTES);
        self.to_remote.free_at + self.latency
    }

    /// A line that is to be written leaves for the other socket: when it is there.
    pub(super) fn write(&mut self, now: Ps) -> Ps {
        self.to_remote = self.send(&self.to_remote, now, HEADER_BYTES + LINE_BYTES);
        self.to_remote.free_at + self.latency
    }

    /// A line that was read leaves the other socket: when it is here.
    pub(super) fn data(&mut self, now: Ps) -> Ps {
        self.to_local = self.send(&self.to_local, now, HEADER_BYTES + LINE_BYTES);
        self.to_local.free_at + self.latency
    }

    /// Bytes carried since the measured time began, headers included: to the other socket, and here.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.to_remote.bytes, self.to_local.bytes)
    }

    /// Time for which the busier direction carried something.
    pub(crate) fn busy(&self) -> Ps {
        Ps(self.to_remote.bytes.max(self.to_local.bytes) * self.fs_per_byte / 1_000)
    }

    /// What a direction can carry, GB/s (bytes per nanosecond).
    pub(crate) fn limit_gbps(&self) -> f64 {
        1e6 / self.fs_per_byte as f64
    }

    pub(super) fn reset_counts(&mut self) {
        (self.to_remote.bytes, self.to_local.bytes) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> SocketLink {
        SocketLink::new(&Numa {
            links: 2,
            link_bandwidth: "160 Gbps".parse().unwrap(),
            latency: "30 ns".parse().unwrap(),
        })
    }

    #[test]
    fn messages_of_a_direction_wait_for_each_other_and_not_for_the_other_direction() {
        let mut link = link();
        // 40 bytes a nanosecond: 0.2 ns for a header, 1.8 ns for a line with one.
        assert_eq!(link.request(Ps(1_000)), Ps(31_200));
        assert_eq!(link.write(Ps(1_000)), Ps(33_000));
        assert_eq!(link.data(Ps(1_000)), Ps(32_800));
        assert_eq!(link.request(Ps(5_000)), Ps(35_200));
        assert_eq!(link.bytes(), (8 + 72 + 8, 72));
        assert!((link.limit_gbps() - 40.0).abs() < 1e-9);
    }
}
