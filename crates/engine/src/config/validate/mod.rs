//! What the types of a scenario cannot say: ranges, and relations between keys.

mod machine;

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::Scenario;
use super::machine::Machine;
use super::scenario::{CoreRange, Placement, Queues, Run, Slo, Tenant};
use super::units::{Duration, Share, Size};
use crate::apps::config::AppConfig;
use crate::apps::kvs::config::{KvsConfig, Requests};
use crate::memory::line::{AddressSpace, MemoryNode};
use crate::nic::dma_bench::{Direction, DmaBench};
use crate::transport::config::ClosedLoopConfig;
use crate::wire::TrafficError;
use crate::wire::config::{SizesConfig, TrafficConfig};

/// A value that cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The dotted key, such as `placement.io_ways` or `tenants.0.cores.count`.
    pub key: String,
    /// What was given.
    pub given: String,
    /// What is allowed, and why.
    pub allowed: String,
}

/// DPDK counts descriptors and the bytes of an mbuf in 16 bits (`rte_eth_rx_queue_setup`,
/// `rte_mbuf.buf_len`).
const MAX_DESCRIPTORS: u32 = 65_535;
const MAX_BUFFER: Size = Size(65_535);

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Far more than a run of hours reaches, and far from the 213 days that the clock can count.
const MAX_SIMULATED: Duration = Duration(1_000 * 1_000_000_000_000);

/// A series of a million values a column still fits in memory; more is surely a wrong unit.
const MAX_SAMPLES: u64 = 1_000_000;

/// All that is wrong with a scenario; nothing if it can be simulated.
pub fn violations(scenario: &Scenario) -> Vec<Violation> {
    let mut v = Violations::default();
    let Scenario { machine, traffic, dma_bench, placement, queues, tenants: _, run, slo } =
        scenario;
    machine::check(&mut v, machine);
    if !v.0.is_empty() {
        // What relates to an impossible machine would only repeat its faults.
        return v.0;
    }
    check_placement(&mut v, placement, machine);
    check_queues(&mut v, queues);
    if let Some(traffic) = traffic {
        check_traffic(&mut v, traffic, queues, machine);
    }
    if let Some(bench) = dma_bench {
        check_dma_bench(&mut v, bench, scenario);
    }
    check_tenants(&mut v, scenario);
    check_services(&mut v, scenario);
    check_memory(&mut v, scenario);
    check_nodes(&mut v, scenario);
    check_run(&mut v, run);
    check_slo(&mut v, slo);
    v.0
}

#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, key: &str, given: impl Display, allowed: impl Into<String>) {
        let (key, given) = (key.to_owned(), given.to_string());
        self.0.push(Violation { key, given, allowed: allowed.into() });
    }

    fn within<T>(&mut self, key: &str, given: T, allowed: &RangeInclusive<T>, why: &str)
    where
        T: PartialOrd + Display,
    {
        if !allowed.contains(&given) {
            self.add(key, given, format!("{} to {}{why}", allowed.start(), allowed.end()));
        }
    }

    fn at_least_one(&mut self, key: &str, given: u32) {
        if given == 0 {
            self.add(key, given, "at least 1");
        }
    }

    fn one_of<T: PartialEq + Display>(&mut self, key: &str, given: T, allowed: &[T]) {
        if !allowed.contains(&given) {
            let names: Vec<String> = allowed.iter().map(T::to_string).collect();
            self.add(key, given, names.join(", "));
        }
    }
}

fn check_placement(v: &mut Violations, placement: &Placement, machine: &Machine) {
    let why = ", the ways of the LLC (machine.llc.ways)";
    v.within("placement.io_ways", placement.io_ways, &(1..=machine.llc.ways.max(1)), why);
}

