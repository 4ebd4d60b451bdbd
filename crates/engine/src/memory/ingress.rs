//! The memory channels, and the requests that wait for room in their queues.

use std::collections::VecDeque;

use super::dram::{Done, Dram};
use super::due::Due;
use super::line::Line;
use crate::stats::occupancy::Starvation;
use crate::time::Ps;

/// A request on its way to a channel's queues.
#[derive(Clone, Copy, Debug)]
enum Request {
    /// A read, with its transaction.
    Read(u16),
    /// A write. With a `credit`, it is a DMA write that holds one until it is in the queue.
    Write { credit: bool },
}

/// Requests and write-backs that wait for room in a channel's queues.
#[derive(Clone, Debug)]
struct Waiting {
    /// One FIFO for reads and one for writes, or all requests in the first ([`Dram::takes_in_order`]).
    lines: [VecDeque<(Line, Request)>; 2],
    /// Writes among them.
    writes: u32,
    /// Time for which a write waits.
    full: Starvation,
    /// The wake-up that is scheduled for the channel, or [`Ps::MAX`].
    wake: Ps,
}

/// The tag of a DRAM write: nobody waits for it.
const WRITE: u32 = u32::MAX;

/// The channels of all nodes, and what waits in front of each.
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
            lines: Default::default(),
            writes: 0,
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
        if self.may_enter(channel, false) {
            let wake = self.dram.push(now, channel, line, false, u32::from(transaction));
            self.schedule(channel, wake, due);
        } else {
            self.waiting[channel].lines[0].push_back((line, Request::Read(transaction)));
        }
    }

    /// The FIFO in which a read or a write waits.
    #[inline]
    fn line_of(&self, write: bool) -> usize {
        usize::from(write && !self.dram.takes_in_order())
    }

    /// Whether a request that comes now can enter its queue at once.
    #[inline]
    fn may_enter(&self, channel: usize, write: bool) -> bool {
        let line = &self.waiting[channel].lines[self.line_of(write)];
        line.is_empty() && self.dram.can_accept(channel, write)
    }

    /// Puts a write into its channel's queue, or behind those that wait for room in it. Returns whether
    /// it entered the queue; if not, [`Due::Written`] follows for a write that holds a `credit`.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        now: Ps,
        line: Line,
        credit: bool,
        due: &mut Vec<(Ps, Due)>,
    ) -> bool {
        let channel = self.dram.channel_of(line);
        if self.may_enter(channel, true) {
            let wake = self.dram.push(now, channel, line, true, WRITE);
            self.queued += 1;
            self.schedule(channel, wake, due);
            true
        } else {
            let at = self.line_of(true);
            let waiting = &mut self.waiting[channel];
            waiting.lines[at].push_back((line, Request::Write { credit }));
            waiting.writes += 1;
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

    /// The wake-up of a channel: its controller acts, and `read` is called for each transaction that
    /// has its data, with the time of that data. A wake-up that an earlier one has replaced is ignored.
    /// Returns how many waiting writes have entered the queue, and how many of those hold a credit.
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
        let (mut entered, mut written) = (0, 0);
        for at in 0..2 {
            while let Some(&(line, request)) = self.waiting[c].lines[at].front()
                && self.dram.can_accept(c, matches!(request, Request::Write { .. }))
            {
                self.waiting[c].lines[at].pop_front();
                let woken = match request {
                    Request::Read(transaction) => {
                        self.dram.push(now, c, line, false, u32::from(transaction))
                    }
                    Request::Write { credit } => {
                        entered += 1;
                        written += u32::from(credit);
                        self.dram.push(now, c, line, true, WRITE)
                    }
                };
                wake = wake.min(woken);
            }
        }
        self.queued += u64::from(entered);
        let waiting = &mut self.waiting[c];
        waiting.writes -= entered;
        if entered > 0 && waiting.writes == 0 {
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
        let waiting: u32 = self.waiting.iter().map(|w| w.writes).sum();
        u64::from(waiting) + self.queued
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::dram::{Admission, DramConfig};
    use crate::testing::machine;

    /// Whether a read enters at once behind two writes, one of which waits. All three are served.
    fn enters_behind_writes(admission: Admission) -> bool {
        let dram = machine().dram;
        let dram = DramConfig { channels: 1, read_queue: 4, write_queue: 1, admission, ..dram };
        let mut ingress = Ingress::new(Dram::new(&dram).expect("a memory"));
        let mut due = Vec::new();
        assert!(ingress.write(Ps::ZERO, 0, false, &mut due));
        assert!(!ingress.write(Ps::ZERO, 1, false, &mut due), "its queue is full");
        ingress.read(Ps::ZERO, 2, 7, &mut due);
        let at_once = ingress.waiting[0].lines[0].is_empty();
        let (mut served, mut entered) = (Vec::new(), 0);
        while let Some(&(at, _)) = due.iter().min_by_key(|(at, _)| *at) {
            due.retain(|(other, _)| *other != at);
            let (late, _) = ingress.wake(at, 0, &mut due, |_, read, _| served.push(read));
            entered += late;
        }
        assert_eq!((served, entered, ingress.writes(), ingress.writes_done), (vec![7], 1, 0, 2));
        assert_eq!(ingress.waiting[0].writes, 0);
        at_once
    }

    #[test]
    fn in_one_line_reads_wait_behind_writes_that_find_no_room() {
        assert!(enters_behind_writes(Admission::Separate));
        assert!(!enters_behind_writes(Admission::InOrder));
    }
}
