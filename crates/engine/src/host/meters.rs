//! What the host counts about packets on the path, and the start of the measured time.

use super::Host;
use super::domain_counters::DomainCounters;
use super::packets::Packet;
use super::series::Samples;
use crate::apps::App;
use crate::stats::histogram::Latency;
use crate::time::Ps;

/// The stages whose latency is measured, in path order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    Nic,
    Dma,
    Queue,
    Service,
    Transmit,
    /// From arrival to the end of the service.
    Total,
    /// From arrival until the NIC has sent what the packet caused: from port to port.
    Sent,
}

impl Stage {
    pub(super) const ALL: [Stage; 7] = [
        Stage::Nic,
        Stage::Dma,
        Stage::Queue,
        Stage::Service,
        Stage::Transmit,
        Stage::Total,
        Stage::Sent,
    ];

    /// Its name in the results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::Nic => "nic",
            Stage::Dma => "dma",
            Stage::Queue => "queue",
            Stage::Service => "service",
            Stage::Transmit => "transmit",
            Stage::Total => "total",
            Stage::Sent => "sent",
        }
    }
}

/// What the host counts since measuring began.
#[derive(Clone, Debug)]
pub(super) struct Meters {
    pub(super) begin: Ps,
    pub(super) offered: u64,
    pub(super) offered_bytes: u64,
    /// How long packets have waited for the link into the NIC: the sum over them, ps.
    pub(super) link_wait: u128,
    pub(super) dropped_sram: u64,
    pub(super) dropped_no_descriptor: u64,
    pub(super) dropped_bytes: u64,
    pub(super) completed: u64,
    /// Packets completed in all the time before measuring.
    pub(super) completed_before: u64,
    pub(super) completed_bytes: u64,
    pub(super) transmitted: u64,
    /// Packets admitted whose request has not ended.
    pub(super) in_path: u64,
    pub(super) in_path_begin: u64,
    /// Packets that waited to be sent when measuring began.
    pub(super) unsent_begin: u64,
    /// By [`Stage`], whose numbers are those of `Stage::ALL`.
    pub(super) stages: [Latency; Stage::ALL.len()],
    /// Lines that the NIC reads or writes, and entries that page walks of the IOMMU read.
    pub(super) io_lines: u64,
    /// Counters of the domains on the path.
    pub(super) domains: DomainCounters,
    pub(super) series: Samples,
}

impl Meters {
    pub(super) fn new() -> Meters {
        Meters {
            begin: Ps::ZERO,
            offered: 0,
            offered_bytes: 0,
            link_wait: 0,
            dropped_sram: 0,
            dropped_no_descriptor: 0,
            dropped_bytes: 0,
            completed: 0,
            completed_before: 0,
            completed_bytes: 0,
            transmitted: 0,
            in_path: 0,
            in_path_begin: 0,
            unsent_begin: 0,
            stages: Default::default(),
            io_lines: 0,
            domains: DomainCounters::default(),
            series: Samples::from(Ps::ZERO),
        }
    }

    /// The request of a packet has ended.
    pub(super) fn ended(&mut self, now: Ps, p: &Packet) {
        self.completed += 1;
        self.completed_bytes += u64::from(p.bytes);
        self.in_path -= 1;
        let spans = [
            (Stage::Nic, p.dma_start - p.arrived),
            (Stage::Dma, p.visible - p.dma_start),
            (Stage::Queue, p.begun.saturating_sub(p.visible)),
            (Stage::Service, now - p.begun),
            (Stage::Total, now - p.arrived),
        ];
        for (stage, span) in spans {
            self.stages[stage as usize].record(span);
        }
    }

    /// The NIC has sent a packet.
    pub(super) fn sent(&mut self, now: Ps, p: &Packet) {
        self.transmitted += 1;
        self.stages[Stage::Transmit as usize].record(now - p.to_send_since);
        self.stages[Stage::Sent as usize].record(now - p.arrived);
    }

    pub(super) fn service_mean_ns(&self) -> f64 {
        self.stages[Stage::Service as usize].mean_ns()
    }

    pub(super) fn total_p99_ns(&self) -> f64 {
        self.stages[Stage::Total as usize].percentile_ns(99.0)
    }

