//! One seeded stream of random numbers per component, and the mapping of draws to ranges.

use rand_core::{Rng as _, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// 2^64 divided by the golden ratio: an odd number far from every small one. SplitMix64's increment.
pub(crate) const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A component's own stream: adding a draw to one component never shifts another's.
#[derive(Clone, Debug)]
pub struct Rng(Pcg64Mcg);

impl Rng {
    /// The stream of component `name` (any fixed text) in a run with `seed`.
    pub fn new(seed: u64, name: &str) -> Rng {
        // The upper half of the state is the seed, the lower one FNV-1a over the name: distinct streams,
        // the same on every platform.
        let mut h = 0xcbf2_9ce4_8422_2325_u64;
        for b in name.bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
        Rng(Pcg64Mcg::new((u128::from(seed) << 64) | u128::from(h)))
    }

    /// The wire's stream `id` in a run with `seed`; different pairs of the two give unrelated streams.
    pub fn of_wire(seed: u64, id: u64) -> Rng {
        Rng(Pcg64Mcg::seed_from_u64(seed ^ id.wrapping_mul(GOLDEN_GAMMA)))
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

    /// An exponential variate of mean 1 with 32 bits after the point, by inversion.
    ///
    /// `libm` computes its logarithm in software, with the same bits on every platform. With a 53-bit uniform
    /// variate in (0, 1], the largest is 53 ln 2 = 36.7.
    #[inline]
    pub(crate) fn exponential(&mut self) -> u64 {
        const TWO_POW_53: f64 = (1u64 << 53) as f64;
        let uniform = ((self.next_u64() >> 11) + 1) as f64 / TWO_POW_53;
        (-libm::log(uniform) * (1u64 << 32) as f64 + 0.5) as u64
    }

    /// Uniform below `n`.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        below_u32(self.next_u32(), n)
    }
}

/// Scatters 32 bits: the finaliser of MurmurHash3 (public domain), a bijection.
#[inline]
pub(crate) const fn scatter(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Maps a uniform draw to `0..n` by multiplication (Lemire 2019, without the rejection step); the bias is below
/// n / 2^64.
#[inline]
pub(crate) fn below(draw: u64, n: u64) -> u64 {
    ((u128::from(draw) * u128::from(n)) >> 64) as u64
}

/// The same for a 32-bit draw; the bias is below n / 2^32.
#[inline]
pub(crate) fn below_u32(draw: u32, n: u32) -> u32 {
    ((u64::from(draw) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_repeat_by_seed() {
        let draw = |seed, name| Rng::new(seed, name).next_u64();
        assert_eq!(draw(1, "nic"), draw(1, "nic"));
        assert_ne!(draw(1, "nic"), draw(1, "wire"));
        assert_ne!(draw(1, "nic"), draw(2, "nic"));
    }

    #[test]
    fn streams_of_the_wire_differ_by_seed_and_by_id() {
        let first = |seed, id| Rng::of_wire(seed, id).next_u64();
        let all = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn below_covers_its_range() {
        let mut s = Rng::new(1, "test");
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[s.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
