//! Searches on a small machine.

use serde_json::{Value, json};

use super::*;
use crate::testing::{forwarder, pcie_json};
use crate::time::Ps;
use crate::wire::{Capture, CapturedPacket, FlowTable};

/// Forwarding in place on two cores, measured for 1 ms.
fn peak(set: &[(&str, Value)]) -> Result<Peak, PeakError> {
    let mut all = vec![("/run/duration", json!("1 ms"))];
    all.extend_from_slice(set);
    find_peak(&forwarder(&all), None, &mut |_| true)
}

fn bursts(rate: &str, off: &str) -> Value {
    json!({ "kind": "bursts", "rate": rate, "on": "100 us", "off": off, "flows": 64,
            "sizes": { "kind": "fixed", "size": "1024 B" } })
}

#[test]
fn without_a_link_none_is_the_limit() {
    // The measured time leaves two thirds of a cycle, over which the mean rate would be different.
    let found =
        peak(&[("/run/duration", json!("2.2 ms")), ("/traffic", bursts("16 Mpps", "500 us"))]);
    let found = found.unwrap();
    assert_ne!(found.failed_by, "link");
    let half = 8.0 / 6.0;
    let first = found.probes[0].offered_mpps;
    assert!((first - half).abs() < 0.01 * half, "{first} of {half}");
    // While on, six times the mean.
    let demand = found.results.demand_mpps.expect("bursts have a rate");
    let gbps = found.rate_gbps.expect("bursts have sizes");
    assert!((gbps / (6.0 * demand * 1048.0 * 8.0 / 1e3) - 1.0).abs() < 1e-4, "{gbps} Gbps");
    let mpps = found.rate_mpps.expect("the engine tells it");
    assert!((mpps / (6.0 * demand) - 1.0).abs() < 1e-4, "{mpps} Mpps");
}

#[test]
fn what_is_asked_for_is_enough() {
    let short = |duration: &str| {
        let traffic = ("/traffic", bursts("1 Mpps", "230 us"));
        match peak(&[("/run/duration", json!(duration)), traffic]) {
            Err(PeakError::TooShort { allowed, .. }) => Some(allowed),
            _ => None,
        }
    };
    // 1000 packets at 151 515 per second take 6601 us, for which 20 cycles of 330 us are too short.
    let allowed = short("6920 us").unwrap();
    assert!(allowed.contains("at least 6930 us, in which 1000 packets"), "{allowed}");
    assert_eq!(short("6930 us"), None);
}

#[test]
fn a_full_link_is_the_limit() {
    // 1048 bytes on the wire: 119 276 frames per second fill 1 Gbps.
    let at = |rate: &str, duration: &str| {
        peak(&[
            ("/machine/nic/link", json!("1 Gbps")),
            ("/traffic/rate", json!(rate)),
            ("/run/duration", json!(duration)),
            ("/run/warmup", json!("5 ms")),
        ])
    };
    // With 8 Mpps the senders would be 300 ms behind after the warm-up.
    for rate in ["200 kpps", "8 Mpps"] {
        let found = at(rate, "20 ms").unwrap();
        assert_eq!((&*found.failed_by, found.fails_at_mpps), ("link", None), "{rate}");
        assert!((0.1188..0.1194).contains(&found.peak_mpps), "{rate}: {}", found.peak_mpps);
        assert!(found.probes[0].holds, "{rate}: {:?}", found.probes[0]);
        let gbps = found.rate_gbps.expect("the packets have a size");
        assert!((0.998..=1.0).contains(&gbps), "{rate}: {gbps} Gbps");
        let mpps = found.rate_mpps.expect("the engine tells it");
        assert!((gbps / (mpps * 8.384) - 1.0).abs() < 1e-4, "{rate}: {mpps} Mpps, {gbps} Gbps");
    }
    let error = at("8 Mpps", "1 ms").unwrap_err().to_string();
    assert!(error.starts_with("run.duration = 1 ms is too short"), "{error}");
}

