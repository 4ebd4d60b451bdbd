//! Whole runs: Sweeper end to end, determinism, and the bound on how far a core runs ahead.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Host;
use crate::core::op::{Dep, Op, Ops};
use crate::memory::config::Inclusion;
use crate::memory::line::LineKind;
use crate::stats::results::Results;
use crate::testing::{cases, every, forwarder, lines, measure, pcie_json, results, run, xmem};
use crate::time::Ps;

/// A line that X-Mem on core 0, which goes through its 16384 lines in order, does not reach in 20 us.
const ELSEWHERE: u32 = 235 * 64;

/// What a run reports when core 1, which has no tenant, executes a program of its own.
fn with_program(program: impl FnOnce(&mut Ops)) -> Results {
    let scenario = xmem("sequential", "1 MiB", &[("/placement/sweeper", true.into())]);
    let mut host = Host::new(&scenario, None).unwrap();
    host.begin_measuring();
    program(&mut host.cores[1].core.ops);
    host.wake(Ps::ZERO, 1);
    host.run_until(Ps::from_ns(20_000));
    host.results().unwrap()
}

#[test]
fn a_read_after_relinquishing_is_reported() {
    let line = ELSEWHERE;
    let early = with_program(|ops| {
        ops.load(line, LineKind::App, Dep::Free);
        ops.relinquish(line, 64);
        ops.push(Op::Delay { ns: 1000 });
        ops.load(line, LineKind::App, Dep::Free);
    });
    assert_eq!(early.reads_after_sweep, 1);
    let in_order = with_program(|ops| {
        ops.load(line, LineKind::App, Dep::Free);
        ops.push(Op::Delay { ns: 1000 });
        ops.load(line, LineKind::App, Dep::Free);
        ops.relinquish(line, 64);
    });
    assert_eq!(in_order.reads_after_sweep, 0);
    let written_again = with_program(|ops| {
        ops.relinquish(line, 64);
        ops.push(Op::Delay { ns: 1000 });
        ops.store(line, LineKind::App, Dep::Free);
        ops.push(Op::Delay { ns: 1000 });
        ops.load(line, LineKind::App, Dep::Free);
    });
    assert_eq!(written_again.reads_after_sweep, 0);
}

#[test]
fn recycled_pages_are_written_back_by_a_core_where_the_machine_sweeps() {
    let cleaned = with_program(|ops| ops.recycle_page(ELSEWHERE));
    assert_eq!(lines(&cleaned, "page-clean-wr"), 64);
}

#[test]
fn the_nic_sweeps_what_it_has_transmitted_in_place() {
    // Six I/O ways hold the packets in flight but not all buffers.
    let zero_copy = |sweeper: bool| {
        let rate = ("/traffic/rate", json!("1 Mpps"));
        let ways = ("/placement/io_ways", json!(6));
        results(&forwarder(&[rate, ways, ("/placement/sweeper", sweeper.into())]))
    };
    let (without, with) = (zero_copy(false), zero_copy(true));
    assert!(with.packets.transmitted > 150);
    assert!(lines(&without, "rx-evct") > 10 * without.packets.completed, "{:?}", without.memory);
    assert_eq!(lines(&with, "rx-evct"), 0, "{:?}", with.memory);
    assert_eq!(with.reads_after_sweep, 0);
}

#[test]
fn a_stream_prefetcher_helps_sequential_and_not_random_accesses() {
    let speed = |pattern: &str, prefetch: &str| {
        // One channel would be the limit: consecutive lines come from one bank group.
        let channels = ("/machine/dram/channels", json!(4));
        let prefetch = ("/machine/l2/prefetch", prefetch.into());
        let r = results(&xmem(pattern, "1 MiB", &[channels, prefetch]));
        (r.tenants[0].progress_mps, lines(&r, "prefetch-rd"))
    };
    let (plain, none) = speed("sequential", "none");
    assert_eq!(none, 0);
    // One more line in flight than the ten miss registers hold, and twenty more.
    for (prefetch, gain) in [("next-line", 1.05), ("stream", 1.4)] {
        let (fast, fetched) = speed("sequential", prefetch);
        assert!(fast > gain * plain, "{prefetch}: {plain} to {fast}");
        assert!(fetched > 10_000);
    }
    let (plain, _) = speed("random-chained", "none");
    let (same, fetched) = speed("random-chained", "stream");
    assert!((same - plain).abs() < 0.05 * plain, "{plain} to {same}, {fetched} prefetched");
}

