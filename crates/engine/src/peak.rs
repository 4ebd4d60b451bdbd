//! The highest rate that keeps a service-level objective.
//!
//! Caches are warmed at half the scenario's rate, or below what the network link carries if that is
//! less: what waits before a full link would come in every probe. Every probe continues from a copy of a warm
//! server, lets its rate settle, and measures. The first is at the rate of the
//! warm-up. If it finds an overloaded server, rings are full in the copy and would be in every probe:
//! the server is warmed anew, below what it completed. While all rates hold, the next probe continues from the server
//! of the last: its caches hold what they do at about that rate, and are warmer with each step. Once one has failed, all
//! continue from the same server and see the same arrivals, only denser or less so, and halving is not thrown off by chance.
//!
//! The bracket of a rate that holds and one that fails is first found by steps of a quarter and then
//! halved until it is [`RESOLUTION_PERCENT`] wide. Coming from below matters: an overloaded server whose queues have
//! once filled may stay slow at a rate that it would sustain otherwise, because packets that wait are
//! evicted before they are read. Service times of the objective are those of the first probe, so that all rates
//! are held against the same limit. Above the line rate of the network link there is nothing to try: a
//! probe at which the link is full and the objective holds ends the search.
//!
//! A probe ends early once so many packets have been dropped or were too slow that the objective cannot be kept any more,
//! though not before a quarter of its time, so that its rates can be told.
//!
//! Bursts are measured for whole cycles, so that a probe sees their mean rate. A replay is not: all its probes
//! continue from the warm-up and see the part of the capture that follows it, as much of it as goes by in the measured time.

use std::sync::Arc;

use crate::config::Scenario;
use crate::host::{BuildError, Host};
use crate::stats::results::{Peak, Probe, Results};
use crate::time::{PS_PER_S, Ps};
use crate::units::{Duration, Rate};
use crate::wire::Capture;
use crate::wire::config::TrafficConfig;
use crate::wire::rate::MeanPacket;

/// Width of the final bracket, percent of the rate.
pub const RESOLUTION_PERCENT: u64 = 1;

/// A rate is sustained if completions fall behind arrivals by at most this share of them, percent:
/// more than the noise of some 10 000 Poisson arrivals.
const BEHIND_PERCENT: u64 = 2;

/// A network link that is busy for this share of the time is full. Of the fewest packets of a probe one
/// more or less at each end makes 0.4 %.
const LINK_SHARE: f64 = 0.995;

/// Where the network link or the server cannot carry half the scenario's rate, the search begins at this
/// share of what it carries, percent: one step of a quarter below.
const BELOW_PERCENT: f64 = 80.0;

/// The lowest rate tried is the first divided by this,
const LOWEST_DIVISOR: u64 = 32;

/// and one at which so many packets come in the measured time: ten of them lie above the 99th
/// percentile.
const MIN_PACKETS: u64 = 1000;

/// A probe settles for this part of the measured time before it measures.
pub const SETTLE_DIVISOR: u64 = 2;

/// A probe that is bound to fail measures for at least this part of its time.
const SURELY_DIVISOR: u64 = 4;

/// At most so many packets come in a probe, percent of what its rate brings in the mean.
const MOST_PERCENT: u64 = 110;

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
        "{key} = {given} cannot be met: at {mpps:.3} Mpps, the lowest rate tried, {found}; expected \
         {allowed}"
    )]
    Unreachable {
        /// What of the objective fails; the whole, if completions only fall behind.
        key: &'static str,
        /// The value given.
        given: String,
        /// The lowest rate.
        mpps: f64,
        /// What was found there.
        found: String,
        /// What may help.
        allowed: &'static str,
    },
    /// A probe sees too little of the traffic to tell whether a rate holds.
    #[error("run.duration = {given} is too short to tell a peak; expected {allowed}")]
    TooShort {
        /// The measured time.
        given: Duration,
        /// How long it must be, and why.
        allowed: String,
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
    /// The server was overloaded at the rates tried so far, which are forgotten: the search begins anew, from a
    /// warm-up at less.
    Anew,
}

