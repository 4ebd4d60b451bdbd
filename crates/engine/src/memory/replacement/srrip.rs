//! Static re-reference interval prediction, hit priority, 2 bits (Jaleel et al., ISCA 2010).

use super::ways;

/// Predicted to be used again in the distant future: the victim.
const DISTANT: u8 = 3;
/// The prediction for a new line.
const LONG: u8 = 2;

#[derive(Clone, Debug)]
pub(crate) struct Srrip {
    rrpv: Vec<u8>,
}

impl Srrip {
    pub(super) fn new(slots: usize) -> Srrip {
        Srrip { rrpv: vec![DISTANT; slots] }
    }

    #[inline]
    pub(super) fn hit(&mut self, slot: usize) {
        self.rrpv[slot] = 0;
    }

    #[inline]
    pub(super) fn insert(&mut self, slot: usize) {
        self.rrpv[slot] = LONG;
    }

    /// The first way predicted distant; all candidates age until there is one.
    #[inline]
    pub(super) fn victim(&mut self, base: usize, mask: u32) -> u32 {
        let oldest = ways(mask).map(|w| self.rrpv[base + w as usize]).max().unwrap_or(DISTANT);
        let age = DISTANT - oldest;
        let mut victim = None;
        for way in ways(mask) {
            let v = &mut self.rrpv[base + way as usize];
            *v += age;
            if *v == DISTANT && victim.is_none() {
                victim = Some(way);
            }
        }
        victim.expect("a candidate of the highest value has been aged to distant")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hit_again_outlive_lines_seen_once() {
        let mut p = Srrip::new(4);
        for slot in 0..4 {
            p.insert(slot);
        }
        p.hit(0);
        assert_eq!(p.victim(0, 0b1111), 1);
        p.insert(1);
        assert_eq!(p.victim(0, 0b1111), 2);
        assert_eq!(p.victim(0, 0b0001), 0);
    }
}
