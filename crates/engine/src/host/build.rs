//! From a scenario to a host at time zero.

use std::collections::VecDeque;
use std::sync::Arc;

use super::closed_loop::ClosedLoop;
use super::dma_bench::BenchDevice;
use super::interconnect::Interconnect;
use super::mapping::RunTimeMapping;
use super::meters::Meters;
use super::packets::Packets;
use super::reads::Reads;
use super::rx::Receiver;
use super::tx::Transmitter;
use super::writes::Writes;
use super::{Host, HostCore, MAX_SKEW};
use crate::apps::{AnyApp, App, Site};
use crate::check::Violation;
use crate::config::Scenario;
use crate::config::scenario::WayRange;
use crate::config::validate::frame_room;
use crate::core::interval::Core;
use crate::events::Events;
use crate::iommu::Iommu;
use crate::iommu::config::{Mode, PageSize};
use crate::memory::address_space::AddressSpace;
use crate::memory::dram::Dram;
use crate::memory::line::{LINE_BYTES, MemoryNode};
use crate::memory::system::Memory;
use crate::nic::buffers::Region;
use crate::nic::config::Start;
use crate::nic::queue::QueuePair;
use crate::nic::rss::Rss;
use crate::rng::{GOLDEN_GAMMA, Rng};
use crate::time::Ps;
use crate::units::Size;
use crate::wire::config::TrafficConfig;
use crate::wire::{Capture, Source};

/// A scenario that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {given}; expected {allowed}")]
pub struct BuildError {
    /// The key in the scenario.
    pub key: String,
    /// The value given.
    pub given: String,
    /// What is allowed.
    pub allowed: String,
}

fn mask(ways: WayRange) -> u32 {
    (((1u64 << ways.count) - 1) << ways.first) as u32
}

/// The applications on their cores, and a queue pair for each core that serves packets.
fn tenants(
    scenario: &Scenario,
    cores: &mut [HostCore],
    core_ways: &mut [u32],
    space: &mut AddressSpace,
) -> (Vec<AnyApp>, Vec<QueuePair>) {
    let machine = &scenario.machine;
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let mapped = machine.iommu.as_ref().map_or(PageSize::Small, |iommu| iommu.pages.payload);
    let page = mapped.region_begins_on();
    // A buffer that is mapped by itself shares its page with nothing else.
    let run_time = machine.iommu.as_ref().is_some_and(|iommu| iommu.mode.maps_at_run_time());
    let own_unit = if run_time { page.0 } else { LINE_BYTES };
    let config = &scenario.queues.in_units_of(own_unit);
    let tx_bytes = closed_loop.map_or(scenario.queues.buffer_size, |c| c.acknowledgement);
    let tx_bytes = Size(tx_bytes.0.next_multiple_of(own_unit));
    let mut places = Rng::new(scenario.run.seed, "pools");
    let mut dealt = None;
    let (mut apps, mut queues) = (Vec::new(), Vec::new());
    for (index, tenant) in scenario.tenants.iter().enumerate() {
        space.owned_by(index as u16);
        space.on(tenant.memory);
        let seed = tenant_seed(scenario.run.seed, index);
        let on = tenant.cores.first..tenant.cores.first + tenant.cores.count;
        let site = Site { on: on.clone(), seed, closed_loop, space };
        let app = AnyApp::build(&tenant.app, site);
        space.on(scenario.queues.memory);
        for (rank, id) in (0..).zip(on) {
            let id = id as usize;
            if let Some(ways) = tenant.llc_ways {
                core_ways[id] = mask(ways);
            }
            (cores[id].tenant, cores[id].rank) = (Some(index), rank);
            if !tenant.app.settings().serves_packets() || scenario.traffic.is_none() {
                continue;
            }
            let number = queues.len() as u32;
            cores[id].queue = Some(number as u16);
            let place = if config.start == Start::Dealt {
                let all = dealt.get_or_insert_with(|| {
                    Region::new(config, scenario.serving_cores(), page, space)
                });
                all.give(config, number, space);
                (*all, number)
            } else {
                (Region::new(config, 1, page, space), 0)
            };
            let (core, nic) = (id as u16, &machine.nic);
            queues.push(QueuePair::new(core, config, tx_bytes, nic, place, space, &mut places));
        }
        apps.push(app);
    }
    (apps, queues)
}

