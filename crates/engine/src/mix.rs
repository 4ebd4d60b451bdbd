//! One of several things, each drawn in proportion to its weight.

use crate::rng::{Rng, below};

/// Several things with their weights; or one, for which nothing is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Mix<T> {
    /// Pairs of (cumulative weight up to and including this entry, entry).
    entries: Box<[(u64, T)]>,
}

impl<T: Copy> Mix<T> {
    /// A mix of at least one entry and one weight above zero.
    pub(crate) fn new(of: impl IntoIterator<Item = (T, u32)>) -> Mix<T> {
        let mut total = 0;
        let entries = of.into_iter().map(|(entry, weight)| {
            total += u64::from(weight);
            (total, entry)
        });
        Mix { entries: entries.collect() }
    }

    /// One of them.
    #[inline]
    pub(crate) fn draw(&self, stream: &mut Rng) -> T {
        let (last, rest) = self.entries.split_last().expect("a mix has entries");
        if rest.is_empty() {
            return last.1;
        }
        let point = below(stream.next_u64(), last.0);
        // A mix has only a few entries, so a scan beats a search.
        rest.iter().find(|e| point < e.0).unwrap_or(last).1
    }
}
