//! TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015).
//!
//! Algorithm 1 of the paper sets a rate by the gradient of the round trip, between two thresholds
//! beyond which the round trip itself counts. The paper's network is lossless (PFC), and it has no
//! reaction to loss. Here losses cut the rate once in a round trip, by `loss_decrease`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rate::Rate;
use super::{Control, Feedback, Loss, MAX_DELAY, Path, check_min_rate};
use crate::check::Check;
use crate::frame::MAX_LINK;
use crate::time::Ps;
use crate::transport::fixed::{self, ONE};
use crate::units::{BitRate, Duration};

/// The parameters of TIMELY, with the names of the paper's algorithm 1 where they have one. The defaults of `ewma`,
/// `beta`, the thresholds, `min_rtt` and `hyperactive_after` are those of the ns-3 model of HPCC
/// (alibaba-edu/High-Precision-Congestion-Control, rdma-hw.cc), that of `delta` is the one of Zhu et al., "ECN or Delay:
/// Lessons Learnt from Analysis of DCQCN and TIMELY" (CoNEXT 2016), quoted from memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimelyConfig {
    /// `alpha`: weight of the newest difference between two round trips.
    pub ewma: f64,
    /// `beta`: multiplicative decrease.
    pub beta: f64,
    /// `delta`: what is added to the rate.
    pub delta: BitRate,
    /// `T_low`: below it the rate increases, whatever the gradient.
    pub low_threshold: Duration,
    /// `T_high`: above it the rate decreases, whatever the gradient.
    pub high_threshold: Duration,
    /// `minRTT`, by which the gradient is normalised.
    pub min_rtt: Duration,
    /// `N`: so many updates in a row with a gradient below zero, from which each adds this many times `delta`. Any other
    /// update begins anew.
    pub hyperactive_after: u32,
    /// Acknowledged packets for one update of the rate, which the paper has for each segment of 16 KB and more. The
    /// default is 16 KiB of the 4 KiB packets of the host-congestion scenarios.
    pub segment: u32,
    /// The most that one update takes of the rate. By default all that is above the least rate, as in the paper: where
    /// the mean difference exceeds `minRTT` / `beta`, the equation is below zero.
    pub max_decrease: f64,
    /// What a loss takes of the rate, once in a round trip: half, as in TCP; not in the paper.
    pub loss_decrease: f64,
    /// The least rate of a connection: one `delta`, a choice.
    pub min_rate: BitRate,
    /// The rate of a new connection. Absent: the rate of the sender's link over the number of its connections, which
    /// all may be active, but no less than `min_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<BitRate>,
}

impl Default for TimelyConfig {
    fn default() -> TimelyConfig {
        TimelyConfig {
            ewma: 0.875,
            beta: 0.8,
            delta: BitRate(10_000_000),
            low_threshold: Duration(50_000_000),
            high_threshold: Duration(500_000_000),
            min_rtt: Duration(20_000_000),
            hyperactive_after: 5,
            segment: 4,
            max_decrease: 1.0,
            loss_decrease: 0.5,
            min_rate: BitRate(10_000_000),
            initial_rate: None,
        }
    }
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Timely {
    ewma: u64,
    beta: u64,
    max_decrease: u64,
    loss_decrease: u64,
    delta: BitRate,
    rate: Rate,
    low: Ps,
    high: Ps,
    min_rtt: Ps,
    hyperactive_after: u32,
    segment: u32,
    /// The round trip of the last update.
    previous: Option<Ps>,
    /// Mean difference between two round trips, in picoseconds of [`ONE`].
    difference: i128,
    /// Updates in a row with a gradient below zero.
    falling: u32,
    /// Acknowledged since the last update.
    acked: u32,
    /// Losses before this transmission have been reacted to.
    recovered: u64,
}

impl Timely {
    fn increase(&mut self, times: u32) {
        self.rate.increase(BitRate(self.delta.0 * u64::from(times)));
    }

    fn cut(&mut self, by: u64) {
        self.rate.cut(by.min(self.max_decrease));
    }

