//! A bounded queue in a ring buffer.
//!
//! The ring grows only to the most entries ever queued at once, usually far fewer than the bound. It cycles
//! through all of its memory, so a small ring stays in the caches of the machine that runs the simulator.

/// The queue. Positions only ever count up; an entry keeps its position.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    /// Their number is a power of two.
    entries: Vec<T>,
    capacity: usize,
    head: u64,
    tail: u64,
}

/// Entries that a new ring has room for.
const ROOM: usize = 16;

impl<T: Copy> Ring<T> {
    /// An empty queue for at most `capacity` entries, rounded up to a power of two. `unused` fills
    /// the memory.
    pub(super) fn new(capacity: usize, unused: T) -> Ring<T> {
        let capacity = capacity.next_power_of_two();
        Ring { entries: vec![unused; capacity.min(ROOM)], capacity, head: 0, tail: 0 }
    }

    /// The entry at a position.
    #[inline]
    pub(super) fn at(&self, position: u64) -> &T {
        &self.entries[position as usize & (self.entries.len() - 1)]
    }

    /// The entry at a position.
    #[inline]
    pub(super) fn at_mut(&mut self, position: u64) -> &mut T {
        let mask = self.entries.len() - 1;
        &mut self.entries[position as usize & mask]
    }

    /// Position of the first entry.
    #[inline]
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// Position after the last entry.
    #[inline]
    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&T> {
        (!self.is_empty()).then(|| self.at(self.head))
    }

    #[inline]
    pub(super) fn pop_front(&mut self) {
        debug_assert!(!self.is_empty());
        self.head += 1;
    }

    /// Adds an entry and returns its position.
    #[inline]
    pub(super) fn push_back(&mut self, entry: T) -> u64 {
        debug_assert!(!self.is_full());
        if self.len() == self.entries.len() {
            self.grow();
        }
        let position = self.tail;
        *self.at_mut(position) = entry;
        self.tail += 1;
        position
    }

    /// Doubles the room. Because the contents are duplicated, each entry is also at the index that
    /// its position has in the larger ring.
    #[cold]
    fn grow(&mut self) {
        self.entries.extend_from_within(..);
    }

    /// The entries, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (self.head..self.tail).map(|position| self.at(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_positions_around_the_ring() {
        let mut ring = Ring::new(3, 0);
        for n in 0..100 {
            assert_eq!(ring.push_back(n), n);
            assert_eq!(ring.push_back(n + 1), n + 1);
            assert_eq!((*ring.at(n), ring.len(), ring.head(), ring.tail()), (n, 2, n, n + 2));
            ring.pop_front();
            assert_eq!(ring.iter().collect::<Vec<_>>(), [&(n + 1)]);
            // The next round pushes it again.
            *ring.at_mut(n + 1) = 0;
            ring.tail -= 1;
        }
        for n in 0..4 {
            assert!(!ring.is_full());
            ring.push_back(n);
        }
        assert!(ring.is_full() && ring.front() == Some(&0));
    }

    #[test]
    fn a_ring_that_grows_keeps_its_entries_where_they_are() {
        let capacity = 8 * ROOM as u64;
        let mut ring = Ring::new(capacity as usize, 0);
        // Moves the head, so that the ring does not begin at index 0 when it grows.
        for n in 0..5 {
            ring.push_back(n);
            ring.pop_front();
        }
        for n in 5..5 + capacity {
            assert!(!ring.is_full());
            assert_eq!(ring.push_back(n), n);
            assert!(ring.iter().copied().eq(5..n + 1));
        }
        assert!(ring.is_full());
        assert_eq!(ring.entries.len() as u64, capacity);
    }
}
