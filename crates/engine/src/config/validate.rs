//! What the types of a scenario cannot express: value ranges of components, and relations between them.

use super::machine::Machine;
use super::scenario::{CoreRange, Scenario, Tenant};
use crate::check::{self, Check, Violation};
use crate::core::config::Core;
use crate::memory::address_space::AddressSpace;
use crate::memory::line::{LINE_BYTES, MemoryNode};
use crate::nic::config::Queues;
use crate::pcie::config::Pcie;
use crate::units::{BitRate, Duration, Size};
use crate::wire::config::{SizesConfig, TrafficConfig};

/// Everything that is wrong with a scenario; empty if it can be simulated.
pub fn violations(scenario: &Scenario) -> Vec<Violation> {
    check::violations(|check| {
        let Scenario { machine, traffic, dma_bench, placement, queues, tenants: _, run, slo } =
            scenario;
        if !check.below("machine", |check| machine.check(check)) {
            // Checks relative to an impossible machine would only repeat its errors.
            return;
        }
        check.below("placement", |check| placement.check(machine.llc.ways, check));
        let queues_hold = check.below("queues", |check| queues.check(check));
        let traffic_holds = match traffic {
            Some(traffic) => check_traffic(check, traffic, scenario),
            None => true,
        };
        if let Some(bench) = dma_bench {
            check.that(
                traffic.is_none(),
                "dma_bench",
                "a table",
                "nothing beside traffic: the device does one or the other",
            );
            check.below("dma_bench", |check| {
                bench.check(&machine.nic, machine.pcie.as_ref(), check);
            });
        }
        check_tenants(check, scenario);
        check_services(check, scenario);
        if queues_hold
            && let Some(pcie) = &machine.pcie
            && scenario.serving().next().is_some()
        {
            check_read_requests(check, pcie, scenario);
        }
        // What applications need for impossible traffic has no meaning, or no bound.
        if queues_hold && traffic_holds {
            check_kept_buffers(check, scenario);
            check_memory(check, scenario);
        }
        check_nodes(check, scenario);
        if check.below("run", |check| run.check(check)) {
            check_sums(check, scenario);
        }
        check.below("slo", |check| slo.check(check));
    })
}

/// Checks that what is summed over time fits 64 bits: what is in use x ps, and the slots of a core.
fn check_sums(check: &mut Check, scenario: &Scenario) {
    let Scenario { machine, queues, run, .. } = scenario;
    let (sram, llc) = (machine.nic.sram, machine.llc.size);
    let ring = queues.rx_descriptors.max(queues.tx_descriptors);
    let tlps = machine.pcie.as_ref().map_or(0, |pcie| pcie.posted_credits);
    let credits = machine.nic.write_credits.max(tlps);
    let (most, what) = [
        (sram.0, format!("the bytes of machine.nic.sram ({sram})")),
        (llc.0 / LINE_BYTES, format!("the lines of machine.llc.size ({llc})")),
        (
            u64::from(ring) * u64::from(machine.core.count),
            format!("the descriptors of all queues ({ring} of each core)"),
        ),
        (u64::from(credits), format!("the credits of DMA writes ({credits})")),
    ]
    .into_iter()
    .max_by_key(|(most, _)| *most)
    .expect("there are some");
    let longest = whole_ms(u64::MAX / most.max(1));
    if run.duration > longest {
        let allowed = format!("at most {longest}: {what} in use are added up over it");
        check.refuse("run.duration", run.duration, allowed);
    }
    let Core { frequency, dispatch_width, .. } = &machine.core;
    let slots = frequency.clock().divided(u64::from(*dispatch_width));
    let longest = whole_ms(slots.longest().0 / SEARCHED);
    for (key, given) in [("run.warmup", run.warmup), ("run.duration", run.duration)] {
        if given > longest {
            let allowed = format!(
                "at most {longest} with machine.core.frequency ({frequency}) and dispatch_width \
                 ({dispatch_width}), in whose slots it is counted"
            );
            check.refuse(key, given, allowed);
        }
    }
}

/// How many times the longer of `run.warmup` and `run.duration` a server may run: a peak search warms it
/// up twice, and each probe lets it settle before it measures. Doubled for cores that run ahead. (Probes that
/// hold go on from the last one, so a search could run longer, but not within hundreds of seconds.)
const SEARCHED: u64 = 8;

