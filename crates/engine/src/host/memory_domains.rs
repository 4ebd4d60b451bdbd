//! The memory among the domains: of two nodes, the one that matters to the work.

use super::Host;
use super::domains::domain;
use crate::memory::dram::ChannelStats;
use crate::stats::results::Domain;

/// A node with one in so many of the lines that the work moves is one that it uses.
const USED: u64 = 10;

impl Host {
    /// Queues and channels of the node that is told, and the link between the sockets.
    pub(super) fn memory_domains(&self) -> Vec<Domain> {
        let mut domains = Vec::from(self.node(self.told_node()));
        if let Some(link) = &self.memory.backend.link {
            let (busy, messages) = link.busy(self.now);
            domains.push(domain("socket-link", "direction", 1, busy.0, messages));
        }
        domains
    }

    /// Of the nodes that the work uses the one with the fuller channels or queues: those of the other are of no use to
    /// it.
    pub(super) fn told_node(&self) -> usize {
        let dram = &self.memory.backend.ingress.dram;
        let nodes = dram.channels() / dram.per_node();
        let lines: Vec<u64> = (0..nodes).map(|node| self.lines_of_work(node)).collect();
        let all: u64 = lines.iter().sum();
        let used = |&node: &usize| if all > 0 { lines[node] * USED >= all } else { node == 0 };
        let load = |d: &Domain| u128::from(d.busy_ps) * 1_000_000 / u128::from(d.credits);
        let fuller = |&node: &usize| {
            let [reads, _, channels] = self.node(node);
            load(&reads).max(load(&channels))
        };
        (0..nodes).filter(used).max_by_key(fuller).expect("one of the nodes carries most")
    }

    /// Lines that a node's memory has carried for the work: all but those of tenants beside it.
    fn lines_of_work(&self, node: usize) -> u64 {
        let (serving, bench) = (self.meters.offered > 0, self.bench.is_some());
        let works = |owner: usize| {
            let tenant = self.scenario.tenants.get(owner);
            tenant.is_none_or(|t| !bench && (!serving || t.app.settings().serves_packets()))
        };
        let own = self.memory.traffic.iter().enumerate().filter(|(owner, _)| works(*owner));
        own.map(|(_, nodes)| nodes[node].reads() + nodes[node].writes()).sum()
    }

    /// Queues and channels of a node.
    fn node(&self, node: usize) -> [Domain; 3] {
        let (now, ingress) = (self.now, &self.memory.backend.ingress);
        let dram = &ingress.dram;
        let channels = node * dram.per_node()..(node + 1) * dram.per_node();
        let stats: Vec<_> = channels.clone().map(|c| dram.stats(c, now)).collect();
        let full: u64 = channels.map(|c| ingress.full_time(c, now).0).sum();
        let sum = |of: fn(&ChannelStats) -> u64| stats.iter().map(of).sum::<u64>();
        let (reads, writes) = (sum(|s| s.reads), sum(|s| s.writes));
        let (config, channels) = (&self.scenario.machine.dram, stats.len() as u64);
        let c = &self.meters.domains;
        let [read_slots, write_slots] =
            [config.read_queue, config.write_queue].map(|slots| channels * u64::from(slots));
        let (read_time, write_time) = (sum(|s| s.read_queue_time.0), sum(|s| s.write_queue_time.0));
        [
            Domain {
                holds_reads_ps: c.reading.time(now),
                ..domain("read-queue", "slot", read_slots, read_time, reads)
            },
            Domain {
                // The mean over channels.
                starved_ps: full / channels,
                ..domain("write-queue", "slot", write_slots, write_time, writes)
            },
            Domain {
                holds_writes_ps: self.memory.backend.late_writes.time(now),
                ..domain("dram", "channel", channels, sum(|s| s.data_bus_busy.0), reads + writes)
            },
        ]
    }
}
