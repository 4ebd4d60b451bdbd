//! Least recently used: the ways of each set in a ring, from the most to the least recently used.
//!
//! A ring instead of stamps: a hit moves one way, and the oldest is found without looking at the
//! others, also in a cache of 20 ways.

/// The ring of a set's ways: neighbours of each way.
#[derive(Clone, Copy, Debug)]
struct Links {
    /// The next more recently used way; the oldest one for the newest.
    newer: u8,
    /// The next less recently used way; the newest one for the oldest.
    older: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct Lru {
    links: Vec<Links>,
    newest: Vec<u8>,
}

impl Lru {
    /// `sets` sets of `ways` ways each, whose slots lie `stride` apart.
    pub(super) fn new(sets: usize, stride: usize, ways: u32) -> Lru {
        let ways = ways as usize;
        let ring = (0..stride).map(|way| Links {
            newer: ((way + ways - 1) % ways) as u8,
            older: ((way + 1) % ways) as u8,
        });
        Lru { links: ring.collect::<Vec<_>>().repeat(sets), newest: vec![0; sets] }
    }

    /// A way of a set, whose slots begin at `base`, becomes the most recently used.
    #[inline]
    pub(super) fn use_way(&mut self, set: usize, stride: usize, way: u32) {
        let (way, newest) = (way as u8, self.newest[set]);
        if way == newest {
            return;
        }
        self.newest[set] = way;
        let ring = &mut self.links[set * stride..][..stride];
        let oldest = ring[newest as usize].newer;
        if way == oldest {
            return; // The ring turns by one.
        }
        let Links { newer, older } = ring[way as usize];
        ring[newer as usize].older = older;
        ring[older as usize].newer = newer;
        ring[way as usize] = Links { newer: oldest, older: newest };
        ring[newest as usize].newer = way;
        ring[oldest as usize].older = way;
    }

    /// The least recently used way of a mask that is not empty.
    #[inline]
    pub(super) fn oldest(&self, set: usize, stride: usize, mask: u32) -> u32 {
        let ring = &self.links[set * stride..][..stride];
        let mut way = ring[self.newest[set] as usize].newer;
        while mask >> way & 1 == 0 {
            way = ring[way as usize].newer;
        }
        u32::from(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_way_of_a_mask_is_found_in_the_order_of_use() {
        let (set, stride) = (1, 8);
        let mut p = Lru::new(2, stride, 5);
        for way in [2, 0, 4, 3, 1, 0] {
            p.use_way(set, stride, way);
        }
        assert_eq!(p.oldest(set, stride, 0b11111), 2);
        assert_eq!(p.oldest(set, stride, 0b11011), 4);
        assert_eq!(p.oldest(set, stride, 0b01011), 3);
        p.use_way(set, stride, 2);
        assert_eq!(p.oldest(set, stride, 0b11111), 4);
        assert_eq!(p.oldest(0, stride, 0b00001), 0);
    }
}
