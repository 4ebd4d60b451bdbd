//! The model as a whole: earliest clocks, the standards' rules, conservation, determinism.

use std::ops::Range;

use proptest::prelude::*;

use super::jedec::Judge;
use super::trace::{Command, Kind};
use super::*;
use crate::testing::cases;

/// Four ranks of two groups of four banks, DDR4-3200, no refresh.
fn config() -> DramConfig {
    DramConfig {
        standard: Standard::Ddr4_3200aa,
        channels: 1,
        ranks: 4,
        bank_groups: 2,
        banks_per_group: 4,
        rows: 1024,
        columns: 128,
        density: Density::Gb8,
        device_width: DeviceWidth::X8,
        read_queue: 32,
        write_queue: 32,
        drain_high_percent: 80,
        drain_low_percent: 20,
        reads_between_drains: 0,
        admission: Admission::Separate,
        write_to_read: WriteToRead::SameRank,
        row_policy: RowPolicy::Open,
        refresh: Refresh::Off,
        // From the right: 16 bursts of a row, 4 ranks, 2 groups, 4 banks, rows.
        mapping: "row-bank-rank-column-channel".parse().unwrap(),
        timings: TimingOverrides::default(),
    }
}

const RANK: u32 = 16;
const GROUP: u32 = 64;
const BANK: u32 = 128;
const ROW: u32 = 512;

/// Pushes the requests at their clocks, in order, as soon as there is room, until all are done.
fn run(cfg: &DramConfig, requests: &[(u64, u32, bool)]) -> (Dram, Vec<Done>) {
    let mut dram = Dram::new(cfg).unwrap();
    let clock = cfg.standard.clock();
    let mut wake = vec![Ps::MAX; dram.channels()];
    let mut done = Vec::new();
    let mut now = Ps::ZERO;
    let mut next = requests.iter().enumerate().peekable();
    loop {
        while let Some(&(tag, &(at, line, write))) = next.peek() {
            let channel = dram.channel_of(line);
            if clock.at(at) > now || !dram.can_accept(channel, write) {
                break;
            }
            wake[channel] = dram.push(now, channel, line, write, tag as u32);
            next.next();
        }
        let first = wake.iter().copied().min().unwrap();
        let arrival = next.peek().map_or(Ps::MAX, |(_, r)| clock.at(r.0));
        now = if arrival > now { first.min(arrival) } else { first };
        if now == Ps::MAX {
            assert!(next.next().is_none(), "the channels sleep while requests wait");
            return (dram, done);
        }
        for (channel, wake) in wake.iter_mut().enumerate() {
            if *wake <= now {
                let known = done.len();
                *wake = dram.advance(channel, now, &mut done);
                assert!(*wake > now, "advance must move on");
                assert!(done[known..].iter().all(|d| d.at >= now), "completions come in time");
            }
        }
    }
}

fn trace(dram: &Dram) -> &[Command] {
    trace_of(dram, 0)
}

fn trace_of(dram: &Dram, channel: usize) -> &[Command] {
    with!(&dram.channels, c => &c[channel].trace.commands)
}

/// The clocks of the commands of a kind.
fn clocks(dram: &Dram, kind: Kind) -> Vec<u64> {
    trace(dram).iter().filter(|c| c.kind == kind).map(|c| c.clock).collect()
}

const READ: Kind = Kind::Read { close: false };
const WRITE: Kind = Kind::Write { close: false };

#[test]
fn a_read_of_a_closed_bank_takes_trcd_tcl_and_the_burst() {
    let (dram, done) = run(&config(), &[(10, 0, false)]);
    // The controller sees the read in the clock after its arrival.
    assert_eq!(clocks(&dram, Kind::Activate), [11]);
    assert_eq!(clocks(&dram, READ), [11 + 22]);
    assert_eq!(done, [Done { tag: 0, write: false, at: Ps((11 + 22 + 22 + 4) * 625) }]);
}

#[test]
fn a_row_conflict_adds_trp_and_the_unloaded_latency_is_that_of_the_curves() {
    let (dram, done) = run(&config(), &[(0, 0, false), (1000, ROW, false)]);
    assert_eq!(clocks(&dram, Kind::Precharge), [1001]);
    assert_eq!(clocks(&dram, Kind::Activate), [1, 1001 + 22]);
    // 44.4 ns, as published.
    assert_eq!(done[1].at - Ps(1000 * 625), Ps(71 * 625));
}

