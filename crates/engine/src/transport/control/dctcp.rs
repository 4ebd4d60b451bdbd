//! DCTCP (Alizadeh et al., "Data Center TCP", SIGCOMM 2010, section 3.1; RFC 8257).
//!
//! The sender estimates the fraction of marked packets once per window of data, equation (1), and
//! cuts its window by half of that estimate if any packet of the window was marked, equation (2).
//! Slow start, additive increase and the reaction to loss are TCP's (RFC 5681; RFC 8257, section 3.5). Losses of
//! one window of data halve it once, and its marks are then no further reason to cut. Where marks have cut it
//! before, perhaps by little, losses halve it all the same (as in Linux, `dctcp_react_to_loss`; the RFC has one cut
//! for all signals of a window). It does not grow while losses are recovered (RFC 6675). As in Linux
//! (`tcp_is_cwnd_limited`), a window that was not full does not grow: nothing has tested whether the network takes
//! that much.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Control, Feedback, Loss, MAX_CWND, Path, check_windows};
use crate::check::Check;
use crate::time::Ps;
use crate::transport::fixed::{self, ONE};
use crate::units::BitRate;

/// The parameters of DCTCP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DctcpConfig {
    /// `g`: weight of each window of data in the estimate (paper, section 3.4: 1/16).
    pub gain: f64,
    /// Minimum window after marks and losses, in packets; 2 as in Linux (`dctcp_ssthresh`). A timeout
    /// leaves one packet, as in TCP.
    pub min_cwnd: f64,
    /// Maximum window, in packets.
    pub max_cwnd: f64,
    /// The initial window of a connection, in packets (RFC 6928: 10).
    pub initial_cwnd: f64,
}

impl Default for DctcpConfig {
    fn default() -> DctcpConfig {
        DctcpConfig { gain: 1.0 / 16.0, min_cwnd: 2.0, max_cwnd: 1000.0, initial_cwnd: 10.0 }
    }
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    gain: u64,
    min_cwnd: u64,
    max_cwnd: u64,
    cwnd: u64,
    slow_start_until: u64,
    /// Estimate of the fraction of marked packets.
    alpha: u64,
    acked: u64,
    marked: u64,
    /// Marks that are a reason to cut: those of transmissions from `unanswered` on.
    to_react: u64,
    /// The first transmission that no loss and no timeout has been reacted to for.
    unanswered: u64,
    /// The transmission that ends the current window of data.
    window_end: u64,
    /// Losses are recovered until a transmission from this one on is acknowledged.
    recovered: u64,
    /// Nothing has been acknowledged since the last timeout.
    timed_out: bool,
}

impl Dctcp {
    /// Reduces the window, but not below the minimum; a timeout may have left it smaller than that.
    fn cut(&mut self, cwnd: u64) {
        let cwnd = cwnd.max(self.min_cwnd);
        self.cwnd = self.cwnd.min(cwnd);
        self.slow_start_until = cwnd;
    }
}

impl Control for Dctcp {
    type Config = DctcpConfig;

    const HEARS_MARKS: bool = true;

    fn check(config: &DctcpConfig, _link: BitRate, check: &mut Check) {
        check.within("gain", config.gain, 1e-6..=1.0);
        // Below one packet, DCTCP would still send one packet per round trip, since it does not pace.
        check.within("min_cwnd", config.min_cwnd, 1.0..=MAX_CWND);
        check_windows(check, config.min_cwnd, config.max_cwnd, config.initial_cwnd);
    }

    fn new(config: &DctcpConfig, _path: &Path) -> Dctcp {
        Dctcp {
            gain: fixed::from_f64(config.gain),
            min_cwnd: fixed::from_f64(config.min_cwnd),
            max_cwnd: fixed::from_f64(config.max_cwnd),
            cwnd: fixed::from_f64(config.initial_cwnd),
            slow_start_until: u64::MAX,
            // RFC 8257, section 4.2: start as if all were marked.
            alpha: ONE,
            acked: 0,
            marked: 0,
            to_react: 0,
            unanswered: 0,
            window_end: 0,
            recovered: 0,
            timed_out: false,
        }
    }

    fn on_ack(&mut self, _now: Ps, feedback: &Feedback) {
        self.timed_out = false;
        if feedback.duplicate {
            return;
        }
        self.acked += 1;
        self.marked += u64::from(feedback.marked);
        self.to_react += u64::from(feedback.marked && feedback.order >= self.unanswered);
        let mut answers = false;
        if feedback.order >= self.window_end {
            let fraction = fixed::div(self.marked, self.acked);
            // alpha <- (1 - g) * alpha + g * F
            self.alpha = fixed::mul(ONE - self.gain, self.alpha) + fixed::mul(self.gain, fraction);
            if self.to_react > 0 {
                // Also at the minimum; a smaller window, which a timeout has left, is not held there.
                answers = self.cwnd >= self.min_cwnd;
                // cwnd <- cwnd * (1 - alpha / 2)
                self.cut(fixed::mul(self.cwnd, ONE - self.alpha / 2));
            }
            (self.acked, self.marked, self.to_react) = (0, 0, 0);
            self.window_end = feedback.next_order;
        }
        if feedback.window_full && feedback.order >= self.recovered && !answers {
            let slow_start = self.cwnd < self.slow_start_until;
            let step = if slow_start { ONE } else { fixed::div(ONE, self.cwnd) };
            self.cwnd = (self.cwnd + step).min(self.max_cwnd);
        }
    }

