//! Keys that are reported to have no effect have none: a run with the key changed gives the same results.

#![allow(missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use nic2core_engine::config::without_effect::without_effect;
use nic2core_engine::host::Host;
use nic2core_engine::stats::results::Results;
use nic2core_scenario::schema::scenario_schema;
use nic2core_scenario::{Disk, Loaded, load, read_capture};
use serde_json::Value;

fn loaded(scenario: &str, sets: &[&str]) -> Loaded {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let short = ["run.warmup=50 us", "run.duration=50 us", "run.sample=50 us"];
    let own =
        |short: &&&str| !sets.iter().any(|set| set.split('=').next() == short.split('=').next());
    let sets: Vec<String> = short.iter().filter(own).chain(sets).map(|s| (*s).to_owned()).collect();
    let file = root.join("scenarios").join(scenario).with_extension("toml");
    load(&Disk, &file, &sets, &[root.join("machines")]).unwrap_or_else(|e| panic!("{e}"))
}

fn keys(loaded: &Loaded) -> Vec<String> {
    without_effect(&loaded.scenario).into_iter().map(|k| k.key).collect()
}

fn run(loaded: &Loaded) -> Results {
    let capture = read_capture(&Disk, &loaded.scenario, &loaded.origins).expect("it is there");
    let mut host = Host::new(&loaded.scenario, capture).expect("it can be simulated");
    let run = &loaded.scenario.run;
    host.run_until(run.warmup.ps());
    host.begin_measuring();
    host.run_until(run.warmup.ps() + run.duration.ps());
    host.results().expect("it balances")
}

/// A store that is populated at once.
const SMALL: &[&str] = &["tenants.0.app.keys=4096", "tenants.0.app.log=4 MiB"];

/// The results without what only repeats a parameter: credits that nothing takes.
fn results(loaded: &Loaded) -> Results {
    let mut results = run(loaded);
    results.domains.retain(|d| d.uses > 0);
    results.conservation.clear();
    results.io.iter_mut().for_each(|io| io.write_credits = 0);
    results
}

/// One core, which looks up the rules of its flows.
const FLOWS: &[&str] =
    &[ONE_CORE[0], "tenants.0.app.rules=16000", "tenants.0.app.destinations=per-flow"];
const READS: &[&str] = &["dma_bench.direction=read"];
/// A window that the L2 holds.
const WARM: &[&str] =
    &["dma_bench.direction=read", "dma_bench.warm=true", "dma_bench.window=256 KiB"];
const WRITES: &[&str] = &["dma_bench.direction=write"];
const PAGES: &[&str] = &[
    "machine.iommu.pages.payload=2 MiB",
    "machine.iommu.pages.descriptors=2 MiB",
    "machine.iommu.pages.completions=2 MiB",
];
const HUGE: &[&str] = &[
    "machine.iommu.pages.payload=1 GiB",
    "machine.iommu.pages.descriptors=1 GiB",
    "machine.iommu.pages.completions=1 GiB",
];
const STRICT: &[&str] = &["machine.iommu.mode=strict", "machine.iommu.pages.payload=4 KiB"];
const REMOTE: &[&str] = &["queues.memory=remote"];
const REMOTE_IDEAL: &[&str] = &["queues.memory=remote", "placement.policy=ideal-ddio"];
const DDR5: &[&str] = &[
    "machine.dram.standard=DDR5-4800",
    "machine.dram.bank_groups=8",
    "machine.dram.density=16Gb",
    "machine.dram.timings.faw=32",
    "machine.dram.timings.ccd_l_wr=24",
];
const ONE_RANK: &[&str] = &["machine.dram.ranks=1"];
const ONE_CORE: &[&str] = &["tenants.0.cores.count=1"];
const NO_STREAM: &[&str] = &["tenants.1.cores.count=0"];
const SPIKE: &[&str] = &[
    SMALL[0],
    SMALL[1],
    "tenants.0.app.spike.probability=0 %",
    "tenants.0.app.spike.min=1 us",
    "tenants.0.app.spike.max=4 us",
];
const L2FWD: &[&str] = &["tenants.0.app={kind = \"l2fwd\"}"];
/// X-Mem alone.
const XMEM: &str = "../crates/scenario/benches/l1";