#[test]
fn a_row_hit_takes_tcl_and_the_burst() {
    let (dram, done) = run(&config(), &[(0, 0, false), (1000, 1, false)]);
    assert_eq!(clocks(&dram, READ), [23, 1001]);
    assert_eq!(done[1].at, Ps((1001 + 26) * 625));
    assert_eq!(dram.stats(0, done[1].at).read_rows.hits, 1);
}

#[test]
fn an_idle_read_takes_the_unloaded_time_of_its_row_state() {
    let ddr4 = config();
    let ddr5 = DramConfig { standard: Standard::Ddr5_4800, columns: 256, ..config() };
    let forms = [(&ddr4, [27, 49, 71]), (&ddr5, [50, 89, 127])];
    for (memory, clocks) in forms {
        let unloaded = UnloadedRead::new(memory);
        assert_eq!([unloaded.hit, unloaded.miss, unloaded.conflict], clocks);
        let of = |hits, misses, conflicts| Rows { hits, misses, conflicts };
        let reads = [
            (1, unloaded.hit, of(1, 1, 0)),
            (BANK, unloaded.miss, of(0, 2, 0)),
            (ROW, unloaded.conflict, of(0, 1, 1)),
        ];
        let clock = memory.standard.clock();
        for (line, takes, rows) in reads {
            // The first read opens a row.
            let (dram, done) = run(memory, &[(0, 0, false), (1000, line, false)]);
            assert_eq!(done[0].at, clock.at(unloaded.miss));
            assert_eq!(done[1].at, clock.at(1000 + takes), "{:?}: {rows:?}", memory.standard);
            assert_eq!(dram.stats(0, done[1].at).read_rows, rows);
        }
        let mean = unloaded.mean_ns(of(1, 2, 1)).expect("there are reads");
        let wanted = clock.at(clocks[0] + 2 * clocks[1] + clocks[2]).as_ns_f64() / 4.0;
        assert_eq!((mean, unloaded.mean_ns(Rows::default())), (wanted, None));
    }
}

#[test]
fn a_conflict_waits_for_tras_and_a_write_for_twr() {
    let (dram, _) = run(&config(), &[(0, 0, false), (0, ROW, false)]);
    assert_eq!(clocks(&dram, Kind::Activate), [1, 1 + 74], "tRAS + tRP");
    let (dram, _) = run(&config(), &[(0, 0, true), (0, ROW, true)]);
    assert_eq!(clocks(&dram, WRITE)[0], 23);
    assert_eq!(clocks(&dram, Kind::Precharge), [23 + 16 + 4 + 24], "tCWL + tBL + tWR");
}

#[test]
fn hits_follow_at_tccd_l_in_a_group_and_at_tccd_s_across_groups() {
    let (dram, _) = run(&config(), &[(0, 0, false), (0, 1, false), (0, 2, false)]);
    assert_eq!(clocks(&dram, READ), [23, 31, 39]);
    let open = [(0, 0, false), (0, GROUP, false)];
    let hits = [(500, 1, false), (500, GROUP + 1, false), (500, 2, false)];
    let (dram, _) = run(&config(), &[open.as_slice(), hits.as_slice()].concat());
    assert_eq!(clocks(&dram, READ)[2..], [501, 505, 509]);
}

#[test]
fn activates_keep_trrd_and_tfaw() {
    // Eight banks of rank 0: groups alternate.
    let banks: Vec<_> = (0..8).map(|i| (0, (i % 2) * GROUP + (i / 2) * BANK, false)).collect();
    let (dram, _) = run(&config(), &banks);
    // tRRD_S 4, tRRD_L 8 within the group; the fifth waits for tFAW 34 after the first, and one
    // clock more, because the read of the fourth (13 + tRCD) takes the command bus.
    assert_eq!(clocks(&dram, Kind::Activate), [1, 5, 9, 13, 36, 40, 44, 48]);
    let (dram, _) = run(&config(), &[(0, 0, false), (0, BANK, false)]);
    assert_eq!(clocks(&dram, Kind::Activate), [1, 9], "tRRD_L");
}