/// Everything on the path at once: PCIe, overload, send queues with a backlog, sweeping, prefetching.
fn everything(seed: u64) -> crate::config::Scenario {
    forwarder(&[
        ("/machine/pcie", pcie_json()),
        ("/machine/nic/completions_per_write", 4.into()),
        ("/machine/nic/tx_descriptor_batch", 4.into()),
        ("/queues/tx_backlog", 32.into()),
        ("/queues/tx_descriptors", 16.into()),
        ("/queues/pool_buffers", 256.into()),
        ("/machine/l2/prefetch", "stream".into()),
        ("/placement/sweeper", true.into()),
        ("/traffic/rate", "12 Mpps".into()),
        ("/run/seed", seed.into()),
    ])
}

fn as_json(host: &Host) -> Value {
    serde_json::to_value(host.results().unwrap()).unwrap()
}

#[test]
fn one_seed_gives_one_result_and_another_another() {
    let scenario = everything(7);
    let first = as_json(&run(&scenario));
    assert_eq!(first, as_json(&run(&scenario)));
    assert_ne!(first, as_json(&run(&everything(8))));
}

/// With almost no caches, all lines fall into one set, whose directory has sixteen entries; the
/// cores have twenty miss registers.
#[test]
fn more_misses_than_the_directory_has_entries_take_turns() {
    let tiny = [
        ("/tenants/0/cores/count", 2.into()),
        ("/machine/l1d/size", "256 B".into()),
        ("/machine/l2/size", "256 B".into()),
        ("/machine/llc/size", "768 B".into()),
        ("/machine/llc/index", "modulo".into()),
    ];
    let r = results(&xmem("random", "256 KiB", &tiny));
    let registers =
        r.domains.iter().find(|d| d.domain == "miss-registers").expect("there are some");
    assert!(registers.busy_ps > 16 * 200_000_000, "{registers:?}");
}

#[test]
fn a_clone_goes_on_as_the_original() {
    let scenario = everything(7);
    let mut host = Host::new(&scenario, None).unwrap();
    host.run_until(Ps::from_ns(50_000));
    let mut copy = host.clone();
    measure(&mut host, &scenario, &[]);
    measure(&mut copy, &scenario, &[]);
    assert_eq!(as_json(&host), as_json(&copy));
}

proptest! {
    #![proptest_config(cases(8))]
    /// Where a run is cut into slices makes no difference.
    #[test]
    fn cutting_a_run_changes_nothing(mut stops in prop::collection::vec(0u64..300_000_000, 1..20)) {
        stops.sort_unstable();
        let stops: Vec<Ps> = stops.into_iter().map(Ps).collect();
        let scenario = everything(3);
        let mut cut = Host::new(&scenario, None).unwrap();
        measure(&mut cut, &scenario, &stops);
        prop_assert_eq!(as_json(&cut), as_json(&run(&scenario)));
    }
}

/// Throughput and memory traffic with a given bound on how far cores run ahead.
fn skewed(scenario: &crate::config::Scenario, ns_over_10: u64) -> (f64, f64) {
    let mut host = Host::new(scenario, None).unwrap();
    host.max_skew = Ps(ns_over_10 * 100);
    measure(&mut host, scenario, &[]);
    let r = host.results().unwrap();
    let progress = r.tenants.iter().map(|t| t.progress_mps).sum();
    (progress, r.memory.bandwidth_gbytes_per_s)
}

