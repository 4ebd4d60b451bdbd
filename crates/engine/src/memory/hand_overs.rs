//! Lines that pass from core to core: the home of a line performs one hand-over of it at a time.

use super::line::Line;
use crate::time::Ps;

/// Sets of lines whose last hand-over is remembered, two in each. Of a line that two others have displaced since, it is
/// taken to be long over: so many lines of a set rarely change hands within the time of one hand-over.
const SETS: usize = 512;

/// When the last hand-over of each line is over.
#[derive(Clone, Debug)]
pub(super) struct HandOvers {
    last: Vec<[(Line, Ps); 2]>,
    /// How long a hand-over occupies the line's home: until a snoop would find the line at its new
    /// owner.
    takes: Ps,
}

impl HandOvers {
    pub(super) fn new(takes: Ps) -> HandOvers {
        HandOvers { last: vec![[(Line::MAX, Ps::ZERO); 2]; SETS], takes }
    }

    /// A request at `now` takes a line from another core, or the right to write it. Returns when its turn
    /// comes.
    #[inline]
    pub(super) fn turn(&mut self, now: Ps, line: Line) -> Ps {
        let turn = now.max(self.over(line));
        let set = &mut self.last[line as usize % SETS];
        // The place of the line, or else of the one whose hand-over is over first.
        let place = match set.iter().position(|last| last.0 == line) {
            Some(place) => place,
            None => usize::from(set[1].1 < set[0].1),
        };
        set[place] = (line, turn + self.takes);
        turn
    }

    /// When the last hand-over of a line is or was over. Until then nobody else has its data.
    #[inline]
    pub(super) fn over(&self, line: Line) -> Ps {
        let set = &self.last[line as usize % SETS];
        set.iter().find(|last| last.0 == line).map_or(Ps::ZERO, |last| last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::machine::Machine;
    use crate::memory::config::Uncore;
    use crate::memory::line::LineKind;
    use crate::testing::{machine, memory};
    use crate::units::Frequency;

    /// The L2s count cycles of the cores' 2 GHz, LLC and network those of the uncore.
    fn two_clocks() -> Machine {
        let mut machine = machine();
        machine.uncore = Some(Uncore { frequency: Frequency(1_600_000_000) });
        machine
    }

    #[test]
    fn hand_overs_of_a_line_follow_each_other_and_those_of_two_do_not() {
        let mut h = HandOvers::new(Ps(20));
        let turns = [(100, 7), (101, 7), (102, 8), (130, 7), (200, 7)];
        let turns = turns.map(|(now, line)| h.turn(Ps(now), line).0);
        assert_eq!(turns, [100, 120, 102, 140, 200]);
        assert_eq!([7, 8, 9].map(|line| h.over(line).0), [220, 122, 0]);
    }

    #[test]
    fn two_lines_of_a_set_do_not_displace_each_other() {
        let mut h = HandOvers::new(Ps(20));
        let other = 7 + SETS as Line;
        let turns = [(100, 7), (101, other), (102, 7), (103, other), (200, 7 + 2 * SETS as Line)];
        let turns = turns.map(|(now, line)| h.turn(Ps(now), line).0);
        assert_eq!(turns, [100, 101, 120, 121, 200]);
        assert_eq!([7, other].map(|line| h.over(line).0), [0, 141]);
    }

    /// When cores that all want a line at the same time get it, after core 0 has had the right to write
    /// it.
    fn served(exclusive: bool) -> Vec<Ps> {
        let mut memory = memory(&two_clocks());
        memory.fill_at_once(0, 7, LineKind::App, true);
        let request = |core| memory.request(Ps(0), 7, LineKind::App, core, 0, exclusive);
        [1, 0, 1].map(request).into_iter().map(|at| at.expect("it is on the chip")).collect()
    }

    #[test]
    fn a_line_that_cores_write_in_turn_passes_once_in_a_snoop() {
        let machine = two_clocks();
        let cycles = |n: u32| machine.uncore_frequency().clock().at(u64::from(n));
        let (noc, llc) = (machine.noc.latency_cycles, machine.llc.latency_cycles);
        let l2 = machine.core.frequency.clock().at(machine.l2.latency_cycles.into());
        let first = cycles(llc + noc) + cycles(2 * noc) + l2;
        let each = first - cycles(noc);
        assert_eq!(served(true), [first, first + each, first + each + each]);
        // The first reader takes away the right to write; after that, all find the line in the LLC.
        assert!(each > cycles(llc + noc));
        assert_eq!(served(false), [first, each, each]);
    }

    /// Each of two cores that share a line can write it only once the other one has lost its copy.
    #[test]
    fn the_right_to_write_a_shared_line_passes_once_in_a_snoop() {
        let mut memory = memory(&machine());
        memory.fill_at_once(0, 7, LineKind::App, true);
        let mut at = |now, core, exclusive| {
            memory.request(now, 7, LineKind::App, core, 0, exclusive).expect("it is on the chip")
        };
        let long_after = Ps::from_ns(1000);
        at(Ps(0), 1, false);
        let first = at(long_after, 0, true);
        let [second, third] = [1, 0].map(|core| at(long_after, core, true));
        assert_eq!(second - first, third - second);
        // What a reader then gets comes from the last writer.
        assert_eq!(at(long_after, 1, false) - third, second - first);
    }
}