fn check_queues(v: &mut Violations, queues: &Queues) {
    let ring = 1..=MAX_DESCRIPTORS;
    v.within("queues.rx_descriptors", queues.rx_descriptors, &ring, "");
    v.within("queues.tx_descriptors", queues.tx_descriptors, &ring, "");
    v.within("queues.tx_backlog", queues.tx_backlog, &(0..=MAX_DESCRIPTORS), "");
    v.within("queues.buffer_size", queues.buffer_size, &(Size(LINE)..=MAX_BUFFER), "");
    for (key, size) in [
        ("queues.object_header", queues.object_header),
        ("queues.headroom", queues.headroom),
        ("queues.metadata", queues.metadata),
    ] {
        if size > MAX_BUFFER || !size.0.is_multiple_of(LINE) {
            v.add(key, size, format!("a multiple of {LINE} B up to {MAX_BUFFER}, so that data begins on a line of its own"));
        }
    }
    if let Some(buffers) = queues.pool_buffers
        && buffers < queues.rx_descriptors
    {
        let ring = queues.rx_descriptors;
        v.add(
            "queues.pool_buffers",
            buffers,
            format!("at least queues.rx_descriptors ({ring}): each descriptor holds a buffer"),
        );
    }
    let why = " (queues.rx_descriptors)";
    let ring = 1..=queues.rx_descriptors.max(1);
    v.within("queues.burst", queues.burst, &ring, why);
    v.within("queues.post_batch", queues.post_batch, &ring, why);
    let why = " (the smaller of queues.rx_descriptors and queues.tx_descriptors): unreported packets hold both";
    let ring = 1..=queues.rx_descriptors.min(queues.tx_descriptors).max(1);
    v.within("queues.tx_completion_batch", queues.tx_completion_batch, &ring, why);
}

fn check_traffic(v: &mut Violations, traffic: &TrafficConfig, queues: &Queues, machine: &Machine) {
    if let Err(TrafficError { key, given, allowed }) = traffic.check() {
        v.add(&format!("traffic.{key}"), given, allowed);
        return;
    }
    if traffic.closed_loop().is_some() && machine.nic.link.is_none() {
        v.add(
            "machine.nic.link",
            "nothing",
            "a rate such as \"100 Gbps\", which the switch before the server sends at",
        );
    }
    let Some((key, size)) = largest_frame(traffic) else { return };
    let (of, room) = frame_room(queues, machine);
    if size > room {
        v.add(&key, size, format!("at most {of} ({room}), which has to hold a frame"));
    }
}

/// The largest frame that can be received, and the key that says so: a packet lies in one buffer.
pub(crate) fn frame_room(queues: &Queues, machine: &Machine) -> (&'static str, Size) {
    let room = [("queues.buffer_size", queues.buffer_size), ("machine.nic.sram", machine.nic.sram)];
    room.into_iter().min_by_key(|(_, size)| *size).expect("there are two")
}

/// Whether the messages of a key-value store fit the buffers: those of its client, which decides how
/// long they are whatever the traffic says, and its answers, whose buffers are as large.
fn check_messages(v: &mut Violations, tenant: usize, kvs: &KvsConfig, scenario: &Scenario) {
    let Scenario { queues, machine, .. } = scenario;
    let (of, room) = match kvs.requests {
        Requests::Drawn => frame_room(queues, machine),
        Requests::FromSize => ("queues.buffer_size", queues.buffer_size),
    };
    if kvs.item.0 + kvs.network_header.0 > room.0 {
        let most = Size(room.0.saturating_sub(kvs.network_header.0));
        v.add(
            &format!("tenants.{tenant}.app.item"),
            kvs.item,
            format!("at most {most}: with network_header it has to fit {of} ({room})"),
        );
    }
}

fn check_dma_bench(v: &mut Violations, bench: &DmaBench, scenario: &Scenario) {
    let Scenario { machine, traffic, .. } = scenario;
    if traffic.is_some() {
        v.add("dma_bench", "a table", "nothing beside traffic: the device does one or the other");
    }
    let DmaBench { size, window, interval, overhead, .. } = bench;
    let page = Size(4096);
    if !(Size(LINE)..=page).contains(size) || !size.0.is_multiple_of(LINE) {
        v.add("dma_bench.size", size, format!("a multiple of {LINE} B up to {page}"));
        return;
    }
    let credits = match bench.direction {
        Direction::Read => machine.nic.read_credits,
        Direction::Write => machine.nic.write_credits,
    };
    let most = Size(u64::from(credits) * LINE);
    if bench.direction == Direction::Read && *size > most {
        v.add(
            "dma_bench.size",
            size,
            format!("at most {most}, the lines of machine.nic.read_credits"),
        );
    }
    let largest = Size(64 << 30);
    v.within("dma_bench.window", *window, &(*size..=largest), "");
    let longest = Duration(1_000_000_000);
    v.within("dma_bench.interval", *interval, &(Duration(0)..=longest), "");
    v.within("dma_bench.overhead", *overhead, &(Duration(0)..=longest), "");
}

