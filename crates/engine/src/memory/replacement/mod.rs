//! Which line of a set is evicted: one small file per policy, behind a closed enum, so that the choice
//! is a predictable branch and not a call through a table.
//!
//! To add a policy: write its file; give it a variant of [`Order`] and an arm in each function there
//! (for `touch`, `fill` and `victim`, in the outlined functions that they call: only LRU is handled
//! inline); and give it a name that users choose in
//! [`Replacement`](crate::memory::config::Replacement). Requirements on the number of ways are checked
//! in `check_cache` there. No macro generates the arms, because the policies keep different state per
//! set and LRU has the short path. The oracle of the caches takes the policies from the schema.

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
/// the ways of `mask` (never empty, all valid) and may age the set; it does not remove anything.
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
            self.other(set, way, srrip::NEAR);
        }
    }

    #[inline]
    pub(crate) fn fill<const R: usize>(&self, set: &mut [u8; R], way: u32) {
        if R == 0 {
            return;
        }
        if let Order::Lru { .. } = self {
            lru::use_way(set, way);
        } else if !matches!(self, Order::Random(_)) {
            self.other(set, way, srrip::LONG);
        }
    }

    /// A use under the less common policies; outlined to keep the usual path short.
    #[inline(never)]
    fn other(&self, set: &mut [u8], way: u32, prediction: u8) {
        match self {
            Order::TreePlru(p) => p.use_way(set, way),
            Order::Srrip => set[way as usize] = prediction,
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
        if R > 0
            && let Order::Lru { ways } = self
        {
            lru::oldest(set, *ways, mask)
        } else {
            self.other_victim(set, mask)
        }
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