/// Finds the highest rate at which the scenario keeps its objective.
///
/// # Errors
/// If the scenario has no rate or cannot be simulated, if its measured time is too short, if even the
/// lowest rate fails, or if `watch` says to stop.
pub fn find_peak(
    scenario: &Scenario,
    capture: Option<Arc<Capture>>,
    watch: &mut Watch<'_>,
) -> Result<Peak, PeakError> {
    let mean = mean_packet(scenario, capture.as_deref());
    let cold = Host::new(scenario, capture)?;
    let Some(rate) = cold.rate() else {
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
    let measured = measured(scenario)?;
    let countable = (u128::from(MIN_PACKETS) * PS_PER_S).div_ceil(measured.0.into()) as u64;
    let mut search =
        Search { scenario, measured, countable, limit_ns: None, watch, probes: Vec::new() };
    let (host, first, outcome) = search.begin(&cold, rate)?;
    drop(cold);
    let ((rate, good), bad) = search.bracket(host, first, outcome)?;
    Ok(Peak {
        peak_mpps: good.probe.completed_mpps,
        rate_gbps: mean.map(|mean| mean.bits_at(Rate(rate)).0 as f64 / 1e9 * while_on(scenario)),
        fails_at_mpps: bad.as_ref().map(|bad| bad.probe.offered_mpps),
        failed_by: bad.and_then(|bad| bad.failed_by).unwrap_or("link").into(),
        probes: search.probes,
        results: good.results,
    })
}

/// The packets that a rate of bits is made of, if the scenario says how long they are.
fn mean_packet(scenario: &Scenario, capture: Option<&Capture>) -> Option<MeanPacket> {
    let traffic = scenario.traffic.as_ref()?;
    let drawn = capture.is_none() && scenario.serving().any(|t| t.app.draws_requests());
    MeanPacket::of_traffic(traffic, capture).filter(|_| !drawn)
}

/// The rate that the traffic is given, of the mean that the search varies: bursts have theirs while on.
fn while_on(scenario: &Scenario) -> f64 {
    match scenario.traffic {
        Some(TrafficConfig::Bursts { on, off, .. }) => 1.0 + off.0 as f64 / on.0 as f64,
        _ => 1.0,
    }
}

/// What a measured time is a whole multiple of: the cycle of bursts; else, where one is asked for, a
/// millisecond.
fn unit(scenario: &Scenario) -> Ps {
    match &scenario.traffic {
        Some(TrafficConfig::Bursts { on, off, .. }) => Ps(on.0 + off.0),
        _ => Ps::from_us(1000),
    }
}

/// How long a probe measures: the scenario's measured time, of bursts the whole cycles in it.
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

/// Whether the network link, if it has a rate, carried frames nearly all the time.
fn link_is_full(results: &Results) -> bool {
    let wire = results.domains.iter().find(|domain| domain.domain == "wire");
    wire.is_some_and(|wire| wire.busy_ps as f64 >= results.measured_ns * 1e3 * LINK_SHARE)
}

/// This share of what was carried, packets a second.
fn below(mpps: f64) -> u64 {
    (mpps * 1e6 * BELOW_PERCENT / 100.0) as u64
}

/// At this rate, with which the search would begin, a probe has too few packets.
fn too_few(scenario: &Scenario, rate: Rate) -> PeakError {
    let enough = (u128::from(MIN_PACKETS) * PS_PER_S).div_ceil(rate.0.into()) as u64;
    let enough = Duration(enough.next_multiple_of(unit(scenario).0));
    PeakError::TooShort {
        given: scenario.run.duration,
        allowed: format!(
            "at least {enough}, in which {MIN_PACKETS} packets come at {rate}, with which the search begins"
        ),
    }
}

impl Outcome {
    /// Whether the rate fails at a server that does not do what comes, or is not done with what came before:
    /// completions differ from arrivals, or a ring is full. Few drops by themselves, or a 99th percentile
    /// above its limit, can be those of spikes.
    fn overloaded(&self, descriptors: u32) -> bool {
        let (r, p) = (&self.results, &self.results.packets);
        let apart = p.completed.abs_diff(p.offered) * 100 > p.offered * BEHIND_PERCENT;
        let half_a_ring = f64::from(descriptors) / 2.0 * r.measured_ns * 1e3;
        let full = r.queues.iter().any(|q| q.rx_busy_ps as f64 > half_a_ring);
        self.failed_by.is_some() && (apart || full)
    }
}

struct Search<'a, 'w> {
    scenario: &'a Scenario,
    measured: Ps,
    /// The lowest rate at which enough packets come in that time, packets a second.
    countable: u64,
    /// What the first probe's service times make of the objective, ns; nothing before it.
    limit_ns: Option<f64>,
    watch: &'a mut Watch<'w>,
    probes: Vec<Probe>,
}

impl Search<'_, '_> {
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

    /// Measures for the time of a probe at a rate, or until the probe is bound to fail: then it says by what.
    fn measure(&mut self, host: &mut Host, rate: Rate) -> Result<Option<&'static str>, PeakError> {
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

    /// What of the objective fails whatever still comes. What a window of a capture or a part of a burst's cycle brings
    /// is not told by the rate.
    fn bound_to_fail(&self, host: &Host, rate: Rate) -> Option<&'static str> {
        let bursts = matches!(self.scenario.traffic, Some(TrafficConfig::Bursts { .. }));
        let limit_ns = self.limit_ns.filter(|_| !self.replays() && !bursts)?;
        let mean = u128::from(rate.0) * u128::from(self.measured.0) / PS_PER_S;
        let most = mean as u64 * MOST_PERCENT / 100;
        if host.dropped() * 100_000 > most * self.scenario.slo.drops.0 {
            Some("drops")
        } else if host.slower_than(limit_ns) * 100 > most {
            Some("p99")
        } else {
            None
        }
    }

    /// Whether the traffic is a capture's.
    fn replays(&self) -> bool {
        matches!(self.scenario.traffic, Some(TrafficConfig::Replay { .. }))
    }

    /// The server warmed where the search begins, and the rate of that: half of the scenario's, or below what
    /// the link carries.
    fn warm_below(&mut self, cold: &Host, rate: Rate) -> Result<(Host, u64), PeakError> {
        let half = Rate((rate.0 / 2).max(1));
        if half.0 < self.countable {
            return Err(too_few(self.scenario, half));
        }
        let host = self.warm(cold, half)?;
        let results = host.results().map_err(PeakError::Balance)?;
        if !link_is_full(&results) {
            return Ok((host, half.0));
        }
        let below = Rate(below(results.packets.offered_mpps));
        if below.0 < self.countable {
            return Err(too_few(self.scenario, Rate(below.0.max(1))));
        }
        Ok((self.warm(cold, below)?, below.0))
    }

    /// The server warmed at a rate that does not overload it, that rate, and what it did to the objective.
    fn begin(&mut self, cold: &Host, rate: Rate) -> Result<(Host, u64, Outcome), PeakError> {
        let (mut host, mut first) = self.warm_below(cold, rate)?;
        loop {
            let (outcome, probed) = self.probe(&host, Rate(first))?;
            if !outcome.overloaded(self.scenario.queues.rx_descriptors) {
                self.limit_ns = Some(outcome.probe.p99_limit_ns);
                return Ok((self.warmer(host, probed, &outcome), first, outcome));
            }
            // A window of a capture may bring more than its mean rate, and the server complete as much.
            let carried = below(outcome.probe.completed_mpps.min(outcome.probe.offered_mpps));
            let next = carried.min(first * 4 / 5);
            if next < self.countable {
                return Err(self.unreachable(&outcome, Rate(first), true));
            }
            // From a warm-up of its own.
            self.probes.clear();
            if !(self.watch)(Watched::Anew) {
                return Err(PeakError::Stopped);
            }
            first = next;
            host = self.warm(cold, Rate(first))?;
        }
    }

    /// The highest rate found that holds and what it did, and what the lowest did that fails, unless the link is full first.
    fn bracket(
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
            if full && (bad.is_none() || !holds) {
                // If it is full on the way in, what came is what it carries.
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
                        return Err(self.unreachable(failed, Rate(*b), lowest == self.countable));
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
            let (found, probed) = self.probe(&warm, Rate(next))?;
            if bad.is_none() {
                warm = self.warmer(warm, probed, &found);
            }
            outcome = found;
        }
        let Some(good) = good else { unreachable!("the search ends with a rate that holds") };
        Ok((good, bad.map(|(_, bad)| bad)))
    }

    /// The server after its warm-up at a rate.
    fn warm(&mut self, cold: &Host, rate: Rate) -> Result<Host, PeakError> {
        let mut host = cold.clone();
        host.set_rate(rate);
        self.advance(&mut host, Ps(2 * self.scenario.run.warmup.0))?;
        Ok(host)
    }

    /// The server that the next probe continues from.
    fn warmer(&self, warm: Host, probed: Host, outcome: &Outcome) -> Host {
        if outcome.failed_by.is_some() || self.replays() { warm } else { probed }
    }

    /// Tries a rate with a copy of the warm server, which is the second of what comes back.
    fn probe(&mut self, warm: &Host, rate: Rate) -> Result<(Outcome, Host), PeakError> {
        let mut host = warm.clone();
        host.set_rate(rate);
        self.advance(&mut host, Ps(self.measured.0 / SETTLE_DIVISOR))?;
        let bound_to_fail = self.measure(&mut host, rate)?;
        let results = host.results().map_err(PeakError::Balance)?;
        let slo = &self.scenario.slo;
        let limit_ns = self.limit_ns.unwrap_or_else(|| slo.p99_limit_ns(host.service_mean_ns()));
        let p99_ns = host.total_p99_ns();
        let p = &results.packets;
        let behind = p.in_flight_end.saturating_sub(p.in_flight_begin);
        let dropped = host.dropped();
        let failed_by = if bound_to_fail.is_some() {
            bound_to_fail
        } else if dropped * 100_000 > p.offered * slo.drops.0 {
            Some("drops")
        } else if behind * 100 > p.offered * BEHIND_PERCENT {
            Some("rate")
        } else if p99_ns > limit_ns {
            Some("p99")
        } else {
            None
        };
        // Where a replay pauses, fewer come than the mean rate brings.
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

    /// `rate` is the lowest tried and fails; `countable` is whether lower ones would bring too few
    /// packets.
    fn unreachable(&self, failed: &Outcome, rate: Rate, countable: bool) -> PeakError {
        let slo = &self.scenario.slo;
        let p = &failed.probe;
        let (times, drops) = (slo.p99_service_times, format!("\"{}\"", slo.drops));
        let p99 = slo.p99.map(|limit| format!("\"{limit}\""));
        let (key, given, found) = match (failed.failed_by, p99) {
            (Some("drops"), _) => (
                "slo.drops",
                drops,
                format!("{:.3} % of packets are dropped", 100.0 * p.drop_share),
            ),
            (Some("p99"), Some(p99)) => {
                ("slo.p99", p99, format!("the 99th percentile is {:.0} ns", p.p99_ns))
            }
            (Some("p99"), None) => (
                "slo.p99_service_times",
                times.to_string(),
                format!(
                    "the 99th percentile is {:.0} ns, {:.0} mean service times",
                    p.p99_ns,
                    p.p99_ns / p.p99_limit_ns * f64::from(times)
                ),
            ),
            (_, p99) => (
                "slo",
                match p99 {
                    Some(p99) => format!("{{ p99 = {p99}, drops = {drops} }}"),
                    None => format!("{{ p99_service_times = {times}, drops = {drops} }}"),
                },
                "completions fall behind arrivals".into(),
            ),
        };
        PeakError::Unreachable {
            key,
            given,
            mpps: rate.0 as f64 / 1e6,
            found,
            allowed: if countable {
                "an objective that this machine can keep, or a longer run.duration, with which lower \
                 rates can be tried"
            } else {
                "an objective that this machine can keep"
            },
        }
    }
}

#[cfg(test)]
mod tests;
