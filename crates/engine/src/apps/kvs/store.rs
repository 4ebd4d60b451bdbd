//! The key-value store itself: a lossy bucket index over a circular log, as in MICA.
//!
//! Layout and algorithm follow the `mica.c` of HERD (Kalia, Kaminsky, Andersen, SIGCOMM 2014; the
//! version that the Sweeper paper ported, section III) and MICA (Lim et al., NSDI 2014, section
//! 4.3):
//! - a bucket is one 64-byte line of eight 8-byte slots: in-use bit, tag, offset into the log;
//! - a log entry is the request as it came: 16-byte key, opcode, value length, value. HERD aligns
//!   entries to 8 bytes; here they are line-aligned, which is the same for the 512-byte and 1-KB
//!   items of the paper;
//! - offsets are virtual: they grow (until they are renumbered) and are masked down to the log; an
//!   entry is lost when the head is a whole log ahead of it;
//! - a full bucket loses its oldest slot (MICA; HERD replaces a pseudo-random one).
//!
//! The simulator stores no values, and one entry record per key instead of one per line of the log:
//! a key occupies at most one slot, so slot → key → (tag, offset, sizes) holds everything that the
//! real slot and the real entry header hold.

use super::pages::Pages;
use crate::apps::draw::mix;
use crate::memory::line::{LINE_BYTES, lines_in};

/// Slots of a bucket: eight of 8 bytes fill the line (HERD `struct mica_bkt`).
const SLOTS: usize = 8;

/// Bytes before the value in a request, an answer and a log entry: 16-byte key, 2-byte opcode,
/// 2-byte length. (HERD's `struct mica_op` has 1 byte for each of the latter two, which cannot
/// express values of 1 KB.)
pub(crate) const HEADER_BYTES: u32 = 20;

/// A key's entry in the log.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Virtual offset in the log, in lines.
    offset: u32,
    /// Current bytes of the value.
    value: u16,
    /// Lines allocated, into which an update in place must fit.
    lines: u16,
}

/// The state of one store. Clones share what they have in common.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// Key in each slot plus one, or 0 for an unused slot.
    buckets: Pages<[u32; SLOTS]>,
    entries: Pages<Entry>,
    /// Virtual offset of the next entry, in lines.
    head: u32,
    log_lines: u32,
    seed: u64,
}

/// Where an entry lies in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// First line, relative to the log.
    pub(crate) line: u32,
    /// Bytes of the value.
    pub(crate) value: u32,
}

/// What a probe of the index and the log finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// The key's own entry.
    Live(Place),
    /// A slot with the key's tag whose entry, at this line of the log, belongs to another key.
    Other {
        /// Its first line.
        line: u32,
    },
    /// No slot with the key's tag, or one whose entry the log has overwritten.
    Nothing,
}

/// The effect of a SET.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    /// First line of the entry, relative to the log.
    pub(crate) line: u32,
    /// Whether it is a new entry at the head of the log.
    pub(crate) appended: bool,
    /// First line of an entry that was compared but could not be used: another key's, or too small.
    pub(crate) passed: Option<u32>,
    /// Whether another key, still in the log, lost its slot: to a full bucket or an equal tag.
    pub(crate) evicted: bool,
}

impl Store {
    /// An empty store for keys `0..keys`; `buckets` and the log are powers of two.
    pub(crate) fn new(keys: u32, buckets: u32, log_bytes: u64, seed: u64) -> Store {
        assert!(buckets.is_power_of_two() && log_bytes.is_power_of_two(), "the config is checked");
        Store {
            buckets: Pages::new(buckets as usize),
            entries: Pages::new(keys as usize),
            head: 0,
            log_lines: (log_bytes / LINE_BYTES) as u32,
            seed: mix(seed),
        }
    }