fn whole_ms(ps: u64) -> Duration {
    const MS: u64 = 1_000_000_000;
    Duration(ps / MS * MS)
}

/// Returns whether the traffic alone can be simulated.
fn check_traffic(check: &mut Check, traffic: &TrafficConfig, scenario: &Scenario) -> bool {
    let holds = check.below("traffic", |check| traffic.check(check));
    if holds {
        check_traffic_of(check, traffic, scenario);
    }
    holds
}

/// Checks traffic against the rest of the scenario.
fn check_traffic_of(check: &mut Check, traffic: &TrafficConfig, scenario: &Scenario) {
    let Scenario { queues, machine, .. } = scenario;
    if traffic.closed_loop().is_some() && machine.nic.link.is_none() {
        check.refuse(
            "machine.nic.link",
            "nothing",
            "a rate such as \"100 Gbps\", which the switch before the server sends at",
        );
    }
    if let TrafficConfig::Backlog { depth, .. } = traffic
        && *depth > queues.rx_descriptors
    {
        let most = format!(
            "at most queues.rx_descriptors ({}), which packets wait in",
            queues.rx_descriptors
        );
        check.refuse("traffic.depth", *depth, most);
    }
    if let Some(rate) = traffic.synthetic_bit_rate() {
        check_sizes_known(check, rate, scenario);
    }
    if traffic.closed_loop().is_none()
        && scenario.serving().all(|t| t.app.settings().draws_requests())
    {
        return; // The sizes have no effect, and the messages are checked with their store.
    }
    let Some((key, size)) = largest_frame(traffic) else { return };
    let (of, room) = frame_room(queues, machine);
    if size > room {
        check.refuse(&key, size, format!("at most {of} ({room}), which has to hold a frame"));
    }
}

/// Checks that a bit rate determines a packet rate: it does not where clients choose the packet sizes.
fn check_sizes_known(check: &mut Check, rate: BitRate, scenario: &Scenario) {
    let drawn = |tenant: &Tenant| tenant.app.settings().draws_requests();
    if let Some(i) = scenario.tenants.iter().position(drawn) {
        let allowed = format!(
            "packets per second, such as \"10 Mpps\": the sizes are those of tenants.{i}.app \
             (item, gets), whose requests are drawn; with tenants.{i}.app.requests = \
             \"from-size\" they are those of traffic.sizes"
        );
        check.refuse("traffic.rate", rate, allowed);
    }
}

/// The largest frame that can be received, and the key that limits it: a packet lies in one buffer.
pub(crate) fn frame_room(queues: &Queues, machine: &Machine) -> (&'static str, Size) {
    let room = [("queues.buffer_size", queues.buffer_size), ("machine.nic.sram", machine.nic.sram)];
    room.into_iter().min_by_key(|(_, size)| *size).expect("there are two")
}

/// The largest frame of traffic, if it is known without a capture, and the key that sets it.
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

fn check_tenants(check: &mut Check, scenario: &Scenario) {
    let Scenario { machine, tenants, .. } = scenario;
    if tenants.is_empty() && scenario.dma_bench.is_none() {
        check.refuse("tenants", "[]", "at least one [[tenants]] table, or a dma_bench");
    } else if !scenario.runs_on_cores() && scenario.dma_bench.is_none() {
        check.refuse("tenants", "no cores at all", "at least one core of a tenant, or a dma_bench");
    }
    for (i, tenant) in tenants.iter().enumerate() {
        let name_key = format!("tenants.{i}.name");
        if tenant.name.is_empty() || tenants[..i].iter().any(|other| other.name == tenant.name) {
            check.refuse(
                &name_key,
                format!("{:?}", tenant.name),
                "a name that no other tenant has",
            );
        }
        let buffer = ("queues.buffer_size", scenario.queues.buffer_size);
        check.below(&format!("tenants.{i}.app"), |check| {
            let app = tenant.app.settings();
            app.check(check);
            app.check_messages(check, frame_room(&scenario.queues, machine), buffer);
        });
        let key = format!("tenants.{i}.cores");
        let CoreRange { first, count } = tenant.cores;
        // A benchmark without cores is the baseline of a comparison.
        if tenant.runs() || tenant.app.settings().serves_packets() {
            check_range(check, &key, first, count, machine.core.count, "machine.core.count");
        }
        let overlaps = |other: &&Tenant| {
            let (a, b) = (tenant.cores, other.cores);
            let both_run = tenant.runs() && other.runs();
            both_run
                && end(a.first, a.count) > u64::from(b.first)
                && end(b.first, b.count) > u64::from(a.first)
        };
        if let Some(other) = tenants[..i].iter().find(overlaps) {
            let CoreRange { first: f, count: n } = other.cores;
            let given = format!("{{first = {first}, count = {count}}}");
            check.refuse(
                &key,
                given,
                format!("cores that no other tenant has; {} has {n} from core {f}", other.name),
            );
        }
        if let Some(ways) = tenant.llc_ways {
            let key = format!("tenants.{i}.llc_ways");
            check_range(check, &key, ways.first, ways.count, machine.llc.ways, "machine.llc.ways");
        }
    }
}