#[test]
fn how_far_cores_run_ahead_moves_no_result() {
    // Chance moves a single run: over eight seeds, the throughput of the forwarder at 200 ns was
    // -0.65 to 1.26 % off that at 12.5 ns. So medians of 32 are compared (those of 16 were once 0.52 %
    // apart, where those of 32 are 0.30 % and those of 96 are 0.13 %); and one of eight may enter the
    // other state of an overloaded server, in which it leaks a fifth less (D5).
    const SEEDS: std::ops::Range<u64> = 1..33;
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let median = f64::midpoint(values[values.len() / 2 - 1], values[values.len() / 2]);
        let apart = values.iter().filter(|v| (*v / median - 1.0).abs() > 0.03).count();
        assert!(8 * apart <= values.len(), "{apart} in another state: {values:?}");
        median
    };
    let medians = |scenario: &dyn Fn(u64) -> crate::config::Scenario, ns_over_10| {
        let (a, b) = SEEDS.map(|seed| skewed(&scenario(seed), ns_over_10)).unzip();
        (median(a), median(b))
    };
    let set = |seed: u64| [("/run/duration", json!("3 ms")), ("/run/seed", seed.into())];
    // The forwarder, offered more than it can take: throughput is the cores' own, not the offered one.
    let server =
        |seed| forwarder(&[set(seed).as_slice(), &[("/traffic/rate", "12 Mpps".into())]].concat());
    let bench = |seed| xmem("random", "256 KiB", &set(seed));
    for scenario in [&server as &dyn Fn(u64) -> crate::config::Scenario, &bench] {
        let (little, much) = (medians(scenario, 125), medians(scenario, 2000));
        for (a, b) in [(little.0, much.0), (little.1, much.1)] {
            assert!((a - b).abs() < 0.005 * a, "12.5 ns: {little:?}, 200 ns: {much:?}");
        }
    }
}

/// Forwarding in overload, with a NIC that reads one packet at a time for transmission: transmit is
/// the limit.
fn transmit_limited(backlog: u32, transmit: &str) -> Host {
    run(&forwarder(&[
        ("/traffic/rate", "40 Mpps".into()),
        ("/run/warmup", "400 us".into()),
        ("/machine/pcie", pcie_json()),
        ("/machine/nic/read_credits", 16.into()),
        ("/queues/tx_descriptors", 32.into()),
        ("/queues/tx_backlog", backlog.into()),
        ("/queues/pool_buffers", 512.into()),
        ("/tenants/0/app/transmit", transmit.into()),
    ]))
}

#[test]
fn software_keeps_packets_while_transmit_descriptors_are_in_use_and_then_stops() {
    for transmit in ["zero-copy", "copy"] {
        let [without, with] = [0, 96].map(|backlog| transmit_limited(backlog, transmit));
        assert!(without.queues.iter().all(|q| q.tx.backlog() == 0));
        for q in &with.queues {
            assert!((96 - 4..=96).contains(&q.tx.backlog()), "{}", q.tx.backlog());
        }
        let [without, with] = [without, with].map(|host| host.results().unwrap());
        let ratio = with.packets.transmitted as f64 / without.packets.transmitted as f64;
        assert!((0.95..1.05).contains(&ratio), "the same rate: {ratio}");
        // 32 packets wait behind each other without the backlog, and 128 with it.
        let wait = |r: &Results| r.latency[4].distribution.mean_ns;
        assert_eq!(with.latency[4].stage, "transmit");
        assert!(wait(&with) > 3.5 * wait(&without), "{} {}", wait(&with), wait(&without));
    }
}

/// Packets sent in overload by this many cores, with descriptors read `batch` at a time and posted
/// `burst` at a time.
fn sent_by(cores: u32, batch: Value, burst: u32) -> f64 {
    let mut set = vec![
        ("/traffic/rate", "40 Mpps".into()),
        ("/machine/pcie", pcie_json()),
        ("/tenants/0/cores/count", cores.into()),
        ("/tenants/0/app", json!({ "kind": "l2fwd" })),
        ("/machine/nic/descriptor_batch", 32.into()),
        ("/machine/nic/read_credits", 256.into()),
        ("/machine/pcie/non_posted_credits", 64.into()),
        ("/queues/rx_instructions", 10.into()),
        ("/queues/tx_instructions", 10.into()),
        // Descriptors come back in bursts, and so packets go in bursts.
        ("/queues/tx_descriptors", 64.into()),
        ("/queues/tx_completion_batch", 32.into()),
        ("/queues/burst", burst.into()),
    ];
    if !batch.is_null() {
        set.push(("/machine/nic/tx_descriptor_batch", batch));
    }
    run(&forwarder(&set)).results().unwrap().packets.transmitted as f64
}

