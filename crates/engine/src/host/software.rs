//! What the software on a core does: the poll-mode driver around the applications.

use super::mapping::RunTimeMapping;
use super::packets::Packet;
use super::timeline::Point;
use super::{Event, Host};
use crate::apps::{App, Packet as Received, Verdict};
use crate::core::op::{Dep, Mark, Op, Ops};
use crate::iommu::{Iommu, Mapping};
use crate::memory::line::LineKind;
use crate::nic::config::Queues;
use crate::nic::queue::QueuePair;
use crate::slots::Slots;
use crate::time::Ps;

/// The poll-mode driver of a queue while it emits the next operations of its core.
struct Driver<'a> {
    now: Ps,
    core: u16,
    config: &'a Queues,
    q: &'a mut QueuePair,
    ops: &'a mut Ops,
    /// Packets of a backlog that must be waiting before the driver takes some.
    least_waiting: u32,
    /// Whether each packet that is sent has a doorbell of its own.
    rings_each: bool,
    /// Packets posted for transmission whose doorbell has not been rung.
    tx_unrung: u32,
    /// What maps and unmaps buffers at run time.
    mapper: Option<(&'a mut RunTimeMapping, &'a mut Iommu<Event>)>,
}

impl Driver<'_> {
    fn map(&mut self) {
        if let Some((mapper, _)) = &mut self.mapper {
            mapper.map(self.ops);
        }
    }

    /// Takes back the transmit descriptors of packets that completions report as sent, and returns
    /// the number of completions. The data was mapped as `sent_from`.
    fn reap(&mut self, sent_from: Mapping) -> u32 {
        if let Some((mapper, iommu)) = &mut self.mapper {
            for data in self.q.reaped_data() {
                mapper.unmap(self.now, self.core, (sent_from, data), iommu, self.ops);
            }
        }
        let sent = self.q.reap(self.now);
        for line in self.q.tx.completions.driver.advance_by(sent) {
            self.ops.load(line, LineKind::Descriptor, Dep::Free);
        }
        sent
    }

    /// Posts a packet for transmission.
    fn post(&mut self, packet: u32) {
        self.map();
        let descriptor = self.q.tx.take_descriptor(self.now);
        self.ops.store(descriptor, LineKind::Descriptor, Dep::Free);
        self.ops.compute(self.config.tx_instructions);
        self.ops.push(Op::Mark { mark: Mark::Transmit, packet });
        self.tx_unrung += 1;
        if self.rings_each {
            self.ring_tx();
        }
    }

    /// Rings the doorbell for the packets posted so far: no doorbell covers packets posted after it.
    fn ring_tx(&mut self) {
        let packets = std::mem::take(&mut self.tx_unrung);
        if packets > 0 {
            self.ops.push(Op::Mark { mark: Mark::RingTx, packet: packets });
        }
    }

    /// Posts packets that wait for transmit descriptors, as far as there are some.
    fn post_waiting(&mut self) {
        while let Some(packet) = self.q.tx.next_waiting() {
            self.post(packet);
        }
    }

    /// How many packets the driver takes from the queue now: no more than it can send, and none
    /// while the backlog generator is bringing the queue back to its depth.
    fn burst(&mut self) -> u32 {
        let visible = self.q.rx.visible().len() as u32;
        let more_come = self.q.rx.in_transit() > 0;
        let short = visible < self.least_waiting && more_come;
        let wanted = if short { 0 } else { visible.min(self.config.burst) };
        let burst = wanted.min(self.q.tx.reply_room());
        self.q.tx.starves(self.now, burst == 0 && wanted > 0);
        burst
    }

    /// Takes the next packet of the queue, by its handle and as the application sees it: reads its completion,
    /// unmaps its buffer and fills in its mbuf.
    #[inline]
    fn take(&mut self, packets: &mut Slots<Packet>) -> (u32, Received) {
        let (handle, completion) = self.q.rx.take();
        let p = packets.at(handle);
        let buffer = p.buffer.expect("a visible packet lies in a buffer");
        p.in_ring = false;
        self.ops.push(Op::Mark { mark: Mark::Begin, packet: handle });
        self.ops.load(completion, LineKind::Descriptor, Dep::Chain);
        self.ops.compute(self.config.rx_instructions);
        if let Some((mapper, iommu)) = &mut self.mapper {
            let data = (Mapping::Payload, self.q.rx.layout.data_lines(buffer));
            mapper.unmap(self.now, self.core, data, iommu, self.ops);
        }
        if let Some(metadata) = self.q.rx.layout.metadata(buffer) {
            // Length, offload flags, hash.
            self.ops.store(metadata, LineKind::Mbuf, Dep::After);
        }
        let received = Received {
            seq: p.seq,
            rx: self.q.rx.layout.data(buffer),
            tx: self.q.tx.buffers.next(),
            bytes: p.bytes,
            flow: p.flow,
            buffer,
        };
        (handle, received)
    }

    /// Posts a packet that the application sends, or lets it wait for a descriptor.
    #[inline]
    fn send(&mut self, packet: u32) {
        if self.q.tx.room() > 0 {
            self.post(packet);
        } else {
            self.q.tx.wait(packet);
        }
    }

    /// Posts receive descriptors, as many as the burst has used.
    fn post_descriptors(&mut self, burst: u32) {
        for line in self.q.rx.write_descriptors(burst) {
            self.ops.store(line, LineKind::Descriptor, Dep::Free);
        }
        (0..burst).for_each(|_| self.map());
    }
}