#[test]
fn no_rate_is_told_that_the_link_does_not_carry() {
    // 60 Gbps carry 7.16 Mpps of 8384 bits. Above 6.16 Mpps the next rate tried is 7.7.
    let line = 60e3 / 8384.0;
    for (instructions, fails) in [(50, false), (1600, true)] {
        let slower = ("/queues/rx_instructions", instructions.into());
        let found = peak(&[("/machine/nic/link", json!("60 Gbps")), slower]).unwrap();
        assert_eq!(found.fails_at_mpps.is_some(), fails, "{:?}", found.probes);
        assert_eq!(found.failed_by == "link", !fails, "{}", found.failed_by);
        if let Some(at) = found.fails_at_mpps {
            assert!(found.peak_mpps > 0.97 * at && at < 1.001 * line, "{} {at}", found.peak_mpps);
        } else {
            assert!((found.peak_mpps - line).abs() < 0.005 * line, "{} of {line}", found.peak_mpps);
            let gbps = found.rate_gbps.expect("the packets have a size");
            assert!((59.4..=60.0).contains(&gbps), "{gbps} Gbps");
        }
    }
}

#[test]
fn a_probe_too_short_to_tell_is_refused() {
    let refused = |set: &[(&str, Value)]| peak(set).unwrap_err().to_string();
    let error = refused(&[("/traffic/rate", json!("10 kpps"))]);
    assert!(error.starts_with("run.duration = 1 ms is too short to tell a peak"), "{error}");
    assert!(error.contains("at least 200 ms, in which 1000 packets come at 5 kpps"), "{error}");
    let error = refused(&[("/traffic/rate", json!("1 pps"))]);
    assert!(error.contains("at least 1000 s"), "{error}");
    let error = refused(&[("/traffic", bursts("8 Mpps", "1 ms"))]);
    assert!(error.contains("at least 1100 us, a burst and the pause after it"), "{error}");
}

#[test]
fn an_objective_that_no_machine_keeps_is_unreachable_at_the_lowest_rate_that_tells() {
    let error = peak(&[("/slo", json!({ "p99_service_times": 1 }))]).unwrap_err();
    let PeakError::Unreachable { key, mpps, .. } = error else { panic!("{error}") };
    assert_eq!(key, "slo.p99_service_times");
    assert!((1.0..1.25).contains(&mpps), "{mpps}");
    let error = peak(&[("/slo", json!({ "p99": "1 ns" }))]).unwrap_err();
    assert!(error.to_string().starts_with("slo.p99 = \"1 ns\" cannot be met"), "{error}");
}

#[test]
fn all_rates_are_held_against_the_service_time_of_the_first() {
    let found = peak(&[("/slo", json!({ "p99_service_times": 100 }))]).unwrap();
    let limit = found.probes[0].p99_limit_ns;
    assert!(limit > 1000.0, "{limit}");
    assert!(found.probes.len() > 3 && found.probes.iter().all(|p| p.p99_limit_ns == limit));
}

#[test]
fn a_time_as_objective_takes_the_place_of_service_times() {
    let set = json!({ "p99_service_times": 1, "p99": "3 us" });
    let found = peak(&[("/slo", set)]).expect("it is kept");
    assert!(found.probes.iter().all(|probe| probe.p99_limit_ns == 3000.0));
    let at_peak = |p: &&Probe| p.completed_mpps == found.peak_mpps;
    assert!(found.probes.iter().find(at_peak).is_some_and(|p| p.p99_ns <= 3000.0));
}