#[test]
fn instructions_of_a_burst_are_shared_by_its_packets() {
    // Time that the core works on a packet, and time in which it dispatches instructions, ns.
    let took = |burst: u32, instructions: u32| {
        let r = results(&forwarder(&[
            ("/traffic/rate", "40 Mpps".into()),
            ("/tenants/0/cores/count", 1.into()),
            ("/tenants/0/app", json!({ "kind": "l2fwd", "packet_instructions": 2000 })),
            ("/queues/burst", burst.into()),
            ("/queues/burst_instructions", instructions.into()),
        ]));
        let packets = r.packets.completed as f64;
        [r.core_time.busy_ps, r.core_time.dispatch_ps].map(|ps| ps as f64 / 1e3 / packets)
    };
    for burst in [1, 4] {
        let [[worked, dispatched], [longer, more]] = [0, 800].map(|of| took(burst, of));
        // Four instructions a cycle of 2 GHz.
        let taken = 800.0 / f64::from(burst) / 4.0 / 2.0;
        assert!((more - dispatched - taken).abs() < 0.03 * taken, "{burst}: {dispatched} {more}");
        assert!(longer > worked + 0.9 * taken, "{burst}: {worked} {longer}");
    }
}

#[test]
fn one_send_queue_waits_for_its_descriptors_and_two_cover_for_each_other() {
    let [two_by_one, large] = [2, 32].map(|batch| sent_by(1, batch.into(), 4));
    assert!(large > 1.2 * two_by_one, "{large} {two_by_one}");
    let two_queues = sent_by(2, 2.into(), 4);
    assert!(two_queues > 1.5 * two_by_one, "{two_queues} {two_by_one}");
    // Descriptors read together with the data cost no wait of their own.
    assert!(sent_by(1, Value::Null, 4) > 1.2 * two_by_one);
}

#[test]
fn descriptors_posted_one_by_one_are_read_together_when_they_wait() {
    let [one_by_one, bursts] = [1, 4].map(|burst| sent_by(1, 32.into(), burst));
    assert!(one_by_one > 0.9 * bursts, "{one_by_one} {bursts}");
}

#[test]
fn the_nic_sends_no_faster_than_its_link() {
    let flood = json!({
        "kind": "backlog", "depth": 16, "flows": 64, "sizes": { "kind": "fixed", "size": "1024 B" }
    });
    let sent = |link: Value| {
        let set = [("/traffic", flood.clone()), ("/machine/nic/link", link)];
        run(&forwarder(&set)).results().unwrap().packets.transmitted as f64
    };
    // 200 us at 10 Gbit/s, 1048 bytes on the wire a packet.
    let line_rate = 10e9 * 200e-6 / (8.0 * 1048.0);
    let limited = sent("10 Gbps".into());
    assert!((limited / line_rate - 1.0).abs() < 0.02, "{limited} {line_rate}");
    assert!(sent("1000 Gbps".into()) > 2.0 * line_rate);
}

/// What cores have completed and the NIC has not sent waits in rings that are deeper than the run is long.
#[test]
fn packets_that_wait_to_be_sent_are_told() {
    let flood = json!({
        "kind": "backlog", "depth": 16, "flows": 64, "sizes": { "kind": "fixed", "size": "1024 B" }
    });
    let set = [
        ("/traffic", flood),
        ("/machine/nic/link", json!("10 Gbps")),
        ("/queues/tx_descriptors", json!(4096)),
        ("/queues/pool_buffers", json!(8192)),
    ];
    let p = run(&forwarder(&set)).results().unwrap().packets;
    let grown = p.unsent_end - p.unsent_begin;
    assert!(p.unsent_begin > 0 && grown > 100, "{p:?}");
    // A packet is posted before the core is done with it.
    assert!(grown.abs_diff(p.completed - p.transmitted) <= 2, "{p:?}");
}