/// The largest frame of traffic that knows it without a capture, and the key that sets it.
fn largest_frame(traffic: &TrafficConfig) -> Option<(String, Size)> {
    if let Some(closed_loop) = traffic.closed_loop() {
        return Some(("traffic.payload".into(), closed_loop.frame()));
    }
    let (TrafficConfig::Constant { sizes, .. }
    | TrafficConfig::Poisson { sizes, .. }
    | TrafficConfig::Bursts { sizes, .. }
    | TrafficConfig::Backlog { sizes, .. }) = traffic
    else {
        return None;
    };
    match sizes {
        SizesConfig::Fixed { size } => Some(("traffic.sizes.size".into(), *size)),
        SizesConfig::Mix { of } => {
            let frames = of.iter().enumerate().map(|(i, share)| (i, share.size));
            let (i, size) = frames.max_by_key(|frame| frame.1)?;
            Some((format!("traffic.sizes.of.{i}.size"), size))
        }
    }
}

fn check_tenants(v: &mut Violations, scenario: &Scenario) {
    let Scenario { machine, tenants, .. } = scenario;
    if tenants.is_empty() && scenario.dma_bench.is_none() {
        v.add("tenants", "[]", "at least one [[tenants]] table, or a dma_bench");
    }
    for (i, tenant) in tenants.iter().enumerate() {
        let name_key = format!("tenants.{i}.name");
        if tenant.name.is_empty() || tenants[..i].iter().any(|other| other.name == tenant.name) {
            v.add(&name_key, format!("{:?}", tenant.name), "a name that no other tenant has");
        }
        for invalid in tenant.app.check() {
            let key = format!("tenants.{i}.app.{}", invalid.key);
            v.add(&key, invalid.value, invalid.allowed);
        }
        if let AppConfig::Kvs(kvs) = &tenant.app {
            check_messages(v, i, kvs, scenario);
        }
        let key = format!("tenants.{i}.cores");
        let CoreRange { first, count } = tenant.cores;
        check_range(v, &key, first, count, machine.core.count, "machine.core.count");
        let overlaps = |other: &&Tenant| {
            let (a, b) = (tenant.cores, other.cores);
            end(a.first, a.count) > u64::from(b.first) && end(b.first, b.count) > u64::from(a.first)
        };
        if let Some(other) = tenants[..i].iter().find(overlaps) {
            let CoreRange { first: f, count: n } = other.cores;
            let given = format!("{{first = {first}, count = {count}}}");
            v.add(
                &key,
                given,
                format!("cores that no other tenant has; {} has {n} from core {f}", other.name),
            );
        }
        if let Some(ways) = tenant.llc_ways {
            let key = format!("tenants.{i}.llc_ways");
            check_range(v, &key, ways.first, ways.count, machine.llc.ways, "machine.llc.ways");
        }
    }
}

/// Cores that have a queue.
pub(crate) fn serving_cores(scenario: &Scenario) -> u32 {
    scenario.tenants.iter().filter(|t| t.app.serves_packets()).map(|t| t.cores.count).sum()
}

fn check_services(v: &mut Violations, scenario: &Scenario) {
    let server = scenario.tenants.iter().find(|tenant| tenant.app.serves_packets());
    match (&scenario.traffic, server) {
        (None, Some(server)) => {
            v.add("traffic", "nothing", format!("a table, because {} serves packets", server.name));
        }
        (Some(_), None) if !scenario.tenants.is_empty() => {
            v.add("traffic", "a table", "nothing, because no tenant serves packets");
        }
        _ => {}
    }
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let mut stacks = 0;
    for (i, tenant) in scenario.tenants.iter().enumerate().filter(|(_, t)| t.app.serves_packets()) {
        let stack = matches!(tenant.app, AppConfig::Snap(_));
        stacks += u32::from(stack);
        let allowed = match (closed_loop, stack) {
            (None, true) => {
                "an application that takes traffic with a source; snap needs traffic.kind = \"closed-loop\""
            }
            (Some(_), false) => "snap, which acknowledges the packets of closed-loop traffic",
            (Some(_), true) if stacks > 1 => {
                "one tenant of this kind: connections are dealt to its cores"
            }
            _ => continue,
        };
        v.add(&format!("tenants.{i}.app.kind"), if stack { "snap" } else { "another" }, allowed);
    }
}

