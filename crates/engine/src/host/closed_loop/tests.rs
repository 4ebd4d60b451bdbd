//! Closed-loop senders in front of a whole host.

use serde_json::{Value, json};

use super::super::sender_series::OF_ALL;
use super::*;
use crate::apps::AppConfig;
use crate::apps::snap::CopyTime;
use crate::stats::results::{ConnectionResults, Results};
use crate::testing::{closed_loop_json, every, forwarder, measure, pcie_json, run};
use crate::transport::control::ControlConfig;
use crate::transport::control::dctcp::DctcpConfig;
use crate::transport::control::hpcc::HpccConfig;

/// Two threads that read from five machines, with a network stack that costs 500 ns per packet.
fn reader(set: &[(&str, Value)]) -> Scenario {
    let tenants = json!([{
        "name": "snap", "cores": { "first": 0, "count": 2 },
        "app": { "kind": "snap", "packet_instructions": 4000 }
    }]);
    let mut all = vec![
        ("/machine/nic/link", json!("100 Gbps")),
        ("/traffic", closed_loop_json()),
        ("/tenants", tenants),
        ("/run/warmup", json!("1 ms")),
        ("/run/duration", json!("1 ms")),
    ];
    all.extend_from_slice(set);
    forwarder(&all)
}

/// A NIC with an input buffer of a dozen packets behind one PCIe lane, which is slower than the
/// threads: the buffer is full before a packet has waited for the target delay. The fabric
/// target leaves room for the time that acknowledgements wait for that lane.
fn lossy() -> Scenario {
    let mut pcie = pcie_json();
    pcie["lanes"] = json!(1);
    // Enough for the acknowledgements.
    pcie["non_posted_credits"] = json!(64);
    reader(&[
        ("/machine/nic/sram", json!("8 KiB")),
        ("/machine/pcie", pcie),
        ("/traffic/control/fabric_target", json!("100 us")),
    ])
}

fn transport(scenario: &Scenario) -> (Results, TransportResults) {
    let results = run(scenario).results().unwrap_or_else(|e| panic!("{e}"));
    let transport = results.transport.clone().expect("the traffic is closed-loop");
    (results, transport)
}

#[test]
fn threads_add_up_until_the_link_is_full() {
    let goodput = |threads: u32, link: &str| {
        let cores = ("/tenants/0/cores/count", json!(threads));
        transport(&reader(&[cores, ("/machine/nic/link", json!(link))])).1.goodput_gbps
    };
    let (one, two) = (goodput(1, "100 Gbps"), goodput(2, "100 Gbps"));
    // 4000 instructions at 8 per nanosecond, those of the driver, and the memory accesses.
    assert!((5.0..8.0).contains(&one), "{one}");
    // They share a small LLC and one channel.
    assert!((1.75..2.02).contains(&(two / one)), "{one} and {two}");
    // 512 of 600 bytes on the wire are payload.
    let limit = 4.0 * 512.0 / 600.0;
    let full = goodput(2, "4 Gbps");
    assert!((full - limit).abs() < 0.02 * limit, "{full} of {limit}");
}

#[test]
fn swift_holds_the_delay_of_slow_threads_at_its_target() {
    let (_, t) = transport(&reader(&[]));
    assert_eq!(t.dropped_server, 0);
    assert!((15e3..30e3).contains(&t.host_delay.mean_ns), "{:?}", t.host_delay.mean_ns);
    assert!(t.fabric_delay.mean_ns < 8e3, "{:?}", t.fabric_delay.mean_ns);
    let parts = t.host_delay.mean_ns + t.fabric_delay.mean_ns;
    assert!((t.rtt.mean_ns - parts).abs() < 1.0, "{} of {parts}", t.rtt.mean_ns);
}

