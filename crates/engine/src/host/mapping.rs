//! Mapping and unmapping of buffers at run time (strict and deferred mode), as drivers do it.
//!
//! A device address equals the physical address, even when a buffer is mapped again. What matters
//! about a new address is modelled all the same: its translation is in no cache.

use std::ops::Range;

use super::{Event, Host};
use crate::config::machine::Machine;
use crate::core::op::{Dep, Op, Ops};
use crate::iommu::config::{Mode, RunTime};
use crate::iommu::{Iommu, Mapping};
use crate::memory::line::{Line, LineKind};
use crate::serial::InTurn;
use crate::time::Ps;

/// Buffers that a core has unmapped but that have not been invalidated.
#[derive(Clone, Copy, Debug, Default)]
struct Gathered {
    buffers: u32,
    since: Ps,
    /// Flushes that had been done when the first of them was unmapped.
    flushes: u64,
}

/// The mapping work of the cores, and the invalidation queue that they share.
#[derive(Clone, Debug)]
pub(super) struct RunTimeMapping {
    strict: bool,
    costs: RunTime,
    gathered: Vec<Gathered>,
    /// Flushes so far. Each covers what all cores have gathered, as all queues of a NIC share one domain
    /// (`iova.c`: `fq_ring_free` frees what another core's flush has covered).
    flushes: u64,
    /// The invalidations requested so far, which the IOMMU does one after the other.
    queue: InTurn,
    /// What rounding the cores' times down to whole nanoseconds has cut off, to be added to the next of them.
    rest: Ps,
    /// The time that cores have spent on mapping and unmapping since measuring began.
    pub(super) taken: Ps,
    /// Invalidations since measuring began, and the sum of the times that cores have waited for them.
    pub(super) invalidations: u64,
    pub(super) waited: u128,
}

impl RunTimeMapping {
    /// The run-time mapping that the mode of a machine's IOMMU requires, if any.
    pub(super) fn new(machine: &Machine) -> Option<RunTimeMapping> {
        let iommu = machine.iommu.as_ref()?;
        let strict = match iommu.mode {
            Mode::Off | Mode::Loose => return None,
            Mode::Strict => true,
            Mode::Deferred => false,
        };
        Some(RunTimeMapping {
            strict,
            costs: iommu.run_time.clone(),
            gathered: vec![Gathered::default(); machine.core.count as usize],
            flushes: 0,
            queue: InTurn::default(),
            rest: Ps::ZERO,
            taken: Ps::ZERO,
            invalidations: 0,
            waited: 0,
        })
    }

    /// A core maps a buffer. The write of the page-table entry is left to [`Self::unmap`], which
    /// writes the same line.
    pub(super) fn map(&mut self, ops: &mut Ops) {
        self.take(self.costs.map.ps(), ops);
    }

    /// A core spends this time.
    fn take(&mut self, time: Ps, ops: &mut Ops) {
        self.taken += time;
        let Ps(all) = self.rest + time;
        self.rest = Ps(all % 1_000);
        // A delay of nothing would still wait for what the core has under way.
        if all >= 1_000 {
            ops.push(Op::Delay { ns: (all / 1_000) as u32 });
        }
    }

    /// A core unmaps a buffer: it clears the entry, and waits for the invalidation if one is due.
    pub(super) fn unmap(
        &mut self,
        now: Ps,
        core: u16,
        (mapping, lines): (Mapping, Range<Line>),
        iommu: &mut Iommu<Event>,
        ops: &mut Ops,
    ) {
        self.take(self.costs.unmap.ps(), ops);
        ops.store(iommu.leaf_entry(mapping, lines.start), LineKind::App, Dep::Free);
        iommu.unmap(mapping, lines, self.strict);
        if !self.strict {
            let (gathered, flushes) = (&mut self.gathered[core as usize], self.flushes);
            if gathered.buffers == 0 || gathered.flushes < flushes {
                *gathered = Gathered { buffers: 0, since: now, flushes };
            }
            gathered.buffers += 1;
            let old = now.saturating_sub(gathered.since) >= self.costs.flush_interval.ps();
            if gathered.buffers < self.costs.flush_after && !old {
                return;
            }
            self.flushes += 1;
            iommu.flush();
        }
        ops.push(Op::Invalidate);
    }

