//! Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
//! Datacenter", SIGCOMM 2020).
//!
//! Two windows follow the same rule, algorithm 1 of the paper, one on the fabric delay and one on
//! the endpoint delay; the smaller one applies (section 3.4). The fabric's target grows with the
//! number of hops and for small windows (section 3.5); the endpoint's is fixed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::{Window, pacing};
use super::{Control, Feedback, Loss, MAX_CWND, MAX_DELAY, MIN_CWND, Path, check_windows};
use crate::check::Check;
use crate::time::Ps;
use crate::transport::fixed;
use crate::units::{BitRate, Duration};

/// The parameters of Swift, named as in the paper's algorithm 1 and section 3.5 where they have a
/// name there. The paper gives no production values; unless stated otherwise, the defaults are
/// those of the public simulation by Broadcom and University College London (`csg-htsim`,
/// `sim/swift.cpp`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SwiftConfig {
    /// `ai`: packets added per round trip.
    pub additive_increase: f64,
    /// `beta`: decrease for a delay far above its target.
    pub beta: f64,
    /// `max_mdf`: largest decrease per round trip.
    pub max_mdf: f64,
    /// `min_cwnd`, in packets. The default of 0.001 is an estimate: with it, 1000 connections
    /// together send one packet per round trip.
    pub min_cwnd: f64,
    /// `max_cwnd`, in packets.
    pub max_cwnd: f64,
    /// The initial window of a connection, in packets; 1 is a choice, as in `csg-htsim` whoever sets up a simulation
    /// chooses it.
    pub initial_cwnd: f64,
    /// `RETX_RESET_THRESHOLD`: consecutive timeouts after which the window is set to its minimum.
    pub reset_after_timeouts: u32,
    /// Base target for the fabric delay.
    pub fabric_target: Duration,
    /// `h`: what each hop adds to the target.
    pub hop_target: Duration,
    /// Number of hops of a packet: 1, the switch (in `csg-htsim`, that of its route).
    pub hops: u32,
    /// `fs_range`: the most that flow scaling adds.
    pub flow_range: Duration,
    /// `fs_min_cwnd`: the window at which flow scaling adds all of it, in packets.
    pub flow_min_cwnd: f64,
    /// `fs_max_cwnd`: the window above which flow scaling adds nothing, in packets.
    pub flow_max_cwnd: f64,
    /// Target for the endpoint delay: 100 us in production ("Understanding Host Interconnect
    /// Congestion", HotNets 2022, section 3.1).
    pub endpoint_target: Duration,
}

impl Default for SwiftConfig {
    fn default() -> SwiftConfig {
        SwiftConfig {
            additive_increase: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.001,
            max_cwnd: 1000.0,
            initial_cwnd: 1.0,
            reset_after_timeouts: 5,
            fabric_target: Duration(20_000_000),
            // csg-htsim: the base target over 6.55.
            hop_target: Duration(3_053_435),
            hops: 1,
            flow_range: Duration(100_000_000),
            flow_min_cwnd: 0.1,
            flow_max_cwnd: 100.0,
            endpoint_target: Duration(100_000_000),
        }
    }
}

/// The parameters, in the form in which the model computes with them.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    additive_increase: u64,
    beta: u64,
    max_mdf: u64,
    reset_after: u32,
    /// Base target and topology scaling.
    fabric_base: Ps,
    endpoint_target: Ps,
    /// Flow scaling, in picoseconds: the factor of `1 / sqrt(cwnd)`, what is subtracted again, and
    /// the maximum that is added.
    flow_alpha: u64,
    flow_beta: u64,
    flow_range: u64,
}

impl Parameters {
    /// Target of the fabric delay for a window (section 3.5):
    /// `base + hops * h + max(0, min(alpha / sqrt(cwnd) + beta, range))`, where `beta` is not above
    /// zero.
    fn fabric_target(&self, cwnd: u64) -> Ps {
        let scaled = fixed::mul(self.flow_alpha, fixed::inverse_sqrt(cwnd));
        self.fabric_base + Ps(scaled.saturating_sub(self.flow_beta).min(self.flow_range))
    }
}

