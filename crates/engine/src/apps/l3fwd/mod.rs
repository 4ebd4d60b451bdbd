//! The L3 forwarder: DPDK's l3fwd with a DIR-24-8 table of random rules.
//!
//! Each packet's destination falls under a rule that is drawn uniformly, by the number of the
//! packet or of its flow ([`Destinations`](config::Destinations)).
//!
//! What one packet of 1 KB (16 lines) touches:
//!
//! | | RX loads | RX stores | table loads | TX stores | lines |
//! |---|---|---|---|---|---|
//! | copy | 16 | 0 | 2 | 16 | 34 |
//! | zero-copy | 1 | 1 | 2 | 0 | 4 |
//!
//! The two table loads are the entry of `tbl24` and the MAC addresses of the next hop; a prefix
//! longer than 24 bits adds an entry of `tbl8`. Each number is asserted below.

pub mod config;

mod lpm;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::config::{Destinations, L3fwdConfig, Transmit};
use self::lpm::{Lpm, Rule};
use super::app::{App, Packet, Verdict};
use super::copy::{Lines, copy};
use super::draw::Draw;
use super::sharing::of_core;
use crate::core::op::{Dep, Ops};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::rng::below;

/// Entries of 4 bytes in a line of the tables (`struct rte_lpm_tbl_entry`).
const ENTRIES_PER_LINE: u32 = 16;

/// Next hops: DPDK's `RTE_MAX_ETHPORTS`. l3fwd keeps both MAC addresses of each in 16 bytes
/// (`val_eth`), from which one store rewrites a packet.
const NEXT_HOPS: u32 = 32;
const NEXT_HOPS_PER_LINE: u32 = 4;

/// What the forwarder has done since its counters were reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counters {
    /// Packets forwarded.
    packets: u64,
    /// Packets whose look-up needed the second table.
    second_lookups: u64,
}

/// Where a core's tables lie.
#[derive(Clone, Copy, Debug)]
struct Tables {
    tbl24: Line,
    tbl8: Line,
    next_hops: Line,
}

impl Tables {
    fn new(lpm: &Lpm, space: &mut AddressSpace) -> Tables {
        let lines = |entries: u32| u64::from(entries.div_ceil(ENTRIES_PER_LINE)) * LINE_BYTES;
        Tables {
            tbl24: space.reserve(lines(Lpm::TBL24_ENTRIES)),
            tbl8: space.reserve(lines(lpm.tbl8_entries())),
            next_hops: space.reserve(u64::from(NEXT_HOPS / NEXT_HOPS_PER_LINE) * LINE_BYTES),
        }
    }
}

/// The application.
#[derive(Clone, Debug)]
pub struct L3fwd {
    lpm: Lpm,
    rules: Arc<[Rule]>,
    draw: Draw,
    destinations: Destinations,
    counters: Counters,
    /// One for all cores, or one per core with equal contents.
    tables: Vec<Tables>,
    transmit: Transmit,
    packet_instructions: u32,
    copy_instructions: u32,
}

impl L3fwd {
    /// A forwarder for `cores` cores with its tables filled. The configuration has been checked.
    pub(crate) fn new(
        config: &L3fwdConfig,
        cores: u32,
        seed: u64,
        space: &mut AddressSpace,
    ) -> L3fwd {
        let rules = random_rules(config, Draw::new(seed, 0));
        let lpm = Lpm::new(rules.clone());
        let copies = config.tables.copies(cores);
        L3fwd {
            tables: (0..copies).map(|_| Tables::new(&lpm, space)).collect(),
            lpm,
            rules: rules.into(),
            draw: Draw::new(seed, 1),
            destinations: config.destinations,
            counters: Counters::default(),
            transmit: config.transmit,
            packet_instructions: config.packet_instructions,
            copy_instructions: config.copy_instructions_per_line,
        }
    }

