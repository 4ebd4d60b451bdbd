//! The hardware prefetcher of a core's L2.
//!
//! It learns from what the core accesses and names lines that the core may want next. It never crosses
//! a 4 KiB page, because it works on physical addresses.

mod stream;
mod streamer;

use self::stream::Streams;
use self::streamer::Streamer;
use super::line::{LINE_BYTES, Line, LineKind};
use crate::memory::config::{Hierarchy, Prefetch};

/// Lines of a 4 KiB page.
const PAGE: Line = 4096 / LINE_BYTES as Line;

/// Pages followed at a time: one forward stream in each of 32 pages (Intel 64 and IA-32
/// Architectures Optimization Reference Manual, "Data prefetch to the L2 and last level cache").
const STREAMS: usize = 32;

/// How far a stream runs ahead of the core's accesses: up to 20 lines (the same section).
const AHEAD: Line = 20;

/// The first line after the page of a line.
fn end_of_page(line: Line) -> Line {
    (line / PAGE + 1) * PAGE
}

/// Which lines the prefetcher fetches.
#[derive(Clone, Debug)]
enum Pattern {
    /// The line after each one that the core requests from the LLC.
    NextLine,
    /// Streams among the lines that the core requests from the LLC.
    Stream(Streams),
    /// Streams among the lines for which the L2 is looked up.
    Streamer(Box<Streamer>),
}

/// The prefetcher of one core.
#[derive(Clone, Debug)]
pub(crate) struct Prefetcher {
    pattern: Pattern,
    /// Lines to fetch, each with the kind of the access that caused it, the next one last. They go out
    /// with the core's next request to the LLC.
    wanted: Vec<(Line, LineKind)>,
    /// Prefetches on their way from memory, and how many of them there may be.
    in_flight: u32,
    most: u32,
}

impl Prefetcher {
    /// The prefetcher of each core, or none at all.
    pub(crate) fn for_cores(parts: &Hierarchy<'_>) -> Vec<Prefetcher> {
        let pattern = match parts.l2.prefetch {
            Prefetch::None => return Vec::new(),
            Prefetch::NextLine => Pattern::NextLine,
            Prefetch::Stream => Pattern::Stream(Streams::new()),
            Prefetch::Streamer => Pattern::Streamer(Box::new(Streamer::new())),
        };
        let most = parts.l2.superqueue - parts.l1_miss_registers;
        let one = Prefetcher { pattern, wanted: Vec::new(), in_flight: 0, most };
        vec![one; parts.cores as usize]
    }

    /// The L2 is looked up for a line (hit or miss).
    #[inline]
    pub(crate) fn lookup(&mut self, line: Line, kind: LineKind) {
        if let Pattern::Streamer(streamer) = &mut self.pattern {
            streamer.lookup(line, kind, &mut self.wanted);
        }
    }

    /// The core has requested a line from the LLC.
    #[inline]
    pub(crate) fn request(&mut self, line: Line, kind: LineKind) {
        let room = self.most - self.in_flight;
        match &mut self.pattern {
            Pattern::NextLine if room > 0 && line + 1 < end_of_page(line) => {
                self.wanted.push((line + 1, kind));
            }
            Pattern::Stream(streams) => {
                let lines = streams.request(line, room).rev();
                self.wanted.extend(lines.map(|line| (line, kind)));
            }
            Pattern::NextLine | Pattern::Streamer(_) => {}
        }
    }

