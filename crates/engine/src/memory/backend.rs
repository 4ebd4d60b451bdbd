//! Behind the LLC: the reads on their way from memory, what waits for room in the queues of the
//! channels, and the DRAM.

use std::collections::VecDeque;

use super::dram::{Done, Dram};
use super::line::{LINE_BYTES, Line, LineKind, node_of};
use super::socket_link::SocketLink;
use crate::config::machine::Machine;
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// Who waits for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requester {
    /// Miss register `register` of a core.
    Core { core: u16, register: u16, exclusive: bool },
    /// The prefetcher of a core's L2.
    Prefetch { core: u16 },
    /// A DMA read: the NIC's operation number.
    Nic { operation: u32 },
    /// A page walk of the IOMMU.
    Walker { walker: u16 },
}

/// A line on its way from memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) requester: Requester,
    /// The line was overwritten or swept on its way: nobody may keep what arrives.
    pub(super) stale: bool,
    sent: Ps,
}

/// A read with the requests for the same line that came later.
#[derive(Clone, Debug)]
struct Transaction {
    read: Read,
    waiting: Vec<Requester>,
}

/// A line on its way to a channel's write queue.
#[derive(Clone, Copy, Debug)]
struct Write {
    line: Line,
    /// A DMA write that holds a credit until the queue has it.
    credit: bool,
}

/// Requests and write-backs that wait for room in a channel's queues.
#[derive(Clone, Debug)]
struct Ingress {
    reads: VecDeque<(Line, u16)>,
    writes: VecDeque<Write>,
    /// The wake-up that is scheduled for the channel, or [`Ps::MAX`].
    wake: Ps,
}

/// Something the host must schedule on behalf of the memory system.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// Call [`Backend::wake`] for the channel.
    Channel(u16),
    /// Call [`super::system::Memory::arrive`] for the transaction.
    Arrival(u16),
    /// Call [`Backend::remote_read`] for the transaction.
    RemoteRead(u16),
    /// Call [`Backend::remote_write`] for the line, which holds a credit or does not.
    RemoteWrite(Line, bool),
    /// A DMA write that had to wait is in a write queue: the credit of its line returns.
    Written,
    /// Call [`Backend::remote_data`] for the transaction.
    RemoteData(u16),
}

/// The tag of a DRAM write: nobody waits for it.
const WRITE: u32 = u32::MAX;

/// Transactions, waiting requests and DRAM.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) dram: Dram,
    /// The way to the channels of the other socket, if there is one.
    pub(crate) link: Option<SocketLink>,
    /// DMA writes of lines whose credit returns by [`Due::Written`].
    late_writes: u32,
    /// Writes on that way, and how many of them there may be before the LLC stops taking requests.
    writes_on_link: usize,
    link_buffers: usize,
    ingress: Vec<Ingress>,
    transactions: Vec<Transaction>,
    free: Vec<u16>,
    /// The way of a line from memory to its requester.
    back: Ps,
    /// Write-backs that may wait for each channel before the LLC stops taking requests.
    writeback_buffers: usize,
    /// Channels in which more than that wait.
    full_channels: u32,
    /// Reads that may be under way before the LLC stops taking requests.
    home_trackers: usize,
    /// What the host must schedule; it drains this after every call.
    pub(crate) due: Vec<(Ps, Due)>,
    /// Requests that waited for a line that has arrived: the host must make them anew.
    pub(crate) again: Vec<Requester>,
    done: Vec<Done>,
    pub(crate) read_latency: Latency,
    /// Reads and writes in flight when measuring began, and those done since.
    in_flight_begin: (u64, u64),
    reads_done: u64,
    writes_done: u64,
    /// Writes in the channels' queues.
    writes_queued: u64,
    /// What the data buses of a node's channels could carry together, GB/s (bytes per nanosecond).
    pub(crate) bus_limit_gbps: f64,
}

impl Backend {
    /// `back` is the way of a line from memory to its requester.
    pub(super) fn new(machine: &Machine, dram: Dram, back: Ps) -> Backend {
        let empty = Ingress { reads: VecDeque::new(), writes: VecDeque::new(), wake: Ps::MAX };
        let writeback_buffers = machine.llc.writeback_buffers as usize;
        Backend {
            link: machine.numa.as_ref().filter(|_| dram.nodes() > 1).map(SocketLink::new),
            late_writes: 0,
            writes_on_link: 0,
            // Those that the other channels have.
            link_buffers: writeback_buffers * dram.per_node(),
            ingress: vec![empty; dram.channels()],
            dram,
            transactions: Vec::new(),
            free: Vec::new(),
            back,
            writeback_buffers,
            full_channels: 0,
            home_trackers: machine.llc.home_trackers.map_or(usize::MAX, |n| n as usize),
            due: Vec::new(),
            again: Vec::new(),
            done: Vec::new(),
            read_latency: Latency::default(),
            in_flight_begin: (0, 0),
            reads_done: 0,
            writes_done: 0,
            writes_queued: 0,
            bus_limit_gbps: bus_limit_gbps(machine),
        }
    }

