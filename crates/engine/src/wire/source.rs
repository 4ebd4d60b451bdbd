//! From the configuration of the traffic to the packets of a run.

use std::sync::Arc;

use super::check::MAX_RATE;
use super::config::TrafficConfig;
use super::draw::Draw;
use super::{Arrivals, Bursts, Capture, Constant, FlowTable, Poisson, Replay};
use crate::check::{Violation, ensure};
use crate::rng::Rng;
use crate::time::PS_PER_S;
use crate::units::TrafficRate;

/// Where a run's packets come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// From outside, at times that the server does not influence.
    Timed(Arrivals),
    /// A new packet whenever a core's queue holds fewer than `depth` unconsumed ones (Sweeper,
    /// section IV-B: the receive buffer of a core that processes in batches of `depth`).
    Backlog {
        /// Unconsumed packets per queue.
        depth: u32,
        /// Draws sizes and flows of the packets.
        draw: Draw,
    },
}

/// One round of a repeated capture may last 53 days: a quarter of what the simulated clock can count.
const MAX_ROUND_PS: u128 = 1 << 62;

/// The random streams of the wire.
const TIMES_STREAM: u64 = 1;
const DRAW_STREAM: u64 = 2;

impl TrafficConfig {
    /// The capture file that [`TrafficConfig::build`] needs, relative to the scenario.
    pub fn capture_file(&self) -> Option<&str> {
        match self {
            TrafficConfig::Replay { file, .. } => Some(file),
            _ => None,
        }
    }

    /// Builds the source of the run's packets and the table of their flows. `capture` is the
    /// content of [`TrafficConfig::capture_file`].
    ///
    /// # Errors
    /// If a value is out of range, or if no rate is given and the capture has none of its own.
    ///
    /// # Panics
    /// If the traffic is a replay and `capture` is absent, or if it is closed-loop, which has
    /// senders ([`crate::transport`]) instead of a source.
    pub fn build(
        &self,
        seed: u64,
        capture: Option<Arc<Capture>>,
    ) -> Result<(Source, FlowTable), Violation> {
        ensure(|check| self.check(check))?;
        let synthetic = |sizes, flows| {
            (Draw::new(sizes, flows, Rng::of_wire(seed, DRAW_STREAM)), FlowTable::synthetic(flows))
        };
        let (arrivals, table) = match self {
            TrafficConfig::Constant { rate, sizes, flows } => {
                let (draw, table) = synthetic(sizes, *flows);
                (Arrivals::Constant(Constant::new(rate.packets(sizes)), draw), table)
            }
            TrafficConfig::Poisson { rate, sizes, flows } => {
                let (draw, table) = synthetic(sizes, *flows);
                let times = Poisson::new(rate.packets(sizes), Rng::of_wire(seed, TIMES_STREAM));
                (Arrivals::Poisson(times, draw), table)
            }
            TrafficConfig::Bursts { rate, on, off, sizes, flows } => {
                let (draw, table) = synthetic(sizes, *flows);
                (Arrivals::Bursts(Bursts::new(rate.packets(sizes), *on, *off), draw), table)
            }
            TrafficConfig::Replay { file, rate } => {
                let capture = capture.expect("a replay is built from the content of its file");
                let table = capture.flows().clone();
                (Arrivals::Replay(replay(capture, file, *rate)?), table)
            }
            TrafficConfig::Backlog { depth, sizes, flows } => {
                let (draw, table) = synthetic(sizes, *flows);
                return Ok((Source::Backlog { depth: *depth, draw }, table));
            }
            TrafficConfig::ClosedLoop(_) => panic!("closed-loop traffic has senders, not a source"),
        };
        Ok((Source::Timed(arrivals), table))
    }
}

