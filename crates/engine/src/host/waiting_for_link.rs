//! How many lines of DMA writes wait for the link to the processor although there are credits for them: a
//! counter, by which nothing is decided.

use super::Host;
use crate::memory::line::lines_in;
use crate::time::Ps;

/// What of the SRAM could go on the link if it were free, counted as far as something has asked.
///
/// Nothing leaves the SRAM while the link is busy, so that what has been counted then stays so. (A packet passed over
/// because there was no descriptor for it stays so too, although a doorbell may come before the link is free.)
#[derive(Clone, Debug, Default)]
pub(super) struct InLine {
    /// When the link is free.
    until: Ps,
    /// Packets looked at, from the first.
    packets: usize,
    /// Lines of them that could go.
    lines: u64,
    /// Descriptors that they will take, by queue.
    descriptors: Vec<u32>,
}

impl Host {
    /// Writes wait for the link, which is free at `until`.
    pub(super) fn writes_wait_for_link(&mut self, now: Ps, until: Ps) {
        if self.writes.in_line.until != until {
            self.begin_line(until);
        }
        let lines = self.lines_with_credits();
        self.lines_wait_for_link(now, lines);
    }

    /// The link is free: no write waits for it any more.
    pub(super) fn no_write_waits_for_link(&mut self, now: Ps) {
        self.lines_wait_for_link(now, 0);
    }

    /// From now on, this many lines wait for the link although there are credits for them.
    fn lines_wait_for_link(&mut self, now: Ps, lines: u64) {
        let waiting = &mut self.meters.domains.waiting_for_link;
        let before = waiting.inside();
        waiting.enter(now, lines);
        waiting.leave(now, before);
    }

    /// Lines that wait to be written and for which there are credits: completions first, then data.
    fn lines_with_credits(&mut self) -> u64 {
        let of_each = match (&self.bench, self.rx.fifo.front()) {
            (Some(bench), _) => bench.lines(),
            (None, Some(&packet)) => lines_in(self.packets.get(packet).bytes.into()),
            (None, None) => 1,
        };
        let (lines, tlps) = (self.writes.lines.free(), self.writes.tlps.free());
        let completions = (self.rx.due.len() as u64).min(lines).min(tlps);
        // Later packets are assumed to be as long.
        let a_tlp = u64::from(of_each.min(self.writes.burst_lines));
        let most = a_tlp * ((lines - completions) / a_tlp).min(tlps - completions);
        completions + self.data_to_write(most).min(most)
    }

    /// Writes begin to wait for the link, which is free at `until`: the rest of a packet that has been begun before
    /// all others.
    fn begin_line(&mut self, until: Ps) {
        let in_line = &mut self.writes.in_line;
        in_line.descriptors.clear();
        in_line.descriptors.resize(self.queues.len(), 0);
        (in_line.until, in_line.packets, in_line.lines) = (until, 0, 0);
        if let (Some(sent), Some(&packet)) = (self.rx.sent_lines, self.rx.fifo.front()) {
            let all = lines_in(self.packets.get(packet).bytes.into());
            (in_line.packets, in_line.lines) = (1, u64::from(all - sent));
        }
    }

    /// Lines of data that could go on the link if it were free, counted up to `most`. Packets leave the SRAM in
    /// order. One that the NIC cannot take yet or whose descriptor it has not read stops those behind it; one that has
    /// none will be dropped.
    fn data_to_write(&mut self, most: u64) -> u64 {
        if let Some(bench) = &self.bench {
            return bench.to_write();
        }
        let in_line = &mut self.writes.in_line;
        if !self.rx.engine.is_free_by(in_line.until) {
            return in_line.lines;
        }
        for &packet in self.rx.fifo.iter().skip(in_line.packets) {
            if in_line.lines >= most {
                break;
            }
            let p = self.packets.get(packet);
            let (taken, rx) =
                (&mut in_line.descriptors[p.queue as usize], &self.queues[p.queue as usize].rx);
            if *taken < rx.known() {
                if *taken >= rx.fetched() {
                    break;
                }
                *taken += 1;
                in_line.lines += u64::from(lines_in(p.bytes.into()));
            }
            in_line.packets += 1;
        }
        in_line.lines
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, pcie_json, results};

