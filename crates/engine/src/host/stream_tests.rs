//! Whole runs of memory benchmarks: what they do to memory, on one node and on two.

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::stats::results::{CauseTraffic, NodeTraffic, Results};
use crate::testing::{forwarder, lines, results, run, xmem};
use crate::time::Ps;

/// STREAM on both cores, over arrays that overflow the caches, with the given keys set.
fn stream(set: &[(&str, Value)]) -> Scenario {
    let cores = json!({ "first": 0, "count": 2 });
    let app = json!({ "kind": "stream", "array": "256 KiB" });
    let mut all = vec![
        ("/traffic", Value::Null),
        ("/tenants", json!([{ "name": "stream", "cores": cores, "app": app }])),
    ];
    all.extend_from_slice(set);
    forwarder(&all)
}

fn numa(bandwidth: &str) -> (&'static str, Value) {
    ("/machine/numa", json!({ "links": 1, "link_bandwidth": bandwidth, "latency": "30 ns" }))
}

fn remote() -> (&'static str, Value) {
    ("/tenants/0/memory", "remote".into())
}

fn moved(causes: &[CauseTraffic]) -> u64 {
    causes.iter().map(|c| c.lines).sum()
}

fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} is not about {expected}");
}

#[test]
fn ten_lines_are_read_for_four_written_and_the_bus_is_the_limit() {
    let r = results(&stream(&[]));
    let (reads, writes) = (lines(&r, "cpu-other-rd"), lines(&r, "other-evct"));
    assert_eq!(moved(&r.memory.causes), reads + writes);
    assert_close(reads as f64 / writes as f64, 2.5, 0.03);
    // STREAM counts what its loops touch, six loads and four stores; memory also sees the four lines
    // that the stores read.
    let bytes = r.tenants[0].counters["bytes"] as f64;
    assert_close(r.memory.bandwidth_gbytes_per_s * r.measured_ns, 1.4 * bytes, 0.03);
    assert!(r.memory.bandwidth_gbytes_per_s < r.memory.bus_limit_gbytes_per_s);
    let by_core = r.tenants[0].stream_gbytes_per_s_by_core.as_ref().expect("STREAM tells");
    assert_eq!(by_core.len(), 2);
    assert_close(by_core.iter().sum::<f64>() * r.measured_ns, bytes, 1e-9);
}

#[test]
fn a_core_alone_has_as_many_lines_under_way_as_miss_registers() {
    let r = results(&stream(&[("/tenants/0/cores/count", 1.into())]));
    // A line takes the L2 lookup and the trip to the LLC, the DRAM, and the trip back through the LLC:
    // besides the DRAM, (14 + 8 + 30 + 8) cycles at 2 GHz. Little's law gives the lines in flight.
    let latency_ns = 30.0 + r.dram.read_latency.mean_ns;
    let under_way = lines(&r, "cpu-other-rd") as f64 / r.measured_ns * latency_ns;
    assert!(under_way > 7.0 && under_way <= 10.0, "{under_way} of 10 registers");
}

/// Two tenants of one core each, with the same application.
fn two_of(app: &Value) -> Scenario {
    let tenant = |name: &str, first: u32| json!({ "name": name, "cores": { "first": first, "count": 1 }, "app": app });
    forwarder(&[("/traffic", Value::Null), ("/tenants", json!([tenant("a", 0), tenant("b", 1)]))])
}

#[test]
fn tenants_of_one_kind_do_not_run_in_step() {
    let stream = json!({ "kind": "stream", "array": "256 KiB" });
    let as_one = results(&self::stream(&[])).memory.bandwidth_gbytes_per_s;
    let as_two = results(&two_of(&stream)).memory.bandwidth_gbytes_per_s;
    assert_eq!(as_one, as_two, "the same cores with the same arrays");
    let xmem = json!({ "kind": "xmem", "region": "256 KiB", "pattern": "random-chained" });
    let r = results(&two_of(&xmem));
    let [a, b] = &r.tenants[..] else { panic!("two tenants") };
    assert_ne!((a.llc_misses, a.progress_mps), (b.llc_misses, b.progress_mps));
}