/// Seed of a tenant's application: tenants of one kind must not run in step.
const fn tenant_seed(seed: u64, index: usize) -> u64 {
    seed.wrapping_add((index as u64).wrapping_mul(GOLDEN_GAMMA))
}

/// Rejects a capture whose frames are larger than the room for them.
fn check_frames(scenario: &Scenario, file: &str, capture: &Capture) -> Result<(), BuildError> {
    let (of, room) = frame_room(&scenario.queues, &scenario.machine);
    let largest = Size(capture.largest_frame().into());
    if largest <= room {
        return Ok(());
    }
    Err(BuildError {
        key: "traffic.file".into(),
        given: format!("{file:?}"),
        allowed: format!(
            "a capture of frames of at most {of} ({room}); the largest of this one has {} bytes (if that is \
             more than the MTU, GRO or TSO had merged segments where it was captured)",
            largest.0
        ),
    })
}

/// The traffic source, and how its packets are spread over the queues; `None` for closed-loop traffic.
fn arrivals(
    scenario: &Scenario,
    capture: Option<Arc<Capture>>,
    apps: &[AnyApp],
) -> Result<Option<(Source, Rss)>, BuildError> {
    let mut apps = scenario.tenants.iter().zip(apps);
    if let Some(file) = scenario.traffic.as_ref().and_then(TrafficConfig::capture_file)
        && let Some(capture) = &capture
        && apps.any(|(t, app)| t.app.settings().serves_packets() && app.request_bytes(0).is_none())
    {
        check_frames(scenario, file, capture)?;
    }
    source(scenario, capture)
}

/// The same without a look at what the applications do.
pub(crate) fn source(
    scenario: &Scenario,
    capture: Option<Arc<Capture>>,
) -> Result<Option<(Source, Rss)>, BuildError> {
    let queues = scenario.serving_cores();
    let Some(traffic) = scenario.traffic.as_ref().filter(|t| t.closed_loop().is_none()) else {
        return Ok(None);
    };
    if queues == 0 {
        return Ok(None);
    }
    let (source, flows) = traffic.build(scenario.run.seed, capture).map_err(|e| BuildError {
        key: format!("traffic.{}", e.key),
        given: e.given,
        allowed: e.allowed,
    })?;
    Ok(Some((source, Rss::new(&scenario.machine.nic.rss, queues, &flows))))
}

impl Host {
    /// The machine of a scenario at time zero, with its applications populated and its caches
    /// empty. `capture` is the content of the file named by replayed traffic.
    ///
    /// # Errors
    /// When a value cannot be simulated although the scenario has no [violations](crate::config::violations), which it
    /// must not have.
    pub fn new(scenario: &Scenario, capture: Option<Arc<Capture>>) -> Result<Host, BuildError> {
        let machine = &scenario.machine;
        let mut space = AddressSpace::default();
        let all_ways = WayRange { first: 0, count: machine.llc.ways };
        let mut core_ways = vec![mask(all_ways); machine.core.count as usize];
        let mut cores: Vec<HostCore> = (0..machine.core.count)
            .map(|id| {
                HostCore::new(Core::new(
                    &machine.core,
                    &machine.hierarchy(),
                    id as u16,
                    scenario.placement.sweeper,
                ))
            })
            .collect();
        let (apps, queues) = tenants(scenario, &mut cores, &mut core_ways, &mut space);
        let (source, rss) = arrivals(scenario, capture, &apps)?.unzip();
        space.on(MemoryNode::Local);
        let nodes = 1 + usize::from(scenario.uses_remote_memory());
        let dram = Dram::with_nodes(&machine.dram, nodes).map_err(|violation| {
            let Violation { key, given, allowed } = violation;
            BuildError { key: format!("machine.dram.{key}"), given, allowed }
        })?;
        let nobody = scenario.tenants.len();
        space.owned_by(nobody as u16);
        let bench = scenario
            .dma_bench
            .as_ref()
            .map(|bench| BenchDevice::new(bench, scenario.run.seed, &mut space));
        // Built last, because it maps everything reserved so far.
        let on = machine.iommu.as_ref().filter(|iommu| iommu.mode != Mode::Off);
        let iommu = on.map(|iommu| Iommu::new(iommu, &mut space));
        let run_time_mapping = RunTimeMapping::new(machine);
        let placement = &scenario.placement;
        let io_ways = mask(WayRange { first: 0, count: placement.io_ways });
        let (needed, capacity) = (space.largest_node(), Size(machine.dram.capacity_bytes()));
        if needed > capacity {
            return Err(BuildError {
                key: "machine.dram.rows".into(),
                given: machine.dram.rows.to_string(),
                allowed: format!(
                    "more: data and buffers take {needed}, and this memory holds {capacity}"
                ),
            });
        }
        let (parts, seed) = (machine.hierarchy(), scenario.run.seed);
        let memory = Memory::new(&parts, placement, dram, core_ways, io_ways, seed)
            .told_by(space.owners(), nobody + 1);
        let queue_count = queues.len() as u32;
        let mut host = Host {
            events: Events::default(),
            rx: Receiver::new(machine, &scenario.queues),
            interconnect: Interconnect::new(machine),
            writes: Writes::new(machine),
            reads: Reads::new(machine),
            tx: Transmitter::new(machine),
            meters: Meters::new(),
            scenario: Arc::new(scenario.clone()),
            max_skew: MAX_SKEW,
            now: Ps::ZERO,
            memory,
            iommu,
            run_time_mapping,
            bench,
            cores,
            queues,
            apps,
            packets: Packets::default(),
            source,
            next_arrival: None,
            rss,
            closed_loop: ClosedLoop::new(scenario, queue_count),
            held_back: VecDeque::new(),
            recording: None,
        };
        host.start();
        Ok(host)
    }