/// Lines 3 to 14, where `acked` (0 or 1) is the number of packets acknowledged for the first time.
/// Line 27 compares with `<=`. Taken literally, that would postpone every decrease as long as acknowledgements that
/// change nothing come less than a round trip apart; [`Window::set`] counts only an actual decrease as one.
fn on_ack(
    p: &Parameters,
    window: &mut Window,
    now: Ps,
    rtt: Ps,
    delay: Ps,
    target: Ps,
    acked: u64,
) {
    if delay < target {
        window.increase(now, p.additive_increase, acked);
    } else if window.can_decrease(now, rtt) {
        let excess = u128::from(p.beta) * u128::from((delay - target).0);
        let cut = (excess / u128::from(delay.0.max(1))) as u64;
        window.cut(now, cut.min(p.max_mdf));
    }
}

/// Lines 20, 21, 24 and 25.
fn on_loss(p: &Parameters, window: &mut Window, now: Ps, rtt: Ps) {
    if window.can_decrease(now, rtt) {
        window.cut(now, p.max_mdf);
    }
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Swift {
    parameters: Parameters,
    fabric: Window,
    endpoint: Window,
    /// The paper does not say which round-trip time it means; the smoothed one is what `csg-htsim`
    /// uses. Zero before the first acknowledgement.
    rtt: Ps,
    /// Timeouts since the last acknowledgement.
    timeouts: u32,
}

impl Control for Swift {
    type Config = SwiftConfig;

    const HEARS_MARKS: bool = false;

    fn check(config: &SwiftConfig, _link: BitRate, check: &mut Check) {
        check.within("additive_increase", config.additive_increase, 1e-6..=1000.0);
        check.within("beta", config.beta, 0.0..=1.0);
        check.within("max_mdf", config.max_mdf, 0.0..=0.999);
        check.within("min_cwnd", config.min_cwnd, MIN_CWND..=MAX_CWND);
        check_windows(check, config.min_cwnd, config.max_cwnd, config.initial_cwnd);
        check.within("reset_after_timeouts", config.reset_after_timeouts, 1..=u32::MAX);
        check.within("hops", config.hops, 0..=255);
        check.within("flow_min_cwnd", config.flow_min_cwnd, MIN_CWND..=MAX_CWND);
        // Equal windows would leave no range to scale over.
        check.within("flow_max_cwnd", config.flow_max_cwnd, 1.01 * config.flow_min_cwnd..=MAX_CWND);
        for (key, delay) in [
            ("fabric_target", config.fabric_target),
            ("hop_target", config.hop_target),
            ("flow_range", config.flow_range),
        ] {
            check.within(key, delay, Duration(0)..=MAX_DELAY);
        }
        // Every delay would be above a target of zero.
        check.within("endpoint_target", config.endpoint_target, Duration(1)..=MAX_DELAY);
    }

    fn new(config: &SwiftConfig, _path: &Path) -> Swift {
        let c = config;
        let (low, high) = (fixed::from_f64(c.flow_min_cwnd), fixed::from_f64(c.flow_max_cwnd));
        // alpha = range / (1 / sqrt(min) - 1 / sqrt(max)), beta = -alpha / sqrt(max).
        let roots = fixed::inverse_sqrt(low) - fixed::inverse_sqrt(high);
        let flow_alpha = fixed::div(c.flow_range.0, roots);
        let parameters = Parameters {
            additive_increase: fixed::from_f64(c.additive_increase),
            beta: fixed::from_f64(c.beta),
            max_mdf: fixed::from_f64(c.max_mdf),
            reset_after: c.reset_after_timeouts,
            fabric_base: Ps(c.fabric_target.0 + u64::from(c.hops) * c.hop_target.0),
            endpoint_target: c.endpoint_target.ps(),
            flow_alpha,
            flow_beta: fixed::mul(flow_alpha, fixed::inverse_sqrt(high)),
            flow_range: c.flow_range.0,
        };
        let window = Window::new(c.initial_cwnd, c.min_cwnd, c.max_cwnd);
        Swift { parameters, fabric: window, endpoint: window, rtt: Ps::ZERO, timeouts: 0 }
    }

    fn on_ack(&mut self, now: Ps, feedback: &Feedback) {
        let Feedback { rtt, smoothed_rtt, endpoint, duplicate, .. } = *feedback;
        let acked = u64::from(!duplicate);
        self.timeouts = 0;
        self.rtt = smoothed_rtt;
        let p = &self.parameters;
        let (fabric, target) = (rtt.saturating_sub(endpoint), p.fabric_target(self.fabric.cwnd()));
        on_ack(p, &mut self.fabric, now, smoothed_rtt, fabric, target, acked);
        on_ack(p, &mut self.endpoint, now, smoothed_rtt, endpoint, p.endpoint_target, acked);
    }

    fn on_fast_recovery(&mut self, now: Ps, _loss: Loss) {
        self.timeouts = 0;
        for window in [&mut self.fabric, &mut self.endpoint] {
            on_loss(&self.parameters, window, now, self.rtt);
        }
    }

    fn on_timeout(&mut self, now: Ps, _next_order: u64) {
        let p = &self.parameters;
        self.timeouts += 1;
        for window in [&mut self.fabric, &mut self.endpoint] {
            if self.timeouts >= p.reset_after {
                // The least that is allowed.
                window.set(now, 0);
            } else {
                on_loss(p, window, now, self.rtt);
            }
        }
    }

    fn window(&self) -> u64 {
        self.fabric.cwnd().min(self.endpoint.cwnd())
    }

    /// Lines 29 to 32.
    fn pacing(&self) -> Ps {
        pacing(self.window(), self.rtt)
    }

    fn limited_by_host(&self) -> Option<bool> {
        Some(self.endpoint.cwnd() < self.fabric.cwnd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::control::PATH;
    use proptest::prelude::*;

    /// Algorithm 1 and section 3.5 in floating point, times in microseconds, for one of the two windows.
    struct Published {
        config: SwiftConfig,
        cwnd: f64,
        /// Exact, because whether a round trip has passed is decided to the picosecond.
        last_decrease: Ps,
        retransmits: u32,
        rtt: Ps,
    }

    fn us(duration: crate::units::Duration) -> f64 {
        duration.0 as f64 / 1e6
    }

    impl Published {
        fn target(&self, fabric: bool) -> f64 {
            let c = &self.config;
            if !fabric {
                return us(c.endpoint_target);
            }
            let alpha =
                us(c.flow_range) / (1.0 / c.flow_min_cwnd.sqrt() - 1.0 / c.flow_max_cwnd.sqrt());
            let beta = -alpha / c.flow_max_cwnd.sqrt();
            let flow = (alpha / self.cwnd.sqrt() + beta).min(us(c.flow_range)).max(0.0);
            us(c.fabric_target) + f64::from(c.hops) * us(c.hop_target) + flow
        }

        fn finish(&mut self, now: Ps, cwnd: f64) {
            let cwnd = cwnd.clamp(self.config.min_cwnd, self.config.max_cwnd);
            if cwnd < self.cwnd {
                self.last_decrease = now;
            }
            self.cwnd = cwnd;
        }

        fn ack(&mut self, now: Ps, delay: f64, target: f64) {
            self.retransmits = 0;
            let c = &self.config;
            let mut cwnd = self.cwnd;
            if delay < target {
                cwnd += if cwnd >= 1.0 { c.additive_increase / cwnd } else { c.additive_increase };
            } else if now - self.last_decrease >= self.rtt {
                cwnd *= (1.0 - c.beta * (delay - target) / delay).max(1.0 - c.max_mdf);
            }
            self.finish(now, cwnd);
        }

        fn loss(&mut self, now: Ps, timeout: bool) {
            self.retransmits = if timeout { self.retransmits + 1 } else { 0 };
            if self.retransmits >= self.config.reset_after_timeouts {
                self.finish(now, self.config.min_cwnd);
            } else if now - self.last_decrease >= self.rtt {
                self.finish(now, self.cwnd * (1.0 - self.config.max_mdf));
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Ack { fabric_ns: u64, endpoint_ns: u64 },
        FastRecovery,
        Timeout,
    }

    fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
        let step = prop_oneof![
            12 => (1u64..400_000, 1u64..300_000)
                .prop_map(|(fabric_ns, endpoint_ns)| Step::Ack { fabric_ns, endpoint_ns }),
            1 => Just(Step::FastRecovery),
            4 => Just(Step::Timeout),
        ];
        prop::collection::vec((1u64..100_000, step), 1..300)
    }

    fn configs() -> impl Strategy<Value = SwiftConfig> {
        let shape = (0.1f64..4.0, 0.1f64..1.0, 0.1f64..0.9, 0u32..8, 1u64..200);
        (shape, 1u32..5, 2.0f64..12.0).prop_map(
            |((additive_increase, beta, max_mdf, hops, range_us), timeouts, max_cwnd)| {
                SwiftConfig {
                    reset_after_timeouts: timeouts,
                    max_cwnd,
                    initial_cwnd: 1.0,
                    additive_increase,
                    beta,
                    max_mdf,
                    hops,
                    flow_range: crate::units::Duration(range_us * 1_000_000),
                    ..SwiftConfig::default()
                }
            },
        )
    }

    proptest! {
        #[test]
        fn it_follows_the_published_equations(config in configs(), steps in steps()) {
            let mut swift = Swift::new(&config, &PATH);
            let published = |config: &SwiftConfig| Published {
                config: config.clone(),
                cwnd: config.initial_cwnd,
                last_decrease: Ps::ZERO,
                retransmits: 0,
                rtt: Ps::ZERO,
            };
            let (mut fabric, mut endpoint) = (published(&config), published(&config));
            let mut now = Ps::ZERO;
            for (gap_ns, step) in steps {
                now += Ps::from_ns(gap_ns);
                match step {
                    Step::Ack { fabric_ns, endpoint_ns } => {
                        let rtt = Ps::from_ns(fabric_ns + endpoint_ns);
                        let endpoint_ps = Ps::from_ns(endpoint_ns);
                        let smoothed_rtt = match fabric.rtt {
                            Ps::ZERO => rtt,
                            before => Ps((7 * before.0 + rtt.0) / 8),
                        };
                        (fabric.rtt, endpoint.rtt) = (smoothed_rtt, smoothed_rtt);
                        let target = fabric.target(true);
                        // Where rounding decides which side of the target a delay is on, the two
                        // may differ for good; such a step proves nothing.
                        prop_assume!((target - fabric_ns as f64 / 1e3).abs() > 1e-5);
                        fabric.ack(now, fabric_ns as f64 / 1e3, target);
                        let target = endpoint.target(false);
                        endpoint.ack(now, endpoint_ns as f64 / 1e3, target);
                        let delays = Feedback {
                            rtt,
                            smoothed_rtt,
                            endpoint: endpoint_ps,
                            ..Feedback::default()
                        };
                        swift.on_ack(now, &delays);
                    }
                    Step::FastRecovery => {
                        fabric.loss(now, false);
                        endpoint.loss(now, false);
                        swift.on_fast_recovery(now, Loss { order: 0, next_order: 0 });
                    }
                    Step::Timeout => {
                        fabric.loss(now, true);
                        endpoint.loss(now, true);
                        swift.on_timeout(now, 0);
                    }
                }
                for (ours, published) in [(&swift.fabric, &fabric), (&swift.endpoint, &endpoint)] {
                    let cwnd = fixed::to_f64(ours.cwnd());
                    let error = (cwnd - published.cwnd).abs() / published.cwnd;
                    prop_assert!(error < 1e-6, "{step:?}: {cwnd} for {}", published.cwnd);
                }
                let least = fabric.cwnd.min(endpoint.cwnd);
                let rtt = fabric.rtt.0 as f64 / 1e6;
                let pacing = if least < 1.0 { rtt / least } else { 0.0 };
                let ours = swift.pacing().0 as f64 / 1e6;
                prop_assert!((ours - pacing).abs() <= 1e-6 * pacing + 1e-6, "{ours} for {pacing}");
            }
        }
    }

    #[test]
    fn the_window_of_the_delay_that_is_above_its_target_counts() {
        let (short, long) = (Ps::from_us(10), Ps::from_us(400));
        for (rtt, endpoint, host) in [(long, long - short, true), (long, short, false)] {
            let mut swift =
                Swift::new(&SwiftConfig { initial_cwnd: 4.0, ..SwiftConfig::default() }, &PATH);
            assert_eq!(swift.limited_by_host(), Some(false));
            let smoothed_rtt = rtt;
            let delays = Feedback { rtt, smoothed_rtt, endpoint, ..Feedback::default() };
            swift.on_ack(Ps::from_us(1000), &delays);
            assert_eq!(swift.limited_by_host(), Some(host));
        }
    }

    #[test]
    fn the_flow_scaled_target_spans_its_range_between_the_two_windows() {
        let config = SwiftConfig::default();
        let swift = Swift::new(&config, &PATH);
        let base = config.fabric_target.0 + u64::from(config.hops) * config.hop_target.0;
        let added = |cwnd| swift.parameters.fabric_target(fixed::from_f64(cwnd)).0 - base;
        assert!(added(config.flow_max_cwnd) <= 1000);
        assert!(added(config.flow_min_cwnd).abs_diff(config.flow_range.0) <= 1000);
        assert_eq!(added(config.flow_min_cwnd / 10.0), config.flow_range.0);
        assert_eq!(added(config.flow_max_cwnd * 10.0), 0);
        assert!(added(1.0) > added(2.0));
    }
}
