//! Which line of a set is evicted: one small file per policy, behind a closed enum, so that the choice
//! is a predictable branch and not a call through a table.
//!
//! ARCHITECTURE.md says how to add one. No macro generates the arms, because the policies keep different
//! state per set and LRU has the short path.

pub(super) mod lru;
mod random;
mod srrip;
mod tree_plru;

use crate::memory::config::Replacement;
use crate::rng::Rng;

use random::Random;
use tree_plru::TreePlru;

/// The replacement policy of one cache. Its state of a set is stored with the set, one byte per way.
///
/// Only random replacement may have no byte per way (`R` of zero).
///
/// Contract: `touch` is called on every hit, `fill` when a line enters a way. `victim` chooses among
/// the ways of `mask` (never empty, all valid) and may age the set; it does not remove anything. The state is
/// that of the whole set, whatever masks its lines came under: a line of the I/O ways that DMA has just
/// written is younger than all others, and least recently used within a mask is the oldest of its ways.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// The bytes are ages.
    Lru { ways: u32 },
    /// The first four bytes are the bits of the tree.
    TreePlru(Box<TreePlru>),
    /// The bytes are predictions.
    Srrip,
    /// Nothing is remembered.
    Random(Random),
}

impl Order {
    /// The policy of the cache `name` in a run with `seed`.
    pub(crate) fn new(policy: Replacement, ways: u32, seed: u64, name: &str) -> Self {
        match policy {
            Replacement::Lru => Order::Lru { ways },
            Replacement::TreePlru => Order::TreePlru(Box::new(TreePlru::new(ways))),
            Replacement::Srrip => Order::Srrip,
            // With seed 1 the victims remain those that all committed studies had when this was a
            // constant.
            Replacement::Random => Order::Random(Random::new(Rng::new(seed ^ 1, name))),
        }
    }

    /// The bytes of an empty set.
    pub(crate) fn start<const R: usize>(&self) -> [u8; R] {
        match self {
            Order::Lru { .. } => lru::start(),
            Order::TreePlru(_) | Order::Random(_) => [0; R],
            Order::Srrip => [srrip::DISTANT; R],
        }
    }

    #[inline]
    pub(crate) fn touch<const R: usize>(&self, set: &mut [u8; R], way: u32) {
        if R == 0 {
            return;
        }
        if let Order::Lru { .. } = self {
            lru::use_way(set, way);
        } else if !matches!(self, Order::Random(_)) {
            self.other_touch(set, way);
        }
    }

    #[inline]
    pub(crate) fn fill<const R: usize>(&mut self, set: &mut [u8; R], way: u32) {
        if R == 0 {
            return;
        }
        if let Order::Lru { .. } = self {
            lru::use_way(set, way);
        } else if !matches!(self, Order::Random(_)) {
            self.other_fill(set, way);
        }
    }

    /// A hit under the less common policies; outlined to keep the usual path short.
    #[inline(never)]
    fn other_touch(&self, set: &mut [u8], way: u32) {
        match self {
            Order::TreePlru(p) => p.use_way(set, way),
            Order::Srrip => set[way as usize] = srrip::NEAR,
            Order::Lru { .. } | Order::Random(_) => {}
        }
    }

    /// The same for a new line. A policy that inserts by chance draws here.
    #[inline(never)]
    fn other_fill(&mut self, set: &mut [u8], way: u32) {
        match self {
            Order::TreePlru(p) => p.use_way(set, way),
            Order::Srrip => set[way as usize] = srrip::LONG,
            Order::Lru { .. } | Order::Random(_) => {}
        }
    }

    /// The way that would be the victim among all, if the policy can tell without choosing one.
    #[inline(always)]
    pub(crate) fn next_victim<const R: usize>(&self, set: &[u8; R]) -> Option<u32> {
        match self {
            _ if R == 0 => None,
            Order::Lru { ways } => Some(lru::oldest(set, *ways, u32::MAX)),
            Order::TreePlru(p) => Some(p.next(set)),
            Order::Srrip | Order::Random(_) => None,
        }
    }

    #[inline]
    pub(crate) fn victim<const R: usize>(&mut self, set: &mut [u8; R], mask: u32) -> u32 {
        let way = if R > 0
            && let Order::Lru { ways } = self
        {
            lru::oldest(set, *ways, mask)
        } else {
            self.other_victim(set, mask)
        };
        debug_assert!(mask >> way & 1 == 1, "way {way} of {mask:b}");
        way
    }

    #[inline(never)]
    fn other_victim(&mut self, set: &mut [u8], mask: u32) -> u32 {
        match self {
            Order::TreePlru(p) => p.victim(set, mask),
            Order::Srrip => srrip::victim(set, mask),
            Order::Random(p) => p.victim(mask),
            Order::Lru { .. } => panic!("LRU has its own path"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::every;

    /// Sets of `ways` ways in all states that uses, new lines and victims under random masks bring about.
    fn check(policy: Replacement, ways: u32, rng: &mut Rng) {
        let mut order = Order::new(policy, ways, 1, "test");
        let mut set: [u8; 32] = order.start();
        let all = u32::MAX >> (32 - ways);
        for _ in 0..2000 {
            let way = rng.below(ways);
            if rng.below(3) == 0 {
                order.touch(&mut set, way);
            }
            // All ways now and then, and few of them as often as many.
            let masks = [all, rng.below(u32::MAX), rng.below(u32::MAX) & rng.below(u32::MAX)];
            let mask = (masks[rng.below(3) as usize] & all) | 1 << way;
            let told = order.next_victim(&set).filter(|_| mask == all);
            let victim = order.victim(&mut set, mask);
            assert!(mask >> victim & 1 == 1, "{policy:?}: way {victim} of {mask:b}, of {ways}");
            assert!(told.is_none_or(|told| told == victim), "{policy:?}: {told:?}, then {victim}");
            order.fill(&mut set, victim);
        }
    }

    #[test]
    fn every_policy_keeps_to_the_mask_and_to_what_it_tells() {
        let mut rng = Rng::new(1, "masks");
        for policy in every::<Replacement>() {
            for ways in [1u32, 2, 4, 8, 11, 12, 16, 20, 32] {
                if policy != Replacement::TreePlru || ways.is_power_of_two() {
                    check(policy, ways, &mut rng);
                }
            }
        }
    }

    #[test]
    fn one_seed_gives_one_order_of_victims() {
        for policy in every::<Replacement>() {
            let victims = || {
                let mut order = Order::new(policy, 16, 7, "test");
                let mut set: [u8; 16] = order.start();
                let mut next = || {
                    let way = order.victim(&mut set, 0xffff);
                    order.fill(&mut set, way);
                    way
                };
                (0..100).map(|_| next()).collect::<Vec<u32>>()
            };
            assert_eq!(victims(), victims(), "{policy:?}");
        }
    }
}
