//! DMA on its way through the IOMMU.

use super::domain_counters::DomainCounters;
use super::reads::For;
use super::timeline::Point;
use super::{Event, Host};
use crate::iommu::{Mapping, Order, Touched, one_range};
use crate::nic::ring::Ring;
use crate::time::Ps;

impl Host {
    /// Whether a DMA goes on at once; if not, it waits for its translation.
    #[inline]
    pub(super) fn goes_on(&mut self, now: Ps, event: Event) -> bool {
        self.iommu.is_none() || self.translate(now, event)
    }

    /// A DMA arrives at the IOMMU. Returns whether its pages are translated and nothing is ahead of
    /// it. Out of line, so that the event loop stays as small as it is without an IOMMU.
    #[inline(never)]
    fn translate(&mut self, now: Ps, event: Event) -> bool {
        use Mapping::{Completion, Payload};
        let (order, touched) = match event {
            Event::Write { packet, first, lines } => {
                let first = self.line_received(packet, first);
                (Order::Posted, one_range(Payload, first..first + u32::from(lines)))
            }
            Event::BenchWrite { line, lines, .. } => {
                (Order::Posted, one_range(Payload, line..line + u32::from(lines)))
            }
            Event::Complete { queue, packets } => {
                let completions = &mut self.queues[queue as usize].rx.completions_translated;
                let line = completions.advance_past(packets);
                (Order::Posted, one_range(Completion, line..line + 1))
            }
            Event::TransmitComplete { line, .. } => {
                (Order::Posted, one_range(Completion, line..line + 1))
            }
            Event::Read { read } => (Order::NonPosted, self.touched_by(read)),
            other => panic!("only DMA is translated; got {other:?}"),
        };
        let data = matches!(event, Event::Write { .. } | Event::BenchWrite { .. });
        let passes =
            data && self.scenario.machine.pcie.as_ref().is_some_and(|p| p.relaxed_ordering);
        let iommu = self.iommu.as_mut().expect("only an IOMMU translates");
        let at_once = iommu.arrive(now, order, event, touched, passes);
        if !at_once {
            let (write, read) = (event.write_credits().0, self.lines_of_read(&event));
            let DomainCounters { translating, translating_reads, .. } = &mut self.meters.domains;
            translating.enter(now, write);
            translating_reads.enter(now, read);
        }
        self.schedule_walks();
        at_once
    }

    /// Lines for which a read holds credits; zero for other events.
    pub(super) fn lines_of_read(&self, event: &Event) -> u64 {
        match *event {
            Event::Read { read } => self.reads.under_way.get(read).credits.into(),
            _ => 0,
        }
    }

    /// The lines that a read touches, and their mappings.
    fn touched_by(&mut self, read: u32) -> Touched {
        use Mapping::{Acknowledgement, Descriptor, Payload};
        let descriptors = |ring: &Ring, count| {
            // A fetch that wraps around touches the beginning of its ring too.
            let (lines, wrapped) = ring.nic.next_lines(count);
            [(Descriptor, lines), (Descriptor, wrapped)]
        };
        match self.reads.under_way.get(read).purpose {
            // A queue has one fetch in flight at a time, so the ring stands where this one will read.
            For::Descriptors { queue, count } => {
                descriptors(&self.queues[queue as usize].rx.descriptors, count)
            }
            For::TxDescriptors { queue, count } => {
                descriptors(&self.queues[queue as usize].tx.descriptors, count)
            }
            For::Transmit { packet, from, lines } => {
                let p = self.packets.get(packet);
                let (first, _) = p.tx.expect("a posted packet has its data");
                let first = first + from;
                let answers = self.closed_loop.is_some() && !p.zero_copy;
                let mapping = if answers { Acknowledgement } else { Payload };
                let data = (mapping, first..first + lines);
                if from > 0 || self.tx.descriptor_batch.is_some() {
                    return [data, (mapping, 0..0)];
                }
                let descriptor = self.queues[p.queue as usize].tx.descriptors_translated.advance();
                [(Descriptor, descriptor..descriptor + 1), data]
            }
            For::Bench { first, lines } => one_range(Payload, first..first + lines),
        }
    }

    fn schedule_walks(&mut self) {
        let Some(iommu) = &mut self.iommu else { return };
        for (at, walker) in iommu.walkers.due.drain(..) {
            self.events.push(at, Event::WalkRead { walker });
        }
    }