#[test]
fn the_data_bus_turns_around_between_reads_writes_and_ranks() {
    // Open two rows in rank 0 (different groups) and one in rank 1, then access all of them.
    let open = [(0, 0, false), (0, GROUP, false), (0, RANK, false)];
    let of = |cfg: &DramConfig, requests: &[(u64, u32, bool)]| {
        let (dram, _) = run(cfg, &[open.as_slice(), requests].concat());
        let columns: Vec<u64> = trace(&dram)
            .iter()
            .filter(|c| c.kind == READ || c.kind == WRITE)
            .map(|c| c.clock)
            .collect();
        columns[4] - columns[3]
    };
    let second = |requests: &[(u64, u32, bool)]| of(&config(), requests);
    assert_eq!(second(&[(500, 1, false), (500, RANK + 1, false)]), 6, "tBL + switch");
    assert_eq!(second(&[(500, 1, false), (501, GROUP + 1, true)]), 12, "tCL + tBL + 2 - tCWL");
    assert_eq!(second(&[(500, 1, false), (501, RANK + 1, true)]), 12, "tCL + tBL + 2 - tCWL");
    assert_eq!(second(&[(500, 1, true), (501, GROUP + 1, false)]), 24, "tCWL + tBL + tWTR_S");
    assert_eq!(second(&[(500, 1, true), (501, 2, false)]), 32, "tCWL + tBL + tWTR_L");
    assert_eq!(second(&[(500, 1, true), (502, RANK + 1, false)]), 2, "the bus is free before");
    let all_ranks = DramConfig { write_to_read: WriteToRead::AllRanks, ..config() };
    let after_write = |line: u32| of(&all_ranks, &[(500, 1, true), (502, line, false)]);
    assert_eq!(after_write(RANK + 1), 24, "tCWL + tBL + tWTR_S");
    assert_eq!(after_write(2), 32, "tCWL + tBL + tWTR_L");
}

#[test]
fn row_policies_close_rows() {
    let with = |row_policy, requests: &[(u64, u32, bool)]| {
        run(&DramConfig { row_policy, ..config() }, requests).0
    };
    let two = [(0, 0, false), (1000, ROW, false)];
    let closed = with(RowPolicy::Closed, &two);
    assert_eq!(clocks(&closed, Kind::Read { close: true }), [23, 1001 + 22]);
    assert!(clocks(&closed, Kind::Precharge).is_empty());
    // tRAS after the activate.
    let after_one = with(RowPolicy::CloseAfter(1), &two);
    assert_eq!(clocks(&after_one, Kind::Precharge)[0], 1 + 52);
    let after_two = with(RowPolicy::CloseAfter(2), &two);
    assert_eq!(clocks(&after_two, Kind::Precharge)[0], 1001, "a conflict");
    let timeout = with(RowPolicy::Timeout(200), &two);
    assert_eq!(clocks(&timeout, Kind::Precharge)[0], 23 + 200);
    assert_eq!(timeout.stats(0, Ps(2_000_000)).read_rows.conflicts, 0);
}

#[test]
fn a_closed_adaptive_row_stays_open_for_a_waiting_request_of_the_same_queue() {
    let run = |requests: &[(u64, u32, bool)]| {
        run(&DramConfig { row_policy: RowPolicy::ClosedAdaptive, ..config() }, requests).0
    };
    let closing = |close| Kind::Read { close };
    // The first is the one that the row is opened for, the second waits with the third behind it.
    let waiting = run(&[(0, 0, false), (0, 1, false), (0, 2, false), (1000, 3, false)]);
    assert_eq!(clocks(&waiting, closing(false)), [23, 23 + 8], "tCCD_L");
    assert_eq!(clocks(&waiting, closing(true)), [23 + 16, 1001 + 22], "closed in between");
    assert!(clocks(&waiting, Kind::Precharge).is_empty());
    let rows = waiting.stats(0, Ps(2_000_000)).read_rows;
    assert_eq!((rows.hits, rows.misses, rows.conflicts), (2, 2, 0));
    // A request that wants another row, and one of the queue that is not served, keep nothing open.
    let another = run(&[(0, 0, false), (0, ROW, false)]);
    assert_eq!(clocks(&another, closing(true)), [23, 1 + 52 + 22 + 22], "tRAS, tRP, tRCD");
    let of_writes = run(&[(0, 0, false), (0, 1, true)]);
    assert_eq!(clocks(&of_writes, closing(true)), [23]);
    assert_eq!(clocks(&of_writes, Kind::Activate).len(), 2);
}

#[test]
fn a_young_conflict_does_not_close_a_row_that_an_older_read_wants() {
    // The second hit may follow only tCCD_L after the first; the conflict could precharge (tRTP
    // and tRAS have passed with this tRTP) before that.
    let timings = TimingOverrides { rtp: Some(1), ..TimingOverrides::default() };
    let cfg = DramConfig { timings, ..config() };
    let hits = [(0, 0, false), (500, 1, false), (500, 2, false), (500, ROW, false)];
    let (dram, _) = run(&cfg, &hits);
    assert_eq!(clocks(&dram, READ)[..3], [23, 501, 509]);
    assert_eq!(clocks(&dram, Kind::Precharge), [510]);
}

