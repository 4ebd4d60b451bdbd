//! The host: builds the packet path from a scenario (`build.rs`) and runs its events.
//!
//! Events drive the path in the order of (time, order of scheduling). A core dispatches ahead of them by at most
//! [`MAX_SKEW`] of simulated time, and touches only its own private caches while it does. What happens to
//! these in the meantime (another agent invalidates a line, takes the right to write it or puts one there)
//! takes effect late by up to that much, or up to when the last access that the core has dispatched is issued.

mod admission;
mod arrivals;
mod backlog;
mod balance;
mod build;
mod closed_loop;
mod completions;
mod credits;
mod dma_bench;
mod domain_counters;
mod domains;
mod interconnect;
mod mapping;
mod memory_domains;
mod meters;
mod packets;
mod reads;
mod results;
mod rx;
mod sender_series;
mod series;
mod shares;
mod software;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod tests;
mod timeline;
mod translate;
mod tx;
mod waiting_for_link;
mod writes;

use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) use self::domains::WIRE;
use crate::apps::AnyApp;
use crate::config::Scenario;
use crate::core::ask::Ask;
use crate::core::interval::Core;
use crate::core::op::Mark;
use crate::events::Events;
use crate::iommu::Iommu;
use crate::memory::line::Line;
use crate::memory::system::{Due, Memory, Requester};
use crate::nic::queue::QueuePair;
use crate::nic::rss::Rss;
use crate::stats::results::Results;
use crate::time::Ps;
use crate::transport::Step;
use crate::units::Rate;
use crate::wire::{Arrival, Source};

pub use build::BuildError;
pub(crate) use build::source;
use closed_loop::ClosedLoop;
use dma_bench::BenchDevice;
use interconnect::Interconnect;
use mapping::RunTimeMapping;
use meters::Meters;
use packets::Packets;
use reads::Reads;
use rx::Receiver;
use timeline::Recorder;
use tx::Transmitter;
use writes::Writes;

/// How far a core may run ahead of the rest of the machine.
pub const MAX_SKEW: Ps = Ps::from_ns(50);

/// Something that happens at a point in time. Eight bytes, so that the queue moves it in a register.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The wire's next packet reaches the NIC.
    Arrival,
    /// Lines `first..first + lines` of a packet reach the memory system.
    Write { packet: u32, first: u16, lines: u8 },
    /// The completions of this many packets of a queue, all in one line, reach the memory system.
    Complete { queue: u16, packets: u32 },
    /// The completion of transmitted packets reaches the memory system.
    TransmitComplete { core: u16, line: Line },
    /// Lines of a write of the DMA benchmark reach the memory system; `ends` if they are the last
    /// ones. (`lines` is not a `u8`: `ends` would then lie in one half of the 16 bits that hold a
    /// single number in all other events, and every event would be taken apart into bytes.)
    BenchWrite { line: Line, lines: u16, ends: bool },
    /// The device of the DMA benchmark can start a transaction.
    BenchStart,
    /// The doorbell for this many receive descriptors of a queue reaches the NIC.
    ReceiveDoorbell { queue: u16, descriptors: u32 },
    /// The same for packets to transmit.
    TransmitDoorbell { queue: u16, packets: u32 },
    /// A page walk reads an entry from the memory system.
    WalkRead { walker: u16 },
    /// The LLC has served that read.
    WalkData { walker: u16 },
    /// The link to the processor can take a write that has been waiting for it.
    LinkFree,
    /// The NIC can take the next packet out of its SRAM, for which one has been waiting.
    NextReceived,
    /// The same for the next packet to send.
    NextSent,
    /// Line credits and TLP credits of DMA writes return to the NIC.
    Credits { lines: u16, tlps: u8 },
    /// The completion of a packet becomes visible to the core.
    Visible { packet: u32 },
    /// A read of the NIC reaches the memory system.
    Read { read: u32 },
    /// All data of a read is at the I/O controller.
    ReadReady { read: u32 },
    /// All data of a read for transmission is at the NIC.
    ReadAtNic { read: u32 },
    /// All data of a read is at the NIC and, for transmission, on the wire.
    ReadDone { read: u32 },
    /// A core continues to run.
    Run { core: u16 },
    /// A request of a core's miss register reaches the LLC.
    Request { core: u16, register: u16 },
    /// A sweep message reaches the LLC.
    Sweep { first: Line, lines: u16 },
    /// A `clwb` reaches the LLC.
    WriteBack { line: Line },
    /// A core has the IOMMU do an invalidation.
    Invalidate { core: u16 },
    /// A program reaches a mark.
    Mark { core: u16, mark: Mark, packet: u32 },
    /// The controller of a memory channel acts.
    Channel { channel: u16 },
    /// A line arrives from memory.
    Line { transaction: u16 },
    /// A read has crossed the link to the memory of the other socket.
    RemoteRead { transaction: u16 },
    /// The same for a write, with or without a credit.
    RemoteWrite { line: Line, credit: bool },
    /// A line read from the memory of the other socket enters the link.
    RemoteData { transaction: u16 },
    /// Something happens in the network of closed-loop traffic, to a datagram or a connection.
    Network { step: Step, of: u32 },
    /// The time series takes a sample.
    Sample,
    /// The counters of the recorded timeline are read.
    Counters,
}