/// A NIC that reads one acknowledgement at a time, for which fast threads wait with all others.
#[test]
fn an_acknowledgement_that_waits_for_a_descriptor_delays_no_packet_in_the_host() {
    let mut pcie = pcie_json();
    pcie["latency"] = json!("1 us");
    let (results, t) = transport(&reader(&[
        ("/machine/pcie", pcie),
        ("/tenants/0/app/packet_instructions", json!(100)),
        ("/queues/tx_descriptors", json!(1)),
        ("/queues/tx_completion_batch", json!(1)),
        ("/queues/tx_backlog", json!(1024)),
        ("/traffic/control/fabric_target", json!("100 us")),
    ]));
    assert_eq!(t.dropped_server, 0);
    assert!(t.fabric_delay.mean_ns > 20e3, "{:?}", t.fabric_delay.mean_ns);
    assert!(t.host_delay.mean_ns < 8e3, "{:?}", t.host_delay.mean_ns);
    assert!(results.conservation.iter().all(|b| b.holds()));
}

#[test]
fn what_is_dropped_is_sent_again_and_everything_balances() {
    let (results, t) = transport(&lossy());
    assert!(t.dropped_server > 20 && t.sent_again > 20, "{}", t.dropped_server);
    assert!(t.fast_recoveries > 5, "{}, {} timeouts", t.fast_recoveries, t.timeouts);
    assert_eq!(t.dropped_server, results.packets.dropped_sram);
    assert_eq!(results.conservation.len(), 22);
    for b in &results.conservation[19..] {
        assert!(b.entered > 0, "{b:?}");
    }
    assert!(t.reads > 100 && t.delivered.abs_diff(4 * t.reads) < 4 * 5 * 2 * 8);
    let columns: Vec<&str> = results.series.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(columns[8..], OF_ALL.map(|(name, _)| name));
    assert_eq!(results.reads_after_sweep, 0);
}

#[test]
fn packets_that_wait_for_their_read_keep_their_buffers_and_the_rest_finds_some() {
    let on_completion = ("/tenants/0/app/copied", json!("on-completion"));
    let with = |mut scenario: Scenario, buffers: u32| {
        scenario.queues.pool_buffers = Some(buffers);
        scenario.placement.sweeper = true;
        let AppConfig::Snap(snap) = &mut scenario.tenants[0].app else { panic!("it is snap") };
        snap.copied = CopyTime::OnCompletion;
        transport(&scenario)
    };
    // One more than can wait for their reads: 5 senders, 8 open reads, and 3 packets of each.
    let (tight, lost) = with(lossy(), 121);
    assert!(lost.dropped_server > 20 && lost.reads > 100, "{lost:?}");
    assert_eq!(tight.reads_after_sweep, 0);
    let (_, free) = with(reader(&[on_completion]), 2000);
    let (_, arrival) = transport(&reader(&[]));
    assert!(free.goodput_gbps > 0.97 * arrival.goodput_gbps, "{}", free.goodput_gbps);
}

#[test]
fn what_is_copied_late_is_read_from_memory_and_what_is_copied_to_one_place_stays_cached() {
    let lines = |llc: &str, copy: &str, cause: &str| {
        let set = [
            ("/machine/llc/size", json!(llc)),
            ("/tenants/0/app/copied", json!(copy)),
            ("/queues/pool_buffers", json!(2000)),
        ];
        let (results, _) = transport(&reader(&set));
        let causes = results.memory.causes;
        causes.iter().find(|c| c.cause == cause).expect("the cause is listed").lines
    };
    // The I/O ways hold the packets that wait for their thread, but not those that wait for their read.
    let received = |copy| lines("768 KiB", copy, "cpu-rx-rd");
    let (early, late) = (received("on-arrival"), received("on-completion"));
    assert!(late > 4 * early, "{early}, {late}");
    // The whole LLC is smaller than the memory of the open reads.
    let evicted = |copy| lines("96 KiB", copy, "other-evct");
    assert!(evicted("on-arrival") > 10_000, "{}", evicted("on-arrival"));
    assert!(evicted("on-completion") < 100, "{}", evicted("on-completion"));
}

#[test]
fn marks_of_the_nic_keep_its_buffer_from_overflowing() {
    let with = |threshold: Option<&str>| {
        let mut scenario = lossy();
        scenario.machine.nic.sram = "32 KiB".parse().unwrap();
        scenario.machine.nic.ecn_threshold = threshold.map(|t| t.parse().unwrap());
        let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic else {
            panic!("it is closed-loop")
        };
        c.control = ControlConfig::Dctcp(DctcpConfig::default());
        transport(&scenario).1
    };
    let (none, never, early) = (with(None), with(Some("32 KiB")), with(Some("8 KiB")));
    assert!(none.dropped_server > 20 && none.marked_server == 0, "{}", none.dropped_server);
    // An admitted packet never finds the buffer full.
    assert_eq!((never.dropped_server, never.marked_server), (none.dropped_server, 0));
    assert!(early.marked_server > 100, "{}", early.marked_server);
    assert!(early.dropped_server < none.dropped_server / 4, "{}", early.dropped_server);
    assert!(early.goodput_gbps > 0.98 * none.goodput_gbps, "{}", early.goodput_gbps);
}

