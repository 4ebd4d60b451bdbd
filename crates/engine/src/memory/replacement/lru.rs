//! Least recently used: a stamp of the cache's use counter per line.

use super::ways;

#[derive(Clone, Debug)]
pub(crate) struct Lru {
    stamps: Vec<u32>,
    clock: u32,
}

impl Lru {
    pub(super) fn new(slots: usize) -> Lru {
        Lru { stamps: vec![0; slots], clock: 0 }
    }

    #[inline]
    pub(super) fn use_slot(&mut self, slot: usize) {
        if self.clock == u32::MAX {
            self.renumber();
        }
        self.clock += 1;
        self.stamps[slot] = self.clock;
    }

    #[inline]
    pub(super) fn oldest(&self, base: usize, mask: u32) -> u32 {
        let mut best = (u32::MAX, 0);
        for way in ways(mask) {
            best = best.min((self.stamps[base + way as usize], way));
        }
        best.1
    }

    /// After 2^32 uses: keeps the order of all lines and makes the counter small again.
    #[cold]
    fn renumber(&mut self) {
        let mut by_age: Vec<u32> = (0..self.stamps.len() as u32).collect();
        by_age.sort_unstable_by_key(|&slot| (self.stamps[slot as usize], slot));
        for (rank, slot) in by_age.into_iter().enumerate() {
            self.stamps[slot as usize] = rank as u32;
        }
        self.clock = self.stamps.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_survives_renumbering() {
        let mut p = Lru::new(4);
        for slot in [2, 0, 3, 1] {
            p.use_slot(slot);
        }
        p.clock = u32::MAX;
        p.use_slot(2);
        assert_eq!(p.oldest(0, 0b1111), 0);
        assert_eq!(p.oldest(0, 0b1110), 3);
        assert_eq!(p.oldest(0, 0b0110), 1);
        assert!(p.clock < 10);
    }
}