/// Whether all data fits the simulated address space.
fn check_memory(v: &mut Violations, scenario: &Scenario) {
    /// Rings, rounding to huge pages, and the small tables of applications.
    const SMALL: u64 = 1 << 30;
    let Queues {
        object_header, metadata, headroom, buffer_size, tx_descriptors, tx_backlog, ..
    } = scenario.queues;
    let iommu = scenario.machine.iommu.as_ref();
    let pages = iommu.is_some_and(|iommu| iommu.mode.maps_at_run_time());
    let unit = if pages { 4096 } else { LINE };
    let line_up = |bytes: u64| u128::from(bytes.next_multiple_of(unit));
    let parts = [object_header, metadata, headroom, buffer_size];
    let stride = line_up(parts.iter().fold(0, |sum, part| sum.saturating_add(part.0)));
    let pool = scenario.queues.pool_buffers.unwrap_or(scenario.queues.rx_descriptors);
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let sent = closed_loop.map_or(buffer_size, |c| c.acknowledgement);
    let queue = stride * u128::from(pool)
        + line_up(sent.0) * (u128::from(tx_descriptors) + u128::from(tx_backlog));
    let (mut buffers, mut data) = (0, 0);
    for tenant in &scenario.tenants {
        let cores = u128::from(tenant.cores.count);
        if tenant.app.serves_packets() {
            buffers += queue * cores;
        }
        data += u128::from(SMALL)
            + match &tenant.app {
                AppConfig::Kvs(kvs) => {
                    u128::from(kvs.log.0) + u128::from(kvs.buckets) * u128::from(LINE)
                }
                AppConfig::Stream(stream) => u128::from(stream.bytes()) * cores,
                AppConfig::Xmem(xmem) => u128::from(xmem.region.0) * cores,
                AppConfig::Snap(_) => {
                    let open =
                        |t: &ClosedLoopConfig| u128::from(t.read.0) * u128::from(t.open_reads);
                    closed_loop.map_or(0, |t| cores * u128::from(t.senders) * open(t))
                }
                AppConfig::L2fwd(_) | AppConfig::L3fwd(_) => 0,
            };
    }
    let bench = scenario.dma_bench.as_ref().map_or(0, |bench| u128::from(bench.window.0));
    // Eight bytes for each 4 KiB, for each of four kinds of mapping, and less for the levels above.
    // With a second node the tables span the addresses of both.
    let mapped = match scenario.machine.numa {
        Some(_) => 2 * u128::from(AddressSpace::LIMIT.0),
        None => buffers + data + bench,
    };
    let tables = scenario.machine.iommu.as_ref().map_or(0, |_| mapped / 100);
    data += bench + tables;
    if buffers + data > u128::from(AddressSpace::LIMIT.0) {
        let gib = |bytes: u128| format!("{} GiB", bytes >> 30);
        let given = format!("{} of buffers and {} of data", gib(buffers), gib(data));
        let key = if buffers > data { "queues.pool_buffers" } else { "tenants" };
        v.add(key, given, format!("{} in all", AddressSpace::LIMIT));
    }
}

/// Whether there is another socket where memory of it is asked for.
fn check_nodes(v: &mut Violations, scenario: &Scenario) {
    if scenario.machine.numa.is_some() {
        return;
    }
    let tenants = scenario.tenants.iter().enumerate();
    let tenants = tenants.map(|(i, tenant)| (format!("tenants.{i}.memory"), tenant.memory));
    for (key, memory) in tenants.chain([("queues.memory".into(), scenario.queues.memory)]) {
        if memory == MemoryNode::Remote {
            v.add(&key, "remote", "local, because the machine has no other socket (machine.numa)");
        }
    }
}

fn check_range(v: &mut Violations, key: &str, first: u32, count: u32, limit: u32, of: &str) {
    let count_key = format!("{key}.count");
    if count == 0 {
        v.at_least_one(&count_key, count);
    } else if first >= limit {
        v.add(&format!("{key}.first"), first, format!("less than {of} ({limit})"));
    } else if end(first, count) > u64::from(limit) {
        let most = limit - first;
        v.add(&count_key, count, format!("1 to {most}, because first is {first} and {of} {limit}"));
    }
}

fn end(first: u32, count: u32) -> u64 {
    u64::from(first) + u64::from(count)
}

fn check_run(v: &mut Violations, run: &Run) {
    v.within("run.warmup", run.warmup, &(Duration(0)..=MAX_SIMULATED), "");
    v.within("run.duration", run.duration, &(Duration(1)..=MAX_SIMULATED), "");
    let finest = Duration((run.duration.0 / MAX_SAMPLES).max(1));
    if run.sample < finest {
        let allowed =
            format!("at least {finest}, for at most {MAX_SAMPLES} samples of run.duration");
        v.add("run.sample", run.sample, allowed);
    }
}

fn check_slo(v: &mut Violations, slo: &Slo) {
    v.at_least_one("slo.p99_service_times", slo.p99_service_times);
    v.within("slo.drops", slo.drops, &(Share(0)..=Share::WHOLE), "");
}
