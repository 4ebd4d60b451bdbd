//! The link between two sockets, which carries every access to the memory of the other one.
//!
//! Each direction is a queue of messages, sent one after another. Sizes are those of Intel's links: a
//! message consists of flits with 8 bytes of payload, one for the header, and 8 more if it carries a
//! line (Intel, "An Introduction to the Intel QuickPath Interconnect", 2009). Snoops and completions of
//! writes, one flit each, are left out.

use crate::memory::config::Numa;
use crate::memory::line::LINE_BYTES;
use crate::serial::Serial;
use crate::time::Ps;
use crate::units::BitRate;

const HEADER_BYTES: u64 = 8;

/// One direction.
#[derive(Clone, Debug)]
struct Direction {
    line: Serial,
    /// Bytes that it was given since the measured time began.
    bytes: u64,
    /// Messages that these are.
    messages: u64,
}

impl Direction {
    fn send(&mut self, now: Ps, bytes: u64) -> Ps {
        self.bytes += bytes;
        self.messages += 1;
        self.line.send(now, 8 * bytes)
    }
}

/// The link, all its lanes together.
#[derive(Clone, Debug)]
pub(crate) struct SocketLink {
    latency: Ps,
    to_remote: Direction,
    to_local: Direction,
}

impl SocketLink {
    pub(super) fn new(config: &Numa) -> SocketLink {
        let rate = BitRate(u64::from(config.links) * config.link_bandwidth.0);
        let direction = Direction { line: Serial::new(rate), bytes: 0, messages: 0 };
        SocketLink {
            latency: config.latency.ps(),
            to_remote: direction.clone(),
            to_local: direction,
        }
    }

    /// Sends a request for a line to the other socket. Returns when it arrives there.
    pub(super) fn request(&mut self, now: Ps) -> Ps {
        self.to_remote.send(now, HEADER_BYTES) + self.latency
    }

    /// Sends a line to be written to the other socket. Returns when it arrives there.
    pub(super) fn write(&mut self, now: Ps) -> Ps {
        self.to_remote.send(now, HEADER_BYTES + LINE_BYTES) + self.latency
    }

    /// Sends a line that was read back from the other socket. Returns when it arrives here.
    pub(super) fn data(&mut self, now: Ps) -> Ps {
        self.to_local.send(now, HEADER_BYTES + LINE_BYTES) + self.latency
    }

    /// Bytes given to the directions since the measured time began, headers included: to the other
    /// socket, and here.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        (self.to_remote.bytes, self.to_local.bytes)
    }

    /// Time for which the busier direction has carried something since the measured time began, up to
    /// `now`, and the messages that it has been given.
    pub(crate) fn busy(&self, now: Ps) -> (Ps, u64) {
        let directions = [&self.to_remote, &self.to_local];
        let used = directions.map(|d| (d.line.busy(now), d.messages));
        used.into_iter().max_by_key(|used| used.0).expect("there are two")
    }

    /// What a direction can carry, GB/s (bytes per nanosecond).
    pub(crate) fn limit_gbytes_per_s(&self) -> f64 {
        self.to_remote.line.limit_gbytes_per_s()
    }

    pub(super) fn reset_counts(&mut self, now: Ps) {
        for direction in [&mut self.to_remote, &mut self.to_local] {
            direction.line.reset(now);
            (direction.bytes, direction.messages) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(links: u32, link_bandwidth: &str) -> SocketLink {
        SocketLink::new(&Numa {
            links,
            link_bandwidth: link_bandwidth.parse().unwrap(),
            latency: "30 ns".parse().unwrap(),
        })
    }

    #[test]
    fn messages_of_a_direction_wait_for_each_other_and_not_for_the_other_direction() {
        let mut link = link(2, "160 Gbps");
        // 40 bytes per nanosecond: 0.2 ns for a header, 1.8 ns for a line with one.
        assert_eq!(link.request(Ps(1_000)), Ps(31_200));
        assert_eq!(link.write(Ps(1_000)), Ps(33_000));
        assert_eq!(link.data(Ps(1_000)), Ps(32_800));
        assert_eq!(link.request(Ps(5_000)), Ps(35_200));
        assert_eq!(link.bytes(), (8 + 72 + 8, 72));
        assert!((link.limit_gbytes_per_s() - 40.0).abs() < 1e-9);
    }

    #[test]
    fn a_link_that_is_never_idle_carries_its_rate() {
        // Three links of 16 bits at 10.4 GT/s: 62.4 GB/s, and 1.1538... ns for a line with its header.
        let mut link = link(3, "166.4 Gbps");
        let last = (0..13_000).map(|_| link.data(Ps::ZERO)).last();
        assert_eq!(last, Some(Ps::from_us(15) + Ps::from_ns(30)));
        // At first all of it lies ahead. A third of it is left when measuring begins.
        assert_eq!(link.busy(Ps::ZERO).0, Ps::ZERO);
        assert_eq!(link.busy(Ps::from_us(10)), (Ps::from_us(10), 13_000));
        link.reset_counts(Ps::from_us(10));
        assert_eq!(link.busy(Ps::from_us(10)).0, Ps::ZERO);
        assert_eq!(link.busy(Ps::from_us(100)).0, Ps::from_us(5));
    }
}