#[test]
fn a_rate_whose_half_overloads_the_server_finds_the_same_peak() {
    let at = |rate: &str| {
        // Rings that take longer to drain than a probe takes to settle.
        let rings =
            [("/queues/rx_descriptors", json!(1024)), ("/queues/pool_buffers", json!(1024))];
        // In 1 ms, it is chance whether a burst fills them at 7.5 Mpps or at 8.8.
        let times = [("/run/warmup", json!("500 us")), ("/run/duration", json!("3 ms"))];
        let traffic = [("/traffic/rate", json!(rate))];
        let found = peak(&[&rings[..], &times, &traffic].concat()).unwrap();
        assert!(found.probes[0].holds, "{rate}: {:?}", found.probes);
        found.peak_mpps
    };
    let below = at("4 Mpps");
    // Half the rate is just above the peak, then far above it. The result varies by up to 5 % with
    // the warm-up.
    for rate in ["17500 kpps", "40 Mpps"] {
        let found = at(rate);
        assert!((found / below - 1.0).abs() < 0.1, "{rate}: {found}, from below {below}");
    }
}

#[test]
fn a_link_that_answers_fill_is_not_full_of_them_at_first() {
    // An answer of 1 KiB with a header of 16 bytes takes 1064 bytes on the wire: 117 481 answers
    // per second fill 1 Gbps, and the requests take less than a quarter of it.
    let app = json!({ "kind": "kvs", "item": "1 KiB", "network_header": "16 B", "gets": "100 %",
                      "requests": "drawn", "buckets": 1024, "log": "1 MiB", "keys": 32 });
    let cores = json!({ "first": 0, "count": 2 });
    let found = peak(&[
        ("/machine/nic/link", json!("1 Gbps")),
        ("/traffic/rate", json!("800 kpps")),
        ("/queues/buffer_size", json!("2 KiB")),
        ("/tenants", json!([{ "name": "kvs", "cores": cores, "app": app }])),
        ("/run/duration", json!("20 ms")),
        ("/run/warmup", json!("5 ms")),
    ])
    .unwrap();
    assert!(found.probes[0].holds, "{:?}", found.probes);
    // The transmit rings absorb packets during a probe, too: two rings of 64 could absorb 128 of 2350.
    assert!((0.11..1.03 * 0.117_481).contains(&found.peak_mpps), "{}", found.peak_mpps);
}

/// Two queues with 16 read credits send 1.8 million packets per second.
#[test]
fn what_waits_in_software_to_be_sent_is_no_capacity() {
    let found = |backlog: u32| {
        let found = peak(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/read_credits", json!(16)),
            ("/traffic/rate", json!("4 Mpps")),
            ("/run/duration", json!("4 ms")),
            ("/queues/tx_descriptors", json!(32)),
            ("/queues/tx_backlog", json!(backlog)),
            ("/queues/pool_buffers", json!(16_384)),
            ("/slo", json!({ "p99": "1 s" })),
        ]);
        found.unwrap().peak_mpps
    };
    let (none, much) = (found(0), found(8192));
    // Two standard deviations of 7200 packets are 2.4 %.
    assert!((much / none - 1.0).abs() < 0.04, "{none} without, {much} Mpps with room in software");
}

/// After 2000 packets, half of the capture arrives at twice its mean rate, so that a server
/// completes more than the configured rate and is overloaded all the same.
#[test]
fn a_window_of_a_capture_that_is_denser_than_its_mean_does_not_hold_up_the_search() {
    const PACKETS: u64 = 82_000;
    let ns = |n: u64| 100 * n.min(2000) + 50 * n.clamp(2000, 42_000) + 150 * n.max(42_000);
    let packet =
        |n| CapturedPacket { at: Ps::from_ns(ns(n) - ns(0)), bytes: 1024, flow: n as u32 % 64 };
    let capture = Capture::new((0..PACKETS).map(packet).collect(), FlowTable::synthetic(64));
    // 20 million packets per second on average; two cores forward ten million.
    let traffic = json!({ "kind": "replay", "file": "a.pcap", "rate": "167.68 Gbps" });
    let scenario = forwarder(&[("/run/duration", json!("1 ms")), ("/traffic", traffic)]);
    let mut probes = 0;
    let found = find_peak(&scenario, Some(Arc::new(capture)), &mut |seen| {
        probes += u32::from(matches!(seen, Watched::Probe(_)));
        probes < 50
    });
    let found = found.expect("the search ends");
    assert!((6.0..12.0).contains(&found.peak_mpps), "{}", found.peak_mpps);
    // In the form of `traffic.rate`, over the whole capture: 1048 bytes on the wire per packet.
    let demand = found.results.demand_mpps.expect("a replay has a rate");
    let gbps = found.rate_gbps.expect("a capture has sizes");
    assert!((gbps - demand * 1048.0 * 8.0 / 1e3).abs() < 0.02, "{gbps} Gbps, {demand} Mpps");
}