    /// A walker reads the next entry of its walk.
    pub(super) fn walk_read(&mut self, now: Ps, walker: u16) {
        let iommu = self.iommu.as_mut().expect("only an IOMMU walks");
        let line = iommu.walker_reads(walker);
        self.meters.io_lines += 1;
        if let Some(at) = self.memory.walk_read(now, line, walker) {
            self.events.push(at, Event::WalkData { walker });
        }
    }

    /// That entry has arrived: the walk goes on, or ends and releases the transactions that waited for it.
    pub(super) fn walk_data(&mut self, now: Ps, walker: u16) {
        let iommu = self.iommu.as_mut().expect("only an IOMMU walks");
        iommu.entry_arrived(now, walker);
        self.schedule_walks();
        while let Some(event) = self.iommu.as_mut().and_then(|iommu| iommu.next_ready(now)) {
            self.translated(now, event);
        }
        // Walks of transactions that entered the queue as others left it.
        self.schedule_walks();
    }

    /// A DMA that has waited for its translation goes on.
    fn translated(&mut self, now: Ps, event: Event) {
        self.record_translated(now, event);
        let (write, read) = (event.write_credits().0, self.lines_of_read(&event));
        let DomainCounters { translating, translating_reads, .. } = &mut self.meters.domains;
        translating.leave(now, write);
        translating_reads.leave(now, read);
        if self.llc_takes(now, event) {
            self.dma(now, event);
        }
    }

