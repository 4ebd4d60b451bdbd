//! The timeline agrees with the histograms, and recording changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Point;
use crate::config::Scenario;
use crate::host::{Event, Host};
use crate::stats::results::Results;
use crate::stats::timeline::{Timeline, TimelineConfig};
use crate::testing::{forwarder, iommu_json, pcie_json, run};
use crate::time::Ps;
use crate::units::Rate;

const ALL: TimelineConfig = TimelineConfig { every: 1, packets: 100_000, interval_ps: 1_000_000 };

/// A run whose measured time is recorded; its traffic ends with that time, so that all packets finish.
fn recorded(scenario: &Scenario, config: TimelineConfig) -> (Results, Timeline) {
    let mut host = Host::new(scenario, None).unwrap();
    let warm = scenario.run.warmup.ps();
    host.run_until(warm);
    host.begin_measuring();
    host.record_timeline(config);
    let end = warm + scenario.run.duration.ps();
    host.run_until(end);
    host.set_rate(Rate(1));
    host.run_until(end + Ps::from_us(1_000));
    (host.results().unwrap(), host.timeline().unwrap())
}

/// Forwarding without packets in flight at the beginning of the measured time, so that histograms
/// and timeline cover the same ones: an on-chip NIC, an IOMMU with few entries, a NIC that works in
/// batches, and one with few credits and drops.
fn scenarios() -> [Scenario; 4] {
    let with = |set: &[(&str, Value)]| {
        let mut all = vec![("/run/warmup", json!("0 s"))];
        all.extend_from_slice(set);
        forwarder(&all)
    };
    let pcie = ("/machine/pcie", pcie_json());
    [
        with(&[]),
        with(&[
            pcie.clone(),
            ("/machine/iommu", iommu_json(8)),
            ("/traffic/rate", json!("8 Mpps")),
        ]),
        with(&[
            pcie.clone(),
            ("/machine/nic/tx_descriptor_batch", json!(8)),
            ("/machine/nic/completions_per_write", json!(4)),
            ("/machine/nic/link", json!("100 Gbps")),
            ("/traffic/rate", json!("2 Mpps")),
        ]),
        with(&[
            pcie,
            ("/machine/nic/write_credits", json!(8)),
            ("/traffic/rate", json!("20 Mpps")),
        ]),
    ]
}

/// The doorbell of a burst is rung at its end: the first of its packets waits for it longest.
#[test]
fn packets_of_a_burst_wait_for_its_doorbell() {
    let waits = |batch: Value| {
        let (_, timeline) = recorded(
            &forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/tx_descriptor_batch", batch),
                ("/traffic/rate", json!("30 Mpps")),
                ("/traffic/sizes/size", json!("64 B")),
                ("/queues/burst", json!(32)),
                ("/tenants/0/app", json!({ "kind": "l2fwd", "packet_instructions": 1500 })),
            ]),
            ALL,
        );
        let slices = timeline.packets.iter().flat_map(|p| &p.slices);
        let waits = slices.filter(|s| s.step == "doorbell").map(|s| s.end_ps - s.begin_ps);
        Ps(waits.max().expect("there are doorbells"))
    };
    let (alone, together) = (waits(Value::Null), waits(json!(8)));
    // A doorbell for one packet waits for the stores before it; 31 packets of 1600 instructions, of
    // which a core dispatches eight per nanosecond, take 6.2 us more.
    assert!(alone < Ps::from_ns(300), "{alone:?}");
    assert!(together > alone + Ps::from_ns(6_000), "{alone:?} and {together:?}");
}

