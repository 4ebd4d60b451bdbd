//! The streamer: the L2 prefetcher that follows ascending accesses within a page.
//!
//! Sizes are those of Intel's optimization manual (section on data prefetching): one stream for each
//! of 32 pages of 4 KiB, two prefetches for every lookup of the L2, at most 20 lines ahead of the
//! lookup. What starts a stream is not disclosed; here it is the second lookup of a page with a
//! higher line than the one before. Descending streams are not modelled.

use super::line::Line;

const STREAMS: usize = 32;
const PAGE_LINES: u32 = 64;
const PER_LOOKUP: u32 = 2;
const MAX_AHEAD: u32 = 20;

/// What is known of one page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: u32,
    /// The line of the last lookup, and the furthest line looked up or prefetched.
    last: Line,
    furthest: Line,
    used: u64,
}

/// The streamer of one core.
#[derive(Clone, Debug)]
pub(crate) struct Streamer {
    streams: [Stream; STREAMS],
    lookups: u64,
    /// Lines to prefetch that have not been sent yet. Bounded: a lookup beyond the bound adds none.
    wanted: Vec<Line>,
}

/// Prefetches that wait to be sent: one for each stream.
const MAX_WANTED: usize = STREAMS;

impl Streamer {
    pub(crate) fn new() -> Streamer {
        let unused = Stream { page: u32::MAX, last: 0, furthest: 0, used: 0 };
        Streamer {
            streams: [unused; STREAMS],
            lookups: 0,
            wanted: Vec::with_capacity(MAX_WANTED + PER_LOOKUP as usize),
        }
    }

    /// The L2 is looked up for a line.
    pub(crate) fn lookup(&mut self, line: Line) {
        self.lookups += 1;
        let page = line / PAGE_LINES;
        let Some(s) = self.streams.iter_mut().find(|s| s.page == page) else {
            let oldest = self.streams.iter_mut().min_by_key(|s| s.used).expect("there are streams");
            *oldest = Stream { page, last: line, furthest: line, used: self.lookups };
            return;
        };
        s.used = self.lookups;
        let ascends = line > s.last;
        s.last = line;
        if !ascends || self.wanted.len() >= MAX_WANTED {
            return;
        }
        let first = s.furthest.max(line) + 1;
        let end =
            (page * PAGE_LINES + PAGE_LINES).min(line + MAX_AHEAD + 1).min(first + PER_LOOKUP);
        for next in first..end {
            self.wanted.push(next);
            s.furthest = next;
        }
    }

    /// The next line to prefetch.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Line> {
        self.wanted.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lookups: &[Line]) -> Vec<Line> {
        let mut s = Streamer::new();
        for &line in lookups {
            s.lookup(line);
        }
        s.wanted.sort_unstable();
        s.wanted
    }

    #[test]
    fn the_second_ascending_lookup_of_a_page_fetches_two_lines() {
        assert!(after(&[65]).is_empty());
        assert_eq!(after(&[65, 69]), [70, 71]);
        assert!(after(&[69, 65]).is_empty());
        assert!(after(&[65, 129]).is_empty(), "another page is another stream");
    }

    #[test]
    fn a_stream_runs_ahead_by_twenty_lines_and_not_over_its_page() {
        let lookups: Vec<Line> = (0..8).collect();
        assert_eq!(after(&lookups).last(), Some(&15));
        let mut s = Streamer::new();
        let mut most_ahead = 0;
        for line in 0..64 {
            s.lookup(line);
            while let Some(next) = s.next() {
                assert!(next < 64);
                most_ahead = most_ahead.max(next - line);
            }
        }
        assert_eq!(most_ahead, MAX_AHEAD);
    }

    #[test]
    fn the_page_used_longest_ago_gives_up_its_stream() {
        let mut lookups: Vec<Line> = (0..=STREAMS as Line).map(|page| page * PAGE_LINES).collect();
        lookups.push(1);
        assert!(after(&lookups).is_empty(), "page 0 was forgotten");
        lookups.push(STREAMS as Line * PAGE_LINES + 1);
        assert_eq!(after(&lookups).len(), 2);
    }
}