#[test]
fn writes_wait_for_the_high_watermark_and_drain_to_the_low_one() {
    // While reads wait: 80 % of 32 places are 25, so the 26th write begins a drain, which leaves six,
    // fewer than 20 %.
    let before_the_last_read = |cfg: &DramConfig, writes: u32| {
        let reads =
            |range: Range<u32>, at| range.map(move |i| (at, i % 8 * BANK + i / 8 * ROW, false));
        let mut requests: Vec<_> = reads(0..30, 0).collect();
        requests.extend((0..writes).map(|i| (2 + u64::from(i), RANK + i * ROW, true)));
        requests.extend(reads(30..400, 40));
        let (dram, _) = run(cfg, &requests);
        let (reads, writes) = (clocks(&dram, READ), clocks(&dram, WRITE));
        writes.iter().filter(|&clock| clock < reads.last().unwrap()).count()
    };
    assert_eq!(before_the_last_read(&config(), 25), 0);
    assert_eq!(before_the_last_read(&config(), 26), 20);
    // A full queue is drained whatever the high watermark, and a drain ends whatever the low one.
    let extreme = DramConfig { drain_high_percent: 100, drain_low_percent: 0, ..config() };
    assert_eq!(before_the_last_read(&extreme, 31), 0);
    assert_eq!(before_the_last_read(&extreme, 32), 32);
}

#[test]
fn so_many_reads_are_served_between_drains() {
    // Both queues stay full until the reads are served: a drain takes four writes, from 32 down to 28.
    let requests: Vec<_> =
        (0..400u32).map(|i| (0, i / 2 * ROW + i % 2 * RANK, i % 2 == 1)).collect();
    let drains = |reads_between_drains| {
        let queues = DramConfig { drain_high_percent: 99, drain_low_percent: 89, ..config() };
        let (dram, done) = run(&DramConfig { reads_between_drains, ..queues }, &requests);
        dram.stats(0, done.last().unwrap().at).write_drains
    };
    assert!(drains(0) > 20);
    assert!((200 / 16 - 2..=200 / 16 + 1).contains(&drains(16)), "{}", drains(16));
}

#[test]
fn a_read_of_a_waiting_write_is_answered_from_the_queue() {
    // The bank is busy with row 0 when the write to row 1 and then its read arrive.
    let requests = [(0, 0, false), (2, ROW, true), (3, ROW, false), (4, ROW, true)];
    let (dram, mut done) = run(&config(), &requests);
    done.sort_unstable_by_key(|d| d.tag);
    assert_eq!(done[2].at, Ps(4 * 625));
    assert_eq!(done[3].at, Ps(5 * 625));
    let stats = dram.stats(0, Ps(1_000_000));
    assert_eq!((stats.forwarded_reads, stats.coalesced_writes), (1, 1));
    assert_eq!((stats.reads, stats.writes), (1, 1));
}

#[test]
fn an_idle_channel_sleeps_and_makes_up_for_its_refreshes() {
    let cfg = DramConfig { refresh: Refresh::AllRanks, ..config() };
    let (dram, done) = run(&cfg, &[(0, 0, false), (100 * 12480 - 1, 0, false)]);
    // The row was closed by the first refresh; the second read comes just before the hundredth.
    assert_eq!(clocks(&dram, Kind::Refresh).len(), 100 * 4, "those due while it is under way too");
    assert!(done[1].at > Ps(100 * 12480 * 625));
    let mut idle = Dram::new(&cfg).unwrap();
    assert_eq!(idle.advance(0, Ps(12480 * 625 * 10), &mut Vec::new()), Ps::MAX);
    assert_eq!(idle.stats(0, Ps(12480 * 625 * 10)).refreshes, 9 * 4 + 1);
}

#[test]
fn ddr5_commands_take_two_clocks() {
    let cfg = DramConfig { standard: Standard::Ddr5_4800, ..config() };
    let (dram, done) = run(&cfg, &[(0, 0, false), (0, RANK, false)]);
    assert_eq!(clocks(&dram, Kind::Activate), [1, 3], "other rank, next free command slot");
    assert_eq!(clocks(&dram, READ)[0], 1 + 39);
    // Counted from the second half of the command; 416 2/3 ps per clock.
    assert_eq!(done[0].at, cfg.standard.clock().at(40 + 1 + 40 + 8));
}

