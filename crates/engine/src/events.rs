//! The event queue: a timing wheel with a total order of (time, order of scheduling).
//!
//! Nearly all events lie within a microsecond of now, so they go to the buckets of a wheel and cost
//! a few dozen instructions each; the few beyond its horizon wait in a heap and move to the wheel
//! as it turns.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Ps;

/// log2 of a bucket's width in picoseconds.
const BUCKET_SHIFT: u32 = 8;
/// Buckets of the wheel, a power of two: with 256 ps per bucket the horizon is 2.1 us.
const BUCKETS: u64 = 8192;
const WORDS: usize = (BUCKETS / 64) as usize;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node<E> {
    at: Ps,
    event: E,
    next: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Far {
    at: Ps,
    seq: u64,
    node: u32,
}

/// Events in time order; those with equal times in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct Events<E> {
    nodes: Vec<Node<E>>,
    free: u32,
    heads: Box<[u32; BUCKETS as usize]>,
    occupied: [u64; WORDS],
    /// Number of the bucket that contains `now`, counted from time zero.
    base: u64,
    far: BinaryHeap<Reverse<Far>>,
    /// Bucket of the first far event, or [`u64::MAX`].
    far_from: u64,
    seq: u64,
    now: Ps,
}

impl<E: Copy> Default for Events<E> {
    fn default() -> Self {
        Events {
            nodes: Vec::new(),
            free: NONE,
            heads: Box::new([NONE; BUCKETS as usize]),
            occupied: [0; WORDS],
            base: 0,
            far: BinaryHeap::new(),
            far_from: u64::MAX,
            seq: 0,
            now: Ps::ZERO,
        }
    }
}

impl<E: Copy> Events<E> {
    /// Schedules `event` at `at`, or now if `at` has passed. Not inlined: there are many callers,
    /// whose code already exceeds the instruction cache of the processor that runs the simulator.
    #[inline(never)]
    pub fn push(&mut self, at: Ps, event: E) {
        let at = at.max(self.now);
        let node = if self.free == NONE {
            self.add_node(at, event)
        } else {
            let i = self.free;
            let n = &mut self.nodes[i as usize];
            self.free = n.next;
            (n.at, n.event) = (at, event);
            i
        };
        if (at.0 >> BUCKET_SHIFT) - self.base < BUCKETS {
            self.insert(node, at);
        } else {
            self.push_far(node, at);
        }
    }

    #[cold]
    fn add_node(&mut self, at: Ps, event: E) -> u32 {
        self.nodes.push(Node { at, event, next: NONE });
        (self.nodes.len() - 1) as u32
    }

    #[cold]
    fn push_far(&mut self, node: u32, at: Ps) {
        self.seq += 1;
        self.far.push(Reverse(Far { at, seq: self.seq, node }));
        self.far_from = self.far_from.min(at.0 >> BUCKET_SHIFT);
    }

    /// Takes the first event, if it is due at or before `until`.
    #[inline]
    pub fn pop(&mut self, until: Ps) -> Option<(Ps, E)> {
        let bucket = self.next_bucket(until)?;
        let slot = (bucket % BUCKETS) as usize;
        let head = self.heads[slot];
        let node = &mut self.nodes[head as usize];
        if node.at > until {
            return None;
        }
        let (at, event) = (node.at, node.event);
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = head;
        self.heads[slot] = next;
        // Without a branch, like the search for the bucket above: the processor that runs the
        // simulator cannot predict whether an event is the last of its bucket.
        self.occupied[slot / 64] &= !(u64::from(next == NONE) << (slot % 64));
        self.now = at;
        self.base = bucket;
        if self.far_from - bucket < BUCKETS {
            self.take_near();
        }
        Some((at, event))
    }

