//! Which line of a set makes room: one small file a policy, behind a closed enum so that the choice
//! is a predictable branch and not a call through a table.

mod lru;
mod random;
mod srrip;
mod tree_plru;

use crate::config::machine::Replacement;
use crate::rng::Stream;

use lru::Lru;
use random::Random;
use srrip::Srrip;
use tree_plru::TreePlru;

/// The state of a replacement policy for all sets of one cache.
///
/// Contract: slots are numbered `set * stride + way`. `touch` is called on every hit, `fill` when a
/// line enters a slot. `victim` chooses among the ways of `mask` (never empty, all valid) and may
/// age the set; it does not remove anything.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Lru(Lru),
    TreePlru(TreePlru),
    Srrip(Srrip),
    Random(Random),
}

impl Order {
    pub(crate) fn new(
        policy: Replacement,
        sets: usize,
        stride: usize,
        ways: u32,
        name: &str,
    ) -> Self {
        match policy {
            Replacement::Lru => Order::Lru(Lru::new(sets, stride, ways)),
            Replacement::TreePlru => Order::TreePlru(TreePlru::new(sets, ways)),
            Replacement::Srrip => Order::Srrip(Srrip::new(sets * stride)),
            Replacement::Random => Order::Random(Random::new(Stream::new(0, name))),
        }
    }

    #[inline]
    pub(crate) fn touch(&mut self, set: usize, stride: usize, way: u32) {
        match self {
            Order::Lru(p) => p.use_way(set, stride, way),
            Order::TreePlru(p) => p.point_away(set, way),
            Order::Srrip(p) => p.hit(set * stride + way as usize),
            Order::Random(_) => {}
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, set: usize, stride: usize, way: u32) {
        match self {
            Order::Lru(p) => p.use_way(set, stride, way),
            Order::TreePlru(p) => p.point_away(set, way),
            Order::Srrip(p) => p.insert(set * stride + way as usize),
            Order::Random(_) => {}
        }
    }

    #[inline]
    pub(crate) fn victim(&mut self, set: usize, stride: usize, mask: u32) -> u32 {
        match self {
            Order::Lru(p) => p.oldest(set, stride, mask),
            Order::TreePlru(p) => p.victim(set, mask),
            Order::Srrip(p) => p.victim(set * stride, mask),
            Order::Random(p) => p.victim(mask),
        }
    }
}

/// The ways of a mask, lowest first.
#[inline]
fn ways(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let way = mask.trailing_zeros();
        mask &= mask - 1;
        Some(way)
    })
}