    /// Number of keys.
    pub(crate) fn keys(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Number of buckets.
    pub(crate) fn buckets(&self) -> u32 {
        self.buckets.len() as u32
    }

    /// Lines appended to the log since the beginning.
    pub(crate) fn appended_lines(&self) -> u32 {
        self.head
    }

    /// Lines of the log.
    pub(crate) fn log_lines(&self) -> u32 {
        self.log_lines
    }

    /// The bucket of a key, and the tag (16 bits of `struct mica_key`) within it.
    #[inline]
    fn place(&self, key: u32) -> (u32, u16) {
        let hash = mix(self.seed ^ u64::from(key));
        (hash as u32 & (self.buckets() - 1), (hash >> 48) as u16)
    }

    /// The bucket of a key.
    #[inline]
    pub(crate) fn bucket(&self, key: u32) -> u32 {
        self.place(key).0
    }

    /// The slot of `bucket` that carries the tag of `key`. Tags are unique in a bucket, so the key
    /// itself is looked for first.
    #[inline]
    fn tagged_slot(&self, key: u32, bucket: u32, tag: u16) -> Option<usize> {
        let slots = self.buckets.get(bucket);
        slots
            .iter()
            .position(|&slot| slot == key + 1)
            .or_else(|| slots.iter().position(|&slot| slot != 0 && self.place(slot - 1).1 == tag))
    }

    /// Whether the log has not wrapped around to the entry since it was written.
    #[inline]
    fn is_live(&self, entry: Entry) -> bool {
        self.head - entry.offset <= self.log_lines
    }

    #[inline]
    fn line(&self, entry: Entry) -> u32 {
        entry.offset & (self.log_lines - 1)
    }

    fn probe(&self, key: u32) -> (u32, Option<usize>, Found) {
        let (bucket, tag) = self.place(key);
        let slot = self.tagged_slot(key, bucket, tag);
        let found = slot.map_or(Found::Nothing, |slot| {
            let owner = self.buckets.get(bucket)[slot] - 1;
            let entry = *self.entries.get(owner);
            if !self.is_live(entry) {
                Found::Nothing
            } else if owner == key {
                Found::Live(Place { line: self.line(entry), value: u32::from(entry.value) })
            } else {
                Found::Other { line: self.line(entry) }
            }
        });
        (bucket, slot, found)
    }

    /// Looks a key up.
    #[inline]
    pub(crate) fn get(&self, key: u32) -> Found {
        self.probe(key).2
    }

    /// Stores a value of `value` bytes: in place if the key is in the log and its entry has room,
    /// otherwise at the head of the log.
    pub(crate) fn set(&mut self, key: u32, value: u16) -> Stored {
        let (bucket, slot, found) = self.probe(key);
        let lines = entry_lines(u32::from(value));
        let mut passed = None;
        if let Found::Live(place) = found {
            if lines <= u32::from(self.entries.get(key).lines) {
                if u32::from(value) != place.value {
                    self.entries.get_mut(key).value = value;
                }
                return Stored { line: place.line, appended: false, passed, evicted: false };
            }
            passed = Some(place.line);
        } else if let Found::Other { line } = found {
            passed = Some(line);
        }
        let unused = || self.buckets.get(bucket).iter().position(|&slot| slot == 0);
        let (slot, evicted) = slot.or_else(unused).map_or_else(
            || {
                let (slot, entry) = self.oldest(bucket);
                (slot, self.is_live(entry))
            },
            |slot| (slot, matches!(found, Found::Other { .. })),
        );
        self.buckets.get_mut(bucket)[slot] = key + 1;
        let offset = self.append(lines);
        let entry = Entry { offset, value, lines: lines as u16 };
        *self.entries.get_mut(key) = entry;
        Stored { line: self.line(entry), appended: true, passed, evicted }
    }

    /// The slot of a full bucket that points furthest back in the log.
    fn oldest(&self, bucket: u32) -> (usize, Entry) {
        let slots = self.buckets.get(bucket).iter().enumerate();
        slots
            .map(|(slot, &key)| (slot, *self.entries.get(key - 1)))
            .min_by_key(|(_, entry)| entry.offset)
            .expect("a bucket has slots")
    }

    /// Reserves lines at the head; an entry does not wrap around the end of the log.
    fn append(&mut self, lines: u32) -> u32 {
        if self.head > u32::MAX - 2 * self.log_lines {
            self.renumber();
        }
        let to_end = self.log_lines - (self.head & (self.log_lines - 1));
        let offset = if lines > to_end { self.head + to_end } else { self.head };
        self.head = offset + lines;
        offset
    }

    /// Takes whole logs off all offsets, before they would no longer fit: what lies where stays, and what the log has
    /// overwritten stays overwritten.
    fn renumber(&mut self) {
        let base = (self.head / self.log_lines - 2) * self.log_lines;
        self.head -= base;
        for key in 0..self.keys() {
            let entry = self.entries.get_mut(key);
            entry.offset = entry.offset.saturating_sub(base);
        }
    }
}

/// Lines of a log entry with a value of `value` bytes.
pub(crate) const fn entry_lines(value: u32) -> u32 {
    lines_in((HEADER_BYTES + value) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_stored_is_found_until_the_log_comes_round() {
        let mut store = Store::new(100, 16, 4 * 1024, 1);
        assert_eq!(store.get(5), Found::Nothing);
        let stored = store.set(5, 1004);
        assert_eq!(stored, Stored { line: 0, appended: true, passed: None, evicted: false });
        assert_eq!(store.get(5), Found::Live(Place { line: 0, value: 1004 }));
        assert_eq!(store.set(5, 1000), Stored { appended: false, ..stored });
        // Three more entries of 16 lines fill the log of 64 lines; the fourth overwrites.
        for key in 6..10 {
            assert!(matches!(store.get(5), Found::Live(_)), "before key {key}");
            store.set(key, 1004);
        }
        assert_eq!(store.get(5), Found::Nothing);
    }

    #[test]
    fn a_value_that_outgrows_its_entry_is_appended() {
        let mut store = Store::new(100, 16, 4 * 1024, 1);
        store.set(5, 44);
        assert!(!store.set(5, 40).appended);
        let grown = store.set(5, 45);
        assert_eq!(grown, Stored { line: 1, appended: true, passed: Some(0), evicted: false });
        assert_eq!(store.get(5), Found::Live(Place { line: 1, value: 45 }));
    }

    #[test]
    fn an_entry_does_not_wrap_around_the_end() {
        let mut store = Store::new(100, 16, 1024, 1);
        store.set(0, 44 + 9 * 64);
        let second = store.set(1, 44 + 9 * 64);
        assert_eq!(second.line, 0, "ten lines do not fit into the six left of sixteen");
    }

    #[test]
    fn offsets_that_are_renumbered_find_the_same() {
        let mut store = Store::new(40, 16, 4 * 1024, 1);
        let mut renumbered = store.clone();
        let mut times = 0;
        for n in 0..2000_u32 {
            let (key, value) = (n * n % 37, (n % 7 * 64) as u16);
            assert_eq!(store.set(key, value), renumbered.set(key, value), "{n}");
            if n % 100 == 0 && renumbered.head >= 3 * renumbered.log_lines {
                renumbered.renumber();
                times += 1;
            }
            assert!((0..40).all(|key| store.get(key) == renumbered.get(key)), "{n}");
        }
        assert!(times > 10 && renumbered.head < store.head / 2, "{times}");
    }

    #[test]
    fn a_log_is_written_for_longer_than_its_offsets_can_count() {
        let mut store = Store::new(100, 16, 4 * 1024, 1);
        store.head = u32::MAX - 2 * store.log_lines - 5;
        store.head -= store.head % store.log_lines;
        for n in 0..1000 {
            store.set(n % 50, 1004);
            assert!(matches!(store.get(n % 50), Found::Live(_)));
            assert_eq!(store.get((n + 10) % 50), Found::Nothing, "overwritten, or not stored yet");
        }
        assert!(store.head < 1 << 20);
    }

    /// The store by its definition: buckets as lists in age order, and every line of the log with
    /// the number of the write that last filled it.
    struct Oracle {
        slots: Vec<Vec<Slot>>,
        log: Vec<u64>,
        writes: u64,
        position: usize,
    }

    #[derive(Clone, Copy)]
    struct Slot {
        key: u32,
        tag: u16,
        write: u64,
        first: usize,
        lines: usize,
        value: u16,
    }

    impl Oracle {
        /// The slot with this tag, and whether its entry is intact.
        fn find(&self, bucket: u32, tag: u16) -> Option<(usize, Slot, bool)> {
            let slots = &self.slots[bucket as usize];
            let at = slots.iter().position(|s| s.tag == tag)?;
            let s = slots[at];
            let whole = self.log[s.first..s.first + s.lines].iter().all(|&w| w == s.write);
            Some((at, s, whole))
        }

        fn set(&mut self, bucket: u32, tag: u16, key: u32, value: u16) {
            let lines = (usize::from(value) + 20).div_ceil(64);
            let found = self.find(bucket, tag);
            if let Some((at, slot, true)) = found
                && slot.key == key
                && lines <= slot.lines
            {
                self.slots[bucket as usize][at].value = value;
                return;
            }
            let slots = &mut self.slots[bucket as usize];
            if let Some((at, _, _)) = found {
                slots.remove(at);
            } else if slots.len() == 8 {
                slots.remove(0);
            }
            if self.position + lines > self.log.len() {
                self.log[self.position..].fill(0); // The skipped lines are lost.
                self.position = 0;
            }
            self.writes += 1;
            let first = self.position;
            self.log[first..first + lines].fill(self.writes);
            self.position += lines;
            slots.push(Slot { key, tag, write: self.writes, first, lines, value });
        }
    }

    proptest! {
        #[test]
        fn store_agrees_with_its_definition(
            sets in prop::collection::vec((0u32..60, 0u16..600), 1..400),
            seed: u64,
        ) {
            // Two buckets for sixty keys: slots are evicted; 32 lines: the log wraps often.
            let mut store = Store::new(60, 2, 2048, seed);
            let mut oracle = Oracle {
                slots: vec![Vec::new(); 2],
                log: vec![0; 32],
                writes: 0,
                position: 0,
            };
            for (key, value) in sets {
                let (bucket, tag) = store.place(key);
                store.set(key, value);
                oracle.set(bucket, tag, key, value);
                for key in 0..60 {
                    let (bucket, tag) = store.place(key);
                    match (store.get(key), oracle.find(bucket, tag)) {
                        (Found::Live(place), Some((_, slot, true))) => {
                            prop_assert_eq!(slot.key, key);
                            prop_assert_eq!(place.line as usize, slot.first);
                            prop_assert_eq!(place.value, u32::from(slot.value));
                        }
                        (Found::Other { line }, Some((_, slot, true))) => {
                            prop_assert!(slot.key != key);
                            prop_assert_eq!(line as usize, slot.first);
                        }
                        (Found::Nothing, None | Some((_, _, false))) => {}
                        (found, expected) => prop_assert!(
                            false,
                            "{found:?}, but the definition has {:?}",
                            expected.map(|(_, slot, whole)| (slot.key, whole))
                        ),
                    }
                }
            }
        }
    }
}