fn check_services(check: &mut Check, scenario: &Scenario) {
    let server = scenario.serving().next();
    match (&scenario.traffic, server) {
        (None, Some(server)) => {
            check.refuse(
                "traffic",
                "nothing",
                format!("a table, because {} serves packets", server.name),
            );
        }
        (Some(_), None) if !scenario.tenants.is_empty() => {
            check.refuse("traffic", "a table", "nothing, because no tenant serves packets");
        }
        _ => {}
    }
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let mut stacks = 0;
    for (i, tenant) in
        scenario.tenants.iter().enumerate().filter(|(_, t)| t.app.settings().serves_packets())
    {
        let stack = tenant.app.settings().answers_senders();
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
        check.refuse(&format!("tenants.{i}.app.kind"), tenant.app.kind(), allowed);
    }
}

/// Checks that packets find buffers while an application keeps as many as it ever does: it waits for them.
fn check_kept_buffers(check: &mut Check, scenario: &Scenario) {
    let Some(traffic) = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop) else {
        return;
    };
    let buffers = scenario.queues.buffers();
    let kept = scenario.serving().map(|t| t.app.settings().keeps(traffic)).max().unwrap_or(0);
    if kept > 0 && buffers <= kept {
        let allowed = format!(
            "more than {kept}: that many packets of a core can wait in their buffers for others that find none \
             (tenants.*.app.copied = \"on-completion\")"
        );
        check.refuse("queues.pool_buffers", buffers, allowed);
    }
}

/// Checks that each read of the NIC can get its read requests, which it takes all at once.
fn check_read_requests(check: &mut Check, pcie: &Pcie, scenario: &Scenario) {
    let (nic, queues) = (&scenario.machine.nic, &scenario.queues);
    let Pcie { non_posted_credits: credits, max_read_request: request, .. } = pcie;
    let size = nic.descriptor_size;
    // A read covers whole lines, of which a request has a whole number.
    let most = u64::from(*credits) * request.0 / size.0;
    for (key, batch, ring) in [
        ("machine.nic.descriptor_batch", Some(nic.descriptor_batch), queues.rx_descriptors),
        ("machine.nic.tx_descriptor_batch", nic.tx_descriptor_batch, queues.tx_descriptors),
    ] {
        if let Some(batch) = batch
            && u64::from(batch.min(ring)) > most
        {
            let allowed = format!(
                "at most {most}: the NIC reads them together, and machine.pcie.non_posted_credits ({credits}) \
                 requests of machine.pcie.max_read_request ({request}) read no more descriptors of {size}"
            );
            check.refuse(key, batch, allowed);
        }
    }
    if *credits < 2 && nic.tx_descriptor_batch.is_none() {
        let allowed = "at least 2: without machine.nic.tx_descriptor_batch the NIC reads each packet together \
                       with its descriptor, which takes a request of its own";
        check.refuse("machine.pcie.non_posted_credits", credits, allowed);
    }
}

