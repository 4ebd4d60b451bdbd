//! Whose memory a line belongs to, so that traffic can be attributed to tenants.

use super::line::Line;

/// A tenant's number. The number after the last tenant's stands for memory that belongs to none: page
/// tables, and the window of a DMA benchmark.
pub(crate) type Owner = u16;

/// The owners of all lines: a few regions with one owner each. A line's owner is found by binary
/// search, once for each line that crosses a memory bus.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    /// In ascending order. The first begins at line 0.
    begins: Vec<Line>,
    owners: Vec<Owner>,
}

impl Owners {
    /// From regions in any order, each of which begins at a line and ends where the next one begins. If
    /// two begin at the same line, the later in the list counts.
    pub(crate) fn new(mut regions: Vec<(Line, Owner)>) -> Owners {
        regions.sort_by_key(|region| region.0);
        let (mut begins, mut owners) = (vec![0], vec![regions.first().map_or(0, |first| first.1)]);
        for (at, &(begin, owner)) in regions.iter().enumerate() {
            let replaced = regions.get(at + 1).is_some_and(|next| next.0 == begin);
            if replaced || owners.last() == Some(&owner) {
                continue;
            }
            begins.push(begin);
            owners.push(owner);
        }
        Owners { begins, owners }
    }

    /// The number of the line's owner.
    #[inline]
    pub(crate) fn of(&self, line: Line) -> usize {
        self.owners[self.begins.partition_point(|&begin| begin <= line) - 1].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_owner_of_the_region_that_it_lies_in() {
        let owners = Owners::new(vec![(0, 0), (100, 0), (300, 2), (200, 1), (250, 0), (250, 1)]);
        let of = |line| owners.of(line);
        assert_eq!([0, 99, 100, 199].map(of), [0; 4]);
        assert_eq!([200, 249, 250, 299].map(of), [1; 4]);
        assert_eq!([300, Line::MAX].map(of), [2; 2]);
        assert_eq!(owners.begins, [0, 200, 300], "regions of one owner are one");
        assert_eq!(Owners::new(Vec::new()).of(7), 0);
    }
}
