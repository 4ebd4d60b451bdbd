//! HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019): a window by what the queues on the way
//! tell of themselves.
//!
//! Algorithm 1 of the paper, with a window as the state and a rate of that window over the base round trip. The paper's
//! network is lossless (PFC), and it has no reaction to loss. Here losses cut the window once in a round trip, by
//! `loss_decrease`. The paper's hops are ports of switches; the server's NIC, which the paper does not have, is one more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, Feedback, Loss, MAX_CWND, MAX_DELAY, MIN_CWND, Path};
use crate::check::Check;
use crate::time::{PS_PER_S, Ps};
use crate::transport::fixed::{self, ONE};
use crate::transport::telemetry::{Hop, Telemetry};
use crate::units::{BitRate, Duration};

/// The parameters of HPCC, with the names of the paper's algorithm 1 where they have one. The defaults of
/// `target_utilisation`, `max_stage` and `base_rtt` are the paper's, quoted from memory; `min_cwnd` is Swift's here, and `flows`
/// a choice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HpccConfig {
    /// `eta`: the utilisation of the busiest hop that it aims at, 0 to 1.
    pub target_utilisation: f64,
    /// `maxStage`: round trips in a row of additive increase alone, after which the window follows the utilisation.
    pub max_stage: u32,
    /// `T`: the round trip without queues. A window of the sender's link times this fills the link.
    pub base_rtt: Duration,
    /// `N`: how many connections may share a hop. `W_AI`, the additive increase, is what the target leaves free of the
    /// sender's link times `base_rtt`, over so many.
    pub flows: u32,
    /// Whether the server's NIC is a hop: the queue in its SRAM and what leaves that, relative to the server's link. (Not in
    /// the paper, whose hops are switches.)
    pub server_hop: bool,
    /// What a loss takes of the window, once in a round trip: half, as in TCP; not in the paper.
    pub loss_decrease: f64,
    /// Minimum congestion window, packets.
    pub min_cwnd: f64,
    /// Maximum congestion window, packets. Absent: the sender's link times `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<f64>,
    /// Window of a new connection, packets. Absent: the sender's link times `base_rtt` over the number of its connections,
    /// which all may be active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<f64>,
}

impl Default for HpccConfig {
    fn default() -> HpccConfig {
        HpccConfig {
            target_utilisation: 0.95,
            max_stage: 5,
            base_rtt: Duration(13_000_000),
            flows: 100,
            server_hop: true,
            loss_decrease: 0.5,
            min_cwnd: 0.001,
            max_cwnd: None,
            initial_cwnd: None,
        }
    }
}

/// The state of a connection. Windows are in packets of [`ONE`].
#[derive(Clone, Debug)]
pub(crate) struct Hpcc {
    target: u64,
    max_stage: u32,
    base_rtt: Ps,
    additive: u64,
    loss_decrease: u64,
    min: u64,
    max: u64,
    server_link: BitRate,
    server_hop: bool,
    /// `W`.
    window: u64,
    /// `Wc`: the window a round trip ago, from which all acknowledgements of this one compute theirs.
    reference: u64,
    stage: u32,
    /// `U`: the utilisation of the busiest hop, smoothed, the whole being [`ONE`].
    utilisation: u64,
    /// What the hops told last.
    told: Option<Telemetry>,
    /// The acknowledgement of this transmission, or of a later one, moves the reference.
    update_from: u64,
    /// Losses before this transmission have been reacted to.
    recovered: u64,
    by_host: bool,
}

impl Hpcc {
    /// `txRate / B + min(qlen, qlen before) / (B T)` of a hop since it told last, and the time since then.
    fn of_hop(&self, last: &Hop, hop: &Hop) -> Option<(u64, Ps)> {
        let since = hop.at.0.checked_sub(last.at.0).filter(|&since| since > 0)?;
        let share = |bits: u64, time: u64| {
            let of = u128::from(self.server_link.0) * u128::from(time);
            let share = (u128::from(bits) * PS_PER_S * u128::from(ONE)) / of.max(1);
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let carried = share(hop.sent_bits.saturating_sub(last.sent_bits), since);
        let queue = share(hop.queue_bits.min(last.queue_bits), self.base_rtt.0);
        Some((carried.saturating_add(queue), Ps(since)))
    }

    /// `MeasureInflight`.
    fn measure(&mut self, told: &Telemetry) {
        let Some(last) = self.told.replace(*told) else { return };
        let port = self.of_hop(&last.switch, &told.switch);
        let nic = self.of_hop(&last.nic, &told.nic).filter(|_| self.server_hop);
        let busier = port.into_iter().chain(nic).max_by_key(|hop| hop.0);
        let Some((u, since)) = busier else { return };
        self.by_host = nic.is_some_and(|nic| port.is_none_or(|port| nic.0 > port.0));
        let weight = fixed::div(since.min(self.base_rtt).0, self.base_rtt.0);
        let old = fixed::mul(self.utilisation, ONE - weight);
        self.utilisation = old.saturating_add(fixed::mul(u, weight));
    }

    /// `ComputeWind`; `moves` says whether the reference moves.
    fn compute(&mut self, moves: bool) {
        let mut stage = self.stage + 1;
        let mut window = self.reference;
        if self.utilisation >= self.target || self.stage >= self.max_stage {
            window = fixed::div(fixed::mul(window, self.target), self.utilisation.max(1));
            stage = 0;
        }
        self.window = window.saturating_add(self.additive).clamp(self.min, self.max);
        if moves {
            (self.reference, self.stage) = (self.window, stage);
        }
    }

    /// Losses of what was sent before `next_order` are reacted to once.
    fn lose(&mut self, next_order: u64) {
        self.recovered = next_order;
        self.window = fixed::mul(self.window, ONE - self.loss_decrease).max(self.min);
        (self.reference, self.stage) = (self.window, 0);
    }
}

impl Control for Hpcc {
    type Config = HpccConfig;

