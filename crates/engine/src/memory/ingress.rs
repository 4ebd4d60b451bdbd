//! What waits for room in the queues of the memory channels, and the channels.

use std::collections::VecDeque;

use super::dram::{Done, Dram};
use super::due::Due;
use super::line::Line;
use crate::stats::occupancy::Starvation;
use crate::time::Ps;

/// A line on its way to a channel's write queue.
#[derive(Clone, Copy, Debug)]
struct Write {
    line: Line,
    /// A DMA write that holds a credit until the queue has it.
    credit: bool,
}

/// Requests and write-backs that wait for room in a channel's queues.
#[derive(Clone, Debug)]
struct Waiting {
    reads: VecDeque<(Line, u16)>,
    writes: VecDeque<Write>,
    /// A write waits: the write queue is full.
    full: Starvation,
    /// The wake-up that is scheduled for the channel, or [`Ps::MAX`].
    wake: Ps,
}

/// The tag of a DRAM write: nobody waits for it.
const WRITE: u32 = u32::MAX;

/// The channels of all nodes, and what waits before each.
#[derive(Clone, Debug)]
pub(crate) struct Ingress {
    pub(crate) dram: Dram,
    waiting: Vec<Waiting>,
    /// Writes in the channels' queues, and those done since measuring began.
    queued: u64,
    pub(super) writes_done: u64,
    done: Vec<Done>,
}

impl Ingress {
    pub(super) fn new(dram: Dram) -> Ingress {
        let empty = Waiting {
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            full: Starvation::default(),
            wake: Ps::MAX,
        };
        Ingress {
            waiting: vec![empty; dram.channels()],
            dram,
            queued: 0,
            writes_done: 0,
            done: Vec::new(),
        }
    }

    /// Puts a read into its channel's queue, or behind those that wait for room in it.
    #[inline(always)]
    pub(super) fn read(&mut self, now: Ps, line: Line, transaction: u16, due: &mut Vec<(Ps, Due)>) {
        let channel = self.dram.channel_of(line);
        let waiting = &mut self.waiting[channel];
        if waiting.reads.is_empty() && self.dram.can_accept(channel, false) {
            let wake = self.dram.push(now, channel, line, false, u32::from(transaction));
            self.schedule(channel, wake, due);
        } else {
            waiting.reads.push_back((line, transaction));
        }
    }

    /// Puts a write into its channel's queue, or behind those that wait for room in it. Returns
    /// whether the queue has it; if not, [`Due::Written`] follows for one that holds a `credit`.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        now: Ps,
        line: Line,
        credit: bool,
        due: &mut Vec<(Ps, Due)>,
    ) -> bool {
        let channel = self.dram.channel_of(line);
        let waiting = &mut self.waiting[channel];
        if waiting.writes.is_empty() && self.dram.can_accept(channel, true) {
            let wake = self.dram.push(now, channel, line, true, WRITE);
            self.queued += 1;
            self.schedule(channel, wake, due);
            true
        } else {
            waiting.writes.push_back(Write { line, credit });
            waiting.full.begin(now);
            false
        }
    }

    #[inline]
    fn schedule(&mut self, channel: usize, wake: Ps, due: &mut Vec<(Ps, Due)>) {
        let waiting = &mut self.waiting[channel];
        if wake < waiting.wake {
            waiting.wake = wake;
            due.push((wake, Due::Channel(channel as u16)));
        }
    }

    /// The wake-up of a channel: its controller acts, and `read` is told of the transactions that have
    /// their data, and when. A wake-up that a sooner one has replaced is ignored. Returns how many of
    /// the writes that waited have entered the queue, and how many of them with a credit.
    pub(super) fn wake(
        &mut self,
        now: Ps,
        channel: u16,
        due: &mut Vec<(Ps, Due)>,
        mut read: impl FnMut(Ps, u16, &mut Vec<(Ps, Due)>),
    ) -> (u32, u32) {
        let c = channel as usize;
        if self.waiting[c].wake != now {
            return (0, 0);
        }
        self.waiting[c].wake = Ps::MAX;
        let mut wake = self.dram.advance(c, now, &mut self.done);
        for done in &self.done {
            if done.write {
                self.writes_done += 1;
                self.queued -= 1;
            } else {
                read(done.at, done.tag as u16, due);
            }
        }
        self.done.clear();
        let waiting = &mut self.waiting[c];
        while let Some(&(line, transaction)) = waiting.reads.front()
            && self.dram.can_accept(c, false)
        {
            waiting.reads.pop_front();
            wake = wake.min(self.dram.push(now, c, line, false, u32::from(transaction)));
        }
        let (mut entered, mut written) = (0, 0);
        while let Some(&Write { line, credit }) = waiting.writes.front()
            && self.dram.can_accept(c, true)
        {
            waiting.writes.pop_front();
            wake = wake.min(self.dram.push(now, c, line, true, WRITE));
            self.queued += 1;
            entered += 1;
            written += u32::from(credit);
        }
        if entered > 0 && waiting.writes.is_empty() {
            waiting.full.end(now);
        }
        for _ in 0..written {
            due.push((now, Due::Written));
        }
        self.schedule(c, wake, due);
        (entered, written)
    }

    /// Writes that wait for room or are in the queues.
    pub(super) fn writes(&self) -> u64 {
        let waiting: usize = self.waiting.iter().map(|w| w.writes.len()).sum();
        waiting as u64 + self.queued
    }

    /// Time for which writes have waited for room in a channel's queue.
    pub(crate) fn full_time(&self, channel: usize, now: Ps) -> Ps {
        self.waiting[channel].full.time(now)
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        for waiting in &mut self.waiting {
            waiting.full.reset(now);
        }
        self.writes_done = 0;
        self.dram.reset_stats(now);
    }
}