/// Checks that all data fits into the simulated address space of its node.
fn check_memory(check: &mut Check, scenario: &Scenario) {
    /// Rings, rounding to huge pages, and the small tables of applications.
    const SMALL: u64 = 1 << 30;
    let Queues {
        object_header, metadata, headroom, buffer_size, tx_descriptors, tx_backlog, ..
    } = scenario.queues;
    let iommu = scenario.machine.iommu.as_ref();
    let pages = iommu.is_some_and(|iommu| iommu.mode.maps_at_run_time());
    let unit = u128::from(if pages { 4096 } else { LINE_BYTES });
    let line_up = |bytes: u64| u128::from(bytes).next_multiple_of(unit);
    let parts = [object_header, metadata, headroom, buffer_size];
    let stride = line_up(parts.iter().fold(0, |sum, part| sum.saturating_add(part.0)));
    let pool = scenario.queues.buffers();
    let closed_loop = scenario.traffic.as_ref().and_then(TrafficConfig::closed_loop);
    let sent = closed_loop.map_or(buffer_size, |c| c.acknowledgement);
    let queue = stride * u128::from(pool)
        + line_up(sent.0) * (u128::from(tx_descriptors) + u128::from(tx_backlog));
    // By node.
    let (mut buffers, mut data) = ([0; 2], [0; 2]);
    let [local, remote, of_queues] =
        [MemoryNode::Local, MemoryNode::Remote, scenario.queues.memory].map(|node| node as usize);
    for tenant in &scenario.tenants {
        let cores = u128::from(tenant.cores.count);
        let own = tenant.memory as usize;
        if tenant.app.settings().serves_packets() {
            buffers[of_queues] += queue * cores;
            if of_queues != own {
                // The rings are not where the tables are.
                data[of_queues] += u128::from(SMALL);
            }
        }
        data[own] +=
            u128::from(SMALL) + tenant.app.settings().bytes(tenant.cores.count, closed_loop);
    }
    let bench = scenario.dma_bench.as_ref().map_or(0, |bench| u128::from(bench.window.0));
    // Eight bytes per 4 KiB, for each of four kinds of mapping, and less for the levels above. With
    // a second node the tables span the addresses of both.
    let mapped = match scenario.machine.numa {
        Some(_) => 2 * u128::from(AddressSpace::LIMIT.0),
        None => buffers[local] + data[local] + bench,
    };
    let tables = scenario.machine.iommu.as_ref().map_or(0, |_| mapped / 100);
    data[local] += bench + tables;
    for (node, name) in [(local, "local"), (remote, "remote")] {
        let (buffers, data) = (buffers[node], data[node]);
        if buffers + data > u128::from(AddressSpace::LIMIT.0) {
            let gib = |bytes: u128| format!("{} GiB", bytes >> 30);
            let given = format!("{} of buffers and {} of data", gib(buffers), gib(data));
            let key = if buffers > data { "queues.pool_buffers" } else { "tenants" };
            let of = match scenario.machine.numa {
                Some(_) => format!(" on the {name} node"),
                None => String::new(),
            };
            check.refuse(key, given, format!("{} in all{of}", AddressSpace::LIMIT));
        }
    }
}

/// Checks that there is another socket if its memory is used.
fn check_nodes(check: &mut Check, scenario: &Scenario) {
    if scenario.machine.numa.is_some() {
        return;
    }
    let tenants = scenario.tenants.iter().enumerate();
    let tenants = tenants.map(|(i, tenant)| (format!("tenants.{i}.memory"), tenant.memory));
    for (key, memory) in tenants.chain([("queues.memory".into(), scenario.queues.memory)]) {
        if memory == MemoryNode::Remote {
            check.refuse(
                &key,
                "remote",
                "local, because the machine has no other socket (machine.numa)",
            );
        }
    }
}

fn check_range(check: &mut Check, key: &str, first: u32, count: u32, limit: u32, of: &str) {
    let count_key = format!("{key}.count");
    if count == 0 {
        check.at_least_one(&count_key, count);
    } else if first >= limit {
        check.refuse(&format!("{key}.first"), first, format!("less than {of} ({limit})"));
    } else if end(first, count) > u64::from(limit) {
        let most = limit - first;
        check.refuse(
            &count_key,
            count,
            format!("at most {most}, because first is {first} and {of} {limit}"),
        );
    }
}