const PCIE: &[&str] = &[
    "machine.pcie.generation=3",
    "machine.pcie.lanes=16",
    "machine.pcie.max_payload=256 B",
    "machine.pcie.max_read_request=512 B",
    "machine.pcie.latency=200 ns",
    "machine.pcie.credit_return=100 ns",
    "machine.pcie.posted_credits=64",
    "machine.pcie.non_posted_credits=64",
];
const IOMMU: &[&str] = &[
    "machine.iommu.iotlb={entries = 64, ways = 64}",
    "machine.iommu.paging_structures={pml4 = 4, pdpt = 4, pd = 4}",
    "machine.iommu.posted_queue=16",
    "machine.iommu.non_posted_queue=8",
    "machine.iommu.walkers=4",
    "machine.iommu.step_latency=200 ns",
    "machine.iommu.pages.payload=2 MiB",
    "machine.iommu.pages.descriptors=4 KiB",
    "machine.iommu.pages.completions=4 KiB",
    "machine.iommu.pages.acknowledgements=4 KiB",
];

const STEADY: &[&str] = &[
    "traffic.control={kind = \"timely\", beta = 0.0, low_threshold = \"0 us\"}",
    DECIDED[0],
    DECIDED[1],
];
/// Times after which TIMELY has made decisions that show.
const DECIDED: &[&str] = &["run.warmup=1 ms", "run.duration=1 ms"];
const MIX: &[&str] = &["traffic.read_mix=[{ size = \"4 KiB\", weight = 1 }]"];
const TIMELY: &[&str] = &["traffic.control={kind = \"timely\"}", DECIDED[0], DECIDED[1]];

