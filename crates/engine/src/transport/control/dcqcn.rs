//! DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015).
//!
//! A marked packet makes the receiver notify the sender, at most once in an interval. A notification cuts the rate;
//! without any, a timer and a count of bytes raise it again, and another timer lets the share of a cut decay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rate::Rate;
use super::{Control, Feedback, Loss, MAX_DELAY, Path, check_min_rate};
use crate::check::Check;
use crate::frame::MAX_LINK;
use crate::time::Ps;
use crate::transport::fixed::{self, ONE};
use crate::units::{BitRate, Duration, Size};

/// The parameters of DCQCN, with the names of the paper's algorithm 1. The defaults of `gain`, `notification_interval`,
/// `alpha_timer`, `recoveries`, `additive_increase` and `hyper_increase` are those of the authors' ns-3 model
/// (bobzhuyb/ns3-rdma, windows/ns-3-dev/mix/config.txt). It has 60 us for the other timer, and another count of bytes;
/// the values here are those that the paper recommends, quoted from memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DcqcnConfig {
    /// `g`: weight of the newest notification in `alpha`, of which a cut takes half.
    pub gain: f64,
    /// `N`: marks within this time after a notification make no other.
    pub notification_interval: Duration,
    /// `K`: after so long without a notification, and every so long from then on, `alpha` decays.
    pub alpha_timer: Duration,
    /// `T`: after so long without a notification, and every so long from then on, the rate is raised.
    pub increase_timer: Duration,
    /// `B`: the rate is also raised whenever so much has been sent.
    pub byte_counter: Size,
    /// `F`: the first so many times by the timer or by bytes, the rate goes half of the way back to what it was before
    /// the cut.
    pub recoveries: u32,
    /// `R_AI`: what is then added to the rate that it goes half of the way to.
    pub additive_increase: BitRate,
    /// `R_HAI`: the same, once both the timer and the bytes have raised it more than `recoveries` times.
    pub hyper_increase: BitRate,
    /// The least rate of a connection: one `additive_increase`, a choice.
    pub min_rate: BitRate,
}

impl Default for DcqcnConfig {
    fn default() -> DcqcnConfig {
        DcqcnConfig {
            gain: 1.0 / 256.0,
            notification_interval: Duration(50_000_000),
            alpha_timer: Duration(55_000_000),
            increase_timer: Duration(55_000_000),
            byte_counter: Size(10_000_000),
            recoveries: 5,
            additive_increase: BitRate(40_000_000),
            hyper_increase: BitRate(200_000_000),
            min_rate: BitRate(40_000_000),
        }
    }
}

/// What runs from the first notification on.
#[derive(Clone, Copy, Debug)]
struct Running {
    notified: Ps,
    alpha_due: Ps,
    increase_due: Ps,
    /// Sent since the count of bytes last raised the rate.
    bits: u64,
    /// How often the timer and the bytes have raised the rate since the last notification.
    by_timer: u32,
    by_bytes: u32,
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Dcqcn {
    config: DcqcnConfig,
    gain: u64,
    frame_bits: u64,
    /// `R_C` and `R_T`.
    rate: Rate,
    target: Rate,
    /// `alpha`.
    alpha: u64,
    /// Before the first notification the connection sends at the rate of its link.
    running: Option<Running>,
}

impl Dcqcn {
    /// A notification reaches the sender.
    fn notify(&mut self, now: Ps) {
        let interval = self.config.notification_interval.ps();
        if self.running.is_some_and(|running| now < running.notified + interval) {
            return;
        }
        self.target = self.rate.clone();
        self.rate.cut(self.alpha / 2);
        self.alpha = fixed::mul(self.alpha, ONE - self.gain) + self.gain;
        self.running = Some(Running {
            notified: now,
            alpha_due: now + self.config.alpha_timer.ps(),
            increase_due: now + self.config.increase_timer.ps(),
            bits: 0,
            by_timer: 0,
            by_bytes: 0,
        });
    }

    /// The timer or the bytes raise the rate, which each has done so often before.
    fn raise(&mut self, by_timer: u32, by_bytes: u32) {
        let recoveries = self.config.recoveries;
        if by_timer.min(by_bytes) > recoveries {
            self.target.increase(self.config.hyper_increase);
        } else if by_timer.max(by_bytes) >= recoveries {
            self.target.increase(self.config.additive_increase);
        }
        self.rate.approach(&self.target);
    }
}

impl Control for Dcqcn {
    type Config = DcqcnConfig;

