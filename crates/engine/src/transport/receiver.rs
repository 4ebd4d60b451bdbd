//! What the server knows about a connection: which packets have arrived, and which reads are open.

use std::collections::VecDeque;
use std::ops::Range;

use super::requests::Read;
use crate::time::Ps;

/// The receiving side of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    arrived: Arrived,
    /// The open reads, the oldest first.
    open: VecDeque<OpenRead>,
    /// Packets requested so far.
    asked: u64,
    /// Reads that are complete.
    complete: u64,
    /// Packets of the requests that are on their way to the sender, in the order in which they arrive there.
    under_way: VecDeque<u32>,
}

/// A read that has been asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenRead {
    since: Ps,
    /// The first packet behind it.
    end: u64,
    /// Which of the sizes of its group it has.
    size: u16,
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
    /// Packets requested so far.
    pub(super) fn asked(&self) -> u64 {
        self.asked
    }

    /// A read is asked for.
    pub(super) fn ask(&mut self, read: Read) {
        self.asked += u64::from(read.packets);
        self.open.push_back(OpenRead { since: read.since, end: self.asked, size: read.size });
    }

    /// The same in a message of its own, which takes its time to the sender.
    pub(super) fn send_request(&mut self, read: Read) {
        self.ask(read);
        self.under_way.push_back(read.packets);
    }

    /// The first of these messages is at the sender. Returns the packets that it asks for.
    pub(super) fn request_arrived(&mut self) -> u32 {
        self.under_way.pop_front().expect("a request is under way")
    }

    /// The thread has processed a packet; `completed` receives the time that each completed read took, and its size.
    pub(super) fn receive(
        &mut self,
        now: Ps,
        number: u64,
        mut completed: impl FnMut(Ps, u16),
    ) -> Received {
        let (new, before) = (self.arrived.add(number), self.complete);
        while let Some(read) = self.open.pop_front_if(|read| read.end <= self.arrived.all_before) {
            self.complete += 1;
            completed(now - read.since, read.size);
        }
        Received { new, complete: before..self.complete }
    }
}

/// The packets that have arrived: all before one, and some behind it.
#[derive(Clone, Debug, Default)]
struct Arrived {
    all_before: u64,
    /// A bit for each packet from the multiple of 64 at or before that one.
    map: VecDeque<u64>,
}

impl Arrived {
    /// A packet has arrived. Returns whether it had not arrived before.
    fn add(&mut self, number: u64) -> bool {
        if number < self.all_before {
            return false;
        }
        let word = (number / 64 - self.all_before / 64) as usize;
        if word >= self.map.len() {
            self.map.resize(word + 1, 0);
        }
        let bit = 1 << (number % 64);
        if self.map[word] & bit != 0 {
            return false;
        }
        self.map[word] |= bit;
        while let Some(&first) = self.map.front() {
            let from = self.all_before % 64;
            let more = u64::from((first >> from).trailing_ones());
            self.all_before += more;
            if from + more < 64 {
                break;
            }
            self.map.pop_front();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn reads_complete_in_order() {
        let mut receiver = Receiver::default();
        assert_eq!(receiver.asked(), 0);
        receiver.ask(Read { since: Ps::from_ns(1), packets: 4, size: 0 });
        receiver.ask(Read { since: Ps::from_ns(2), packets: 4, size: 0 });
        assert_eq!(receiver.asked(), 8);
        let mut times = Vec::new();
        let mut seen = Vec::new();
        // All of the second read arrives before the last packet of the first.
        for (ns, number) in
            [(1, 0), (2, 1), (3, 1), (4, 3), (5, 5), (5, 4), (5, 6), (5, 7), (6, 2), (7, 0)]
        {
            let r = receiver.receive(Ps::from_ns(ns), number, |time, _| times.push(time));
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
    fn reads_of_several_sizes_complete_each_with_its_own_last_packet() {
        let mut receiver = Receiver::default();
        let sizes = [(1, 0), (130, 2), (3, 1)];
        for (packets, size) in sizes {
            receiver.send_request(Read { since: Ps::ZERO, packets, size });
        }
        assert_eq!([(); 3].map(|()| receiver.request_arrived()), [1, 130, 3]);
        let mut seen = Vec::new();
        for number in 0..134 {
            receiver.receive(Ps::ZERO, number, |_, size| seen.push((number, size)));
        }
        assert_eq!(seen, [(0, 0), (130, 2), (133, 1)]);
    }

    proptest! {
        /// Compared with the set of all numbers that have arrived.
        #[test]
        fn what_has_arrived_is_known(numbers in prop::collection::vec(0u64..400, 1..800)) {
            let (mut arrived, mut all) = (Arrived::default(), BTreeSet::new());
            for number in numbers {
                prop_assert_eq!(arrived.add(number), all.insert(number));
                let first = (0..).find(|n| !all.contains(n)).expect("some have not arrived");
                prop_assert_eq!(arrived.all_before, first);
                prop_assert!(arrived.map.len() <= 400usize.div_ceil(64));
            }
        }
    }
}