/// The first fifth of the capture comes at four times its mean rate: half of that rate still fills the link.
#[test]
fn a_dense_beginning_that_fills_the_link_does_not_raise_the_first_rate() {
    const PACKETS: u64 = 100_000;
    let ns = |n: u64| 100 * n.min(20_000) + 475 * n.max(20_000);
    let packet =
        |n| CapturedPacket { at: Ps::from_ns(ns(n) - ns(0)), bytes: 1024, flow: n as u32 % 64 };
    let capture = Capture::new((0..PACKETS).map(packet).collect(), FlowTable::synthetic(64));
    // 7.2 million packets per second; the link carries 11.9.
    let traffic = json!({ "kind": "replay", "file": "a.pcap", "rate": "60 Gbps" });
    let link = ("/machine/nic/link", json!("100 Gbps"));
    let scenario = forwarder(&[link, ("/run/duration", json!("1 ms")), ("/traffic", traffic)]);
    let found = find_peak(&scenario, Some(Arc::new(capture)), &mut |_| true);
    // A quarter of the rate, at four times the density; at half of it the link would carry 11.9.
    let first = found.expect("the search ends").probes[0].offered_mpps;
    assert!((6.8..7.5).contains(&first), "{first} Mpps");
}

/// All probes see a part of the capture that brings two thirds of its mean rate. Two queues send 1.2 million packets per
/// second, the link carries 1.3.
#[test]
fn a_window_of_a_capture_that_is_sparser_than_its_mean_does_not_end_the_search() {
    const PACKETS: u64 = 80_000;
    let ns = |n: u64| 300 * n.min(PACKETS / 2) + 100 * n.saturating_sub(PACKETS / 2);
    let packet = |n| CapturedPacket { at: Ps::from_ns(ns(n)), bytes: 1024, flow: n as u32 % 64 };
    let capture = Capture::new((0..PACKETS).map(packet).collect(), FlowTable::synthetic(64));
    let scenario = forwarder(&[
        ("/machine/pcie", pcie_json()),
        ("/machine/nic/read_credits", json!(16)),
        ("/machine/nic/link", json!("10.899 Gbps")),
        ("/traffic", json!({ "kind": "replay", "file": "a.pcap", "rate": "2.05 Mpps" })),
        ("/run/duration", json!("4 ms")),
        ("/slo", json!({ "p99": "1 s" })),
    ]);
    let found = find_peak(&scenario, Some(Arc::new(capture)), &mut |_| true).unwrap();
    let fails = found.fails_at_mpps.expect("the server fails before the link");
    let tried: Vec<f64> = found.probes.iter().map(|probe| probe.offered_mpps).collect();
    assert!(fails / found.peak_mpps < 1.025, "{fails} fails, {} holds: {tried:?}", found.peak_mpps);
}

