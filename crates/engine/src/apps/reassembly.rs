//! Packets that wait in their receive buffers until the read that they belong to is complete.

use crate::memory::line::Line;
use crate::nic::pool::Buffer;
use crate::transport::config::ClosedLoopConfig;

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

/// The open reads of all connections. A read takes the place of the one that was issued `open_reads` before it on its
/// connection, which is complete by then.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    packets_per_read: u32,
    open_reads: u32,
    /// The number of the read in each place, from 0 on each connection.
    reads: Vec<u64>,
    /// Their packets, in order.
    packets: Vec<Option<Waiting>>,
}

impl Reassembly {
    /// No packet has arrived on any of the connections.
    pub(super) fn new(connections: u32, traffic: &ClosedLoopConfig) -> Reassembly {
        let places = connections * traffic.open_reads;
        Reassembly {
            packets_per_read: traffic.packets_per_read(),
            open_reads: traffic.open_reads,
            reads: (0..places).map(|place| u64::from(place % traffic.open_reads)).collect(),
            packets: vec![None; (connections * traffic.open_packets()) as usize],
        }
    }

    /// The read that packet `number` of a connection belongs to, and its place.
    fn place(&self, connection: u32, number: u64) -> (u64, usize) {
        let read = number / u64::from(self.packets_per_read);
        let open = (read % u64::from(self.open_reads)) as u32;
        (read, (connection * self.open_reads + open) as usize)
    }

    /// The packets of the read in `place`.
    fn packets(&mut self, place: usize) -> &mut [Option<Waiting>] {
        let packets = self.packets_per_read as usize;
        &mut self.packets[place * packets..][..packets]
    }

    /// Packet `number` of a connection has arrived. The packets of a completed read are to be taken.
    pub(super) fn arrive(&mut self, connection: u32, number: u64, packet: Waiting) -> Arrival {
        let (read, place) = self.place(connection, number);
        debug_assert!(read <= self.reads[place], "a read is issued when its place is free");
        if read != self.reads[place] {
            return Arrival::Duplicate;
        }
        let in_read = (number % u64::from(self.packets_per_read)) as usize;
        let packets = self.packets(place);
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
        let (_, place) = self.place(connection, number);
        self.reads[place] += u64::from(self.open_reads);
        self.packets(place).iter_mut().map(|p| p.take().expect("the read is complete"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Arrival::{Completes, Duplicate, Waits};

    fn traffic() -> ClosedLoopConfig {
        let json = serde_json::json!({
            "senders": 2, "read": "12 KiB", "payload": "4 KiB", "headers": "332 B", "open_reads": 2,
            "acknowledgement": "100 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        });
        serde_json::from_value(json).expect("parses")
    }

    #[test]
    fn a_read_is_complete_with_its_last_packet_whatever_their_order() {
        let mut reads = Reassembly::new(2, &traffic());
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
        // Three packets a read, two open reads on each of two connections.
        for (connection, number, buffer, expected) in [
            (1, 0, 1, (Waits, vec![])),
            (1, 2, 2, (Waits, vec![])),
            (0, 1, 3, (Waits, vec![])),
            (1, 2, 4, (Duplicate, vec![])),
            (1, 4, 5, (Waits, vec![])),
            (1, 3, 6, (Waits, vec![])),
            (1, 5, 7, (Completes, vec![6, 5, 7])),
            (1, 1, 8, (Completes, vec![1, 8, 2])),
            // The first read again, and then the third, which has its place.
            (1, 1, 9, (Duplicate, vec![])),
            (1, 7, 10, (Waits, vec![])),
            (0, 0, 11, (Waits, vec![])),
            (0, 2, 12, (Completes, vec![11, 3, 12])),
        ] {
            assert_eq!(arrive(connection, number, buffer), expected, "{connection} {number}");
        }
    }
}
