//! The interval core, tested against its parameters as against a data sheet.

use super::ask::Ask;
use super::interval::{Core, Stop};
use super::op::{Dep, Mark, Op, Ops};
use crate::config::machine::Machine;
use crate::memory::config::{Prefetch, Uncore};
use crate::memory::line::{Line, LineKind};
use crate::memory::private::Found;
use crate::memory::system::Memory;
use crate::testing::{machine, memory};
use crate::time::Ps;
use crate::units::Frequency;

/// In these tests, the time of a miss from the request's arrival at the LLC to the data's arrival
/// at the core.
const MISS: Ps = Ps::from_ns(100);

/// Later than any test ends.
const FOREVER: Ps = Ps::from_ns(1_000_000_000);

/// When the data of a request arrives at the core, and for which register.
fn data_of(at: Ps, ask: Ask) -> Option<(Ps, u16)> {
    match ask {
        Ask::Request(register) => Some((at + MISS, register)),
        _ => None,
    }
}

/// A core with a memory of fixed latency behind its private caches.
struct Bench {
    core: Core,
    memory: Memory,
    /// Requests in flight: when their data arrives at the core, and for which register.
    requests: Vec<(Ps, u16)>,
    /// Requests that the LLC has answered.
    answered: usize,
    /// The most registers in use at once.
    most: usize,
    /// How far the core runs at a time, if not as far as it can.
    step: Option<Ps>,
    cycle_ps: u64,
}

impl Bench {
    fn new(change: impl FnOnce(&mut Machine)) -> Bench {
        let mut machine = machine();
        change(&mut machine);
        let memory = memory(&machine);
        let core = Core::new(&machine.core, &machine.hierarchy(), 0, false);
        Bench {
            core,
            memory,
            requests: Vec::new(),
            answered: 0,
            most: 0,
            step: None,
            cycle_ps: 500,
        }
    }

    /// Cycles until the whole program is done, up to the `Delay` added at its end.
    fn cycles(&mut self, program: impl FnOnce(&mut Ops)) -> u64 {
        self.core.clear_ops();
        let begin = self.core.now();
        program(&mut self.core.ops);
        // The `Delay` waits for all loads.
        self.core.ops.push(Op::Delay { ns: 0 });
        while self.run() != Stop::Finished {
            assert!(self.answer(), "a core that waits waits for a line");
        }
        (self.core.now() - begin).0 / self.cycle_ps
    }

    /// Delivers the data of the earliest request in flight. Returns whether there was one.
    fn answer(&mut self) -> bool {
        let first = self.requests.iter().enumerate().min_by_key(|(_, r)| **r);
        let Some((i, _)) = first else { return false };
        let (at, register) = self.requests.swap_remove(i);
        self.fill(register);
        self.answered += 1;
        let requests = &mut self.requests;
        self.core.complete(&mut self.memory, register, at, &mut |at, ask| {
            requests.extend(data_of(at, ask));
        });
        true
    }

    fn run(&mut self) -> Stop {
        loop {
            let until = self.step.map_or(FOREVER, |step| self.core.now() + step);
            let requests = &mut self.requests;
            let stop = self.core.run(&mut self.memory, until, &mut |at, ask| {
                requests.extend(data_of(at, ask));
            });
            self.most = self.most.max(self.requests.len());
            if stop != Stop::Ahead {
                return stop;
            }
        }
    }

    /// The line of a register enters the private caches.
    fn fill(&mut self, register: u16) {
        let (line, kind, exclusive) = self.core.miss(register);
        self.memory.fill_at_once(0, line, kind, exclusive);
    }
}

/// A miss in cycles of 2 GHz: the trip to the LLC (14 for the L2 and 8 for the network), and [`MISS`].
const MISS_CYCLES: u64 = 14 + 8 + 200;

fn loads(ops: &mut Ops, lines: impl Iterator<Item = Line>, dep: Dep) {
    for line in lines {
        ops.load(line, LineKind::App, dep);
    }
}

fn within(got: u64, wanted: u64, slack: u64) {
    assert!(got.abs_diff(wanted) <= slack, "{got} cycles, expected {wanted} ± {slack}");
}

#[test]
fn dispatch_width_bounds_instructions_a_cycle() {
    for width in [1, 2, 4, 6] {
        let mut b = Bench::new(|m| m.core.dispatch_width = width);
        let cycles = b.cycles(|ops| ops.compute(12_000));
        assert_eq!(cycles, u64::from(12_000 / width));
    }
}

