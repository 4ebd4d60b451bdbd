//! The sender's end of one connection: what it may send, what is in flight, and what is lost.

use std::collections::VecDeque;

use super::config::RecoveryConfig;
use super::control::{AnyControl, ControlConfig, Feedback, Loss, Path};
use super::cuts::Cuts;
use super::datagram::Datagram;
use super::fixed::ONE;
use crate::time::{PS_PER_S, Ps};

/// The least time by which a timeout is longer than the mean round trip, RFC 6298's *G*: senders read clocks in
/// nanoseconds. Without it, a steady round trip would be timed out by the acknowledgement that ends it.
const GRANULARITY: Ps = Ps::from_ns(1);

/// Consecutive timeouts after which the timeout no longer doubles: 2^6 is RFC 6298's one minute
/// over its one second, rounded up.
const MAX_BACKOFF: u32 = 6;

/// Longer than any run: pacing by a window of next to nothing may saturate.
const NEVER: Ps = Ps(1 << 62);

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    order: u64,
    at: Ps,
    /// How many packets sent later have been acknowledged.
    passed: u32,
}

/// What a connection does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Send this packet, for the first time or again.
    Send { number: u64, order: u64, again: bool },
    /// There is something to send, but not before this time.
    WaitUntil(Ps),
    /// There is nothing to send, or the window is full.
    Nothing,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Acked {
    /// The packet was not acknowledged before.
    pub(super) first: bool,
    /// It had been considered lost and was waiting to be sent again.
    pub(super) not_lost: bool,
    /// Number of packets now considered lost.
    pub(super) lost: u32,
}

/// The sender's end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    control: AnyControl,
    frame_bits: u64,
    recovery: RecoveryConfig,
    /// Packets that the receiver has requested.
    asked: u64,
    /// The first packet not sent yet.
    next: u64,
    /// Packets to send again, in the order in which they were found lost.
    lost: VecDeque<u64>,
    /// Packets in flight, in the order in which they were sent.
    flight: VecDeque<Sent>,
    next_order: u64,
    /// Transmissions before this one were in flight when the window was last full, or had been sent
    /// earlier.
    full_before: u64,
    last_sent: Option<Ps>,
    /// Smoothed round-trip time and its variation (RFC 6298); `None` before the first sample.
    rtt: Option<(Ps, Ps)>,
    backoff: u32,
    /// When pacing ends; an event is scheduled for it. Events at other times are stale: pacing was
    /// brought forward.
    pub(super) wakes: Option<Ps>,
    /// When the timer fires. Events at other times are stale: the timer was brought forward.
    pub(super) timed: Option<Ps>,
    /// When the control's own timer fires. Events at other times are stale, like those of the other two.
    pub(super) ticks: Option<Ps>,
    /// What the window was cut by since counting began.
    pub(super) cuts: Cuts,
}

impl Connection {
    pub(super) fn new(
        control: &ControlConfig,
        path: &Path,
        recovery: &RecoveryConfig,
    ) -> Connection {
        Connection {
            control: AnyControl::new(control, path),
            frame_bits: path.frame_bits,
            recovery: recovery.clone(),
            asked: 0,
            next: 0,
            lost: VecDeque::new(),
            flight: VecDeque::new(),
            next_order: 0,
            full_before: 0,
            last_sent: None,
            rtt: None,
            backoff: 0,
            wakes: None,
            timed: None,
            ticks: None,
            cuts: Cuts::default(),
        }
    }

    /// The receiver has requested this many packets in total.
    pub(super) fn ask(&mut self, packets: u64) {
        self.asked = self.asked.max(packets);
    }

    /// The receiver has requested this many more packets.
    pub(super) fn ask_more(&mut self, packets: u32) {
        self.asked += u64::from(packets);
    }

    /// The congestion window, in packets of [`ONE`]; of a rate-based control, its rate times the smoothed round trip, if
    /// one is known.
    pub(super) fn window(&self) -> u64 {
        match (self.control.rate(), self.rtt) {
            (Some(rate), Some((rtt, _))) => {
                let bits = u128::from(rate.0) * u128::from(rtt.0);
                let packets = bits * u128::from(ONE) / (PS_PER_S * u128::from(self.frame_bits));
                u64::try_from(packets).unwrap_or(u64::MAX)
            }
            (Some(_), None) => 0,
            (None, _) => self.control.window(),
        }
    }

    /// [`super::control::Control::rate`].
    #[cfg(test)]
    pub(super) fn rate(&self) -> Option<crate::units::BitRate> {
        self.control.rate()
    }

    /// [`super::control::Control::limited_by_host`].
    pub(super) fn limited_by_host(&self) -> Option<bool> {
        self.control.limited_by_host()
    }

