//! Static re-reference interval prediction, hit priority, 2 bits (Jaleel et al., ISCA 2010).

use crate::bits::positions;

/// Predicted to be used again in the distant future: the victim.
pub(super) const DISTANT: u8 = 3;
/// The prediction for a new line.
pub(super) const LONG: u8 = 2;
/// The prediction for a line that was hit.
pub(super) const NEAR: u8 = 0;

/// The last way predicted distant; all candidates age until there is one. The last, because sets are
/// filled from that end: among lines that are never hit, the first to come is then the first to leave.
#[inline]
pub(super) fn victim(predictions: &mut [u8], mask: u32) -> u32 {
    let oldest = positions(mask).map(|way| predictions[way]).max().unwrap_or(DISTANT);
    let age = DISTANT - oldest;
    let mut victim = None;
    for way in positions(mask) {
        let v = &mut predictions[way];
        *v += age;
        if *v == DISTANT {
            victim = Some(way as u32);
        }
    }
    victim.expect("a candidate of the highest value has been aged to distant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hit_again_outlive_lines_seen_once() {
        let mut p = [LONG; 4];
        p[3] = NEAR;
        assert_eq!(victim(&mut p, 0b1111), 2);
        p[2] = LONG;
        assert_eq!(victim(&mut p, 0b1111), 1);
        assert_eq!(victim(&mut p, 0b0001), 0);
    }
}