    const HEARS_MARKS: bool = false;

    fn check(config: &HpccConfig, _link: BitRate, check: &mut Check) {
        let c = config;
        check.within("target_utilisation", c.target_utilisation, 0.01..=1.0);
        check.within("max_stage", c.max_stage, 0..=1000);
        check.within("base_rtt", c.base_rtt, Duration(1)..=MAX_DELAY);
        check.at_least_one("flows", c.flows);
        check.within("loss_decrease", c.loss_decrease, 0.0..=1.0);
        check.within("min_cwnd", c.min_cwnd, MIN_CWND..=MAX_CWND);
        let most = c.max_cwnd.unwrap_or(MAX_CWND);
        if c.min_cwnd <= MAX_CWND {
            check.within_what(
                "max_cwnd",
                most,
                c.min_cwnd..=MAX_CWND,
                ", the first being min_cwnd",
            );
        }
        if let Some(first) = c.initial_cwnd.filter(|_| c.min_cwnd <= most) {
            let what = ", which are min_cwnd and max_cwnd";
            check.within_what("initial_cwnd", first, c.min_cwnd..=most, what);
        }
    }

    fn new(config: &HpccConfig, path: &Path) -> Hpcc {
        let c = config;
        let bits = u128::from(path.link.0) * u128::from(c.base_rtt.0) * u128::from(ONE);
        let all = u64::try_from(bits / (PS_PER_S * u128::from(path.frame_bits)));
        let all = all.unwrap_or(u64::MAX).min(fixed::from_f64(MAX_CWND));
        let min = fixed::from_f64(c.min_cwnd);
        let max = c.max_cwnd.map_or(all, fixed::from_f64).max(min);
        let first = c.initial_cwnd.map_or(all / u64::from(path.connections), fixed::from_f64);
        let target = fixed::from_f64(c.target_utilisation);
        let first = first.clamp(min, max);
        Hpcc {
            target,
            max_stage: c.max_stage,
            base_rtt: c.base_rtt.ps(),
            additive: fixed::mul(all, ONE - target) / u64::from(c.flows),
            loss_decrease: fixed::from_f64(c.loss_decrease),
            min,
            max,
            server_link: path.server_link,
            server_hop: c.server_hop,
            window: first,
            reference: first,
            stage: 0,
            utilisation: ONE,
            told: None,
            update_from: 0,
            recovered: 0,
            by_host: false,
        }
    }

