//! The IOMMU on its own, with a memory that answers after a fixed time.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::iommu::testing::config;
use crate::memory::line::PAGE_LINES;

const MEMORY: Ps = Ps::from_ns(100);

/// An IOMMU, and the reads of its walkers that memory has not answered yet, in order.
struct Bench {
    iommu: Iommu<u32>,
    reads: VecDeque<(Ps, u16)>,
    left: Vec<(Ps, u32)>,
    most_walks: u64,
}

impl Bench {
    fn new(config: &IommuConfig) -> Bench {
        let mut space = AddressSpace::default();
        space.reserve(1 << 30);
        let iommu = Iommu::new(config, &mut space);
        Bench { iommu, reads: VecDeque::new(), left: Vec::new(), most_walks: 0 }
    }

    fn arrive(&mut self, now: Ps, order: Order, id: u32, page: Line, pages: Line) {
        self.arrive_as(now, order, id, page, pages, false);
    }

    fn arrive_as(&mut self, now: Ps, order: Order, id: u32, page: Line, pages: Line, passes: bool) {
        self.run_until(now);
        let lines = page * PAGE_LINES..(page + pages) * PAGE_LINES;
        if self.iommu.arrive(now, order, id, one_range(Mapping::Payload, lines), passes) {
            self.left.push((now, id));
        }
        self.take_due();
    }

    fn take_due(&mut self) {
        for (at, walker) in std::mem::take(&mut self.iommu.walkers.due) {
            self.iommu.walker_reads(walker);
            self.reads.push_back((at + MEMORY, walker));
        }
        let (queued, walks) = self.iommu.walkers.in_flight();
        self.most_walks = self.most_walks.max(walks);
        let counts = self.iommu.walkers.counts;
        let misses: u64 = self.iommu.lookups.iter().map(|of| of.misses).sum();
        assert_eq!(misses, counts.started + queued);
        assert_eq!(counts.started, counts.finished + walks);
    }

    fn run_until(&mut self, until: Ps) {
        while self.reads.front().is_some_and(|r| r.0 <= until) {
            let (now, walker) = self.reads.pop_front().expect("there is one");
            self.iommu.entry_arrived(now, walker);
            while let Some(id) = self.iommu.next_ready(now) {
                self.left.push((now, id));
            }
            self.take_due();
        }
    }

    fn finish(&mut self) -> Vec<(u64, u32)> {
        self.run_until(Ps::MAX);
        self.left.iter().map(|(at, id)| (at.0 / 1_000, *id)).collect()
    }
}

#[test]
fn a_cold_walk_reads_four_levels_and_a_warm_one_reads_one() {
    let mut b = Bench::new(&config(4));
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.arrive(Ps::from_ns(1_000), Order::Posted, 1, 1, 1);
    b.arrive(Ps::from_ns(2_000), Order::Posted, 2, 0, 1);
    assert_eq!(b.finish(), [(440, 0), (1_110, 1), (2_000, 2)]);
    assert_eq!(b.iommu.walkers.counts.reads, 5);
}

#[test]
fn walks_beyond_the_walkers_wait() {
    let mut b = Bench::new(&config(8));
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.run_until(Ps::from_ns(1_000));
    // Three misses for two walkers: the third walk starts when one of the first two ends.
    for id in 1..4 {
        b.arrive(Ps::from_ns(1_000), Order::Posted, id, id, 1);
    }
    assert_eq!(b.finish()[1..], [(1_110, 1), (1_110, 2), (1_220, 3)]);
    assert_eq!(b.most_walks, 2);
}

#[test]
fn a_hit_waits_behind_the_misses_of_its_order_and_a_read_behind_writes() {
    let after_a_miss = |missing: Order| {
        let mut b = Bench::new(&config(8));
        b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
        b.run_until(Ps::from_ns(1_000));
        b.arrive(Ps::from_ns(1_000), missing, 1, 1, 1);
        b.arrive(Ps::from_ns(1_010), missing, 2, 0, 1);
        let other = if missing == Order::Posted { Order::NonPosted } else { Order::Posted };
        b.arrive(Ps::from_ns(1_020), other, 3, 0, 1);
        b.finish().split_off(1)
    };
    assert_eq!(after_a_miss(Order::Posted), [(1_110, 1), (1_110, 2), (1_110, 3)]);
    assert_eq!(after_a_miss(Order::NonPosted), [(1_020, 3), (1_110, 1), (1_110, 2)]);
}

