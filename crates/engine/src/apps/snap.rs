//! A thread of a user-space network stack that reads from other machines, as Snap's engines do (Marty
//! et al., "Snap: a microkernel approach to host networking", SOSP 2019).
//!
//! For every packet, the headers are read, the transport does its work, the payload is copied from
//! the receive buffer to the application's memory, and an acknowledgement is sent, which carries
//! the request for the next read when one is complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Verdict};
use super::config::Settings;
use super::copy::{Lines, copy};
use crate::check::Check;
use crate::core::op::{Dep, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::transport::config::ClosedLoopConfig;

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
}

impl Default for SnapConfig {
    fn default() -> SnapConfig {
        SnapConfig { packet_instructions: 2000, copy_instructions_per_line: 4 }
    }
}

impl Settings for SnapConfig {
    /// Any number of instructions is valid.
    fn check(&self, _check: &mut Check) {}

    fn bytes(&self, cores: u32, closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        let open = |t: &ClosedLoopConfig| u128::from(t.read.0) * u128::from(t.open_reads);
        closed_loop.map_or(0, |t| u128::from(cores) * u128::from(t.senders) * open(t))
    }

    fn answers_senders(&self) -> bool {
        true
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct Snap {
    config: SnapConfig,
    /// Where the application wants its data: room for the open reads of each connection.
    memory: Line,
    open_packets: u32,
    payload_lines: u32,
    /// Lines that hold only headers, and bytes of an acknowledgement.
    header_lines: u32,
    acknowledgement: u32,
    /// Packets since the counters were reset.
    packets: u64,
}

impl Snap {
    /// A stack on `cores` cores for this traffic.
    pub(crate) fn new(
        config: &SnapConfig,
        cores: u32,
        traffic: &ClosedLoopConfig,
        space: &mut AddressSpace,
    ) -> Snap {
        let payload_lines = lines_in(traffic.payload.0);
        let open_packets = traffic.open_packets();
        let packets = u64::from(cores * traffic.senders) * u64::from(open_packets);
        Snap {
            config: config.clone(),
            memory: space.reserve(packets * u64::from(payload_lines) * LINE_BYTES),
            open_packets,
            payload_lines,
            header_lines: (traffic.headers.0 / LINE_BYTES) as u32,
            acknowledgement: traffic.acknowledgement.0 as u32,
            packets: 0,
        }
    }
}

impl App for Snap {
    fn on_packet(&mut self, _rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        self.packets += 1;
        // The headers, and the line in which the payload begins.
        ops.load(packet.rx, LineKind::Rx, Dep::Chain);
        for line in packet.rx + 1..=packet.rx + self.header_lines {
            ops.load(line, LineKind::Rx, Dep::Free);
        }
        ops.compute(self.config.packet_instructions);
        let place =
            packet.flow * self.open_packets + (packet.seq % u64::from(self.open_packets)) as u32;
        let from = Lines {
            first: packet.rx + self.header_lines,
            count: lines_in(u64::from(packet.bytes)) - self.header_lines,
            kind: LineKind::Rx,
            dep: Dep::Free,
        };
        let to = Lines {
            first: self.memory + place * self.payload_lines,
            count: self.payload_lines,
            kind: LineKind::App,
            dep: Dep::Free,
        };
        copy(ops, from, to, self.config.copy_instructions_per_line);
        ops.relinquish(packet.rx, packet.bytes);
        for line in packet.tx..packet.tx + lines_in(u64::from(self.acknowledgement)) {
            ops.store(line, LineKind::Tx, Dep::Free);
        }
        Verdict::Reply { bytes: self.acknowledgement }
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
    use crate::core::op::Op;
    use serde_json::json;

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
        let packet = Packet { seq: 4 * 7 + 2, rx: 1000, tx: 5000, bytes: 4428, flow: 1, handle: 0 };
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
        let first = app.memory + (4 + 2) * 64;
        assert!(of(LineKind::App, true).into_iter().eq(first..first + 64));
        assert!(of(LineKind::Tx, true).into_iter().eq(5000..5002));
    }
}