#[test]
fn connections_add_up_to_what_all_did() {
    let (_, t) = transport(&lossy());
    assert_eq!(t.connections.len(), 10);
    let last = t.connections.last().unwrap();
    assert_eq!((last.queue, last.sender), (1, 4));
    let sum = |of: fn(&ConnectionResults) -> u64| t.connections.iter().map(of).sum::<u64>();
    let sums = [sum(|c| c.sent), sum(|c| c.sent_again), sum(|c| c.timeouts), sum(|c| c.delivered)];
    assert_eq!(sums, [t.sent, t.sent_again, t.timeouts, t.delivered]);
    assert!(t.sent_again > 0);
    let squares = sum(|c| c.delivered.pow(2)) as f64;
    let fairness = (t.delivered as f64).powi(2) / (10.0 * squares);
    let found = t.fairness.expect("something is delivered");
    assert!((found - fairness).abs() < 1e-12, "{found} and {fairness}");
    // Which connection waits for a timeout is chance, and evens out over time.
    let mut longer = lossy();
    longer.run.duration = "60 ms".parse().unwrap();
    let fairness = transport(&longer).1.fairness;
    assert!(fairness.is_some_and(|fairness| (0.99..=1.0).contains(&fairness)), "{fairness:?}");
}

/// Two rivals of five senders, all with fixed windows of one packet, in front of fast threads.
fn beside(rivals: &serde_json::Value) -> (Results, TransportResults) {
    let fixed = json!({ "kind": "dctcp", "min_cwnd": 1, "initial_cwnd": 1, "max_cwnd": 1 });
    let work = ("/tenants/0/app/packet_instructions", json!(10));
    transport(&reader(&[("/traffic/control", fixed), ("/traffic/rivals", rivals.clone()), work]))
}

#[test]
fn rivals_that_are_further_away_get_less_in_proportion_to_their_round_trip() {
    let (_, t) = beside(&json!({ "senders": 2, "delay": "50 us" }));
    let [near, far] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
    let mean = |senders: std::ops::Range<u32>| {
        let of = t.connections.iter().filter(|c| senders.contains(&c.sender));
        let (n, sum) = of.fold((0, 0.0), |(n, sum), c| (n + 1, sum + c.mean_rtt_ns.unwrap()));
        sum / f64::from(n)
    };
    // 2 x 48 us more, and the same wait for threads and links.
    let (of_near, of_far) = (mean(0..3), mean(3..5));
    assert!((of_far - of_near - 96e3).abs() < 2e3, "{of_near} and {of_far}");
    // With one packet in flight, a connection's rate is one in a round trip.
    let each = |g: &SendersResults| g.goodput_gbps / f64::from(g.count);
    let (rates, trips) = (each(near) / each(far), of_far / of_near);
    assert!((rates / trips - 1.0).abs() < 0.02, "{rates} and {trips}");
}

#[test]
fn rivals_may_have_slower_links() {
    let (_, t) = beside(&json!({ "senders": 2, "sender_link": "1 Gbps" }));
    let [fast, slow] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
    // Two queues each have a packet of 4452 bytes in flight over it, which takes 35.6 us.
    let most = f64::from(slow.count) * 4096.0 / 4452.0;
    assert!(slow.goodput_gbps > 0.9 * most && slow.goodput_gbps <= 1.01 * most, "{slow:?}");
    assert!(fast.goodput_gbps > 3.0 * slow.goodput_gbps, "{fast:?}");
}