    pub(super) fn record_translated(&mut self, now: Ps, event: Event) {
        let Some(recording) = &mut self.recording else { return };
        match event {
            Event::Write { packet, .. } => recording.pass(packet, &[(Point::Translated, now)]),
            Event::Complete { queue, packets } => {
                // Completions before this one may be held back by the LLC.
                let before = self.held_back.iter().map(|held| match *held {
                    Event::Complete { queue: of, packets } if of == queue => packets as usize,
                    _ => 0,
                });
                let uncompleted = self.queues[queue as usize].rx.uncompleted();
                let written = uncompleted.skip(before.sum()).take(packets as usize);
                recording.pass_all(written, &[(Point::CompletionTranslated, now)]);
            }
            Event::Read { read } => {
                if let For::Transmit { packet, .. } = self.reads.under_way.get(read).purpose {
                    recording.pass(packet, &[(Point::ReadTranslated, now)]);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stats::results::Results;
    use crate::testing::{closed_loop_json, forwarder, iommu_json, lines, pcie_json, results, run};

    fn iommu(entries: u32, payload: &str) -> Value {
        let mut iommu = iommu_json(entries);
        iommu["pages"]["payload"] = json!(payload);
        iommu
    }

    fn forwarding(iommu: Value) -> crate::config::Scenario {
        forwarder(&[("/machine/pcie", pcie_json()), ("/machine/iommu", iommu)])
    }

    fn misses(results: &Results, mapping: &str) -> u64 {
        let iommu = results.iommu.as_ref().expect("there is an IOMMU");
        iommu.lookups.iter().find(|l| l.mapping == mapping).expect("a kind of mapping").misses
    }

    #[test]
    fn packets_pass_the_iommu_and_all_balances() {
        let small = results(&forwarding(iommu(8, "4 KiB")));
        for mapping in ["payload", "descriptor", "completion"] {
            assert!(misses(&small, mapping) > 100, "{mapping}");
        }
        assert!(lines(&small, "iommu-walk-rd") > 0);
        let large = results(&forwarding(iommu(8, "2 MiB")));
        assert!(misses(&large, "payload") * 10 < misses(&small, "payload"));
        let all = results(&forwarding(iommu(4096, "4 KiB")));
        assert_eq!(all.iommu.as_ref().and_then(|i| i.misses_per_packet), Some(0.0));
        assert_eq!(lines(&all, "iommu-walk-rd"), 0);
        // With credits and read requests tied up in walks, fewer packets get through when more come.
        let [small, all] = [8, 4096].map(|entries| {
            let iommu = ("/machine/iommu", iommu(entries, "4 KiB"));
            let rate = ("/traffic/rate", json!("20 Mpps"));
            results(&forwarder(&[("/machine/pcie", pcie_json()), iommu, rate])).packets.completed
        });
        assert!(small < all, "{small} of {all}");
    }

    #[test]
    fn passing_through_is_as_having_none() {
        let mut off = iommu(8, "4 KiB");
        off["mode"] = json!("off");
        let off = results(&forwarding(off));
        let none = results(&forwarder(&[("/machine/pcie", pcie_json())]));
        assert!(off.iommu.is_none());
        assert_eq!(off.packets, none.packets);
        assert_eq!(off.latency, none.latency);
    }

    /// Threads that read from other machines, behind an IOTLB with this many entries. 20 lines of
    /// writes at a time are less than the fast PCIe link could carry.
    fn readers(threads: u32, entries: u32, tx_descriptors: u32) -> Results {
        let mut traffic = closed_loop_json();
        (traffic["read"], traffic["payload"]) = (json!("8 KiB"), json!("2 KiB"));
        let network = &mut traffic["network"];
        (network["buffer"], network["ecn_threshold"]) = (json!("1 MiB"), json!("1 MiB"));
        let mut slow_walks = iommu(entries, "4 KiB");
        slow_walks["step_latency"] = json!("300 ns");
        results(&forwarder(&[
            ("/machine/core/count", json!(8)),
            ("/machine/dram/channels", json!(4)),
            ("/machine/nic/link", json!("100 Gbps")),
            ("/machine/nic/sram", json!("256 KiB")),
            ("/machine/nic/write_credits", json!(20)),
            ("/machine/pcie", pcie_json()),
            ("/machine/pcie/generation", json!(5)),
            ("/machine/iommu", slow_walks),
            ("/traffic", traffic),
            (
                "/tenants",
                json!([{
                    "name": "snap", "cores": { "first": 0, "count": threads },
                    "app": { "kind": "snap", "packet_instructions": 1000 }
                }]),
            ),
            ("/queues/buffer_size", json!("4 KiB")),
            ("/queues/headroom", json!("0 B")),
            ("/queues/metadata", json!("0 B")),
            ("/queues/rx_descriptors", json!(256)),
            ("/queues/tx_descriptors", json!(tx_descriptors)),
            ("/queues/start", json!("shuffled")),
            ("/run/warmup", json!("1 ms")),
            ("/run/duration", json!("1 ms")),
        ]))
    }

    #[test]
    fn acknowledgements_have_a_mapping_of_their_own() {
        let r = readers(2, 24, 64);
        let iommu = r.iommu.expect("there is an IOMMU");
        let of = |name: &str| iommu.lookups.iter().find(|l| l.mapping == name).expect("a kind");
        let packets = r.packets.transmitted;
        let looked_up = of("acknowledgement").hits + of("acknowledgement").misses;
        assert!(packets > 1_000 && looked_up.abs_diff(packets) < 200, "{looked_up} of {packets}");
        // All 64 acknowledgements of 64 bytes lie in one page.
        let missed = of("acknowledgement").misses_per_packet.expect("packets were completed");
        assert!(missed < 0.05, "{missed}");
        let sum: f64 = iommu.lookups.iter().filter_map(|l| l.misses_per_packet).sum();
        assert!((sum - iommu.misses_per_packet.expect("the same")).abs() < 1e-9);
        // Four pages, in random order.
        let lookups = readers(2, 24, 256).iommu.expect("there is an IOMMU").lookups;
        let more = lookups.iter().find(|l| l.mapping == "acknowledgement");
        let missed = more.and_then(|l| l.misses_per_packet).expect("packets were completed");
        assert!(missed > 0.2, "{missed}");
    }

    /// The closed form of "Understanding Host Interconnect Congestion" (HotNets 2022, section 3.1)
    /// for packets of two kilobytes and their completions: C is that of the machine, Tbase is the
    /// time that writes take in a run in which all translations are cached, and M × Tmiss is the
    /// time that they wait for translations.
    #[test]
    fn the_closed_form_holds_for_packets_of_several_threads() {
        for (threads, misses) in [(2, 1.0), (4, 2.0), (8, 3.0)] {
            let cached = readers(threads, 8192, 64).io.and_then(|io| io.write_latency_ns).unwrap();
            let r = readers(threads, 24, 64);
            let (io, iommu) = (r.io.expect("DMA"), r.iommu.expect("an IOMMU"));
            let (m, wait) = (iommu.misses_per_packet.unwrap(), iommu.write_wait_ns.unwrap());
            assert!((m - misses).abs() < 0.3, "{threads} threads: {m} misses a packet");
            assert!(io.write_credits_used > 0.9 * f64::from(io.write_credits), "credits limit");
            // A packet's 33 lines and its completion.
            let packets = f64::from(io.write_credits) / 34.0;
            let bound = packets * 2048.0 * 8.0 / (cached + wait);
            let got = r.transport.expect("closed loop").goodput_gbps;
            assert!((got / bound - 1.0).abs() < 0.08, "{threads}: {got:.2} Gbps, bound {bound:.2}");
            // Misses take up to a third of the time.
            assert!(wait > 0.2 * cached, "{wait:.0} of {cached:.0} ns");
        }
    }

    #[test]
    fn a_lost_walk_or_lookup_is_caught() {
        let scenario = forwarding(iommu(8, "4 KiB"));
        let caught = |fault: fn(&mut crate::host::Host)| {
            let mut host = run(&scenario);
            assert!(host.results().is_ok());
            fault(&mut host);
            host.results().expect_err("the fault is seen")
        };
        let fault = caught(|host| host.iommu.as_mut().unwrap().walkers.counts.finished -= 1);
        assert!(fault.contains("page walks"), "{fault}");
        let fault = caught(|host| host.iommu.as_mut().unwrap().lookups[0].misses -= 1);
        assert!(fault.contains("IOTLB misses"), "{fault}");
    }

    /// Writes of 64 bytes with `credits` of them in flight, in a window of `pages` pages of 4 KiB.
    fn writes(credits: u32, pages: u32, iommu: Value) -> Results {
        results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/pcie/posted_credits", json!(credits)),
            ("/machine/iommu", iommu),
            ("/traffic", Value::Null),
            ("/tenants", json!([])),
            (
                "/dma_bench",
                json!({
                    "direction": "write", "size": "64 B", "window": format!("{} KiB", 4 * pages)
                }),
            ),
        ]))
    }

    /// A write that waits for room in the queue starts its walk as soon as it has entered the queue.
    #[test]
    fn a_queue_of_one_moves_a_write_a_walk() {
        let miss_ns = |credits, queue: u32| {
            let mut iommu = iommu(16, "4 KiB");
            iommu["posted_queue"] = json!(queue);
            let r = writes(credits, 4096, iommu);
            (
                r.iommu.and_then(|i| i.miss_latency_ns).expect("all miss"),
                r.dma.expect("it ran").gbps,
            )
        };
        let (alone, _) = miss_ns(1, 16);
        let (miss, gbps) = miss_ns(8, 1);
        assert!((miss / alone - 1.0).abs() < 0.05, "{miss:.0} ns, alone {alone:.0}");
        assert!((gbps * miss / 512.0 - 1.0).abs() < 0.02, "{gbps:.2} Gbit/s, {miss:.0} ns");
    }

    /// Where credits limit, the rate is C × size / (Tbase + M × Tmiss) ("Understanding Host
    /// Interconnect Congestion", HotNets 2022, section 3.1).
    #[test]
    fn credits_and_latency_give_the_rate() {
        // 88 bytes at 118.9 Gbit/s, 200 ns to the memory system, 30 cycles at 2 GHz in the LLC, 100 ns back.
        let base_ns = 88.0 * 8.0 / 118.9 + 200.0 + 15.0 + 100.0;
        let (many, one) = (4096, 1);
        for (credits, pages, missed) in
            [(1, one, 0.0), (4, one, 0.0), (1, 32, 0.5), (1, many, 1.0), (4, many, 1.0)]
        {
            let r = writes(credits, pages, iommu(16, "4 KiB"));
            let iommu = r.iommu.expect("there is an IOMMU");
            let lookups = iommu.lookups[0].hits + iommu.lookups[0].misses;
            let per_write = iommu.lookups[0].misses as f64 / lookups as f64;
            assert!((per_write - missed).abs() < 0.02, "{per_write}, expected {missed}");
            let miss_ns = iommu.miss_latency_ns.unwrap_or(0.0);
            let bound = f64::from(credits) * 512.0 / (base_ns + per_write * miss_ns);
            let got = r.dma.expect("there is a benchmark").gbps;
            assert!(
                (got / bound - 1.0).abs() < 0.05,
                "{credits} credits, {missed}: {got:.2} Gbit/s, bound {bound:.2}"
            );
        }
    }
}