#[test]
fn counters_add_up_and_start_afresh() {
    let requests: Vec<_> =
        (0..200).map(|i: u32| (u64::from(i) * 7, i * 977, i.is_multiple_of(3))).collect();
    let (mut dram, done) = run(&config(), &requests);
    let end = done.iter().map(|d| d.at).max().unwrap();
    let s = dram.stats(0, end);
    assert_eq!(s.reads + s.writes + s.forwarded_reads + s.coalesced_writes, 200);
    assert_eq!((s.read_rows.all(), s.write_rows.all()), (s.reads, s.writes));
    assert_eq!(s.data_bus_busy, Ps((s.reads + s.writes) * 4 * 625));
    assert!(s.read_queue_time > Ps::ZERO && s.read_queue_time < Ps(end.0 * 32));
    dram.reset_stats(end);
    assert_eq!(dram.stats(0, end), ChannelStats::default());
}

/// Counting begins in mid-operation: what the channel does up to then, even if it has not been advanced
/// that far yet, does not count, and neither does a wait that began before.
#[test]
fn what_was_due_when_counting_begins_does_not_count() {
    let mut dram = Dram::new(&config()).unwrap();
    for i in 0..4 {
        dram.push(Ps(0), 0, i * 977, false, i);
    }
    let now = Ps(100_000);
    dram.reset_stats(now);
    let later = Ps(200_000);
    dram.advance(0, later, &mut Vec::new());
    assert_eq!(dram.stats(0, later), ChannelStats::default());
}

#[test]
fn a_clone_is_a_snapshot() {
    let mut dram = Dram::new(&DramConfig { refresh: Refresh::Staggered, ..config() }).unwrap();
    let push = |dram: &mut Dram, from: u32| {
        for i in from..from + 30 {
            dram.push(Ps(u64::from(i) * 5_000), 0, i * 977, i.is_multiple_of(4), i);
        }
    };
    let finish = |dram: &mut Dram| {
        let mut done = Vec::new();
        let mut wake = dram.advance(0, Ps(60 * 5_000), &mut done);
        while wake != Ps::MAX {
            wake = dram.advance(0, wake, &mut done);
        }
        done
    };
    push(&mut dram, 0);
    let mut copy = dram.clone();
    push(&mut dram, 30);
    let done = finish(&mut dram);
    push(&mut copy, 30);
    assert_eq!(finish(&mut copy), done);
    assert_eq!(done.len(), 60);
}

#[test]
fn the_configuration_has_defaults_and_refuses_what_makes_no_sense() {
    let text = r#"{ "standard": "DDR5-4800", "channels": 2, "ranks": 1, "bank_groups": 8,
        "banks_per_group": 4, "rows": 65536, "columns": 1024,
        "row_policy": { "close-after": 4 }, "timings": { "rfc": 700 } }"#;
    let cfg: DramConfig = serde_json::from_str(text).unwrap();
    assert_eq!(cfg.row_policy, RowPolicy::CloseAfter(4));
    assert_eq!((cfg.read_queue, cfg.refresh), (32, Refresh::Staggered));
    assert_eq!((cfg.resolved_timings().rfc, cfg.resolved_timings().ccd_l_wr), (700, 24));
    let x4 = DramConfig { device_width: DeviceWidth::X4, ..cfg.clone() };
    assert_eq!(x4.resolved_timings().ccd_l_wr, 48);
    assert_eq!(cfg.capacity_bytes(), 2 * 32 * 65536 * 4096);
    let again: DramConfig = serde_json::from_str(&serde_json::to_string(&cfg).unwrap()).unwrap();
    assert_eq!(cfg, again);
    assert!(serde_json::from_str::<DramConfig>(&text.replace("ranks", "rank")).is_err());

    let error = |change: fn(&mut DramConfig)| {
        let mut cfg = config();
        change(&mut cfg);
        Dram::new(&cfg).unwrap_err().to_string()
    };
    assert_eq!(error(|c| c.ranks = 0), "ranks = 0; expected 1 to 16");
    assert!(error(|c| c.columns = 12).contains("a multiple of 8, the burst of the standard"));
    assert!(
        error(|c| c.drain_low_percent = 90)
            .contains("less than machine.dram.drain_high_percent (80)")
    );
    assert!(error(|c| (c.ranks, c.bank_groups) = (16, 16)).contains("at most 256 banks"));
    assert!(error(|c| c.row_policy = RowPolicy::Timeout(0)).contains("row_policy.timeout = 0"));
    let often = |c: &mut DramConfig| {
        (c.refresh, c.timings.refi) = (Refresh::AllRanks, Some(100));
    };
    assert!(error(often).contains("a round of refreshes"));
}