#[test]
fn rivals_come_and_go() {
    // The run has a warm-up of 1 ms, and measures as long.
    let (r, t) = beside(&json!({ "senders": 2, "start": "1200 us", "stop": "1700 us" }));
    assert!(t.by_group[1].goodput_gbps > 0.0);
    let of = r.series.columns.iter().find(|c| c.name == "rivals-goodput").unwrap();
    let ns = |i: usize| r.series.start_ns + (i as f64 + 0.5) * r.series.interval_ns;
    let comes = |i: usize| of.values[i].is_some_and(|gbps| gbps > 0.0);
    for i in 0..of.values.len() {
        let (before, after) = (ns(i) < 1.2e6, ns(i) > 1.9e6);
        assert!(!(comes(i) && (before || after)), "at {} ns", ns(i));
    }
    // What is open at the end takes a while.
    let there = (0..of.values.len()).filter(|&i| comes(i)).count() as f64 * r.series.interval_ns;
    assert!((0.5e6..0.7e6).contains(&there), "{there}");
    // Nor is any read older than its sender.
    let (_, t) = beside(&json!({ "senders": 2, "start": "1900 us" }));
    let reads = &t.by_group[1].read_latency;
    assert!(reads.count > 0 && reads.mean_ns < 0.1e6, "{reads:?}");
    // Blocks end as well, and the last counts.
    let striped = json!({ "senders": 2, "striped": true, "stop": "1500 us" });
    let (_, t) = beside(&striped);
    let blocks = t.by_group[1].block_latency.as_ref().expect("there are blocks");
    assert!(blocks.count > 0);
    assert_eq!(t.by_group[1].read_latency.count, 2 * blocks.count);
}

