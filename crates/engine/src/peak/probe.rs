//! What a rate does to a server: one probe of a search.

use super::{
    BEHIND_PERCENT, CHANCE_DEVIATIONS, MIN_PACKETS, PeakError, SETTLE_DIVISOR, WARMUPS, Watch,
    Watched,
};
use crate::config::Scenario;
use crate::host::{Host, WIRE};
use crate::stats::results::{Probe, Results};
use crate::time::{PS_PER_S, Ps};
use crate::units::{Duration, Rate};
use crate::wire::config::TrafficConfig;

/// Whether completions may be so far behind this many arrivals by chance: [`CHANCE_DEVIATIONS`] of Poisson arrivals.
/// A queue that grows faster only takes longer to be full, and then packets are dropped.
fn by_chance(behind: u64, arrivals: u64) -> bool {
    behind * behind <= CHANCE_DEVIATIONS * CHANCE_DEVIATIONS * arrivals
}

/// A network link that is busy for this share of the time is full. With the fewest packets of a
/// probe, one more or less at each end makes 0.4 %.
const LINK_SHARE: f64 = 0.995;

/// A probe that is bound to fail measures for at least this part of its time.
const SURELY_DIVISOR: u64 = 4;

/// The most packets that arrive in a probe, in percent of what its rate brings on average.
const MOST_PERCENT: u64 = 110;

/// What fails at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// More packets are dropped than the objective allows.
    Drops,
    /// Completions fall behind arrivals.
    Rate,
    /// The 99th percentile of the latency is above its limit.
    P99,
    /// Nothing, up to the rate of the network link.
    Link,
}

impl Failed {
    /// Its name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Failed::Drops => "drops",
            Failed::Rate => "rate",
            Failed::P99 => "p99",
            Failed::Link => "link",
        }
    }
}

/// What a rate did to the objective.
pub(super) struct Outcome {
    pub(super) probe: Probe,
    pub(super) failed_by: Option<Failed>,
    pub(super) results: Results,
}

/// A measured time is a whole multiple of this: the cycle of bursts; otherwise, in a message that
/// asks for a longer time, ten microseconds.
pub(super) fn unit(scenario: &Scenario) -> Ps {
    match &scenario.traffic {
        Some(TrafficConfig::Bursts { on, off, .. }) => Ps(on.0 + off.0),
        _ => Ps::from_us(10),
    }
}

/// How long a probe measures: the scenario's measured time; for bursts, the whole cycles in it.
fn measured(scenario: &Scenario) -> Result<Ps, PeakError> {
    let given = scenario.run.duration;
    if !matches!(scenario.traffic, Some(TrafficConfig::Bursts { .. })) {
        return Ok(given.ps());
    }
    let cycle = unit(scenario).0;
    let whole = given.0 / cycle * cycle;
    if whole == 0 {
        let allowed = format!("at least {}, a burst and the pause after it", Duration(cycle));
        return Err(PeakError::TooShort { given, allowed });
    }
    Ok(Ps(whole))
}

/// Whether the network link, if it has a rate, carried frames nearly all the time in one of its directions.
pub(super) fn link_is_full(results: &Results) -> bool {
    let wire = results.domains.iter().find(|domain| domain.domain == WIRE);
    wire.is_some_and(|wire| wire.busy_ps as f64 >= results.measured_ns * 1e3 * LINK_SHARE)
}

/// Whether it is full of what arrives, so that no more could: the busier direction is that one.
pub(super) fn arrivals_fill_link(results: &Results) -> bool {
    let wire = results.domains.iter().find(|domain| domain.domain == WIRE);
    link_is_full(results) && wire.is_some_and(|wire| wire.uses == results.packets.offered)
}

impl Outcome {
    /// Whether the rate fails because the server cannot keep up, or is still working off earlier
    /// packets: completions differ from arrivals, or a ring is on average more than half full. A
    /// few drops alone, or a 99th percentile above its limit, can be due to spikes.
    pub(super) fn overloaded(&self, descriptors: u32) -> bool {
        let (r, p) = (&self.results, &self.results.packets);
        let apart = p.completed.abs_diff(p.offered) * 100 > p.offered * BEHIND_PERCENT;
        let half_a_ring = f64::from(descriptors) / 2.0 * r.measured_ns * 1e3;
        let full = r.queues.iter().any(|q| q.rx_busy_ps as f64 > half_a_ring);
        self.failed_by.is_some() && (apart || full)
    }
}

/// Tries rates and records the outcomes.
pub(super) struct Prober<'a, 'w> {
    pub(super) scenario: &'a Scenario,
    measured: Ps,
    /// The limit for the 99th percentile that the first probe has set, ns; `None` before it.
    pub(super) limit_ns: Option<f64>,
    watch: &'a mut Watch<'w>,
    probes: Vec<Probe>,
}

impl<'a, 'w> Prober<'a, 'w> {
    pub(super) fn new(
        scenario: &'a Scenario,
        watch: &'a mut Watch<'w>,
    ) -> Result<Prober<'a, 'w>, PeakError> {
        let measured = measured(scenario)?;
        Ok(Prober { scenario, measured, limit_ns: None, watch, probes: Vec::new() })
    }