    /// Algorithm 1.
    fn update(&mut self, rtt: Ps) {
        let previous = self.previous.replace(rtt).unwrap_or(rtt);
        // rtt_diff <- (1 - alpha) * rtt_diff + alpha * (new_rtt - prev_rtt)
        let newest = i128::from(rtt.0) - i128::from(previous.0);
        let (alpha, one) = (i128::from(self.ewma), i128::from(ONE));
        self.difference = (one - alpha) * self.difference / one + alpha * newest;
        let falling = self.difference < 0 && (self.low..=self.high).contains(&rtt);
        self.falling = if falling { self.falling.saturating_add(1) } else { 0 };
        if rtt < self.low {
            self.increase(1);
        } else if rtt > self.high {
            // rate <- rate * (1 - beta * (1 - T_high / rtt))
            self.cut(fixed::mul(self.beta, fixed::div((rtt - self.high).0, rtt.0)));
        } else if self.difference <= 0 {
            let n = self.hyperactive_after;
            self.increase(if self.falling >= n { n } else { 1 });
        } else {
            // rate <- rate * (1 - beta * rtt_diff / minRTT)
            let gradient = self.difference / i128::from(self.min_rtt.0);
            self.cut(fixed::mul(self.beta, u64::try_from(gradient).unwrap_or(u64::MAX)));
        }
    }

    /// Losses of what was sent before `next_order` are reacted to once.
    fn lose(&mut self, next_order: u64) {
        self.recovered = next_order;
        self.falling = 0;
        self.rate.cut(self.loss_decrease);
    }
}

impl Control for Timely {
    type Config = TimelyConfig;

    const HEARS_MARKS: bool = false;

    fn check(config: &TimelyConfig, link: BitRate, check: &mut Check) {
        let c = config;
        check.within("ewma", c.ewma, 1e-6..=1.0);
        check.within("beta", c.beta, 0.0..=1.0);
        check.within("delta", c.delta, BitRate(1)..=MAX_LINK);
        check.within("low_threshold", c.low_threshold, Duration(0)..=MAX_DELAY);
        if c.low_threshold <= MAX_DELAY {
            let what = ", the first being low_threshold";
            let high = c.low_threshold..=MAX_DELAY;
            check.within_what("high_threshold", c.high_threshold, high, what);
        }
        check.within("min_rtt", c.min_rtt, Duration(1)..=MAX_DELAY);
        check.within("hyperactive_after", c.hyperactive_after, 1..=1000);
        check.at_least_one("segment", c.segment);
        check.within("max_decrease", c.max_decrease, 0.0..=1.0);
        check.within("loss_decrease", c.loss_decrease, 0.0..=1.0);
        check_min_rate(check, c.min_rate, link);
        if let Some(rate) = c.initial_rate.filter(|_| c.min_rate <= link) {
            let what = ", which are min_rate and network.sender_link";
            check.within_what("initial_rate", rate, c.min_rate..=link, what);
        }
    }

    fn new(config: &TimelyConfig, path: &Path) -> Timely {
        let c = config;
        let share = BitRate(path.link.0 / u64::from(path.connections));
        Timely {
            ewma: fixed::from_f64(c.ewma),
            beta: fixed::from_f64(c.beta),
            max_decrease: fixed::from_f64(c.max_decrease),
            loss_decrease: fixed::from_f64(c.loss_decrease),
            delta: c.delta,
            rate: Rate::new(c.initial_rate.unwrap_or(share), c.min_rate, path),
            low: c.low_threshold.ps(),
            high: c.high_threshold.ps(),
            min_rtt: c.min_rtt.ps(),
            hyperactive_after: c.hyperactive_after,
            segment: c.segment,
            previous: None,
            difference: 0,
            falling: 0,
            acked: 0,
            recovered: 0,
        }
    }

    fn on_ack(&mut self, _now: Ps, feedback: &Feedback) {
        if feedback.duplicate {
            return;
        }
        self.acked += 1;
        if self.acked >= self.segment {
            self.acked = 0;
            self.update(feedback.rtt);
        }
    }

    fn on_fast_recovery(&mut self, _now: Ps, loss: Loss) {
        if loss.order >= self.recovered {
            self.lose(loss.next_order);
        }
    }

    fn on_timeout(&mut self, _now: Ps, next_order: u64) {
        self.lose(next_order);
    }

    /// The rate alone limits.
    fn window(&self) -> u64 {
        u64::MAX
    }

    fn pacing(&self) -> Ps {
        self.rate.pacing()
    }

