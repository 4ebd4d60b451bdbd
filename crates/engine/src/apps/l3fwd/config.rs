//! Configuration of an L3 forwarder.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::apps::config::{Idle, Settings};
use crate::apps::sharing::{ONE_CORE, Sharing};
use crate::check::Check;
use crate::transport::config::ClosedLoopConfig;

/// A forwarder of IPv4 packets by longest-prefix match. The defaults are the network function of
/// the Sweeper paper with 16k rules (appendix, "Workload configurations").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct L3fwdConfig {
    /// Whether the cores share one table, like the lcores of a DPDK process, or have one each.
    pub tables: Sharing,
    /// Number of random rules in the table. 16384 rules touch about as many cache lines of the
    /// table: 1 MB, which "barely fit in each core's private L2" (appendix). DPDK's l3fwd comes
    /// with 8, which stay in the L1d, as the paper's data set does in section VI-E.
    pub rules: u32,
    /// Bits of the shortest prefix; lengths are distributed uniformly. DPDK's l3fwd has prefixes of
    /// 24 bits.
    pub shortest_prefix: u32,
    /// Bits of the longest prefix. Beyond 24 bits a look-up reads a second table.
    pub longest_prefix: u32,
    /// What determines the rule under which a packet's destination falls.
    pub destinations: Destinations,
    /// How a packet gets from the receive queue to the transmit queue.
    pub transmit: Transmit,
    /// Instructions per packet in addition to those counted per access and per copied line:
    /// parsing, the address arithmetic of the look-up, TTL, checksum, MAC addresses and queueing
    /// for transmit. 50 is an estimate from reading `l3fwd_lpm_simple_forward` of DPDK's l3fwd.
    pub packet_instructions: u32,
    /// Instructions to copy one cache line in addition to its first load and its first store: one
    /// more 32-byte AVX load, one more store and two for the loop.
    pub copy_instructions_per_line: u32,
}

impl Default for L3fwdConfig {
    fn default() -> L3fwdConfig {
        L3fwdConfig {
            tables: Sharing::Shared,
            rules: 16_384,
            shortest_prefix: 24,
            longest_prefix: 24,
            destinations: Destinations::PerPacket,
            transmit: Transmit::Copy,
            packet_instructions: 50,
            copy_instructions_per_line: 4,
        }
    }
}

/// What determines the rule under which a packet's destination falls; rules are drawn uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Destinations {
    /// Each packet has its own destination: how packets spread over cores and how much of the table
    /// is in use are independent.
    PerPacket,
    /// All packets of a flow have one destination, as those of a real flow do: a core looks up only
    /// the rules of its own flows, and those of frequent flows more often.
    PerFlow,
}

/// How a packet gets from the receive queue to the transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transmit {
    /// Copied into a transmit buffer; the receive buffer is relinquished at once.
    Copy,
    /// The receive buffer itself is transmitted.
    ZeroCopy,
}

/// The size of the Internet's table.
const MOST_RULES: u32 = 1 << 20;

impl Settings for L3fwdConfig {
    fn check(&self, check: &mut Check) {
        let ordered = self.shortest_prefix <= self.longest_prefix;
        check.that(
            (8..=32).contains(&self.shortest_prefix),
            "shortest_prefix",
            self.shortest_prefix,
            "8 to 32",
        );
        check.that(
            (8..=32).contains(&self.longest_prefix) && ordered,
            "longest_prefix",
            self.longest_prefix,
            "shortest_prefix to 32",
        );
        // At most half of the shortest prefixes, because random rules are drawn until they differ.
        let prefixes = 1u64.checked_shl(self.shortest_prefix.min(32)).unwrap_or(u64::MAX);
        let most = (prefixes / 2).min(MOST_RULES.into());
        if self.shortest_prefix >= 8 && !(1..=most).contains(&self.rules.into()) {
            let half = ", half of the prefixes of the shortest length";
            let why = if most < MOST_RULES.into() { half } else { "" };
            check.refuse("rules", self.rules, format!("1 to {most}{why}"));
        }
    }

    /// 4 bytes for each /24, and 256 entries of 4 for each longer rule.
    fn bytes(&self, cores: u32, _closed_loop: Option<&ClosedLoopConfig>) -> u128 {
        u128::from(self.tables.copies(cores)) * ((64 << 20) + 1024 * u128::from(self.rules))
    }

    fn tells_flows(&self) -> bool {
        self.destinations == Destinations::PerFlow
    }

    fn sends_in_place(&self) -> bool {
        self.transmit == Transmit::ZeroCopy
    }

    fn without_effect(&self, cores: u32) -> Vec<Idle> {
        let mut keys = Vec::new();
        if self.transmit != Transmit::Copy {
            let because = "only app.transmit = \"copy\" copies";
            keys.push(("copy_instructions_per_line", because));
        }
        if cores == 1 {
            keys.push(("tables", ONE_CORE));
        }
        keys
    }
}
