//! Page walks: a limited number at a time, each reading one level of the page table after another
//! from memory.

use std::collections::VecDeque;

use super::Ticket;
use super::page_table::{Page, PageTable};
use crate::memory::line::Line;
use crate::stats::occupancy::Starvation;
use crate::time::Ps;

/// A walk that waits for a walker or is under way.
#[derive(Clone, Copy, Debug)]
struct Walk {
    page: Page,
    ticket: Ticket,
    asked: Ps,
    /// The level that it is reading now.
    level: u8,
}

/// Counters of the walkers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WalkCounts {
    /// Walks started and finished.
    pub(crate) started: u64,
    pub(crate) finished: u64,
    /// Entries read.
    pub(crate) reads: u64,
    /// Sum, over finished walks, of the time from the miss to the translation.
    pub(crate) miss_time: u128,
    /// Time integral of the number of busy walkers.
    pub(crate) busy_time: u128,
}

/// The walkers, and the misses that wait for one.
#[derive(Clone, Debug)]
pub(crate) struct Walkers {
    walks: Vec<Option<Walk>>,
    queue: VecDeque<Walk>,
    step: Ps,
    busy: u32,
    busy_since: Ps,
    /// Walkers that need to read their entry, and when; the host drains this after every call.
    pub(crate) due: Vec<(Ps, u16)>,
    pub(crate) counts: WalkCounts,
    /// Time in which misses wait because all walkers are busy.
    pub(crate) starved: Starvation,
}

impl Walkers {
    pub(super) fn new(walkers: u32, step: Ps) -> Walkers {
        Walkers {
            walks: vec![None; walkers as usize],
            queue: VecDeque::new(),
            step,
            busy: 0,
            busy_since: Ps::ZERO,
            due: Vec::new(),
            counts: WalkCounts::default(),
            starved: Starvation::default(),
        }
    }

    /// Walks waiting, and walks under way.
    pub(crate) fn in_flight(&self) -> (u64, u64) {
        (self.queue.len() as u64, u64::from(self.busy))
    }

    fn account(&mut self, now: Ps) {
        self.counts.busy_time += u128::from(self.busy) * u128::from((now - self.busy_since).0);
        self.busy_since = now;
    }

    /// A transaction needs a translation that is not cached.
    pub(super) fn ask(&mut self, now: Ps, page: Page, ticket: Ticket, table: &mut PageTable) {
        self.queue.push_back(Walk { page, ticket, asked: now, level: 0 });
        if let Some(free) = self.walks.iter().position(Option::is_none) {
            self.start(now, free, table);
        } else {
            self.starved.begin(now);
        }
    }

    /// A free walker takes the miss that has waited longest.
    fn start(&mut self, now: Ps, walker: usize, table: &mut PageTable) {
        let Some(mut walk) = self.queue.pop_front() else { return };
        if self.queue.is_empty() {
            self.starved.end(now);
        }
        self.account(now);
        self.busy += 1;
        self.counts.started += 1;
        walk.level = table.first_level(walk.page);
        self.walks[walker] = Some(walk);
        self.due.push((now + self.step, walker as u16));
    }

    /// The line of the entry that a walker reads now.
    pub(super) fn read(&mut self, walker: u16, table: &PageTable) -> Line {
        self.counts.reads += 1;
        let walk = self.walks[walker as usize].as_ref().expect("a walker that reads has a walk");
        table.entry(walk.page, walk.level)
    }

    /// The entry that a walker has read has arrived. Once the page is translated, returns it and
    /// the transaction that asked for it.
    pub(super) fn arrived(
        &mut self,
        now: Ps,
        walker: u16,
        table: &mut PageTable,
    ) -> Option<(Page, Ticket)> {
        let slot = &mut self.walks[walker as usize];
        let walk = slot.as_mut().expect("a walker that has read has a walk");
        if walk.level > walk.page.level {
            table.keep(walk.page, walk.level);
            walk.level -= 1;
            self.due.push((now + self.step, walker));
            return None;
        }
        let walk = slot.take().expect("it was there");
        self.account(now);
        self.busy -= 1;
        self.counts.finished += 1;
        self.counts.miss_time += u128::from((now - walk.asked).0);
        self.start(now, walker as usize, table);
        Some((walk.page, walk.ticket))
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.account(now);
        self.counts = WalkCounts::default();
        self.starved.reset(now);
    }

    /// Time integral of the number of busy walkers until `now`.
    pub(crate) fn busy_time(&self, now: Ps) -> u128 {
        self.counts.busy_time + u128::from(self.busy) * u128::from((now - self.busy_since).0)
    }
}
