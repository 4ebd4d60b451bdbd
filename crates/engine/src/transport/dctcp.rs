//! DCTCP (Alizadeh et al., "Data Center TCP", SIGCOMM 2010, section 3.1; RFC 8257).
//!
//! The sender estimates the fraction of marked packets once per window of data, equation (1), and
//! cuts its window by half of that estimate if any packet of the window was marked, equation (2).
//! Slow start, additive increase and the reaction to loss are TCP's (RFC 5681). As in Linux
//! (`tcp_is_cwnd_limited`), a window that was not full does not grow: nothing has tested whether
//! the network takes that much.

use super::config::DctcpConfig;
use super::fixed::{self, ONE};
use super::{Control, Feedback, Loss};
use crate::time::Ps;

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
    /// The transmission that ends the current window of data.
    window_end: u64,
    /// Losses of transmissions before this one have already been reacted to.
    recovered: u64,
    /// Nothing has been acknowledged since the last timeout.
    timed_out: bool,
}

impl Dctcp {
    fn set(&mut self, cwnd: u64) {
        self.cwnd = cwnd.clamp(self.min_cwnd, self.max_cwnd);
    }
}

impl Control for Dctcp {
    type Config = DctcpConfig;

    fn new(config: &DctcpConfig) -> Dctcp {
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
        if feedback.order >= self.window_end {
            let fraction = fixed::div(self.marked, self.acked);
            // alpha <- (1 - g) * alpha + g * F
            self.alpha = fixed::mul(ONE - self.gain, self.alpha) + fixed::mul(self.gain, fraction);
            if self.marked > 0 {
                // cwnd <- cwnd * (1 - alpha / 2)
                self.set(fixed::mul(self.cwnd, ONE - self.alpha / 2));
                self.slow_start_until = self.cwnd;
            }
            (self.acked, self.marked, self.window_end) = (0, 0, feedback.next_order);
        }
        if feedback.window_full {
            let slow_start = self.cwnd < self.slow_start_until;
            self.set(self.cwnd + if slow_start { ONE } else { fixed::div(ONE, self.cwnd) });
        }
    }

    fn on_fast_recovery(&mut self, _now: Ps, loss: Loss) {
        if loss.order >= self.recovered {
            self.set(self.cwnd / 2);
            (self.slow_start_until, self.recovered) = (self.cwnd, loss.next_order);
        }
    }

    fn on_timeout(&mut self, _now: Ps) {
        // RFC 5681, section 3.1: a repeated loss does not lower the threshold further.
        if !self.timed_out {
            self.slow_start_until = (self.cwnd / 2).max(2 * ONE);
        }
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
            let mut dctcp = Dctcp::new(&config);
            let (mut alpha, mut cwnd, mut threshold) = (1.0, config.initial_cwnd, f64::INFINITY);
            // The first acknowledgement ends a window of its own; each window determines where the
            // next ends.
            let mut windows = windows;
            windows[0].0 = 1;
            let mut order = 0;
            for (w, &(packets, marked)) in windows.iter().enumerate() {
                let marked = marked.min(packets);
                for i in 0..packets {
                    if i + 1 == packets {
                        alpha = (1.0 - gain) * alpha + gain * marked as f64 / packets as f64;
                        if marked > 0 {
                            cwnd = (cwnd * (1.0 - alpha / 2.0)).max(config.min_cwnd);
                            threshold = cwnd;
                        }
                    }
                    let step = if cwnd < threshold { 1.0 } else { 1.0 / cwnd };
                    cwnd = (cwnd + step).min(config.max_cwnd);
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
        let mut dctcp = Dctcp::new(&config);
        for order in 0..3 {
            dctcp.on_fast_recovery(Ps::ZERO, Loss { order, next_order: 10 });
        }
        assert_eq!(dctcp.window(), 8 * ONE);
        dctcp.on_fast_recovery(Ps::ZERO, Loss { order: 10, next_order: 20 });
        assert_eq!(dctcp.window(), 4 * ONE);
        dctcp.on_timeout(Ps::ZERO);
        assert_eq!(dctcp.window(), ONE);
    }

    #[test]
    fn a_second_timeout_in_a_row_does_not_lower_the_threshold_again() {
        let config = DctcpConfig { initial_cwnd: 16.0, ..DctcpConfig::default() };
        let mut dctcp = Dctcp::new(&config);
        let ack = |order| Feedback {
            rtt: Ps(1),
            order,
            next_order: order + 1,
            window_full: true,
            ..Feedback::default()
        };
        let after_timeouts = |dctcp: &mut Dctcp, times: u32| {
            (0..times).for_each(|_| dctcp.on_timeout(Ps::ZERO));
            // Slow start goes up to the threshold, one packet per acknowledgement.
            (0..40).find(|&order| {
                let before = dctcp.window();
                dctcp.on_ack(Ps::ZERO, &ack(order));
                dctcp.window() < before + ONE
            })
        };
        assert_eq!(after_timeouts(&mut dctcp, 3), Some(7));
        // Acknowledgements came in between: the next timeout lowers it to half of the window of
        // just over eight packets.
        assert_eq!(after_timeouts(&mut dctcp, 1), Some(4));
    }
}
