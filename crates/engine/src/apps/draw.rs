//! Random numbers by counter: the draw of request `seq` is a pure function of seed and `seq`.
//!
//! The wire (which needs the size of a request) and the application (which needs its key) draw
//! independently and agree, in any order and from any thread.

use crate::rng::{GOLDEN_GAMMA, scatter};

/// A stream of draws, indexed by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    seed: u64,
}

impl Draw {
    /// Stream number `stream` of `seed`.
    pub(crate) fn new(seed: u64, stream: u64) -> Draw {
        Draw { seed: mix(seed ^ mix(stream)) }
    }

    /// Draw number `n`, uniform in 64 bits: output `n` of SplitMix64 (Steele, Lea, Flood: "Fast
    /// Splittable Pseudorandom Number Generators", OOPSLA 2014), whose state is a counter.
    #[inline]
    pub(crate) fn at(self, n: u64) -> u64 {
        mix(self.seed.wrapping_add(n.wrapping_mul(GOLDEN_GAMMA)))
    }

    /// Draw number `n` of 32 bits: a scattered counter, of which a processor can compute several at
    /// once. Each stream counts in its own steps. The draws repeat after 2^32.
    #[inline]
    pub(crate) fn at_u32(self, n: u64) -> u32 {
        let (step, start) = (self.seed as u32 | 1, (self.seed >> 32) as u32);
        scatter((n as u32).wrapping_mul(step).wrapping_add(start))
    }
}

/// SplitMix64's finaliser: a bijection in which every output bit depends on every input bit.
#[inline]
pub(crate) fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{below, below_u32};

    #[test]
    fn splitmix64_gives_its_published_first_outputs() {
        // Seed 0 of the reference implementation (https://prng.di.unimi.it/splitmix64.c).
        let zero = Draw { seed: 0 };
        let expected = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
        assert_eq!([zero.at(0), zero.at(1), zero.at(2)], expected);
    }

    #[test]
    fn draws_of_32_bits_fill_the_range_evenly_and_independently() {
        for stream in 0..4 {
            let draw = Draw::new(1, stream);
            let (mut count, mut pairs) = ([0u32; 10], [0u32; 100]);
            let mut last = 0;
            for n in 0..100_000 {
                let x = below_u32(draw.at_u32(n), 10) as usize;
                count[x] += 1;
                pairs[10 * last + x] += 1;
                last = x;
            }
            // Binomial: sigma = 95 and 31; five sigma.
            assert!(count.iter().all(|&c| c.abs_diff(10_000) < 475), "{count:?}");
            assert!(pairs.iter().all(|&c| c.abs_diff(1000) < 157), "{pairs:?}");
        }
    }

    #[test]
    fn below_fills_the_range_evenly() {
        let draw = Draw::new(1, 0);
        let mut count = [0u32; 10];
        for n in 0..100_000 {
            count[below(draw.at(n), 10) as usize] += 1;
        }
        // Binomial: sigma = 95; five sigma.
        assert!(count.iter().all(|&c| c.abs_diff(10_000) < 475), "{count:?}");
    }
}