#[test]
fn remote_memory_is_read_and_written_on_the_other_node_alone() {
    let r = results(&stream(&[numa("166.4 Gbps"), remote()]));
    let [local, remote] = &r.memory.nodes[..] else { panic!("two nodes") };
    assert_eq!((local.node.as_str(), moved(&local.causes)), ("local", 0));
    assert_eq!(remote.causes, r.memory.causes);
    let [local_bus, remote_bus] = r.dram.bus_busy[..] else { panic!("a channel each") };
    assert!(local_bus == 0.0 && remote_bus > 0.3);
    // Every line read comes back with a header; every line written, and every request, goes out with one.
    let link = r.memory.socket_link.as_ref().expect("there is a link");
    let rate = |n: u64, bytes: u64| (n * bytes) as f64 / r.measured_ns;
    let (reads, writes) = (lines(&r, "cpu-other-rd"), lines(&r, "other-evct"));
    assert_close(link.to_local_gbytes_per_s, rate(reads, 72), 0.01);
    assert_close(link.to_remote_gbytes_per_s, rate(reads, 8) + rate(writes, 72), 0.01);
}

#[test]
fn the_link_bounds_remote_traffic() {
    let r = results(&stream(&[numa("32 Gbps"), remote()]));
    let link = r.memory.socket_link.as_ref().expect("there is a link");
    assert_close(link.limit_gbytes_per_s, 4.0, 1e-6);
    assert!(link.to_local_gbytes_per_s <= 4.0);
    assert_close(link.to_local_gbytes_per_s, 4.0, 0.05);
    let used = r.domains.iter().find(|d| d.domain == "socket-link").expect("there is a link");
    assert_close(used.busy_ps as f64, r.measured_ns * 1e3, 0.05);
}

#[test]
fn a_remote_access_takes_two_ways_over_the_link_more() {
    let chase = |set: &[(&str, Value)]| {
        results(&xmem("random-chained", "1 MiB", set)).amat_ns.expect("there are accesses")
    };
    let [near, far] = [chase(&[numa("166.4 Gbps")]), chase(&[numa("166.4 Gbps"), remote()])];
    // Plus the time of the request and of the line on the link, 80 bytes at 20.8 GB/s. L2 and LLC
    // hold about a tenth of the 1 MiB.
    assert_close(far - near, 60.0 + 80.0 / 20.8, 0.15);
}

#[test]
fn the_clock_of_the_uncore_decides_what_the_llc_takes_and_that_of_the_cores_the_rest() {
    let chase = |core: &str, uncore: &str| {
        let clocks = [
            ("/machine/core/frequency", core.into()),
            ("/machine/uncore", json!({ "frequency": uncore })),
            // Until all of the region has been read once.
            ("/run/warmup", "1 ms".into()),
        ];
        results(&xmem("random-chained", "64 KiB", &clocks))
    };
    let amat = |r: &Results| r.amat_ns.expect("there are accesses");
    let [fast, slow, turbo] =
        [("2 GHz", "2 GHz"), ("2 GHz", "1 GHz"), ("4 GHz", "2 GHz")].map(|(c, u)| chase(c, u));
    // What the L2 does not hold: the slice, and the way there and back.
    let tenant = &fast.tenants[0];
    let asked = (tenant.llc_hits + tenant.llc_misses) as f64 / fast.line_accesses as f64;
    let cycles = 30.0 + 2.0 * 8.0;
    assert_close(amat(&slow) - amat(&fast), asked * cycles * (1.0 - 0.5), 0.02);
    // The L1d, which holds a sixteenth, or the L2.
    let cycles = (4.0 + 15.0 * 14.0) / 16.0;
    assert_close(amat(&fast) - amat(&turbo), cycles * (0.5 - 0.25), 0.02);
}

#[test]
fn received_packets_can_lie_on_the_other_node_where_ddio_does_not_reach() {
    let of = |memory: &str| {
        results(&forwarder(&[numa("166.4 Gbps"), ("/queues/memory", memory.into())]))
    };
    let (near, far) = (of("local"), of("remote"));
    let written = |r: &Results| r.io.as_ref().map(|io| (io.write_hits, io.write_misses)).unwrap();
    assert!(matches!(written(&near), (Some(_), Some(_))));
    assert_eq!(written(&far), (None, None), "none reaches the LLC of the other socket");
    let written = |r: &Results| lines(r, "nic-rx-wr");
    assert_eq!(written(&near), 0);
    // The 16 lines (1 KiB) of each packet, on the other node.
    assert_close(written(&far) as f64, 16.0 * far.packets.completed as f64, 0.01);
    // The other node exists only if something lies on it.
    assert_eq!((near.memory.nodes.len(), far.memory.nodes.len()), (0, 2));
}