#[test]
fn independent_misses_overlap_up_to_the_miss_registers() {
    for registers in [1, 5, 10] {
        let mut b = Bench::new(|m| m.core.l1_miss_registers = registers);
        let cycles = b.cycles(|ops| loads(ops, 0..40, Dep::Free));
        assert_eq!(b.most, registers as usize);
        within(cycles, u64::from(40 / registers) * MISS_CYCLES, 20);
    }
}

#[test]
fn a_chain_takes_the_sum_of_its_latencies() {
    let mut b = Bench::new(|_| ());
    let cycles = b.cycles(|ops| loads(ops, 0..20, Dep::Chain));
    assert_eq!(b.most, 1);
    within(cycles, 20 * MISS_CYCLES, 20);
    // All of them hit the L1d now, 4 cycles each.
    within(b.cycles(|ops| loads(ops, 0..20, Dep::Chain)), 20 * 4, 5);
}

#[test]
fn the_trip_to_the_llc_takes_cycles_of_the_uncore() {
    // Eight cycles of it, in cycles of the core's 2 GHz.
    for (frequency, trip) in [(1_000_000_000, 16), (2_000_000_000, 8), (4_000_000_000, 4)] {
        let uncore = Uncore { frequency: Frequency(frequency) };
        let mut b = Bench::new(|machine| machine.uncore = Some(uncore));
        let cycles = b.cycles(|ops| loads(ops, 0..20, Dep::Chain));
        within(cycles, 20 * (14 + trip + 200), 20);
    }
}

#[test]
fn accesses_after_a_chain_wait_for_it_and_not_for_each_other() {
    let mut b = Bench::new(|_| ());
    let cycles = b.cycles(|ops| {
        ops.load(0, LineKind::App, Dep::Chain);
        loads(ops, 1..9, Dep::After);
    });
    within(cycles, 2 * MISS_CYCLES, 10);
}

/// Cycles for `packets` packets whose only accesses are a chain of three misses each, and the most
/// misses in flight at once.
fn packets_of_three_misses(packets: u32, instructions: u32) -> (u64, usize) {
    let mut b = Bench::new(|_| ());
    let cycles = b.cycles(|ops| {
        for packet in 0..packets {
            ops.push(Op::Mark { mark: Mark::Begin, packet });
            loads(ops, 100 * packet..100 * packet + 3, Dep::Chain);
            ops.compute(instructions - 3);
        }
    });
    (cycles, b.most)
}

#[test]
fn the_chains_of_packets_in_the_reorder_window_run_side_by_side() {
    assert_eq!(packets_of_three_misses(1, 60).1, 1);
    // A window of 224 holds the loads of four packets of 60 instructions.
    let (cycles, most) = packets_of_three_misses(4, 60);
    assert_eq!(most, 4);
    within(cycles, 3 * MISS_CYCLES, 224 / 4 + 10);
    // The fifth enters when the first leaves.
    assert_eq!(packets_of_three_misses(5, 60).1, 4);
    within(packets_of_three_misses(8, 60).0, 6 * MISS_CYCLES, 2 * 224 / 4 + 10);
}

/// Packets of three instructions, and more registers than chains.
#[test]
fn the_chain_of_a_packet_that_waited_for_one_begins_when_it_is_free() {
    let mut b = Bench::new(|machine| machine.core.l1_miss_registers = 32);
    let cycles = b.cycles(|ops| {
        for packet in 0..16 {
            ops.push(Op::Mark { mark: Mark::Begin, packet });
            loads(ops, 100 * packet..100 * packet + 3, Dep::Chain);
        }
    });
    assert_eq!(b.most, 8);
    within(cycles, 6 * MISS_CYCLES, 20);
}

/// The second link comes from the L2 when the line of the third, which another load has requested, arrives.
#[test]
fn a_link_whose_line_is_already_coming_waits_for_its_address_too() {
    let mut b = Bench::new(|machine| machine.core.dispatch_width = 1);
    let (in_l2, coming, last) = (0, 1, 2);
    // Four more lines of its set in the L1d, which are in other sets of the L2.
    for line in [in_l2, 16, 32, 48, 80] {
        b.memory.fill_at_once(0, line, LineKind::App, false);
    }
    let before = MISS_CYCLES - 2;
    let cycles = b.cycles(|ops| {
        ops.push(Op::Mark { mark: Mark::Begin, packet: 0 });
        loads(ops, coming..=coming, Dep::Free);
        ops.compute(before as u32);
        for line in [in_l2, coming, last] {
            loads(ops, line..=line, Dep::Chain);
        }
    });
    assert_eq!((b.answered, b.most), (2, 1));
    // One cycle for the first load; 14 for the L2; 4 for the L1d, where the line is by then.
    assert_eq!(cycles, 1 + before + 14 + 4 + MISS_CYCLES);
}