    /// [`super::control::Control::HEARS_MARKS`].
    pub(super) fn hears_marks(&self) -> bool {
        self.control.hears_marks()
    }

    /// [`super::control::Control::timer`].
    pub(super) fn timer(&self) -> Option<Ps> {
        self.control.timer()
    }

    /// The control's timer has come.
    pub(super) fn on_timer(&mut self, now: Ps) {
        let before = self.window();
        self.control.on_timer(now);
        self.cuts.acknowledged(before, self.window(), self.limited_by_host());
        debug_assert!(self.timer().is_none_or(|at| at > now), "a control's timer moves on");
    }

    /// Packets sent at least once.
    pub(super) fn begun(&self) -> u64 {
        self.next
    }

    /// Packets sent but not acknowledged: in flight, or to be sent again.
    pub(super) fn unacknowledged(&self) -> u64 {
        (self.flight.len() + self.lost.len()) as u64
    }

    /// Injects a fault for tests.
    #[cfg(test)]
    pub(super) fn forget_a_packet(&mut self) {
        self.flight.pop_front().map_or_else(|| self.lost.pop_front(), |s| Some(s.number));
    }

    /// What to do now; a packet to send counts as in flight from here on.
    pub(super) fn next(&mut self, now: Ps) -> Next {
        // Below one packet, pacing limits the rate and one packet may be in flight.
        debug_assert!(self.control.window() > 0, "a control's window is above zero");
        let window = (self.control.window() / ONE).max(1);
        let again = !self.lost.is_empty();
        if self.flight.len() as u64 >= window || !(again || self.next < self.asked) {
            return Next::Nothing;
        }
        let ready = self.last_sent.map_or(now, |at| at + self.control.pacing().min(NEVER));
        if ready > now {
            return Next::WaitUntil(ready);
        }
        let number = self.lost.pop_front().unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        let order = self.next_order;
        self.next_order += 1;
        self.last_sent = Some(now);
        self.control.on_sent();
        self.flight.push_back(Sent { number, order, at: now, passed: 0 });
        if self.flight.len() as u64 >= window {
            self.full_before = self.next_order;
        }
        Next::Send { number, order, again }
    }

    /// The acknowledgement of a transmission of a packet arrives.
    pub(super) fn on_ack(&mut self, now: Ps, acked: &Datagram) -> Acked {
        let Datagram { number, order, .. } = *acked;
        let in_flight = self.flight.iter().position(|s| s.number == number);
        let waits = self.lost.iter().position(|&n| n == number);
        in_flight.map(|i| self.flight.remove(i));
        waits.map(|i| self.lost.remove(i));
        let rtt = now - acked.sent;
        let smoothed_rtt = self.measure(rtt);
        self.backoff = 0;
        let duplicate = in_flight.or(waits).is_none();
        let feedback = Feedback {
            rtt,
            smoothed_rtt,
            endpoint: acked.endpoint,
            telemetry: acked.telemetry,
            marked: acked.marked,
            order,
            next_order: self.next_order,
            window_full: order < self.full_before,
            duplicate,
        };
        let before = self.window();
        self.control.on_ack(now, &feedback);
        self.cuts.acknowledged(before, self.window(), self.limited_by_host());
        // One at a time: declaring one packet lost does not change how many acknowledgements passed
        // the others.
        let mut lost = 0;
        let mut i = 0;
        while let Some(sent) = self.flight.get_mut(i).filter(|s| s.order < order) {
            sent.passed += 1;
            if sent.passed < self.recovery.reordering {
                i += 1;
                continue;
            }
            let loss = Loss { order: sent.order, next_order: self.next_order };
            self.lost.push_back(sent.number);
            self.flight.remove(i);
            let before = self.window();
            self.control.on_fast_recovery(now, loss);
            self.cuts.lost(before, self.window());
            lost += 1;
        }
        Acked { first: !duplicate, not_lost: waits.is_some(), lost }
    }

    /// RFC 6298, section 2. Returns the smoothed round trip.
    fn measure(&mut self, rtt: Ps) -> Ps {
        let (smooth, variation) = match self.rtt {
            None => (rtt, Ps(rtt.0 / 2)),
            Some((smooth, variation)) => {
                let difference = smooth.0.abs_diff(rtt.0);
                (Ps((7 * smooth.0 + rtt.0) / 8), Ps((3 * variation.0 + difference) / 4))
            }
        };
        self.rtt = Some((smooth, variation));
        smooth
    }

    /// When the oldest packet in flight times out; `None` if nothing is in flight.
    pub(super) fn deadline(&self) -> Option<Ps> {
        let oldest = self.flight.front()?;
        let estimate = self
            .rtt
            .map_or(0, |(smooth, variation)| smooth.0 + (4 * variation.0).max(GRANULARITY.0));
        let timeout = estimate.max(self.recovery.min_timeout.0) << self.backoff.min(MAX_BACKOFF);
        Some(oldest.at + Ps(timeout))
    }

