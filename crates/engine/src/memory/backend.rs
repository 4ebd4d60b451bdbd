//! Behind the LLC: reads and writes on their way to the memory of either socket and back.

use super::config::Hierarchy;
use super::dram::Dram;
use super::due::Due;
use super::ingress::Ingress;
use super::line::{Line, LineKind, node_of};
use super::reads::{Read, Reads, Requester};
use super::remote_home::RemoteHome;
use super::socket_link::SocketLink;
use super::trackers::Trackers;
use crate::stats::occupancy::Occupancy;
use crate::time::Ps;

/// Reads under way, the link to the other socket, and the channels with what waits in front of them.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) reads: Reads,
    /// One for each read under way from this socket's memory, and each write that is not yet in a write
    /// queue: while a line crosses to the other socket, what evicted it must keep it.
    pub(crate) trackers: Trackers,
    /// The same for reads of the other socket's memory.
    pub(crate) remote_home: RemoteHome,
    /// The way to the channels of the other socket, if there is one.
    pub(crate) link: Option<SocketLink>,
    pub(crate) ingress: Ingress,
    /// DMA writes of lines that hold a credit until they are in a write queue. Each is followed by
    /// [`Due::Written`].
    pub(crate) late_writes: Occupancy,
    writes_on_link: u64,
    /// Latency of a line from memory to its requester.
    back: Ps,
    /// What the host must schedule; it drains this after every call.
    pub(crate) due: Vec<(Ps, Due)>,
    /// Writes in flight when measuring began.
    writes_begin: u64,
}

impl Backend {
    /// `back` is the latency of a line from memory to its requester.
    pub(super) fn new(parts: &Hierarchy<'_>, dram: Dram, back: Ps) -> Backend {
        Backend {
            reads: Reads::default(),
            trackers: Trackers::new(parts.llc.home_trackers),
            remote_home: RemoteHome::new(parts.llc.home_trackers),
            link: parts.numa.filter(|_| dram.nodes() > 1).map(SocketLink::new),
            late_writes: Occupancy::default(),
            writes_on_link: 0,
            ingress: Ingress::new(dram),
            back,
            due: Vec::new(),
            writes_begin: 0,
        }
    }

    /// Whether the LLC takes requests: it does not while all home trackers are in use.
    #[inline]
    pub(crate) fn takes_requests(&self) -> bool {
        self.trackers.free()
    }

    /// Sends a read to memory under the transaction that [`Reads::next`] offered. The line is `stale`
    /// from the start if the requester must not keep it.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        now: Ps,
        line: Line,
        kind: LineKind,
        requester: Requester,
        stale: bool,
    ) {
        let transaction = self.reads.begin(Read { line, kind, requester, stale, sent: now });
        match &mut self.link {
            Some(link) if node_of(line) != 0 => {
                let at = link.request(now);
                self.due.push((at, Due::RemoteRead(transaction)));
            }
            _ => {
                self.trackers.take(now);
                self.ingress.read(now, line, transaction, &mut self.due);
            }
        }
    }

    /// The request for a line of the other socket has arrived there.
    pub(crate) fn remote_read(&mut self, now: Ps, transaction: u16) {
        let requester = self.reads.requester(transaction);
        if self.remote_home.arrives(now, transaction, requester) {
            self.begin_remote_read(now, transaction);
        }
    }

    fn begin_remote_read(&mut self, now: Ps, transaction: u16) {
        let line = self.reads.sent(now, transaction);
        self.ingress.read(now, line, transaction, &mut self.due);
    }

    /// A line of the other socket has been read there and starts its way back.
    pub(crate) fn remote_data(&mut self, now: Ps, transaction: u16) {
        if let Some(next) = self.remote_home.leaves(now) {
            self.begin_remote_read(now, next);
        }
        let link = self.link.as_mut().expect("there is another socket");
        let at = link.data(now) + self.back;
        self.due.push((at, Due::Arrival(transaction)));
    }

    /// A line from memory has arrived. Returns what was read, and for whom.
    #[inline]
    pub(super) fn end(&mut self, now: Ps, transaction: u16) -> Read {
        let read = self.reads.end(transaction);
        if node_of(read.line) == 0 {
            self.trackers.give_back(now, 1);
        }
        read
    }

    /// Sends a write to memory. Returns whether it has entered a write queue at once; if not, and if it
    /// holds a `credit`, it is followed by [`Due::Written`].
    #[inline(never)]
    pub(super) fn write(&mut self, now: Ps, line: Line, credit: bool) -> bool {
        match &mut self.link {
            Some(link) if node_of(line) != 0 => {
                let at = link.write(now);
                self.due.push((at, Due::RemoteWrite(line, credit)));
                self.late_writes.enter(now, credit.into());
                self.writes_on_link += 1;
                self.trackers.take(now);
                false
            }
            _ => {
                let entered = self.ingress.write(now, line, credit, &mut self.due);
                if !entered {
                    self.late_writes.enter(now, credit.into());
                    self.trackers.take(now);
                }
                entered
            }
        }
    }

    /// A line to be written on the other socket has arrived there.
    pub(crate) fn remote_write(&mut self, now: Ps, line: Line, credit: bool) {
        self.writes_on_link -= 1;
        if self.ingress.write(now, line, credit, &mut self.due) {
            self.trackers.give_back(now, 1);
            if credit {
                self.late_writes.leave(now, 1);
                self.due.push((now, Due::Written));
            }
        }
    }

    /// The wake-up of a channel: its controller acts, and the lines that it has read start their way
    /// back.
    pub(crate) fn wake(&mut self, now: Ps, channel: u16) {
        let near = usize::from(channel) < self.ingress.dram.per_node();
        let (reads, back) = (&mut self.reads, self.back);
        let (entered, written) =
            self.ingress.wake(now, channel, &mut self.due, |at, transaction, due| {
                reads.served(at, transaction);
                due.push(if near {
                    (at + back, Due::Arrival(transaction))
                } else {
                    (at, Due::RemoteData(transaction))
                });
            });
        if entered > 0 {
            self.trackers.give_back(now, entered.into());
            self.late_writes.leave(now, written.into());
        }
    }

    /// Writes on their way to memory or in its queues.
    fn writes_in_flight(&self) -> u64 {
        self.writes_on_link + self.ingress.writes()
    }

    /// Both sides of the balances of reads and writes since the measured time began, in which this many
    /// `reads` and `writes` were sent.
    pub(super) fn balance(&self, reads: u64, writes: u64) -> MemoryBalance {
        let (reads_sent, reads_done) = self.reads.balance(reads);
        MemoryBalance {
            reads_sent,
            reads_done,
            writes_sent: self.writes_begin + writes,
            writes_done: self.ingress.writes_done + self.writes_in_flight(),
        }
    }

    /// A seeded fault: a write vanishes on the link between the sockets.
    #[cfg(test)]
    pub(crate) fn lose_a_remote_write(&mut self) {
        self.writes_on_link -= 1;
    }

    /// A seeded fault: a write-back vanishes on its way to memory.
    #[cfg(test)]
    pub(crate) fn lose_a_write(&mut self) {
        self.ingress.writes_done -= 1;
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.reads.reset_counts();
        self.trackers.reset_counts(now);
        self.remote_home.reset_counts(now);
        self.late_writes.reset(now);
        self.writes_begin = self.writes_in_flight();
        self.ingress.reset_counts(now);
        if let Some(link) = &mut self.link {
            link.reset_counts(now);
        }
    }
}

