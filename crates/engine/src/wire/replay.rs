//! Replay of a capture: its packets, sizes and flows, at the recorded times or stretched to a rate.

use std::sync::Arc;

use super::{Arrival, Capture};
use crate::time::{PS_PER_S, Ps};
use crate::units::{Rate, TrafficRate};

/// The packets of a capture in order, over and over.
///
/// One round lasts from the first packet to the last plus one mean gap, so that the seam between
/// two rounds is as long as an average gap and the mean rate does not depend on how often the
/// capture is repeated. Stretching scales all times by one factor: bursts stay bursts. The length
/// of a round is an exact fraction whose remainder is carried into the next round; a change of rate
/// drops the fraction of a picosecond being carried.
#[derive(Clone, Debug)]
pub struct Replay {
    capture: Arc<Capture>,
    /// Index of the packet to return next.
    next: usize,
    /// The length of a round in the capture's own time, in picoseconds; never 0.
    recorded: u64,
    round: Round,
    /// Simulated time `anchor` corresponds to time `anchor_offset` in the recorded round.
    anchor: u64,
    anchor_offset: u64,
}

/// The length of a round in simulated time: `ps` + `rest` / `parts` picoseconds.
#[derive(Clone, Debug)]
struct Round {
    ps: u64,
    rest: u128,
    parts: u128,
    carry: u128,
}

impl Round {
    fn new(ps: u128, parts: u128) -> Round {
        let whole = u64::try_from(ps / parts)
            .expect("a round of a capture must last less than 213 days: the rate is too low");
        Round { ps: whole, rest: ps % parts, parts, carry: 0 }
    }

    /// The whole picoseconds of the next round, including the remainder of earlier rounds.
    fn next(&mut self) -> u64 {
        self.carry += self.rest;
        let extra = self.carry / self.parts;
        self.carry %= self.parts;
        self.ps + extra as u64
    }
}

impl Replay {
    /// The capture at its recorded times; `None` if all packets have the same time, because then it
    /// has no rate at which it could be repeated.
    pub(super) fn as_recorded(capture: Arc<Capture>) -> Option<Replay> {
        let round = Round::new(recorded_round(&capture)?.into(), 1);
        Some(Replay::with_round(capture, round))
    }

    /// The capture stretched to the mean rate `rate`, in packets or in bits on the wire.
    pub(super) fn at_rate(capture: Arc<Capture>, rate: TrafficRate) -> Replay {
        let round = match rate {
            TrafficRate::Bits(rate) => Round::new(capture.wire_bits() * PS_PER_S, rate.0.into()),
            TrafficRate::Packets(rate) => Replay::round_of(&capture, rate),
        };
        Replay::with_round(capture, round)
    }

    /// A round of the capture at `rate` packets per second on average.
    fn round_of(capture: &Capture, rate: Rate) -> Round {
        Round::new(capture.packets().len() as u128 * PS_PER_S, rate.0.into())
    }

    fn with_round(capture: Arc<Capture>, round: Round) -> Replay {
        // If all packets have the same time, all offsets are 0 and any length works.
        let recorded = recorded_round(&capture).unwrap_or(1);
        Replay { capture, next: 0, recorded, round, anchor: 0, anchor_offset: 0 }
    }

    /// The capture being repeated.
    pub(super) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// The next packet.
    #[inline]
    pub(super) fn next(&mut self) -> Arrival {
        if self.next == self.capture.packets().len() {
            self.next = 0;
            self.anchor = if self.anchor_offset == 0 {
                self.anchor + self.round.next()
            } else {
                self.time_at(self.recorded)
            };
            self.anchor_offset = 0;
        }
        let packet = self.capture.packets()[self.next];
        self.next += 1;
        Arrival { at: Ps(self.time_at(packet.at.0)), bytes: packet.bytes, flow: packet.flow }
    }

    /// The simulated time at which the recorded time `offset` of the current round is played.
    #[inline]
    fn time_at(&self, offset: u64) -> u64 {
        let stretched = u128::from(offset - self.anchor_offset) * u128::from(self.round.ps);
        self.anchor + (stretched / u128::from(self.recorded)) as u64
    }

