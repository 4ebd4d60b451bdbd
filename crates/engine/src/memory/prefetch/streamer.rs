//! The streamer: the L2 prefetcher that follows ascending accesses within a page.
//!
//! Sizes are those of Intel's optimization manual (section on data prefetching): one stream per page,
//! two prefetches per L2 lookup, at most 20 lines ahead of the lookup. What starts a stream is not
//! disclosed; here it is the first lookup of a page for a higher line than the one before. Descending
//! streams are not modelled.

use super::{STREAMS, end_ahead};
use crate::memory::line::{Line, LineKind, PAGE_LINES};
use crate::memory::replacement::lru;
use crate::memory::ways::{self, EMPTY};

const PER_LOOKUP: u32 = 2;

/// While this many lines wait to be fetched, one per stream, a lookup adds none.
const MAX_WANTED: usize = STREAMS;

/// What is known about one page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The line of the last lookup, and the furthest line looked up or prefetched.
    last: Line,
    furthest: Line,
}

/// The streamer of one core.
#[derive(Clone, Debug)]
pub(super) struct Streamer {
    /// The page of each stream, and how long ago it was used.
    pages: [Line; STREAMS],
    ages: [u8; STREAMS],
    streams: [Stream; STREAMS],
}

impl Streamer {
    pub(super) fn new() -> Streamer {
        let unused = Stream { last: 0, furthest: 0 };
        Streamer { pages: [EMPTY; STREAMS], ages: lru::start(), streams: [unused; STREAMS] }
    }

    /// The L2 is looked up for a line. Adds the lines to fetch to `wanted`.
    pub(super) fn lookup(
        &mut self,
        line: Line,
        kind: LineKind,
        wanted: &mut Vec<(Line, LineKind)>,
    ) {
        let page = line / PAGE_LINES;
        let found = ways::matching(&self.pages, page);
        let used = match found {
            0 => lru::oldest(&self.ages, STREAMS as u32, u32::MAX),
            _ => found.trailing_zeros(),
        };
        lru::use_way(&mut self.ages, used);
        let s = &mut self.streams[used as usize];
        if found == 0 {
            self.pages[used as usize] = page;
            *s = Stream { last: line, furthest: line };
            return;
        }
        let ascends = line > s.last;
        s.last = line;
        if !ascends {
            // What was fetched on the last way up may have been evicted since. The same is assumed if the last line is
            // looked up again, which has then left the L1d, as a ring's line does whose halves the NIC writes in turn.
            s.furthest = line;
            return;
        }
        if wanted.len() >= MAX_WANTED {
            return;
        }
        let first = s.furthest.max(line) + 1;
        let end = end_ahead(line).min(first.saturating_add(PER_LOOKUP));
        // The nearest goes in last, because lines are taken from the end.
        wanted.extend((first..end).rev().map(|next| (next, kind)));
        s.furthest = s.furthest.max(end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::AHEAD;
    use super::*;

    fn after(lookups: &[Line]) -> Vec<Line> {
        let (mut s, mut wanted) = (Streamer::new(), Vec::new());
        for &line in lookups {
            s.lookup(line, LineKind::App, &mut wanted);
        }
        // In the order in which they are taken.
        wanted.into_iter().rev().map(|(line, _)| line).collect()
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
        assert_eq!(after(&lookups)[..2], [14, 15]);
        let (mut s, mut wanted) = (Streamer::new(), Vec::new());
        let mut most_ahead = 0;
        for line in 0..PAGE_LINES {
            s.lookup(line, LineKind::App, &mut wanted);
            for (next, _) in wanted.drain(..) {
                assert!(next < PAGE_LINES);
                most_ahead = most_ahead.max(next - line);
            }
        }
        assert_eq!(most_ahead, AHEAD);
    }

    #[test]
    fn the_last_page_of_all_is_one_like_others() {
        let page = Line::MAX - (PAGE_LINES - 1);
        let (mut s, mut wanted) = (Streamer::new(), Vec::new());
        let mut furthest = 0;
        for line in page..Line::MAX {
            s.lookup(line, LineKind::App, &mut wanted);
            furthest = wanted.drain(..).map(|(line, _)| line).max().unwrap_or(0).max(furthest);
        }
        // Its last line does not exist.
        assert_eq!(furthest, Line::MAX - 1);
    }

    #[test]
    fn each_pass_over_a_page_is_a_stream() {
        let mut s = Streamer::new();
        let mut pass = || -> Vec<Line> {
            let mut wanted = Vec::new();
            let lookups = (0..PAGE_LINES).flat_map(|line| {
                s.lookup(line, LineKind::App, &mut wanted);
                wanted.drain(..).rev().map(|(line, _)| line).collect::<Vec<_>>()
            });
            lookups.collect()
        };
        assert_eq!(pass(), Vec::from_iter(2..PAGE_LINES));
        assert_eq!(pass(), Vec::from_iter(2..PAGE_LINES));
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
