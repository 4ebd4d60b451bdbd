//! The IOMMU: every DMA waits at the I/O controller until the pages it touches are translated.
//!
//! A transaction looks its pages up in the IOTLB when it enters the queue, whose length is limited.
//! For each miss a walker reads the page table from memory. Transactions leave in the order in which they came, posted writes and
//! reads each in an order of their own: a write must not pass a write (PCI Express Base
//! Specification, section 2.4.1), and read requests wait in a queue as well. While they wait they
//! hold their PCIe credits or read tags, so that the rate falls as latency grows (Little's law).
//!
//! With relaxed ordering a write of packet data passes whatever waits before it; completions pass
//! nothing, so that they stay behind their data.
//!
//! A transaction to the page that the one before it of its kind is waiting for does not walk again, as
//! it cannot leave first. Other misses are not joined: two walks for one page may run side by side.

pub mod config;
mod iotlb;
mod page_table;
mod walker;

use std::collections::VecDeque;
use std::ops::Range;

use config::IommuConfig;
use iotlb::Iotlb;
pub(crate) use page_table::Mapping;
use page_table::{MAPPINGS, Page, PageTable};
use walker::Walkers;

use crate::memory::line::{AddressSpace, Line};
use crate::time::Ps;

/// An order in which transactions leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Order {
    /// Writes.
    Posted = 0,
    /// Reads.
    NonPosted = 1,
}

/// The number of a waiting transaction within its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    order: Order,
    number: u64,
}

/// The lines that a transaction touches: one or two ranges, the other one empty.
pub(crate) type Touched = [(Mapping, Range<Line>); 2];

/// What touches one range.
pub(crate) fn one_range(mapping: Mapping, lines: Range<Line>) -> Touched {
    [(mapping, lines), (mapping, 0..0)]
}

/// A transaction in the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    transaction: T,
    lines: u32,
    arrived: Ps,
    /// Walks that it waits for.
    missing: u32,
    /// Whether it may leave before those in front of it.
    passes: bool,
    /// The number of one in front of it that walks for a page of both.
    after: Option<u64>,
    /// Whether it has left, from behind others.
    left: bool,
}

/// What the lookups of a transaction have found: walks that it takes, and [`Waiting::after`].
type Found = (u32, Option<u64>);

/// Transactions in their order.
#[derive(Clone, Debug)]
struct Fifo<T> {
    waiting: VecDeque<Waiting<T>>,
    /// How many are in the queue and may be, and those for which it has no room yet.
    queued: usize,
    room: usize,
    behind: VecDeque<Arrival<T>>,
    /// Number of the first that waits.
    first: u64,
    /// The page of each kind that was looked up last, and the number of the transaction.
    last: [Option<(Page, u64)>; MAPPINGS],
    waits: Waits,
}

/// Lines of the transactions of an order that have gone on since measuring began, and the sum over
/// them of the time that they have waited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    lines: u64,
    time: u128,
}

/// A transaction that has arrived: what it touches, whether it may pass others, and when.
type Arrival<T> = (T, Touched, bool, Ps);

impl<T> Fifo<T> {
    /// Whether the transaction of this number has left.
    fn has_left(&self, number: u64) -> bool {
        let place = number.checked_sub(self.first);
        place.is_none_or(|at| self.waiting.get(at as usize).is_some_and(|w| w.left))
    }

    /// The place of the next that may leave.
    fn ready(&self) -> Option<usize> {
        let front = self.waiting.front()?;
        if front.missing == 0 {
            return Some(0);
        }
        let may_leave = |w: &Waiting<T>| {
            let free = w.after.is_none_or(|number| self.has_left(number));
            w.passes && w.missing == 0 && !w.left && free
        };
        self.waiting.iter().position(may_leave)
    }
}

impl Waits {
    fn add(&mut self, lines: u32, wait: Ps) {
        self.lines += u64::from(lines);
        self.time += u128::from(lines) * u128::from(wait.0);
    }

    /// Mean wait of a line, ns; nothing without lines.
    pub(crate) fn mean_ns(&self) -> Option<f64> {
        (self.lines > 0).then(|| self.time as f64 / 1e3 / self.lines as f64)
    }
}

fn lines_of(touched: &Touched) -> u32 {
    touched.iter().map(|(_, lines)| lines.end - lines.start).sum()
}