#[test]
fn packets_beyond_the_chains_wait_for_the_oldest() {
    // 16 packets of 10 instructions fit the window; eight chains run at once, on ten registers.
    let (cycles, most) = packets_of_three_misses(16, 10);
    assert_eq!(most, 8);
    within(cycles, 6 * MISS_CYCLES, 50);
}

#[test]
fn the_reorder_window_bounds_misses_in_flight() {
    // One load in 56 instructions: a window of 224 holds four of them, one of 112 two.
    for (window, in_flight) in [(224, 4), (112, 2)] {
        let mut b = Bench::new(|m| m.core.reorder_window = window);
        let cycles = b.cycles(|ops| {
            for line in 0..40 {
                ops.load(line, LineKind::App, Dep::Free);
                ops.compute(55);
            }
        });
        assert_eq!(b.most, in_flight);
        let rounds = 40 / in_flight as u64;
        within(cycles, rounds * MISS_CYCLES, rounds * u64::from(window) / 4);
    }
}

/// Of a load, 23 instructions and 16 `clsweep`s, a window of 32 has no room for the last eight.
#[test]
fn every_clsweep_of_a_packet_takes_its_place_in_the_reorder_window() {
    let mut b = Bench::new(|m| (m.core.reorder_window, m.core.dispatch_width) = (32, 1));
    let cycles = b.cycles(|ops| {
        ops.load(0, LineKind::App, Dep::Free);
        ops.compute(23);
        (100..116).for_each(|line| ops.push(Op::Sweep { line }));
    });
    assert_eq!(cycles, MISS_CYCLES + 8);
}

#[test]
fn the_store_buffer_bounds_stores_in_flight() {
    for stores in [2, 8] {
        let mut b = Bench::new(|m| m.core.store_buffer = stores);
        let store = |ops: &mut Ops, line| ops.store(line, LineKind::App, Dep::Free);
        let filled = b.cycles(|ops| (0..stores).for_each(|line| store(ops, line)));
        assert!(filled < 10, "stores that fit the buffer hold nothing: {filled} cycles");
        assert_eq!(b.requests.len(), stores as usize);
        let one_more = b.cycles(|ops| store(ops, stores));
        within(one_more, MISS_CYCLES, 10);
    }
}

#[test]
fn the_mean_access_time_is_that_of_its_accesses() {
    let mut b = Bench::new(|_| ());
    b.cycles(|ops| loads(ops, 0..1, Dep::Chain));
    b.cycles(|ops| loads(ops, [0, 0, 0].into_iter(), Dep::Chain));
    assert_eq!(b.core.accesses, 4);
    let cycles = b.core.access_ps() / b.cycle_ps as f64;
    assert!((cycles - (MISS_CYCLES + 3 * 4) as f64).abs() <= 1.0, "{cycles} cycles in all");
}

#[test]
fn an_l2_hit_costs_what_the_l2_says() {
    let mut b = Bench::new(|_| ());
    // 4 KiB of L1d, 16 KiB of L2: 128 lines fit in the L2 but not in the L1d.
    b.cycles(|ops| loads(ops, 0..128, Dep::Chain));
    within(b.cycles(|ops| loads(ops, 0..32, Dep::Chain)), 32 * 14, 5);
}

#[test]
fn the_l2_sends_the_l1d_a_line_a_cycle() {
    // The last eight stores wait in the store buffer.
    for (width, stored) in [(1, 64), (5, 64 - 8)] {
        let mut b = Bench::new(|m| (m.core.dispatch_width, m.core.store_buffer) = (width, 8));
        // The L2 holds 256 lines, the L1d 64.
        b.cycles(|ops| loads(ops, 0..192, Dep::Free));
        within(b.cycles(|ops| loads(ops, 0..64, Dep::Free)), 64 + 14, 2);
        let stores = |ops: &mut Ops| (64..128).for_each(|l| ops.store(l, LineKind::App, Dep::Free));
        within(b.cycles(stores), stored, 2);
    }
}

