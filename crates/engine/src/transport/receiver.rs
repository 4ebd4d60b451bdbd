//! What the server knows about a connection: which packets have arrived, and which reads are open.

use std::collections::VecDeque;
use std::ops::Range;

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
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Received {
    /// The packet had not arrived before.
    pub(super) new: bool,
    /// Numbers of the reads that are complete now, counted from 0.
    pub(super) complete: Range<u64>,
}

impl Receiver {
    /// A connection that nothing has been asked of.
    pub(super) fn new(packets_per_read: u32) -> Receiver {
        Receiver { packets_per_read, first: 0, got: 0, issued: VecDeque::new() }
    }

    /// Packets of a read.
    pub(super) fn packets_per_read(&self) -> u32 {
        self.packets_per_read
    }

    /// Packets requested so far.
    pub(super) fn asked(&self) -> u64 {
        self.first + self.issued.len() as u64 * u64::from(self.packets_per_read)
    }

    /// A read is asked for.
    pub(super) fn ask(&mut self, now: Ps) {
        self.issued.push_back(now);
    }

    /// The thread has processed a packet; `completed` receives the time that each completed read took.
    pub(super) fn receive(
        &mut self,
        now: Ps,
        number: u64,
        mut completed: impl FnMut(Ps),
    ) -> Received {
        let before = self.first;
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
        }
        let read = |first: u64| first / u64::from(self.packets_per_read);
        Received { new, complete: read(before)..read(self.first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_complete_in_order() {
        let mut receiver = Receiver::new(4);
        assert_eq!(receiver.asked(), 0);
        receiver.ask(Ps::from_ns(1));
        receiver.ask(Ps::from_ns(2));
        assert_eq!(receiver.asked(), 8);
        let mut times = Vec::new();
        let mut seen = Vec::new();
        // All of the second read arrives before the last packet of the first.
        for (ns, number) in
            [(1, 0), (2, 1), (3, 1), (4, 3), (5, 5), (5, 4), (5, 6), (5, 7), (6, 2), (7, 0)]
        {
            let r = receiver.receive(Ps::from_ns(ns), number, |time| times.push(time));
            seen.push((r.new, r.complete));
        }
        let news = [true, true, false, true, true, true, true, true, true, false];
        assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), news);
        assert_eq!((seen[8].1.clone(), seen[9].1.clone()), (0..2, 2..2));
        assert!(seen[..8].iter().all(|s| s.1.is_empty()));
        assert_eq!(times, [Ps::from_ns(5), Ps::from_ns(4)]);
        assert_eq!(receiver.asked(), 8);
    }

    #[test]
    fn a_read_may_fill_the_map() {
        let mut receiver = Receiver::new(128);
        receiver.ask(Ps::ZERO);
        receiver.ask(Ps::ZERO);
        for number in 0..256 {
            assert!(receiver.receive(Ps::ZERO, number, |_| {}).new);
        }
        assert_eq!(receiver.asked(), 256);
    }
}