    /// The lowest rate at which enough packets arrive in the measured time, in packets per second.
    pub(super) fn countable(&self) -> u64 {
        (u128::from(MIN_PACKETS) * PS_PER_S).div_ceil(self.measured.0.into()) as u64
    }

    /// Whether the traffic is a replayed capture.
    pub(super) fn replays(&self) -> bool {
        matches!(self.scenario.traffic, Some(TrafficConfig::Replay { .. }))
    }

    /// A copy of the cold server, warmed up at a rate.
    pub(super) fn warm(&mut self, cold: &Host, rate: Rate) -> Result<Host, PeakError> {
        let mut host = cold.clone();
        host.set_rate(rate);
        self.advance(&mut host, Ps(WARMUPS * self.scenario.run.warmup.0))?;
        Ok(host)
    }

    /// Discards the rates tried so far: the search begins anew.
    pub(super) fn forget(&mut self) -> Result<(), PeakError> {
        self.probes.clear();
        if (self.watch)(Watched::Anew) { Ok(()) } else { Err(PeakError::Stopped) }
    }

    /// All rates tried, in order.
    pub(super) fn into_probes(self) -> Vec<Probe> {
        self.probes
    }

    /// Tries a rate on a copy of the warm server; returns the outcome and that copy.
    pub(super) fn probe(&mut self, warm: &Host, rate: Rate) -> Result<(Outcome, Host), PeakError> {
        let mut host = warm.clone();
        host.set_rate(rate);
        self.advance(&mut host, Ps(self.measured.0 / SETTLE_DIVISOR))?;
        let bound_to_fail = self.measure(&mut host, rate)?;
        let results = host.results().map_err(PeakError::Balance)?;
        let slo = &self.scenario.slo;
        let limit_ns = self.limit_ns.unwrap_or_else(|| slo.p99_limit_ns(host.service_mean_ns()));
        let p99_ns = host.total_p99_ns();
        let p = &results.packets;
        let (begin, end) = (p.in_flight_begin + p.unsent_begin, p.in_flight_end + p.unsent_end);
        let behind = end.saturating_sub(begin);
        let dropped = host.dropped();
        let failed_by = if bound_to_fail.is_some() {
            bound_to_fail
        } else if dropped * 100_000 > p.offered * slo.drops.0 {
            Some(Failed::Drops)
        } else if behind * 100 > p.offered * BEHIND_PERCENT || !by_chance(behind, p.offered) {
            Some(Failed::Rate)
        } else if p99_ns > limit_ns {
            Some(Failed::P99)
        } else {
            None
        };
        // While a replay pauses, fewer packets arrive than the mean rate brings.
        if failed_by.is_none() && p.offered < MIN_PACKETS / 2 {
            return Err(PeakError::TooShort {
                given: self.scenario.run.duration,
                allowed: format!(
                    "a time in which {MIN_PACKETS} packets come: at {rate} on average, there were {} \
                     in a probe",
                    p.offered
                ),
            });
        }
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
        Ok((Outcome { probe, failed_by, results }, host))
    }

    /// Runs for `span` and lets the caller watch.
    fn advance(&mut self, host: &mut Host, span: Ps) -> Result<(), PeakError> {
        let end = host.now() + span;
        while host.now() < end {
            self.step(host, end)?;
        }
        Ok(())
    }

    /// The next step towards `end`.
    fn step(&mut self, host: &mut Host, end: Ps) -> Result<(), PeakError> {
        host.run_until((host.now() + Ps::from_us(50)).min(end));
        if (self.watch)(Watched::Tick) { Ok(()) } else { Err(PeakError::Stopped) }
    }

    /// Measures a rate for the time of a probe, or until it is bound to fail; then returns what fails.
    fn measure(&mut self, host: &mut Host, rate: Rate) -> Result<Option<Failed>, PeakError> {
        host.begin_measuring();
        let (begin, end) = (host.now(), host.now() + self.measured);
        let surely = begin + Ps(self.measured.0 / SURELY_DIVISOR);
        while host.now() < end {
            self.step(host, end)?;
            if host.now() >= surely
                && let Some(failed_by) = self.bound_to_fail(host, rate)
            {
                return Ok(Some(failed_by));
            }
        }
        Ok(None)
    }

    /// The part of the objective that will fail whatever else arrives. The rate does not tell what
    /// a window of a capture or a part of a burst cycle brings, so replays and bursts are never
    /// bound to fail.
    fn bound_to_fail(&self, host: &Host, rate: Rate) -> Option<Failed> {
        let bursts = matches!(self.scenario.traffic, Some(TrafficConfig::Bursts { .. }));
        let limit_ns = self.limit_ns.filter(|_| !self.replays() && !bursts)?;
        let mean = u128::from(rate.0) * u128::from(self.measured.0) / PS_PER_S;
        let most = mean as u64 * MOST_PERCENT / 100;
        if host.dropped() * 100_000 > most * self.scenario.slo.drops.0 {
            Some(Failed::Drops)
        } else if host.slower_than(limit_ns) * 100 > most {
            Some(Failed::P99)
        } else {
            None
        }
    }
}
