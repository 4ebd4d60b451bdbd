//! The highest rate that keeps a service-level objective.
//!
//! Caches are warmed once, at half the scenario's rate. Every probe continues from that snapshot,
//! lets its rate settle, and measures: probes are independent of each other. The bracket of a rate
//! that holds and one that fails is first found by steps of a quarter and then halved until it is
//! [`RESOLUTION_PERCENT`] wide. Coming from below matters: an overloaded server whose queues have
//! once filled may stay slow at a rate that it would sustain otherwise, because packets that wait are
//! evicted before they are read.

use std::sync::Arc;

use crate::config::Scenario;
use crate::config::units::Rate;
use crate::host::{BuildError, Host};
use crate::stats::results::{Peak, Probe, Results};
use crate::time::Ps;
use crate::wire::Capture;
use crate::wire::config::TrafficConfig;

/// Width of the final bracket, percent of the rate.
pub const RESOLUTION_PERCENT: u64 = 2;

/// A rate is sustained if completions fall behind arrivals by at most this share of them, percent:
/// more than the noise of some 10 000 Poisson arrivals.
const BEHIND_PERCENT: u64 = 2;

/// A link that lets through less than this share of the rate tried, percent, is the limit: further
/// below than Poisson arrivals in a probe come by chance.
const LINK_PERCENT: f64 = 95.0;

/// The lowest rate tried is the scenario's divided by this.
const LOWEST_DIVISOR: u64 = 64;

/// A probe settles for this part of the measured time before it measures.
const SETTLE_DIVISOR: u64 = 2;

/// Why there is no peak.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PeakError {
    /// The scenario cannot be simulated.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Traffic without a rate has no peak.
    #[error("{key} = {given}; expected {allowed}")]
    NoRate {
        /// The key in the scenario.
        key: &'static str,
        /// The value given.
        given: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Even the lowest rate fails.
    #[error(
        "slo = {given} cannot be met: at {mpps:.3} Mpps, the lowest rate tried, {found}; expected an \
         objective that this machine can keep"
    )]
    Unreachable {
        /// The objective.
        given: String,
        /// The lowest rate.
        mpps: f64,
        /// What was found there.
        found: String,
    },
    /// A balance did not hold: a bug of the model.
    #[error("{0}")]
    Balance(String),
    /// The caller stopped the search.
    #[error("stopped")]
    Stopped,
}

/// What a rate did to the objective.
struct Outcome {
    probe: Probe,
    failed_by: Option<&'static str>,
    results: Results,
}

/// What the search reports while it runs; returns whether to go on.
pub type Watch<'a> = dyn FnMut(Watched<'_>) -> bool + 'a;

/// One report of a running search.
#[derive(Clone, Copy, Debug)]
pub enum Watched<'a> {
    /// Simulated time has passed; called about every 50 us of it.
    Tick,
    /// A rate has been tried.
    Probe(&'a Probe),
}

/// Finds the highest rate at which the scenario keeps its objective.
///
/// # Errors
/// If the scenario has no rate or cannot be simulated, if even a 64th of its rate fails, or if
/// `watch` says to stop.
pub fn find_peak(
    scenario: &Scenario,
    capture: Option<Arc<Capture>>,
    watch: &mut Watch<'_>,
) -> Result<Peak, PeakError> {
    let mut host = Host::new(scenario, capture)?;
    let Some(rate) = host.rate() else {
        return Err(PeakError::NoRate {
            key: "traffic.kind",
            given: match scenario.traffic {
                Some(TrafficConfig::ClosedLoop(_)) => "\"closed-loop\"".into(),
                Some(TrafficConfig::Backlog { .. }) => "\"backlog\"".into(),
                _ => "nothing".into(),
            },
            allowed: "poisson, constant, bursts or replay for a peak search",
        });
    };
    let mut search = Search { scenario, watch, probes: Vec::new() };
    let half = Rate(rate.0 / 2);
    host.set_rate(half);
    let warmup = Ps(2 * scenario.run.warmup.0);
    search.advance(&mut host, warmup)?;

    let mut good: Option<(u64, Outcome)> = None;
    let mut bad: Option<(u64, Outcome)> = None;
    let mut next = half.0;
    loop {
        let outcome = search.probe(&host, Rate(next))?;
        if outcome.failed_by.is_none() {
            good = Some((next, outcome));
        } else {
            bad = Some((next, outcome));
        }
        next = match (&good, &bad) {
            (Some((g, _)), None) => g * 5 / 4,
            (None, Some((b, _))) => b * 4 / 5,
            (Some((g, _)), Some((b, _))) => {
                if (b - g) * 100 <= g * RESOLUTION_PERCENT {
                    break;
                }
                g.midpoint(*b)
            }
            (None, None) => unreachable!("a probe holds or fails"),
        };
        if good.is_none() && next < rate.0 / LOWEST_DIVISOR {
            let (_, failed) = bad.expect("without a good rate there is a bad one");
            return Err(search.unreachable(&failed));
        }
    }
    let (Some((_, good)), Some((_, bad))) = (good, bad) else {
        unreachable!("the search ends with a bracket")
    };
    Ok(Peak {
        peak_mpps: good.probe.completed_mpps,
        fails_at_mpps: bad.probe.offered_mpps,
        failed_by: bad.failed_by.unwrap_or_default().into(),
        probes: search.probes,
        results: good.results,
    })
}

