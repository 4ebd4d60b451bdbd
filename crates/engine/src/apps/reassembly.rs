//! Packets that wait in their receive buffers until the read that they belong to is complete.

use crate::memory::line::Line;
use crate::nic::pool::Buffer;
use crate::transport::groups::Reads;

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiting {
    /// First line of the packet.
    pub(super) rx: Line,
    /// Frame bytes.
    pub(super) bytes: u32,
    /// Where it lies.
    pub(super) buffer: Buffer,
}

/// The effect of a packet's arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arrival {
    /// Other packets of the read are still to come.
    Waits,
    /// The packet had arrived before.
    Duplicate,
    /// It is the last one of its read.
    Completes,
}

/// The open reads of a connection. A read takes the place of the one that was issued `open` reads before it, which is
/// complete by then.
#[derive(Clone, Debug)]
struct Open {
    reads: Reads,
    /// The number of the read in each place.
    numbers: Vec<u64>,
    /// Their packets, in order.
    packets: Vec<Option<Waiting>>,
}

impl Open {
    fn new(reads: Reads) -> Open {
        Open {
            reads,
            numbers: (0..reads.open.into()).collect(),
            packets: vec![None; reads.open_packets() as usize],
        }
    }

    /// The read that packet `number` belongs to, and its place.
    fn place(&self, number: u64) -> (u64, usize) {
        let read = number / u64::from(self.reads.packets);
        (read, (read % u64::from(self.reads.open)) as usize)
    }

    /// The packets of the read in a place.
    fn packets(&mut self, place: usize) -> &mut [Option<Waiting>] {
        let packets = self.reads.packets as usize;
        &mut self.packets[place * packets..][..packets]
    }
}

/// The open reads of all connections.
#[derive(Clone, Debug)]
pub(super) struct Reassembly(Vec<Open>);

impl Reassembly {
    /// No packet has arrived. Each of `threads` threads has a connection with each sender, and `reads` are those
    /// from each.
    pub(super) fn new(threads: u32, reads: &[Reads]) -> Reassembly {
        let open = (0..threads).flat_map(|_| reads.iter().map(|&reads| Open::new(reads)));
        Reassembly(open.collect())
    }

    /// Packet `number` of a connection has arrived. The packets of a completed read are to be taken.
    pub(super) fn arrive(&mut self, connection: u32, number: u64, packet: Waiting) -> Arrival {
        let open = &mut self.0[connection as usize];
        let (read, place) = open.place(number);
        debug_assert!(read <= open.numbers[place], "a read is issued when its place is free");
        if read != open.numbers[place] {
            return Arrival::Duplicate;
        }
        let in_read = (number % u64::from(open.reads.packets)) as usize;
        let packets = open.packets(place);
        if packets[in_read].is_some() {
            return Arrival::Duplicate;
        }
        packets[in_read] = Some(packet);
        if packets.iter().any(Option::is_none) { Arrival::Waits } else { Arrival::Completes }
    }

    /// The packets of the complete read of packet `number`, in order. Its place is free then.
    pub(super) fn take(
        &mut self,
        connection: u32,
        number: u64,
    ) -> impl Iterator<Item = Waiting> + '_ {
        let open = &mut self.0[connection as usize];
        let (_, place) = open.place(number);
        open.numbers[place] += u64::from(open.reads.open);
        open.packets(place).iter_mut().map(|p| p.take().expect("the read is complete"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{Completes, Duplicate, Waits};

    #[test]
    fn a_read_is_complete_with_its_last_packet_whatever_their_order() {
        let mut reads =
            Reassembly::new(2, &[Reads { packets: 3, open: 2 }, Reads { packets: 1, open: 1 }]);
        let packet = |buffer| Waiting { rx: 100 * buffer, bytes: 4428, buffer };
        let mut arrive = |connection, number, buffer| {
            let arrival = reads.arrive(connection, number, packet(buffer));
            let taken: Vec<Buffer> = if arrival == Completes {
                reads.take(connection, number).map(|w| w.buffer).collect()
            } else {
                Vec::new()
            };
            (arrival, taken)
        };
        // On the first connection of each of two threads, three packets a read and two open reads.
        for (connection, number, buffer, expected) in [
            // A read of one packet is complete with it, and on another connection.
            (3, 0, 20, (Completes, vec![20])),
            (3, 0, 21, (Duplicate, vec![])),
            (3, 1, 22, (Completes, vec![22])),
            (2, 0, 1, (Waits, vec![])),
            (2, 2, 2, (Waits, vec![])),
            (0, 1, 3, (Waits, vec![])),
            (2, 2, 4, (Duplicate, vec![])),
            (2, 4, 5, (Waits, vec![])),
            (2, 3, 6, (Waits, vec![])),
            (2, 5, 7, (Completes, vec![6, 5, 7])),
            (2, 1, 8, (Completes, vec![1, 8, 2])),
            // The first read again, and then the third, which has its place.
            (2, 1, 9, (Duplicate, vec![])),
            (2, 7, 10, (Waits, vec![])),
            (0, 0, 11, (Waits, vec![])),
            (0, 2, 12, (Completes, vec![11, 3, 12])),
        ] {
            assert_eq!(arrive(connection, number, buffer), expected, "{connection} {number}");
        }
    }
}
