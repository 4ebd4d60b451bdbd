//! Zipf popularity: an alias table of integers.
//!
//! Drawing costs one multiplication and one table look-up (Walker 1977; Vose, IEEE TSE 17(9),
//! 1991). Ranks start at 0, the most popular. The table is immutable and shared by clones.

use std::sync::Arc;

/// A cell of the table: below `threshold` (of 2^32) it stands for itself, otherwise for `alias`.
#[derive(Clone, Copy, Debug)]
struct Cell {
    threshold: u32,
    alias: u32,
}

/// The distribution in which rank `r` has a probability proportional to `1 / (r + 1)^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    cells: Arc<[Cell]>,
}

/// The full weight of a cell.
const ONE: u64 = 1 << 32;

impl Zipf {
    /// The distribution over `n` ranks. Floating point is used only here: powers come from `libm`,
    /// so the table has the same bits on every platform.
    pub(crate) fn new(n: u32, exponent: f64) -> Zipf {
        let powers: Vec<f64> = (1..=n).map(|rank| libm::pow(f64::from(rank), -exponent)).collect();
        let scale = f64::from(n) * ONE as f64 / powers.iter().sum::<f64>();
        // The unassigned part of each rank's probability, in units of which a cell holds ONE.
        let mut left: Vec<u64> = powers.iter().map(|power| (power * scale) as u64).collect();
        drop(powers);
        // Rounding down lost less than one unit per rank: less than 2^-32 in all. Rank 0 gets it.
        let total = u64::from(n) * ONE;
        left[0] = left[0] + total - left.iter().sum::<u64>();

        let mut cells: Vec<Cell> =
            (0..n).map(|alias| Cell { threshold: u32::MAX, alias }).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..n).partition(|&rank| left[rank as usize] < ONE);
        while let (Some(&donor), Some(poor)) = (large.last(), small.pop()) {
            let have = left[poor as usize];
            cells[poor as usize] = Cell { threshold: have as u32, alias: donor };
            let donor_left = &mut left[donor as usize];
            *donor_left -= ONE - have;
            if *donor_left < ONE {
                large.pop();
                small.push(donor);
            }
        }
        Zipf { cells: cells.into() }
    }

    /// The rank that a uniform 64-bit draw falls on: the upper part of the product chooses the
    /// cell, the fraction that remains chooses within it.
    #[inline]
    pub(crate) fn rank(&self, draw: u64) -> u32 {
        let product = u128::from(draw) * self.cells.len() as u128;
        let index = (product >> 64) as u32;
        let cell = self.cells[index as usize];
        if ((product >> 32) as u32) < cell.threshold { index } else { cell.alias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::draw::Draw;

    /// The actual probability of each rank in a table, in units of 2^-32 / n.
    fn mass(zipf: &Zipf) -> Vec<u64> {
        let mut mass = vec![0u64; zipf.cells.len()];
        for (index, cell) in zipf.cells.iter().enumerate() {
            mass[index] += u64::from(cell.threshold);
            mass[cell.alias as usize] += ONE - u64::from(cell.threshold);
        }
        mass
    }

    #[test]
    fn the_table_holds_the_distribution_exactly() {
        let n = 1000;
        for exponent in [0.0, 0.5, 0.99, 1.0, 1.5] {
            let norm: f64 = (1..=n).map(|r| libm::pow(f64::from(r), -exponent)).sum();
            for (rank, mass) in mass(&Zipf::new(n, exponent)).into_iter().enumerate() {
                let p = mass as f64 / (f64::from(n) * ONE as f64);
                let expected = libm::pow((rank + 1) as f64, -exponent) / norm;
                assert!((p - expected).abs() < 1e-8, "rank {rank}: {p} instead of {expected}");
            }
        }
    }

    #[test]
    fn draws_follow_the_table() {
        let zipf = Zipf::new(2_400_000, 0.99);
        let draw = Draw::new(7, 0);
        let draws = 1_000_000;
        let hottest = (0..draws).filter(|&n| zipf.rank(draw.at(n)) == 0).count();
        let norm: f64 = (1..=2_400_000).map(|r| libm::pow(f64::from(r), -0.99)).sum();
        let expected = draws as f64 / norm;
        assert!((hottest as f64 - expected).abs() < 5.0 * expected.sqrt(), "{hottest}");
    }

    #[test]
    fn one_rank_is_always_drawn() {
        let zipf = Zipf::new(1, 0.99);
        assert_eq!((zipf.rank(0), zipf.rank(u64::MAX)), (0, 0));
    }
}