/// Both sides of the balances of memory traffic, in lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBalance {
    pub(crate) reads_sent: u64,
    pub(crate) reads_done: u64,
    pub(crate) writes_sent: u64,
    pub(crate) writes_done: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::events::Events;
    use crate::memory::dram::{Admission, DramConfig};
    use crate::testing::machine;

    /// The first line of the other node.
    const OTHER_NODE: Line = 1 << 31;

    /// A backend of two nodes whose requests nobody holds back, and its pending events.
    struct Bench {
        backend: Backend,
        events: Events<Due>,
        sent: (u64, u64),
        /// DMA writes reported as written, and lines that have arrived.
        written: u64,
        arrived: Vec<Line>,
    }

    impl Bench {
        fn new(trackers: u32) -> Bench {
            Bench::with(trackers, |_| ())
        }

        /// With a changed memory configuration.
        fn with(trackers: u32, memory: impl FnOnce(&mut DramConfig)) -> Bench {
            let mut machine = machine();
            machine.llc.home_trackers = trackers;
            memory(&mut machine.dram);
            machine.numa = serde_json::from_value(json!({
                "links": 2, "link_bandwidth": "160 Gbps", "latency": "30 ns"
            }))
            .expect("a link");
            let dram = Dram::with_nodes(&machine.dram, 2).expect("a memory");
            Bench {
                backend: Backend::new(&machine.hierarchy(), dram, Ps::from_ns(20)),
                events: Events::default(),
                sent: (0, 0),
                written: 0,
                arrived: Vec::new(),
            }
        }

        fn read(&mut self, now: Ps, line: Line) {
            let requester = Requester::Nic { operation: 0 };
            self.backend.reads.next();
            self.backend.read(now, line, LineKind::App, requester, false);
            self.sent.0 += 1;
        }

        /// Returns whether the write has entered a write queue at once.
        fn write(&mut self, now: Ps, line: Line, credit: bool) -> bool {
            self.sent.1 += 1;
            self.backend.write(now, line, credit)
        }

        fn run_until(&mut self, until: Ps) {
            loop {
                for (at, due) in self.backend.due.drain(..) {
                    self.events.push(at, due);
                }
                let Some((now, due)) = self.events.pop(until) else { return };
                match due {
                    Due::Channel(channel) => self.backend.wake(now, channel),
                    Due::Arrival(transaction) => {
                        self.arrived.push(self.backend.end(now, transaction).line);
                    }
                    Due::RemoteRead(transaction) => self.backend.remote_read(now, transaction),
                    Due::RemoteWrite(line, credit) => self.backend.remote_write(now, line, credit),
                    Due::RemoteData(transaction) => self.backend.remote_data(now, transaction),
                    Due::Written => self.written += 1,
                }
            }
        }

        fn assert_balanced(&self) {
            let b = self.backend.balance(self.sent.0, self.sent.1);
            assert_eq!((b.reads_sent, b.writes_sent), (b.reads_done, b.writes_done));
        }
    }

    proptest! {
        /// Whatever is sent to either node is done in the end, and every DMA write returns its credit
        /// once, at once or later.
        #[test]
        fn all_reads_arrive_and_all_writes_are_done(
            (in_order, read_queue, write_queue) in (any::<bool>(), 1u32..33, 1u32..33),
            sent in prop::collection::vec((0u64..40, 0u32..5000, any::<(bool, bool, bool)>()), 1..400),
        ) {
            let mut bench = Bench::with(8, |dram| {
                dram.admission = if in_order { Admission::InOrder } else { Admission::Separate };
                (dram.read_queue, dram.write_queue) = (read_queue, write_queue);
            });
            let (mut now, mut late, mut lines) = (Ps::ZERO, 0, Vec::new());
            for (wait_ns, line, (far, write, credit)) in sent {
                now += Ps::from_ns(wait_ns);
                bench.run_until(now);
                let line = line + if far { OTHER_NODE } else { 0 };
                if write {
                    let before = bench.backend.late_writes.inside();
                    let entered = bench.write(now, line, credit);
                    let is_late = u64::from(credit && !entered);
                    prop_assert_eq!(bench.backend.late_writes.inside() - before, is_late);
                    late += is_late;
                } else {
                    bench.read(now, line);
                    lines.push(line);
                }
                bench.assert_balanced();
            }
            bench.run_until(now + Ps::from_us(1000));
            bench.assert_balanced();
            prop_assert_eq!(bench.written, late);
            prop_assert_eq!(bench.backend.late_writes.inside(), 0);
            prop_assert_eq!(bench.backend.trackers.used.inside(), 0);
            prop_assert_eq!(bench.backend.remote_home.trackers.used.inside(), 0);
            prop_assert_eq!(bench.backend.remote_home.reads.inside(), 0);
            // Writes leave the queues when they are done, and controllers do not put them off when no
            // other request is left.
            prop_assert_eq!(bench.backend.writes_in_flight(), 0);
            lines.sort_unstable();
            bench.arrived.sort_unstable();
            prop_assert_eq!(bench.arrived, lines);
        }
    }

    /// Two trackers a socket: the third read of the other socket's memory waits there, and a read of this
    /// socket's memory comes as soon as ever.
    #[test]
    fn reads_of_the_other_socket_wait_for_its_trackers_alone() {
        let when = |far: u32| {
            let mut bench = Bench::new(2);
            (0..far).for_each(|n| bench.read(Ps::ZERO, OTHER_NODE + 1000 * n));
            let (waits, took) = (Ps::from_ns(60), Ps::from_us(10));
            bench.run_until(waits);
            assert!(bench.backend.takes_requests());
            assert_eq!(bench.backend.remote_home.reads.inside(), u64::from(far.saturating_sub(2)));
            bench.read(waits, 0);
            let mut near = Ps::ZERO;
            while bench.arrived.iter().all(|&line| line != 0) {
                near += Ps::from_ns(1);
                bench.run_until(waits + near);
            }
            bench.run_until(took);
            assert_eq!(bench.arrived.len(), far as usize + 1);
            assert_eq!(bench.backend.remote_home.trackers.used.uses, u64::from(far));
            near
        };
        assert_eq!(when(0), when(6));
    }

    #[test]
    fn no_requests_are_taken_while_all_trackers_are_in_use() {
        let mut bench = Bench::new(2);
        let reads = |bench: &mut Bench, now| {
            bench.read(now, 1);
            assert!(bench.backend.takes_requests());
            bench.read(now, 2);
            assert!(!bench.backend.takes_requests());
        };
        reads(&mut bench, Ps::ZERO);
        bench.run_until(Ps::from_us(1));
        // A write in a write queue holds no tracker, one that waits for room there does.
        let queue = machine().dram.write_queue;
        for line in 0..queue + 1 {
            bench.write(Ps::from_us(1), line, false);
        }
        assert!(bench.backend.takes_requests());
        bench.write(Ps::from_us(1), queue + 1, false);
        assert!(!bench.backend.takes_requests());
        bench.run_until(Ps::from_us(10));
        for line in 0..2 {
            assert!(bench.backend.takes_requests());
            bench.write(Ps::from_us(10), OTHER_NODE + line, false);
        }
        assert!(!bench.backend.takes_requests(), "writes on the link");
        bench.run_until(Ps::from_us(20));
        reads(&mut bench, Ps::from_us(20));
    }
}