#[test]
fn dma_writes_that_wait_for_their_channel_keep_their_credits() {
    let of = |write_queue: u32| {
        run(&forwarder(&[
            ("/placement/policy", "dma".into()),
            ("/machine/dram/write_queue", write_queue.into()),
            ("/traffic/rate", "39 Mpps".into()),
        ]))
    };
    let (long, mut short) = (of(64), of(2));
    assert!(short.mean_credits() > 1.2 * long.mean_credits(), "{}", short.mean_credits());
    while short.memory.backend.late_writes.inside() == 0 {
        let end = short.now() + Ps::from_ns(100);
        short.run_until(end);
    }
    short.results().expect("every balance holds");
    short.memory.backend.late_writes.leave(Ps::ZERO, 1);
    let fault = short.results().expect_err("the fault is seen");
    assert!(fault.contains("write line credits"), "{fault}");
}

#[test]
fn a_write_lost_on_the_link_is_caught() {
    let mut host = run(&stream(&[numa("32 Gbps"), remote()]));
    assert!(host.results().is_ok());
    host.memory.backend.lose_a_remote_write();
    let fault = host.results().expect_err("the fault is seen");
    assert!(fault.contains("memory writes"), "{fault}");
}

#[test]
fn two_nodes_are_deterministic_and_a_snapshot_goes_on_alike() {
    let scenario = stream(&[numa("64 Gbps"), remote()]);
    let mut host = run(&scenario);
    let mut snapshot = host.clone();
    let end = host.now() + Ps::from_ns(20_000);
    host.run_until(end);
    snapshot.run_until(end);
    assert_eq!(host.results().unwrap(), snapshot.results().unwrap());
    assert_eq!(run(&scenario).results().unwrap(), run(&scenario).results().unwrap());
}

#[test]
fn each_node_tells_how_long_its_own_reads_take() {
    let tenant = |name: &str, first: u32, app: Value, memory: &str| json!({ "name": name, "cores": { "first": first, "count": 1 }, "app": app, "memory": memory });
    let stream = json!({ "kind": "stream", "array": "256 KiB" });
    let chase = json!({ "kind": "xmem", "region": "1 MiB", "pattern": "random-chained" });
    let tenants = json!([tenant("near", 0, chase, "local"), tenant("far", 1, stream, "remote")]);
    let r = results(&forwarder(&[
        numa("332.8 Gbps"),
        ("/traffic", Value::Null),
        ("/tenants", tenants),
    ]));
    let [near, far] = &r.memory.nodes[..] else { panic!("two nodes") };
    let reads = |node: &NodeTraffic| {
        let (reads, _): (Vec<_>, Vec<_>) =
            node.causes.iter().partition(|cause| cause.cause.ends_with("-rd"));
        reads.iter().map(|cause| cause.lines).sum::<u64>() as f64
    };
    let ns = |node: &NodeTraffic| node.read_latency_ns.expect("it reads");
    // The chase waits for nobody, and the stream for itself.
    let alone = results(&xmem("random-chained", "1 MiB", &[])).dram.read_latency.mean_ns;
    assert_close(ns(near), alone, 0.02);
    assert!(ns(far) > 1.5 * alone, "{} and {alone}", ns(far));
    let both = (reads(near) * ns(near) + reads(far) * ns(far)) / (reads(near) + reads(far));
    assert_close(r.dram.read_latency.mean_ns, both, 0.01);
    // A single node has nothing to tell apart.
    assert!(results(&self::stream(&[])).memory.nodes.is_empty());
}

#[test]
fn home_trackers_bound_the_reads_under_way() {
    let of = |trackers: Value| {
        let r = results(&stream(&[("/machine/llc/home_trackers", trackers)]));
        lines(&r, "cpu-other-rd") as f64 / r.measured_ns * r.dram.read_latency.mean_ns
    };
    // Little's law: reads in the channel on average. A tracker is held a little longer than that.
    assert!(of(1000.into()) > 8.0);
    let four = of(4.into());
    assert!(four > 2.0 && four < 4.0, "{four} reads under way with four trackers");
}