/// Large requests, short answers: only the answers go over the link.
#[test]
fn a_backlog_does_not_come_over_the_link() {
    let app = json!({ "kind": "kvs", "item": "512 B", "gets": "0 %", "buckets": 1024, "log": "1 MiB",
                      "keys": 32 });
    let r = results(&forwarder(&[
        (
            "/traffic",
            json!({ "kind": "backlog", "depth": 16, "flows": 64,
                             "sizes": { "kind": "fixed", "size": "64 B" } }),
        ),
        ("/machine/nic/link", json!("100 Gbps")),
        ("/tenants/0/app", app),
    ]));
    let wire = r.domains.iter().find(|d| d.domain == "wire").unwrap();
    assert_eq!(wire.uses, r.packets.transmitted);
    // Frames of less than 256 bytes.
    assert!(wire.busy_ps < wire.uses * 256 * 8 * 10, "{} of {}", wire.busy_ps, wire.uses);
}

/// The NIC reads a packet to send one request at a time: by Little's law, more credits carry more,
/// whatever the size of a frame, until something else is the limit.
#[test]
fn reads_for_transmission_use_all_their_credits_whatever_the_size_of_a_frame() {
    let sent = |frame: &str, credits: u32| {
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/read_credits", json!(credits)),
            ("/traffic/sizes/size", json!(frame)),
            ("/queues/buffer_size", json!("9 KiB")),
            ("/traffic/rate", json!(if frame == "9000 B" { "1 Mpps" } else { "10 Mpps" })),
        ]));
        let credits = r.domains.iter().find(|d| d.domain == "read-credits").unwrap();
        let used = credits.busy_ps as f64 / 1e3 / r.measured_ns;
        (r.packets.completed_mpps, used, credits.credits as f64)
    };
    for frame in ["1020 B", "9000 B"] {
        let mut last = 0.0;
        for credits in [1, 2, 4, 8, 16] {
            let (mpps, used, all) = sent(frame, credits);
            assert!(used <= all, "{frame}: {used} of {all}");
            assert!(used > 0.8 * all, "{frame}: {used} of {all}");
            assert!(mpps > last, "{frame}, {credits} credits: {mpps}, with fewer {last}");
            last = mpps;
        }
    }
}

/// Behind PCIe, a packet is in transit for as long as a core takes for several packets: the backlog
/// covers that.
#[test]
fn a_backlog_keeps_the_cores_busy_behind_a_slow_link() {
    let mut pcie = pcie_json();
    pcie["non_posted_credits"] = json!(64);
    let r = results(&forwarder(&[
        ("/machine/pcie", pcie),
        ("/machine/nic/sram", json!("128 KiB")),
        ("/machine/nic/descriptor_batch", json!(32)),
        ("/queues/rx_instructions", json!(600)),
        (
            "/traffic",
            json!({
                "kind": "backlog", "depth": 50, "flows": 64, "sizes": { "kind": "fixed", "size": "60 B" }
            }),
        ),
    ]));
    let span = 2.0 * r.measured_ns * 1e3;
    assert!(r.core_time.busy_ps as f64 > 0.99 * span, "{:?}", r.core_time);
    let queue = r.latency.iter().find(|s| s.stage == "queue").unwrap().distribution.mean_ns;
    // Little's law: what waits in the rings of two cores.
    let waiting = queue * r.packets.completed_mpps / 1e3 / 2.0;
    assert!((25.0..=50.0).contains(&waiting), "{waiting} packets a queue");
}