    /// Time that the IOMMU has spent on invalidations since measuring began.
    pub(super) fn busy(&self, now: Ps) -> Ps {
        self.queue.busy(now)
    }

    /// Starts the measured time.
    pub(super) fn reset_counts(&mut self, now: Ps) {
        (self.invalidations, self.waited) = (0, 0);
        self.queue.reset(now);
        self.taken = Ps::ZERO;
    }
}

impl Host {
    /// A core requests an invalidation, and goes on when it is done.
    pub(super) fn invalidate(&mut self, now: Ps, core: u16) {
        let mapping = self.run_time_mapping.as_mut().expect("only then does a core ask");
        let done = mapping.queue.serve(now, mapping.costs.invalidation.ps());
        mapping.invalidations += 1;
        mapping.waited += u128::from((done - now).0);
        self.cores[core as usize].core.invalidated(done);
        self.run_core(now, core);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::stats::results::{IommuResults, Results};
    use crate::testing::{forwarder, iommu_json, lines, machine, pcie_json, results};

    /// Forwarding in place, as fast as it goes, with an IOTLB large enough for everything.
    fn forwarding(mode: &str, cores: u32, run_time: &Value) -> (Results, IommuResults) {
        let mut iommu = iommu_json(1024);
        iommu["paging_structures"]["pd"] = json!(16);
        (iommu["mode"], iommu["run_time"]) = (json!(mode), run_time.clone());
        let r = results(&forwarder(&[
            ("/machine/pcie", pcie_json()),
            ("/machine/iommu", iommu),
            ("/tenants/0/cores/count", json!(cores)),
            ("/traffic/rate", json!("8 Mpps")),
            ("/run/duration", json!("4 ms")),
        ]));
        let iommu = r.iommu.clone().expect("there is an IOMMU");
        (r, iommu)
    }

    fn payload_misses(iommu: &IommuResults) -> f64 {
        iommu.lookups[0].misses_per_packet.expect("packets were completed")
    }

    /// The operations of mapping ten buffers at this cost.
    fn ten_mappings(cost: &str) -> Vec<Op> {
        let mut machine = machine();
        let mut config = crate::iommu::testing::config(4);
        config.mode = Mode::Strict;
        config.run_time.map = cost.parse().expect("a time");
        machine.iommu = Some(config);
        let mut mapping = RunTimeMapping::new(&machine).expect("strict mode maps");
        let mut ops = Ops::new(false);
        (0..10).for_each(|_| {
            mapping.map(&mut ops);
        });
        ops.iter().collect()
    }

    #[test]
    fn fractions_of_a_nanosecond_are_not_lost() {
        let ns = ten_mappings("100300 ps").into_iter().map(|op| match op {
            Op::Delay { ns } => ns,
            other => panic!("mapping takes time; got {other:?}"),
        });
        assert_eq!(ns.sum::<u32>(), 1_003);
    }

    #[test]
    fn what_costs_nothing_waits_for_nothing() {
        assert_eq!(ten_mappings("0 ns").len(), 0);
    }

    #[test]
    fn what_is_unmapped_is_asked_for_anew() {
        let (_, loose) = forwarding("loose", 2, &json!({}));
        assert_eq!((payload_misses(&loose), loose.invalidations), (0.0, None));
        for (mode, cores, invalidations) in [("strict", 2, 2.0), ("deferred", 1, 2.0 / 64.0)] {
            let (r, iommu) = forwarding(mode, cores, &json!({ "flush_after": 64 }));
            // One miss when a packet is received and one when it is sent; two for a buffer that
            // spans two pages.
            let missed = payload_misses(&iommu);
            assert!((1.9..3.0).contains(&missed), "{mode}: {missed} misses a packet");
            let per_packet =
                iommu.invalidations.expect("it unmaps") as f64 / r.packets.completed as f64;
            assert!((per_packet / invalidations - 1.0).abs() < 0.05, "{mode}: {per_packet}");
        }
    }

    /// A flush covers what all cores have gathered.
    #[test]
    fn more_cores_flush_less_often_for_a_packet() {
        let per_packet = |cores| {
            let (r, iommu) = forwarding("deferred", cores, &json!({ "flush_after": 256 }));
            iommu.invalidations.expect("it unmaps") as f64 / r.packets.completed as f64
        };
        let one = per_packet(1);
        assert!((one * 128.0 - 1.0).abs() < 0.05, "{one}");
        // The flows spread packets over two cores almost evenly: the fuller one flushes for both.
        let two = per_packet(2) / one;
        assert!((0.5..0.6).contains(&two), "{two}");
    }

    /// Cores share the invalidation queue ("Utilizing the IOMMU Scalably", USENIX ATC 2015).
    #[test]
    fn strict_mode_moves_no_more_than_the_queue_invalidates() {
        let slow = json!({ "invalidation": "1 us" });
        let rate = |mode, cores| forwarding(mode, cores, &slow).0.packets.completed_mpps;
        let (one, two) = (rate("strict", 1), rate("strict", 2));
        // Two invalidations a packet.
        assert!(two < 0.51 && two > 0.45 && one < two, "{one:.3} and {two:.3} Mpps");
        let deferred = rate("deferred", 2);
        assert!(deferred > 2.0 * two, "{deferred:.3} and {two:.3} Mpps");
    }

    #[test]
    fn the_queue_and_the_cores_that_wait_for_it_are_busy() {
        let slow = json!({ "invalidation": "1 us" });
        let (r, iommu) = forwarding("strict", 2, &slow);
        let of = |name: &str| r.domains.iter().find(|d| d.domain == name).expect("a domain");
        let (queue, span) = (of("invalidations"), r.measured_ns * 1e3);
        let asked = iommu.invalidations.expect("it unmaps");
        assert_eq!(queue.uses, asked);
        // Invalidations in progress at either end count in part.
        let busy = queue.busy_ps as f64;
        assert!(busy > 0.9 * span && busy <= span, "{busy} of {span}");
        assert!(queue.busy_ps.abs_diff(1_000_000 * asked) <= 2_000_000, "{queue:?}, {asked}");
        // Each core waits for the other's invalidation and its own, and for little else.
        let cores = of("cores").busy_ps as f64 / 2.0;
        assert!(cores > 0.97 * span && cores <= span, "{cores} of {span}");
        // Loose mode has neither.
        let (loose, iommu) = forwarding("loose", 2, &slow);
        assert!(loose.domains.iter().all(|d| d.domain != "invalidations"));
        assert_eq!((iommu.invalidations, iommu.mapping_ps), (None, None));
        // Two buffers a packet are mapped and unmapped.
        let mapping = r.iommu.and_then(|i| i.mapping_ps).expect("it maps") as f64 / 1e3;
        let each = 2.0 * (235.0 + 301.0) * r.packets.completed as f64;
        assert!((mapping / each - 1.0).abs() < 0.02, "{mapping} and {each} ns");
    }

    #[test]
    fn waiting_for_an_invalidation_is_no_access_of_memory() {
        let amat = |invalidation: &str| {
            let (r, iommu) = forwarding("strict", 1, &json!({ "invalidation": invalidation }));
            let llc = r.caches.iter().find(|c| c.level == "llc" && c.kind == "descriptor");
            let requests = llc.map_or(0, |c| c.hits + c.misses);
            // Two invalidations a packet, but one completion to be read.
            let asked = iommu.invalidations.expect("it unmaps");
            assert!(requests < 2 * asked, "{requests} requests, {asked} invalidations");
            r.amat_ns.expect("there are accesses")
        };
        let (short, long) = (amat("10 ns"), amat("20 us"));
        assert!(long < 3.0 * short, "{short} and {long} ns");
    }

    #[test]
    fn an_old_mapping_is_flushed_though_few_have_gathered() {
        let never = forwarding("deferred", 1, &json!({ "flush_after": 1_000_000 })).1;
        assert_eq!(never.invalidations, Some(0));
        let run_time = json!({ "flush_after": 1_000_000, "flush_interval": "100 us" });
        let flushed = forwarding("deferred", 1, &run_time).1.invalidations.expect("it unmaps");
        assert!((35..=41).contains(&flushed), "{flushed} in 4 ms");
    }

    #[test]
    fn page_tables_that_cores_write_are_cached_where_walks_find_them() {
        let reads = |mode| {
            let (r, iommu) = forwarding(mode, 2, &json!({}));
            assert!(iommu.walk_reads > 1_000, "{}", iommu.walk_reads);
            lines(&r, "iommu-walk-rd") as f64 / iommu.walk_reads as f64
        };
        assert!(reads("strict") < 0.2, "{}", reads("strict"));
    }
}