#[test]
fn slices_have_no_gaps_and_add_up_to_the_histograms() {
    let mut steps = BTreeSet::new();
    for scenario in scenarios() {
        let (results, timeline) = recorded(&scenario, ALL);
        assert_eq!(timeline.unfinished, 0);
        let done = || timeline.packets.iter().filter(|p| p.dropped.is_none());
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for packet in done() {
            for pair in packet.slices.windows(2) {
                assert_eq!(pair[0].end_ps, pair[1].begin_ps, "{packet:?}");
            }
            for slice in &packet.slices {
                let span = slice.end_ps - slice.begin_ps;
                *sums.entry(&slice.stage).or_default() += span;
                *sums.entry("sent").or_default() += span;
                if slice.stage != "transmit" {
                    *sums.entry("total").or_default() += span;
                }
                steps.insert(slice.step.clone());
            }
        }
        for stage in &results.latency {
            let (count, mean_ns) = (stage.distribution.count, stage.distribution.mean_ns);
            assert_eq!(count, done().count() as u64, "{}", stage.stage);
            let sum_ps = sums.get(stage.stage.as_str()).copied().unwrap_or_default();
            // The histogram's exact sum, recovered from its mean.
            let expected_ps = (mean_ns * 1e3 * count as f64).round() as u64;
            assert_eq!(sum_ps, expected_ps, "{}", stage.stage);
        }
    }
    for step in [
        "behind others in SRAM",
        "receive descriptor",
        "link and write credits",
        "PCIe, data",
        "IOMMU, data",
        "PCIe, completion",
        "IOMMU, completion",
        "completion write",
        "ring",
        "behind its burst",
        "core",
        "descriptor read",
        "read credits",
        "PCIe, read request",
        "IOMMU, read",
        "memory read",
        "PCIe, read data",
        "on-chip network, data",
        "wire",
    ] {
        assert!(steps.contains(step), "no packet has `{step}`; got {steps:?}");
    }
}

/// How long packets take for a step on average, those that do not have it included.
fn mean(timeline: &Timeline, step: &str) -> Ps {
    let slices = timeline.packets.iter().flat_map(|p| &p.slices);
    let all: u64 = slices.filter(|s| s.step == step).map(|s| s.end_ps - s.begin_ps).sum();
    Ps(all / timeline.packets.len() as u64)
}

/// Each of the two reads of a frame takes all credits.
#[test]
fn what_a_later_read_of_a_frame_waits_for_is_not_taken_for_memory() {
    let with = |credits: u32| {
        let scenario = forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/read_credits", json!(credits)),
            ("/traffic/rate", json!("0.2 Mpps")),
        ]);
        recorded(&scenario, ALL).1
    };
    let (few, enough) = (with(8), with(64));
    assert_eq!(mean(&enough, "read credits"), Ps::ZERO);
    // The second read begins when the first has come back: both ways of PCIe at least.
    let round_trip = mean(&enough, "PCIe, read request").0 + mean(&enough, "PCIe, read data").0;
    assert!(mean(&few, "read credits").0 >= round_trip, "{:?}", mean(&few, "read credits"));
    let memory = [&few, &enough].map(|timeline| mean(timeline, "memory read"));
    assert!(memory[0] <= memory[1], "{memory:?}");
}

#[test]
fn a_translation_is_that_of_its_completion_though_the_llc_holds_one_before_it_back() {
    let pcie = ("/machine/pcie", pcie_json());
    let mut host =
        Host::new(&forwarder(&[pcie, ("/traffic/rate", json!("20 Mpps"))]), None).unwrap();
    host.record_timeline(ALL);
    let written = |host: &Host| host.queues[0].rx.uncompleted().copied().collect::<Vec<u32>>();
    while written(&host).len() < 2 {
        host.run_until(host.now() + Ps::from_ns(1));
    }
    let packets = written(&host);
    let (now, completion) = (host.now(), Event::Complete { queue: 0, packets: 1 });
    host.held_back.push_back(completion);
    host.record_translated(now, completion);
    let recorder = host.recording.as_mut().unwrap();
    let translated =
        |packet: &u32| recorder.followed(*packet).unwrap().way.passed(Point::CompletionTranslated);
    let stamps: Vec<Ps> = packets[..2].iter().map(translated).collect();
    assert_eq!(stamps, [Ps::ZERO, now]);
}

/// Of two consecutive packets, the first may be in memory and the second in the LLC.
#[test]
fn frames_of_a_queue_leave_in_their_order() {
    let sizes = json!({ "kind": "mix", "of": [
        { "size": "1496 B", "weight": 1 }, { "size": "60 B", "weight": 1 },
    ] });
    for link in [Value::Null, json!("100 Gbps")] {
        let scenario = forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/link", link),
            ("/tenants/0/app", json!({ "kind": "l2fwd" })),
            ("/placement/policy", json!("dma")),
            ("/queues/buffer_size", json!("2 KiB")),
            ("/traffic/sizes", sizes.clone()),
            ("/traffic/rate", json!("4 Mpps")),
        ]);
        let (results, timeline) = recorded(&scenario, ALL);
        assert!(results.io.expect("it reads").read_misses > 1_000);
        let mut last: BTreeMap<u16, u64> = BTreeMap::new();
        for packet in timeline.packets.iter().filter(|p| p.dropped.is_none()) {
            let sent = packet.slices.last().expect("it was sent").end_ps;
            let before = last.insert(packet.queue, sent).unwrap_or_default();
            assert!(before <= sent, "{packet:?} leaves before the one in front of it");
        }
    }
}

