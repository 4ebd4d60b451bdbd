//! Sizes and flows of synthetic packets: drawn independently of each other and of the times.

use super::Arrival;
use super::config::SizesConfig;
use crate::mix::Mix;
use crate::rng::{Rng, below};
use crate::time::Ps;

/// Draws the size and the flow of a packet. Owns its random stream, so that a different rate or
/// arrival process leaves the sequence of packets unchanged.
#[derive(Clone, Debug)]
pub struct Draw {
    sizes: Mix<u32>,
    flows: u32,
    stream: Rng,
}

impl Draw {
    /// Packets of `sizes` over the flows 0 to `flows - 1`, all equally likely.
    pub(super) fn new(sizes: &SizesConfig, flows: u32, stream: Rng) -> Draw {
        let sizes = match sizes {
            SizesConfig::Fixed { size } => Mix::new([(size.0 as u32, 1)]),
            SizesConfig::Mix { of } => Mix::new(of.iter().map(|e| (e.size.0 as u32, e.weight))),
        };
        Draw { sizes, flows, stream }
    }

    /// A packet of any flow that arrives at `at`.
    #[inline]
    pub fn draw(&mut self, at: Ps) -> Arrival {
        let flow = below(self.stream.next_u64(), u64::from(self.flows)) as u32;
        Arrival { at, bytes: self.sizes.draw(&mut self.stream), flow }
    }

    /// A packet that arrives at `at` and belongs to one of `flows`, the flows of one queue.
    ///
    /// # Panics
    /// If `flows` is empty, since no packet reaches such a queue.
    #[inline]
    pub fn draw_among(&mut self, at: Ps, flows: &[u32]) -> Arrival {
        let flow = flows[below(self.stream.next_u64(), flows.len() as u64) as usize];
        Arrival { at, bytes: self.sizes.draw(&mut self.stream), flow }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Size;
    use crate::wire::config::SizeShare;

    fn imix() -> SizesConfig {
        let share = |bytes, weight| SizeShare { size: Size(bytes), weight };
        SizesConfig::Mix { of: vec![share(60, 7), share(590, 4), share(1514, 1)] }
    }

    /// A share p of n draws has the standard deviation sqrt(n p (1 - p)).
    #[test]
    fn shares_of_a_mix_are_within_four_sigma() {
        let n = 1_200_000;
        let mut draw = Draw::new(&imix(), 1, Rng::of_wire(1, 0));
        let mut counts = [0u32; 3];
        for _ in 0..n {
            match draw.draw(Ps::ZERO).bytes {
                60 => counts[0] += 1,
                590 => counts[1] += 1,
                1514 => counts[2] += 1,
                other => panic!("{other} bytes is not in the mix"),
            }
        }
        for (count, weight) in counts.into_iter().zip([7.0, 4.0, 1.0]) {
            let p = weight / 12.0;
            let sigma = (f64::from(n) * p * (1.0 - p)).sqrt();
            let off = f64::from(count) - f64::from(n) * p;
            assert!(off.abs() < 4.0 * sigma, "weight {weight}: {} sigma", off / sigma);
        }
    }

    #[test]
    fn flows_are_uniform_and_stay_in_range() {
        let mut draw = Draw::new(&SizesConfig::Fixed { size: Size(1024) }, 16, Rng::of_wire(1, 0));
        let mut counts = [0u32; 16];
        for _ in 0..160_000 {
            counts[draw.draw(Ps::ZERO).flow as usize] += 1;
        }
        // sigma = sqrt(160000 * 1/16 * 15/16) = 96.8
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 4 * 97), "{counts:?}");
    }

    #[test]
    fn a_draw_among_flows_takes_only_those() {
        let mut draw = Draw::new(&imix(), 1000, Rng::of_wire(1, 0));
        let mut seen = [3, 500, 999].map(|flow| (flow, false));
        for _ in 0..100 {
            let flow = draw.draw_among(Ps(5), &[3, 500, 999]).flow;
            seen.iter_mut().find(|s| s.0 == flow).expect("one of the three").1 = true;
        }
        assert!(seen.iter().all(|s| s.1));
    }
}