/// A scenario, what is set in it, a key that then has no effect, and another value for it.
const CASES: &[(&str, &[&str], &str, &str)] = &[
    ("pcie-bench", READS, "machine.core.dispatch_width", "=1"),
    ("pcie-bench", READS, "machine.core.reorder_window", "=8"),
    ("pcie-bench", READS, "machine.core.l1_miss_registers", "=1"),
    ("pcie-bench", READS, "machine.core.store_buffer", "=1"),
    ("pcie-bench", READS, "machine.l1d", ".latency_cycles=9"),
    ("pcie-bench", READS, "machine.l2", ".latency_cycles=99"),
    ("pcie-bench", WARM, "machine.l2", ".latency_cycles=99"),
    ("pcie-bench", WARM, "machine.l2", ".size=512 KiB"),
    ("explain-link", &["machine.l2.prefetch=none"], "machine.l2.superqueue", "=99"),
    ("pcie-bench", READS, "machine.llc.size", "=50 MiB"),
    ("pcie-bench", READS, "machine.llc.ways", "=10"),
    ("pcie-bench", READS, "machine.llc.replacement", "=random"),
    ("pcie-bench", READS, "machine.llc.inclusion", "=non-inclusive"),
    ("pcie-bench", READS, "machine.llc.index", "=modulo"),
    ("pcie-bench", READS, "machine.llc.slices", "=5"),
    ("explain-link", &["machine.llc.inclusion=inclusive"], "machine.llc.io_lines", "=stay"),
    ("explain-link", REMOTE, "machine.llc.io_lines", "=stay"),
    ("explain-link", REMOTE_IDEAL, "machine.llc.io_lines", "=stay"),
    ("explain-link", REMOTE_IDEAL, "placement.io_ways", "=7"),
    ("explain-link", &["machine.llc.index=hashed"], "machine.llc.slices", "=4"),
    ("explain-link", &[], "machine.noc.port_width", "=8 B"),
    (XMEM, &[], "machine.noc.port_width", "=8 B"),
    ("explain-memory", &["machine.dram.refresh=off"], "machine.dram.density", "=16Gb"),
    ("explain-memory", &["machine.dram.refresh=off"], "machine.dram.timings.rfc", "=999"),
    ("explain-memory", &["machine.dram.refresh=off"], "machine.dram.timings.refi", "=99"),
    ("explain-memory", &["machine.dram.timings.rfc=420"], "machine.dram.density", "=16Gb"),
    (
        "explain-memory",
        &[
            "machine.dram.timings.faw=30",
            "machine.dram.timings.rrd_s=4",
            "machine.dram.timings.rrd_l=6",
        ],
        "machine.dram.device_width",
        "=x4",
    ),
    ("explain-memory", DDR5, "machine.dram.device_width", "=x4"),
    ("explain-memory", ONE_RANK, "machine.dram.timings.rank_switch", "=99"),
    ("explain-memory", ONE_RANK, "machine.dram.write_to_read", "=all-ranks"),
    ("explain-memory", ONE_RANK, "machine.dram.timings.rd_to_wr_other_rank", "=99"),
    ("pcie-bench", READS, "machine.dram.write_queue", "=1"),
    ("pcie-bench", READS, "machine.dram.admission", "=in-order"),
    ("pcie-bench", READS, "machine.dram.write_to_read", "=all-ranks"),
    ("pcie-bench", READS, "machine.dram.drain_high_percent", "=50"),
    ("pcie-bench", READS, "machine.dram.drain_low_percent", "=1"),
    ("pcie-bench", READS, "machine.dram.reads_between_drains", "=9"),
    ("host-congestion", &[], "machine.numa", ".latency=1 us"),
    (XMEM, &[], "machine.nic", ".sram=1 KiB"),
    ("pcie-bench", READS, "machine.nic.link", "=1 Mbps"),
    ("pcie-bench", READS, "machine.nic.sram", "=64 B"),
    ("explain-link", &[], "machine.nic.ecn_threshold", "=1 KiB"),
    ("pcie-bench", READS, "machine.nic.write_credits", "=64"),
    ("pcie-bench", WRITES, "machine.nic.read_credits", "=64"),
    ("pcie-bench", READS, "machine.nic.descriptor_batch", "=1"),
    ("pcie-bench", READS, "machine.nic.descriptor_size", "=64 B"),
    ("pcie-bench", READS, "machine.nic.completion_size", "=64 B"),
    ("pcie-bench", READS, "machine.nic.completions_per_write", "=5"),
    ("pcie-bench", READS, "machine.nic.packet_rate", "=1 kpps"),
    ("pcie-bench", READS, "machine.nic.tx_descriptor_batch", "=9"),
    ("pcie-bench", READS, "machine.nic.rss", ".indirection_entries=1"),
    ("host-congestion", &[], "machine.nic.rss", ".indirection_entries=1"),
    ("explain-link", ONE_CORE, "machine.nic.rss", ".indirection_entries=1"),
    (XMEM, PCIE, "machine.pcie", ".lanes=1"),
    ("pcie-bench", READS, "machine.pcie.credit_return", "=1 us"),
    ("pcie-bench", READS, "machine.pcie.posted_credits", "=1"),
    ("pcie-bench", WRITES, "machine.pcie.max_read_request", "=128 B"),
    ("pcie-bench", WRITES, "machine.pcie.non_posted_credits", "=1"),
    ("pcie-bench", READS, "machine.pcie.relaxed_ordering", "=true"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.pcie.relaxed_ordering", "=true"),
    (XMEM, IOMMU, "machine.iommu", ".walkers=1"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.iommu.iotlb", ".entries=1024"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.iommu.paging_structures", ".pd=0"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.iommu.walkers", "=1"),
    ("explain-link", &["machine.iommu.mode=off"], "machine.iommu.step_latency", "=9 us"),
    ("explain-link", PAGES, "machine.iommu.paging_structures.pd", "=0"),
    ("explain-link", HUGE, "machine.iommu.paging_structures.pdpt", "=0"),
    ("pcie-bench", READS, "machine.iommu.posted_queue", "=1"),
    ("pcie-bench", WRITES, "machine.iommu.non_posted_queue", "=1"),
    ("pcie-bench", READS, "machine.iommu.pages.descriptors", "=1 GiB"),
    ("pcie-bench", READS, "machine.iommu.pages.completions", "=1 GiB"),
    ("explain-link", &[], "machine.iommu.pages.acknowledgements", "=1 GiB"),
    ("explain-link", &[], "machine.iommu.run_time", ".map=9 us"),
    ("explain-link", STRICT, "machine.iommu.run_time.flush_after", "=1"),
    ("explain-link", STRICT, "machine.iommu.run_time.flush_interval", "=1 ns"),
    ("sweeper-kvs", SMALL, "traffic.sizes", ".size=64 B"),
    ("explain-link", ONE_CORE, "traffic.flows", "=1"),
    (
        "host-congestion",
        &["traffic.control.flow_range=0 ns"],
        "traffic.control.flow_min_cwnd",
        "=3.0",
    ),
    (
        "host-congestion",
        &["traffic.control.flow_range=0 ns"],
        "traffic.control.flow_max_cwnd",
        "=3.0",
    ),
    ("host-congestion", MIX, "traffic.read", "=8 KiB"),
    ("host-congestion", &["traffic.load=1 Gbps"], "traffic.think", "=1 us"),
    (
        "host-congestion",
        &[
            "traffic.rivals={ senders = 1, read = \"4 KiB\", read_mix = [{ size = \"8 KiB\", weight = 1 }] }",
        ],
        "traffic.rivals.read_mix",
        ".0.size=16 KiB",
    ),
    ("host-congestion", STEADY, "traffic.control.min_rtt", "=1 us"),
    ("host-congestion", STEADY, "traffic.control.max_decrease", "=0.1"),
    ("host-congestion", &["traffic.control.hops=0"], "traffic.control.hop_target", "=99 us"),
    ("pcie-bench", WRITES, "dma_bench.overhead", "=9 us"),
    ("pcie-bench", READS, "placement.policy", "=dma"),
    (XMEM, &[], "placement.policy", "=dma"),
    ("pcie-bench", READS, "placement.io_ways", "=9"),
    ("sweeper-l3fwd", &["placement.policy=dma"], "placement.io_ways", "=7"),
    ("explain-link", REMOTE, "placement.io_ways", "=7"),
    ("sweeper-l3fwd", &[], "placement.ddio_l2", ".packets=1"),
    ("sweeper-l3fwd", &[], "placement.ddio_headers", ".lines=9"),
    ("pcie-bench", &[WRITES[0], "placement.policy=ddio-l2"], "placement.ddio_l2", ".packets=1"),
    (
        "pcie-bench",
        &[WRITES[0], "placement.policy=ddio-headers"],
        "placement.ddio_headers",
        ".lines=9",
    ),
    ("explain-link", &[REMOTE[0], "placement.policy=ddio-l2"], "placement.ddio_l2", ".packets=1"),
    (XMEM, &["placement.policy=ddio-l2"], "placement.ddio_l2", ".packets=1"),
    ("pcie-bench", WRITES, "placement.sweeper", "=true"),
    ("pcie-bench", WRITES, "queues", ".burst=9"),
    (XMEM, &[], "queues", ".rx_instructions=999"),
    ("sweeper-kvs", SMALL, "tenants.0.app.set_from", "=64 B"),
    ("demo", SMALL, "tenants.0.app.gets", "=50 %"),
    ("demo", &[SMALL[0], SMALL[1], ONE_CORE[0]], "tenants.0.app.stores", "=per-core"),
    ("sweeper-kvs", SPIKE, "tenants.0.app.spike.min", "=2 us"),
    ("sweeper-kvs", SPIKE, "tenants.0.app.spike.max", "=9 us"),
    ("explain-link", &[], "tenants.0.app.copy_instructions_per_line", "=999"),
    ("explain-link", ONE_CORE, "tenants.0.app.tables", "=per-core"),
    ("explain-link", L2FWD, "tenants.0.memory", "=remote"),
    ("explain-trackers", NO_STREAM, "tenants.1.app", ".array=1 MiB"),
    ("explain-trackers", NO_STREAM, "tenants.1.cores.first", "=99"),
    ("explain-trackers", NO_STREAM, "tenants.1.llc_ways", "={ first = 0, count = 1 }"),
    ("explain-trackers", NO_STREAM, "tenants.1.memory", "=remote"),
    ("explain-link", &["slo.p99=5 us"], "slo.p99_service_times", "=7"),
];

/// Tables whose keys are those of their kind. They are known by kind and key, because two kinds may have
/// keys of the same name: `traffic.control.swift.max_cwnd` is one, and `traffic.control.dctcp.max_cwnd`
/// another.
const BY_KIND: &[&str] = &["traffic.control", "tenants.N.app"];

/// Keys that something reads in every scenario, including everything below them; those of a table
/// [`BY_KIND`] with their kind. A limit counts as read if something is compared with it.
const ALWAYS: &[&str] = &[
    "machine.description",
    "machine.core.count",
    "machine.core.frequency",
    "machine.llc.latency_cycles",
    "machine.llc.home_trackers",
    "machine.llc.memory_latency",
    "machine.noc.latency_cycles",
    "machine.uncore.frequency",
    "machine.dram.standard",
    "machine.dram.channels",
    "machine.dram.ranks",
    "machine.dram.bank_groups",
    "machine.dram.banks_per_group",
    "machine.dram.rows",
    "machine.dram.columns",
    "machine.dram.read_queue",
    "machine.dram.row_policy",
    "machine.dram.refresh",
    "machine.dram.mapping",
    "machine.dram.timings.bl",
    "machine.dram.timings.ccd_s",
    "machine.dram.timings.ccd_s_wr",
    "machine.dram.timings.ccd_l",
    "machine.dram.timings.ccd_l_wr",
    "machine.dram.timings.cl",
    "machine.dram.timings.command_clocks",
    "machine.dram.timings.cwl",
    "machine.dram.timings.faw",
    "machine.dram.timings.ppd",
    "machine.dram.timings.ras",
    "machine.dram.timings.rc",
    "machine.dram.timings.rcd",
    "machine.dram.timings.rd_to_wr",
    "machine.dram.timings.rp",
    "machine.dram.timings.rrd_l",
    "machine.dram.timings.rrd_s",
    "machine.dram.timings.rtp",
    "machine.dram.timings.wr",
    "machine.dram.timings.wtr_s",
    "machine.dram.timings.wtr_l",
    "machine.iommu.mode",
    "machine.iommu.pages.payload",
    "machine.pcie.dllps",
    "traffic.kind",
    "traffic.rate",
    "traffic.on",
    "traffic.off",
    "traffic.file",
    "traffic.depth",
    "traffic.senders",
    "traffic.read_mix",
    "traffic.load",
    "traffic.open_reads",
    "traffic.striped",
    "traffic.payload",
    "traffic.headers",
    "traffic.acknowledgement",
    "traffic.network",
    "traffic.recovery",
    "traffic.watched",
    "traffic.rivals",
    "traffic.control.kind",
    "traffic.control.swift.additive_increase",
    "traffic.control.swift.beta",
    "traffic.control.swift.max_mdf",
    "traffic.control.swift.min_cwnd",
    "traffic.control.swift.max_cwnd",
    "traffic.control.swift.initial_cwnd",
    "traffic.control.swift.reset_after_timeouts",
    "traffic.control.swift.fabric_target",
    "traffic.control.swift.hops",
    "traffic.control.swift.flow_range",
    "traffic.control.swift.endpoint_target",
    "traffic.control.dctcp.gain",
    "traffic.control.dctcp.min_cwnd",
    "traffic.control.dctcp.max_cwnd",
    "traffic.control.dctcp.initial_cwnd",
    "traffic.control.hpcc.target_utilisation",
    "traffic.control.hpcc.max_stage",
    "traffic.control.hpcc.base_rtt",
    "traffic.control.hpcc.flows",
    "traffic.control.hpcc.server_hop",
    "traffic.control.hpcc.loss_decrease",
    "traffic.control.hpcc.min_cwnd",
    "traffic.control.hpcc.max_cwnd",
    "traffic.control.hpcc.initial_cwnd",
    "traffic.control.timely.ewma",
    "traffic.control.timely.beta",
    "traffic.control.timely.delta",
    "traffic.control.timely.low_threshold",
    "traffic.control.timely.high_threshold",
    "traffic.control.timely.hyperactive_after",
    "traffic.control.timely.segment",
    "traffic.control.timely.loss_decrease",
    "traffic.control.timely.min_rate",
    "traffic.control.timely.initial_rate",
    "traffic.control.dcqcn.gain",
    "traffic.control.dcqcn.notification_interval",
    "traffic.control.dcqcn.alpha_timer",
    "traffic.control.dcqcn.increase_timer",
    "traffic.control.dcqcn.byte_counter",
    "traffic.control.dcqcn.recoveries",
    "traffic.control.dcqcn.additive_increase",
    "traffic.control.dcqcn.hyper_increase",
    "traffic.control.dcqcn.min_rate",
    "dma_bench.direction",
    "dma_bench.size",
    "dma_bench.window",
    "dma_bench.interval",
    "dma_bench.warm",
    "tenants.N.name",
    "tenants.N.cores",
    "tenants.N.llc_ways",
    "tenants.N.app.kind",
    "tenants.N.app.kvs.keys",
    "tenants.N.app.kvs.buckets",
    "tenants.N.app.kvs.log",
    "tenants.N.app.kvs.item",
    "tenants.N.app.kvs.zipf",
    "tenants.N.app.kvs.requests",
    "tenants.N.app.kvs.network_header",
    "tenants.N.app.kvs.request_instructions",
    "tenants.N.app.kvs.copy_instructions_per_line",
    "tenants.N.app.kvs.spike.probability",
    "tenants.N.app.l3fwd.rules",
    "tenants.N.app.l3fwd.shortest_prefix",
    "tenants.N.app.l3fwd.longest_prefix",
    "tenants.N.app.l3fwd.destinations",
    "tenants.N.app.l3fwd.transmit",
    "tenants.N.app.l3fwd.packet_instructions",
    "tenants.N.app.l2fwd.packet_instructions",
    "tenants.N.app.snap.packet_instructions",
    "tenants.N.app.snap.copy_instructions_per_line",
    "tenants.N.app.snap.copied",
    "tenants.N.app.stream.array",
    "tenants.N.app.stream.kernel",
    "tenants.N.app.stream.vector",
    "tenants.N.app.xmem.region",
    "tenants.N.app.xmem.pattern",
    "tenants.N.app.xmem.writes",
    "run",
    // For a peak search: a run without a search says so itself.
    "slo.p99",
    "slo.drops",
];

/// All keys of the schema below a place, with N for the elements of arrays, and the kind before the keys of
/// a table [`BY_KIND`].
fn schema_keys(schema: &Value, at: &Value, key: &str, found: &mut BTreeSet<String>) {
    if let Some(of) = at["$ref"].as_str() {
        let name = of.strip_prefix("#/$defs/").expect("a definition");
        return schema_keys(schema, &schema["$defs"][name], key, found);
    }
    let kind = at["properties"]["kind"]["const"].as_str().filter(|_| BY_KIND.contains(&key));
    let below = |name: &str| match kind {
        _ if key.is_empty() => name.into(),
        Some(kind) if name != "kind" => format!("{key}.{kind}.{name}"),
        _ => format!("{key}.{name}"),
    };
    let parts = at["properties"].as_object().into_iter().flatten();
    let mut leaf = true;
    for (name, part) in parts {
        leaf = false;
        schema_keys(schema, part, &below(name), found);
    }
    for kind in ["oneOf", "anyOf"].iter().flat_map(|k| at[*k].as_array().into_iter().flatten()) {
        let table = !kind["properties"].is_null() || !kind["$ref"].is_null();
        if table {
            schema_keys(schema, kind, key, found);
        }
        leaf &= !table;
    }
    if !at["items"].is_null() && at["prefixItems"].is_null() {
        leaf = false;
        schema_keys(schema, &at["items"], &below("N"), found);
    }
    if leaf {
        found.insert(key.into());
    }
}

/// A key of a scenario in the form of [`schema_keys`].
fn with_kind(loaded: &Loaded, key: &str) -> String {
    let in_schema = key.replace(".0.", ".N.").replace(".1.", ".N.");
    let name_in = |table: &str| Some(in_schema.strip_prefix(table)?.strip_prefix('.')?.to_owned());
    let Some((table, name)) = BY_KIND.iter().find_map(|&table| Some((table, name_in(table)?)))
    else {
        return in_schema;
    };
    let scenario = serde_json::to_value(&loaded.scenario).expect("JSON");
    let parts = key.split('.').take(table.split('.').count());
    let table_in_scenario = parts.map(|part| format!("/{part}")).collect::<String>();
    let kind = scenario.pointer(&format!("{table_in_scenario}/kind")).and_then(Value::as_str);
    format!("{table}.{}.{name}", kind.expect("a table of some kind"))
}

#[test]
fn of_every_key_it_is_known_whether_it_can_be_without_effect() {
    let schema: Value = serde_json::from_str(&scenario_schema()).expect("JSON");
    let mut keys = BTreeSet::new();
    schema_keys(&schema, &schema, "", &mut keys);
    assert!(keys.len() > 150 && keys.contains("tenants.N.app.kvs.item"), "{keys:?}");
    let cases =
        CASES.iter().map(|&(scenario, sets, key, _)| with_kind(&loaded(scenario, sets), key));
    let known: Vec<String> = cases.chain(ALWAYS.iter().map(|&k| k.into())).collect();
    let is_below = |key: &str, of: &str| format!("{key}.").starts_with(&format!("{of}."));
    // Keys in a table below `placement` are those of a policy, and the registry of policies says when they are read.
    let of_a_policy = |key: &str| key.starts_with("placement.") && key.split('.').count() > 2;
    // That a table as a whole can be without effect says nothing about the keys of its kinds.
    let says = |of: &&String| !BY_KIND.contains(&of.as_str());
    let is_known =
        |key: &str| of_a_policy(key) || known.iter().filter(says).any(|of| is_below(key, of));
    let unknown: Vec<_> = keys.iter().filter(|key| !is_known(key)).collect();
    assert!(
        unknown.is_empty(),
        "nobody has asked what reads {unknown:?}: add each to ALWAYS above if its value always decides something, else \
         to CASES and to config/without_effect.rs"
    );
    for of in &known {
        assert!(keys.iter().any(|key| is_below(key, of)), "{of} is no key");
    }
}

#[test]
fn what_has_no_effect_changes_nothing() {
    for &(scenario, sets, key, value) in CASES {
        let as_is = loaded(scenario, sets);
        assert!(keys(&as_is).iter().any(|k| k == key), "{scenario} {sets:?}: {key}");
        let set = format!("{key}{value}");
        let of = |set: &str| set.split_once('=').map(|(key, _)| key.to_owned());
        let others = sets.iter().filter(|s| of(s) != of(&set)).copied();
        let changed = loaded(scenario, &others.chain([set.as_str()]).collect::<Vec<_>>());
        assert_ne!(changed.scenario, as_is.scenario, "{scenario}: {set}");
        assert!(results(&changed) == results(&as_is), "{scenario} {sets:?}: {set} has an effect");
    }
}

#[test]
fn what_has_an_effect_is_not_named() {
    for (scenario, sets, set) in [
        ("sweeper-l3fwd", &[][..], "placement.io_ways=7"),
        // What is not a packet, such as descriptors, still lands in the I/O ways.
        ("sweeper-l3fwd", &["placement.policy=ideal-ddio"], "placement.io_ways=7"),
        ("sweeper-l3fwd", &["placement.policy=ddio-l2"], "placement.ddio_l2.packets=1"),
        ("sweeper-l3fwd", &["placement.policy=ddio-headers"], "placement.ddio_headers.lines=9"),
        ("sweeper-l3fwd", &[], "traffic.sizes.size=64 B"),
        ("demo", SMALL, "tenants.0.app.set_from=64 B"),
        ("host-congestion", &["queues.memory=remote"], "machine.numa.latency=1 us"),
        ("host-congestion", TIMELY, "traffic.control.min_rtt=1 us"),
        ("host-congestion", TIMELY, "traffic.control.max_decrease=0.1"),
        ("explain-iommu", &[], "machine.iommu.step_latency=1 us"),
        ("explain-iommu", &[], "machine.iommu.pages.descriptors=2 MiB"),
        ("explain-link", &[], "traffic.flows=3"),
        ("explain-link", FLOWS, "traffic.flows=3"),
        ("explain-memory", &[], "machine.dram.density=16Gb"),
        ("explain-memory", &[], "tenants.0.app.tables=per-core"),
        ("pcie-bench", READS, "machine.pcie.non_posted_credits=4"),
        ("pcie-bench", WRITES, "machine.pcie.posted_credits=4"),
        ("pcie-bench", WRITES, "placement.policy=dma"),
        (
            "explain-link",
            &["machine.iommu.mode=strict", "machine.iommu.pages.payload=4 KiB"],
            "machine.iommu.run_time.map=9 us",
        ),
    ] {
        let (as_is, changed) = (loaded(scenario, sets), loaded(scenario, &[sets, &[set]].concat()));
        assert!(!keys(&as_is).iter().any(|k| set.starts_with(k)), "{scenario}: {set}");
        assert!(run(&changed) != run(&as_is), "{scenario}: {set}");
    }
}
