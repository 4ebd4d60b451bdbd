//! DMA writes of the NIC: their credits, and their path to memory and back.

use super::credits::Credits;
use super::waiting_for_link::InLine;
use super::{Event, Host};
use crate::config::machine::Machine;
use crate::memory::placement::DmaWrite;
use crate::time::Ps;

/// The write engine.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    /// Lines and TLPs that may be under way.
    pub(super) lines: Credits,
    pub(super) tlps: Credits,
    /// Lines of a packet that are written together.
    pub(super) burst_lines: u32,
    /// Writes wait until the link is free, for which an event is scheduled.
    wait_for_link: bool,
    pub(super) in_line: InLine,
    /// From the arrival of a write at the memory system until it is done there.
    pub(super) latency: Ps,
    /// From then until the NIC has the credits of the write back.
    credit_return: Ps,
}

impl Writes {
    pub(super) fn new(machine: &Machine) -> Writes {
        let pcie = machine.pcie.as_ref();
        let tlps = pcie.map_or(Credits::UNLIMITED, |p| p.posted_credits.into());
        Writes {
            lines: Credits::new(machine.nic.write_credits.into()),
            tlps: Credits::new(tlps),
            burst_lines: machine.burst_lines(),
            wait_for_link: false,
            in_line: InLine::default(),
            latency: machine.uncore_frequency().clock().at(machine.llc.latency_cycles.into()),
            credit_return: pcie.map_or(Ps::ZERO, |p| p.credit_return.ps()),
        }
    }

    /// From the arrival of a write at the memory system until the NIC has its credits back, if
    /// nothing delays it.
    pub(super) fn credit_latency(&self) -> Ps {
        self.latency + self.credit_return
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.lines.reset_counts(now);
        self.tlps.reset_counts(now);
    }
}

impl Host {
    /// Whether a write of this many lines can leave the NIC now; if so, its credits have been taken.
    ///
    /// Credits are taken by what goes on the link, not by what waits for it ("credits consumed" of
    /// a transmitter: PCI Express Base Specification 5.0, 2.6.1.2).
    pub(super) fn can_write(&mut self, now: Ps, lines: u32) -> bool {
        if self.link_is_free(now) {
            return self.take_credits(now, lines);
        }
        // What waits for the link does not wait for credits, whether there are any or not.
        self.writes.lines.end_waiting(now);
        self.writes.tlps.end_waiting(now);
        false
    }

    /// Whether the link has sent all that it was given. If not, writes continue when it has; read
    /// requests go in between.
    fn link_is_free(&mut self, now: Ps) -> bool {
        let Some(link) = self.interconnect.link() else { return true };
        let at = link.free_at();
        let free = at <= now;
        if !free && !self.writes.wait_for_link {
            self.writes.wait_for_link = true;
            self.events.push(at, Event::LinkFree);
        }
        if free {
            self.no_write_waits_for_link(now);
        } else {
            self.writes_wait_for_link(now, at);
        }
        free
    }

    /// The link has sent what it had been given when a write last waited for it.
    pub(super) fn link_free(&mut self, now: Ps) {
        self.writes.wait_for_link = false;
        self.no_write_waits_for_link(now);
        self.go_on_writing(now);
    }

    /// Writes what waits for link or credits, as far as these allow it.
    fn go_on_writing(&mut self, now: Ps) {
        self.receive(now);
        if self.bench.is_some() {
            self.bench_start(now);
        }
    }

    fn take_credits(&mut self, now: Ps, lines: u32) -> bool {
        let writes = &mut self.writes;
        let line = writes.lines.await_free(now, lines.into());
        let tlp = writes.tlps.await_free(now, 1);
        if line && tlp {
            writes.lines.take(now, lines.into());
            writes.tlps.take(now, 1);
        }
        line && tlp
    }

    /// A DMA write of some lines reaches the memory system. The credits of lines that are in a
    /// cache or in the queue of their channel return at once; those of the other lines return when
    /// that queue has taken them.
    pub(super) fn io_write(&mut self, now: Ps, first: DmaWrite, lines: u32) {
        self.meters.io_lines += u64::from(lines);
        let writes = first.burst(lines);
        let done = writes.filter(|&write| self.memory.io_write(now, write, true)).count() as u32;
        let credits = Event::Credits { lines: done as u16, tlps: 1 };
        self.events.push(now + self.writes.credit_latency(), credits);
    }

    pub(super) fn credits(&mut self, now: Ps, lines: u16, tlps: u8) {
        self.writes.lines.give_back(now, lines.into());
        self.writes.tlps.give_back(now, tlps.into());
        self.go_on_writing(now);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::stats::results::{Domain, Results};
    use crate::testing::{forwarder, pcie_json, results};

    fn of<'a>(results: &'a Results, name: &str) -> &'a Domain {
        results.domains.iter().find(|d| d.domain == name).expect("a domain of the run")
    }

    #[test]
    fn what_waits_for_a_busy_link_holds_no_credits() {
        let with = |credits: u32| {
            let bench = json!({ "direction": "write", "size": "256 B", "window": "4 KiB" });
            results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/pcie/posted_credits", json!(64)),
                ("/machine/nic/write_credits", json!(credits)),
                ("/traffic", Value::Null),
                ("/tenants", json!([])),
                ("/dma_bench", bench),
            ]))
        };
        for credits in [128, 256] {
            let r = with(credits);
            let io = r.io.as_ref().expect("it writes");
            // 280 bytes at 118.9 Gbit/s, 200 ns to the memory system, 30 cycles at 2 GHz in the LLC,
            // 100 ns back.
            let held_ns = 280.0 * 8.0 / 118.9 + 200.0 + 15.0 + 100.0;
            let latency = io.write_latency_ns.expect("it writes");
            assert!((latency / held_ns - 1.0).abs() < 0.01, "{latency} ns, by hand {held_ns}");
            // Little's law: 256 bytes every 18.8 ns.
            let used = held_ns * 4.0 / (280.0 * 8.0 / 118.9);
            assert!((io.write_credits_used / used - 1.0).abs() < 0.02, "{}", io.write_credits_used);
            assert_eq!(of(&r, "io-credits").starved_ps, 0);
            // All other credits are there for lines that wait for the link.
            let waiting = of(&r, "pcie").holds_writes_ps as f64 / 1e3 / r.measured_ns;
            let free = f64::from(credits) - io.write_credits_used;
            assert!((waiting / free - 1.0).abs() < 0.03, "{waiting} of {free}");
        }
    }

    #[test]
    fn read_requests_go_between_the_writes_that_wait_for_the_link() {
        let read_ns = |rate: &str| {
            let r = results(&forwarder(&[
                ("/machine/pcie", pcie_json()),
                ("/machine/nic/write_credits", json!(1024)),
                ("/traffic/rate", json!(rate)),
            ]));
            let tags = of(&r, "read-tags");
            (tags.busy_ps as f64 / 1e3 / tags.uses as f64, of(&r, "pcie").holds_writes_ps)
        };
        let ((idle, _), (busy, waiting)) = (read_ns("0.2 Mpps"), read_ns("40 Mpps"));
        assert!(waiting > 0);
        assert!(busy < idle + 60.0, "{busy:.0} and {idle:.0} ns");
    }
}