fn replay(
    capture: Arc<Capture>,
    file: &str,
    rate: Option<TrafficRate>,
) -> Result<Replay, Violation> {
    let Some(rate) = rate else {
        let absent = |why: &str| Violation {
            key: "rate".into(),
            given: "absent".into(),
            allowed: format!("a rate such as \"100 Gbps\", because {why}"),
        };
        let recorded = Replay::as_recorded(capture)
            .ok_or_else(|| absent(&format!("all packets of {file} have the same time")))?;
        if recorded.mean_f64() > MAX_RATE.0 as f64 {
            return Err(absent(&format!("{file} has more than {MAX_RATE}")));
        }
        return Ok(recorded);
    };
    let (per_round, per_second, unit) = match rate {
        TrafficRate::Bits(rate) => (capture.wire_bits(), rate.0, "bps"),
        TrafficRate::Packets(rate) => (capture.packets().len() as u128, rate.0, "pps"),
    };
    let round_ps = per_round * PS_PER_S;
    if round_ps / u128::from(per_second) > MAX_ROUND_PS {
        return Err(Violation {
            key: "rate".into(),
            given: rate.to_string(),
            allowed: format!(
                "at least {} {unit}, or one round of {file} lasts longer than 53 days",
                round_ps.div_ceil(MAX_ROUND_PS)
            ),
        });
    }
    Ok(Replay::at_rate(capture, rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::wire_bits;
    use crate::time::Ps;
    use crate::units::Rate;
    use crate::wire::{Arrival, CapturedPacket};
    use proptest::prelude::*;
    use serde_json::json;

    const CAPTURE: &[u8] = include_bytes!("../../../../fuzz/corpus/pcap/ethernet-us.pcap");

    fn parse(value: serde_json::Value) -> TrafficConfig {
        serde_json::from_value(value).expect("a valid description")
    }

    fn arrivals(config: &TrafficConfig, seed: u64) -> Arrivals {
        let capture =
            config.capture_file().map(|_| Arc::new(Capture::parse(CAPTURE).expect("a capture")));
        match config.build(seed, capture).expect("valid values").0 {
            Source::Timed(arrivals) => arrivals,
            Source::Backlog { .. } => panic!("{config:?} has no times"),
        }
    }

    fn take(mut arrivals: Arrivals, n: usize) -> Vec<Arrival> {
        (0..n).map(|_| arrivals.next()).collect()
    }

    /// Every timed kind of traffic.
    fn timed() -> [TrafficConfig; 5] {
        let fixed = json!({"kind": "fixed", "size": "1 KiB"});
        let imix = json!({"kind": "mix", "of": [
            {"size": "60 B", "weight": 7},
            {"size": "590 B", "weight": 4},
            {"size": "1514 B", "weight": 1},
        ]});
        [
            json!({"kind": "constant", "rate": "26 Mpps", "sizes": imix, "flows": 4096}),
            json!({"kind": "poisson", "rate": "26 Mpps", "sizes": imix, "flows": 4096}),
            json!({"kind": "bursts", "rate": "100 Mpps", "on": "10 us", "off": "30 us",
                   "sizes": fixed, "flows": 1}),
            json!({"kind": "replay", "file": "server.pcap"}),
            json!({"kind": "replay", "file": "server.pcap", "rate": "100 Gbps"}),
        ]
        .map(parse)
    }

    #[test]
    fn every_kind_prints_back_as_it_was_read() {
        for config in timed() {
            let printed = serde_json::to_value(&config).expect("a plain value");
            assert_eq!(parse(printed), config);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_packets() {
        for config in timed() {
            let first = take(arrivals(&config, 7), 1000);
            assert_eq!(first, take(arrivals(&config, 7), 1000));
            let mut half = arrivals(&config, 7);
            for arrival in &first[..500] {
                assert_eq!(*arrival, half.next());
            }
            assert_eq!(first[500..], take(half.clone(), 500));
        }
        let poisson = &timed()[1];
        assert_ne!(take(arrivals(poisson, 7), 10), take(arrivals(poisson, 8), 10));
    }

    /// The peak search compares rates on the same packets.
    #[test]
    fn another_rate_leaves_sizes_and_flows_as_they_were() {
        for config in timed() {
            let mut other = arrivals(&config, 7);
            other.set_rate(Rate(1_000_000));
            assert!((other.mean_rate_f64() - 1e6).abs() < 1e-3);
            let packets = |arrivals| take(arrivals, 1000).into_iter().map(|a| (a.bytes, a.flow));
            assert!(packets(arrivals(&config, 7)).eq(packets(other)));
        }
    }

    /// Long gaps and high flow numbers coincide as often as not: 5000 of 10000 times, sigma 50.
    #[test]
    fn times_and_packets_are_independent() {
        let config = parse(json!({"kind": "poisson", "rate": "1 Mpps", "flows": 4096,
            "sizes": {"kind": "fixed", "size": "1 KiB"}}));
        let packets = take(arrivals(&config, 7), 10_001);
        // The median of an exponential variate is ln 2 = 0.693 means.
        let agree = |pair: &&[Arrival]| {
            (pair[1].at - pair[0].at > Ps::from_ns(693)) == (pair[1].flow >= 2048)
        };
        let agreeing = packets.windows(2).filter(agree).count();
        assert!(agreeing.abs_diff(5000) < 200, "{agreeing} of 10000 agree");
    }

    /// The offered load fills the stated share of the link, whatever the arrival process.
    #[test]
    fn synthetic_traffic_at_a_bit_rate_fills_so_much_of_the_link() {
        for (kind, share) in [("constant", 1.0), ("poisson", 1.0), ("bursts", 0.25)] {
            let mut config = json!({"kind": kind, "rate": "60 Gbps", "flows": 1,
                "sizes": {"kind": "fixed", "size": "1 KiB"}});
            if kind == "bursts" {
                config["on"] = json!("10 us");
                config["off"] = json!("30 us");
            }
            let bits = arrivals(&parse(config), 1).mean_rate_f64() * wire_bits(1024) as f64;
            assert!((bits / 60e9 - share).abs() < 1e-6, "{kind}: {bits} bps");
        }
    }

    /// A capture played at 100 Gbps occupies the wire for as long as it lasts.
    #[test]
    fn a_replay_at_a_bit_rate_fills_the_link() {
        let packets = take(arrivals(&timed()[4], 1), 28 * 100 + 1);
        let (last, before) = packets.split_last().expect("not empty");
        let bits: u64 = before.iter().map(|a| wire_bits(a.bytes)).sum();
        assert_eq!(last.at, Ps(bits * 10));
    }

    #[test]
    fn a_backlog_draws_packets_of_a_queue() {
        let config = parse(json!({"kind": "backlog", "depth": 450,
            "sizes": {"kind": "fixed", "size": "1 KiB"}, "flows": 64}));
        let (source, flows) = config.build(1, None).expect("valid");
        let Source::Backlog { depth: 450, mut draw } = source else { panic!("{source:?}") };
        assert_eq!(flows.len(), 64);
        assert_eq!(draw.draw_among(Ps(5), &[9]), Arrival { at: Ps(5), bytes: 1024, flow: 9 });
    }

    #[test]
    fn wrong_values_name_key_value_and_range() {
        let fixed = json!({"kind": "fixed", "size": "1 KiB"});
        let cases = [
            (json!({"kind": "poisson", "rate": "0 pps", "sizes": fixed, "flows": 1}), "rate = 0"),
            (json!({"kind": "constant", "rate": "1 pps", "sizes": fixed, "flows": 0}), "flows = 0"),
            (
                json!({"kind": "bursts", "rate": "1 pps", "on": "0 s", "off": "1 s",
                       "sizes": fixed, "flows": 1}),
                "on = 0 ps; expected 1 ps to 60 s",
            ),
            (
                json!({"kind": "backlog", "depth": 1, "flows": 1,
                       "sizes": {"kind": "fixed", "size": "59 B"}}),
                "sizes.size = 59 B; expected 60 B to 256 KiB",
            ),
            (
                json!({"kind": "backlog", "depth": 1, "flows": 1, "sizes": {"kind": "mix", "of": [
                    {"size": "60 B", "weight": 1}, {"size": "60 B", "weight": 0}]}}),
                "sizes.of.1.weight = 0",
            ),
            (
                json!({"kind": "backlog", "depth": 1, "flows": 1,
                       "sizes": {"kind": "mix", "of": []}}),
                "sizes.of = []",
            ),
            (json!({"kind": "backlog", "depth": 0, "sizes": fixed, "flows": 1}), "depth = 0"),
        ];
        for (config, expected) in cases {
            let error = parse(config).build(1, None).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}, expected {expected}");
        }
        let unknown = json!({"kind": "replay", "file": "a.pcap", "sizes": fixed});
        let error = serde_json::from_value::<TrafficConfig>(unknown).unwrap_err().to_string();
        assert!(error.contains("unknown field `sizes`, expected `file` or `rate`"), "{error}");
    }

    #[test]
    fn a_replay_that_cannot_be_paced_is_refused() {
        let capture = Arc::new(Capture::parse(CAPTURE).expect("a capture"));
        let build = |rate: Option<&str>, capture: &Arc<Capture>| {
            let config = parse(json!({"kind": "replay", "file": "a.pcap", "rate": rate}));
            config.build(1, Some(capture.clone())).map(|_| ()).map_err(|e| e.to_string())
        };
        assert!(build(Some("0 bps"), &capture).unwrap_err().contains("rate = 0"));
        // 59312 bits on the wire: 16 hours at 1 bps, still a round that the clock can count.
        assert_eq!(build(Some("1 bps"), &capture), Ok(()));
        let packet = CapturedPacket { at: Ps::ZERO, bytes: 100_000, flow: 0 };
        let large = Arc::new(Capture::new(vec![packet; 100], FlowTable::synthetic(1)));
        let error = build(Some("1 bps"), &large).unwrap_err();
        assert!(error.contains("at least 18 bps"), "{error}");
        assert_eq!(build(Some("18 bps"), &large), Ok(()));
        let many = Arc::new(Capture::new(vec![packet; 5_000_000], FlowTable::synthetic(1)));
        let error = build(Some("1 pps"), &many).unwrap_err();
        assert!(error.contains("at least 2 pps"), "{error}");
        assert_eq!(build(Some("2 pps"), &many), Ok(()));

        let second_record = 24 + 16 + 62;
        let one = Arc::new(Capture::parse(&CAPTURE[..second_record]).expect("one packet"));
        let error = build(None, &one).unwrap_err();
        assert!(error.contains("a.pcap") && error.contains("same time"), "{error}");
        assert_eq!(build(Some("100 Gbps"), &one), Ok(()));
        // 5000 packets at one time, and another a nanosecond later.
        let at = |at: Ps| CapturedPacket { at, bytes: 100, flow: 0 };
        let mut packets = vec![at(Ps::ZERO); 5000];
        packets.push(at(Ps::from_ns(1)));
        let fast = Arc::new(Capture::new(packets, FlowTable::synthetic(1)));
        let error = build(None, &fast).unwrap_err();
        assert!(error.contains("a.pcap has more than 1000000 Mpps"), "{error}");
        assert_eq!(build(Some("100 Gbps"), &fast), Ok(()));
    }

    proptest! {
        /// Times never decrease, whatever the kind and whenever the rate changes.
        #[test]
        fn times_are_monotone(
            kind in 0usize..5,
            seed: u64,
            rates in prop::collection::vec((1u64..1_000_000_000_000, 1usize..100), 0..5),
        ) {
            let mut arrivals = arrivals(&timed()[kind], seed);
            let mut last = Ps::ZERO;
            for (rate, n) in rates.into_iter().chain([(1_000_000, 100)]) {
                for _ in 0..n {
                    let next = arrivals.next().at;
                    prop_assert!(next >= last, "{next:?} after {last:?}");
                    last = next;
                }
                // From 1 kpps up, 500 packets stay within what the clock can count.
                arrivals.set_rate(Rate(rate.max(1000)));
            }
        }
    }
}
