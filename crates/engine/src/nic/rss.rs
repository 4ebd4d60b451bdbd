//! Receive-side scaling: the Toeplitz hash of a packet's headers selects an entry of the
//! indirection table, and the entry names the queue (Microsoft, "RSS Hashing Functions", Windows
//! driver docs).

use std::fmt::Display;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::toeplitz::{Key, MAX_INPUT};
use crate::check::Check;
use crate::wire::{FiveTuple, Flow, FlowTable};

/// The header fields that are hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fields {
    /// Source and destination address, and the ports if the packet has any (`sdfn` of `ethtool -n`).
    #[default]
    AddressesAndPorts,
    /// Source and destination address only (`sd`), as with DPDK's `RTE_ETH_RSS_IP` and for UDP in
    /// many drivers.
    Addresses,
}

/// Configuration of receive-side scaling.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RssConfig {
    /// Entries of the indirection table: a power of two from 1 to 65536. The default is 128, as in
    /// the Intel 82599 and the Microsoft specification; 100 GbE NICs have 512 (E810) or more.
    pub indirection_entries: u32,
    /// The header fields that are hashed.
    pub fields: Fields,
    /// Key of the Toeplitz hash as `ethtool -x` prints it: 40 to 52 hexadecimal bytes separated by
    /// colons, of which the first 40 are used. Absent: the key of Microsoft's specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub key: Option<Key>,
}

/// The largest table: a queue number has 16 bits (DPDK `rte_eth_rss_reta_entry64`), so more entries
/// could not distinguish more queues.
const MAX_ENTRIES: u32 = 1 << 16;

impl Default for RssConfig {
    fn default() -> Self {
        RssConfig { indirection_entries: 128, fields: Fields::default(), key: None }
    }
}

impl RssConfig {
    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        let entries = self.indirection_entries;
        if !entries.is_power_of_two() || entries > MAX_ENTRIES {
            check.refuse("indirection_entries", entries, powers_of_two_from(1));
        }
    }

    /// Reports a table with fewer entries than there are queues.
    pub(crate) fn check_reach(&self, check: &mut Check, queues: u32) {
        if self.indirection_entries < queues {
            let least = format!("{} (an entry for each queue)", queues.next_power_of_two());
            check.refuse(
                "indirection_entries",
                self.indirection_entries,
                powers_of_two_from(least),
            );
        }
    }
}

fn powers_of_two_from(least: impl Display) -> String {
    format!("a power of two from {least} to {MAX_ENTRIES}")
}

/// The queue of every flow. The hash is computed once per flow, before the run; on the packet path
/// there is only a lookup.
#[derive(Clone, Debug)]
pub struct Rss {
    queue_of: Vec<u32>,
    flows_of: Vec<Vec<u32>>,
}

impl Rss {
    /// Spreads `flows` over `queues` queues. The table's entries name the queues round-robin, which
    /// is how drivers initialize it.
    ///
    /// # Panics
    /// If there is no queue, or the table cannot reach all of them.
    pub fn new(config: &RssConfig, queues: u32, flows: &FlowTable) -> Rss {
        let entries = config.indirection_entries;
        assert!((1..=entries).contains(&queues), "expected 1 to {entries} queues; got {queues}");
        let indirection: Vec<u32> = (0..entries).map(|entry| entry % queues).collect();
        let queue_of: Vec<u32> = flows
            .as_slice()
            .iter()
            .map(|flow| indirection[(hash(config, flow) & (entries - 1)) as usize])
            .collect();
        let mut flows_of = vec![Vec::new(); queues as usize];
        for (flow, queue) in queue_of.iter().enumerate() {
            flows_of[*queue as usize].push(flow as u32);
        }
        Rss { queue_of, flows_of }
    }

    /// The queue of a flow.
    #[inline]
    pub fn queue(&self, flow: u32) -> u32 {
        self.queue_of[flow as usize]
    }

    /// The flows that reach a queue, in ascending order. May be empty: with few flows, some queues
    /// get none.
    pub fn flows_of(&self, queue: u32) -> &[u32] {
        &self.flows_of[queue as usize]
    }
}

/// The hash of a flow, including its ports if it has any and they are configured; 0 (the first
/// queue) for anything that is not IP.
fn hash(config: &RssConfig, flow: &Flow) -> u32 {
    let Flow::Ip(tuple) = flow else { return 0 };
    let mut input = Input { bytes: [0; MAX_INPUT], len: 0 };
    let FiveTuple { src, dst, ports, .. } = tuple;
    for address in [src, dst] {
        match address {
            IpAddr::V4(v4) => input.push(&v4.octets()),
            IpAddr::V6(v6) => input.push(&v6.octets()),
        }
    }
    if let Some((src, dst)) = ports
        && config.fields == Fields::AddressesAndPorts
    {
        input.push(&src.to_be_bytes());
        input.push(&dst.to_be_bytes());
    }
    config.key.unwrap_or_default().hash(&input.bytes[..input.len])
}

/// The concatenated header fields.
struct Input {
    bytes: [u8; MAX_INPUT],
    len: usize,
}

