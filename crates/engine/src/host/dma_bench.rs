//! The device of the DMA benchmark.

use super::{Event, Host};
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, Line, LineKind, lines_in};
use crate::memory::placement::DmaWrite;
use crate::nic::dma_bench::{Direction, DmaBench, Window};
use crate::stats::results::DmaResults;
use crate::time::Ps;
use crate::units::Size;

/// How far back a core touches the window, in multiples of the cache capacity. It leaves in the caches what
/// it touched last: of lines that lie this far back nothing is left or, with random replacement, e^-8 of
/// them. (All windows of pcie-bench are shorter: 64 MiB, with an LLC of 25 MiB.)
const KEPT: u64 = 8;

/// The device.
#[derive(Clone, Debug)]
pub(super) struct BenchDevice {
    direction: Direction,
    lines: u32,
    bytes: u64,
    interval: Ps,
    pub(super) overhead: Ps,
    warm: bool,
    window: Window,
    /// The next transaction: its first line, and how many lines are written already.
    next: Option<(Line, u32)>,
    /// When the device can start it, and whether that is scheduled.
    starts: Ps,
    scheduled: bool,
    done: u64,
    read_time: u128,
}

impl BenchDevice {
    pub(super) fn new(config: &DmaBench, seed: u64, space: &mut AddressSpace) -> BenchDevice {
        BenchDevice {
            direction: config.direction,
            lines: lines_in(config.size.0),
            bytes: config.size.0,
            interval: config.interval.ps(),
            overhead: config.overhead.ps(),
            warm: config.warm,
            window: Window::new(config, seed, space),
            next: None,
            starts: Ps::ZERO,
            scheduled: false,
            done: 0,
            read_time: 0,
        }
    }

    /// Lines of a transaction.
    pub(super) fn lines(&self) -> u32 {
        self.lines
    }

    /// Lines that a device which writes has ready: of the transaction that has begun or, if none takes it any time, of
    /// ever more.
    pub(super) fn to_write(&self) -> u64 {
        debug_assert_eq!(self.direction, Direction::Write);
        if self.interval == Ps::ZERO {
            return u64::MAX;
        }
        self.next.map_or(0, |(_, sent)| (self.lines - sent).into())
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self) {
        (self.done, self.read_time) = (0, 0);
    }

    pub(super) fn results(&self, span_ns: f64) -> DmaResults {
        let reads = self.direction == Direction::Read && self.done > 0;
        DmaResults {
            transactions: self.done,
            gbps: (self.done * self.bytes * 8) as f64 / span_ns,
            latency_ns: reads.then(|| self.read_time as f64 / 1e3 / self.done as f64),
        }
    }
}

impl Host {
    /// Prepares the caches and starts the device.
    pub(super) fn start_bench(&mut self) {
        let Some(bench) = &self.bench else { return };
        if bench.warm {
            let Size(llc) = self.scenario.machine.llc.size;
            self.touch_window(KEPT * llc.div_ceil(LINE_BYTES));
        }
        self.bench_start(Ps::ZERO);
    }

    /// The first core touches the last lines of the window, at most `most` of them, and leaves them to
    /// the LLC.
    fn touch_window(&mut self, most: u64) {
        let Some(bench) = &self.bench else { return };
        let end = bench.window.first + bench.window.lines;
        let lines = u64::from(bench.window.lines).min(most) as Line;
        for line in end - lines..end {
            self.memory.fill_at_once(0, line, LineKind::Bench, false);
            self.memory.caches.let_go(0, line);
        }
    }

    /// The device starts as many transactions as credits and its own pace allow.
    pub(super) fn bench_start(&mut self, now: Ps) {
        loop {
            let Some(bench) = &mut self.bench else { return };
            if bench.next.is_none() && now < bench.starts {
                if !bench.scheduled {
                    bench.scheduled = true;
                    self.events.push(bench.starts, Event::BenchStart);
                }
                return;
            }
            bench.scheduled = false;
            let (first, sent) = *bench.next.get_or_insert_with(|| (bench.window.next(), 0));
            let (direction, lines) = (bench.direction, bench.lines);
            let now_sent = match direction {
                Direction::Read if self.read_bench(now, first, lines) => lines,
                Direction::Read => 0,
                Direction::Write => self.send_bench(now, first + sent, lines - sent),
            };
            let Some(bench) = &mut self.bench else { return };
            if now_sent == 0 {
                return;
            }
            if sent == 0 {
                bench.starts = now + bench.interval;
            }
            let sent = sent + now_sent;
            bench.next = (sent < lines).then_some((first, sent));
        }
    }

