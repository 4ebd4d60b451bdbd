//! Completions of received packets: gathered while the NIC is busy, and written to memory.

use super::timeline::Point;
use super::{Event, Host};
use crate::memory::line::{LINE_BYTES, LineKind};
use crate::memory::placement::DmaWrite;
use crate::time::Ps;

impl Host {
    /// The NIC has sent all data of a packet: the completion joins those gathered for its queue.
    pub(super) fn gather_completion(&mut self, now: Ps, queue: u16, packet: u32) {
        self.rx.gathered.enter(now, 1);
        let gathered = self.queues[queue as usize].rx.gather(packet);
        if gathered == self.rx.completions_per_write {
            self.rx.are_due(now, queue, gathered);
        }
    }

    /// The NIC has nothing else to do, so the gathered completions become due. Returns false if
    /// there are none.
    pub(super) fn gathered_are_due(&mut self, now: Ps) -> bool {
        if self.rx.completions_per_write > 1 {
            for (number, queue) in self.queues.iter().enumerate() {
                let gathered = queue.rx.gathered();
                if gathered > 0 {
                    self.rx.are_due(now, number as u16, gathered);
                }
            }
        }
        !self.rx.due.is_empty()
    }

    /// Writes the completions that are due. Returns false if link or credits do not allow all of them.
    pub(super) fn write_completions(&mut self, now: Ps) -> bool {
        while let Some(&queue) = self.rx.due.front() {
            if !self.can_write(now, 1) {
                return false;
            }
            self.rx.due.pop_front();
            let packets = self.queues[queue as usize].rx.send_completions();
            let at = self.interconnect.write(now, LINE_BYTES);
            if let Some(recording) = &mut self.recording {
                let q = &self.queues[queue as usize].rx;
                let written = q.uncompleted().rev().take(packets as usize);
                let points = [(Point::CompletionSent, now), (Point::CompletionAtMemory, at)];
                recording.pass_all(written, &points);
            }
            self.events.push(at, Event::Complete { queue, packets });
        }
        true
    }

    /// The completions of some packets of a queue reach the memory system in one write, after all
    /// data of these packets.
    pub(super) fn complete_packets(&mut self, now: Ps, queue: u16, packets: u32) {
        let done = now + self.writes.latency;
        let line = self.queues[queue as usize].rx.completions.nic.advance_past(packets);
        let reader = Some(self.queues[queue as usize].reader());
        self.io_write(now, DmaWrite { line, kind: LineKind::Descriptor, index: 0, reader }, 1);
        for packet in self.queues[queue as usize].rx.complete(packets) {
            let p = self.packets.at(packet);
            p.in_sram = false;
            self.rx.leave_sram(now, p.bytes);
            self.events.push(done, Event::Visible { packet });
        }
        self.top_up_without_room(now);
    }
}

#[cfg(test)]
mod tests {
    use crate::stats::results::Results;
    use crate::testing::{forwarder, pcie_json, run};

    /// Forwarding at a rate, with up to `write_credits` lines of DMA writes in flight.
    fn at(rate: &str, write_credits: u32, completions_per_write: u32) -> Results {
        let scenario = forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/completions_per_write", completions_per_write.into()),
            ("/traffic/rate", rate.into()),
            ("/machine/nic/write_credits", write_credits.into()),
            // Long enough that the packets in flight at either end, about a hundred, do not matter.
            ("/run/duration", "4 ms".into()),
        ]);
        run(&scenario).results().unwrap()
    }

    /// Lines written for each packet: 16 of data, its share of completions, and one when it is sent.
    fn lines_a_packet(results: &Results) -> f64 {
        let io = results.io.as_ref().unwrap();
        (io.write_hits.unwrap() + io.write_misses.unwrap()) as f64
            / results.packets.completed as f64
    }

    #[test]
    fn a_busy_nic_writes_several_completions_together_and_moves_more_packets() {
        // Credits for two TLPs and a completion, so that packets leave at an even pace. Writes are the limit,
        // so that no ring runs out of descriptors: a NIC that drops packets for lack of descriptors empties
        // its SRAM, and then writes the few completions it has.
        let [single, gathered] = [1, 8].map(|n| at("40 Mpps", 9, n));
        assert!((lines_a_packet(&single) - 18.0).abs() < 0.1, "{}", lines_a_packet(&single));
        assert!((lines_a_packet(&gathered) - 17.125).abs() < 0.1, "{}", lines_a_packet(&gathered));
        assert!(gathered.packets.completed > single.packets.completed);
        // The eighth of a queue does not wait for the others, and the first for seven packets of the queue, between
        // which there are as many of the other queue.
        let packet_ns = 1e3 / gathered.packets.completed_mpps;
        let waits = gathered.packets.gathering_ns.expect("completions gather") / packet_ns;
        assert!((waits - 7.0).abs() < 0.1, "{waits} packets");
        assert_eq!(single.packets.gathering_ns, None);
    }

    /// Its ring is short, and the NIC is busy with the packets of the other queue, whose ring is as short.
    #[test]
    fn a_short_ring_is_full_before_as_many_completions_have_gathered_as_could() {
        let [all, more] = [4, 8].map(|n| {
            let scenario = forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/completions_per_write", n.into()),
                ("/machine/nic/descriptor_batch", 4.into()),
                ("/machine/nic/write_credits", 9.into()),
                ("/queues/rx_descriptors", 4.into()),
                ("/queues/burst", 4.into()),
                ("/queues/post_batch", 1.into()),
                ("/traffic/rate", "40 Mpps".into()),
            ]);
            run(&scenario).results().unwrap()
        });
        assert!(all.packets.gathering_ns.is_some_and(|ns| ns > 0.0));
        assert_eq!(all, more);
    }

    #[test]
    fn a_nic_with_nothing_else_to_do_writes_a_completion_at_once() {
        let [single, gathered] = [1, 8].map(|n| at("0.5 Mpps", 92, n));
        assert_eq!(single.packets.completed, gathered.packets.completed);
        assert_eq!(single.latency[1].stage, "dma");
        let dma = |r: &Results| r.latency[1].distribution.mean_ns;
        assert!((dma(&single) - dma(&gathered)).abs() < 0.02 * dma(&single));
        // Now and then a packet has come by then.
        let waits = gathered.packets.gathering_ns.expect("they may gather");
        assert!(waits < 5.0, "{waits} ns");
    }
}
