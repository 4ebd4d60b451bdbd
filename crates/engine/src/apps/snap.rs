//! A thread of a user-space network stack that reads from other machines, as Snap's engines do (Marty
//! et al., "Snap: a microkernel approach to host networking", SOSP 2019).
//!
//! For every packet, the headers are read, the transport does its work, and an acknowledgement is sent. The payload
//! is copied from the receive buffer to the application's memory: at once, or when its read is complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Verdict};
use super::config::Settings;
use super::copy::{Lines, copy};
use super::reassembly::{Arrival, Reassembly, Waiting};
use crate::check::Check;
use crate::core::op::{Dep, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::transport::config::ClosedLoopConfig;
use crate::transport::groups::Reads;

/// A stack that copies what it receives and acknowledges every packet; it needs closed-loop traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SnapConfig {
    /// Instructions per packet, without its copy: transport, scheduling of the engine, hand-over to
    /// the application. The papers give no count; a scenario calibrates it on a throughput.
    pub packet_instructions: u32,
    /// Instructions per copied line in addition to the load and the store: an estimate from an
    /// unrolled loop of 32-byte moves, as for the key-value store.
    pub copy_instructions_per_line: u32,
    /// When payload is copied to the application's memory.
    pub copied: CopyTime,
}

/// When payload is copied to the application's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CopyTime {
    /// Each packet when it arrives, to its place in the memory of its read: the application has such
    /// memory for every open read.
    #[default]
    OnArrival,
    /// All packets of a read when it is complete. They wait in their receive buffers until then. A
    /// thread copies all its reads to the same memory: the application is done with one before the
    /// next is copied. The last packet is acknowledged after the copy, which is part of its delay in the server.
    OnCompletion,
}

impl Default for SnapConfig {
    fn default() -> SnapConfig {
        SnapConfig {
            packet_instructions: 2000,
            copy_instructions_per_line: 4,
            copied: CopyTime::default(),
        }
    }
}

impl Settings for SnapConfig {
    /// Any number of instructions is valid.
    fn check(&self, _check: &mut Check) {}

    fn bytes(&self, cores: u32, closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        closed_loop.map_or(0, |t| {
            let packets = self.packets_of_a_thread(&t.reads());
            let bytes = u128::from(lines_in(t.payload.0)) * u128::from(LINE_BYTES);
            u128::from(cores) * u128::from(packets) * bytes
        })
    }

    fn keeps(&self, traffic: &ClosedLoopConfig) -> u32 {
        match self.copied {
            CopyTime::OnArrival => 0,
            // Of each open read, all but the packet that completes it.
            CopyTime::OnCompletion => {
                traffic.reads().iter().map(|reads| reads.open_packets() - reads.open).sum()
            }
        }
    }

    fn answers_senders(&self) -> bool {
        true
    }
}