impl Input {
    fn push(&mut self, field: &[u8]) {
        self.bytes[self.len..self.len + field.len()].copy_from_slice(field);
        self.len += field.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::ensure;

    /// Destination and port, source and port, hash of the addresses, hash with the ports: the
    /// verification suite of the Microsoft specification, also in the Intel 82599 datasheet,
    /// section 7.1.2.8.3.
    const VECTORS: [(&str, u16, &str, u16, u32, u32); 8] = [
        ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e_8fc2, 0x51cc_c178),
        ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718_262a, 0xc626_b0ea),
        ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0_a5de, 0x5c2b_394a),
        ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x8298_9176, 0xafc7_327f),
        ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d18_09c5, 0x10e8_28a2),
        ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc1_8cd5, 0x4020_7d3d),
        ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c_461c, 0xdde5_1bbf),
        (
            "fe80::200:f8ff:fe21:67cf",
            38024,
            "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
            44251,
            0x4b61_e985,
            0x02d1_feef,
        ),
    ];

    #[test]
    fn the_hash_meets_the_published_vectors() {
        for (dst, dst_port, src, src_port, addresses, with_ports) in VECTORS {
            let hash = |fields, ports| {
                let (src, dst) = (src.parse().unwrap(), dst.parse().unwrap());
                let tuple = FiveTuple { src, dst, protocol: 6, ports };
                hash(&RssConfig { fields, ..RssConfig::default() }, &Flow::Ip(tuple))
            };
            let ports = Some((src_port, dst_port));
            assert_eq!(hash(Fields::AddressesAndPorts, ports), with_ports, "{src} to {dst}");
            assert_eq!(hash(Fields::AddressesAndPorts, None), addresses, "{src} to {dst}");
            assert_eq!(hash(Fields::Addresses, ports), addresses, "{src} to {dst}");
        }
    }

    /// The key that many servers use so that both directions of a connection reach one core (Woo
    /// and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side Scaling", 2012).
    #[test]
    fn a_key_of_one_pair_of_bytes_deals_both_directions_alike() {
        let flows = FlowTable::synthetic(64);
        let back = flows.as_slice().iter().map(|flow| match *flow {
            Flow::Ip(FiveTuple { src, dst, protocol, ports }) => {
                let ports = ports.map(|(src, dst)| (dst, src));
                Flow::Ip(FiveTuple { src: dst, dst: src, protocol, ports })
            }
            Flow::Frame { .. } => panic!("synthetic flows are IP"),
        });
        let back = FlowTable::new(back.collect());
        let dealt = |key: Key, flows| {
            let config = RssConfig { key: Some(key), ..RssConfig::default() };
            let rss = Rss::new(&config, 8, flows);
            (0..64).map(|flow| rss.queue(flow)).collect::<Vec<u32>>()
        };
        let pairs: Key = ["6d:5a"; 20].join(":").parse().unwrap();
        assert_eq!(dealt(pairs, &flows), dealt(pairs, &back));
        assert_ne!(dealt(Key::MICROSOFT, &flows), dealt(Key::MICROSOFT, &back));
    }

    #[test]
    fn what_is_not_ip_goes_to_the_first_queue() {
        let arp = Flow::Frame { dst: [0xff; 6], src: [2; 6], ethertype: 0x0806 };
        let rss = Rss::new(&RssConfig::default(), 24, &FlowTable::new(vec![arp]));
        assert_eq!(rss.queue(0), 0);
    }

    #[test]
    fn flows_spread_as_the_table_does() {
        // 128 entries over 24 queues: queues 0 to 7 have six entries each, the others five.
        let n = 128 * 1000;
        let rss = Rss::new(&RssConfig::default(), 24, &FlowTable::synthetic(n));
        for queue in 0..24 {
            let entries = if queue < 8 { 6.0 } else { 5.0 };
            let p: f64 = entries / 128.0;
            let sigma = (f64::from(n) * p * (1.0 - p)).sqrt();
            let off = rss.flows_of(queue).len() as f64 - f64::from(n) * p;
            assert!(off.abs() < 4.0 * sigma, "queue {queue}: {} sigma", off / sigma);
        }
    }

    #[test]
    fn both_directions_of_the_table_agree() {
        let rss = Rss::new(&RssConfig::default(), 5, &FlowTable::synthetic(1000));
        let total: usize = (0..5).map(|queue| rss.flows_of(queue).len()).sum();
        assert_eq!(total, 1000);
        for queue in 0..5 {
            assert!(rss.flows_of(queue).iter().all(|flow| rss.queue(*flow) == queue));
        }
    }

    #[test]
    fn a_table_that_no_card_has_is_refused() {
        for (entries, queues, least) in [
            (0, 1, "1"),
            (100, 1, "1"),
            (1 << 17, 1, "1"),
            (16, 24, "32 (an entry for each queue)"),
        ] {
            let config = RssConfig { indirection_entries: entries, ..RssConfig::default() };
            let told = ensure(|check| {
                config.check(check);
                config.check_reach(check, queues);
            });
            let told = told.unwrap_err();
            assert_eq!(told.key, "indirection_entries");
            assert_eq!(told.given, entries.to_string());
            assert_eq!(told.allowed, format!("a power of two from {least} to 65536"));
        }
    }
}