    fn rate(&self) -> Option<BitRate> {
        Some(self.rate.bit_rate())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transport::control::PATH;

    fn ack(rtt: Ps) -> Feedback {
        Feedback { rtt, ..Feedback::default() }
    }

    proptest! {
        /// Algorithm 1 in floating point, rates in Gbit/s and times in ns.
        #[test]
        fn it_follows_the_published_equations(
            rtts in prop::collection::vec(1u64..900_000, 1..200),
            ewma in 0.05f64..1.0,
            beta in 0.05f64..1.0,
            max_decrease in 0.3f64..1.0,
        ) {
            let config = TimelyConfig {
                ewma, beta, max_decrease, segment: 1, initial_rate: Some(BitRate(1_000_000_000)),
                ..TimelyConfig::default()
            };
            let mut timely = Timely::new(&config, &PATH);
            let (mut rate, mut difference, mut falling) = (1.0f64, 0.0f64, 0);
            let mut previous = rtts[0] as f64;
            for ns in rtts {
                let rtt = ns as f64;
                difference = (1.0 - ewma) * difference + ewma * (rtt - previous);
                previous = rtt;
                // Rounding may decide about the sign of next to nothing.
                prop_assume!(difference == 0.0 || difference.abs() > 1e-3);
                let by = if rtt > 500e3 { 1.0 - 500e3 / rtt } else { difference / 20e3 };
                let between = (50e3..=500e3).contains(&rtt);
                falling = if between && difference < 0.0 { falling + 1 } else { 0 };
                if rtt < 50e3 {
                    rate += 0.01;
                } else if between && difference <= 0.0 {
                    rate += if falling >= 5 { 0.05 } else { 0.01 };
                } else {
                    rate *= 1.0 - (beta * by).min(max_decrease);
                }
                rate = rate.clamp(0.01, 100.0);
                timely.on_ack(Ps::ZERO, &ack(Ps::from_ns(ns)));
                let gbps = timely.rate.gbps();
                prop_assert!((gbps / rate - 1.0).abs() < 1e-6, "{gbps} for {rate}");
                let pacing = timely.pacing().0 as f64 / 1e3;
                let expected = PATH.frame_bits as f64 / rate;
                prop_assert!((pacing / expected - 1.0).abs() < 1e-6, "{pacing} for {expected} ns");
            }
        }
    }

    #[test]
    fn a_connection_begins_with_its_share_of_the_link() {
        let of = |connections| Timely::new(&TimelyConfig::default(), &Path { connections, ..PATH });
        assert_eq!(of(1).rate(), Some(BitRate(100_000_000_000)));
        assert_eq!(of(12).rate(), Some(BitRate(100_000_000_000 / 12)));
        // Not below the least rate.
        assert_eq!(of(60_000).rate(), Some(BitRate(10_000_000)));
    }

    #[test]
    fn losses_of_a_round_trip_cut_the_rate_once() {
        let mut timely = Timely::new(&TimelyConfig::default(), &PATH);
        (0..3).for_each(|order| timely.on_fast_recovery(Ps::ZERO, Loss { order, next_order: 9 }));
        assert_eq!(timely.rate(), Some(BitRate(50_000_000_000)));
        timely.on_fast_recovery(Ps::ZERO, Loss { order: 9, next_order: 12 });
        assert_eq!(timely.rate(), Some(BitRate(25_000_000_000)));
        timely.on_timeout(Ps::ZERO, 12);
        assert_eq!(timely.rate(), Some(BitRate(12_500_000_000)));
    }

    #[test]
    fn one_acknowledgement_of_a_segment_changes_the_rate() {
        let mut timely = Timely::new(&TimelyConfig::default(), &Path { connections: 2, ..PATH });
        let rates = (0..8).map(|_| {
            timely.on_ack(Ps::ZERO, &ack(Ps::from_us(10)));
            // A needless copy is none of them.
            timely.on_ack(Ps::ZERO, &Feedback { duplicate: true, ..ack(Ps::from_us(10)) });
            timely.rate().unwrap().0 / 10_000_000
        });
        assert_eq!(rates.collect::<Vec<_>>(), [5000, 5000, 5000, 5001, 5001, 5001, 5001, 5002]);
    }
}
