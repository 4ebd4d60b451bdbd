//! A core of the host, and the time for which it is busy.

use crate::core::interval::Core;
use crate::time::Ps;

/// A core and what the host knows about it.
#[derive(Clone, Debug)]
pub(super) struct HostCore {
    pub(super) core: Core,
    /// Index of its tenant, if it has one.
    pub(super) tenant: Option<usize>,
    /// Number of the core within its tenant.
    pub(super) rank: u32,
    /// Its queue pair, if it serves packets.
    pub(super) queue: Option<u16>,
    /// It has nothing to do until a packet arrives or a descriptor becomes free.
    pub(super) idle: bool,
    /// An [`Event::Run`] is scheduled.
    pub(super) scheduled: bool,
    /// Packets begun but not ended.
    pub(super) in_service: u32,
    /// `since`: when it became busy, if it is. `until`: the time until which it is certainly busy.
    /// `busy`: its busy time before `since` or, if it is not busy, before `until`; this may lie
    /// ahead, as a core runs ahead.
    since: Ps,
    until: Ps,
    busy: Ps,
}

impl HostCore {
    /// A core without a tenant.
    pub(super) fn new(core: Core) -> HostCore {
        HostCore {
            core,
            tenant: None,
            rank: 0,
            queue: None,
            idle: true,
            scheduled: false,
            in_service: 0,
            since: Ps::ZERO,
            until: Ps::ZERO,
            busy: Ps::ZERO,
        }
    }

    /// Whether it does anything but wait for the next packet: it serves one, or works on the rings.
    pub(super) fn is_busy(&self) -> bool {
        !self.idle || self.in_service > 0
    }

    /// It begins to do something at `at`.
    pub(super) fn busy_from(&mut self, at: Ps) {
        if !self.is_busy() {
            self.since = at.max(self.until);
        }
    }

    /// It has finished something at `at`.
    pub(super) fn busy_until(&mut self, at: Ps) {
        self.until = self.until.max(at);
        if !self.is_busy() {
            self.busy += self.until.saturating_sub(self.since);
        }
    }

    /// Its busy time up to `now`.
    pub(super) fn busy_by(&self, now: Ps) -> Ps {
        // What is counted of a core that is not busy already includes time that lies ahead.
        let counted = if self.is_busy() { self.since } else { self.until.max(now) };
        (self.busy + now).saturating_sub(counted)
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        self.core.reset_counts(now);
        (self.busy, self.since) = (Ps::ZERO, self.since.max(now));
    }
}