    /// The destination address of a packet: any address under a uniformly drawn rule.
    #[inline]
    fn destination(&self, packet: &Packet) -> u32 {
        let draw = self.draw.at(match self.destinations {
            Destinations::PerPacket => packet.seq,
            Destinations::PerFlow => packet.flow.into(),
        });
        let rule = self.rules[below(draw, self.rules.len() as u64) as usize];
        // The low bits of the draw are free: the rule took the high ones.
        rule.prefix | draw as u32 & rule.host_mask()
    }
}

/// Distinct random prefixes. Ordered containers only, so that the rules depend on the draws alone.
fn random_rules(config: &L3fwdConfig, draw: Draw) -> Vec<Rule> {
    let lengths = u64::from(config.longest_prefix - config.shortest_prefix + 1);
    let mut seen = BTreeSet::new();
    let mut rules = Vec::with_capacity(config.rules as usize);
    for n in 0.. {
        if rules.len() == config.rules as usize {
            break;
        }
        let length = config.shortest_prefix + below(draw.at(3 * n), lengths) as u32;
        let next_hop = below(draw.at(3 * n + 1), u64::from(NEXT_HOPS)) as u32;
        let rule = Rule { prefix: draw.at(3 * n + 2) as u32, length, next_hop };
        let rule = Rule { prefix: rule.prefix & !rule.host_mask(), ..rule };
        if seen.insert((rule.prefix, rule.length)) {
            rules.push(rule);
        }
    }
    rules
}