    /// The next line to fetch.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(Line, LineKind)> {
        self.wanted.pop()
    }

    /// Whether one more prefetch may go to memory.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.in_flight < self.most
    }

    /// A prefetch has gone to memory.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.in_flight += 1;
    }

    /// A prefetch is no longer in flight: its line has arrived, or its core has taken it over.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        self.in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::config::Inclusion;
    use crate::stats::results::Results;
    use crate::testing::{every, forwarder, results};

    /// The prefetcher of a core that may have 20 prefetches in flight.
    fn one(kind: Prefetch) -> Prefetcher {
        for_cores(kind).remove(0)
    }

    fn for_cores(kind: Prefetch) -> Vec<Prefetcher> {
        let mut machine = forwarder(&[]).machine;
        machine.l2.prefetch = kind;
        machine.l2.superqueue = machine.core.l1_miss_registers + 20;
        Prefetcher::for_cores(&machine.hierarchy())
    }

    /// What a prefetcher fetches when its core misses the L2, in order.
    fn miss(p: &mut Prefetcher, line: Line) -> Vec<Line> {
        p.lookup(line, LineKind::App);
        p.request(line, LineKind::App);
        std::iter::from_fn(|| p.next()).map(|(line, _)| line).collect()
    }

    /// Copying packets on two cores with streamers.
    fn copying(inclusion: &str, policy: &str, metadata: &str) -> Results {
        results(&forwarder(&[
            ("/machine/llc/inclusion", inclusion.into()),
            ("/machine/l2/prefetch", "streamer".into()),
            ("/machine/l2/superqueue", 30.into()),
            ("/tenants/0/app/transmit", "copy".into()),
            ("/queues/metadata", metadata.into()),
            ("/placement/policy", policy.into()),
        ]))
    }

    #[test]
    fn what_lies_outside_of_the_hierarchy_is_not_prefetched() {
        let hits = |policy: &str| {
            let caches = copying("non-inclusive", policy, "0 B").caches;
            caches.iter().find(|c| c.level == "l2" && c.kind == "rx").expect("lookups").hits
        };
        assert!(hits("ddio") > 1_000);
        assert_eq!(hits("ideal-ddio"), 0);
    }

    #[test]
    fn what_is_written_back_is_of_the_kind_that_was_stored() {
        let all = every::<Inclusion>().into_iter().flat_map(|i| [(i, "0 B"), (i, "128 B")]);
        for (inclusion, metadata) in all {
            let inclusion = serde_json::to_value(inclusion).unwrap();
            let r = copying(inclusion.as_str().unwrap(), "dma", metadata);
            let found = |cause: &str| r.memory.causes.iter().find(|c| c.cause == cause);
            let lines = |cause: &str| found(cause).map_or(0, |c| c.lines);
            assert!(lines("prefetch-rd") > 1_000);
            // Packets that DMA wrote to memory and that are only read are not written back, even if a
            // streamer runs from them into the next buffer's metadata.
            assert!(lines("tx-evct") > 1_000);
            assert_eq!(lines("rx-evct"), 0, "{metadata} of metadata");
            assert_eq!(lines("mbuf-evct") > 0, metadata != "0 B");
        }
    }

    #[test]
    fn no_prefetcher_is_no_state() {
        assert!(for_cores(Prefetch::None).is_empty());
    }

    #[test]
    fn next_line_stays_in_the_page() {
        let mut p = one(Prefetch::NextLine);
        assert_eq!(miss(&mut p, 5), [6]);
        assert_eq!(miss(&mut p, 700), [701]);
        assert!(miss(&mut p, 2 * PAGE - 1).is_empty());
    }

    #[test]
    fn a_stream_is_fetched_in_ascending_order() {
        let mut p = one(Prefetch::Stream);
        assert!(miss(&mut p, 3).is_empty());
        assert!(miss(&mut p, 4).into_iter().eq(5..25));
    }

    /// The L2 reports hits to it too, and the prefetches that these cause go out with the next miss.
    #[test]
    fn only_the_streamer_learns_from_lookups_that_hit() {
        for (kind, fetched) in
            [(Prefetch::NextLine, 1), (Prefetch::Stream, 0), (Prefetch::Streamer, 2)]
        {
            let mut p = one(kind);
            p.lookup(3, LineKind::App);
            p.lookup(4, LineKind::App);
            assert_eq!(miss(&mut p, 10 * PAGE).len(), fetched, "{kind:?}");
        }
    }

    #[test]
    fn what_is_in_flight_bounds_the_lines_named() {
        for kind in [Prefetch::NextLine, Prefetch::Stream] {
            let mut p = one(kind);
            miss(&mut p, 0);
            for _ in 0..17 {
                p.sent();
            }
            assert!(miss(&mut p, 1).len() <= 3);
            for _ in 0..3 {
                p.sent();
            }
            assert!(!p.has_room());
            assert!(miss(&mut p, 2).is_empty());
            p.arrived();
            assert!(p.has_room());
            assert!(miss(&mut p, 3).len() <= 1);
        }
    }
}