    const HEARS_MARKS: bool = true;

    fn check(config: &DcqcnConfig, link: BitRate, check: &mut Check) {
        let c = config;
        check.within("gain", c.gain, 1e-6..=1.0);
        check.within("notification_interval", c.notification_interval, Duration(0)..=MAX_DELAY);
        // A timer that runs more often than packets come is only work.
        let timers = Duration(100_000)..=MAX_DELAY;
        check.within("alpha_timer", c.alpha_timer, timers.clone());
        check.within("increase_timer", c.increase_timer, timers);
        check.within("byte_counter", c.byte_counter, Size(1)..=Size(1 << 40));
        check.within("recoveries", c.recoveries, 0..=1000);
        check.within("additive_increase", c.additive_increase, BitRate(1)..=MAX_LINK);
        check.within("hyper_increase", c.hyper_increase, BitRate(1)..=MAX_LINK);
        check_min_rate(check, c.min_rate, link);
    }

    fn new(config: &DcqcnConfig, path: &Path) -> Dcqcn {
        let rate = Rate::new(path.link, config.min_rate, path);
        Dcqcn {
            gain: fixed::from_f64(config.gain),
            frame_bits: path.frame_bits,
            target: rate.clone(),
            rate,
            alpha: ONE,
            running: None,
            config: config.clone(),
        }
    }

    fn on_ack(&mut self, now: Ps, feedback: &Feedback) {
        if feedback.marked {
            self.notify(now);
        }
    }

    /// The paper's network loses nothing (PFC). Here a loss is a notification.
    fn on_fast_recovery(&mut self, now: Ps, _loss: Loss) {
        self.notify(now);
    }

    fn on_timeout(&mut self, now: Ps, _next_order: u64) {
        self.notify(now);
    }

    fn on_sent(&mut self) {
        let Some(running) = &mut self.running else {
            return;
        };
        running.bits += self.frame_bits;
        if running.bits >= 8 * self.config.byte_counter.0 {
            running.bits = 0;
            let (by_timer, by_bytes) = (running.by_timer, running.by_bytes);
            running.by_bytes += 1;
            self.raise(by_timer, by_bytes);
        }
    }

    fn timer(&self) -> Option<Ps> {
        self.running.map(|running| running.alpha_due.min(running.increase_due))
    }