#[test]
fn presets_are_those_of_the_standards() {
    // (tRAS, tWR, tRTP, tCCD_L, tRRD_L, tWTR_L, tFAW, tREFI) in clocks, x8.
    let clocks = |standard| {
        let t = DramConfig { standard, ..config() }.resolved_timings();
        (t.ras, t.wr, t.rtp, t.ccd_l, t.rrd_l, t.wtr_l, t.faw, t.refi)
    };
    assert_eq!(clocks(Standard::Ddr4_2400), (39, 18, 9, 6, 6, 9, 26, 9360));
    assert_eq!(clocks(Standard::Ddr4_2666), (43, 20, 10, 7, 7, 10, 28, 10400));
    assert_eq!(clocks(Standard::Ddr4_2933), (47, 22, 11, 8, 8, 11, 31, 11440));
    assert_eq!(clocks(Standard::Ddr4_3200aa), (52, 24, 12, 8, 8, 12, 34, 12480));
    assert_eq!(clocks(Standard::Ddr5_4800), (77, 72, 18, 12, 12, 24, 32, 9360));
    assert_eq!(clocks(Standard::Ddr5_5600), (90, 84, 21, 14, 14, 28, 32, 10920));
}

/// DDR4 has a single interval between column commands, for reads and writes alike.
#[test]
fn writes_follow_the_interval_that_is_set_for_reads_of_ddr4() {
    let timings = TimingOverrides { ccd_s: Some(5), ccd_l: Some(7), ..Default::default() };
    let t = DramConfig { timings, ..config() }.resolved_timings();
    assert_eq!((t.ccd_s_wr, t.ccd_l_wr), (5, 7));
    let timings = TimingOverrides { ccd_l_wr: Some(9), ..timings };
    assert_eq!(DramConfig { timings, ..config() }.resolved_timings().ccd_l_wr, 9);
    let ddr5 = DramConfig { standard: Standard::Ddr5_4800, timings, ..config() };
    let timings = TimingOverrides { ccd_l_wr: None, ..timings };
    assert_eq!(DramConfig { timings, ..ddr5 }.resolved_timings().ccd_l_wr, 24);
}

/// Random traffic with some locality, so that there are hits, conflicts and forwarding.
fn traffic() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let request = (0u64..12, prop_oneof![0u32..64, 0u32..4096, 0u32..1 << 31], any::<bool>());
    (prop::collection::vec(request, 1..600), 1u64..8, 0u32..3, any::<u64>()).prop_map(
        |(requests, spread, writes, pause)| {
            let mut clock = 0;
            let mut out = Vec::with_capacity(requests.len());
            for (i, (gap, line, write)) in requests.into_iter().enumerate() {
                clock += gap * spread;
                if i == 100 {
                    clock += pause % 40_000;
                }
                out.push((clock, line, write && (writes > 0 || line.is_multiple_of(4))));
            }
            out
        },
    )
}

fn any_config() -> impl Strategy<Value = DramConfig> {
    let standard = prop_oneof![
        Just(Standard::Ddr4_2400),
        Just(Standard::Ddr4_2933),
        Just(Standard::Ddr4_3200aa),
        Just(Standard::Ddr5_4800),
        Just(Standard::Ddr5_5600),
    ];
    let row_policy = prop_oneof![
        Just(RowPolicy::Open),
        Just(RowPolicy::Closed),
        Just(RowPolicy::ClosedAdaptive),
        (1u32..5).prop_map(RowPolicy::CloseAfter),
        (1u32..300).prop_map(RowPolicy::Timeout),
    ];
    let refresh =
        prop_oneof![Just(Refresh::Off), Just(Refresh::AllRanks), Just(Refresh::Staggered)];
    let mapping = prop_oneof![
        Just("row-bank-rank-column-channel"),
        Just("row-rank-bank-column-channel"),
        Just("row-column-rank-bank-channel"),
        Just("channel-rank-bank-row-column"),
        Just("row-bank-column-rank-bankgroup-channel"),
    ];
    let width = prop_oneof![Just(DeviceWidth::X4), Just(DeviceWidth::X8), Just(DeviceWidth::X16)];
    let sizes = (1u32..3, 1u32..5, 1u32..5, 1u32..5, 1u32..40, 1u32..20);
    let queues = (1u32..40, 1u32..40, 1u32..101, 0u32..100, 0u32..20);
    let write_to_read = prop_oneof![Just(WriteToRead::SameRank), Just(WriteToRead::AllRanks)];
    let rules = (row_policy, refresh, write_to_read);
    (standard, rules, mapping, width, sizes, queues).prop_map(
        |(standard, rules, mapping, device_width, sizes, queues)| DramConfig {
            standard,
            channels: sizes.0,
            ranks: sizes.1,
            bank_groups: sizes.2,
            banks_per_group: sizes.3,
            rows: sizes.4,
            columns: sizes.5 * 16,
            density: Density::Gb8,
            device_width,
            read_queue: queues.0,
            write_queue: queues.1,
            drain_high_percent: queues.2.max(queues.3 + 1),
            drain_low_percent: queues.3,
            reads_between_drains: queues.4,
            admission: Admission::Separate,
            write_to_read: rules.2,
            row_policy: rules.0,
            refresh: rules.1,
            mapping: mapping.parse().unwrap(),
            // Refreshes are frequent enough to matter in a short run.
            timings: TimingOverrides { refi: Some(3000), ..TimingOverrides::default() },
        },
    )
}

