//! What the rest of the simulator has to know of an application's configuration.

use std::fmt::Debug;

use crate::check::Check;
use crate::transport::config::ClosedLoopConfig;
use crate::units::Size;

/// A room for messages: the key that limits it, and its bytes.
pub(crate) type Room = (&'static str, Size);

/// A key, relative to the application's table, and why it has no effect.
pub(crate) type Idle = (&'static str, &'static str);

/// The configuration of an application. What is not true of most applications has a default.
pub(crate) trait Settings: Debug {
    /// Reports values that cannot be simulated.
    fn check(&self, check: &mut Check);

    /// Bytes of its own data on this many cores, at most. `closed_loop` is the traffic, if it is of that kind.
    fn bytes(&self, cores: u32, closed_loop: Option<&ClosedLoopConfig>) -> u128;

    /// Whether it has data besides the packets.
    fn has_data(&self) -> bool {
        true
    }

    /// Whether its cores have queues. Memory benchmarks have none.
    fn serves_packets(&self) -> bool {
        true
    }

    /// Whether it answers the senders of closed-loop traffic, and takes no other traffic.
    fn answers_senders(&self) -> bool {
        false
    }

    /// Receive buffers that each of its cores keeps at most, besides that of the packet it works on.
    fn keeps(&self, _traffic: &ClosedLoopConfig) -> u32 {
        0
    }

    /// Whether its client determines the sizes of all requests.
    fn draws_requests(&self) -> bool {
        false
    }

    /// Whether what it does with a packet depends on the packet's flow.
    fn tells_flows(&self) -> bool {
        false
    }

    /// Whether it sends packets from the buffers that they arrived in.
    fn sends_in_place(&self) -> bool {
        false
    }

    /// Reports messages that fit neither the room of a received `frame` nor that of a `buffer`, where it and not the
    /// traffic determines their sizes.
    fn check_messages(&self, _check: &mut Check, _frame: Room, _buffer: Room) {}

    /// Keys that have no effect because of others, on this many cores.
    fn without_effect(&self, _cores: u32) -> Vec<Idle> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::apps::AppConfig;
    use crate::apps::kvs::config::KvsConfig;
    use crate::check::violations;
    use crate::testing::every;

    fn parse(json: &str) -> Result<AppConfig, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn a_kind_alone_is_the_workload_of_the_paper() {
        assert_eq!(parse(r#"{"kind": "kvs"}"#), Ok(AppConfig::Kvs(KvsConfig::default())));
        for config in every::<AppConfig>() {
            assert_eq!(violations(|check| config.settings().check(check)), [], "{config:?}");
            let json = serde_json::to_string(&config).expect("serialises");
            assert_eq!(parse(&json), Ok(config));
        }
    }

    #[test]
    fn unknown_keys_and_kinds_are_refused_by_name() {
        for kind in every::<AppConfig>().iter().map(AppConfig::kind) {
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
            let wrong = violations(|check| config.settings().check(check));
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