/// Lookups of a kind of mapping since measuring began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookups {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// The IOMMU, with transactions of the host's type `T`.
#[derive(Clone, Debug)]
pub(crate) struct Iommu<T> {
    iotlb: Iotlb,
    table: PageTable,
    pub(crate) walkers: Walkers,
    fifos: [Fifo<T>; 2],
    pub(crate) lookups: [Lookups; MAPPINGS],
    /// Walks in flight when measuring began: waiting and under way.
    pub(crate) in_flight_begin: (u64, u64),
}

impl<T: Copy> Iommu<T> {
    /// An IOMMU that maps all that is reserved in `space` so far, and reserves its page table there.
    pub(crate) fn new(config: &IommuConfig, space: &mut AddressSpace) -> Iommu<T> {
        let (waiting, behind) = (VecDeque::new(), VecDeque::new());
        let waits = Waits::default();
        let fifo =
            Fifo { waiting, queued: 0, room: 0, behind, first: 0, last: [None; MAPPINGS], waits };
        let fifo = |room| Fifo { room: room as usize, ..fifo.clone() };
        let IommuConfig { iotlb, posted_queue, non_posted_queue, .. } = config;
        Iommu {
            iotlb: Iotlb::new(iotlb.entries, iotlb.ways, iotlb.replacement),
            table: PageTable::new(config, space),
            walkers: Walkers::new(config.walkers, config.step_latency.ps()),
            fifos: [fifo(*posted_queue), fifo(*non_posted_queue)],
            lookups: Default::default(),
            in_flight_begin: (0, 0),
        }
    }

    /// A transaction that touches these lines arrives; it `passes` those that wait if it may. Returns
    /// whether it goes on at once; if not, it waits, and [`Self::next_ready`] gives it out later.
    pub(crate) fn arrive(
        &mut self,
        now: Ps,
        order: Order,
        transaction: T,
        touched: Touched,
        passes: bool,
    ) -> bool {
        let fifo = &mut self.fifos[order as usize];
        if fifo.queued == fifo.room {
            fifo.behind.push_back((transaction, touched, passes, now));
            return false;
        }
        !self.enter(now, order, (transaction, touched, passes, now), true)
    }

    /// A transaction enters the queue; returns whether it has to wait there, where it could leave
    /// `at_once` otherwise.
    fn enter(&mut self, now: Ps, order: Order, arrival: Arrival<T>, at_once: bool) -> bool {
        let (transaction, touched, passes, arrived) = arrival;
        let (missing, after) = self.look_up_all(now, order, &touched);
        let lines = lines_of(&touched);
        let fifo = &mut self.fifos[order as usize];
        let first = fifo.waiting.is_empty();
        let free = first || (passes && after.is_none());
        let left = at_once && missing == 0 && free;
        if left {
            fifo.waits.add(lines, now - arrived);
        } else {
            fifo.queued += 1;
        }
        if left && first {
            fifo.first += 1;
        } else {
            // One that leaves from behind others keeps its number until they have left.
            let waiting = Waiting { transaction, lines, arrived, missing, passes, after, left };
            fifo.waiting.push_back(waiting);
        }
        !left
    }

    /// Looks up the pages of a transaction that enters the queue.
    fn look_up_all(&mut self, now: Ps, order: Order, touched: &Touched) -> Found {
        let fifo = &self.fifos[order as usize];
        let ticket = Ticket { order, number: fifo.first + fifo.waiting.len() as u64 };
        let (mut missing, mut after) = (0, None);
        for (mapping, lines) in touched {
            if lines.is_empty() {
                continue;
            }
            let mut page = self.table.page(*mapping, lines.start);
            let last = self.table.page(*mapping, lines.end - 1);
            loop {
                let (walks, behind) = self.look_up(now, page, ticket);
                missing += walks;
                after = after.max(behind);
                if page == last {
                    break;
                }
                page = self.table.next(page);
            }
        }
        (missing, after)
    }

    /// Looks a page up.
    fn look_up(&mut self, now: Ps, page: Page, ticket: Ticket) -> Found {
        let fifo = &mut self.fifos[ticket.order as usize];
        let last = fifo.last[page.mapping as usize].replace((page, ticket.number));
        // One before it waits for the translation, and leaves first; or it has asked for it itself.
        let asked = last.filter(|&(asked, by)| asked == page && !fifo.has_left(by));
        let lookups = &mut self.lookups[page.mapping as usize];
        let held = self.iotlb.look_up(page.key());
        if held || asked.is_some() {
            lookups.hits += 1;
            let before = asked.map(|(_, by)| by).filter(|&by| !held && by != ticket.number);
            return (0, before);
        }
        lookups.misses += 1;
        self.walkers.ask(now, page, ticket, &mut self.table);
        (1, None)
    }