impl App for L3fwd {
    fn on_packet(&mut self, rank: u32, packet: &Packet, ops: &mut Ops) -> Verdict {
        let found = self.lpm.lookup(self.destination(packet));
        let next_hop = found.next_hop.expect("every destination lies under a rule");
        let tables = self.tables[of_core(self.tables.len(), rank)];
        self.counters.packets += 1;

        ops.load(packet.rx, LineKind::Rx, Dep::Chain);
        ops.compute(self.packet_instructions);
        ops.load(tables.tbl24 + found.tbl24 / ENTRIES_PER_LINE, LineKind::App, Dep::Chain);
        if let Some(entry) = found.tbl8 {
            self.counters.second_lookups += 1;
            ops.load(tables.tbl8 + entry / ENTRIES_PER_LINE, LineKind::App, Dep::Chain);
        }
        ops.load(tables.next_hops + next_hop / NEXT_HOPS_PER_LINE, LineKind::App, Dep::After);
        match self.transmit {
            Transmit::Copy => {
                let count = lines_in(u64::from(packet.bytes));
                let side = |first, kind| Lines { first, count, kind, dep: Dep::Free };
                let (from, to) = (side(packet.rx, LineKind::Rx), side(packet.tx, LineKind::Tx));
                copy(ops, from, to, self.copy_instructions);
                ops.relinquish(packet.rx, packet.bytes);
                Verdict::Reply { bytes: packet.bytes }
            }
            Transmit::ZeroCopy => {
                ops.store(packet.rx, LineKind::Rx, Dep::After);
                Verdict::Forward
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let c = &self.counters;
        vec![("packets", c.packets), ("second_lookups", c.second_lookups)]
    }

    fn progress(&self) -> u64 {
        self.counters.packets
    }

    fn reset_counters(&mut self) {
        self.counters = Counters::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::config::Settings;
    use crate::check::violations;
    use crate::core::op::Op;

    fn build(config: &L3fwdConfig) -> L3fwd {
        assert_eq!(violations(|check| config.check(check)), []);
        L3fwd::new(config, 2, 1, &mut AddressSpace::default())
    }

    const RX: Line = 1 << 30;
    const TX: Line = 1 << 31;

    /// Packet `seq`, of one of ten flows.
    fn packet(seq: u64) -> Packet {
        Packet { seq, rx: RX, tx: TX, bytes: 1024, flow: seq as u32 % 10, buffer: 0 }
    }

    fn serve(app: &mut L3fwd, seq: u64) -> (Vec<Op>, Verdict) {
        let mut ops = Ops::new(true);
        let verdict = app.on_packet(0, &packet(seq), &mut ops);
        (ops.iter().collect(), verdict)
    }

    /// RX loads, RX stores, table loads, TX stores, sweeps.
    fn touched(ops: &[Op]) -> [usize; 5] {
        let count = |wanted: fn(&Op) -> bool| ops.iter().filter(|op| wanted(op)).count();
        [
            count(|op| matches!(op, Op::Load { kind: LineKind::Rx, .. })),
            count(|op| matches!(op, Op::Store { kind: LineKind::Rx, .. })),
            count(|op| matches!(op, Op::Load { kind: LineKind::App, .. })),
            count(|op| matches!(op, Op::Store { kind: LineKind::Tx, .. })),
            count(|op| matches!(op, Op::Sweep { .. })),
        ]
    }

    #[test]
    fn packets_touch_the_lines_of_the_table_above() {
        let few = L3fwdConfig { rules: 16, ..L3fwdConfig::default() };
        let (ops, verdict) = serve(&mut build(&few), 0);
        assert_eq!(touched(&ops), [16, 0, 2, 16, 16]);
        assert_eq!(verdict, Verdict::Reply { bytes: 1024 });
        let zero_copy = L3fwdConfig { transmit: Transmit::ZeroCopy, ..few.clone() };
        let (ops, verdict) = serve(&mut build(&zero_copy), 0);
        assert_eq!(touched(&ops), [1, 1, 2, 0, 0]);
        assert_eq!(verdict, Verdict::Forward);
        let long = L3fwdConfig { shortest_prefix: 25, longest_prefix: 32, ..few };
        let mut app = build(&long);
        let (ops, _) = serve(&mut app, 0);
        assert_eq!(touched(&ops), [16, 0, 3, 16, 16]);
        assert_eq!(app.counters, Counters { packets: 1, second_lookups: 1 });
    }

    #[test]
    fn rules_16k_touch_a_megabyte_of_table() {
        let mut app = build(&L3fwdConfig::default());
        let mut lines = BTreeSet::new();
        for seq in 0..300_000 {
            for op in serve(&mut app, seq).0 {
                if let Op::Load { line, kind: LineKind::App, .. } = op {
                    lines.insert(line);
                }
            }
        }
        // 16384 prefixes in 2^20 lines of tbl24: 128 are expected to share a line; 8 lines of next hops.
        let megabyte = (1 << 20) / LINE_BYTES as usize;
        assert!((megabyte - 200..=megabyte).contains(&lines.len()), "{}", lines.len());
    }

    #[test]
    fn the_packets_of_a_flow_go_to_one_destination_if_that_is_asked_for() {
        // Of a thousand drawn destinations, two may be the same.
        for (destinations, different) in
            [(Destinations::PerFlow, 10..=10), (Destinations::PerPacket, 990..=1000)]
        {
            let app = build(&L3fwdConfig { destinations, ..L3fwdConfig::default() });
            let all: BTreeSet<u32> = (0..1000).map(|seq| app.destination(&packet(seq))).collect();
            assert!(different.contains(&all.len()), "{destinations:?}: {}", all.len());
        }
    }

    #[test]
    fn every_destination_has_the_next_hop_of_a_rule_that_covers_it() {
        let mixed = L3fwdConfig {
            shortest_prefix: 12,
            longest_prefix: 32,
            rules: 2000,
            ..L3fwdConfig::default()
        };
        let app = build(&mixed);
        for seq in 0..1000 {
            let address = app.destination(&packet(seq));
            let longest = app
                .rules
                .iter()
                .filter(|rule| address & !rule.host_mask() == rule.prefix)
                .max_by_key(|rule| rule.length)
                .map(|rule| rule.next_hop);
            assert_eq!(app.lpm.lookup(address).next_hop, longest);
            assert!(longest.is_some(), "packet {seq}");
        }
    }
}
