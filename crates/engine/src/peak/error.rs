//! Why a search ends without a peak.

use super::MIN_PACKETS;
use super::probe::{Failed, Outcome, unit};
use crate::config::Scenario;
use crate::config::scenario::Slo;
use crate::host::BuildError;
use crate::time::PS_PER_S;
use crate::units::{Duration, Rate};
use crate::wire::config::TrafficConfig;

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
        /// The part of the objective that fails; the whole objective if completions only fall behind.
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

impl PeakError {
    /// The traffic has no rate that could be varied.
    pub(super) fn no_rate(scenario: &Scenario) -> PeakError {
        PeakError::NoRate {
            key: "traffic.kind",
            given: match scenario.traffic {
                Some(TrafficConfig::ClosedLoop(_)) => "\"closed-loop\"".into(),
                Some(TrafficConfig::Backlog { .. }) => "\"backlog\"".into(),
                _ => "nothing".into(),
            },
            allowed: match scenario.traffic {
                Some(TrafficConfig::ClosedLoop(_)) => {
                    "poisson, constant, bursts or replay for a peak search; what load closed-loop senders carry is \
                     shown by a comparison of several, such as `nic2core compare SCENARIO --vary \
                     'traffic.load=1 Gbps,2 Gbps'`"
                }
                _ => "poisson, constant, bursts or replay for a peak search",
            },
        }
    }

    /// At this rate, with which the search would begin, a probe would have too few packets.
    pub(super) fn too_few(scenario: &Scenario, rate: Rate) -> PeakError {
        let enough = (u128::from(MIN_PACKETS) * PS_PER_S).div_ceil(rate.0.into()) as u64;
        let enough = Duration(enough.next_multiple_of(unit(scenario).0));
        PeakError::TooShort {
            given: scenario.run.duration,
            allowed: format!(
                "at least {enough}, in which {MIN_PACKETS} packets come at {rate}, with which the search begins"
            ),
        }
    }

    /// `rate` is the lowest rate tried and fails; `countable` is whether lower ones would bring too
    /// few packets.
    pub(super) fn unreachable(
        slo: &Slo,
        failed: &Outcome,
        rate: Rate,
        countable: bool,
    ) -> PeakError {
        let p = &failed.probe;
        let (times, drops) = (slo.p99_service_times, format!("\"{}\"", slo.drops));
        let p99 = slo.p99.map(|limit| format!("\"{limit}\""));
        let (key, given, found) = match (failed.failed_by, p99) {
            (Some(Failed::Drops), _) => (
                "slo.drops",
                drops,
                format!("{:.3} % of packets are dropped", 100.0 * p.drop_share),
            ),
            (Some(Failed::P99), Some(p99)) => {
                ("slo.p99", p99, format!("the 99th percentile is {:.0} ns", p.p99_ns))
            }
            (Some(Failed::P99), None) => (
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