    /// Whether the LLC takes requests: it does not while write-backs wait for room, or while no more
    /// reads can be tracked.
    #[inline]
    pub(crate) fn takes_requests(&self) -> bool {
        self.full_channels == 0 && self.reads_under_way() < self.home_trackers
    }

    #[inline]
    fn reads_under_way(&self) -> usize {
        self.transactions.len() - self.free.len()
    }

    /// The transaction that the next [`Self::read`] will have.
    #[inline]
    pub(super) fn next_transaction(&mut self) -> u16 {
        match self.free.last() {
            Some(&free) => free,
            None => self.new_transaction(),
        }
    }

    #[cold]
    fn new_transaction(&mut self) -> u16 {
        let new = self.transactions.len() as u16;
        let read = Read {
            line: 0,
            kind: LineKind::App,
            requester: Requester::Nic { operation: 0 },
            stale: false,
            sent: Ps::ZERO,
        };
        self.transactions.push(Transaction { read, waiting: Vec::new() });
        self.free.push(new);
        new
    }

    /// Sends a read to memory under the transaction that [`Self::next_transaction`] offered. What
    /// it brings will be `stale` from the start for a requester that must not keep it.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        now: Ps,
        line: Line,
        kind: LineKind,
        requester: Requester,
        stale: bool,
    ) {
        let transaction = self.free.pop().expect("a transaction was offered");
        let read = Read { line, kind, requester, stale, sent: now };
        self.transactions[usize::from(transaction)].read = read;
        match &mut self.link {
            Some(link) if node_of(line) != 0 => {
                let at = link.request(now);
                self.due.push((at, Due::RemoteRead(transaction)));
            }
            _ => self.enter_read(now, line, transaction),
        }
    }

    /// The request for a line of the other socket is there.
    pub(crate) fn remote_read(&mut self, now: Ps, transaction: u16) {
        let read = &mut self.transactions[usize::from(transaction)].read;
        read.sent = now;
        let line = read.line;
        self.enter_read(now, line, transaction);
    }

    /// A line of the other socket has been read there and sets out.
    pub(crate) fn remote_data(&mut self, now: Ps, transaction: u16) {
        let link = self.link.as_mut().expect("there is another socket");
        let at = link.data(now) + self.back;
        self.due.push((at, Due::Arrival(transaction)));
    }

    #[inline]
    fn enter_read(&mut self, now: Ps, line: Line, transaction: u16) {
        let channel = self.dram.channel_of(line);
        let ingress = &mut self.ingress[channel];
        if ingress.reads.is_empty() && self.dram.can_accept(channel, false) {
            let wake = self.dram.push(now, channel, line, false, u32::from(transaction));
            self.schedule(channel, wake);
        } else {
            ingress.reads.push_back((line, transaction));
        }
    }

    /// Sends a write to memory. One that holds a `credit` and cannot enter a write queue at once is
    /// followed by [`Due::Written`].
    #[inline(never)]
    pub(super) fn write(&mut self, now: Ps, line: Line, credit: bool) {
        match &mut self.link {
            Some(link) if node_of(line) != 0 => {
                let at = link.write(now);
                self.due.push((at, Due::RemoteWrite(line, credit)));
                self.late_writes += u32::from(credit);
                self.writes_on_link += 1;
                if self.writes_on_link == self.link_buffers {
                    self.full_channels += 1;
                }
            }
            _ => {
                let entered = self.enter_write(now, line, credit);
                self.late_writes += u32::from(credit && !entered);
            }
        }
    }

    /// A line to be written on the other socket is there.
    pub(crate) fn remote_write(&mut self, now: Ps, line: Line, credit: bool) {
        if self.writes_on_link == self.link_buffers {
            self.full_channels -= 1;
        }
        self.writes_on_link -= 1;
        if self.enter_write(now, line, credit) && credit {
            self.written(now);
        }
    }

    fn written(&mut self, now: Ps) {
        self.late_writes -= 1;
        self.due.push((now, Due::Written));
    }

    /// DMA writes of lines that hold a credit until a write queue has them.
    pub(crate) fn late_writes(&self) -> u32 {
        self.late_writes
    }

    /// Puts a write into its channel's queue, or behind those that wait for room in it. Returns
    /// whether the queue has it.
    #[inline]
    fn enter_write(&mut self, now: Ps, line: Line, credit: bool) -> bool {
        let channel = self.dram.channel_of(line);
        let ingress = &mut self.ingress[channel];
        if ingress.writes.is_empty() && self.dram.can_accept(channel, true) {
            let wake = self.dram.push(now, channel, line, true, WRITE);
            self.writes_queued += 1;
            self.schedule(channel, wake);
            true
        } else {
            ingress.writes.push_back(Write { line, credit });
            if ingress.writes.len() == self.writeback_buffers {
                self.full_channels += 1;
            }
            false
        }
    }

    /// A request waits for the transaction that brings its line. Returns whether it has taken over
    /// a prefetch of the same core. One whose line is stale it lets alone: there is something newer
    /// to ask for.
    pub(super) fn wait(&mut self, transaction: u16, requester: Requester, core: u16) -> bool {
        let t = &mut self.transactions[usize::from(transaction)];
        let takes_over = t.read.requester == (Requester::Prefetch { core }) && !t.read.stale;
        if takes_over {
            t.read.requester = requester;
        } else {
            t.waiting.push(requester);
        }
        takes_over
    }

    /// Nobody may keep what a transaction brings: its line was overwritten or swept.
    pub(super) fn make_stale(&mut self, transaction: u16) {
        self.transactions[usize::from(transaction)].read.stale = true;
    }

    #[inline]
    fn schedule(&mut self, channel: usize, wake: Ps) {
        let ingress = &mut self.ingress[channel];
        if wake < ingress.wake {
            ingress.wake = wake;
            self.due.push((wake, Due::Channel(channel as u16)));
        }
    }

    /// The wake-up of a channel: its controller acts. One that a sooner wake-up has replaced is
    /// ignored.
    pub(crate) fn wake(&mut self, now: Ps, channel: u16) {
        let c = channel as usize;
        if self.ingress[c].wake != now {
            return;
        }
        self.ingress[c].wake = Ps::MAX;
        let mut wake = self.dram.advance(c, now, &mut self.done);
        for done in self.done.drain(..) {
            if done.write {
                self.writes_done += 1;
                self.writes_queued -= 1;
            } else {
                let transaction = done.tag as u16;
                let sent = self.transactions[usize::from(transaction)].read.sent;
                self.read_latency.record(done.at - sent);
                self.due.push(if c < self.dram.per_node() {
                    (done.at + self.back, Due::Arrival(transaction))
                } else {
                    (done.at, Due::RemoteData(transaction))
                });
            }
        }
        let ingress = &mut self.ingress[c];
        let mut written = 0;
        while let Some(&(line, transaction)) = ingress.reads.front()
            && self.dram.can_accept(c, false)
        {
            ingress.reads.pop_front();
            wake = wake.min(self.dram.push(now, c, line, false, u32::from(transaction)));
        }
        while let Some(&Write { line, credit }) = ingress.writes.front()
            && self.dram.can_accept(c, true)
        {
            if ingress.writes.len() == self.writeback_buffers {
                self.full_channels -= 1;
            }
            ingress.writes.pop_front();
            wake = wake.min(self.dram.push(now, c, line, true, WRITE));
            self.writes_queued += 1;
            written += u32::from(credit);
        }
        for _ in 0..written {
            self.written(now);
        }
        self.schedule(c, wake);
    }

    /// A transaction ends: its line has arrived, and the requests that waited for it are due again.
    #[inline]
    pub(super) fn end(&mut self, transaction: u16) -> Read {
        let t = &mut self.transactions[usize::from(transaction)];
        if !t.waiting.is_empty() {
            self.again.append(&mut t.waiting);
        }
        let read = t.read;
        self.free.push(transaction);
        self.reads_done += 1;
        read
    }

    /// Reads and writes on their way to memory or in its queues.
    fn in_flight(&self) -> (u64, u64) {
        let reads = self.reads_under_way();
        let waiting: usize = self.ingress.iter().map(|i| i.writes.len()).sum();
        (reads as u64, (waiting + self.writes_on_link) as u64 + self.writes_queued)
    }

    /// Both sides of the balances of reads and writes since the measured time began, of which
    /// `reads` and `writes` were sent.
    pub(super) fn balance(&self, reads: u64, writes: u64) -> MemoryBalance {
        let in_flight = self.in_flight();
        MemoryBalance {
            reads_sent: self.in_flight_begin.0 + reads,
            reads_done: self.reads_done + in_flight.0,
            writes_sent: self.in_flight_begin.1 + writes,
            writes_done: self.writes_done + in_flight.1,
        }
    }

    /// A seeded fault: the credit of a write that waits is forgotten.
    #[cfg(test)]
    pub(crate) fn forget_a_late_write(&mut self) {
        self.late_writes -= 1;
    }

    /// A seeded fault: a write vanishes on the link between the sockets.
    #[cfg(test)]
    pub(crate) fn lose_a_remote_write(&mut self) {
        self.writes_on_link -= 1;
    }

    /// A seeded fault: a write-back vanishes on its way to memory.
    #[cfg(test)]
    pub(crate) fn lose_a_write(&mut self) {
        self.writes_done -= 1;
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.in_flight_begin = self.in_flight();
        (self.reads_done, self.writes_done) = (0, 0);
        self.read_latency.reset();
        if let Some(link) = &mut self.link {
            link.reset_counts();
        }
        self.dram.reset_stats(now);
    }
}

fn bus_limit_gbps(machine: &Machine) -> f64 {
    let dram = &machine.dram;
    let burst = dram.standard.clock().at(u64::from(dram.resolved_timings().bl));
    (LINE_BYTES * u64::from(dram.channels)) as f64 / burst.as_ns_f64()
}

/// Both sides of the balances of memory traffic, in lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBalance {
    pub(crate) reads_sent: u64,
    pub(crate) reads_done: u64,
    pub(crate) writes_sent: u64,
    pub(crate) writes_done: u64,
}