#[test]
fn a_page_that_has_been_evicted_is_walked_for_again_though_one_that_found_it_still_waits() {
    let mut b = Bench::new(&config(1));
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.arrive(Ps::from_ns(960), Order::NonPosted, 1, 3, 1);
    b.arrive(Ps::from_ns(1_000), Order::Posted, 2, 2, 1);
    // It hits, and waits for the write ahead of it.
    b.arrive(Ps::from_ns(1_010), Order::Posted, 3, 0, 1);
    // The read's page arrived at 1070 and took the only entry.
    b.arrive(Ps::from_ns(1_080), Order::Posted, 4, 0, 1);
    let left = b.finish();
    assert_eq!(left.last(), Some(&(1_190, 4)));
    let lookups = b.iommu.lookups[Mapping::Payload as usize];
    assert_eq!((lookups.hits, lookups.misses), (1, 4));
}

#[test]
fn a_read_that_wraps_around_in_its_ring_looks_its_page_up_once() {
    let mut b = Bench::new(&config(8));
    for (id, wrapped) in [(0, 0..2), (1, PAGE_LINES..PAGE_LINES + 2)] {
        let touched = [(Mapping::Descriptor, 8..10), (Mapping::Descriptor, wrapped)];
        b.iommu.arrive(Ps::ZERO, Order::NonPosted, id, touched, false);
    }
    let lookups = b.iommu.lookups[Mapping::Descriptor as usize];
    assert_eq!(lookups.hits + lookups.misses, 1 + 2);
}

#[test]
fn a_read_does_not_wait_for_later_writes() {
    let mut b = Bench::new(&config(8));
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.run_until(Ps::from_ns(1_000));
    b.arrive(Ps::from_ns(1_000), Order::Posted, 1, 1, 1);
    b.arrive(Ps::from_ns(1_010), Order::NonPosted, 2, 0, 1);
    b.arrive(Ps::from_ns(1_090), Order::Posted, 3, 2, 1);
    assert_eq!(b.finish()[1..], [(1_110, 1), (1_110, 2), (1_200, 3)]);
}

/// Starts with a full IOTLB of two entries, of which the most recently used is unmapped; then uses
/// a third page, and the other page again. Returns when that access leaves, in ns after it arrived.
fn after_unmapping(at_once: bool) -> u64 {
    let mut b = Bench::new(&config(2));
    for (at_ns, page) in [(0, 1), (1_000, 0)] {
        b.arrive(Ps::from_ns(at_ns), Order::Posted, page, page, 1);
    }
    b.run_until(Ps::from_ns(2_000));
    b.iommu.unmap(Mapping::Payload, 0..PAGE_LINES, at_once);
    for (at_ns, page) in [(3_000, 2), (4_000, 1)] {
        b.arrive(Ps::from_ns(at_ns), Order::Posted, page, page, 1);
    }
    b.finish().last().expect("it leaves").0 - 4_000
}

#[test]
fn what_is_unmapped_at_once_makes_room() {
    assert_eq!(after_unmapping(true), 0);
    assert_eq!(after_unmapping(false), 110);
}

#[test]
fn what_is_unmapped_is_walked_for_again_and_a_flush_takes_the_upper_levels_too() {
    for (flush, walk_ns) in [(false, 110), (true, 440)] {
        let mut b = Bench::new(&config(4));
        b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
        b.run_until(Ps::from_ns(1_000));
        b.iommu.unmap(Mapping::Payload, 0..PAGE_LINES, !flush);
        if flush {
            b.iommu.flush();
        }
        b.arrive(Ps::from_ns(1_000), Order::Posted, 1, 0, 1);
        assert_eq!(b.finish()[1], (1_000 + walk_ns, 1));
    }
}

#[test]
fn neighbours_to_one_page_share_a_walk() {
    let mut b = Bench::new(&config(8));
    for id in 0..5 {
        b.arrive(Ps::from_ns(10 * u64::from(id)), Order::Posted, id, 7, 1);
    }
    assert_eq!(b.finish().iter().map(|l| l.0).collect::<Vec<_>>(), [440; 5]);
    assert_eq!(b.iommu.walkers.counts.started, 1);
}

#[test]
fn relaxed_ordering_passes_no_walk_that_is_shared() {
    let mut b = Bench::new(&config(8));
    for id in 0..5 {
        b.arrive_as(Ps::from_ns(10 * u64::from(id)), Order::Posted, id, 7, 1, true);
    }
    assert_eq!(b.finish().iter().map(|l| l.0).collect::<Vec<_>>(), [440; 5]);
}

#[test]
fn a_transaction_of_another_kind_between_neighbours_makes_no_further_walk() {
    let mut b = Bench::new(&config(8));
    for id in 0..6 {
        let now = Ps::from_ns(10 * u64::from(id));
        let mapping = if id % 2 == 0 { Mapping::Payload } else { Mapping::Completion };
        let at_once = b.iommu.arrive(now, Order::Posted, id, one_range(mapping, 64..65), false);
        assert!(!at_once);
        b.take_due();
    }
    assert_eq!(b.finish().len(), 6);
    assert_eq!(b.iommu.walkers.counts.started, 2);
}

