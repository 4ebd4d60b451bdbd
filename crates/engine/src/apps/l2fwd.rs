//! The layer-2 forwarder: a MAC swap, as DPDK's l2fwd and FastClick's `EtherMirror` do it.
//!
//! It touches only the header line, with one load and one store, and transmits the receive buffer
//! itself. This is the software of the public DDIO measurements (Farshin et al., "Reexamining
//! Direct Cache Access to Optimize I/O Intensive Applications for Multi-hundred-gigabit Networks",
//! USENIX ATC 2020, and its `ddio-bench` repository).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::app::{App, Packet, Verdict};
use super::config::Settings;
use crate::check::Check;
use crate::core::op::{Dep, Ops};
use crate::memory::line::LineKind;
use crate::transport::config::ClosedLoopConfig;

/// A forwarder that swaps the MAC addresses and sends the packet back without a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct L2fwdConfig {
    /// Instructions per packet in addition to the load and the store: moving two 6-byte addresses
    /// through registers, and the element's share of the loop over the batch. 20 is an estimate
    /// from reading Click's `EtherMirror::simple_action`.
    pub packet_instructions: u32,
}

impl Default for L2fwdConfig {
    fn default() -> L2fwdConfig {
        L2fwdConfig { packet_instructions: 20 }
    }
}

impl Settings for L2fwdConfig {
    /// Any number of instructions is valid.
    fn check(&self, _check: &mut Check) {}

    fn bytes(&self, _cores: u32, _closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        0
    }

    fn has_data(&self) -> bool {
        false
    }

    fn sends_in_place(&self) -> bool {
        true
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct L2fwd {
    packet_instructions: u32,
    /// Packets since the counters were reset.
    packets: u64,
}

impl L2fwd {
    /// A forwarder; it has no data of its own.
    pub(crate) fn new(config: &L2fwdConfig) -> L2fwd {
        L2fwd { packet_instructions: config.packet_instructions, packets: 0 }
    }
}

impl App for L2fwd {
    fn on_packet(&mut self, _rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        self.packets += 1;
        ops.load(packet.rx, LineKind::Rx, Dep::Chain);
        ops.compute(self.packet_instructions);
        ops.store(packet.rx, LineKind::Rx, Dep::After);
        Verdict::Forward
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

    #[test]
    fn a_packet_costs_one_load_and_one_store_of_its_first_line() {
        let mut app = L2fwd::new(&L2fwdConfig::default());
        let mut ops = Ops::new(true);
        let packet = Packet { seq: 0, rx: 7, tx: 99, bytes: 1500, flow: 0, buffer: 0 };
        assert_eq!(app.on_packet(0, &packet, &mut ops), Verdict::Forward);
        let ops: Vec<Op> = ops.iter().collect();
        let expected = [
            Op::Load { line: 7, kind: LineKind::Rx, dep: Dep::Chain },
            Op::Compute { instructions: 20 },
            Op::Store { line: 7, kind: LineKind::Rx, dep: Dep::After },
        ];
        assert_eq!(ops, expected);
        assert_eq!(app.counters(), [("packets", 1)]);
    }
}
