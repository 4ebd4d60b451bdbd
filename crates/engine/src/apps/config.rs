//! The configuration of a tenant's application.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kvs::config::{KvsConfig, Requests};
use super::l2fwd::L2fwdConfig;
use super::l3fwd::config::{Destinations, L3fwdConfig};
use super::snap::SnapConfig;
use super::stream::StreamConfig;
use super::xmem::XmemConfig;
use crate::check::Check;

/// The application of a tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum AppConfig {
    /// A MICA-style key-value store.
    Kvs(KvsConfig),
    /// A forwarder of IPv4 packets by longest-prefix match.
    L3fwd(L3fwdConfig),
    /// A forwarder that swaps MAC addresses.
    L2fwd(L2fwdConfig),
    /// A user-space network stack that reads from other machines; needs closed-loop traffic.
    Snap(SnapConfig),
    /// The STREAM benchmark on each core, without network traffic.
    Stream(StreamConfig),
    /// A memory benchmark without network traffic.
    Xmem(XmemConfig),
}

impl AppConfig {
    /// The name of its kind in a scenario.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            AppConfig::Kvs(_) => "kvs",
            AppConfig::L3fwd(_) => "l3fwd",
            AppConfig::L2fwd(_) => "l2fwd",
            AppConfig::Snap(_) => "snap",
            AppConfig::Stream(_) => "stream",
            AppConfig::Xmem(_) => "xmem",
        }
    }

    /// Whether its cores have queues; memory benchmarks have none.
    pub(crate) fn serves_packets(&self) -> bool {
        !matches!(self, AppConfig::Stream(_) | AppConfig::Xmem(_))
    }

    /// Whether its client determines the sizes of all requests.
    pub(crate) fn draws_requests(&self) -> bool {
        matches!(self, AppConfig::Kvs(kvs) if kvs.requests == Requests::Drawn)
    }

    /// Whether what it does with a packet depends on the packet's flow.
    pub(crate) fn tells_flows(&self) -> bool {
        matches!(self, AppConfig::L3fwd(l3fwd) if l3fwd.destinations == Destinations::PerFlow)
    }

    /// Whether it has data besides the packets.
    pub(crate) fn has_data(&self) -> bool {
        !matches!(self, AppConfig::L2fwd(_))
    }

    /// Reports values that cannot be simulated.
    pub(crate) fn check(&self, check: &mut Check) {
        match self {
            AppConfig::Kvs(config) => config.check(check),
            AppConfig::L3fwd(config) => config.check(check),
            AppConfig::Stream(config) => config.check(check),
            AppConfig::Xmem(config) => config.check(check),
            // Any number of instructions is valid.
            AppConfig::L2fwd(_) | AppConfig::Snap(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::violations;

    fn parse(json: &str) -> Result<AppConfig, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn a_kind_alone_is_the_workload_of_the_paper() {
        assert_eq!(parse(r#"{"kind": "kvs"}"#), Ok(AppConfig::Kvs(KvsConfig::default())));
        for kind in ["kvs", "l3fwd", "l2fwd", "snap", "stream", "xmem"] {
            let config = parse(&format!(r#"{{"kind": "{kind}"}}"#)).expect("defaults parse");
            assert_eq!(violations(|check| config.check(check)), [], "{kind}");
            let json = serde_json::to_string(&config).expect("serialises");
            assert_eq!(parse(&json), Ok(config));
        }
    }

    #[test]
    fn unknown_keys_and_kinds_are_refused_by_name() {
        for kind in ["kvs", "l3fwd", "l2fwd", "snap", "stream", "xmem"] {
            let e = parse(&format!(r#"{{"kind": "{kind}", "itme": "512 B"}}"#)).unwrap_err();
            assert!(e.contains("itme"), "{kind}: {e}");
        }
        let e = parse(r#"{"kind": "kvss"}"#).unwrap_err();
        assert!(e.contains("kvss") && e.contains("l3fwd"), "{e}");
    }

    #[test]
    fn what_is_wrong_is_listed_with_what_is_allowed() {
        let wrong = |json: &str| -> Vec<String> {
            let config = parse(json).expect("parses");
            let wrong = violations(|check| config.check(check));
            assert!(wrong.iter().all(|v| !v.allowed.is_empty()));
            wrong.iter().map(|v| format!("{} = {}", v.key, v.given)).collect()
        };
        let spike = r#""spike": {"probability": "1 %", "min": "2 us", "max": "1 us"}"#;
        assert_eq!(
            wrong(&format!(r#"{{"kind": "kvs", "buckets": 1000, "log": "3 MiB", {spike}}}"#)),
            ["buckets = 1000", "log = 3 MiB", "spike.max = 1 us",]
        );
        assert_eq!(
            wrong(r#"{"kind": "kvs", "keys": 0, "item": "20 B", "zipf": -1.0, "gets": "101 %"}"#)
                .len(),
            4
        );
        assert_eq!(
            wrong(r#"{"kind": "l3fwd", "rules": 0, "longest_prefix": 16}"#),
            ["longest_prefix = 16", "rules = 0"]
        );
        assert_eq!(
            wrong(r#"{"kind": "stream", "array": "100 B", "vector": "24 B"}"#),
            ["array = 100 B", "vector = 24 B"]
        );
        assert_eq!(wrong(r#"{"kind": "xmem", "region": "100 B"}"#), ["region = 100 B"]);
    }
}