    /// All scheduled events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &E> {
        let chain = move |&head: &u32| {
            let some = |node: u32| (node != NONE).then_some(node);
            std::iter::successors(some(head), move |&node| some(self.nodes[node as usize].next))
        };
        let near = self.heads.iter().flat_map(chain);
        let far = self.far.iter().map(|Reverse(far)| far.node);
        near.chain(far).map(|node| &self.nodes[node as usize].event)
    }

    /// Inserts a node into its bucket, after all that are due no later.
    #[inline]
    fn insert(&mut self, node: u32, at: Ps) {
        let slot = ((at.0 >> BUCKET_SHIFT) % BUCKETS) as usize;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        let mut here = self.heads[slot];
        let mut before = NONE;
        while here != NONE && self.nodes[here as usize].at <= at {
            before = here;
            here = self.nodes[here as usize].next;
        }
        self.nodes[node as usize].next = here;
        if before == NONE {
            self.heads[slot] = node;
        } else {
            self.nodes[before as usize].next = node;
        }
    }

    /// The first occupied bucket at or after the base, as an absolute bucket number; `None` if the
    /// wheel is empty and no far event is due at `until`.
    #[inline]
    fn next_bucket(&mut self, until: Ps) -> Option<u64> {
        let start = (self.base % BUCKETS) as usize;
        let ahead = self.occupied[start / 64] >> (start % 64);
        if ahead != 0 {
            return Some(self.base + u64::from(ahead.trailing_zeros()));
        }
        self.next_bucket_beyond(until)
    }

    /// The first occupied bucket beyond the word that contains the base.
    #[inline(never)]
    fn next_bucket_beyond(&mut self, until: Ps) -> Option<u64> {
        let start = self.base % BUCKETS;
        let words = (1..=WORDS).map(|i| (start as usize / 64 + i) % WORDS);
        for word in words {
            let bits = self.occupied[word];
            if bits != 0 {
                let slot = (word * 64) as u64 + u64::from(bits.trailing_zeros());
                return Some(self.base + (slot + BUCKETS - start) % BUCKETS);
            }
        }
        self.turn_to_far(until)
    }

    /// Turns an empty wheel to the first far event, if that is due, and returns its bucket. Not
    /// before it is due, since the next event to be scheduled may come earlier.
    fn turn_to_far(&mut self, until: Ps) -> Option<u64> {
        let Reverse(first) = self.far.peek().filter(|Reverse(first)| first.at <= until)?;
        self.base = first.at.0 >> BUCKET_SHIFT;
        self.take_near();
        Some(self.base)
    }

    /// Moves far events that are now within the horizon into the wheel, in order.
    #[cold]
    fn take_near(&mut self) {
        self.far_from = u64::MAX;
        while let Some(Reverse(first)) = self.far.peek() {
            let bucket = first.at.0 >> BUCKET_SHIFT;
            if bucket - self.base >= BUCKETS {
                self.far_from = bucket;
                break;
            }
            let (node, at) = (first.node, first.at);
            self.far.pop();
            self.insert(node, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_keep_the_order_of_scheduling() {
        let mut q = Events::default();
        for i in 0..5 {
            q.push(Ps(1000), i);
        }
        let order: Vec<i32> = std::iter::from_fn(|| q.pop(Ps::MAX)).map(|(_, e)| e).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_far_event_comes_before_a_later_scheduled_near_one_of_the_same_time() {
        let mut q = Events::default();
        let far = Ps(BUCKETS << (BUCKET_SHIFT + 1));
        q.push(far, "scheduled first");
        q.push(far.saturating_sub(Ps(10)), "step");
        assert_eq!(q.pop(Ps::MAX).unwrap().1, "step");
        q.push(far, "scheduled second");
        assert_eq!(q.pop(Ps::MAX).unwrap().1, "scheduled first");
        assert_eq!(q.pop(Ps::MAX).unwrap().1, "scheduled second");
    }

    #[test]
    fn nothing_is_taken_beyond_until() {
        let mut q = Events::default();
        q.push(Ps(500), ());
        assert_eq!(q.pop(Ps(499)), None);
        assert_eq!(q.pop(Ps(500)), Some((Ps(500), ())));
    }

    #[test]
    fn what_is_scheduled_after_a_look_at_a_far_event_may_come_before_it() {
        let mut q = Events::default();
        let far = Ps(BUCKETS << (BUCKET_SHIFT + 2));
        q.push(far, "far");
        assert_eq!(q.pop(Ps(100)), None);
        q.push(Ps(200), "near");
        q.push(Ps(far.0 / 2), "between");
        let order: Vec<&str> = std::iter::from_fn(|| q.pop(Ps::MAX)).map(|(_, e)| e).collect();
        assert_eq!(order, ["near", "between", "far"]);
    }

    #[test]
    fn all_that_is_scheduled_is_seen_once() {
        let mut q = Events::default();
        let far = BUCKETS << (BUCKET_SHIFT + 1);
        for (i, at) in [5, 5, 700, far, far + 1].into_iter().enumerate() {
            q.push(Ps(at), i);
        }
        q.pop(Ps::MAX);
        let mut seen: Vec<usize> = q.iter().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3, 4]);
    }

    proptest! {
        /// Compared with a sorted list: any mix of near, far and past times comes out in total order.
        #[test]
        fn order_equals_a_stable_sort(steps in prop::collection::vec((0u64..20_000_000, 0usize..3), 1..300)) {
            let mut q = Events::default();
            let mut model: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (id, (delta, pops)) in steps.into_iter().enumerate() {
                q.push(Ps(now + delta), id);
                let at = model.partition_point(|m| m.0 <= now + delta);
                model.insert(at, (now + delta, id));
                for _ in 0..pops {
                    let got = q.pop(Ps::MAX);
                    if model.is_empty() {
                        prop_assert_eq!(got, None);
                    } else {
                        let (t, want) = model.remove(0);
                        prop_assert_eq!(got, Some((Ps(t), want)));
                        now = t;
                    }
                }
            }
        }
    }
}