const _: () = assert!(size_of::<Event>() == 8);

impl Event {
    /// The event for a request of `core`.
    #[inline]
    fn asked(core: u16, ask: Ask) -> Event {
        match ask {
            Ask::Request(register) => Event::Request { core, register },
            Ask::Sweep(first, lines) => Event::Sweep { first, lines },
            Ask::WriteBack(line) => Event::WriteBack { line },
            Ask::Invalidate => Event::Invalidate { core },
            Ask::Mark(mark, packet) => Event::Mark { core, mark, packet },
        }
    }

    /// Line and TLP credits of DMA writes that it holds or returns.
    fn write_credits(&self) -> (u64, u64) {
        match *self {
            Event::Write { lines, .. } => (lines.into(), 1),
            Event::BenchWrite { lines, .. } => (lines.into(), 1),
            Event::Complete { .. } => (1, 1),
            Event::Credits { lines, tlps } => (lines.into(), tlps.into()),
            _ => (0, 0),
        }
    }
}

/// A core and what the host knows about it.
#[derive(Clone, Debug)]
struct HostCore {
    core: Core,
    /// Index of its tenant, if it has one.
    tenant: Option<usize>,
    /// Number of the core within its tenant.
    rank: u32,
    /// Its queue pair, if it serves packets.
    queue: Option<u16>,
    /// It has nothing to do until a packet arrives or a descriptor becomes free.
    idle: bool,
    /// An [`Event::Run`] is scheduled.
    scheduled: bool,
    /// Packets begun but not ended.
    in_service: u32,
    /// `since`: when it became busy, if it is. `until`: the time until which it is certainly busy.
    /// `busy`: its busy time before `since` or, if it is not busy, before `until`; this may lie
    /// ahead, as a core runs ahead.
    since: Ps,
    until: Ps,
    busy: Ps,
}

impl HostCore {
    /// Whether it does anything but wait for the next packet: it serves one, or works on the rings.
    fn is_busy(&self) -> bool {
        !self.idle || self.in_service > 0
    }

    /// It begins to do something at `at`.
    fn busy_from(&mut self, at: Ps) {
        if !self.is_busy() {
            self.since = at.max(self.until);
        }
    }

    /// It has finished something at `at`.
    fn busy_until(&mut self, at: Ps) {
        self.until = self.until.max(at);
        if !self.is_busy() {
            self.busy += self.until.saturating_sub(self.since);
        }
    }
}

/// One simulated server. A clone is a snapshot: it continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct Host {
    scenario: Arc<Scenario>,
    max_skew: Ps,
    /// Up to when it has run. While it runs, the time is that of the event being processed.
    now: Ps,
    events: Events<Event>,
    memory: Memory,
    iommu: Option<Iommu<Event>>,
    run_time_mapping: Option<RunTimeMapping>,
    bench: Option<BenchDevice>,
    cores: Vec<HostCore>,
    queues: Vec<QueuePair>,
    apps: Vec<AnyApp>,
    packets: Packets,
    source: Option<Source>,
    /// The next packet on the wire, and how long it has waited for the link.
    next_arrival: Option<(Arrival, Ps)>,
    rss: Option<Rss>,
    closed_loop: Option<ClosedLoop>,
    rx: Receiver,
    interconnect: Interconnect,
    writes: Writes,
    reads: Reads,
    tx: Transmitter,
    /// Events held back until the LLC takes requests again.
    held_back: VecDeque<Event>,
    meters: Meters,
    /// The timeline being recorded, if any.
    recording: Option<Box<Recorder>>,
}

