//! On/off bursts, as hardware traffic generators send them.

use super::pace::{ONE, Pace};
use crate::time::{PS_PER_S, Ps};
use crate::units::{Duration, Rate};

/// Packets at a constant rate while on, none while off, both of fixed length, as in the burst modes
/// of test equipment (TRex `STLTXMultiBurst`: packets per burst and gap between bursts).
///
/// The packets form one constant-rate stream in on-time, the time with the pauses cut out; wall
/// time is on-time plus one pause per completed `on`. If `rate * on` is not a whole number, bursts
/// differ by one packet and the mean rate stays exact.
#[derive(Clone, Debug)]
pub struct Bursts {
    pace: Pace,
    on: u64,
    off: u64,
    on_time: u64,
}

impl Bursts {
    /// Packets at `rate` for `on`, then none for `off`, repeated.
    pub(super) fn new(rate: Rate, on: Duration, off: Duration) -> Bursts {
        assert!(on.0 > 0, "bursts must last, got on = {on}");
        Bursts { pace: Pace::of_rate(rate), on: on.0, off: off.0, on_time: 0 }
    }

    /// The time of the next packet.
    #[inline]
    pub(super) fn next(&mut self) -> Ps {
        self.on_time += self.pace.gap(ONE);
        Ps(self.on_time + self.on_time / self.on * self.off)
    }

    /// Makes `mean` the rate averaged over bursts and pauses. The lengths of both stay the same;
    /// the rate within a burst changes.
    pub(super) fn set_rate(&mut self, mean: Rate) {
        let cycle = u128::from(self.on) + u128::from(self.off);
        self.pace = Pace::new(PS_PER_S * u128::from(self.on), u128::from(mean.0) * cycle);
    }

    /// For reports only: packets per second, pauses included.
    pub(super) fn mean_f64(&self) -> f64 {
        self.pace.per_second_f64() * self.on as f64 / (self.on as f64 + self.off as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration(n * 1_000_000)
    }

    #[test]
    fn packets_come_only_while_on() {
        let mut bursts = Bursts::new(Rate(3_000_000), us(10), us(90));
        for _ in 0..10_000 {
            let phase = bursts.next().0 % us(100).0;
            assert!(phase < us(10).0, "{phase} ps into the cycle is in the pause");
        }
    }

    #[test]
    fn a_burst_ends_on_its_picosecond() {
        let times = |on| {
            let mut bursts = Bursts::new(Rate(1_000_000_000), Duration(on), Duration(500));
            [bursts.next(), bursts.next(), bursts.next()]
        };
        assert_eq!(times(2001), [Ps(1000), Ps(2000), Ps(3500)]);
        assert_eq!(times(2000), [Ps(1000), Ps(2500), Ps(3500)]);
    }

    #[test]
    fn the_mean_rate_is_exact_and_settable() {
        // 1 Mpps for a tenth of the time.
        let mut bursts = Bursts::new(Rate(1_000_000), us(10), us(90));
        assert_eq!(bursts.mean_f64(), 100_000.0);
        assert_eq!((0..10_000).map(|_| bursts.next()).last(), Some(Ps::from_us(100_000)));
        bursts.set_rate(Rate(700_000));
        assert_eq!((0..7_000).map(|_| bursts.next()).last(), Some(Ps::from_us(110_000)));
        assert!((bursts.mean_f64() - 700_000.0).abs() < 1e-6);
    }

    #[test]
    fn without_a_pause_it_is_the_constant_rate() {
        let mut bursts = Bursts::new(Rate(26_000_000), us(7), us(0));
        let mut constant = crate::wire::constant::Constant::new(Rate(26_000_000));
        for _ in 0..1_000 {
            assert_eq!(bursts.next(), constant.next());
        }
    }
}