/// A backlog packet that finds no room in the SRAM comes when there is some, and one that finds no
/// descriptor when the doorbell of the next one reaches the NIC.
#[test]
fn every_queue_has_its_backlog_whatever_it_waits_for() {
    let sizes = json!({ "kind": "fixed", "size": "1024 B" });
    let backlog = json!({ "kind": "backlog", "depth": 50, "flows": 64, "sizes": sizes });
    for (sram, rx_descriptors) in [("5 KiB", 64), ("1 MiB", 4)] {
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/sram", json!(sram)),
            ("/queues/rx_descriptors", json!(rx_descriptors)),
            ("/traffic", backlog.clone()),
        ]));
        let [a, b] = [0, 1].map(|queue| r.queues[queue].received as f64);
        assert!(a > 100.0 && (a / b - 1.0).abs() < 0.5, "{sram}: {a} and {b} packets");
        assert_eq!(r.packets.dropped_no_descriptor, 0, "the generator sees the ring");
        assert_eq!(r.packets.dropped_sram, 0, "and the room in the NIC");
        let now_there = r.packets.offered as f64 - r.packets.completed as f64;
        assert!(now_there.abs() < 128.0, "{:?}", r.packets);
    }
}

/// The queue always holds its backlog, even if cores could take packets faster than the NIC
/// delivers them; and nothing stalls where the missing packets cannot come.
#[test]
fn a_backlog_waits_also_for_cores_that_are_faster_than_the_nic() {
    let sizes = json!({ "kind": "fixed", "size": "1024 B" });
    let backlog = json!({ "kind": "backlog", "depth": 50, "flows": 64, "sizes": sizes });
    let waiting = |set: &[(&str, Value)]| {
        let mut all = vec![
            ("/traffic", backlog.clone()),
            ("/machine/noc/port_width", json!("8 B")),
            ("/queues/pool_buffers", json!(256)),
        ];
        all.extend_from_slice(set);
        let r = results(&forwarder(&all));
        assert!(r.packets.completed > 100, "{:?}", r.packets);
        let total = r.latency.iter().find(|l| l.stage == "total").expect("a stage");
        // Little's law, for each of two cores.
        r.packets.completed_mpps * total.distribution.mean_ns / 1e3 / 2.0
    };
    let there_are = waiting(&[]);
    assert!((45.0..55.0).contains(&there_are), "{there_are}");
    // Completions four at a time, descriptors 32 at a time, and no more descriptors than the backlog is deep.
    let few = [("/queues/rx_descriptors", json!(50)), ("/queues/post_batch", json!(32))];
    let there_are =
        waiting(&[&few[..], &[("/machine/nic/completions_per_write", json!(4))]].concat());
    assert!((10.0..55.0).contains(&there_are), "{there_are}");
}

/// Otherwise the NIC would read from memory what the core is about to write, for packets that come
/// one by one and for those posted while the doorbell of others waits for its stores.
#[test]
fn a_doorbell_is_behind_the_stores_before_it_and_brings_no_more_than_they_are() {
    let read_twice = |pcie: Value, rate: &str, batch: Value| {
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie),
            ("/machine/nic/tx_descriptor_batch", batch),
            ("/tenants/0/app/transmit", "copy".into()),
            ("/queues/tx_descriptors", 16_384.into()),
            ("/traffic/sizes/size", "64 B".into()),
            ("/traffic/rate", rate.into()),
            ("/run/duration", "2 ms".into()),
        ]));
        let packets = r.packets.completed as f64;
        assert!(lines(&r, "cpu-tx-rd") as f64 > 0.95 * packets, "its lines are cold");
        lines(&r, "nic-tx-rd") as f64 / packets
    };
    // Enough read tags and descriptors a read that packets need not wait until their lines are evicted.
    let mut pcie = pcie_json();
    pcie["non_posted_credits"] = json!(64);
    for rate in ["0.5 Mpps", "8 Mpps"] {
        let null = &Value::Null;
        for (pcie, batch) in [(null, null), (&pcie, null), (&pcie, &json!(16))] {
            let read = read_twice(pcie.clone(), rate, batch.clone());
            assert!(read < 0.01, "{rate}, {pcie}, {batch}: {read} lines a packet");
        }
    }
}