#[test]
fn every_drop_is_there_with_its_reason() {
    for scenario in scenarios() {
        let (results, timeline) = recorded(&scenario, ALL);
        let drops =
            |reason: &str| timeline.drops.iter().filter(|d| d.reason == reason).count() as u64;
        assert_eq!(drops("NIC SRAM full"), results.packets.dropped_sram);
        let no_descriptor = results.packets.dropped_no_descriptor;
        assert_eq!(drops("no receive descriptor"), no_descriptor);
        let ways = timeline.packets.iter().filter(|p| p.dropped.is_some()).count() as u64;
        assert_eq!(ways, no_descriptor, "such packets have been in the SRAM");
    }
    let [_, iommu, _, few_credits] = scenarios().map(|s| recorded(&s, ALL).0.packets);
    assert!(iommu.dropped_no_descriptor > 0 && few_credits.dropped_sram > 0);
}

#[test]
fn a_recording_changes_nothing_and_is_the_same_again() {
    let scenario = forwarder(&[("/machine/pcie", pcie_json()), ("/machine/iommu", iommu_json(8))]);
    let (results, timeline) = recorded(&scenario, ALL);
    let again = recorded(&scenario, ALL);
    assert_eq!((&results, &timeline), (&again.0, &again.1));
    let without = {
        let mut host = run(&scenario);
        host.set_rate(Rate(1));
        host.run_until(host.now() + Ps::from_us(1_000));
        assert_eq!(host.timeline(), None);
        host.results().unwrap()
    };
    assert_eq!(results, without);
}

#[test]
fn every_nth_packet_is_followed_and_recording_ends_with_the_last() {
    let [.., few_credits] = scenarios();
    let config = TimelineConfig { every: 10, packets: 5, interval_ps: 500_000 };
    let (_, timeline) = recorded(&few_credits, config);
    let numbers: Vec<u64> = timeline.packets.iter().map(|p| p.number).collect();
    assert_eq!(numbers, [0, 10, 20, 30, 40]);
    let last = timeline.packets.iter().flat_map(|p| &p.slices).map(|s| s.end_ps).max().unwrap();
    let gaps: BTreeSet<u64> = timeline.times_ps.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(gaps, BTreeSet::from([500_000]));
    let end = *timeline.times_ps.last().unwrap();
    assert!(end <= last && last - end <= 500_000, "readings until {end}, packets until {last}");
    for drop in &timeline.drops {
        assert!(drop.at_ps <= last, "{drop:?}");
    }
    for counter in &timeline.counters {
        assert_eq!(counter.values.len(), timeline.times_ps.len(), "{}", counter.name);
    }
    let most = |name: &str| {
        let counter = timeline.counters.iter().find(|c| c.name == name).unwrap();
        counter.values.iter().copied().fold(0.0, f64::max)
    };
    // A packet is 16 lines; the SRAM has 64 KiB.
    assert_eq!(most("write credits in use"), 8.0);
    assert!((32.0 * 1024.0..=65_536.0).contains(&most("NIC SRAM")), "{}", most("NIC SRAM"));
}

#[test]
fn what_a_recording_does_not_hold_is_counted() {
    let [.., few_credits] = scenarios();
    let mut host = Host::new(&few_credits, None).unwrap();
    host.record_timeline(TimelineConfig { interval_ps: 100, ..ALL });
    host.run_until(Ps::from_us(20));
    let timeline = host.timeline().unwrap();
    assert_eq!(timeline.times_ps.len(), 100_000);
    // 20 us at 100 ps per reading, from 0 on.
    assert_eq!(timeline.readings_left_out, 100_001);
    assert_eq!(timeline.drops_left_out, 0);
    let drop = timeline.drops.last().expect("packets are dropped").clone();
    let recorder = host.recording.as_mut().unwrap();
    recorder.drops.resize(super::MAX_DROPS, drop);
    recorder.not_admitted(Ps::from_us(20), 1, 0, 0);
    assert_eq!(host.timeline().unwrap().drops_left_out, 1);
}