    /// The line of the page table that a walker reads now.
    pub(crate) fn walker_reads(&mut self, walker: u16) -> Line {
        self.walkers.read(walker, &self.table)
    }

    /// What a walker has read is there.
    pub(crate) fn entry_arrived(&mut self, now: Ps, walker: u16) {
        if let Some((page, ticket)) = self.walkers.arrived(now, walker, &mut self.table) {
            self.iotlb.insert(page.key());
            let fifo = &mut self.fifos[ticket.order as usize];
            fifo.waiting[(ticket.number - fifo.first) as usize].missing -= 1;
        }
    }

    /// The next transaction that has waited and may go on.
    pub(crate) fn next_ready(&mut self, now: Ps) -> Option<T> {
        let ready = |order: Order| Some((order, self.fifos[order as usize].ready()?));
        let (order, place) = [Order::Posted, Order::NonPosted].into_iter().find_map(ready)?;
        let fifo = &mut self.fifos[order as usize];
        fifo.waiting[place].left = true;
        fifo.queued -= 1;
        let left = fifo.waiting[place];
        fifo.waits.add(left.lines, now - left.arrived);
        while fifo.waiting.front().is_some_and(|w| w.left) {
            fifo.waiting.pop_front();
            fifo.first += 1;
        }
        if let Some(arrival) = fifo.behind.pop_front() {
            self.enter(now, order, arrival, false);
        }
        Some(left.transaction)
    }

    /// The transactions that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &T> {
        let all = self.fifos.iter().flat_map(|fifo| &fifo.waiting);
        let queued = all.filter(|w| !w.left).map(|w| &w.transaction);
        queued.chain(self.fifos.iter().flat_map(|fifo| &fifo.behind).map(|b| &b.0))
    }

    /// The pages of some lines are unmapped: their translations are gone, at once or with the next flush.
    /// Until then they keep their place, as the addresses are used again only after it. The upper levels
    /// stay (an invalidation with the hint that they do, VT-d specification, section 6.5.2.3).
    pub(crate) fn unmap(&mut self, mapping: Mapping, lines: Range<Line>, at_once: bool) {
        let mut page = self.table.page(mapping, lines.start);
        let last = self.table.page(mapping, lines.end - 1);
        loop {
            self.iotlb.remove(page.key(), at_once);
            if page == last {
                return;
            }
            page = self.table.next(page);
        }
    }

    /// All translations are gone, and all entries of the upper levels.
    pub(crate) fn flush(&mut self) {
        self.iotlb.flush();
        self.table.flush();
    }

    /// The line of the entry that maps the page of a line.
    pub(crate) fn leaf_entry(&self, mapping: Mapping, line: Line) -> Line {
        let page = self.table.page(mapping, line);
        self.table.entry(page, page.level)
    }

    /// How long transactions of an order have waited.
    pub(crate) fn waits(&self, order: Order) -> Waits {
        self.fifos[order as usize].waits
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
        for fifo in &mut self.fifos {
            fifo.waits = Waits::default();
        }
        self.in_flight_begin = self.walkers.in_flight();
        self.walkers.reset_counts(now);
        self.lookups = Default::default();
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::config::{
        IommuConfig, IotlbConfig, IotlbReplacement, Mode, PageSize, Pages, PagingStructures,
        RunTime,
    };

    /// An IOMMU of a few entries and 4 KiB pages whose walks read one level once they are warm.
    pub(crate) fn config(entries: u32) -> IommuConfig {
        let small = PageSize::Small;
        IommuConfig {
            mode: Mode::Loose,
            iotlb: IotlbConfig { entries, ways: entries, replacement: IotlbReplacement::Lru },
            paging_structures: PagingStructures { pml4: 4, pdpt: 4, pd: 4 },
            posted_queue: 64,
            non_posted_queue: 64,
            walkers: 2,
            step_latency: "10 ns".parse().expect("a time"),
            run_time: RunTime::default(),
            pages: Pages {
                payload: small,
                descriptors: small,
                completions: small,
                acknowledgements: small,
            },
        }
    }
}

#[cfg(test)]
mod tests;
