//! The dependence chains of a core: accesses whose address a load has not brought yet.
//!
//! Each packet has a chain of its own, since the addresses that it leads to depend on nothing of the
//! packet before: descriptor, header, table, entry. As many packets' chains run side by side as the
//! reorder window holds packets, up to [`CHAINS`].

use std::ops::Range;

use super::in_order::PENDING;
use super::ring::Ring;
use crate::memory::line::{Line, LineKind};

/// Chains that may be under way at once, a bit of a [`ChainSet`] each. A window of 352 instructions
/// holds eight packets of 44, fewer than any of our applications spends on one.
const CHAINS: usize = 8;

/// Some of the chains.
pub(super) type ChainSet = u8;

/// An access whose address is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferred {
    pub(super) line: Line,
    pub(super) kind: LineKind,
    pub(super) store: bool,
    /// It is the next link of the chain.
    pub(super) link: bool,
    /// Slot in which it was dispatched.
    pub(super) slot: u64,
    /// Its entry in the reorder window.
    pub(super) entry: u64,
    /// Its entry in the store buffer, if it is a store.
    pub(super) store_entry: u64,
}

/// The last link of a chain, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Slot in which the last link has its data, or [`PENDING`].
    pub(super) ready: u64,
    /// What waits, oldest first.
    deferred: Ring<Deferred>,
    /// The first of them is in no private cache: it waits for a miss register alone.
    pub(super) missed: bool,
}

impl Chain {
    /// Whether the address of the next access is known, if it comes from the last link.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.ready != PENDING && self.deferred.is_empty()
    }

    /// Whether the address of an access that waits has become known.
    #[inline]
    pub(super) fn has_known(&self) -> bool {
        self.ready != PENDING && !self.deferred.is_empty()
    }

    /// The first that waits.
    #[inline]
    pub(super) fn first(&self) -> Deferred {
        *self.deferred.at(self.deferred.head())
    }

    /// The first has been issued.
    #[inline]
    pub(super) fn remove_first(&mut self) {
        self.deferred.pop_front();
    }
}

/// The chains of a core.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    chains: Vec<Chain>,
    /// The chain of the packet whose operations are dispatched.
    current: usize,
    /// Those in which accesses wait.
    waiting: ChainSet,
}

impl Chains {
    /// Chains for as many accesses as the reorder window has entries.
    pub(super) fn new(window: usize) -> Chains {
        let unused = Deferred {
            line: 0,
            kind: LineKind::App,
            store: false,
            link: false,
            slot: 0,
            entry: 0,
            store_entry: 0,
        };
        let chain = Chain { ready: 0, deferred: Ring::new(window, unused), missed: false };
        Chains { chains: vec![chain; CHAINS], current: 0, waiting: 0 }
    }

    /// The chain of the next packet: the one that was begun longest ago.
    fn next(&self) -> usize {
        (self.current + 1) % CHAINS
    }

    /// The slot from which on there is a chain for another packet; nothing if that is not known yet.
    pub(super) fn can_begin(&self) -> Option<u64> {
        let next = &self.chains[self.next()];
        next.is_known().then_some(next.ready)
    }

    /// A new packet begins.
    pub(super) fn begin(&mut self) {
        self.current = self.next();
        self.chains[self.current].ready = 0;
    }

    /// Number of the chain of the packet whose operations are dispatched.
    #[inline]
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// The chain of that packet.
    #[inline]
    pub(super) fn now(&self) -> &Chain {
        &self.chains[self.current]
    }

    #[inline]
    pub(super) fn at(&mut self, number: usize) -> &mut Chain {
        &mut self.chains[number]
    }

    /// The last links of these chains have their data in slot `ready`.
    #[inline]
    pub(super) fn arrive(&mut self, chains: ChainSet, ready: u64) {
        for number in numbers(chains) {
            self.chains[number].ready = ready;
        }
    }

    /// Adds an access to the chain of the packet whose operations are dispatched.
    #[inline]
    pub(super) fn defer(&mut self, access: Deferred) {
        self.chains[self.current].deferred.push_back(access);
        self.waiting |= 1 << self.current;
    }

    /// The chains in which accesses wait, that which was begun first at the front.
    #[inline]
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.next();
        let waiting = self.waiting.rotate_right(first as u32);
        numbers(waiting).map(move |n| (first + n) % CHAINS)
    }

    /// What waited in a chain has been issued as far as it can.
    #[inline]
    pub(super) fn issued(&mut self, number: usize) {
        if self.chains[number].deferred.is_empty() {
            self.waiting &= !(1 << number);
        }
    }

    /// Whether a store to one of these lines waits.
    pub(super) fn stores_to(&self, lines: &Range<Line>) -> bool {
        numbers(self.waiting)
            .any(|n| self.chains[n].deferred.iter().any(|d| d.store && lines.contains(&d.line)))
    }
}

/// The numbers of the chains in a set.
#[inline]
fn numbers(mut set: ChainSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            first
        })
    })
}
