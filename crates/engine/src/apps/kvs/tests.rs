use super::config::Spike;
use super::*;
use crate::apps::config::Settings;
use crate::apps::sharing::Sharing;
use crate::check::violations;
use crate::units::{Duration, Share, Size};

/// The paper's store at 1/16 of its keys, buckets and log: the same ratios, built in no time.
fn small() -> KvsConfig {
    KvsConfig { keys: 150_000, buckets: 1 << 16, log: Size(16 << 20), ..KvsConfig::default() }
}

fn build(config: &KvsConfig) -> Kvs {
    assert_eq!(violations(|check| config.check(check)), []);
    Kvs::new(config, 2, 1, &mut AddressSpace::default())
}

const RX: Line = 1 << 30;
const TX: Line = 1 << 31;

fn packet(kvs: &Kvs, seq: u64) -> Packet {
    let bytes = kvs.request_bytes(seq).unwrap_or(64);
    Packet { seq, rx: RX, tx: TX, bytes, flow: 0, buffer: 0 }
}

/// Loads and stores of each region.
#[derive(Debug, Default, PartialEq, Eq)]
struct Touched {
    rx_loads: u32,
    tx_stores: u32,
    index_loads: u32,
    index_stores: u32,
    log_loads: u32,
    log_stores: u32,
    swept: u32,
}

fn touched(kvs: &Kvs, ops: &Ops) -> Touched {
    let mut t = Touched::default();
    let in_log =
        |line| kvs.shards.iter().any(|s| (s.log..s.log + s.store.log_lines()).contains(&line));
    for op in ops.iter() {
        let counter = match op {
            Op::Load { kind: LineKind::Rx, .. } => &mut t.rx_loads,
            Op::Store { kind: LineKind::Tx, .. } => &mut t.tx_stores,
            Op::Load { line, kind: LineKind::App, .. } if in_log(line) => &mut t.log_loads,
            Op::Store { line, kind: LineKind::App, .. } if in_log(line) => &mut t.log_stores,
            Op::Load { kind: LineKind::App, .. } => &mut t.index_loads,
            Op::Store { kind: LineKind::App, .. } => &mut t.index_stores,
            Op::Sweep { .. } => &mut t.swept,
            Op::Compute { .. } | Op::Delay { .. } => continue,
            other => panic!("an application emits no {other:?}"),
        };
        *counter += 1;
    }
    t
}

/// What the first request of each outcome touches, and its verdict.
fn outcomes(config: &KvsConfig) -> [(Touched, Verdict); 4] {
    let mut kvs = build(config);
    let mut seen = [const { None }; 4];
    for seq in 0.. {
        let before = kvs.counters;
        let mut ops = Ops::new(true);
        let verdict = kvs.on_packet(0, &packet(&kvs, seq), &mut ops);
        let after = kvs.counters;
        let outcome = match () {
            () if after.sets_in_place > before.sets_in_place => 0,
            () if after.sets_appended > before.sets_appended => 1,
            () if after.get_hits > before.get_hits => 2,
            () => 3,
        };
        seen[outcome].get_or_insert((touched(&kvs, &ops), verdict));
        if seen.iter().all(Option::is_some) {
            break;
        }
    }
    seen.map(|outcome| outcome.expect("the loop ends when all were seen"))
}

#[test]
fn requests_touch_the_lines_of_the_table_above() {
    let [in_place, appended, hit, miss] = outcomes(&small());
    let set = Touched {
        rx_loads: 16,
        index_loads: 2,
        log_stores: 16,
        tx_stores: 1,
        swept: 16,
        ..Touched::default()
    };
    let get = Touched { rx_loads: 1, index_loads: 2, swept: 1, ..Touched::default() };
    assert_eq!(in_place, (Touched { log_loads: 1, ..set }, Verdict::Reply { bytes: 64 }));
    assert_eq!(
        appended,
        (Touched { log_loads: 0, index_stores: 2, ..set }, Verdict::Reply { bytes: 64 })
    );
    assert_eq!(
        hit,
        (Touched { log_loads: 16, tx_stores: 16, ..get }, Verdict::Reply { bytes: 1024 })
    );
    assert_eq!(miss, (Touched { tx_stores: 1, ..get }, Verdict::Reply { bytes: 64 }));
}

