//! Random replacement.

use crate::rng::Rng;

#[derive(Clone, Debug)]
pub(crate) struct Random {
    stream: Rng,
}

impl Random {
    pub(super) fn new(stream: Rng) -> Random {
        Random { stream }
    }

    #[inline]
    pub(super) fn victim(&mut self, mask: u32) -> u32 {
        let mut skip = self.stream.below(mask.count_ones());
        let mut mask = mask;
        while skip > 0 {
            mask &= mask - 1;
            skip -= 1;
        }
        mask.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_the_mask_and_no_other_is_chosen() {
        let mut p = Random::new(Rng::new(1, "test"));
        let mut seen = 0;
        for _ in 0..200 {
            seen |= 1 << p.victim(0b1010_0110);
        }
        assert_eq!(seen, 0b1010_0110);
    }
}