#[test]
fn with_relaxed_ordering_data_passes_what_waits_and_a_completion_does_not() {
    let mut b = Bench::new(&config(8));
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.run_until(Ps::from_ns(1_000));
    // A miss, one to the page that it waits for, a hit, a completion that hits, a hit.
    for (id, page, passes) in
        [(1, 1, true), (2, 1, true), (3, 0, true), (4, 0, false), (5, 0, true)]
    {
        b.arrive_as(Ps::from_ns(1_000), Order::Posted, id, page, 1, passes);
    }
    assert_eq!(b.finish()[1..], [(1_000, 3), (1_000, 5), (1_110, 1), (1_110, 2), (1_110, 4)]);
    assert_eq!(b.iommu.walkers.counts.started, 2);
}

#[test]
fn large_pages_need_fewer_translations_and_a_shorter_walk() {
    let mut small = config(4);
    small.paging_structures.pd = 0;
    let mut large = small.clone();
    large.pages.payload = config::PageSize::Large;
    let misses = |config: &IommuConfig| {
        let mut b = Bench::new(config);
        for i in 0..2_000u32 {
            b.arrive(Ps::from_ns(1_000 * u64::from(i)), Order::Posted, i, i * 7 % 512, 1);
        }
        b.finish();
        (b.iommu.lookups[0].misses, b.iommu.walkers.counts.reads)
    };
    assert_eq!(misses(&large).0, 1);
    let (missed, reads) = misses(&small);
    assert_eq!(missed, 2_000, "512 pages in turn never stay in four entries");
    assert_eq!(reads, 2 + 2 * missed, "without a cache of directories a walk reads two levels");
}

#[test]
fn a_full_queue_delays_the_next_lookup() {
    let mut short = config(8);
    (short.posted_queue, short.walkers) = (2, 8);
    let mut b = Bench::new(&short);
    b.arrive(Ps::ZERO, Order::Posted, 0, 0, 1);
    b.run_until(Ps::from_ns(1_000));
    for id in 1..5 {
        b.arrive(Ps::from_ns(1_000), Order::Posted, id, id, 1);
    }
    assert_eq!(b.finish()[1..], [(1_110, 1), (1_110, 2), (1_220, 3), (1_220, 4)]);
}

proptest! {
    /// Everything that arrives leaves once. What may not pass others leaves after everything that
    /// arrived before it, so all leave in order if nothing may pass. No more walks run than there
    /// are walkers.
    #[test]
    fn all_leave_in_order(
        walkers in 1u32..7,
        queues in (1u32..20, 1u32..20),
        steps in prop::collection::vec((0u64..200, any::<bool>(), 0u32..40, 1u32..3), 1..300),
        relaxed in any::<bool>(),
        data in prop::collection::vec(any::<bool>(), 300),
    ) {
        let mut config = config(16);
        config.walkers = walkers;
        (config.posted_queue, config.non_posted_queue) = queues;
        let mut b = Bench::new(&config);
        let (mut now, mut orders) = (Ps::ZERO, [Vec::new(), Vec::new()]);
        for (id, (gap, posted, page, pages)) in steps.iter().copied().enumerate() {
            now += Ps::from_ns(gap);
            let order = if posted { Order::Posted } else { Order::NonPosted };
            orders[order as usize].push(id as u32);
            let passes = relaxed && posted && data[id];
            b.arrive_as(now, order, id as u32, page, pages, passes);
        }
        b.finish();
        for (order, came) in orders.iter().enumerate() {
            let left: Vec<u32> = b.left.iter().map(|l| l.1).filter(|id| came.contains(id)).collect();
            if !relaxed || order == Order::NonPosted as usize {
                prop_assert_eq!(&left, came);
            }
            let mut sorted = left.clone();
            sorted.sort_unstable();
            prop_assert_eq!(&sorted, came);
            for (place, &id) in left.iter().enumerate().filter(|(_, id)| !data[**id as usize]) {
                let before = left[..place].iter().filter(|&&other| other < id).count();
                prop_assert_eq!(before, came.iter().filter(|&&other| other < id).count());
            }
        }
        // No read leaves before the writes that arrived before it (PCI Express Base Specification,
        // 2.4.1, entry B2).
        let [writes, reads] = &orders;
        for (place, (_, read)) in b.left.iter().enumerate().filter(|(_, l)| reads.contains(&l.1)) {
            let before = b.left[..place].iter().filter(|l| l.1 < *read && writes.contains(&l.1));
            prop_assert_eq!(before.count(), writes.iter().filter(|&write| write < read).count());
        }
        prop_assert!(b.most_walks <= u64::from(walkers));
        prop_assert_eq!(b.iommu.walkers.in_flight(), (0, 0));
        let lookups = b.iommu.lookups[0];
        prop_assert_eq!(b.iommu.walkers.counts.finished, lookups.misses);
        let pages: u32 = steps.iter().map(|s| s.3).sum();
        prop_assert_eq!(lookups.hits + lookups.misses, u64::from(pages));
    }
}