/// A table that two cores read is larger than their L2s, but fits in the LLC.
#[test]
fn what_several_cores_read_stays_in_the_llc() {
    for inclusion in every::<Inclusion>() {
        let r = results(&forwarder(&[
            ("/machine/llc/size", "3 MiB".into()),
            ("/machine/llc/inclusion", json!(inclusion)),
            ("/tenants/0/app/rules", 16_384.into()),
            ("/traffic/flows", 4096.into()),
            ("/traffic/sizes/size", "64 B".into()),
            ("/run/warmup", "20 ms".into()),
            ("/run/duration", "2 ms".into()),
        ]));
        let missed = r.caches.iter().find(|c| c.level == "l2" && c.kind == "app").unwrap().misses;
        assert!(missed as f64 > 0.5 * r.packets.completed as f64, "{missed} misses of the L2s");
        let reads = lines(&r, "cpu-other-rd");
        assert!(
            reads as f64 <= 0.01 * missed as f64,
            "{inclusion:?}: {reads} of {missed} from memory"
        );
    }
}

#[test]
fn random_replacement_follows_the_seed() {
    let misses = |seed: u64| {
        let set = [("/machine/llc/replacement", json!("random")), ("/run/seed", json!(seed))];
        results(&xmem("sequential", "4 MiB", &set)).tenants[0].llc_misses
    };
    assert_eq!(misses(1), misses(1));
    assert_ne!(misses(1), misses(2));
}

/// Posting descriptors, reading completions and ringing doorbells are a core's work, too: whether they come
/// once per packet or once per 32 packets, a core with more packets than it can take never waits.
#[test]
fn a_core_that_drops_packets_is_busy_whatever_its_burst() {
    for burst in [1, 32] {
        let busy = |rate: &str| {
            let r = results(&forwarder(&[
                ("/tenants/0/cores/count", json!(1)),
                ("/queues/burst", json!(burst)),
                ("/traffic/rate", json!(rate)),
            ]));
            (r.core_time.busy_ps as f64 / 1e3 / r.measured_ns, r.packets.dropped_no_descriptor)
        };
        let (full, dropped) = busy("40 Mpps");
        assert!(dropped > 0 && full > 0.999 && full <= 1.0, "burst {burst}: {full}");
        // A packet every microsecond takes a small part of the time.
        let (little, dropped) = busy("1 Mpps");
        assert!(dropped == 0 && (0.01..0.2).contains(&little), "burst {burst}: {little}");
    }
}

#[test]
fn the_rate_that_is_asked_for_is_told_exactly() {
    for rate in ["65 Mpps", "61 pps", "4.1 Mpps"] {
        let host = Host::new(&forwarder(&[("/traffic/rate", json!(rate))]), None).unwrap();
        let asked: crate::units::Rate = rate.parse().unwrap();
        assert_eq!(host.rate(), Some(asked));
        let told = host.results().unwrap().demand_mpps.expect("it comes by the clock");
        assert!((told * 1e6 / asked.0 as f64 - 1.0).abs() < 1e-12, "{told}");
    }
    // Two packets in fifty seconds.
    let traffic = json!({
        "kind": "bursts", "rate": "2 pps", "on": "1 s", "off": "49 s", "flows": 64,
        "sizes": { "kind": "fixed", "size": "1020 B" }
    });
    let host = Host::new(&forwarder(&[("/traffic", traffic)]), None).unwrap();
    let told = host.results().unwrap().demand_mpps.expect("it comes by the clock");
    assert!((told - 4e-8).abs() < 1e-16, "{told}");
}

#[test]
fn a_run_in_which_nothing_arrives_says_when_the_next_packet_comes() {
    let bursts = |off: &str| {
        let sizes = json!({ "kind": "fixed", "size": "1020 B" });
        let traffic = json!({
            "kind": "bursts", "rate": "1 Mpps", "on": "10 us", "off": off, "sizes": sizes, "flows": 64
        });
        run(&forwarder(&[("/traffic", traffic)])).results().unwrap().packets
    };
    let none = bursts("10 ms");
    assert_eq!(none.offered, 0);
    let at_us = none.next_arrival_ns.expect("there is traffic") / 1e3;
    assert!((10_000.0..10_020.0).contains(&at_us), "{at_us}");
    let some = bursts("10 us");
    assert!(some.offered > 0 && some.next_arrival_ns.is_none());
}
