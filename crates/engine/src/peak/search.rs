//! The order in which rates are tried.

use super::probe::{Outcome, Prober, arrivals_fill_link, link_is_full};
use super::{PeakError, RESOLUTION_PERCENT};
use crate::host::Host;
use crate::stats::results::Probe;
use crate::units::Rate;

/// If the network link or the server cannot carry half the scenario's rate, the search begins at
/// this share of what it carries, in percent: one step of a quarter below.
const BELOW_PERCENT: f64 = 80.0;

/// The lowest rate tried is the first divided by this, or one that brings [`MIN_PACKETS`] if that
/// is higher.
///
/// [`MIN_PACKETS`]: super::MIN_PACKETS
const LOWEST_DIVISOR: u64 = 32;

/// [`BELOW_PERCENT`] of what was carried, in packets per second.
fn below(mpps: f64) -> u64 {
    (mpps * 1e6 * BELOW_PERCENT / 100.0) as u64
}

/// A search by probes.
pub(super) struct Search<'a, 'w> {
    prober: Prober<'a, 'w>,
    /// The lowest rate at which a probe has enough packets, in packets per second.
    countable: u64,
}

impl<'a, 'w> Search<'a, 'w> {
    pub(super) fn new(prober: Prober<'a, 'w>) -> Search<'a, 'w> {
        let countable = prober.countable();
        Search { prober, countable }
    }

    /// All rates tried, in order.
    pub(super) fn into_probes(self) -> Vec<Probe> {
        self.prober.into_probes()
    }

    /// Warms up the server with which the search begins; returns it and its rate: half of the
    /// scenario's, or below what the link carries.
    fn warm_below(&mut self, cold: &Host, rate: Rate) -> Result<(Host, u64), PeakError> {
        let mut rate = rate.0 / 2;
        loop {
            if rate < self.countable {
                return Err(PeakError::too_few(self.prober.scenario, Rate(rate.max(1))));
            }
            let host = self.prober.warm(cold, Rate(rate))?;
            let results = host.results().map_err(PeakError::Balance)?;
            if !link_is_full(&results) {
                return Ok((host, rate));
            }
            // What a link carries of the dense part of a capture says nothing about the mean rate.
            let carried = below(results.packets.offered_mpps);
            rate = if carried < rate { carried } else { rate / 2 };
        }
    }

    /// Warms up the server at a rate that does not overload it; returns it, the rate and the rate's
    /// outcome.
    pub(super) fn begin(
        &mut self,
        cold: &Host,
        rate: Rate,
    ) -> Result<(Host, u64, Outcome), PeakError> {
        let (mut host, mut first) = self.warm_below(cold, rate)?;
        loop {
            let (outcome, probed) = self.prober.probe(&host, Rate(first))?;
            if !outcome.overloaded(self.prober.scenario.queues.rx_descriptors) {
                self.prober.limit_ns = Some(outcome.probe.p99_limit_ns);
                return Ok((self.warmer(host, probed, &outcome), first, outcome));
            }
            // A window of a capture may bring more than its mean rate, and the server may complete
            // that much.
            let carried = below(outcome.probe.completed_mpps.min(outcome.probe.offered_mpps));
            let next = carried.min(first * 4 / 5);
            if next < self.countable {
                return Err(PeakError::unreachable(
                    &self.prober.scenario.slo,
                    &outcome,
                    Rate(first),
                    true,
                ));
            }
            // With a warm-up of its own.
            self.prober.forget()?;
            first = next;
            host = self.prober.warm(cold, Rate(first))?;
        }
    }

    /// The highest rate that holds with its outcome, and the outcome of the lowest that fails, if
    /// any does before the link is full.
    pub(super) fn bracket(
        &mut self,
        mut warm: Host,
        first: u64,
        mut outcome: Outcome,
    ) -> Result<((u64, Outcome), Option<Outcome>), PeakError> {
        let lowest = self.countable.max(first / LOWEST_DIVISOR);
        let mut next = first;
        let mut good: Option<(u64, Outcome)> = None;
        let mut bad: Option<(u64, Outcome)> = None;
        loop {
            let full = link_is_full(&outcome.results);
            let holds = outcome.failed_by.is_none();
            // What arrives at a link that is full of it is what it carries. Of a replay that is not the mean rate.
            if arrivals_fill_link(&outcome.results)
                && (bad.is_none() || !holds)
                && !self.prober.replays()
            {
                let floor = good.as_ref().map_or(1, |(g, _)| g + 1);
                next = next.min((outcome.probe.offered_mpps * 1e6) as u64).max(floor);
            }
            if holds {
                good = Some((next, outcome));
                if full && bad.is_none() {
                    break;
                }
            } else {
                bad = Some((next, outcome));
            }
            next = match (&good, &bad) {
                (Some((g, _)), None) => (g * 5 / 4).max(g + 1),
                (None, Some((b, failed))) => {
                    let next = b * 4 / 5;
                    if next < lowest {
                        let (slo, countable) =
                            (&self.prober.scenario.slo, lowest == self.countable);
                        return Err(PeakError::unreachable(slo, failed, Rate(*b), countable));
                    }
                    next
                }
                (Some((g, _)), Some((b, _))) => {
                    if (b - g) * 100 <= g * RESOLUTION_PERCENT || b - g == 1 {
                        break;
                    }
                    g.midpoint(*b)
                }
                (None, None) => unreachable!("a probe holds or fails"),
            };
            let (found, probed) = self.prober.probe(&warm, Rate(next))?;
            if bad.is_none() {
                warm = self.warmer(warm, probed, &found);
            }
            outcome = found;
        }
        let Some(good) = good else { unreachable!("the search ends with a rate that holds") };
        Ok((good, bad.map(|(_, bad)| bad)))
    }

    /// The server that the next probe continues from.
    fn warmer(&self, warm: Host, probed: Host, outcome: &Outcome) -> Host {
        if outcome.failed_by.is_some() || self.prober.replays() { warm } else { probed }
    }
}