#[test]
fn network_headers_shift_packets_but_not_entries() {
    // 42 + 1024 bytes are 17 lines of packet; the entry keeps its 16.
    let config = KvsConfig { network_header: Size(42), ..small() };
    let [(in_place, _), _, (hit, verdict), _] = outcomes(&config);
    assert_eq!((in_place.rx_loads, in_place.log_stores, in_place.swept), (17, 16, 17));
    assert_eq!((hit.log_loads, hit.tx_stores), (16, 17));
    assert_eq!(verdict, Verdict::Reply { bytes: 1066 });
}

/// Share of SETs in place, in percent, over the next `requests` requests.
fn in_place_percent(kvs: &mut Kvs, first_seq: u64, requests: u64) -> f64 {
    kvs.reset_counters();
    let mut ops = Ops::new(false);
    for seq in first_seq..first_seq + requests {
        ops.clear();
        kvs.on_packet(0, &packet(kvs, seq), &mut ops);
    }
    let c = kvs.counters;
    100.0 * c.sets_in_place as f64 / (c.sets_in_place + c.sets_appended) as f64
}

#[test]
fn the_store_is_warm() {
    let mut kvs = build(&small());
    // 16 384 entries in the log; a quarter of the requests or less append, so 200 000 requests are
    // more than two rounds of the log, and a million more are more than ten.
    let first = in_place_percent(&mut kvs, 0, 200_000);
    in_place_percent(&mut kvs, 200_000, 1_000_000);
    let late = in_place_percent(&mut kvs, 1_200_000, 200_000);
    // Binomial: sigma of one share = 0.1 points.
    assert!((first - late).abs() < 0.5, "{first} % in place at first, {late} % later");
}

/// Share of requests, in percent, that find their key in a FIFO of `entries` under independent
/// zipf requests: key `i` is present with probability `p_i t / (1 + p_i t)`, where `t` makes these
/// add up to the capacity (Gelenbe, "A Unified Approach to the Evaluation of a Class of Replacement
/// Algorithms", IEEE Trans. Computers C-22(6), 1973; the form with `t`: Martina, Garetto, Leonardi,
/// INFOCOM 2014).
fn fifo_hit_percent(keys: u32, exponent: f64, entries: f64) -> f64 {
    let powers: Vec<f64> = (1..=keys).map(|r| libm::pow(f64::from(r), -exponent)).collect();
    let norm: f64 = powers.iter().sum();
    let present = |power: f64, t: f64| power / norm * t / (1.0 + power / norm * t);
    let (mut low, mut high) = (0.0, 1e12);
    for _ in 0..60 {
        let t = (low + high) / 2.0;
        let filled: f64 = powers.iter().map(|&power| present(power, t)).sum();
        if filled < entries { low = t } else { high = t }
    }
    100.0 * powers.iter().map(|&power| power / norm * present(power, low)).sum::<f64>()
}

#[test]
fn the_log_keeps_what_the_theory_of_fifo_caches_says() {
    // The paper's own store: 256 MB of 1-KB entries.
    let mut kvs = build(&KvsConfig::default());
    let simulated = in_place_percent(&mut kvs, 0, 1_000_000);
    let theory = fifo_hit_percent(2_400_000, 0.99, 262_144.0);
    assert!((simulated - theory).abs() < 0.5, "{simulated} % in place, {theory} % in theory");
    let c = kvs.counters;
    let gets = 100.0 * c.get_hits as f64 / (c.get_hits + c.get_misses) as f64;
    // Binomial over 50 000 GETs: sigma = 0.2 points.
    assert!((gets - theory).abs() < 1.2, "{gets} % of GETs hit, {theory} % in theory");
}

