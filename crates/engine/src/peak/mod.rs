//! The highest rate that meets a service-level objective.
//!
//! Caches are warmed at half the scenario's rate, or below what the network link carries if that is
//! less, because a backlog in front of a full link would reach every probe. Every probe continues
//! from a copy of a warm server, lets its rate settle, and measures. The first is at the rate of
//! the warm-up. If it finds the server overloaded, its rings are full in the copy and would be in
//! every probe: the server is warmed up anew, below the rate that it completed. While all rates
//! hold, the next probe continues from the server of the last one: its caches hold what they do at
//! about that rate, and are warmer with each step. Once one has failed, all continue from the same
//! server and see the same arrivals, only more or less dense, so that chance does not mislead the
//! bisection.
//!
//! The bracket of a rate that holds and one that fails is first found in steps of a quarter and
//! then bisected until it is [`RESOLUTION_PERCENT`] wide. Coming from below matters: an overloaded
//! server whose queues have once filled may stay slow at a rate that it would otherwise sustain,
//! because waiting packets are evicted before they are read. The objective uses the service times
//! of the first probe, so that all rates are compared with the same limit. Above the line rate of
//! the network link there is nothing to try: a probe in which the link is full and the objective
//! holds ends the search.
//!
//! A rate is refused if more packets wait in the server, or to be sent, after the probe than before, by more than
//! chance explains: the longer a probe is, the closer its rate is to one that can be kept up for ever.
//!
//! A probe ends early once so many packets have been dropped or were too slow that the objective
//! can no longer be met, though not before a quarter of its time, so that its rates can be
//! reported.
//!
//! Bursts are measured for whole cycles, so that a probe sees their mean rate. A replay is not: all
//! its probes continue from the warm-up and see the part of the capture that follows it, as much of
//! it as passes in the measured time.

mod error;
mod probe;
mod search;

use std::sync::Arc;

pub use self::error::PeakError;
use self::probe::{Failed, Prober, arrivals_fill_link};
use self::search::Search;
use crate::config::Scenario;
use crate::host::Host;
use crate::stats::results::{Peak, Probe};
use crate::units::Rate;
use crate::wire::Capture;
use crate::wire::config::TrafficConfig;
use crate::wire::rate::MeanPacket;

/// Width of the final bracket, in percent of the rate.
pub const RESOLUTION_PERCENT: u64 = 1;

/// A rate is sustained if completions, and what is sent, fall behind arrivals by at most this share of them, percent, and
/// by no more than chance.
pub const BEHIND_PERCENT: u64 = 2;

/// Standard deviations of Poisson arrivals that are chance.
pub const CHANCE_DEVIATIONS: u64 = 2;

/// The server is warmed up for so many times the scenario's warm-up: one warm server serves all probes.
pub const WARMUPS: u64 = 2;

/// A probe settles for the measured time divided by this before it measures.
pub const SETTLE_DIVISOR: u64 = 2;

/// The fewest packets that a rate may bring in the measured time: ten of them lie above the 99th
/// percentile.
pub const MIN_PACKETS: u64 = 1000;

/// Called with the reports of a running search; returns whether to continue.
pub type Watch<'a> = dyn FnMut(Watched<'_>) -> bool + 'a;

/// One report of a running search.
#[derive(Clone, Copy, Debug)]
pub enum Watched<'a> {
    /// Simulated time has passed; called about every 50 us of it.
    Tick,
    /// A rate has been tried.
    Probe(&'a Probe),
    /// The server was overloaded at the rates tried so far, which are discarded: the search begins
    /// anew, from a warm-up at a lower rate.
    Anew,
}

/// Finds the highest rate at which the scenario meets its objective.
///
/// # Errors
/// If the scenario has no rate or cannot be simulated, if its measured time is too short, if even
/// the lowest rate fails, or if `watch` says to stop.
pub fn find_peak(
    scenario: &Scenario,
    capture: Option<Arc<Capture>>,
    watch: &mut Watch<'_>,
) -> Result<Peak, PeakError> {
    let mean = mean_packet(scenario, capture.as_deref());
    let cold = Host::new(scenario, capture)?;
    let rate = cold.rate().ok_or_else(|| PeakError::no_rate(scenario))?;
    let mut search = Search::new(Prober::new(scenario, watch)?);
    let (host, first, outcome) = search.begin(&cold, rate)?;
    drop(cold);
    let ((rate, good), bad) = search.bracket(host, first, outcome)?;
    // What arrived in a probe may be a frame more than the link carries in its time.
    let most =
        scenario.machine.nic.link.filter(|_| bad.is_none()).map_or(f64::MAX, |link| link.0 as f64);
    let tried = mean.map(|mean| mean.bits_at(Rate(rate)).0 as f64);
    let carried = if !draws(scenario) {
        tried.map_or(1.0, |bits| bits.min(most) / bits)
    } else if bad.is_none() && arrivals_fill_link(&good.results) {
        // Of the clients' sizes, the link carries what arrived.
        (good.probe.offered_mpps * 1e6 / rate as f64).min(1.0)
    } else {
        1.0
    };
    Ok(Peak {
        peak_mpps: good.probe.completed_mpps,
        rate_mpps: Some(rate as f64 / 1e6 * carried * while_on(scenario)),
        rate_gbps: tried.map(|bits| bits / 1e9 * carried * while_on(scenario)),
        fails_at_mpps: bad.as_ref().map(|bad| bad.probe.offered_mpps),
        failed_by: bad.and_then(|bad| bad.failed_by).unwrap_or(Failed::Link).name().into(),
        probes: search.into_probes(),
        results: good.results,
    })
}

/// The mean packet, by which the traffic's rate may be given in bits, if the scenario or the capture determines it.
fn mean_packet(scenario: &Scenario, capture: Option<&Capture>) -> Option<MeanPacket> {
    let traffic = scenario.traffic.as_ref()?;
    MeanPacket::of_traffic(traffic, capture).filter(|_| capture.is_some() || !draws(scenario))
}

/// Whether clients decide about the sizes of frames, also of those that a capture has times for.
fn draws(scenario: &Scenario) -> bool {
    scenario.serving().any(|t| t.app.settings().draws_requests())
}

/// The configured rate per mean rate, which is what the search varies: the rate of bursts applies while on.
fn while_on(scenario: &Scenario) -> f64 {
    match scenario.traffic {
        Some(TrafficConfig::Bursts { on, off, .. }) => 1.0 + off.0 as f64 / on.0 as f64,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