    /// From the last returned packet on, packets come at `rate` on average.
    pub(super) fn set_rate(&mut self, rate: Rate) {
        if let Some(last) = self.next.checked_sub(1) {
            let offset = self.capture.packets()[last].at.0;
            self.anchor = self.time_at(offset);
            self.anchor_offset = offset;
        }
        self.round = Replay::round_of(&self.capture, rate);
    }

    /// For reports only: packets per second.
    pub(super) fn mean_f64(&self) -> f64 {
        let Round { ps, rest, parts, .. } = self.round;
        let round = ps as f64 + rest as f64 / parts as f64;
        self.capture.packets().len() as f64 / round * PS_PER_S as f64
    }
}

/// From the first packet to the last plus one mean gap; `None` if they have the same time.
fn recorded_round(capture: &Capture) -> Option<u64> {
    let gaps = capture.packets().len() as u64 - 1;
    let span = capture.span().0;
    (span > 0).then(|| span + span / gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;
    use crate::wire::{CapturedPacket, FlowTable};

    fn capture(times: &[u64]) -> Arc<Capture> {
        let packet = |&at| CapturedPacket { at: Ps(at), bytes: 1000, flow: 0 };
        Arc::new(Capture::new(times.iter().map(packet).collect(), FlowTable::synthetic(1)))
    }

    fn gbps(n: u64) -> TrafficRate {
        TrafficRate::Bits(BitRate(n * 1_000_000_000))
    }

    fn times(replay: &mut Replay, n: usize) -> Vec<u64> {
        (0..n).map(|_| replay.next().at.0).collect()
    }

    #[test]
    fn recorded_times_are_kept_and_the_seam_is_a_mean_gap() {
        let mut replay = Replay::as_recorded(capture(&[0, 10, 100])).unwrap();
        assert_eq!(times(&mut replay, 7), [0, 10, 100, 150, 160, 250, 300]);
    }

    #[test]
    fn a_capture_of_one_instant_has_no_rate_of_its_own() {
        assert!(Replay::as_recorded(capture(&[0])).is_none());
        assert!(Replay::as_recorded(capture(&[0, 0])).is_none());
        // 1024 bytes on the wire are 8192 bits: 81.92 ns at 100 Gbps.
        let mut replay = Replay::at_rate(capture(&[0]), gbps(100));
        assert_eq!(times(&mut replay, 3), [0, 81_920, 163_840]);
    }

    #[test]
    fn stretching_keeps_the_shape_and_meets_the_rate() {
        let capture = capture(&[0, 10, 100]);
        let mut replay = Replay::at_rate(capture, gbps(100));
        // Three packets in 3 * 81920 ps; the recorded round is 150.
        assert_eq!(times(&mut replay, 4), [0, 16_384, 163_840, 245_760]);
        assert!((replay.mean_f64() - 1e12 / 81_920.0).abs() < 1e-3);
    }

    #[test]
    fn a_rate_of_packets_stretches_as_the_search_does() {
        let rate = Rate(7_000_000);
        let mut at_rate = Replay::at_rate(capture(&[0, 10, 100]), TrafficRate::Packets(rate));
        let mut set = Replay::as_recorded(capture(&[0, 10, 100])).unwrap();
        set.set_rate(rate);
        assert_eq!(times(&mut at_rate, 100), times(&mut set, 100));
    }

    #[test]
    fn the_mean_rate_does_not_drift_over_rounds() {
        // 7 Mpps: a round of 3 packets lasts 428571.43 ps.
        let mut replay = Replay::as_recorded(capture(&[0, 10, 100])).unwrap();
        replay.set_rate(Rate(7_000_000));
        let n = 7_000_000 / 100 * 3;
        assert_eq!(times(&mut replay, n + 1)[n], 30_000_000_000);
    }

    #[test]
    fn a_new_rate_in_mid_round_counts_from_the_last_packet() {
        let mut replay = Replay::as_recorded(capture(&[0, 10, 100])).unwrap();
        assert_eq!(times(&mut replay, 2), [0, 10]);
        // 3 packets per second make a round of one second, recorded as 150 ps.
        replay.set_rate(Rate(3));
        let second = 1_000_000_000_000;
        let ends = 10 + second * 140 / 150;
        assert_eq!(
            times(&mut replay, 4),
            [10 + second * 90 / 150, ends, ends + second * 10 / 150, ends + second * 100 / 150]
        );
    }
}
