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
mod event;
mod host_core;
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
use crate::events::Events;
use crate::iommu::Iommu;
use crate::memory::system::{Due, Memory, Requester};
use crate::nic::queue::QueuePair;
use crate::nic::rss::Rss;
use crate::stats::results::Results;
use crate::time::Ps;
use crate::units::Rate;
use crate::wire::{Arrival, Source};

pub use build::BuildError;
pub(crate) use build::source;
use closed_loop::ClosedLoop;
use dma_bench::BenchDevice;
use event::Event;
use host_core::HostCore;
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