impl Host {
    /// Up to when it has run.
    pub fn now(&self) -> Ps {
        self.now
    }

    /// Runs until `until`.
    pub fn run_until(&mut self, until: Ps) {
        while let Some((now, event)) = self.events.pop(until) {
            self.handle(now, event);
            if !self.memory.backend.due.is_empty() {
                self.schedule_memory();
            }
        }
        self.memory.backend.ingress.dram.catch_up(until);
        self.now = until;
    }

    /// The mean arrival rate, rounded to whole packets per second and at least one; `None` for
    /// traffic without a time law.
    pub fn rate(&self) -> Option<Rate> {
        self.mean_rate_f64().map(|mean| Rate((mean.round() as u64).max(1)))
    }

    /// The same without rounding, for reports only.
    fn mean_rate_f64(&self) -> Option<f64> {
        match &self.source {
            Some(Source::Timed(arrivals)) => Some(arrivals.mean_rate_f64()),
            _ => None,
        }
    }

    /// Mean service time measured so far, ns.
    pub fn service_mean_ns(&self) -> f64 {
        self.meters.service_mean_ns()
    }

    /// 99th percentile of the total latency measured so far, ns.
    pub fn total_p99_ns(&self) -> f64 {
        self.meters.total_p99_ns()
    }

    /// Packets measured so far whose total latency is above `ns`, to within 1 % of it.
    pub fn slower_than(&self, ns: f64) -> u64 {
        self.meters.slower_than(ns)
    }

    /// Packets dropped so far in the measured time.
    pub fn dropped(&self) -> u64 {
        self.meters.dropped()
    }

    /// Changes the mean arrival rate; only meaningful for traffic with a time law.
    pub fn set_rate(&mut self, rate: Rate) {
        if let Some(Source::Timed(arrivals)) = &mut self.source {
            arrivals.set_rate(rate);
        }
    }

    /// Resets what has been counted so far: the measured time begins.
    pub fn begin_measuring(&mut self) {
        self.reset_meters();
    }

    /// What was measured since measuring began.
    ///
    /// # Errors
    /// Describes the balance that does not hold, which is a bug of the model.
    pub fn results(&self) -> Result<Results, String> {
        self.measure()
    }

    /// Processes an event, or holds it back until its DMA is translated or the LLC takes requests.
    #[inline(always)]
    fn handle(&mut self, now: Ps, event: Event) {
        match event {
            Event::Request { core, register } => {
                if self.llc_takes(now, event) {
                    self.request(now, core, register);
                }
            }
            Event::Line { transaction } => self.line(now, transaction),
            Event::RemoteRead { transaction } => self.memory.backend.remote_read(now, transaction),
            Event::RemoteWrite { line, credit } => {
                self.memory.backend.remote_write(now, line, credit);
                if !self.held_back.is_empty() {
                    self.release(now);
                }
            }
            Event::RemoteData { transaction } => self.memory.backend.remote_data(now, transaction),
            Event::Channel { channel } => {
                self.memory.backend.wake(now, channel);
                if !self.held_back.is_empty() {
                    self.release(now);
                }
            }
            Event::Run { core } => {
                self.cores[core as usize].scheduled = false;
                self.run_core(now, core);
            }
            Event::Write { .. }
            | Event::Complete { .. }
            | Event::BenchWrite { .. }
            | Event::TransmitComplete { .. }
            | Event::Read { .. } => self.dma_arrives(now, event),
            Event::BenchStart => self.bench_start(now),
            Event::ReceiveDoorbell { queue, descriptors } => {
                self.receive_doorbell(now, queue, descriptors)
            }
            Event::TransmitDoorbell { queue, packets } => {
                self.transmit_doorbell(now, queue, packets)
            }
            Event::WalkRead { walker } => {
                if self.llc_takes(now, event) {
                    self.walk_read(now, walker);
                }
            }
            Event::WalkData { walker } => self.walk_data(now, walker),
            Event::LinkFree => self.link_free(now),
            Event::NextReceived => {
                self.rx.engine.asked(now);
                self.receive(now);
            }
            Event::NextSent => {
                self.tx.engine.asked(now);
                self.start_reads(now);
            }
            Event::Credits { lines, tlps } => self.credits(now, lines, tlps),
            Event::Visible { packet } => self.visible(now, packet),
            Event::Invalidate { core } => self.invalidate(now, core),
            Event::Mark { core, mark, packet } => self.mark(now, core, mark, packet),
            Event::Arrival => self.arrival(now),
            Event::Network { step, of } => self.network_step(now, step, of),
            Event::Sweep { first, lines } => self.memory.sweep(first, u32::from(lines)),
            Event::WriteBack { line } => self.memory.write_back(now, line),
            Event::ReadReady { read } => self.answer_read(read),
            Event::ReadAtNic { read } => self.read_at_nic(now, read),
            Event::ReadDone { read } => self.read_done(now, read),
            Event::Sample => self.sample(now),
            Event::Counters => self.read_counters(now),
        }
    }

