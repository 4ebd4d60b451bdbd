//! Who talks to whom: the table of flows that arrivals refer to by index.
//!
//! Everything that depends on a packet's headers (its RSS queue) is computed per flow before the
//! run, so that the packet path carries a 32-bit index and never hashes a header.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The fields of an IP packet that receive-side hashing uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FiveTuple {
    /// Source address; of the same family as `dst`.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// The IP protocol number (6 TCP, 17 UDP, ...).
    pub protocol: u8,
    /// Source and destination port. `None` for protocols without ports and for every fragment of a
    /// fragmented packet, so that all fragments belong to one flow.
    pub ports: Option<(u16, u16)>,
}

/// One flow: packets that a NIC cannot tell apart by their headers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flow {
    /// IPv4 or IPv6.
    Ip(FiveTuple),
    /// Anything else (ARP, LLDP, MPLS, ...): the two MAC addresses and the protocol.
    Frame {
        /// Destination MAC address; zero where the capture does not record it.
        dst: [u8; 6],
        /// Source MAC address; zero where the capture does not record it.
        src: [u8; 6],
        /// EtherType; 0 for IEEE 802.3 frames, which carry a length in its place.
        ethertype: u16,
    },
}

/// All flows of a run. Cloning shares the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowTable(Arc<[Flow]>);

impl FlowTable {
    /// Maximum number of synthetic flows: 2^24 keeps the table under 1 GiB and every tuple distinct.
    pub const MAX_SYNTHETIC: u32 = 1 << 24;

    /// A table of these flows, indexed by their position.
    pub fn new(flows: Vec<Flow>) -> FlowTable {
        FlowTable(flows.into())
    }

    /// `n` distinct UDP flows from clients in 198.18.0.0/16 to the server 198.19.0.1, the address
    /// block reserved for benchmarks (RFC 2544, appendix C.2.2). Addresses and ports are scattered
    /// as RFC 4814 section 4 asks: consecutive ones would make a linear hash look better than it
    /// is.
    ///
    /// # Panics
    /// If `n` exceeds [`FlowTable::MAX_SYNTHETIC`] (the configuration check refuses that earlier).
    pub fn synthetic(n: u32) -> FlowTable {
        assert!(n <= Self::MAX_SYNTHETIC, "{n} flows, expected at most {}", Self::MAX_SYNTHETIC);
        let flow = |i| {
            let scattered = scatter_31_bits(i);
            let [high, low] = ((scattered >> 15) as u16).to_be_bytes();
            // 32768 and up is the ephemeral range of Linux (ip_local_port_range).
            let port = 0x8000 | (scattered & 0x7fff) as u16;
            Flow::Ip(FiveTuple {
                src: Ipv4Addr::new(198, 18, high, low).into(),
                dst: Ipv4Addr::new(198, 19, 0, 1).into(),
                protocol: 17,
                // memcached's port; any constant would do.
                ports: Some((port, 11211)),
            })
        };
        FlowTable((0..n).map(flow).collect())
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The flows in index order.
    pub fn as_slice(&self) -> &[Flow] {
        &self.0
    }
}

/// A permutation of the 31-bit numbers (each step is invertible), so distinct inputs stay distinct.
/// The multipliers are those of Murmur3's 32-bit finaliser.
fn scatter_31_bits(i: u32) -> u32 {
    const MASK: u32 = (1 << 31) - 1;
    let x = i & MASK;
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b) & MASK;
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35) & MASK;
    x ^ (x >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn synthetic_flows_are_distinct() {
        let table = FlowTable::synthetic(100_000);
        let distinct: HashSet<&Flow> = table.as_slice().iter().collect();
        assert_eq!(distinct.len(), 100_000);
    }

    #[test]
    fn a_larger_table_begins_with_the_smaller_one() {
        let (small, large) = (FlowTable::synthetic(10), FlowTable::synthetic(1000));
        assert_eq!(small.as_slice(), &large.as_slice()[..10]);
    }
}
