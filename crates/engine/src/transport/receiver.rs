//! What the server knows about a connection: which packets have arrived, and which reads are open.

use std::collections::VecDeque;

use crate::time::Ps;

/// Maximum packets of open reads on a connection: the bits of the map below.
pub(crate) const MAX_OPEN_PACKETS: u64 = 128;

/// The receiving side of a connection.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    packets_per_read: u32,
    /// First packet of the oldest open read.
    first: u64,
    /// Packets that have arrived, starting with that one in bit 0.
    got: u128,
    /// When each open read was issued, the oldest first.
    issued: VecDeque<Ps>,
}

/// The effect of a packet's arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Received {
    /// The packet had not arrived before.
    pub(super) new: bool,
    /// Packets requested so far.
    pub(super) asked: u64,
}

impl Receiver {
    pub(super) fn new(packets_per_read: u32, reads: u32) -> Receiver {
        Receiver {
            packets_per_read,
            first: 0,
            got: 0,
            issued: std::iter::repeat_n(Ps::ZERO, reads as usize).collect(),
        }
    }

    /// Packets requested so far.
    pub(super) fn asked(&self) -> u64 {
        self.first + self.issued.len() as u64 * u64::from(self.packets_per_read)
    }

    /// The thread has processed a packet. A completed read makes room for the next one, whose
    /// request the acknowledgement carries; `completed` receives the time that the read took.
    pub(super) fn receive(
        &mut self,
        now: Ps,
        number: u64,
        mut completed: impl FnMut(Ps),
    ) -> Received {
        let bit = number.checked_sub(self.first).map(|i| 1u128 << i);
        let new = bit.is_some_and(|bit| self.got & bit == 0);
        self.got |= bit.unwrap_or(0);
        let read = u128::MAX >> (128 - self.packets_per_read);
        while self.got & read == read {
            // Shifted in two steps, since a read may fill the whole map.
            self.got = self.got >> (self.packets_per_read - 1) >> 1;
            self.first += u64::from(self.packets_per_read);
            let since = self.issued.pop_front().expect("there are open reads");
            completed(now - since);
            self.issued.push_back(now);
        }
        Received { new, asked: self.asked() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_read_asks_for_the_next() {
        let mut receiver = Receiver::new(4, 2);
        assert_eq!(receiver.asked(), 8);
        let mut times = Vec::new();
        let mut asked = Vec::new();
        for (ns, number) in [(1, 0), (2, 1), (3, 1), (4, 3), (5, 5), (6, 2), (7, 0)] {
            let r = receiver.receive(Ps::from_ns(ns), number, |time| times.push(time));
            asked.push((r.new, r.asked));
        }
        let expected =
            [(true, 8), (true, 8), (false, 8), (true, 8), (true, 8), (true, 12), (false, 12)];
        assert_eq!(asked, expected);
        assert_eq!(times, [Ps::from_ns(6)]);
    }

    #[test]
    fn a_read_may_fill_the_map() {
        let mut receiver = Receiver::new(128, 1);
        for number in 0..256 {
            assert!(receiver.receive(Ps::ZERO, number, |_| {}).new);
        }
        assert_eq!(receiver.asked(), 384);
    }
}