struct Search<'a, 'w> {
    scenario: &'a Scenario,
    watch: &'a mut Watch<'w>,
    probes: Vec<Probe>,
}

impl Search<'_, '_> {
    /// Runs for `span` and lets the caller watch.
    fn advance(&mut self, host: &mut Host, span: Ps) -> Result<(), PeakError> {
        let end = host.now() + span;
        while host.now() < end {
            host.run_until((host.now() + Ps::from_us(50)).min(end));
            if !(self.watch)(Watched::Tick) {
                return Err(PeakError::Stopped);
            }
        }
        Ok(())
    }

    /// Tries a rate from the snapshot of the warm server.
    fn probe(&mut self, warm: &Host, rate: Rate) -> Result<Outcome, PeakError> {
        let mut host = warm.clone();
        host.set_rate(rate);
        let measured = self.scenario.run.duration.ps();
        self.advance(&mut host, Ps(measured.0 / SETTLE_DIVISOR))?;
        host.begin_measuring();
        self.advance(&mut host, measured)?;
        let results = host.results().map_err(PeakError::Balance)?;
        let slo = &self.scenario.slo;
        let limit_ns = host.service_mean_ns() * f64::from(slo.p99_service_times);
        let p99_ns = host.total_p99_ns();
        let p = &results.packets;
        let behind = p.in_flight_end.saturating_sub(p.in_flight_begin);
        let dropped = p.dropped_sram + p.dropped_no_descriptor;
        let failed_by = if dropped * 100_000 > p.offered * slo.drops.0 {
            Some("drops")
        } else if behind * 100 > p.offered * BEHIND_PERCENT {
            Some("rate")
        } else if p.offered_mpps * 1e6 * 100.0 < rate.0 as f64 * LINK_PERCENT {
            Some("link")
        } else if p99_ns > limit_ns {
            Some("p99")
        } else {
            None
        };
        let probe = Probe {
            offered_mpps: p.offered_mpps,
            completed_mpps: p.completed_mpps,
            p99_ns,
            p99_limit_ns: limit_ns,
            drop_share: p.drop_share,
            holds: failed_by.is_none(),
        };
        self.probes.push(probe.clone());
        if !(self.watch)(Watched::Probe(&probe)) {
            return Err(PeakError::Stopped);
        }
        Ok(Outcome { probe, failed_by, results })
    }

    fn unreachable(&self, failed: &Outcome) -> PeakError {
        let slo = &self.scenario.slo;
        let p = &failed.probe;
        let found = match failed.failed_by {
            Some("drops") => format!("{:.3} % of packets are dropped", 100.0 * p.drop_share),
            Some("p99") => format!(
                "the 99th percentile is {:.0} ns, {:.0} mean service times",
                p.p99_ns,
                p.p99_ns / p.p99_limit_ns * f64::from(slo.p99_service_times)
            ),
            _ => "completions fall behind arrivals".into(),
        };
        PeakError::Unreachable {
            given: format!(
                "{{ p99_service_times = {}, drops = \"{}\" }}",
                slo.p99_service_times, slo.drops
            ),
            mpps: p.offered_mpps,
            found,
        }
    }
}