#[test]
fn the_mix_is_the_one_asked_for() {
    let mut kvs = build(&small());
    in_place_percent(&mut kvs, 0, 200_000);
    let c = kvs.counters;
    let gets = 100.0 * (c.get_hits + c.get_misses) as f64 / 200_000.0;
    // Binomial: sigma = 0.05 points.
    assert!((gets - 5.0).abs() < 0.25, "{gets} % GETs");
    assert_eq!(c.spikes, 0);
}

#[test]
fn spikes_strike_as_often_and_last_as_long_as_asked() {
    let spike =
        Spike { probability: Share(1_000), min: Duration(1_000_000), max: Duration(100_000_000) };
    let mut kvs = build(&KvsConfig { spike: Some(spike), ..small() });
    let (mut delays, mut ops) = (Vec::new(), Ops::new(false));
    for seq in 0..200_000 {
        ops.clear();
        kvs.on_packet(0, &packet(&kvs, seq), &mut ops);
        delays.extend(ops.iter().filter_map(|op| match op {
            Op::Delay { ns } => Some(ns),
            _ => None,
        }));
    }
    assert_eq!(kvs.counters.spikes, delays.len() as u64);
    // Binomial: 2000, sigma 45; uniform in 1..=100 us: mean 50.5 us, sigma of the mean 0.64 us.
    assert!(delays.len().abs_diff(2000) < 225, "{}", delays.len());
    assert!(delays.iter().all(|ns| (1_000..=100_000).contains(ns)));
    let mean = delays.iter().map(|&ns| f64::from(ns)).sum::<f64>() / delays.len() as f64;
    assert!((mean - 50_500.0).abs() < 3_200.0, "{mean}");
}

#[test]
fn the_size_of_a_captured_packet_decides() {
    let config = KvsConfig { requests: Requests::FromSize, set_from: Size(200), ..small() };
    let mut kvs = build(&config);
    assert_eq!(kvs.request_bytes(0), None);
    let mut ops = Ops::new(false);
    let mut serve = |seq, bytes| {
        ops.clear();
        let packet = Packet { bytes, ..packet(&kvs, seq) };
        kvs.on_packet(0, &packet, &mut ops);
        (kvs.client.key(seq), kvs.counters)
    };
    let (key, c) = serve(0, 200);
    assert_eq!(c.sets_in_place + c.sets_appended, 1);
    let (_, c) = serve(1, 199);
    assert_eq!(c.get_hits + c.get_misses, 1);
    assert!(matches!(kvs.shards[0].store.get(key), Found::Live(Place { value: 180, .. })));
}

#[test]
fn two_stores_of_one_seed_emit_the_same() {
    let (mut a, mut b) = (build(&small()), build(&small()).clone());
    for seq in 0..1000 {
        let (mut ops_a, mut ops_b) = (Ops::new(true), Ops::new(true));
        a.on_packet(0, &packet(&a, seq), &mut ops_a);
        b.on_packet(1, &packet(&b, seq), &mut ops_b);
        assert!(ops_a.iter().eq(ops_b.iter()), "request {seq}");
    }
}

#[test]
fn stores_of_two_cores_share_nothing() {
    let config = KvsConfig { stores: Sharing::PerCore, ..small() };
    let mut kvs = build(&config);
    let mut lines = [const { std::collections::BTreeSet::new() }; 2];
    for seq in 0..2000 {
        let core = seq % 2;
        let mut ops = Ops::new(false);
        kvs.on_packet(core as u32, &packet(&kvs, seq), &mut ops);
        for op in ops.iter() {
            if let Op::Load { line, kind: LineKind::App, .. }
            | Op::Store { line, kind: LineKind::App, .. } = op
            {
                lines[core as usize].insert(line);
            }
        }
    }
    assert!(lines[0].len() > 1000 && lines[0].is_disjoint(&lines[1]));
}