    fn on_fast_recovery(&mut self, _now: Ps, loss: Loss) {
        if loss.order >= self.recovered {
            self.recovered = loss.next_order;
            (self.unanswered, self.to_react) = (loss.next_order, 0);
            self.cut(self.cwnd / 2);
        }
    }

    fn on_timeout(&mut self, _now: Ps, next_order: u64) {
        // RFC 5681, section 3.1: a repeated loss does not lower the threshold further.
        if !self.timed_out {
            self.slow_start_until = (self.cwnd / 2).max(2 * ONE);
        }
        (self.unanswered, self.to_react) = (next_order, 0);
        (self.cwnd, self.timed_out) = (ONE, true);
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn pacing(&self) -> Ps {
        Ps::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::control::PATH;
    use proptest::prelude::*;

    proptest! {
        /// Compares windows of data, each with a number of packets of which some are marked, to the
        /// two equations in floating point.
        #[test]
        fn it_follows_the_published_equations(
            windows in prop::collection::vec((1u64..60, 0u64..60), 1..60),
            gain in 0.01f64..1.0,
        ) {
            let config = DctcpConfig { gain, ..DctcpConfig::default() };
            let mut dctcp = Dctcp::new(&config, &PATH);
            let (mut alpha, mut cwnd, mut threshold) = (1.0, config.initial_cwnd, f64::INFINITY);
            // The first acknowledgement ends a window of its own; each window determines where the
            // next ends.
            let mut windows = windows;
            windows[0].0 = 1;
            let mut order = 0;
            for (w, &(packets, marked)) in windows.iter().enumerate() {
                let marked = marked.min(packets);
                for i in 0..packets {
                    let answers = i + 1 == packets && marked > 0;
                    if i + 1 == packets {
                        alpha = (1.0 - gain) * alpha + gain * marked as f64 / packets as f64;
                        if marked > 0 {
                            cwnd = (cwnd * (1.0 - alpha / 2.0)).max(config.min_cwnd);
                            threshold = cwnd;
                        }
                    }
                    if !answers {
                        let step = if cwnd < threshold { 1.0 } else { 1.0 / cwnd };
                        cwnd = (cwnd + step).min(config.max_cwnd);
                    }
                    let next_order = order + windows.get(w + 1).map_or(1, |next| next.0);
                    let marked = i < marked;
                    let ack = Feedback { rtt: Ps(1), marked, order, next_order, window_full: true, ..Feedback::default() };
                    dctcp.on_ack(Ps::ZERO, &ack);
                    order += 1;
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1e-3);
                    prop_assert!(close(fixed::to_f64(dctcp.alpha), alpha), "alpha {alpha}");
                    prop_assert!(close(fixed::to_f64(dctcp.cwnd), cwnd), "cwnd {cwnd}");
                }
            }
        }
    }

    #[test]
    fn one_window_of_losses_halves_the_window_once_and_a_timeout_leaves_one_packet() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        for order in 0..3 {
            dctcp.on_fast_recovery(Ps::ZERO, Loss { order, next_order: 10 });
        }
        assert_eq!(dctcp.window(), 8 * ONE);
        dctcp.on_fast_recovery(Ps::ZERO, Loss { order: 10, next_order: 20 });
        assert_eq!(dctcp.window(), 4 * ONE);
        dctcp.on_timeout(Ps::ZERO, 0);
        assert_eq!(dctcp.window(), ONE);
    }

    fn ack(order: u64, next_order: u64, marked: bool) -> Feedback {
        Feedback { rtt: Ps(1), order, next_order, marked, window_full: true, ..Feedback::default() }
    }