#[test]
fn an_access_to_a_line_that_is_being_prefetched_waits_for_it() {
    let prefetching = |store_buffer| {
        let mut b = Bench::new(|m| {
            (m.l2.prefetch, m.l2.superqueue) = (Prefetch::NextLine, 30);
            m.core.store_buffer = store_buffer;
        });
        // An L2 of 256 lines, of which these leave it for the LLC.
        b.cycles(|ops| loads(ops, 0..600, Dep::Free));
        b.memory.request(b.core.now(), 8, LineKind::App, 0, 0, false);
        b
    };
    // Another 8 for the trip back from the slice's 30.
    let coming = 30 + 8;
    let mut b = prefetching(56);
    within(b.cycles(|ops| loads(ops, 9..10, Dep::Chain)), coming, 1);
    within(b.cycles(|ops| loads(ops, 9..10, Dep::Chain)), 4, 1);
    let mut b = prefetching(1);
    let store = |ops: &mut Ops| ops.store(9, LineKind::App, Dep::Free);
    within(b.cycles(store), 0, 1);
    within(b.cycles(store), coming, 1);
    assert_eq!(b.requests, [], "none of them misses");
}

/// An increment of a line that is in no cache: it arrives writable, because no other core holds it.
/// A line that another core holds arrives without write permission, and the store asks for that.
#[test]
fn a_store_behind_a_load_of_its_line_asks_again_only_for_a_right_that_did_not_come() {
    for (held_by_another, requests) in [(false, 1), (true, 2)] {
        let mut b = Bench::new(|_| ());
        if held_by_another {
            b.memory.fill_at_once(1, 7, LineKind::App, false);
        }
        let cycles = b.cycles(|ops| {
            ops.load(7, LineKind::App, Dep::Free);
            ops.store(7, LineKind::App, Dep::Free);
        });
        within(cycles, MISS_CYCLES, 5);
        // Nothing waits for what the store still requests.
        while b.answer() {}
        assert_eq!(b.answered, requests);
        assert_eq!(b.memory.access(0, 7, LineKind::App, true), Found::L1);
    }
}

#[test]
fn how_far_it_runs_at_a_time_changes_nothing() {
    // Loads that hit the L1d, and among them some that miss it, stores, and links of a chain.
    let program = |ops: &mut Ops| {
        for n in 0..3000 {
            match n % 40 {
                7 => ops.load(100 + n, LineKind::App, Dep::Free),
                18 => ops.load(200 + n, LineKind::App, Dep::Chain),
                19 => ops.load(n % 16, LineKind::App, Dep::After),
                30 => ops.store(n % 8, LineKind::App, Dep::Free),
                33 => ops.push(Op::Mark { mark: Mark::Begin, packet: n }),
                35 => ops.compute(90),
                _ => ops.load(n % 16, LineKind::App, Dep::Free),
            }
        }
    };
    let run = |step| {
        let mut b = Bench::new(|_| ());
        b.step = step;
        (b.cycles(program), b.core.accesses, b.core.access_ps(), b.memory.counts.l1_accesses)
    };
    let all_at_once = run(None);
    assert_eq!(all_at_once.1, 3000 - 2 * 3000 / 40);
    for ps in [0, 500, 2600] {
        assert_eq!(run(Some(Ps(ps))), all_at_once, "in steps of {ps} ps");
    }
}

/// A core that spins until an invalidation is done begins when its loads are done, runs nothing
/// meanwhile and holds no miss register.
#[test]
fn an_invalidation_lasts_until_the_iommu_is_done_and_holds_no_register() {
    let mut b = Bench::new(|_| {});
    loads(&mut b.core.ops, 0..1, Dep::Free);
    b.core.ops.push(Op::Invalidate);
    loads(&mut b.core.ops, 1..2, Dep::Free);
    b.core.ops.compute(99);
    let mut requested = Vec::new();
    let mut run = |b: &mut Bench| {
        let requests = &mut b.requests;
        b.core.run(&mut b.memory, FOREVER, &mut |at, ask| match ask {
            Ask::Invalidate => requested.push(at),
            other => requests.extend(data_of(at, other)),
        })
    };
    assert_eq!(run(&mut b), Stop::Waiting);
    assert!(b.answer(), "the first load is on its way");
    assert_eq!((run(&mut b), b.requests.len()), (Stop::Waiting, 0));
    let done = Ps::from_us(1);
    b.core.invalidated(done);
    assert_eq!((run(&mut b), b.requests.len()), (Stop::Finished, 1));
    let [asked] = requested[..] else { panic!("it asks once") };
    within(asked.0 / b.cycle_ps, MISS_CYCLES + 14 + 8, 2);
    within((b.core.now() - done).0 / b.cycle_ps, 25, 1);
}