    /// Sends the next lines of a write of which `rest` are left, if link and credits allow it. Returns how many.
    fn send_bench(&mut self, now: Ps, line: Line, rest: u32) -> u32 {
        let lines = self.writes.burst_lines.min(rest);
        if !self.can_write(now, lines) {
            return 0;
        }
        let at = self.interconnect.write(now, u64::from(lines) * LINE_BYTES);
        self.events.push(at, Event::BenchWrite { line, lines: lines as u16, ends: lines == rest });
        lines
    }

    /// A write reaches the memory system.
    pub(super) fn bench_write(&mut self, now: Ps, first: Line, lines: u16, ends: bool) {
        let first = DmaWrite { line: first, kind: LineKind::Bench, index: 0, reader: None };
        self.io_write(now, first, lines.into());
        if let Some(bench) = &mut self.bench {
            bench.done += u64::from(ends);
        }
    }

    /// All data of a read is at the device.
    pub(super) fn bench_read_done(&mut self, now: Ps, latency: Ps) {
        if let Some(bench) = &mut self.bench {
            bench.done += 1;
            bench.read_time += u128::from(latency.0);
        }
        self.bench_start(now);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Host, Ps};
    use crate::testing::{forwarder, pcie_json, results};

    /// The causes of the memory traffic of the device alone, over 1 MiB.
    fn causes(direction: &str, policy: &str) -> Vec<String> {
        let bench = json!({ "direction": direction, "size": "64 B", "window": "1 MiB" });
        let r = results(&forwarder(&[
            ("/traffic", Value::Null),
            ("/tenants", json!([])),
            ("/dma_bench", bench),
            ("/placement/policy", policy.into()),
        ]));
        let moved = r.memory.causes.into_iter().filter(|c| c.lines > 0);
        moved.map(|c| c.cause).collect()
    }

    /// Windows of 64 MiB and 2 MiB, with caches of 112 KiB.
    #[test]
    fn a_warm_window_is_touched_as_far_back_as_the_caches_remember() {
        let bench = |window: &str, warm: bool| {
            let bench =
                json!({ "direction": "read", "size": "64 B", "window": window, "warm": warm });
            let set = [("/traffic", Value::Null), ("/tenants", json!([])), ("/dma_bench", bench)];
            Host::new(&forwarder(&set), None).unwrap()
        };
        let results = |mut host: Host| {
            host.run_until(Ps::from_us(200));
            host.results().unwrap()
        };
        for window in ["64 MiB", "2 MiB"] {
            let mut whole = bench(window, false);
            whole.touch_window(u64::MAX);
            let found = results(bench(window, true));
            assert_eq!(found, results(whole), "{window}");
            assert_ne!(found, results(bench(window, false)), "{window}");
        }
    }

    /// Random writes of one line, which the memory takes more slowly than the link brings them.
    #[test]
    fn a_write_that_waits_for_its_queue_holds_its_line_credit_only() {
        let in_use = |policy: &str| {
            let mut pcie = pcie_json();
            (pcie["generation"], pcie["latency"]) = (json!(5), json!("50 ns"));
            pcie["credit_return"] = json!("0 ns");
            let r = results(&forwarder(&[
                ("/traffic", Value::Null),
                ("/tenants", json!([])),
                ("/dma_bench", json!({ "direction": "write", "size": "64 B", "window": "64 MiB" })),
                ("/placement/policy", policy.into()),
                ("/machine/pcie", pcie),
                ("/machine/nic/write_credits", json!(256)),
                ("/machine/llc/home_trackers", json!(512)),
                ("/machine/dram/write_queue", json!(8)),
            ]));
            ["io-credits", "posted-credits"].map(|name| {
                let domain = r.domains.iter().find(|d| d.domain == name).expect("there is PCIe");
                domain.busy_ps as f64 / 1e3 / r.measured_ns
            })
        };
        let [lines, tlps] = in_use("ddio");
        assert!((lines - tlps).abs() < 0.5 && tlps > 15.0, "{lines} lines, {tlps} TLPs");
        // 16 TLPs are the most, and there are 256 lines.
        let [lines, tlps] = in_use("dma");
        assert!(lines > 200.0 && tlps < 15.0, "{lines} lines, {tlps} TLPs");
    }

    #[test]
    fn what_the_device_moves_has_causes_of_its_own() {
        assert_eq!(causes("read", "ddio"), ["nic-bench-rd"]);
        assert_eq!(causes("write", "dma"), ["nic-bench-wr"]);
        // The I/O ways hold a sixth of the LLC's 96 KiB.
        assert_eq!(causes("write", "ddio"), ["bench-evct"]);
    }
}
