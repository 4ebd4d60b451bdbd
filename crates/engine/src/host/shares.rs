//! Shares: what a group of connections got (all of them, or those of senders that are alike), and what was lost.

use crate::stats::results::ConnectionResults;

/// Connections, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) sent: u64,
    pub(super) sent_again: u64,
    pub(super) timeouts: u64,
    pub(super) delivered: u64,
    /// Mean over the connections, packets.
    pub(super) mean_window: f64,
    /// Packets by which windows were cut; `None` if none of them keeps the server's delay apart.
    pub(super) cut_by_host: Option<f64>,
    pub(super) cut_by_path: f64,
    pub(super) cut_by_losses: f64,
    /// Jain's index over what they delivered; `None` if that is nothing.
    pub(super) fairness: Option<f64>,
}

impl Share {
    /// The share of some connections, of which there is at least one.
    pub(super) fn of<'a>(of: &(impl Iterator<Item = &'a ConnectionResults> + Clone)) -> Share {
        let sum = |field: fn(&ConnectionResults) -> u64| of.clone().map(field).sum::<u64>();
        let mean = |sum: f64| sum / of.clone().count() as f64;
        Share {
            sent: sum(|c| c.sent),
            sent_again: sum(|c| c.sent_again),
            timeouts: sum(|c| c.timeouts),
            delivered: sum(|c| c.delivered),
            mean_window: mean(of.clone().map(|c| c.mean_window).sum()),
            cut_by_host: of.clone().filter_map(|c| c.cut_by_host).reduce(|a, b| a + b),
            cut_by_path: of.clone().map(|c| c.cut_by_path).sum(),
            cut_by_losses: of.clone().map(|c| c.cut_by_losses).sum(),
            fairness: jain(of.clone().map(|c| c.delivered)),
        }
    }
}

/// The share of what came that was lost, 0 to 1. Of what had come before the measured time, more can be lost in it
/// than comes: it is then the share of what was `lost` or `kept`.
pub(super) fn share_lost(lost: u64, came: u64, kept: u64) -> f64 {
    let of = if lost > came { lost + kept } else { came };
    if of == 0 { 0.0 } else { lost as f64 / of as f64 }
}

/// Jain's fairness index: (sum of x)^2 / (n * sum of x^2); `None` if there is nothing to share.
fn jain(values: impl Iterator<Item = u64> + Clone) -> Option<f64> {
    let (n, sum) = (values.clone().count() as f64, values.clone().sum::<u64>() as f64);
    let squares: f64 = values.map(|x| (x as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum.powi(2) / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_if_all_are_the_same() {
        assert_eq!(jain([5, 0, 0, 0].into_iter()), Some(0.25));
        assert_eq!(jain([3, 3, 3].into_iter()), Some(1.0));
        assert_eq!(jain([0, 0].into_iter()), None);
    }
}
