//! Streams of misses: two successive LLC requests for consecutive lines of a page start one, which then
//! runs ahead within the page as far as the limit on prefetches in flight allows.

use std::ops::Range;

use super::{STREAMS, end_ahead};
use crate::memory::line::{Line, PAGE_LINES};

/// What is known about the misses in a page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: Line,
    /// The line after the last request.
    next: Line,
    /// The first line that has been neither requested nor prefetched.
    ahead: Line,
}

/// The streams of one core.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    /// The stream that the next new one replaces, round robin.
    hand: usize,
}

impl Streams {
    pub(super) fn new() -> Streams {
        let none = Stream { page: Line::MAX, next: Line::MAX, ahead: Line::MAX };
        Streams { streams: vec![none; STREAMS], hand: 0 }
    }

    /// The core has requested a line. Returns the lines to fetch, at most `room`.
    pub(super) fn request(&mut self, line: Line, room: u32) -> Range<Line> {
        let page = line / PAGE_LINES;
        let Some(stream) = self.streams.iter_mut().find(|s| s.page == page) else {
            self.streams[self.hand] = Stream { page, next: line + 1, ahead: line + 1 };
            self.hand = (self.hand + 1) % STREAMS;
            return line..line;
        };
        if line + 1 == stream.next {
            // The same request, repeated after it had to wait.
            return line..line;
        }
        if !(stream.next..=stream.ahead).contains(&line) {
            (stream.next, stream.ahead) = (line + 1, line + 1);
            return line..line;
        }
        let first = stream.ahead.max(line + 1);
        let last = end_ahead(line).min(first.saturating_add(room)).max(first);
        (stream.next, stream.ahead) = (line + 1, last);
        first..last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ascending_misses_start_a_stream_that_goes_on_where_it_stopped() {
        let mut streams = Streams::new();
        let mut miss = |line| streams.request(line, 20);
        assert!(miss(3).is_empty());
        assert_eq!(miss(4), 5..25);
        assert!(miss(4).is_empty(), "a repeated request is none");
        // The first line that was not prefetched misses.
        assert_eq!(miss(25), 26..46);
        // A demand miss on a line that is still on its way tops the stream up.
        assert_eq!(miss(30), 46..51);
        assert_eq!(miss(51), 52..PAGE_LINES);
        assert!(miss(PAGE_LINES).is_empty(), "the next page trains anew");
        assert_eq!(miss(PAGE_LINES + 1), PAGE_LINES + 2..PAGE_LINES + 22);
    }

    #[test]
    fn jumps_and_descents_start_nothing() {
        let mut streams = Streams::new();
        for line in [40, 10, 9, 8, 20, 50] {
            assert!(streams.request(line, 20).is_empty(), "line {line}");
        }
    }
}