    fn on_ack(&mut self, _now: Ps, feedback: &Feedback) {
        if feedback.duplicate {
            return;
        }
        let first = self.told.is_none();
        self.measure(&feedback.telemetry);
        // Of the first acknowledgement there is nothing to compare with.
        let moves = feedback.order >= self.update_from;
        if !first {
            self.compute(moves);
        }
        if moves {
            self.update_from = feedback.next_order;
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

    fn window(&self) -> u64 {
        self.window
    }

    /// `R = W / T`.
    fn pacing(&self) -> Ps {
        Ps(fixed::div(self.base_rtt.0, self.window))
    }

    fn limited_by_host(&self) -> Option<bool> {
        Some(self.by_host)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transport::control::PATH;

    fn hop(ns: u64, sent_bits: u64, queue_bits: u64) -> Hop {
        Hop { at: Ps::from_ns(ns), sent_bits, queue_bits }
    }

    proptest! {
        /// Algorithm 1 in floating point, times in ns. A round trip has three acknowledgements.
        #[test]
        fn it_follows_the_published_equations(
            steps in prop::collection::vec((1u64..40_000, 0u64..5_000_000, 0u64..4_000_000, 0u64..4_000_000), 2..120),
            target in 0.5f64..1.0,
            max_stage in 0u32..8,
            server_hop in any::<bool>(),
        ) {
            let config = HpccConfig {
                target_utilisation: target, max_stage, server_hop, max_cwnd: Some(200.0), initial_cwnd: Some(20.0),
                ..HpccConfig::default()
            };
            let mut hpcc = Hpcc::new(&config, &PATH);
            let (t, b) = (13_000.0, 100.0);
            let additive = b * t / PATH.frame_bits as f64 * (1.0 - target) / 100.0;
            let (mut reference, mut stage, mut u) = (20.0f64, 0, 1.0f64);
            let (mut now, mut sent, mut last) = (0, [0u64; 2], None::<[u64; 2]>);
            for (order, (ns, bits, at_switch, at_nic)) in (0u64..).zip(steps) {
                now += ns;
                sent = [sent[0] + bits, sent[1] + bits / 2];
                let queues = [at_switch, at_nic];
                let [switch, nic] = [0, 1].map(|i| hop(now, sent[i], queues[i]));
                let next_order = order - order % 3 + 3;
                let telemetry = Telemetry { switch, nic };
                let was_first = last.is_none();
                hpcc.on_ack(Ps::ZERO, &Feedback { order, next_order, telemetry, ..Feedback::default() });
                if let Some(before) = last {
                    let carried = [bits as f64, (sent[1] - (sent[1] - bits / 2)) as f64].map(|d| d / ns as f64 / b);
                    let of = |i: usize| carried[i] + before[i].min(queues[i]) as f64 / (b * t);
                    let busiest = if server_hop { of(0).max(of(1)) } else { of(0) };
                    let tau = (ns as f64).min(t);
                    u = (1.0 - tau / t) * u + tau / t * busiest;
                }
                last = Some(queues);
                if was_first {
                    continue;
                }
                // Rounding may decide about a hair.
                prop_assume!((u - target).abs() > 1e-6);
                let follows = u >= target || stage >= max_stage;
                let window = if follows { reference / (u / target) } else { reference } + additive;
                let window = window.clamp(0.001, 200.0);
                if order % 3 == 0 {
                    (reference, stage) = (window, if follows { 0 } else { stage + 1 });
                }
                let got = fixed::to_f64(hpcc.window());
                prop_assert!((got / window - 1.0).abs() < 1e-6, "{got} for {window}, u {u}");
                let pacing = hpcc.pacing().0 as f64 / 1e3;
                prop_assert!((pacing / (t / window) - 1.0).abs() < 1e-5, "{pacing} ns");
            }
        }
    }

    #[test]
    fn a_connection_begins_with_its_share_of_the_link() {
        let of = |connections| {
            let hpcc = Hpcc::new(&HpccConfig::default(), &Path { connections, ..PATH });
            fixed::to_f64(hpcc.window())
        };
        // 1.3 Mbit of frames of 35 616 bits.
        assert!((of(1) - 36.5).abs() < 0.01, "{}", of(1));
        assert!((of(12) * 12.0 - 36.5).abs() < 0.01, "{}", of(12));
    }

    #[test]
    fn losses_of_a_round_trip_cut_the_window_once() {
        let config = HpccConfig { initial_cwnd: Some(8.0), ..HpccConfig::default() };
        let mut hpcc = Hpcc::new(&config, &PATH);
        (0..3).for_each(|order| hpcc.on_fast_recovery(Ps::ZERO, Loss { order, next_order: 9 }));
        assert_eq!(hpcc.window(), 4 * ONE);
        hpcc.on_timeout(Ps::ZERO, 12);
        assert_eq!(hpcc.window(), 2 * ONE);
        hpcc.on_fast_recovery(Ps::ZERO, Loss { order: 11, next_order: 12 });
        assert_eq!(hpcc.window(), 2 * ONE);
    }

    #[test]
    fn the_busier_hop_is_told() {
        let mut hpcc = Hpcc::new(&HpccConfig::default(), &PATH);
        let mut ack = |ns, switch, nic| {
            let telemetry = Telemetry { switch: hop(ns, 0, switch), nic: hop(ns, 0, nic) };
            hpcc.on_ack(Ps::ZERO, &Feedback { telemetry, ..Feedback::default() });
            hpcc.limited_by_host()
        };
        let told = [(1, 5, 9), (2, 5, 9), (3, 9, 5), (4, 9, 5)].map(|(ns, s, n)| ack(ns, s, n));
        // What was there both times counts: nothing the first time, and as much of both the third.
        assert_eq!(told, [Some(false), Some(true), Some(false), Some(false)]);
    }
}