impl Host {
    /// Gives a core that has executed everything its next operations: a burst of packets, or
    /// background work. Returns false if there is none.
    pub(super) fn next_work(&mut self, now: Ps, core: u16) -> bool {
        let c = &mut self.cores[core as usize];
        c.core.clear_ops();
        let Some(tenant) = c.tenant else { return false };
        let rank = c.rank;
        if let Some(queue) = c.queue
            && self.receive_burst(now, core, tenant, rank, queue as usize)
        {
            return true;
        }
        let ops = &mut self.cores[core as usize].core.ops;
        self.apps[tenant].on_idle(rank, ops);
        !ops.is_empty()
    }

    /// The driver takes a burst of packets from its queue and runs the application on each.
    fn receive_burst(
        &mut self,
        now: Ps,
        core: u16,
        tenant: usize,
        rank: u32,
        queue: usize,
    ) -> bool {
        let least_waiting = self.least_waiting();
        let c = &mut self.cores[core as usize];
        let taken = self.recording.is_some().then(|| c.core.now());
        let mut driver = Driver {
            now,
            core,
            config: &self.scenario.queues,
            q: &mut self.queues[queue],
            ops: &mut c.core.ops,
            least_waiting,
            rings_each: self.tx.descriptor_batch.is_none(),
            tx_unrung: 0,
            mapper: self.run_time_mapping.as_mut().zip(self.iommu.as_mut()),
        };
        // With closed-loop traffic, what is sent is acknowledgements.
        let closed_loop = self.closed_loop.is_some();
        let sent =
            driver.reap(if closed_loop { Mapping::Acknowledgement } else { Mapping::Payload });
        driver.post_waiting();
        let burst = driver.burst();
        if let (Some(recording), Some(taken)) = (&mut self.recording, taken) {
            let packets = driver.q.rx.visible().iter().take(burst as usize);
            recording.pass_all(packets, &[(Point::Taken, taken)]);
        }
        if burst > 0 && driver.config.burst_instructions > 0 {
            driver.ops.compute(driver.config.burst_instructions);
        }
        for _ in 0..burst {
            let (packet, received) = driver.take(&mut self.packets);
            let verdict = self.apps[tenant].on_packet(rank, &received, driver.ops);
            let p = self.packets.at(packet);
            match verdict {
                Verdict::Reply { .. } | Verdict::Consume => {
                    driver.ops.push(Op::Mark { mark: Mark::Release, packet });
                }
                Verdict::Keep { .. } => {
                    p.buffer = None;
                    driver.q.rx.keep();
                }
                Verdict::Forward => {}
            }
            (p.tx, p.zero_copy) = match verdict {
                Verdict::Reply { bytes } | Verdict::Keep { bytes } => {
                    (Some((received.tx, bytes)), false)
                }
                Verdict::Forward => (Some((received.rx, p.bytes)), true),
                Verdict::Consume => (None, false),
            };
            p.to_send = p.tx.is_some();
            if p.to_send {
                if !p.zero_copy {
                    driver.q.tx.buffers.use_next();
                }
                driver.send(packet);
            }
            driver.ops.push(Op::Mark { mark: Mark::End, packet });
        }
        driver.ring_tx();
        driver.post_descriptors(burst);
        // Sent packets give buffers back, for which descriptors may have waited.
        if burst > 0 || sent > 0 {
            driver.ops.push(Op::Mark { mark: Mark::Ring, packet: burst });
        }
        !driver.ops.is_empty()
    }

    /// The queue pair of a core that serves packets.
    pub(super) fn queue_of_core(&self, core: u16) -> u16 {
        self.cores[core as usize].queue.expect("only a core with queues drives them")
    }

    /// A program has reached a mark. `packet` is the packet or, for a doorbell, how much it
    /// announces, or the buffer that is given back.
    pub(super) fn mark(&mut self, now: Ps, core: u16, mark: Mark, packet: u32) {
        match mark {
            Mark::Begin => {
                let c = &mut self.cores[core as usize];
                c.busy_from(now);
                c.in_service += 1;
                let p = self.packets.at(packet);
                p.begun = now;
                let queue = p.queue as usize;
                self.queues[queue].rx.begin(now);
                self.top_up(now, queue);
            }
            Mark::Release => {
                let p = self.packets.at(packet);
                let buffer = p.buffer.take().expect("a packet is released once");
                self.queues[p.queue as usize].rx.free(buffer);
            }
            Mark::GiveBack => {
                let queue = self.queue_of_core(core) as usize;
                self.queues[queue].rx.give_back(packet);
            }
            Mark::Transmit => {
                if !self.packets.at(packet).ended {
                    self.processed(now, packet);
                }
                self.post_tx(now, packet);
            }
            Mark::End => {
                let c = &mut self.cores[core as usize];
                c.in_service -= 1;
                c.busy_until(now);
                let p = self.packets.at(packet);
                p.ended = true;
                // From here on, all that it waits for, in software too, belongs to its transmission.
                p.to_send_since = now;
                let p = *p;
                self.meters.ended(now, &p);
                if let Some(recording) = &mut self.recording {
                    recording.ended(now, packet, &p);
                }
                if !p.to_send {
                    self.packets.remove(packet);
                } else if p.unsent == 0 {
                    // Its answer waits for a descriptor.
                    self.processed(now, packet);
                    self.tx.unposted += 1;
                }
            }
            Mark::RingTx => self.ring_tx(now, self.queue_of_core(core), packet),
            Mark::Ring => self.ring_rx(now, self.queue_of_core(core), packet),
        }
    }
}