    #[test]
    fn losses_halve_the_window_whatever_marks_have_cut_and_it_does_not_grow_meanwhile() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        // The first of sixteen packets is lost, as three acknowledgements show, and the others are marked.
        let mut dctcp = Dctcp::new(&config, &PATH);
        dctcp.window_end = 16;
        let marked = |order| Feedback { window_full: false, ..ack(order, 16, true) };
        (1..4).for_each(|order| dctcp.on_ack(Ps::ZERO, &marked(order)));
        dctcp.on_fast_recovery(Ps::ZERO, Loss { order: 0, next_order: 16 });
        (4..16).for_each(|order| dctcp.on_ack(Ps::ZERO, &ack(order, 16, true)));
        assert_eq!(dctcp.window(), 8 * ONE);
        // These marks cut nothing when the window ends, either.
        dctcp.on_ack(Ps::ZERO, &ack(16, 24, false));
        assert!(dctcp.window() > 8 * ONE, "{}", dctcp.window());
        // Those of the next do.
        (17..25).for_each(|order| dctcp.on_ack(Ps::ZERO, &ack(order, 33, order == 20)));
        assert!(dctcp.window() < 6 * ONE, "{}", dctcp.window());

        // The other way round: marks have cut the window that a packet is lost of.
        let mut dctcp = Dctcp::new(&config, &PATH);
        dctcp.on_ack(Ps::ZERO, &ack(0, 16, true));
        let marked = dctcp.window();
        assert!(marked < 10 * ONE);
        for order in 3..6 {
            dctcp.on_fast_recovery(Ps::ZERO, Loss { order, next_order: 18 });
        }
        assert_eq!(dctcp.window(), marked / 2);
        // It grows once what was in flight then has been acknowledged.
        (6..18).for_each(|order| dctcp.on_ack(Ps::ZERO, &ack(order, 18, false)));
        assert_eq!(dctcp.window(), marked / 2);
        dctcp.on_ack(Ps::ZERO, &ack(18, 26, false));
        assert!(dctcp.window() > marked / 2);
    }

    #[test]
    fn after_a_timeout_the_window_grows_from_one_packet_whatever_the_minimum_of_a_cut_is() {
        let config = DctcpConfig { initial_cwnd: 8.0, min_cwnd: 8.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        dctcp.on_timeout(Ps::ZERO, 0);
        for (order, packets) in [(0, 1), (1, 2), (2, 3)] {
            assert_eq!(dctcp.window(), packets * ONE);
            dctcp.on_ack(Ps::ZERO, &ack(order, order + 1, false));
        }
        // A mark does not cut what is smaller already, and does not keep it there.
        let mut marked = Dctcp::new(&config, &PATH);
        marked.on_timeout(Ps::ZERO, 0);
        marked.on_ack(Ps::ZERO, &ack(0, 1, true));
        assert_eq!(marked.window(), 2 * ONE);
        // Slow start goes on to the minimum.
        (1..7).for_each(|order| marked.on_ack(Ps::ZERO, &ack(order, order + 1, false)));
        assert_eq!(marked.window(), 8 * ONE);
    }

    #[test]
    fn marks_of_before_a_timeout_do_not_lower_the_threshold_that_it_sets() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        dctcp.window_end = 16;
        let marked = Feedback { window_full: false, ..ack(1, 16, true) };
        dctcp.on_ack(Ps::ZERO, &marked);
        dctcp.on_timeout(Ps::ZERO, 16);
        // One of before the timeout comes late, and the window of data ends.
        dctcp.on_ack(Ps::ZERO, &Feedback { order: 2, ..marked });
        // Slow start goes up to half of the sixteen packets.
        (16..23).for_each(|order| dctcp.on_ack(Ps::ZERO, &ack(order, order + 1, false)));
        assert_eq!(dctcp.window(), 8 * ONE);
    }

    #[test]
    fn the_acknowledgement_that_cuts_the_window_does_not_open_it() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        dctcp.on_ack(Ps::ZERO, &ack(0, 16, true));
        assert_eq!(dctcp.window(), 8 * ONE);
    }

    /// With one packet in flight every acknowledgement ends a window of data.
    #[test]
    fn marks_hold_the_window_at_its_minimum() {
        let (initial_cwnd, min_cwnd) = (1.0, 1.0);
        let config = DctcpConfig { initial_cwnd, min_cwnd, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        for order in 0..20 {
            dctcp.on_ack(Ps::ZERO, &ack(order, order + 1, true));
            assert_eq!(dctcp.window(), ONE);
        }
    }

    #[test]
    fn a_second_timeout_in_a_row_does_not_lower_the_threshold_again() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config, &PATH);
        let after_timeouts = |dctcp: &mut Dctcp, times: u32| {
            (0..times).for_each(|_| dctcp.on_timeout(Ps::ZERO, 0));
            // Slow start goes up to the threshold, one packet per acknowledgement.
            (0..40).find(|&order| {
                let before = dctcp.window();
                dctcp.on_ack(Ps::ZERO, &ack(order, order + 1, false));
                dctcp.window() < before + ONE
            })
        };
        assert_eq!(after_timeouts(&mut dctcp, 3), Some(7));
        // Acknowledgements came in between: the next timeout lowers it to half of the window of
        // just over eight packets.
        assert_eq!(after_timeouts(&mut dctcp, 1), Some(4));
    }
}
