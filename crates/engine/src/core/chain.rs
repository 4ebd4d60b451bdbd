//! The dependence chains of a core: accesses whose address comes from a load that has not returned yet.
//!
//! Each packet has its own chain (descriptor, header, table, entry), because its addresses do not depend on
//! the previous packet. The chains of all packets in the reorder window run side by side, up to [`CHAINS`].

use std::ops::Range;

use super::in_order::PENDING;
use super::ring::Ring;
use crate::bits::positions;
use crate::memory::line::{Line, LineKind};

/// Chains that can be in progress at once, one bit of a [`ChainSet`] each. A window of 352 instructions holds
/// eight packets of 44, and each of our applications spends more than that on a packet.
const CHAINS: usize = 8;

/// A set of chains.
type ChainSet = u8;

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

/// The last link of a chain, and the accesses that wait for it.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// Slot in which the last link has its data, or [`PENDING`].
    pub(super) ready: u64,
    /// The accesses that wait, oldest first.
    deferred: Ring<Deferred>,
    /// The line of the first waiting access is in no private cache: the access waits only for a
    /// miss register.
    pub(super) missed: bool,
}

impl Chain {
    /// Whether the address of the next access is known, assuming it comes from the last link.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.ready != PENDING && self.deferred.is_empty()
    }

    /// Whether the address of a waiting access has become known.
    #[inline]
    pub(super) fn has_known(&self) -> bool {
        self.ready != PENDING && !self.deferred.is_empty()
    }

    /// The first waiting access.
    #[inline]
    pub(super) fn first(&self) -> Deferred {
        *self.deferred.at(self.deferred.head())
    }

    /// Removes the first waiting access, which has been issued.
    #[inline]
    pub(super) fn remove_first(&mut self) {
        self.deferred.pop_front();
    }
}

/// The chains of a core.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    chains: Vec<Chain>,
    /// The chain of the packet whose operations are being dispatched.
    current: usize,
    /// The chains with waiting accesses.
    waiting: ChainSet,
}

impl Chains {
    /// Chains with room for as many accesses as the reorder window has entries.
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

    /// The chain of the next packet: the one begun longest ago.
    fn next(&self) -> usize {
        (self.current + 1) % CHAINS
    }

    /// The slot from which a chain is free for another packet; `None` if that is not known yet.
    pub(super) fn can_begin(&self) -> Option<u64> {
        let next = &self.chains[self.next()];
        next.is_known().then_some(next.ready)
    }

    /// A new packet begins.
    pub(super) fn begin(&mut self) {
        self.current = self.next();
        self.chains[self.current].ready = 0;
    }

    /// Number of the chain of the packet whose operations are being dispatched.
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

    /// Adds an access to the chain of the packet whose operations are being dispatched.
    #[inline]
    pub(super) fn defer(&mut self, access: Deferred) {
        self.chains[self.current].deferred.push_back(access);
        self.waiting |= 1 << self.current;
    }

    /// The chains with waiting accesses, in the order in which they were begun.
    #[inline]
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.next();
        let waiting = self.waiting.rotate_right(first as u32);
        positions(waiting.into()).map(move |n| (first + n) % CHAINS)
    }

    /// The waiting accesses of a chain have been issued as far as possible.
    #[inline]
    pub(super) fn issued(&mut self, number: usize) {
        if self.chains[number].deferred.is_empty() {
            self.waiting &= !(1 << number);
        }
    }

    /// Whether a store to one of these lines is waiting.
    pub(super) fn stores_to(&self, lines: &Range<Line>) -> bool {
        positions(self.waiting.into())
            .any(|n| self.chains[n].deferred.iter().any(|d| d.store && lines.contains(&d.line)))
    }
}