    fn on_timer(&mut self, now: Ps) {
        let Some(running) = &mut self.running else {
            return;
        };
        if running.alpha_due <= now {
            running.alpha_due = now + self.config.alpha_timer.ps();
            self.alpha = fixed::mul(self.alpha, ONE - self.gain);
        }
        if running.increase_due <= now {
            running.increase_due = now + self.config.increase_timer.ps();
            let (by_timer, by_bytes) = (running.by_timer, running.by_bytes);
            running.by_timer += 1;
            self.raise(by_timer, by_bytes);
        }
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

    fn marked() -> Feedback {
        Feedback { marked: true, ..Feedback::default() }
    }

    /// The timer runs as the network runs it: whenever it is due, up to `now`.
    fn run_until(dcqcn: &mut Dcqcn, now: Ps) {
        while let Some(at) = dcqcn.timer().filter(|&at| at <= now) {
            dcqcn.on_timer(at);
        }
    }

    proptest! {
        /// Algorithm 1 in floating point: rates in Gbit/s, times in ns.
        #[test]
        fn it_follows_the_published_equations(
            // After how long there is a packet, and whether it is marked.
            packets in prop::collection::vec((100u64..400_000, prop::bool::weighted(0.3)), 1..200),
            gain in 0.01f64..1.0,
            recoveries in 0u32..4,
            byte_counter in 4_000u64..40_000,
        ) {
            let byte_counter = Size(byte_counter);
            let config = DcqcnConfig { gain, recoveries, byte_counter, ..DcqcnConfig::default() };
            let mut dcqcn = Dcqcn::new(&config, &PATH);
            let (mut rate, mut target, mut alpha) = (100.0f64, 100.0f64, 1.0f64);
            let (mut notified, mut by_timer, mut by_bytes, mut bytes) = (None, 0, 0, 0.0);
            let (mut alpha_due, mut increase_due) = (u64::MAX, u64::MAX);
            let raise = |rate: &mut f64, target: &mut f64, t: u32, b: u32| {
                if t.min(b) > recoveries {
                    *target += 0.2;
                } else if t.max(b) >= recoveries {
                    *target += 0.04;
                }
                *target = target.min(100.0);
                *rate = (*rate + *target) / 2.0;
            };
            let mut now = 0;
            for (after, is_marked) in packets {
                now += after;
                run_until(&mut dcqcn, Ps::from_ns(now));
                while alpha_due.min(increase_due) <= now {
                    if alpha_due <= increase_due {
                        alpha *= 1.0 - gain;
                        alpha_due += 55_000;
                    } else {
                        raise(&mut rate, &mut target, by_timer, by_bytes);
                        by_timer += 1;
                        increase_due += 55_000;
                    }
                }
                dcqcn.on_sent();
                if notified.is_some() {
                    bytes += PATH.frame_bits as f64 / 8.0;
                    if bytes >= byte_counter.0 as f64 {
                        raise(&mut rate, &mut target, by_timer, by_bytes);
                        by_bytes += 1;
                        bytes = 0.0;
                    }
                }
                let feedback = Feedback { marked: is_marked, ..Feedback::default() };
                dcqcn.on_ack(Ps::from_ns(now), &feedback);
                if is_marked && notified.is_none_or(|at| now >= at + 50_000) {
                    target = rate;
                    rate = (rate * (1.0 - alpha / 2.0)).max(0.04);
                    alpha = (1.0 - gain) * alpha + gain;
                    (notified, by_timer, by_bytes, bytes) = (Some(now), 0, 0, 0.0);
                    (alpha_due, increase_due) = (now + 55_000, now + 55_000);
                }
                prop_assert!((dcqcn.rate.gbps() / rate - 1.0).abs() < 1e-6, "{rate}");
                prop_assert!((dcqcn.target.gbps() / target - 1.0).abs() < 1e-6, "{target}");
                prop_assert!((fixed::to_f64(dcqcn.alpha) - alpha).abs() < 1e-6, "{alpha}");
            }
        }
    }

    #[test]
    fn a_connection_sends_at_the_rate_of_its_link_until_it_is_notified() {
        let mut dcqcn = Dcqcn::new(&DcqcnConfig::default(), &PATH);
        dcqcn.on_ack(Ps::from_us(9), &Feedback::default());
        assert_eq!((dcqcn.rate(), dcqcn.timer()), (Some(PATH.link), None));
        dcqcn.on_ack(Ps::from_us(10), &marked());
        assert_eq!(dcqcn.rate(), Some(BitRate(50_000_000_000)));
        assert_eq!(dcqcn.timer(), Some(Ps::from_us(65)));
    }

    #[test]
    fn losses_are_notifications_of_which_there_is_one_in_an_interval() {
        let mut dcqcn = Dcqcn::new(&DcqcnConfig::default(), &PATH);
        let loss = Loss { order: 0, next_order: 1 };
        for us in [0, 10, 49] {
            dcqcn.on_fast_recovery(Ps::from_us(us), loss);
            dcqcn.on_timeout(Ps::from_us(us), 1);
            dcqcn.on_ack(Ps::from_us(us), &marked());
            assert_eq!(dcqcn.rate(), Some(BitRate(50_000_000_000)), "{us}");
        }
        dcqcn.on_timeout(Ps::from_us(50), 1);
        assert_eq!(dcqcn.rate(), Some(BitRate(25_000_000_000)));
    }

    /// Five times half of the way back, and then on.
    #[test]
    fn the_timer_brings_the_rate_back() {
        let mut dcqcn = Dcqcn::new(&DcqcnConfig::default(), &PATH);
        dcqcn.on_ack(Ps::ZERO, &marked());
        dcqcn.on_ack(Ps::from_us(50), &marked());
        let gbps = |dcqcn: &Dcqcn| (1e3 * dcqcn.rate.gbps()).round() / 1e3;
        assert_eq!((gbps(&dcqcn), dcqcn.target.gbps()), (25.0, 50.0));
        let rates = (1..=6).map(|n| {
            run_until(&mut dcqcn, Ps::from_us(50 + 55 * n));
            gbps(&dcqcn)
        });
        assert_eq!(rates.collect::<Vec<_>>(), [37.5, 43.75, 46.875, 48.438, 49.219, 49.629]);
        assert_eq!(dcqcn.target.gbps(), 50.04);
    }
}
