//! A small set-associative cache of translations or of paging-structure entries.

use super::config::IotlbReplacement;

/// The key of an empty way.
const EMPTY: u32 = u32::MAX;
/// The key of a page that will not be looked up again, in a way that is still occupied.
const DEAD: u32 = u32::MAX - 1;

/// A cache of keys. The ways of a set are kept in replacement order, the next victim last. A set is
/// a few dozen bytes, so finding and reordering a key is one pass over about two cache lines.
#[derive(Clone, Debug)]
pub(crate) struct Iotlb {
    keys: Vec<u32>,
    ways: usize,
    sets: u32,
    replacement: IotlbReplacement,
}

impl Iotlb {
    /// A cache of `entries` keys in sets of `ways`, where `ways` divides `entries`.
    pub(crate) fn new(entries: u32, ways: u32, replacement: IotlbReplacement) -> Iotlb {
        debug_assert!(ways == 0 || entries.is_multiple_of(ways));
        Iotlb {
            keys: vec![EMPTY; entries as usize],
            ways: ways as usize,
            sets: entries / ways.max(1),
            replacement,
        }
    }

    /// A fully associative LRU cache, which may have no entries.
    pub(crate) fn fully_associative(entries: u32) -> Iotlb {
        Iotlb::new(entries, entries, IotlbReplacement::Lru)
    }

    #[inline]
    fn set(&mut self, key: u32) -> &mut [u32] {
        let first = if self.sets <= 1 { 0 } else { (key % self.sets) as usize * self.ways };
        &mut self.keys[first..first + self.ways]
    }

    /// Whether a key is present; if so, this counts as a use.
    #[inline]
    pub(crate) fn look_up(&mut self, key: u32) -> bool {
        let keeps_order = self.replacement == IotlbReplacement::Fifo;
        let set = self.set(key);
        let Some(way) = set.iter().position(|&k| k == key) else { return false };
        if !keeps_order {
            set[..=way].rotate_right(1);
        }
        true
    }

    /// Inserts a key. One that is already present, because two walks for it ran side by side, stays
    /// where it is.
    pub(crate) fn insert(&mut self, key: u32) {
        let set = self.set(key);
        if !set.is_empty() && !set.contains(&key) {
            set.rotate_right(1);
            set[0] = key;
        }
    }

    /// Removes a key. With `frees` its way becomes free and is filled next; otherwise the way stays
    /// occupied until the key is replaced or flushed.
    pub(crate) fn remove(&mut self, key: u32, frees: bool) {
        let set = self.set(key);
        let Some(way) = set.iter().position(|&k| k == key) else { return };
        if frees {
            set[way..].rotate_left(1);
            set[set.len() - 1] = EMPTY;
        } else {
            set[way] = DEAD;
        }
    }

    /// Removes all keys.
    pub(crate) fn flush(&mut self) {
        self.keys.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The simplest possible model: for each set, the keys with the time that the policy goes by.
    struct Oracle {
        sets: Vec<Vec<(u64, u32)>>,
        ways: usize,
        replacement: IotlbReplacement,
        clock: u64,
    }

    impl Oracle {
        fn set(&mut self, key: u32) -> &mut Vec<(u64, u32)> {
            let sets = self.sets.len() as u32;
            &mut self.sets[(key % sets) as usize]
        }

        fn look_up(&mut self, key: u32) -> bool {
            self.clock += 1;
            let (clock, lru) = (self.clock, self.replacement == IotlbReplacement::Lru);
            let Some(entry) = self.set(key).iter_mut().find(|e| e.1 == key) else { return false };
            if lru {
                entry.0 = clock;
            }
            true
        }

        fn insert(&mut self, key: u32) {
            self.clock += 1;
            let (clock, ways) = (self.clock, self.ways);
            let set = self.set(key);
            if set.iter().any(|e| e.1 == key) {
                return;
            }
            if set.len() == ways {
                let oldest = set.iter().enumerate().min_by_key(|(_, e)| e.0).expect("full").0;
                set.remove(oldest);
            }
            set.push((clock, key));
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_the_oracle_holds(
            sets in 1u32..5,
            ways in 1u32..9,
            lru in any::<bool>(),
            steps in prop::collection::vec((0u32..40, 0u32..20), 1..400),
        ) {
            let replacement = if lru { IotlbReplacement::Lru } else { IotlbReplacement::Fifo };
            let mut tlb = Iotlb::new(sets * ways, ways, replacement);
            let mut oracle = Oracle {
                sets: vec![Vec::new(); sets as usize], ways: ways as usize, replacement, clock: 0,
            };
            for (key, action) in steps {
                match action {
                    0 => {
                        tlb.flush();
                        oracle.sets.iter_mut().for_each(Vec::clear);
                    }
                    1 | 2 => {
                        tlb.remove(key, true);
                        oracle.set(key).retain(|e| e.1 != key);
                    }
                    3 => {
                        tlb.remove(key, false);
                        // It is never looked up again, but still occupies its way.
                        if let Some(entry) = oracle.set(key).iter_mut().find(|e| e.1 == key) {
                            entry.1 = DEAD;
                        }
                    }
                    4..12 => {
                        tlb.insert(key);
                        oracle.insert(key);
                    }
                    _ => prop_assert_eq!(tlb.look_up(key), oracle.look_up(key), "key {}", key),
                }
            }
            for key in 0..40 {
                let held = oracle.set(key).iter().any(|e| e.1 == key);
                prop_assert_eq!(tlb.set(key).contains(&key), held);
            }
        }
    }

    #[test]
    fn a_cache_without_entries_holds_nothing() {
        let mut none = Iotlb::fully_associative(0);
        none.insert(7);
        assert!(!none.look_up(7));
    }
}