    fn start(&mut self) {
        for queue in 0..self.queues.len() {
            self.fetch_descriptors(Ps::ZERO, queue);
        }
        match &self.source {
            Some(Source::Timed(_)) => self.schedule_arrival(),
            Some(Source::Backlog { .. }) => {
                for queue in 0..self.queues.len() {
                    self.top_up(Ps::ZERO, queue);
                }
            }
            None => {}
        }
        self.schedule_network();
        for core in 0..self.cores.len() {
            if self.cores[core].tenant.is_some() {
                self.wake(Ps::ZERO, core as u16);
            }
        }
        if self.bench.is_some() {
            self.start_bench();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::forwarder;
    use crate::wire::{CapturedPacket, FlowTable};

    /// Replay of one frame of `bytes` into buffers of 1 KiB.
    fn replay(bytes: u32, app: serde_json::Value) -> Result<Host, BuildError> {
        let packet = CapturedPacket { at: Ps::ZERO, bytes, flow: 0 };
        let capture = Capture::new(vec![packet], FlowTable::synthetic(1));
        let traffic = json!({ "kind": "replay", "file": "a.pcap", "rate": "1 Gbps" });
        let scenario = forwarder(&[("/traffic", traffic), ("/tenants/0/app", app)]);
        Host::new(&scenario, Some(Arc::new(capture)))
    }

    #[test]
    fn a_memory_smaller_than_what_lies_in_it_is_refused() {
        let with = |rows: u32| Host::new(&forwarder(&[("/machine/dram/rows", rows.into())]), None);
        assert!(with(65536).is_ok());
        let error = with(1).unwrap_err();
        assert_eq!((&*error.key, &*error.given), ("machine.dram.rows", "1"));
        assert!(error.allowed.ends_with("this memory holds 128 KiB"), "{error}");
    }

    #[test]
    fn a_capture_with_frames_beyond_the_buffers_is_refused() {
        assert!(replay(1024, json!({ "kind": "l2fwd" })).is_ok());
        let error = replay(1025, json!({ "kind": "l2fwd" })).unwrap_err();
        assert_eq!((&*error.key, &*error.given), ("traffic.file", "\"a.pcap\""));
        assert!(error.allowed.contains("at most queues.buffer_size (1 KiB)"), "{error}");
        assert!(error.allowed.contains("has 1025 bytes"), "{error}");
    }

    #[test]
    fn a_client_that_decides_how_long_requests_are_takes_any_capture() {
        let kvs = |requests: &str| json!({ "kind": "kvs", "keys": 100, "requests": requests });
        assert!(replay(9000, kvs("drawn")).is_ok());
        assert!(replay(9000, kvs("from-size")).is_err());
    }
}