    /// The deadline has passed: all packets in flight are considered lost.
    pub(super) fn time_out(&mut self, now: Ps) {
        self.lost.extend(self.flight.drain(..).map(|s| s.number));
        self.backoff += 1;
        let before = self.window();
        self.control.on_timeout(now, self.next_order);
        self.cuts.lost(before, self.window());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::every;
    use crate::transport::control::PATH;
    use crate::transport::control::dctcp::DctcpConfig;
    use crate::transport::control::swift::SwiftConfig;
    use crate::transport::control::timely::TimelyConfig;
    use crate::units::BitRate;

    fn connection(cwnd: f64) -> Connection {
        let config = SwiftConfig { initial_cwnd: cwnd, ..SwiftConfig::default() };
        let control = ControlConfig::Swift(config);
        let mut connection = Connection::new(&control, &PATH, &RecoveryConfig::default());
        connection.ask(100);
        connection
    }

    fn dctcp(packets: u64) -> Connection {
        let config = DctcpConfig { initial_cwnd: 4.0, max_cwnd: 1000.0, ..DctcpConfig::default() };
        let control = ControlConfig::Dctcp(config);
        let mut connection = Connection::new(&control, &PATH, &RecoveryConfig::default());
        connection.ask(packets);
        connection
    }

    #[test]
    fn a_steady_round_trip_above_the_minimum_is_no_timeout() {
        let mut connection = connection(1.0);
        let round_trip = Ps::from_us(2000);
        assert!(round_trip > connection.recovery.min_timeout.ps());
        (0..200).for_each(|_| {
            connection.measure(round_trip);
        });
        assert_eq!(sent(&mut connection, Ps::ZERO).len(), 1);
        assert!(connection.deadline() > Some(round_trip), "{:?}", connection.deadline());
    }

    #[test]
    fn a_window_of_next_to_nothing_after_long_round_trips_paces_beyond_any_run() {
        let least = SwiftConfig { initial_cwnd: 1e-6, min_cwnd: 1e-6, ..SwiftConfig::default() };
        let control = ControlConfig::Swift(least);
        let mut connection = Connection::new(&control, &PATH, &RecoveryConfig::default());
        connection.ask(100);
        let Next::Send { number, order, .. } = connection.next(Ps::ZERO) else {
            panic!("it sends")
        };
        let now = Ps::from_us(30_000_000);
        connection.on_ack(now, &Datagram::new(0, number, order, Ps::ZERO));
        assert_eq!(connection.next(now), Next::WaitUntil(NEVER));
    }

    fn sent(connection: &mut Connection, now: Ps) -> Vec<(u64, bool)> {
        let mut all = Vec::new();
        while let Next::Send { number, again, .. } = connection.next(now) {
            all.push((number, again));
        }
        all
    }

    fn ack(connection: &mut Connection, now: Ps, number: u64, order: u64) -> Acked {
        let at = now.saturating_sub(Ps::from_us(10));
        connection.on_ack(now, &Datagram::new(0, number, order, at))
    }

    #[test]
    fn a_packet_is_lost_when_three_later_ones_are_acknowledged() {
        let mut c = connection(8.0);
        let first: Vec<(u64, bool)> = (0..8).map(|n| (n, false)).collect();
        assert_eq!(sent(&mut c, Ps::ZERO), first);
        let now = Ps::from_us(10);
        let lost: Vec<u32> = (1..=4).map(|n| ack(&mut c, now, n, n).lost).collect();
        assert_eq!(lost, [0, 0, 1, 0]);
        assert_eq!(sent(&mut c, now)[0], (0, true));
        // The late acknowledgement of the first transmission is the packet's first; that of the
        // copy is not.
        let late = ack(&mut c, now, 0, 0);
        assert_eq!((late.first, late.not_lost), (true, false));
        assert!(!ack(&mut c, now, 0, 8).first);
    }

    #[test]
    fn what_is_acknowledged_before_it_is_sent_again_was_not_lost() {
        let mut c = connection(2.0);
        sent(&mut c, Ps::ZERO);
        let now = Ps::from_us(200);
        c.time_out(now);
        assert_eq!(c.lost.len(), 2);
        let late = ack(&mut c, now, 1, 1);
        assert_eq!((late.first, late.not_lost, late.lost), (true, true, 0));
        // Only the other one is sent again.
        assert_eq!(sent(&mut c, Ps::from_us(5000))[0], (0, true));
    }

    #[test]
    fn a_window_of_dctcp_that_is_not_used_does_not_grow() {
        // Reads of four packets, one read after another: the window doubles once and then is never full.
        let mut c = dctcp(0);
        for read in 0..20 {
            c.ask(4 * (read + 1));
            let now = Ps::from_us(10 * read);
            let packets: Vec<u64> = sent(&mut c, now).iter().map(|&(number, _)| number).collect();
            assert_eq!(packets.len(), 4);
            packets.iter().for_each(|&n| assert!(ack(&mut c, now, n, n).first));
        }
        assert_eq!(c.window(), 8 * ONE);
        // With enough to send, every acknowledgement of a full window opens it, including the last.
        let mut c = dctcp(1000);
        for window in [4, 8, 16, 32] {
            let now = Ps::from_us(window);
            assert_eq!(c.window(), window * ONE);
            let first = c.begun();
            assert_eq!(sent(&mut c, now).len() as u64, window);
            (first..first + window).for_each(|n| assert!(ack(&mut c, now, n, n).first));
        }
    }

    #[test]
    fn the_acknowledgement_of_a_needless_copy_does_not_open_the_window() {
        for config in every::<ControlConfig>() {
            let mut c = Connection::new(&config, &PATH, &RecoveryConfig::default());
            c.ask(100);
            let packets = sent(&mut c, Ps::ZERO).len() as u64;
            let now = Ps::from_us(1000);
            c.time_out(now);
            assert_eq!(sent(&mut c, now)[0], (0, true));
            assert!(ack(&mut c, now, 0, 0).first);
            let window = c.window();
            assert!(!ack(&mut c, now, 0, packets).first);
            assert_eq!(c.window(), window);
        }
    }

    /// The round trip does not change what a rate is told to be, but what it means in packets; only cuts of the rate
    /// count.
    #[test]
    fn of_a_rate_the_window_is_what_it_brings_in_a_round_trip() {
        let config = TimelyConfig {
            initial_rate: Some(BitRate(3_561_600_000)),
            segment: 1,
            ..TimelyConfig::default()
        };
        let timely = ControlConfig::Timely(config);
        let mut c = Connection::new(&timely, &PATH, &RecoveryConfig::default());
        c.ask(100);
        assert_eq!(c.window(), 0);
        // A packet of 35 616 bits in 10 us.
        let us = |us: u64| Ps::from_us(us);
        assert_eq!((sent(&mut c, us(0)).len(), c.next(us(9))), (1, Next::WaitUntil(us(10))));
        assert_eq!(sent(&mut c, us(10)), [(1, false)]);
        let acked = |c: &mut Connection, number, rtt: u64| {
            c.on_ack(us(100), &Datagram::new(0, number, number, us(100 - rtt)));
            c.window() as f64 / ONE as f64
        };
        let (first, shorter) = (acked(&mut c, 0, 40), acked(&mut c, 1, 10));
        assert!((first / 4.0 - 1.0).abs() < 0.01, "{first} packets");
        // The smoothed round trip is 36.25 us.
        assert!((shorter / 3.625 - 1.0).abs() < 0.01, "{shorter} packets");
        assert_eq!((c.cuts.path, c.cuts.losses), (0, 0));
        c.time_out(us(200));
        assert!((c.cuts.losses as f64 / ONE as f64 / (shorter / 2.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn without_acknowledgements_everything_is_sent_again_later_and_later() {
        let mut c = connection(2.0);
        assert_eq!(sent(&mut c, Ps::ZERO).len(), 2);
        assert_eq!(c.deadline(), Some(Ps::from_us(1000)));
        c.time_out(Ps::from_us(1000));
        assert_eq!(c.lost.len(), 2);
        // The window is halved: one packet.
        assert_eq!(sent(&mut c, Ps::from_us(1000)), [(0, true)]);
        assert_eq!(c.deadline(), Some(Ps::from_us(3000)));
        assert_eq!(c.unacknowledged(), 2);
    }

    #[test]
    fn below_one_packet_the_next_one_waits_for_its_time() {
        let mut c = connection(0.25);
        assert_eq!(sent(&mut c, Ps::ZERO), [(0, false)]);
        assert_eq!(c.next(Ps::from_us(1)), Next::Nothing);
        // A delay far above all targets: the window is halved, to an eighth of a packet.
        let now = Ps::from_us(500);
        let endpoint = Ps::from_us(250);
        c.on_ack(now, &Datagram { endpoint, ..Datagram::new(0, 0, 0, Ps::ZERO) });
        let window = c.window() as f64 / ONE as f64;
        let Next::WaitUntil(at) = c.next(now) else { panic!("it is paced") };
        let expected = 500e6 / window;
        assert!((at.0 as f64 - expected).abs() < 10.0, "{at:?} for {expected}");
        assert_eq!(c.next(at), Next::Send { number: 1, order: 1, again: false });
    }
}
