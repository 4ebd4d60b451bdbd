//! How loaded each stage of the path is, and which one limits.

use super::Host;
use crate::config::scenario::Policy;
use crate::stats::results::StageLoad;

/// A stage this loaded is saturated: queueing there grows without bound beyond it.
const SATURATED: f64 = 0.9;

impl Host {
    /// The load of every stage in path order, and the name of the one that limits throughput: the
    /// last saturated one on the path, because a stage that waits for a saturated one behind it
    /// fills up too; without any, the most loaded.
    pub(super) fn stage_loads(&self) -> (Vec<StageLoad>, String) {
        let machine = &self.scenario.machine;
        let span = self.span_ps();
        let mut stages = Vec::new();
        let mut add = |stage: &str, load: f64, detail: String| {
            stages.push(StageLoad { stage: stage.into(), load: load.clamp(0.0, 1.0), detail });
        };
        if !self.queues.is_empty() {
            let sram = self.mean_sram();
            add(
                "nic-sram",
                sram / self.rx.sram_bytes() as f64,
                format!("{:.1} of {} KiB in use", sram / 1024.0, self.rx.sram_bytes() / 1024),
            );
            let ring = self.mean_ring_use();
            add("descriptors", ring, format!("{:.1} % not posted to the NIC", 100.0 * ring));
            let credits = self.mean_credits();
            let all = f64::from(self.rx.credits());
            add("io-credits", credits / all, format!("{credits:.1} of {all} lines in flight"));
            if let Some(link) = &self.rx.link {
                let (up, down) = link.busy();
                let (up, down) = (up.0 as f64 / span, down.0 as f64 / span);
                add(
                    "pcie",
                    up.max(down),
                    format!(
                        "{:.0} % to the processor, {:.0} % to the NIC",
                        100.0 * up,
                        100.0 * down
                    ),
                );
            }
            let c = &self.memory.counts;
            let writes = c.io_write_hits + c.io_write_misses;
            if self.policy() == Policy::Ddio && writes > 0 {
                let evicting = self.memory.caches.io_evictions as f64 / writes as f64;
                add(
                    "io-ways",
                    evicting,
                    format!("{:.1} % of DMA writes evict a line", 100.0 * evicting),
                );
            }
        }
        let (all, missed) =
            self.memory.counts.llc_by_core.iter().fold((0u64, 0u64), |a, c| (a.0 + c.0, a.1 + c.1));
        if all > 0 {
            let share = missed as f64 / all as f64;
            add("llc", share, format!("{:.1} % of core requests miss", 100.0 * share));
        }
        // The more loaded node counts: the channels of the other are of no use to it.
        let backend = &self.memory.backend;
        let (dram, now) = (&backend.dram, self.meters.now);
        let (bus, queues) = (0..dram.nodes())
            .map(|node| {
                let channels = node * dram.per_node()..(node + 1) * dram.per_node();
                let busy = |c| dram.stats(c, now).data_bus_busy.0 as f64 / span;
                let bus = channels.clone().map(busy).sum::<f64>() / dram.per_node() as f64;
                (bus, backend.queue_share(channels, now, span))
            })
            .max_by(|a, b| a.0.max(a.1).total_cmp(&b.0.max(b.1)))
            .expect("there is a node");
        add(
            "dram",
            bus.max(queues),
            format!("data bus {:.0} %, fullest queue {:.0} %", 100.0 * bus, 100.0 * queues),
        );
        if let Some(link) = &backend.link {
            let (out, back) = link.bytes();
            let share = |bytes: u64| bytes as f64 / (span / 1e3) / link.limit_gbps();
            let (out, back) = (share(out), share(back));
            add(
                "socket-link",
                out.max(back),
                format!("{:.0} % to the other socket, {:.0} % from it", 100.0 * out, 100.0 * back),
            );
        }
        let registers = self.miss_register_share();
        let detail = format!(
            "{:.1} of {} in use",
            registers * f64::from(machine.core.l1_miss_registers),
            machine.core.l1_miss_registers
        );
        add("miss-registers", registers, detail);
        let busy = self.busy_share();
        add("cores", busy, format!("{:.1} % of time busy", 100.0 * busy));

        // Misses are a reason, not a resource: a stage of misses never limits by itself.
        let resources = stages.iter().filter(|s| s.stage != "io-ways" && s.stage != "llc");
        let mut saturated = resources.clone().filter(|s| s.load >= SATURATED);
        let behind_cores = saturated
            .clone()
            .find(|s| ["dram", "socket-link", "miss-registers"].contains(&&*s.stage));
        let limiting = behind_cores
            .or_else(|| saturated.next_back())
            .or_else(|| resources.max_by(|a, b| a.load.total_cmp(&b.load)))
            .map_or_else(|| "cores".to_string(), |s| s.stage.clone());
        (stages, limiting)
    }
}