/// The frames that a replay has times for are requests of 80 B here, with the sizes of the clients.
#[test]
fn the_rate_of_a_replay_whose_requests_are_drawn_is_not_cut_by_the_sizes_of_its_capture() {
    const PACKETS: u64 = 20_000;
    let packet = |n| CapturedPacket { at: Ps::from_ns(500 * n), bytes: 1500, flow: n as u32 % 64 };
    let capture = Capture::new((0..PACKETS).map(packet).collect(), FlowTable::synthetic(64));
    let app = json!({ "kind": "kvs", "item": "64 B", "network_header": "16 B", "gets": "0 %",
                      "requests": "drawn", "buckets": 1024, "log": "1 MiB", "keys": 32 });
    let cores = json!({ "first": 0, "count": 2 });
    let scenario = forwarder(&[
        ("/machine/nic/link", json!("1 Gbps")),
        ("/traffic", json!({ "kind": "replay", "file": "a.pcap", "rate": "2 Mpps" })),
        ("/tenants", json!([{ "name": "kvs", "cores": cores, "app": app }])),
        ("/run/duration", json!("4 ms")),
        ("/slo", json!({ "p99": "1 s" })),
    ]);
    let found = find_peak(&scenario, Some(Arc::new(capture)), &mut |_| true).unwrap();
    assert_eq!(found.failed_by, "link");
    let rate = found.rate_mpps.expect("a replay has a rate");
    let share = rate / found.peak_mpps;
    assert!((0.99..1.01).contains(&share), "{rate} to set for {}", found.peak_mpps);
}

/// A probe far above the peak ends after a quarter of its time.
#[test]
fn a_probe_that_is_bound_to_fail_ends_early() {
    let mut ticks = 0;
    let mut of_failed = Vec::new();
    let scenario =
        forwarder(&[("/run/duration", json!("2 ms")), ("/traffic/rate", json!("10 Mpps"))]);
    let found = find_peak(&scenario, None, &mut |seen| {
        match seen {
            Watched::Tick => ticks += 1,
            Watched::Anew => {}
            Watched::Probe(probe) => {
                let took = std::mem::take(&mut ticks);
                if !probe.holds {
                    of_failed.push(took);
                }
            }
        }
        true
    })
    .unwrap();
    // 1 ms to settle and 2 ms to measure take 60 steps of 50 us; with a quarter of the latter, 30.
    assert_eq!(of_failed.iter().min(), Some(&30), "{of_failed:?}");
    let failed = found.probes.iter().find(|probe| !probe.holds).expect("one fails");
    assert!(failed.p99_ns > failed.p99_limit_ns || failed.drop_share > 0.0, "{failed:?}");
    assert!(found.peak_mpps < failed.offered_mpps);
}

/// The watcher is told when the rates so far are discarded, and sees all others.
#[test]
fn an_overloaded_server_begins_the_search_anew() {
    let scenario =
        forwarder(&[("/run/duration", json!("1 ms")), ("/traffic/rate", json!("60 Mpps"))]);
    let (mut begun, mut seen) = (0, Vec::new());
    let found = find_peak(&scenario, None, &mut |watched| {
        match watched {
            Watched::Tick => {}
            Watched::Probe(probe) => seen.push(probe.clone()),
            Watched::Anew => {
                begun += 1;
                seen.clear();
            }
        }
        true
    })
    .unwrap();
    assert!(begun > 0);
    assert_eq!(seen, found.probes);
}

/// Of two cores that need 2000 instructions a packet, the busier one has no time left.
#[test]
fn a_queue_that_grows_by_more_than_chance_is_no_peak() {
    let found = peak(&[
        ("/placement/policy", json!("ideal-ddio")),
        ("/queues/rx_descriptors", json!(4096)),
        ("/queues/pool_buffers", json!(8192)),
        ("/tenants/0/app/packet_instructions", json!(2000)),
        ("/slo", json!({ "p99": "1 s", "drops": "0 %" })),
        ("/run/duration", json!("8 ms")),
        // With it a probe is among them in which the queue grows by more than chance and less than 2 %.
        ("/run/seed", json!(5)),
    ])
    .expect("there is a peak");
    let packets = &found.results.packets;
    let grown = packets.in_flight_end.saturating_sub(packets.in_flight_begin) as f64;
    let chance = 2.0 * (packets.offered as f64).sqrt();
    assert!(grown <= chance && chance < 0.01 * packets.offered as f64, "{packets:?}");
    // What fails are not drops yet: the rings are deeper than a probe is long.
    assert_eq!(found.failed_by, "rate");
}
