//! One seeded stream of random numbers per component.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A component's own stream: adding a draw to one component never shifts another's.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of component `name` (any fixed text) in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        // FNV-1a over the name, mixed with the seed: distinct streams, the same on every platform.
        let mut h = 0xcbf2_9ce4_8422_2325_u64;
        for b in name.bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
        Stream(Pcg64Mcg::new((u128::from(seed) << 64) | u128::from(h)))
    }

    /// 32 uniform bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform below `n` (Lemire's multiply-shift; the bias of at most n/2^32 is accepted).
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(n)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_repeat_by_seed() {
        let draw = |seed, name| Stream::new(seed, name).next_u64();
        assert_eq!(draw(1, "nic"), draw(1, "nic"));
        assert_ne!(draw(1, "nic"), draw(1, "wire"));
        assert_ne!(draw(1, "nic"), draw(2, "nic"));
    }

    #[test]
    fn below_covers_its_range() {
        let mut s = Stream::new(1, "test");
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[s.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
