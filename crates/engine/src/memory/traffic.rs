//! Causes of memory traffic: every line that crosses the memory bus has exactly one.

use super::line::LineKind;

/// Who moves a line between processor and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Agent {
    /// A load or store of a core that missed everywhere.
    Cpu = 0,
    /// A hardware prefetcher.
    Prefetch = 1,
    /// A DMA read of the NIC that missed everywhere.
    NicRead = 2,
    /// A page walk of the IOMMU that missed everywhere.
    Walk = 3,
    /// A DMA write of the NIC that bypasses the caches.
    NicWrite = 4,
    /// A dirty line that had to leave the LLC.
    Evict = 5,
    /// A dirty line written back by an instruction (`clwb`).
    Clean = 6,
}

impl Agent {
    /// How many agents there are.
    pub(crate) const COUNT: usize = 7;
    /// All agents, in the order of their numbers.
    pub(crate) const ALL: [Agent; Self::COUNT] = [
        Agent::Cpu,
        Agent::Prefetch,
        Agent::NicRead,
        Agent::Walk,
        Agent::NicWrite,
        Agent::Evict,
        Agent::Clean,
    ];

    /// Whether it moves lines to memory, and not from there. (A new agent has its place in
    /// [`Agent::ALL`], too.)
    pub(crate) const fn writes(self) -> bool {
        match self {
            Agent::Cpu | Agent::Prefetch | Agent::NicRead | Agent::Walk => false,
            Agent::NicWrite | Agent::Evict | Agent::Clean => true,
        }
    }
}

/// A cause: who moves the line, and what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cause {
    agent: Agent,
    kind: LineKind,
}

impl Cause {
    pub(crate) const fn new(agent: Agent, kind: LineKind) -> Cause {
        Cause { agent, kind }
    }

    /// Its place among all causes.
    const fn number(self) -> usize {
        self.agent as usize * LineKind::COUNT + self.kind as usize
    }

    /// A DMA write that bypasses the caches.
    pub(crate) const fn is_nic_write(self) -> bool {
        matches!(self.agent, Agent::NicWrite)
    }
}

const CAUSES: usize = Agent::COUNT * LineKind::COUNT;

/// Lines moved, by cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    lines: [u64; CAUSES],
}

impl Default for Traffic {
    fn default() -> Self {
        Traffic { lines: [0; CAUSES] }
    }
}

impl Traffic {
    #[inline]
    pub(crate) fn count(&mut self, cause: Cause) {
        self.lines[cause.number()] += 1;
    }

    /// The sum of `all`.
    pub(crate) fn sum<'a>(all: impl IntoIterator<Item = &'a Traffic>) -> Traffic {
        all.into_iter().fold(Traffic::default(), |sum, t| Traffic {
            lines: std::array::from_fn(|i| sum.lines[i] + t.lines[i]),
        })
    }

    pub(crate) fn reads(&self) -> u64 {
        self.total(false)
    }

    pub(crate) fn writes(&self) -> u64 {
        self.total(true)
    }

    fn total(&self, writes: bool) -> u64 {
        let agents = Agent::ALL.into_iter().filter(|agent| agent.writes() == writes);
        agents.map(|agent| self.of_agent(agent)).sum()
    }

    pub(crate) fn lines(&self, agent: Agent, kind: LineKind) -> u64 {
        self.lines[Cause::new(agent, kind).number()]
    }

    fn of_agent(&self, agent: Agent) -> u64 {
        LineKind::ALL.into_iter().map(|kind| self.lines(agent, kind)).sum()
    }

    /// How many causes figure 1c of the Sweeper paper has.
    pub(crate) const OF_FIGURE_1C: usize = 7;

    /// Lines by name of the cause, first those of figure 1c in its order, then the rest.
    pub(crate) fn by_name(&self) -> Vec<(&'static str, u64)> {
        use Agent::{Clean, Cpu, Evict, NicRead, NicWrite, Prefetch, Walk};
        use LineKind::{App, Bench, Descriptor, Mbuf, Rx, Tx};
        let any = |agent| self.of_agent(agent);
        let one = |agent, kind| self.lines(agent, kind);
        vec![
            ("nic-rx-wr", one(NicWrite, Rx)),
            ("nic-tx-rd", one(NicRead, Tx) + one(NicRead, Rx)),
            ("cpu-rx-rd", one(Cpu, Rx)),
            ("cpu-other-rd", one(Cpu, App) + one(Cpu, Bench)),
            ("rx-evct", one(Evict, Rx)),
            ("tx-evct", one(Evict, Tx)),
            ("other-evct", one(Evict, App)),
            ("cpu-tx-rd", one(Cpu, Tx)),
            ("cpu-descriptor-rd", one(Cpu, Descriptor)),
            ("mbuf-rd", one(Cpu, Mbuf)),
            ("prefetch-rd", any(Prefetch)),
            (
                "nic-descriptor-rd",
                one(NicRead, Descriptor) + one(NicRead, Mbuf) + one(NicRead, App),
            ),
            (
                "nic-descriptor-wr",
                one(NicWrite, Descriptor)
                    + one(NicWrite, Mbuf)
                    + one(NicWrite, App)
                    + one(NicWrite, Tx),
            ),
            ("nic-bench-rd", one(NicRead, Bench)),
            ("nic-bench-wr", one(NicWrite, Bench)),
            ("bench-evct", one(Evict, Bench)),
            ("descriptor-evct", one(Evict, Descriptor)),
            ("mbuf-evct", one(Evict, Mbuf)),
            ("page-clean-wr", any(Clean)),
            ("iommu-walk-rd", any(Walk)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_listed_in_the_order_of_their_numbers() {
        assert!(Agent::ALL.into_iter().map(|agent| agent as usize).eq(0..Agent::COUNT));
    }

    #[test]
    fn the_names_cover_every_cause_once() {
        let mut t = Traffic::default();
        for (i, n) in t.lines.iter_mut().enumerate() {
            *n = 1 << i;
        }
        let named: u64 = t.by_name().iter().map(|c| c.1).sum();
        assert_eq!(named, (1 << CAUSES) - 1);
        assert_eq!(t.reads() + t.writes(), named);
        assert_eq!(t.by_name()[Traffic::OF_FIGURE_1C - 1].0, "other-evct");
    }
}
