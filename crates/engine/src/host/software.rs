//! What the software on a core does: the poll-mode driver around the applications.

use super::Host;
use super::timeline::Point;
use crate::apps::{App, Packet, Verdict};
use crate::core::op::{Dep, Mark, Op, Ops};
use crate::iommu::Mapping;
use crate::memory::line::LineKind;
use crate::nic::config::Queues;
use crate::nic::queue::Queue;
use crate::time::Ps;

/// The driver posts a packet for transmission.
fn post(now: Ps, q: &mut Queue, config: &Queues, packet: u32, ops: &mut Ops) {
    q.take_tx(now);
    ops.store(q.tx_ring.advance(), LineKind::Descriptor, Dep::Free);
    ops.compute(config.tx_instructions);
    ops.push(Op::Mark { mark: Mark::Transmit, packet });
}

impl Host {
    /// Gives a core that has executed everything its next stretch of operations: a burst of packets,
    /// or background work. Returns false if there is none.
    pub(super) fn next_work(&mut self, core: u16) -> bool {
        let c = &mut self.cores[core as usize];
        c.core.clear_ops();
        let Some(tenant) = c.tenant else { return false };
        let rank = c.rank;
        if let Some(queue) = c.queue
            && self.receive_burst(core, tenant, rank, queue as usize)
        {
            return true;
        }
        let ops = &mut self.cores[core as usize].core.ops;
        self.apps[tenant].on_idle(rank, ops);
        !ops.is_empty()
    }

    /// The driver takes a burst of packets from its queue and runs the application on each.
    fn receive_burst(&mut self, core: u16, tenant: usize, rank: u32, queue: usize) -> bool {
        let config = &self.scenario.queues;
        let q = &mut self.queues[queue];
        let c = &mut self.cores[core as usize];
        let taken = self.recording.is_some().then(|| c.core.now());
        let ops = &mut c.core.ops;
        // What is sent is acknowledgements with closed-loop traffic.
        let closed_loop = self.closed_loop.is_some();
        let sent_from = if closed_loop { Mapping::Acknowledgement } else { Mapping::Payload };
        let now = self.events.now();
        let mut mapper = self.run_time_mapping.as_mut().zip(self.iommu.as_mut());
        if let Some((mapper, iommu)) = &mut mapper {
            for data in q.reaped_data() {
                mapper.unmap(now, core, (sent_from, data), iommu, ops);
            }
        }
        let sent = q.reap(now);
        for line in q.tx_completions.advance_by(sent) {
            ops.load(line, LineKind::Descriptor, Dep::Free);
        }
        // What waits for descriptors goes first.
        while q.tx_room() > 0
            && let Some(handle) = q.tx_backlog.pop_front()
        {
            mapper.iter_mut().for_each(|(mapper, _)| mapper.map(ops));
            post(now, q, config, handle, ops);
        }
        let wanted = (q.visible.len() as u32).min(config.burst);
        let burst = wanted.min(q.reply_room());
        q.waits_for_tx(now, burst < wanted);
        if let (Some(recording), Some(taken)) = (&mut self.recording, taken) {
            let packets = q.visible.iter().take(burst as usize);
            recording.pass_all(packets, &[(Point::Taken, taken)]);
        }
        for _ in 0..burst {
            let handle = q.visible.pop_front().expect("the burst is no longer than the queue");
            q.taken += 1;
            let p = self.packets.at(handle);
            let buffer = p.buffer.expect("a visible packet lies in a buffer");
            p.in_ring = false;
            ops.push(Op::Mark { mark: Mark::Begin, packet: handle });
            ops.load(q.completions.advance(), LineKind::Descriptor, Dep::Chain);
            ops.compute(config.rx_instructions);
            if let Some((mapper, iommu)) = &mut mapper {
                mapper.unmap(now, core, (Mapping::Payload, q.data_lines(buffer)), iommu, ops);
            }
            if q.metadata_lines > 0 {
                // The driver fills in the mbuf: length, offload flags, hash.
                ops.store(q.metadata(buffer), LineKind::Mbuf, Dep::After);
            }
            let packet = Packet {
                seq: p.seq,
                rx: q.data(buffer),
                tx: q.next_tx_buffer(),
                bytes: p.bytes,
                flow: p.flow,
                handle,
            };
            match self.apps[tenant].on_packet(rank, &packet, ops) {
                Verdict::Reply { bytes } => {
                    ops.push(Op::Mark { mark: Mark::Release, packet: handle });
                    (p.tx, p.zero_copy, p.to_send) = (Some((packet.tx, bytes)), false, true);
                }
                Verdict::Forward => {
                    (p.tx, p.zero_copy, p.to_send) = (Some((packet.rx, p.bytes)), true, true);
                }
                Verdict::Consume => ops.push(Op::Mark { mark: Mark::Release, packet: handle }),
            }
            if p.to_send {
                q.use_tx_buffer();
                if q.tx_room() > 0 {
                    if let Some((mapper, _)) = &mut mapper {
                        mapper.map(ops);
                    }
                    post(now, q, config, handle, ops);
                } else {
                    q.tx_backlog.push_back(handle);
                }
            }
            ops.push(Op::Mark { mark: Mark::End, packet: handle });
        }
        q.unposted += burst;
        // As many descriptors as the burst used are written and posted with one doorbell.
        for line in q.rx_ring.advance_by(burst) {
            ops.store(line, LineKind::Descriptor, Dep::Free);
        }
        if let Some((mapper, _)) = &mut mapper {
            (0..burst).for_each(|_| mapper.map(ops));
        }
        if burst > 0 || sent > 0 {
            ops.push(Op::Mark { mark: Mark::Ring, packet: queue as u32 });
        }
        !ops.is_empty()
    }

    /// A program has reached a mark.
    pub(super) fn mark(&mut self, now: Ps, core: u16, mark: Mark, packet: u32) {
        match mark {
            Mark::Begin => {
                let c = &mut self.cores[core as usize];
                c.busy_from(now);
                c.in_service += 1;
                let p = self.packets.at(packet);
                p.begun = now;
                let (queue, waited) = (p.queue as usize, now.saturating_sub(p.visible));
                let q = &mut self.queues[queue];
                q.counts.waited += waited;
                (q.backlog, q.taken) = (q.backlog.saturating_sub(1), q.taken - 1);
                self.top_up(queue);
            }
            Mark::Release => {
                let p = self.packets.at(packet);
                let buffer = p.buffer.take().expect("a packet is released once");
                self.queues[p.queue as usize].pool.put(buffer);
            }
            Mark::Transmit => {
                self.processed(now, packet);
                self.post_tx(now, packet);
            }
            Mark::End => {
                let c = &mut self.cores[core as usize];
                c.in_service -= 1;
                c.busy_until(now);
                let p = self.packets.at(packet);
                p.ended = true;
                if p.unsent == 0 {
                    // It may wait in software for a transmit descriptor.
                    p.posted = now;
                }
                let p = *p;
                self.meters.ended(now, &p);
                if let Some(recording) = &mut self.recording {
                    recording.ended(now, packet, &p);
                }
                if !p.to_send {
                    self.packets.remove(packet);
                }
            }
            Mark::Ring => {
                let queue = packet as u16;
                self.ring_rx(now, queue);
                self.ring_tx(now, queue);
            }
        }
    }
}