    fn of<'a>(results: &'a Results, name: &str) -> &'a Domain {
        results.domains.iter().find(|d| d.domain == name).expect("a domain of the run")
    }

    #[test]
    fn what_waits_for_the_link_is_the_rest_of_a_packet_that_has_its_descriptor() {
        // Packets of two TLPs and a completion, and one descriptor at a time: no other packet has one.
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/descriptor_batch", json!(1)),
            ("/traffic/flows", json!(1)),
            ("/traffic/sizes/size", json!("512 B")),
            ("/traffic/rate", json!("20 Mpps")),
        ]));
        let pcie = of(&r, "pcie");
        let packets = of(&r, "descriptors").uses as f64;
        let ns = |bytes: f64| bytes * 8.0 / 118.9;
        // The read of the next descriptor goes first, and all eight lines wait for it. Four lines
        // wait while the first TLP is on the link, and then the completion while the second is.
        let by_hand = 8.0 * ns(24.0) + 4.0 * ns(280.0) + ns(280.0);
        let waited = pcie.holds_writes_ps as f64 / 1e3 / packets;
        assert!((waited / by_hand - 1.0).abs() < 0.01, "{waited} ns, by hand {by_hand}");
    }

    /// Packets of a core that takes none are dropped and do not stop those of the others, which fill the link.
    #[test]
    fn what_will_be_dropped_stops_no_packet_behind_it() {
        let slow = json!({
            "name": "slow", "cores": { "first": 1, "count": 1 },
            "app": { "kind": "l2fwd", "packet_instructions": 100_000_000 },
        });
        let fast = json!({
            "name": "fast", "cores": { "first": 0, "count": 1 },
            "app": { "kind": "l2fwd", "packet_instructions": 10 },
        });
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/pcie/generation", json!(3)),
            ("/machine/pcie/lanes", json!(2)),
            ("/machine/pcie/posted_credits", json!(64)),
            ("/machine/nic/write_credits", json!(128)),
            ("/machine/nic/descriptor_batch", json!(32)),
            ("/queues/rx_descriptors", json!(64)),
            ("/tenants", json!([fast, slow])),
            ("/traffic/rate", json!("20 Mpps")),
        ]));
        assert!(r.packets.dropped_no_descriptor > 0, "{:?}", r.packets);
        let io = r.io.as_ref().expect("packets are written");
        let free = 128.0 - io.write_credits_used;
        let waiting = of(&r, "pcie").holds_writes_ps as f64 / 1e3 / r.measured_ns;
        assert!((waiting / free - 1.0).abs() < 0.1, "{waiting} of {free}");
    }

    /// Writes of 1 KiB are four TLPs of 280 bytes, of which the device starts one each 400 ns.
    #[test]
    fn what_waits_of_a_paced_device_is_the_rest_of_its_transaction() {
        let bench = json!({ "direction": "write", "size": "1 KiB", "window": "4 KiB", "interval": "400 ns" });
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/nic/write_credits", json!(64)),
            ("/traffic", json!(null)),
            ("/tenants", json!([])),
            ("/dma_bench", bench),
        ]));
        let done = r.dma.as_ref().expect("it writes").transactions as f64;
        assert!((done * 400.0 / r.measured_ns - 1.0).abs() < 0.01, "{done}");
        // 12, 8 and 4 lines wait while a TLP is on the link.
        let by_hand = 24.0 * 280.0 * 8.0 / 118.9 / 400.0;
        let waiting = of(&r, "pcie").holds_writes_ps as f64 / 1e3 / r.measured_ns;
        assert!((waiting / by_hand - 1.0).abs() < 0.01, "{waiting}, by hand {by_hand}");
    }
}