fn judge(cfg: &DramConfig) -> Judge {
    Judge {
        t: cfg.resolved_timings(),
        banks_per_group: cfg.banks_per_group,
        banks_per_rank: cfg.bank_groups * cfg.banks_per_group,
        refreshed: cfg.refresh != Refresh::Off,
    }
}

proptest! {
    #![proptest_config(cases(256))]

    /// No rule of the standard is broken, every request completes exactly once, and a second run
    /// gives the same.
    #[test]
    fn random_memories_keep_the_rules(cfg in any_config(), requests in traffic()) {
        let (dram, done) = run(&cfg, &requests);
        for channel in 0..dram.channels() {
            if let Err(v) = judge(&cfg).check(trace_of(&dram, channel)) {
                prop_assert!(false, "{} broken by {:?}", v.rule, v.by);
            }
        }
        let mut tags: Vec<(u32, bool)> = done.iter().map(|d| (d.tag, d.write)).collect();
        tags.sort_unstable();
        let sent: Vec<(u32, bool)> =
            requests.iter().enumerate().map(|(i, r)| (i as u32, r.2)).collect();
        prop_assert_eq!(tags, sent);
        let (again, done_again) = run(&cfg, &requests);
        prop_assert_eq!(done, done_again);
        prop_assert_eq!(trace(&dram), trace(&again));
    }

    /// It makes no difference how often a channel is advanced.
    #[test]
    fn needless_advances_change_nothing(cfg in any_config(), requests in traffic()) {
        let cfg = DramConfig { channels: 1, ..cfg };
        let (dram, mut done) = run(&cfg, &requests);
        let mut often = Dram::new(&cfg).unwrap();
        let clock = cfg.standard.clock();
        let mut done_often = Vec::new();
        let (mut now, mut wake) = (0, Ps::MAX);
        for (tag, &(at, line, write)) in requests.iter().enumerate() {
            while now < at || !often.can_accept(0, write) {
                now += 1;
                often.advance(0, clock.at(now), &mut done_often);
            }
            wake = often.push(clock.at(now), 0, line, write, tag as u32);
        }
        while wake != Ps::MAX {
            now += 1;
            wake = often.advance(0, clock.at(now), &mut done_often);
        }
        done.sort_unstable_by_key(|d| d.tag);
        done_often.sort_unstable_by_key(|d| d.tag);
        prop_assert_eq!(done, done_often);
        prop_assert!(trace(&often).starts_with(trace(&dram)) || trace(&dram).starts_with(trace(&often)));
    }
}