impl SnapConfig {
    /// Packets for which a thread has memory, where `reads` are those from each sender.
    fn packets_of_a_thread(&self, reads: &[Reads]) -> u32 {
        match self.copied {
            CopyTime::OnArrival => reads.iter().map(|reads| reads.open_packets()).sum(),
            CopyTime::OnCompletion => {
                reads.iter().map(|reads| reads.packets).max().unwrap_or_default()
            }
        }
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct Snap {
    packet_instructions: u32,
    payload: Payload,
    senders: u32,
    /// Packets for which each thread has memory.
    places: u32,
    destination: Destination,
    /// Bytes of an acknowledgement.
    acknowledgement: u32,
    /// Packets since the counters were reset.
    packets: u64,
}

/// Which place in its thread's memory a packet is copied to.
#[derive(Clone, Debug)]
enum Destination {
    /// One in those of its connection, at once. For each sender: the first of them, and how many there are.
    OfConnection(Vec<(u32, u32)>),
    /// That of its number in the read, when the read is complete.
    OfRead(Reassembly),
}

/// Where a packet has its payload, and where the application wants it.
#[derive(Clone, Debug)]
struct Payload {
    /// Lines of a packet that hold only headers.
    header_lines: u32,
    /// Lines that a payload takes in the application's memory.
    lines: u32,
    /// The application's memory, in places of that many lines.
    memory: Line,
    copy_instructions_per_line: u32,
}

impl Payload {
    /// Copies the payload of the packet at `rx` to a place. The caller has read the line that it
    /// begins in.
    fn copy(&self, rx: Line, bytes: u32, place: u32, ops: &mut Ops) {
        let from = Lines {
            first: rx + self.header_lines,
            count: lines_in(u64::from(bytes)) - self.header_lines,
            kind: LineKind::Rx,
            dep: Dep::Free,
        };
        let to = Lines {
            first: self.memory + place * self.lines,
            count: self.lines,
            kind: LineKind::App,
            dep: Dep::Free,
        };
        copy(ops, from, to, self.copy_instructions_per_line);
        ops.relinquish(rx, bytes);
    }
}

impl Snap {
    /// A stack on `cores` cores for this traffic.
    pub(crate) fn new(
        config: &SnapConfig,
        cores: u32,
        traffic: &ClosedLoopConfig,
        space: &mut AddressSpace,
    ) -> Snap {
        let lines = lines_in(traffic.payload.0);
        let reads = traffic.reads();
        let places = config.packets_of_a_thread(&reads);
        let destination = match config.copied {
            CopyTime::OnArrival => {
                let mut first = 0;
                let own = reads.iter().map(|reads| {
                    first += reads.open_packets();
                    (first - reads.open_packets(), reads.open_packets())
                });
                Destination::OfConnection(own.collect())
            }
            CopyTime::OnCompletion => Destination::OfRead(Reassembly::new(cores, &reads)),
        };
        Snap {
            packet_instructions: config.packet_instructions,
            payload: Payload {
                header_lines: (traffic.headers.0 / LINE_BYTES) as u32,
                lines,
                memory: space.reserve(u64::from(cores * places) * u64::from(lines) * LINE_BYTES),
                copy_instructions_per_line: config.copy_instructions_per_line,
            },
            senders: traffic.senders,
            places,
            destination,
            acknowledgement: traffic.acknowledgement.0 as u32,
            packets: 0,
        }
    }

    /// Copies the payload of an arrived packet to the application, or lets it wait for the rest of its read. Returns
    /// whether its buffer is kept.
    fn deliver(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> bool {
        let Packet { seq, rx, bytes, flow, buffer, .. } = *packet;
        let first = rank * self.places;
        let sender = flow % self.senders;
        let reassembly = match &mut self.destination {
            Destination::OfConnection(of) => {
                let (own, number) = of[sender as usize];
                self.payload.copy(rx, bytes, first + own + (seq % u64::from(number)) as u32, ops);
                return false;
            }
            Destination::OfRead(reassembly) => reassembly,
        };
        let connection = rank * self.senders + sender;
        match reassembly.arrive(connection, seq, Waiting { rx, bytes, buffer }) {
            Arrival::Waits => return true,
            Arrival::Duplicate => ops.relinquish(rx, bytes),
            Arrival::Completes => {
                for (place, waiting) in (first..).zip(reassembly.take(connection, seq)) {
                    if waiting.buffer != buffer {
                        ops.load(waiting.rx + self.payload.header_lines, LineKind::Rx, Dep::Free);
                    }
                    self.payload.copy(waiting.rx, waiting.bytes, place, ops);
                    if waiting.buffer != buffer {
                        ops.give_back(waiting.buffer);
                    }
                }
            }
        }
        false
    }
}

impl App for Snap {
    fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        self.packets += 1;
        // The headers, and the line in which the payload begins.
        ops.load(packet.rx, LineKind::Rx, Dep::Chain);
        for line in packet.rx + 1..=packet.rx + self.payload.header_lines {
            ops.load(line, LineKind::Rx, Dep::Free);
        }
        ops.compute(self.packet_instructions);
        // Before the acknowledgement, which may ask for the next read: that needs the memory of this one.
        let keeps = self.deliver(rank, packet, ops);
        for line in packet.tx..packet.tx + lines_in(u64::from(self.acknowledgement)) {
            ops.store(line, LineKind::Tx, Dep::Free);
        }
        let bytes = self.acknowledgement;
        if keeps { Verdict::Keep { bytes } } else { Verdict::Reply { bytes } }
    }

    fn progress(&self) -> u64 {
        self.packets
    }

    fn reset_counters(&mut self) {
        self.packets = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::op::{Mark, Op};
    use serde_json::json;

    #[test]
    fn payloads_take_whole_lines_of_its_memory() {
        let traffic = serde_json::from_value(json!({
            "senders": 2, "read": "100 B", "payload": "1 B", "headers": "332 B",
            "acknowledgement": "100 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        }))
        .unwrap();
        let config = SnapConfig::default();
        let packets = config.packets_of_a_thread(&ClosedLoopConfig::reads(&traffic));
        assert_eq!(config.bytes(1, Some(&traffic)), u128::from(packets) * u128::from(LINE_BYTES));
        let mut space = AddressSpace::default();
        Snap::new(&config, 1, &traffic, &mut space);
        assert!(u128::from(space.end().0) >= config.bytes(1, Some(&traffic)));
    }

    #[test]
    fn a_payload_goes_to_its_place_in_the_read_and_an_acknowledgement_back() {
        let traffic = serde_json::from_value(json!({
            "senders": 2, "read": "16 KiB", "payload": "4 KiB", "headers": "332 B",
            "acknowledgement": "100 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        }))
        .unwrap();
        let mut space = AddressSpace::default();
        let mut app = Snap::new(&SnapConfig::default(), 1, &traffic, &mut space);
        let mut ops = Ops::new(false);
        // The third packet of a read, on the second connection.
        let packet = Packet { seq: 4 * 7 + 2, rx: 1000, tx: 5000, bytes: 4428, flow: 1, buffer: 0 };
        assert_eq!(app.on_packet(0, &packet, &mut ops), Verdict::Reply { bytes: 100 });
        let of = |wanted: LineKind, stores: bool| -> Vec<Line> {
            let lines = ops.iter().filter_map(|op| match op {
                Op::Load { line, kind, .. } if kind == wanted && !stores => Some(line),
                Op::Store { line, kind, .. } if kind == wanted && stores => Some(line),
                _ => None,
            });
            lines.collect()
        };
        assert!(of(LineKind::Rx, false).into_iter().eq(1000..1070));
        let first = app.payload.memory + (4 + 2) * 64;
        assert!(of(LineKind::App, true).into_iter().eq(first..first + 64));
        assert!(of(LineKind::Tx, true).into_iter().eq(5000..5002));
    }

    #[test]
    fn no_two_open_packets_of_a_thread_have_one_place() {
        // Two packets of each of two reads, and five of one.
        let traffic: ClosedLoopConfig = serde_json::from_value(json!({
            "senders": 3, "read": "256 B", "payload": "128 B", "headers": "96 B", "open_reads": 2,
            "acknowledgement": "64 B", "rivals": { "senders": 1, "read": "640 B", "open_reads": 1 },
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        }))
        .unwrap();
        let mut space = AddressSpace::default();
        let mut app = Snap::new(&SnapConfig::default(), 2, &traffic, &mut space);
        let mut places = Vec::new();
        for (flow, packets) in [(0, 4), (1, 4), (2, 5), (3, 4), (4, 4), (5, 5)] {
            // The second turn has the places of the first.
            for seq in 2 * packets..3 * packets {
                let mut ops = Ops::new(false);
                let packet = Packet { seq, rx: 1000, tx: 5000, bytes: 224, flow, buffer: 0 };
                app.on_packet(flow / 3, &packet, &mut ops);
                places.extend(ops.iter().filter_map(|op| match op {
                    Op::Store { line, kind: LineKind::App, .. } => Some(line),
                    _ => None,
                }));
            }
        }
        places.sort_unstable();
        let first = app.payload.memory;
        assert_eq!(places, (first..first + 2 * 13 * 2).collect::<Vec<_>>());
        assert_eq!(SnapConfig::default().bytes(2, Some(&traffic)), 2 * 13 * 128);
        let late = SnapConfig { copied: CopyTime::OnCompletion, ..SnapConfig::default() };
        assert_eq!((late.bytes(2, Some(&traffic)), late.keeps(&traffic)), (2 * 5 * 128, 2 * 2 + 4));
    }

    /// A stack on two cores that copies complete reads of three packets, and its traffic: two senders, two open
    /// reads on each connection.
    fn on_completion() -> (Snap, ClosedLoopConfig) {
        let traffic = serde_json::from_value(json!({
            "senders": 2, "read": "384 B", "payload": "128 B", "headers": "96 B", "open_reads": 2,
            "acknowledgement": "64 B",
            "network": { "delay": "5 us", "sender_link": "100 Gbps", "buffer": "1 MiB" },
            "control": { "kind": "dctcp" }
        }))
        .unwrap();
        let config = SnapConfig { copied: CopyTime::OnCompletion, ..SnapConfig::default() };
        let mut space = AddressSpace::default();
        (Snap::new(&config, 2, &traffic, &mut space), traffic)
    }

    /// Packet `seq` of a connection of the second core, in a buffer of its own, and what the stack does for it.
    fn arrives(app: &mut Snap, seq: u64, flow: u32, buffer: u32) -> (Verdict, Vec<Op>) {
        let packet = Packet { seq, rx: 1000 * buffer, tx: 5, bytes: 224, flow, buffer };
        let mut ops = Ops::new(true);
        let verdict = app.on_packet(1, &packet, &mut ops);
        (verdict, ops.iter().collect())
    }

    #[test]
    fn a_complete_read_is_copied_in_order_and_its_buffers_are_given_back_after_that() {
        let (mut app, _) = on_completion();
        let keep = Verdict::Keep { bytes: 64 };
        let app_lines =
            |ops: &[Op]| ops.iter().any(|op| matches!(op, Op::Store { kind: LineKind::App, .. }));
        for (seq, buffer) in [(5, 2), (3, 3)] {
            let (verdict, ops) = arrives(&mut app, seq, 3, buffer);
            assert!(verdict == keep && !app_lines(&ops), "{verdict:?}");
        }
        // A duplicate is swept at once.
        let (verdict, ops) = arrives(&mut app, 5, 3, 4);
        assert!(verdict == Verdict::Reply { bytes: 64 } && !app_lines(&ops), "{verdict:?}");
        let swept = ops.iter().filter(|op| matches!(op, Op::Sweep { .. })).count();
        assert_eq!(swept, 4);
        let (verdict, ops) = arrives(&mut app, 4, 3, 9);
        assert_eq!(verdict, Verdict::Reply { bytes: 64 });
        let at = |wanted: Op| ops.iter().position(|&op| op == wanted);
        // The second core's place, after that of the first: three packets of two lines.
        let stores: Vec<Line> = ops
            .iter()
            .filter_map(|op| match *op {
                Op::Store { line, kind: LineKind::App, .. } => Some(line),
                _ => None,
            })
            .collect();
        assert_eq!(stores, (app.payload.memory + 6..app.payload.memory + 12).collect::<Vec<_>>());
        // Packets 3 and 5 waited: all lines of their payload are read now, and given back when they are swept.
        for buffer in [3, 2] {
            let back =
                at(Op::Mark { mark: Mark::GiveBack, packet: buffer }).expect("it is given back");
            for line in 1000 * buffer + 1..1000 * buffer + 4 {
                let load = Op::Load { line, kind: LineKind::Rx, dep: Dep::Free };
                let swept = at(Op::Sweep { line }).expect("it is swept");
                assert!(at(load).is_some_and(|load| load < swept) && swept < back, "{line}");
            }
        }
        assert_eq!(at(Op::Mark { mark: Mark::GiveBack, packet: 9 }), None);
    }

    #[test]
    fn it_keeps_as_many_buffers_as_it_says_and_gives_all_back() {
        let (mut app, traffic) = on_completion();
        let settings = SnapConfig { copied: CopyTime::OnCompletion, ..SnapConfig::default() };
        assert_eq!((settings.keeps(&traffic), SnapConfig::default().keeps(&traffic)), (8, 0));
        let (mut kept, mut buffer) = (0, 0);
        let mut given_back = 0;
        // All but the last packet of each open read first, then the last ones.
        for numbers in [[0, 1, 3, 4].as_slice(), &[2, 5]] {
            for flow in [2, 3] {
                for &seq in numbers {
                    buffer += 1;
                    let (verdict, ops) = arrives(&mut app, seq, flow, buffer);
                    kept += u32::from(matches!(verdict, Verdict::Keep { .. }));
                    let back = |op: &&Op| matches!(op, Op::Mark { mark: Mark::GiveBack, .. });
                    given_back += ops.iter().filter(back).count();
                }
            }
        }
        assert_eq!((kept, given_back), (8, 8));
    }
}
