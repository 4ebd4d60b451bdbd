//! The IOMMU: every DMA waits at the I/O controller until the pages it touches are translated.
//!
//! A transaction looks up its pages in the IOTLB when it enters its queue ([`queue`]), whose length
//! is limited. For each miss a walker reads the page table from memory.
//!
//! If the preceding transaction of the same kind already waits for a page, no second walk is made,
//! since the later transaction cannot leave first. Other misses are not merged: two walks for one
//! page may run side by side.

pub mod config;
mod iotlb;
mod page_table;
mod queue;
mod walker;

use std::ops::Range;

use config::IommuConfig;
use iotlb::Iotlb;
pub(crate) use page_table::Mapping;
use page_table::{MAPPINGS, Page, PageTable};
pub(crate) use queue::Order;
use queue::{Arrival, Found, Queue, Ticket};
use walker::Walkers;

use crate::memory::address_space::AddressSpace;
use crate::memory::line::Line;
use crate::time::Ps;

/// The lines that a transaction touches, as one or two ranges; with one, the other is empty.
pub(crate) type Touched = [(Mapping, Range<Line>); 2];

/// The value for a transaction that touches one range.
pub(crate) fn one_range(mapping: Mapping, lines: Range<Line>) -> Touched {
    [(mapping, lines), (mapping, 0..0)]
}

/// Lookups of one kind of mapping since measuring began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookups {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    /// Those of reads alone.
    pub(crate) read_hits: u64,
    pub(crate) read_misses: u64,
}

/// The IOMMU, for transactions of the host's type `T`.
#[derive(Clone, Debug)]
pub(crate) struct Iommu<T> {
    iotlb: Iotlb,
    table: PageTable,
    pub(crate) walkers: Walkers,
    queues: [Queue<T>; 2],
    pub(crate) lookups: [Lookups; MAPPINGS],
    /// Walks in flight when measuring began: waiting, and under way.
    pub(crate) in_flight_begin: (u64, u64),
}

impl<T: Copy> Iommu<T> {
    /// An IOMMU that maps everything reserved in `space` so far, and reserves its page table there.
    pub(crate) fn new(config: &IommuConfig, space: &mut AddressSpace) -> Iommu<T> {
        let IommuConfig { iotlb, posted_queue, non_posted_queue, .. } = config;
        Iommu {
            iotlb: Iotlb::new(iotlb.entries, iotlb.ways, iotlb.replacement),
            table: PageTable::new(config, space),
            walkers: Walkers::new(config.walkers, config.step_latency.ps()),
            queues: [Queue::new(*posted_queue), Queue::new(*non_posted_queue)],
            lookups: Default::default(),
            in_flight_begin: (0, 0),
        }
    }

    /// A transaction that touches these lines arrives; with `passes` it may leave before those that
    /// wait. Returns whether it continues at once; if not, it waits, and [`Self::next_ready`]
    /// returns it later.
    pub(crate) fn arrive(
        &mut self,
        now: Ps,
        order: Order,
        transaction: T,
        touched: Touched,
        passes: bool,
    ) -> bool {
        let [writes, _] = &self.queues;
        let writes_before = if order == Order::NonPosted { writes.arrived() } else { 0 };
        let arrival = Arrival { transaction, touched, passes, writes_before };
        let Some(arrival) = self.queues[order as usize].make_room(arrival) else { return false };
        let found = self.look_up_all(now, order, &arrival.touched);
        let at_once = writes_before <= self.queues[Order::Posted as usize].gone();
        !self.queues[order as usize].enter(&arrival, found, at_once)
    }

    /// Looks up the pages of a transaction that enters its queue.
    fn look_up_all(&mut self, now: Ps, order: Order, touched: &Touched) -> Found {
        let ticket = Ticket { order, number: self.queues[order as usize].next_number() };
        let mut found = Found::default();
        let mut looked_up = None;
        for (mapping, lines) in touched {
            if lines.is_empty() {
                continue;
            }
            let mut page = self.table.page(*mapping, lines.start);
            let last = self.table.page(*mapping, lines.end - 1);
            loop {
                // A fetch that wraps around in its ring may be back on the same page.
                if looked_up.replace(page) != Some(page) {
                    self.look_up(now, page, ticket, &mut found);
                }
                if page == last {
                    break;
                }
                page = self.table.next(page);
            }
        }
        found
    }

    /// Looks up one page.
    fn look_up(&mut self, now: Ps, page: Page, ticket: Ticket, found: &mut Found) {
        let held = self.iotlb.look_up(page.key());
        let queue = &mut self.queues[ticket.order as usize];
        // Either an earlier transaction waits for the translation and leaves first, or this one
        // asked for it.
        let asked_by = if held { queue.found(page) } else { queue.ask(page, ticket.number) };
        let lookups = &mut self.lookups[page.mapping as usize];
        let read = u64::from(ticket.order == Order::NonPosted);
        if held || asked_by.is_some() {
            lookups.hits += 1;
            lookups.read_hits += read;
            found.after = found.after.max(asked_by.filter(|&by| by != ticket.number));
            return;
        }
        lookups.misses += 1;
        lookups.read_misses += read;
        found.missing += 1;
        self.walkers.ask(now, page, ticket, &mut self.table);
    }

    /// The page-table line that a walker reads now.
    pub(crate) fn walker_reads(&mut self, walker: u16) -> Line {
        self.walkers.read(walker, &self.table)
    }

    /// The entry that a walker has read has arrived.
    pub(crate) fn entry_arrived(&mut self, now: Ps, walker: u16) {
        if let Some((page, ticket)) = self.walkers.arrived(now, walker, &mut self.table) {
            self.iotlb.insert(page.key());
            self.queues[ticket.order as usize].translated(ticket.number);
        }
    }

    /// Takes the next waiting transaction that may continue.
    pub(crate) fn next_ready(&mut self, now: Ps) -> Option<T> {
        let gone = self.queues[Order::Posted as usize].gone();
        let ready = |order: Order| Some((order, self.queues[order as usize].ready(gone)?));
        let (order, place) = [Order::Posted, Order::NonPosted].into_iter().find_map(ready)?;
        let transaction = self.queues[order as usize].leave(place);
        // This makes room for another.
        if let Some(arrival) = self.queues[order as usize].next_behind() {
            let found = self.look_up_all(now, order, &arrival.touched);
            self.queues[order as usize].enter(&arrival, found, false);
        }
        Some(transaction)
    }

    /// All transactions that wait.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &T> {
        let [posted, non_posted] = &self.queues;
        posted.waiting().chain(non_posted.waiting())
    }

    /// Unmaps the pages of these lines: their translations are invalidated, at once or by the next
    /// flush. Until then they still occupy IOTLB entries, since the addresses are reused only after
    /// the flush. The upper levels stay (an invalidation whose hint says so, VT-d specification,
    /// section 6.5.2.3).
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

    /// Invalidates all translations and all cached entries of the upper levels.
    pub(crate) fn flush(&mut self) {
        self.iotlb.flush();
        self.table.flush();
    }

    /// The line of the leaf entry that maps the page of a line.
    pub(crate) fn leaf_entry(&self, mapping: Mapping, line: Line) -> Line {
        let page = self.table.page(mapping, line);
        self.table.entry(page, page.level)
    }

    /// Starts the measured time.
    pub(crate) fn reset_counts(&mut self, now: Ps) {
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

    /// An IOMMU with few entries and 4 KiB pages, whose walks read a single level once the caches are warm.
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