#[test]
fn rivals_are_the_last_senders_and_have_their_own_control() {
    // A window of one packet against one of four, in front of slow threads.
    let fixed = |window| json!({ "kind": "dctcp", "min_cwnd": window, "initial_cwnd": window, "max_cwnd": window });
    let rivals = json!({ "senders": 2, "control": fixed(4) });
    let watched = ("/traffic/watched", json!(1));
    let set = [("/traffic/control", fixed(1)), ("/traffic/rivals", rivals), watched];
    let (r, t) = transport(&reader(&set));
    let windows: Vec<f64> = t.connections.iter().map(|c| c.mean_window.round()).collect();
    assert_eq!(windows, [1.0, 1.0, 1.0, 4.0, 4.0, 1.0, 1.0, 1.0, 4.0, 4.0]);
    let [control, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
    assert_eq!((control.control.as_str(), control.first, control.count), ("traffic.control", 0, 3));
    assert_eq!(
        (rivals.control.as_str(), rivals.first, rivals.count),
        ("traffic.rivals.control", 3, 2)
    );
    assert_eq!((control.mean_window, rivals.mean_window), (1.0, 4.0));
    assert_eq!(control.sent + rivals.sent, t.sent);
    let both = control.goodput_gbps + rivals.goodput_gbps;
    assert!((both - t.goodput_gbps).abs() < 1e-9, "{both} and {}", t.goodput_gbps);
    let column = |name: &str| {
        let found = r.series.columns.iter().find(|c| c.name == name);
        found.map(|c| c.values.iter().flatten().sum::<f64>() / c.values.len() as f64)
    };
    let goodput = column("rivals-goodput").expect("there are rivals");
    assert!((goodput / rivals.goodput_gbps - 1.0).abs() < 0.02, "{goodput}");
    assert_eq!((column("rivals-window"), column("window")), (Some(4.0), Some(2.2)));
    // One of each is watched.
    let windows = ["window-0", "window-1", "rivals-window-3", "rivals-window-4"].map(column);
    assert_eq!(windows, [Some(1.0), None, Some(4.0), None]);
    // Packets that wait in one queue leave it in proportion to those in flight: 2 x 4 of 2 x 4 + 3 x 1.
    let share = rivals.goodput_gbps / both;
    assert!((share - 8.0 / 11.0).abs() < 0.03, "{share}");
    assert!(control.fairness > Some(0.99) && rivals.fairness > Some(0.99));
    assert!(t.fairness < Some(0.8));
    // Swift beside DCTCP: only one of them hears marks.
    let swift = json!({ "senders": 1, "control": { "kind": "swift" } });
    let (_, t) = transport(&reader(&[("/traffic/control", fixed(1)), ("/traffic/rivals", swift)]));
    assert_eq!(t.by_group.iter().map(|s| s.hears_marks).collect::<Vec<_>>(), [true, false]);
    assert_eq!((t.hears_marks, t.by_group[0].cut_by_host), (Some(true), None));
    // What the server's delay cuts is Swift's alone, and in the sum too.
    assert!(t.cut_by_host.is_some() && t.cut_by_host == t.by_group[1].cut_by_host);
    // In the lossy host only losses cut the windows.
    let (_, t) = transport(&lossy());
    assert!(t.cut_by_losses > 100.0 * (t.cut_by_host.unwrap() + t.cut_by_path), "{t:?}");
    assert_eq!(transport(&reader(&[])).1.by_group, []);
}

#[test]
fn rivals_may_read_more_at_a_time_and_everything_balances() {
    let rivals = json!({ "senders": 2, "read": "8 KiB", "open_reads": 4 });
    for copied in ["on-arrival", "on-completion"] {
        let set = [
            ("/traffic/open_reads", json!(1)),
            ("/traffic/think", json!("20 us")),
            ("/traffic/rivals", rivals.clone()),
            ("/tenants/0/app/copied", json!(copied)),
            ("/queues/pool_buffers", json!(2000)),
        ];
        let (r, t) = transport(&reader(&set));
        let [others, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
        assert_eq!([&*others.control, &*rivals.control], ["traffic.control"; 2]);
        // Sixteen packets, behind those of three more reads, against four.
        let times = rivals.read_latency.mean_ns / others.read_latency.mean_ns;
        assert!((2.0..16.0).contains(&times), "{copied}: {times}");
        let reads = others.read_latency.count + rivals.read_latency.count;
        assert_eq!((reads, r.reads_after_sweep), (t.reads, 0));
        // Little's law over the others: two threads, three senders, a read or a pause.
        let cycle = others.read_latency.mean_ns + 20e3;
        let open = others.read_latency.count as f64 * cycle / 1e6;
        assert!((open / 6.0 - 1.0).abs() < 0.1, "{copied}: {open}");
        assert_eq!(t.block_latency, None);
    }
    let striped = json!({ "senders": 2, "striped": true, "open_reads": 2 });
    let (_, t) = transport(&reader(&[("/traffic/rivals", striped.clone())]));
    let [others, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
    assert_eq!((&others.block_latency, &rivals.block_latency), (&None, &t.block_latency));
    let blocks = rivals.block_latency.as_ref().expect("theirs are blocks");
    assert!(blocks.count > 20 && blocks.count.abs_diff(rivals.read_latency.count / 2) < 10);
    // Blocks of five and of two senders have no common latency.
    let both = [("/traffic/rivals", striped), ("/traffic/striped", json!(true))];
    let (_, t) = transport(&reader(&both));
    assert!(t.block_latency.is_none() && t.by_group.iter().all(|g| g.block_latency.is_some()));
}

/// One thread and one sender, whose link of 10 Gbps takes 480 ns for each frame of 600 bytes with its overheads: a
/// queue with a single server, at whose door reads come at random. The window lets it work all the time.
fn one_slow_sender(set: &[(&str, Value)]) -> TransportResults {
    let control = json!({ "kind": "dctcp", "initial_cwnd": 100, "max_cwnd": 100 });
    let mut all = vec![
        ("/tenants/0/cores/count", json!(1)),
        ("/tenants/0/app/packet_instructions", json!(100)),
        ("/traffic/senders", json!(1)),
        ("/traffic/network/sender_link", json!("10 Gbps")),
        ("/traffic/control", control),
        ("/traffic/open_reads", json!(2000)),
        ("/run/duration", json!("200 ms")),
    ];
    all.extend_from_slice(set);
    transport(&reader(&all)).1
}

/// Half of the link's payload of 8.53 Gbps. The mean wait is that of Pollaczek and Khinchine at the load that came, and the
/// server takes some 150 ns for the last packet.
#[test]
fn reads_that_are_wanted_at_random_wait_as_in_a_queue_of_one_server() {
    let mix = json!([{ "size": "512 B", "weight": 9 }, { "size": "16 KiB", "weight": 1 }]);
    let load = ("/traffic/load", json!("4267 Mbps"));
    let alike = one_slow_sender(&[load.clone(), ("/traffic/read", json!("4 KiB"))]);
    let mixed = one_slow_sender(&[load, ("/traffic/read_mix", mix)]);
    // Service times: eight frames, or one and 32. The mean wait is rho / (1 - rho) * E[s^2] / 2 E[s].
    for (t, mean, square) in [(&alike, 8.0, 64.0), (&mixed, 0.9 + 3.2, 0.9 + 102.4)] {
        let rho = t.goodput_gbps / (10.0 * 512.0 / 600.0);
        let wait_ns = rho / (1.0 - rho) * square / (2.0 * mean) * 480.0;
        assert_eq!((t.sent_again, t.fairness), (0, None));
        let wanted = t.wanted_gbps.expect("a load is wanted");
        assert!((wanted / 4.267 - 1.0).abs() < 0.04, "{wanted} Gbps");
        assert!((t.goodput_gbps / wanted - 1.0).abs() < 0.001, "{} of {wanted}", t.goodput_gbps);
        for of in &t.by_size {
            let more_ns = of.latency.mean_ns - of.alone_ns - wait_ns;
            assert!(
                (more_ns - 150.0).abs() < 100.0 + 0.04 * wait_ns,
                "{} B: {more_ns} ns",
                of.bytes
            );
        }
    }
    // Two ways of 2 us, the frames on the slow link, and the last one on the link of 100 Gbps.
    let sizes: Vec<_> = mixed.by_size.iter().map(|of| (of.bytes, of.alone_ns)).collect();
    assert_eq!(sizes, [(512, 4000.0 + 480.0 + 48.0), (16 << 10, 4000.0 + 32.0 * 480.0 + 48.0)]);
    let counts: Vec<_> = mixed.by_size.iter().map(|of| of.latency.count as f64).collect();
    assert!((counts[0] / counts[1] / 9.0 - 1.0).abs() < 0.1, "{counts:?}");
    assert_eq!(counts.iter().sum::<f64>(), mixed.reads as f64);
    assert_eq!((alike.by_size[0].latency.count, alike.by_size.len()), (alike.reads, 1));
}

/// What is wanted depends on neither what the others are asked for nor on the server.
#[test]
fn a_load_is_wanted_at_the_same_times_whatever_else_there_is() {
    let rivals = |key: &str, value: &str| {
        let mut rivals =
            json!({ "senders": 1, "load": "1 Gbps", "start": "500 us", "stop": "1500 us" });
        rivals[key] = json!(value);
        let set = [
            ("/traffic/rivals", rivals),
            ("/traffic/open_reads", json!(64)),
            ("/traffic/load", json!("500 Mbps")),
            ("/run/warmup", json!("10 us")),
            ("/run/duration", json!("3 ms")),
        ];
        transport(&reader(&set)).1
    };
    let (as_is, slower) = (rivals("read", "2 KiB"), rivals("sender_link", "2 Gbps"));
    let wanted = |t: &TransportResults| {
        let of: Vec<_> = t.by_group.iter().map(|group| group.wanted_gbps.unwrap()).collect();
        (of[0], of[1])
    };
    assert_eq!(wanted(&as_is), wanted(&slower));
    // Four senders for three milliseconds, and one for one of them.
    let (others, theirs) = wanted(&as_is);
    assert!(
        (others / 2.0 - 1.0).abs() < 0.3 && (3.0 * theirs - 1.0).abs() < 0.5,
        "{others} {theirs}"
    );
    assert!(as_is.by_group[1].goodput_gbps == theirs, "{:?}", as_is.by_group[1]);
    let other = rivals("read", "4 KiB");
    assert_eq!(wanted(&other).0, others);
}

#[test]
fn blocks_of_a_load_wait_for_those_before_them() {
    let block_ns = |open_reads: u32| {
        let set = [
            ("/traffic/striped", json!(true)),
            ("/traffic/open_reads", json!(open_reads)),
            ("/traffic/network/delay", json!("20 us")),
            ("/traffic/control", json!({ "kind": "dctcp", "initial_cwnd": 32, "max_cwnd": 32 })),
            ("/traffic/load", json!("500 Mbps")),
            ("/run/duration", json!("20 ms")),
        ];
        let (_, t) = transport(&reader(&set));
        let blocks = t.block_latency.expect("they are striped");
        // Five reads of 2 KiB are a block.
        let wanted = t.wanted_gbps.unwrap() * 20e6 / (8.0 * 5.0 * 2048.0);
        assert!((blocks.count as f64 - wanted).abs() < 10.0, "{} of {wanted}", blocks.count);
        blocks.mean_ns
    };
    // With one open read the next block of a thread is asked for when the one before has come.
    let (one, many) = (block_ns(1), block_ns(16));
    assert!(one > 1.5 * many, "{one} and {many} ns");
}

#[test]
fn what_is_wanted_beyond_the_link_waits_for_ever_longer() {
    let rivals = json!({ "senders": 1, "load": "1 Gbps", "read": "512 B" });
    let set = [
        ("/traffic/senders", json!(2)),
        ("/traffic/load", json!("10 Gbps")),
        ("/traffic/open_reads", json!(4)),
        ("/traffic/rivals", rivals),
        ("/run/duration", json!("20 ms")),
    ];
    let t = one_slow_sender(&set);
    let [others, rivals] = &t.by_group[..] else { panic!("{:?}", t.by_group) };
    // Of 2 KiB: four frames of 480 ns.
    let carried = 10.0 * 512.0 / 600.0;
    assert!((others.goodput_gbps / carried - 1.0).abs() < 0.01, "{}", others.goodput_gbps);
    let wanted = others.wanted_gbps.zip(rivals.wanted_gbps).expect("both are loaded");
    assert!((wanted.0 - 10.0).abs() < 0.4 && (wanted.1 - 1.0).abs() < 0.05, "{wanted:?}");
    assert_eq!(t.wanted_gbps, Some(wanted.0 + wanted.1));
    // What came in the last millisecond waited for all that was left over in the 20 before.
    let left_over_ns = 20e6 * (1.0 - carried / 10.0);
    let longest = others.read_latency.percentiles_ns.last().expect("the maximum").1;
    assert!((longest / left_over_ns - 1.0).abs() < 0.25, "{longest} ns, left over {left_over_ns}");
    assert!(rivals.read_latency.mean_ns < 20e3, "{:?}", rivals.read_latency);
}

/// The same blocks, but the packets of one come at once.
#[test]
fn striped_blocks_fill_the_buffer_of_the_nic() {
    let with = |striped: bool| {
        let mut scenario = lossy();
        let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic else {
            panic!("it is closed-loop")
        };
        // A block is 20 packets, and the buffer has room for 14.
        c.control = ControlConfig::Dctcp(DctcpConfig::default());
        (c.striped, c.open_reads, c.think) = (striped, 1, "200 us".parse().unwrap());
        transport(&scenario).1
    };
    let (independent, striped) = (with(false), with(true));
    let block = striped.block_latency.as_ref().expect("blocks are read");
    assert!(block.mean_ns > striped.read_latency.mean_ns, "{block:?}");
    let share = |t: &TransportResults| t.dropped_server as f64 / t.sent as f64;
    let (alone, together) = (share(&independent), share(&striped));
    assert!(together > 3.0 * alone && together > 0.05, "{together} and {alone}");
}

/// One PCIe lane carries less than the link, so the queue is in the NIC and none in the switch.
#[test]
fn telemetry_of_the_nic_keeps_its_buffer_from_filling() {
    let with = |server_hop: bool| {
        let mut scenario = lossy();
        // The first windows of all together do not fit, which takes a timeout.
        scenario.run.warmup = "10 ms".parse().unwrap();
        scenario.machine.nic.sram = "256 KiB".parse().unwrap();
        let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic else {
            panic!("it is closed-loop")
        };
        c.recovery.min_timeout = "1 ms".parse().unwrap();
        c.open_reads = 64;
        c.control = ControlConfig::Hpcc(HpccConfig { server_hop, ..HpccConfig::default() });
        transport(&scenario)
    };
    let ((sees, told), (_, blind)) = (with(true), with(false));
    assert_eq!(told.dropped_server + told.dropped_switch, 0);
    assert!(blind.dropped_server > 50, "{blind:?}");
    // The queue is what is missing to the target of 95 % beside what the lane carries of the link, times 13 us of it.
    let sram = sees.domains.iter().find(|d| d.domain == "nic-sram").expect("a domain");
    let queue = sram.busy_ps as f64 / 1e3 / sees.measured_ns;
    let carried = sees.packets.completed_mpps * 600.0 * 8.0 / 100e3;
    let by_hand = (0.95 - carried) * 13e3 * 100.0 / 8.0;
    assert!((queue / by_hand - 1.0).abs() < 0.3, "{queue} B, by hand {by_hand}");
    // Nothing but the server cuts windows, and it carries as much as without.
    assert!(told.cut_by_host > Some(100.0 * (told.cut_by_path + told.cut_by_losses)), "{told:?}");
    assert!(
        told.goodput_gbps > 0.98 * blind.goodput_gbps,
        "{} {}",
        told.goodput_gbps,
        blind.goodput_gbps
    );
    assert_eq!(blind.cut_by_host, Some(0.0));
}

#[test]
fn a_window_that_nothing_moves_is_told_of_each_connection() {
    let fixed = json!({ "kind": "dctcp", "initial_cwnd": 2, "max_cwnd": 2 });
    // There are five senders.
    let watched = ("/traffic/watched", json!(7));
    let (r, t) = transport(&reader(&[("/traffic/control", fixed), watched]));
    assert_eq!((t.marked, t.sent_again), (0, 0));
    assert!(t.connections.iter().all(|c| (c.mean_window - 2.0).abs() < 1e-9));
    let columns = r.series.columns.iter().filter(|c| c.name.starts_with("window-"));
    let names: Vec<&str> = columns.clone().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["window-0", "window-1", "window-2", "window-3", "window-4"]);
    let still = |c: &Series| !c.values.is_empty() && c.values.iter().all(|&w| w == Some(2.0));
    assert!(columns.clone().all(still));
    let trips = t.connections.iter().filter_map(|c| c.mean_rtt_ns);
    let mean = trips.sum::<f64>() / t.connections.len() as f64;
    assert!((mean / t.rtt.mean_ns - 1.0).abs() < 0.05, "{mean} and {}", t.rtt.mean_ns);
}

#[test]
fn a_lost_datagram_and_a_forgotten_packet_are_caught() {
    let caught = |fault: fn(&mut ClosedLoop)| {
        let mut host = run(&lossy());
        assert!(host.results().is_ok());
        fault(host.closed_loop.as_mut().expect("it is closed-loop"));
        host.results().expect_err("the fault is seen")
    };
    let e = caught(|c| c.network.counts.dropped_server -= 1);
    assert!(e.contains("datagrams"), "{e}");
    let e = caught(|c| {
        let slot = c.datagrams.iter_mut().find(|d| **d != NONE);
        *slot.expect("a packet is in the host") = NONE;
    });
    assert!(e.contains("datagrams in flight"), "{e}");
    let e = caught(|c| c.network.forget_a_packet());
    assert!(e.contains("packets of reads"), "{e}");
}

#[test]
fn a_packet_without_descriptor_is_sent_again() {
    let few = ("/queues/rx_descriptors", json!(4));
    let (results, t) = transport(&reader(&[few]));
    assert!(results.packets.dropped_no_descriptor > 0);
    assert_eq!(t.dropped_server, results.packets.dropped_no_descriptor);
    assert!(t.sent_again > 0);
}

#[test]
fn one_seed_gives_one_result_and_a_clone_goes_on_as_the_original() {
    let as_json = |host: &Host| serde_json::to_value(host.results().unwrap()).unwrap();
    for control in every::<ControlConfig>() {
        let mut scenario = lossy();
        let Some(crate::wire::config::TrafficConfig::ClosedLoop(c)) = &mut scenario.traffic else {
            panic!("it is closed-loop")
        };
        c.control = control;
        let first = as_json(&run(&scenario));
        assert_eq!(first, as_json(&run(&scenario)));
        let mut host = Host::new(&scenario, None).unwrap();
        host.run_until(Ps::from_us(777));
        let mut copy = host.clone();
        measure(&mut host, &scenario, &[Ps::from_us(1_234)]);
        measure(&mut copy, &scenario, &[]);
        assert_eq!(first, as_json(&host));
        assert_eq!(first, as_json(&copy));
        scenario.run.seed += 1;
        assert_ne!(first, as_json(&run(&scenario)));
    }
}