    /// Schedules the events that the memory system has asked for.
    #[inline]
    fn schedule_memory(&mut self) {
        for &(mut at, due) in &self.memory.backend.due {
            let event = match due {
                Due::Channel(channel) => Event::Channel { channel },
                Due::Arrival(transaction) => Event::Line { transaction },
                Due::RemoteRead(transaction) => Event::RemoteRead { transaction },
                Due::RemoteWrite(line, credit) => Event::RemoteWrite { line, credit },
                Due::Written => {
                    at += self.writes.credit_latency();
                    Event::Credits { lines: 1, tlps: 0 }
                }
                Due::RemoteData(transaction) => Event::RemoteData { transaction },
            };
            self.events.push(at, event);
        }
        self.memory.backend.due.clear();
    }

    #[inline]
    fn request(&mut self, now: Ps, core: u16, register: u16) {
        let (line, kind, exclusive) = self.cores[core as usize].core.miss(register);
        let memory = &mut self.memory;
        if let Some(at) = memory.request(now, line, kind, core, register, exclusive) {
            self.deliver(now, core, register, at);
        }
    }

    /// A core gets the line of a miss register at `at`.
    fn deliver(&mut self, now: Ps, core: u16, register: u16, at: Ps) {
        let c = &mut self.cores[core as usize];
        let events = &mut self.events;
        c.core.complete(&mut self.memory, register, at, &mut |at, ask| {
            events.push(at, Event::asked(core, ask));
        });
        if !c.scheduled && !c.idle && !c.core.is_blocked() {
            self.run_core(now, core);
        }
    }

    #[inline]
    fn line(&mut self, now: Ps, transaction: u16) {
        match self.memory.arrive(now, transaction) {
            Requester::Core { core, register, .. } => self.deliver(now, core, register, now),
            Requester::Prefetch { .. } => {}
            Requester::Nic { operation } => self.read_arrived(now, operation),
            Requester::Walker { walker } => self.walk_data(now, walker),
        }
        if !self.memory.backend.reads.again.is_empty() {
            self.request_again(now);
        }
        // The end of this read may have made room for another.
        if !self.held_back.is_empty() {
            self.release(now);
        }
    }

    /// Cores that waited for a line that has arrived request it again.
    #[cold]
    fn request_again(&mut self, now: Ps) {
        for requester in self.memory.backend.reads.again.drain(..) {
            match requester {
                Requester::Core { core, register, .. } => {
                    self.events.push(now, Event::Request { core, register });
                }
                other => panic!("only cores wait for each other's lines; got {other:?}"),
            }
        }
    }

    /// Runs a core until it waits, is ahead, or has nothing to do.
    fn run_core(&mut self, now: Ps, core: u16) {
        loop {
            use crate::core::interval::Stop;
            let c = &mut self.cores[core as usize];
            let events = &mut self.events;
            let stop = c.core.run(&mut self.memory, now + self.max_skew, &mut |at, ask| {
                events.push(at, Event::asked(core, ask));
            });
            match stop {
                Stop::Waiting => return,
                Stop::Ahead => {
                    let c = &mut self.cores[core as usize];
                    c.scheduled = true;
                    let at = c.core.now();
                    self.events.push(at, Event::Run { core });
                    return;
                }
                Stop::Finished => {
                    if !self.next_work(now, core) {
                        let c = &mut self.cores[core as usize];
                        c.idle = true;
                        c.busy_until(c.core.now());
                        return;
                    }
                }
            }
        }
    }

    /// An idle core looks for work.
    fn wake(&mut self, now: Ps, core: u16) {
        let c = &mut self.cores[core as usize];
        if !c.idle {
            return;
        }
        c.core.wake_at(now);
        c.busy_from(c.core.now());
        c.idle = false;
        if !c.scheduled {
            c.scheduled = true;
            let at = c.core.now();
            self.events.push(at, Event::Run { core });
        }
    }
}