/// The rules that the judge, with the right timings, finds broken when the memory has one of its
/// timings a clock too short; `None` for a fault that it does not notice.
fn caught(
    right: &DramConfig,
    requests: &[(u64, u32, bool)],
) -> Vec<(&'static str, Option<&'static str>)> {
    let check = |timings: TimingOverrides| {
        let (dram, _) = run(&DramConfig { timings, ..right.clone() }, requests);
        judge(right).check(trace(&dram)).err().map(|v| v.rule)
    };
    assert_eq!(check(TimingOverrides::default()), None, "the right timings break no rule");
    let none = TimingOverrides::default();
    let t = right.resolved_timings();
    let short = |clocks: u32| Some(clocks - 1);
    let faults = [
        ("tRCD", TimingOverrides { rcd: short(t.rcd), ..none }),
        ("tRP", TimingOverrides { rp: short(t.rp), rc: Some(t.rc), ..none }),
        ("tRAS", TimingOverrides { ras: short(t.ras), rc: Some(t.rc), ..none }),
        ("tRTP", TimingOverrides { rtp: short(t.rtp), ..none }),
        ("tWR", TimingOverrides { wr: short(t.wr), ..none }),
        // DDR4's is one clock, the minimum.
        ("tPPD", TimingOverrides { ppd: Some(t.ppd.max(2) - 1), ..none }),
        ("tCCD_S", TimingOverrides { ccd_s: short(t.ccd_s), ..none }),
        ("tCCD_S_WR", TimingOverrides { ccd_s_wr: short(t.ccd_s_wr), ..none }),
        ("tCCD_L", TimingOverrides { ccd_l: short(t.ccd_l), ..none }),
        ("tCCD_L_WR", TimingOverrides { ccd_l_wr: short(t.ccd_l_wr), ..none }),
        ("tRRD_S", TimingOverrides { rrd_s: short(t.rrd_s), ..none }),
        ("tRRD_L", TimingOverrides { rrd_l: short(t.rrd_l), ..none }),
        ("tFAW", TimingOverrides { faw: short(t.faw), ..none }),
        ("tWTR_S", TimingOverrides { wtr_s: short(t.wtr_s), ..none }),
        ("tWTR_L", TimingOverrides { wtr_l: short(t.wtr_l), ..none }),
        ("tRFC", TimingOverrides { rfc: short(t.rfc), ..none }),
        // The judge tolerates up to two intervals between refreshes.
        ("tREFI", TimingOverrides { refi: Some(t.refi * 3), ..none }),
        ("read to write", TimingOverrides { rd_to_wr: short(t.rd_to_wr), ..none }),
        // The gap as shipped in Ramulator 2.1.
        ("data bus", TimingOverrides { rd_to_wr_other_rank: Some(6), ..none }),
        ("data bus", TimingOverrides { rank_switch: short(t.rank_switch), ..none }),
    ];
    faults.map(|(rule, timings)| (rule, check(timings))).to_vec()
}

#[test]
fn the_judge_catches_every_timing_that_is_a_clock_too_short() {
    let requests: Vec<_> = (0u32..6000)
        .map(|i| {
            let random = i.wrapping_mul(2_654_435_761) >> 7;
            // Phases of reads, of writes and of both, under load and not, with and without locality.
            let line = if i % 1000 < 500 { random % 2048 } else { random % 64 + i / 100 * 512 };
            (u64::from(i) * (1 + u64::from(i / 1500) * 7), line, (random >> 11).is_multiple_of(3))
        })
        .collect();
    let ddr4 = DramConfig { rows: 64, refresh: Refresh::AllRanks, ..config() };
    let ddr5 =
        DramConfig { standard: Standard::Ddr5_4800, ranks: 2, bank_groups: 8, ..ddr4.clone() };
    // Faults that another rule hides: the data bus keeps successive bursts apart; every command takes a
    // clock, which is DDR4's tPPD; and four tRRD_S are DDR5's tFAW.
    let kept = [(&ddr4, ["tPPD", "tCCD_S", "tCCD_S_WR"]), (&ddr5, ["tCCD_S", "tCCD_S_WR", "tFAW"])];
    for (memory, kept) in kept {
        for (rule, broken) in caught(memory, &requests) {
            let expected = (!kept.contains(&rule)).then_some(rule);
            assert_eq!(broken, expected, "{:?}: {rule} a clock too short", memory.standard);
        }
    }
    // tRC matters by itself only if it is more than tRAS + tRP.
    let rc = ddr4.resolved_timings().rc;
    let slow = |rc| TimingOverrides { rc: Some(rc), ..TimingOverrides::default() };
    let right = DramConfig { timings: slow(rc + 6), ..ddr4.clone() };
    let (dram, _) = run(&DramConfig { timings: slow(rc + 5), ..ddr4 }, &requests);
    assert_eq!(judge(&right).check(trace(&dram)).unwrap_err().rule, "tRC");
}

#[test]
fn the_judge_catches_accesses_to_closed_rows() {
    let (dram, _) = run(&config(), &[(0, 0, false), (1000, ROW, false)]);
    let mut commands = trace(&dram).to_vec();
    judge(&config()).check(&commands).expect("the trace as it is");
    let last = commands.len() - 1;
    commands[last].row = 0;
    assert_eq!(judge(&config()).check(&commands).unwrap_err().rule, "access only the open row");
    commands.remove(1);
    assert!(judge(&config()).check(&commands).is_err());
}