fn end(first: u32, count: u32) -> u64 {
    u64::from(first) + u64::from(count)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::violations;
    use crate::host::Host;
    use crate::testing::{closed_loop_json, forwarder, iommu_json, pcie_json, results};

    /// Messages show a value as it is written in a scenario, not under another name.
    #[test]
    fn a_value_that_is_a_name_is_told_as_such() {
        let mut iommu = iommu_json(8);
        iommu["mode"] = json!("strict");
        iommu["pages"]["payload"] = json!("2 MiB");
        for (key, value, given) in [
            ("/machine/dram/density", json!("32Gb"), "machine.dram.density = 32Gb; expected 4Gb"),
            ("/machine/iommu", iommu, "machine.iommu.pages.payload = 2 MiB; expected \"4 KiB\""),
            ("/traffic", closed_loop_json(), "tenants.0.app.kind = l3fwd; expected snap"),
        ] {
            let link = ("/machine/nic/link", json!("100 Gbps"));
            let found = violations(&forwarder(&[link, (key, value)]));
            let told: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert!(told.iter().any(|t| t.starts_with(given)), "{told:?}, expected {given}");
        }
    }

    #[test]
    fn what_is_added_up_over_a_run_fits_its_counters() {
        let refused = |keys: &[(&str, serde_json::Value)]| -> Vec<String> {
            let found = violations(&forwarder(keys));
            found.iter().map(ToString::to_string).collect()
        };
        let tiny = [
            ("/machine/nic/sram", json!("4 KiB")),
            ("/queues/pool_buffers", json!(65_535)),
            ("/run/sample", json!("1 s")),
        ];
        let with = |key: &'static str, value: serde_json::Value, seconds: &str| {
            let run = [(key, value), ("/run/duration", json!(seconds))];
            refused(&[&tiny[..], &run[..]].concat())
        };
        // 2^64 ps over the 65535 descriptors of each of two cores, and over this many credits.
        assert_eq!(with("/queues/rx_descriptors", json!(65_535), "140 s"), [] as [String; 0]);
        assert_eq!(
            with("/queues/rx_descriptors", json!(65_535), "141 s"),
            [
                "run.duration = 141 s; expected at most 140739 ms: the descriptors of all queues (65535 of \
              each core) in use are added up over it"
            ]
        );
        let told = with("/machine/nic/write_credits", json!(4_000_000_000_u32), "6 ms");
        assert!(
            told[0].contains("at most 4 ms: the credits of DMA writes (4000000000)"),
            "{told:?}"
        );
        // 9973 MHz (a prime) x 31 are 309163 slots per microsecond, and 2^64 ps over that are 59.7 s.
        let fast = [("/machine/core/frequency", json!("9973 MHz"))];
        let slots = |width: u32, seconds: &str| {
            let run =
                [("/machine/core/dispatch_width", json!(width)), ("/run/duration", json!(seconds))];
            refused(&[&tiny[..], &fast[..], &run[..]].concat())
        };
        assert_eq!(slots(31, "7 s"), [] as [String; 0]);
        let told = slots(31, "8 s");
        assert!(told[0].starts_with("run.duration = 8 s; expected at most 7"), "{told:?}");
        assert!(told[0].contains("machine.core.frequency (9973 MHz) and dispatch_width (31)"));
    }

    #[test]
    fn a_superqueue_has_a_bound() {
        let of = |lines: u32| {
            violations(&forwarder(&[("/machine/l2/superqueue", json!(lines))]))
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(4096), [] as [String; 0]);
        assert_eq!(of(u32::MAX), ["machine.l2.superqueue = 4294967295; expected 1 to 4096"]);
    }

    #[test]
    fn reads_that_just_get_their_requests_go_through_and_longer_ones_are_refused() {
        let with = |credits: u32, set: &[(&str, serde_json::Value)]| {
            let mut pcie = pcie_json();
            (pcie["max_read_request"], pcie["non_posted_credits"]) =
                (json!("128 B"), json!(credits));
            let fixed = [
                ("/machine/pcie", pcie),
                ("/machine/nic/descriptor_size", json!("32 B")),
                ("/traffic/sizes/size", json!("64 B")),
            ];
            forwarder(&[&fixed, set].concat())
        };
        let sends = |scenario| {
            assert_eq!(violations(&scenario), []);
            let packets = results(&scenario).packets;
            assert!(packets.transmitted > 100, "{packets:?}");
        };
        let told = |scenario| -> Vec<String> {
            violations(&scenario).iter().map(ToString::to_string).collect()
        };
        for (key, name) in [
            ("/machine/nic/descriptor_batch", "machine.nic.descriptor_batch"),
            ("/machine/nic/tx_descriptor_batch", "machine.nic.tx_descriptor_batch"),
        ] {
            // Four descriptors a request.
            sends(with(3, &[(key, json!(12))]));
            let refused = told(with(3, &[(key, json!(13))]));
            let wanted = format!("{name} = 13; expected at most 12: the NIC reads them together");
            assert!(refused.len() == 1 && refused[0].starts_with(&wanted), "{refused:?}");
            // There are never more of them than the ring has.
            let rings = ["rx", "tx"].map(|ring| (format!("/queues/{ring}_descriptors"), json!(12)));
            let [rx, tx] = &rings;
            let rings = [(rx.0.as_str(), rx.1.clone()), (tx.0.as_str(), tx.1.clone())];
            sends(with(3, &[&rings[..], &[(key, json!(13))]].concat()));
        }
        // A packet is read with its descriptor, unless that has been read before.
        let refused = told(with(1, &[]));
        let wanted = "machine.pcie.non_posted_credits = 1; expected at least 2: without";
        assert!(refused.len() == 1 && refused[0].starts_with(wanted), "{refused:?}");
        sends(with(1, &[("/machine/nic/tx_descriptor_batch", json!(4))]));
        // The benchmark reads no descriptors.
        let bench = json!({ "direction": "read", "size": "64 B", "window": "1 MiB" });
        let bench = [
            ("/traffic", json!(null)),
            ("/tenants", json!([])),
            ("/dma_bench", bench),
            ("/machine/nic/descriptor_batch", json!(256)),
        ];
        assert_eq!(violations(&with(1, &bench)), []);
    }

    #[test]
    fn each_node_holds_as_much_as_fits_its_own_addresses() {
        let numa = json!({ "links": 3, "link_bandwidth": "166.4 Gbps", "latency": "30 ns" });
        let told = |[a, b, queues]: [&str; 3], buffers: u32| -> Vec<String> {
            // 80 GiB of logs, and 1 GiB for what is small.
            let store = |name: &str, first: u32, node: &str| {
                json!({
                    "name": name, "memory": node, "cores": { "first": first, "count": 5 },
                    "app": {
                        "kind": "kvs", "stores": "per-core", "log": "16 GiB", "keys": 1000, "buckets": 1024
                    }
                })
            };
            let scenario = forwarder(&[
                ("/machine/core/count", json!(10)),
                ("/machine/numa", numa.clone()),
                ("/tenants", json!([store("a", 0, a), store("b", 5, b)])),
                ("/queues/memory", json!(queues)),
                ("/queues/buffer_size", json!("48 KiB")),
                ("/queues/pool_buffers", json!(buffers)),
            ]);
            violations(&scenario).iter().map(ToString::to_string).collect()
        };
        for queues in ["local", "remote"] {
            assert_eq!(told(["local", "remote", queues], 128), [] as [String; 0]);
        }
        for node in ["local", "remote"] {
            let other = if node == "local" { "remote" } else { "local" };
            let told = told([node, node, other], 128);
            let wanted = format!(
                "tenants = 0 GiB of buffers and 162 GiB of data; expected 128 GiB in all on the {node} node"
            );
            assert_eq!(told, [wanted]);
        }
        // 60 GiB of buffers in ten queues, and the rings of those of the local tenant.
        assert_eq!(
            told(["local", "remote", "remote"], 1 << 17),
            [
                "tenants = 60 GiB of buffers and 82 GiB of data; expected 128 GiB in all on the remote node"
            ]
        );
    }

    /// A host that is built without this check reports the same.
    #[test]
    fn an_impossible_memory_names_its_key_when_it_is_built() {
        let error = Host::new(&forwarder(&[("/machine/dram/ranks", json!(17))]), None).err();
        let error = error.expect("17 ranks are too many");
        assert_eq!((error.key.as_str(), error.given.as_str()), ("machine.dram.ranks", "17"));
    }
}