    pub(super) fn slower_than(&self, ns: f64) -> u64 {
        self.stages[Stage::Total as usize].above(ns)
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped_sram + self.dropped_no_descriptor
    }
}

impl Host {
    /// Starts the measured time in all counters.
    pub(super) fn reset_meters(&mut self) {
        let now = self.now;
        let in_path = self.meters.in_path;
        let completed_before = self.meters.completed_before + self.meters.completed;
        let mut domains = std::mem::take(&mut self.meters.domains);
        domains.reset(now);
        let fresh = Meters::new();
        self.meters = Meters {
            begin: now,
            completed_before,
            in_path,
            in_path_begin: in_path,
            unsent_begin: self.tx.unsent(),
            series: Samples::from(now),
            domains,
            ..fresh
        };
        self.schedule_sample(now);
        self.memory.reset_counts(now);
        for q in &mut self.queues {
            q.reset_counts(now);
        }
        self.rx.sram.reset_counts(now);
        self.rx.engine.reset_counts(now);
        self.tx.engine.reset_counts(now);
        self.rx.gathered.reset(now);
        self.writes.reset_counts(now);
        self.reads.reset_counts(now);
        self.interconnect.reset_counts(now);
        if let Some(iommu) = &mut self.iommu {
            iommu.reset_counts(now);
        }
        if let Some(mapping) = &mut self.run_time_mapping {
            mapping.reset_counts(now);
        }
        if let Some(bench) = &mut self.bench {
            bench.reset_counts();
        }
        for c in &mut self.cores {
            c.reset_counts(now);
        }
        for app in &mut self.apps {
            app.reset_counters();
        }
        if let Some(closed_loop) = &mut self.closed_loop {
            closed_loop.reset(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{forwarder, results};

    #[test]
    fn stages_are_listed_in_the_order_of_their_numbers() {
        assert!(Stage::ALL.into_iter().enumerate().all(|(n, stage)| stage as usize == n));
    }

    #[test]
    fn the_stages_up_to_the_end_of_a_request_are_all_of_its_latency() {
        // Overload, so that none of the stages is empty.
        let r = results(&forwarder(&[("/traffic/rate", "40 Mpps".into())]));
        let mean = |stage: &str| {
            let stage = r.latency.iter().find(|l| l.stage == stage).expect("a stage");
            assert_eq!(stage.distribution.count, r.packets.completed);
            stage.distribution.mean_ns
        };
        let stages = ["nic", "dma", "queue", "service"].map(mean);
        assert!(stages.iter().all(|&ns| ns > 0.0), "{stages:?}");
        let (sum, total) = (stages.iter().sum::<f64>(), mean("total"));
        assert!((sum / total - 1.0).abs() < 1e-6, "{sum} of {total} ns");
    }

    #[test]
    fn from_port_to_port_is_the_whole_and_sending() {
        let r = results(&forwarder(&[("/run/warmup", "400 us".into())]));
        let mean = |stage: &str| {
            let stage = r.latency.iter().find(|l| l.stage == stage).expect("a stage");
            stage.distribution.mean_ns
        };
        let (sent, sum) = (mean("sent"), mean("total") + mean("transmit"));
        assert!(mean("transmit") > 10.0);
        // Packets on their way when measuring began, or when it ended, are not the same.
        assert!((sent / sum - 1.0).abs() < 0.01, "{sent} of {sum} ns");
        let counted = r.latency.iter().find(|l| l.stage == "sent").expect("a stage");
        assert_eq!(counted.distribution.count, r.packets.transmitted);
    }

    #[test]
    fn what_completes_before_measuring_is_counted_apart() {
        let of = |warmup: &str| {
            let packets = results(&forwarder(&[("/run/warmup", warmup.into())])).packets;
            (packets.completed_before, packets.completed)
        };
        let (short, long) = (of("50 us"), of("400 us"));
        // 4 Mpps, Poisson: 200 and 1600 packets, and 800 in the measured 200 us.
        assert!(
            (150..250).contains(&short.0) && (1450..1750).contains(&long.0),
            "{short:?} {long:?}"
        );
        assert!(
            (700..900).contains(&short.1) && (700..900).contains(&long.1),
            "{short:?} {long:?}"
        );
    }
}
