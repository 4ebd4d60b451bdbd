//! Every rule of `nic2core_engine::config::validate`, broken on purpose by one override.

use std::path::Path;

use nic2core_scenario::{Disk, load};

/// Traffic of machines that answer reads of `$read` bytes and get acknowledgements of `$acknowledgement`, or that are
/// what `$keys` says.
macro_rules! closed_loop {
    ($read:literal, $acknowledgement:literal) => {
        closed_loop!($read, $acknowledgement, "senders=2, payload='2 KiB'")
    };
    ($read:literal, $acknowledgement:literal, $keys:literal) => {
        concat!(
            "traffic={kind='closed-loop', headers='64 B', read='",
            $read,
            "', acknowledgement='",
            $acknowledgement,
            "', control={kind='swift'}, ",
            "network={delay='5 us', sender_link='100 Gbps', buffer='1 MiB'}, ",
            $keys,
            "}"
        )
    };
}
const CLOSED_LOOP: &str = closed_loop!("4 KiB", "64 B");

const DDR5: &str = "machine.dram.standard=DDR5-4800";

/// The overrides, the key that is blamed, and what the user is told is allowed.
const RULES: &[(&[&str], &str, &str)] = &[
    (&["machine.core.count=0"], "machine.core.count", "1 to 32"),
    (&["machine.core.count=33"], "machine.core.count", "1 to 32"),
    (&["machine.core.frequency=0 GHz"], "machine.core.frequency", "100 MHz to 10 GHz in whole MHz"),
    (&["machine.core.frequency=3200000001 Hz"], "machine.core.frequency", "in whole MHz"),
    (&["machine.core.dispatch_width=0"], "machine.core.dispatch_width", "1 to 32"),
    (&["machine.core.reorder_window=0"], "machine.core.reorder_window", "1 to 4096"),
    (&["machine.core.l1_miss_registers=0"], "machine.core.l1_miss_registers", "1 to 256"),
    (&["machine.core.store_buffer=0"], "machine.core.store_buffer", "1 to 1024"),
    (&["machine.l1d.ways=0"], "machine.l1d.ways", "1 to 32"),
    (&["machine.l1d.size=0 B"], "machine.l1d.size", "a multiple of 768 B (64 B × 12 ways)"),
    (&["machine.l1d.size=47 KiB"], "machine.l1d.size", "a multiple of 768 B (64 B × 12 ways)"),
    (&["machine.l2.size=40 KiB"], "machine.l2.size", "at least machine.l1d.size (48 KiB)"),
    (&["machine.l2.replacement=tree-plru"], "machine.l2.ways", "a power of two"),
    (
        &["machine.l2.prefetch=streamer", "machine.l2.superqueue=10"],
        "machine.l2.superqueue",
        "more than machine.core.l1_miss_registers (10)",
    ),
    (&["machine.llc.ways=33"], "machine.llc.ways", "1 to 32"),
    (&["machine.llc.size=1 MiB"], "machine.llc.size", "a multiple of 384 B (64 B × 6 ways)"),
    (
        &["machine.llc.index=sliced", "machine.llc.slices=5"],
        "machine.llc.size",
        "a multiple of 1920 B (64 B × 6 ways × 5 slices)",
    ),
    (
        &[
            "machine.llc.index=sliced",
            "machine.llc.ways=11",
            "machine.llc.size=35.75 MiB",
            "machine.llc.slices=24",
        ],
        "machine.llc.size",
        "(64 B × 11 ways × 24 slices); or another machine.llc.slices, such as 26, which fits",
    ),
    (&["machine.llc.slices=0"], "machine.llc.slices", "at least 1"),
    // All divisors of the sets are tried, not all numbers up to twice what is given.
    (
        &["machine.llc.index=sliced", "machine.llc.slices=4294967295"],
        "machine.llc.size",
        "or another machine.llc.slices, such as 16384, which fits",
    ),
    (&["machine.nic.sram=0 B"], "machine.nic.sram", "64 B to 1 GiB"),
    (&["machine.nic.sram=32 GiB"], "machine.nic.sram", "64 B to 1 GiB"),
    (&["machine.nic.link=0 bps"], "machine.nic.link", "1 bps to 600000 Gbps, or no link"),
    (&["machine.nic.link=600001 Gbps"], "machine.nic.link", "1 bps to 600000 Gbps, or no link"),
    (
        &["machine.nic.write_credits=3"],
        "machine.nic.write_credits",
        "at least 4, the lines of a TLP of machine.pcie.max_payload (256 B)",
    ),
    (
        &["machine.nic.write_credits=63", "machine.pcie.max_payload=4 KiB"],
        "machine.nic.write_credits",
        "at least 64, the lines of",
    ),
    (&["machine.nic.read_credits=0"], "machine.nic.read_credits", "1 to 8192"),
    (&["machine.nic.read_credits=8193"], "machine.nic.read_credits", "1 to 8192"),
    (&["machine.nic.descriptor_batch=0"], "machine.nic.descriptor_batch", "1 to 256"),
    (&["machine.nic.packet_rate=0 Mpps"], "machine.nic.packet_rate", "1 pps to 10000 Mpps"),
    (&["machine.nic.tx_descriptor_batch=0"], "machine.nic.tx_descriptor_batch", "1 to 256"),
    (
        &["machine.nic.completions_per_write=0"],
        "machine.nic.completions_per_write",
        "1 to 8, the completions of 8 B that fit a line",
    ),
    (&["machine.nic.completions_per_write=9"], "machine.nic.completions_per_write", "1 to 8"),
    (
        &["machine.nic.rss.indirection_entries=100"],
        "machine.nic.rss.indirection_entries",
        "a power of two from 1 to 65536",
    ),
    (
        &["machine.nic.rss.indirection_entries=1"],
        "machine.nic.rss.indirection_entries",
        "(an entry for each queue) to 65536",
    ),
    (&["machine.pcie.generation=2"], "machine.pcie.generation", "3 to 5"),
    (&["machine.pcie.lanes=12"], "machine.pcie.lanes", "1, 2, 4, 8, 16"),
    (&["machine.pcie.max_payload=100 B"], "machine.pcie.max_payload", "128 B, 256 B, 512 B"),
    (&["machine.pcie.max_read_request=8 KiB"], "machine.pcie.max_read_request", "4 KiB"),
    (&["machine.pcie.latency=2 ms"], "machine.pcie.latency", "0 ps to 1 ms"),
    (&["machine.pcie.credit_return=2 ms"], "machine.pcie.credit_return", "0 ps to 1 ms"),
    (&["machine.pcie.posted_credits=0"], "machine.pcie.posted_credits", "at least 1"),
    (&["machine.pcie.non_posted_credits=0"], "machine.pcie.non_posted_credits", "at least 1"),
    (&["machine.pcie.dllps=65"], "machine.pcie.dllps", "0 to 64"),
    (&["machine.dram.channels=0"], "machine.dram.channels", "1 to 64"),
    (&["machine.dram.ranks=16", "machine.dram.banks_per_group=16"], "machine.dram.ranks", "banks"),
    (
        &[DDR5],
        "machine.dram.bank_groups",
        "8, which x4 and x8 devices of the standard have (machine.dram.standard, device_width)",
    ),
    (
        &[DDR5, "machine.dram.device_width=x16", "machine.dram.bank_groups=8"],
        "machine.dram.bank_groups",
        "4, which x16",
    ),
    (&["machine.dram.device_width=x16"], "machine.dram.bank_groups", "2, which x16"),
    (&["machine.dram.density=24Gb"], "machine.dram.density", "4Gb, 8Gb, 16Gb, which DDR4"),
    (
        &[DDR5, "machine.dram.density=4Gb"],
        "machine.dram.density",
        "8Gb, 16Gb, 24Gb, 32Gb, which DDR5",
    ),
    (
        &[DDR5, "machine.dram.bank_groups=8"],
        "machine.dram.banks_per_group",
        "2, which DDR5 devices of 8Gb have (machine.dram.density); larger ones have 4",
    ),
    (
        &[
            DDR5,
            "machine.dram.bank_groups=8",
            "machine.dram.density=8Gb",
            "machine.dram.banks_per_group=3",
        ],
        "machine.dram.banks_per_group",
        "2, which DDR5 devices of 8Gb have",
    ),
    (
        &[
            DDR5,
            "machine.dram.bank_groups=8",
            "machine.dram.density=16Gb",
            "machine.dram.banks_per_group=2",
        ],
        "machine.dram.banks_per_group",
        "4, which devices of the standard have",
    ),
    (&["machine.dram.banks_per_group=2"], "machine.dram.banks_per_group", "4, which devices"),
    (&["machine.dram.columns=1023"], "machine.dram.columns", "a multiple of 8"),
    (
        &["machine.dram.drain_low_percent=80"],
        "machine.dram.drain_low_percent",
        "less than machine.dram.drain_high_percent (80)",
    ),
    (&["machine.dram.drain_high_percent=101"], "machine.dram.drain_high_percent", "21 to 100"),
    (&["machine.dram.drain_high_percent=0"], "machine.dram.drain_high_percent", "21 to 100"),
    (&["machine.dram.timings.refi=100"], "machine.dram.timings.refi", "a round of refreshes"),
    (
        &["machine.dram.row_policy={close-after=0}"],
        "machine.dram.row_policy.close-after",
        "1 to 1000000",
    ),
    (
        &["machine.iommu={iotlb={entries=0, ways=128}, paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}"],
        "machine.iommu.iotlb.entries",
        "1 to 65536",
    ),
    (
        &["machine.iommu={iotlb={entries=128, ways=3}, paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}"],
        "machine.iommu.iotlb.ways",
        "a divisor of machine.iommu.iotlb.entries (128)",
    ),
    (
        &[
            "machine.iommu={iotlb={entries=128, ways=128}, paging_structures={pml4=1, pdpt=1, pd=2000}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}",
        ],
        "machine.iommu.paging_structures.pd",
        "0 to 1024",
    ),
    (
        &[
            "machine.iommu={iotlb={entries=128, ways=128}, paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=0, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}",
        ],
        "machine.iommu.posted_queue",
        "1 to 65536",
    ),
    (
        &[
            "machine.iommu={iotlb={entries=128, ways=128}, paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=0, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}",
        ],
        "machine.iommu.walkers",
        "1 to 1024",
    ),
    (
        &[
            "machine.iommu={iotlb={entries=128, ways=128}, paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ms', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}",
        ],
        "machine.iommu.step_latency",
        "0 ps to 10 us",
    ),
    (
        &["machine.iommu={mode='strict', iotlb={entries=128, ways=128}, \
             paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}"],
        "machine.iommu.pages.payload",
        "while machine.iommu.mode is strict or deferred",
    ),
    (
        &["machine.iommu={run_time={flush_after=0}, iotlb={entries=128, ways=128}, \
             paging_structures={pml4=1, pdpt=1, pd=1}, \
             posted_queue=8, non_posted_queue=8, walkers=1, step_latency='1 ns', \
             pages={payload='2 MiB', descriptors='4 KiB', completions='4 KiB', acknowledgements='4 KiB'}}"],
        "machine.iommu.run_time.flush_after",
        "at least 1",
    ),
    (&["machine.llc.memory_latency=1 ms"], "machine.llc.memory_latency", "0 ps to 1 us"),
    (
        &["dma_bench={direction='read', size='64 B', window='1 MiB'}"],
        "dma_bench",
        "nothing beside traffic",
    ),
    (
        &["dma_bench={direction='read', size='100 B', window='1 MiB'}"],
        "dma_bench.size",
        "a multiple of 64 B up to 4 KiB",
    ),
    (
        &[
            "dma_bench={direction='read', size='4 KiB', window='1 MiB'}",
            "machine.pcie.non_posted_credits=7",
            "machine.pcie.max_read_request=512 B",
        ],
        "dma_bench.size",
        "at most 3584 B, machine.pcie.non_posted_credits requests",
    ),
    (
        &["machine.nic.descriptor_batch=65", "machine.pcie.non_posted_credits=2"],
        "machine.nic.descriptor_batch",
        "at most 64: the NIC reads them together, and machine.pcie.non_posted_credits (2) requests",
    ),
    (
        &["machine.nic.tx_descriptor_batch=33", "machine.pcie.non_posted_credits=1"],
        "machine.nic.tx_descriptor_batch",
        "at most 32: the NIC reads them together, and machine.pcie.non_posted_credits (1) requests",
    ),
    (
        &["machine.pcie.non_posted_credits=1"],
        "machine.pcie.non_posted_credits",
        "at least 2: without machine.nic.tx_descriptor_batch",
    ),
    (
        &["dma_bench={direction='write', size='256 B', window='64 B'}"],
        "dma_bench.window",
        "256 B to 64 GiB",
    ),
    (&["run.sample=18446744 s"], "run.sample", "5 ns to 1000 s"),
    (&["traffic.rate=0 pps"], "traffic.rate", "1 pps to"),
    (
        &["tenants.0.app.requests=from-size", "traffic.rate=8000 bps"],
        "traffic.rate",
        "8384 bps to 600000 Gbps, at the least a packet of the mean size per second",
    ),
    (
        &["traffic.rate=60 Gbps"],
        "traffic.rate",
        "packets per second, such as \"10 Mpps\": the sizes are those of tenants.0.app (item, gets)",
    ),
    (&["traffic.flows=0"], "traffic.flows", "1 to"),
    (
        &["tenants.0.app.requests=from-size", "traffic.sizes.size=4 KiB"],
        "traffic.sizes.size",
        "at most queues.buffer_size (2 KiB), which has to hold a frame",
    ),
    (
        &["tenants.0.app.requests=from-size", "machine.nic.sram=1000 B"],
        "traffic.sizes.size",
        "at most machine.nic.sram (1000 B), which has to hold a frame",
    ),
    (
        &[
            "tenants.0.app.requests=from-size",
            "traffic={kind='poisson', rate='1 Mpps', flows=1, sizes={kind='mix', \
             of=[{size='60 B', weight=1}, {size='3 KiB', weight=1}]}}",
        ],
        "traffic.sizes.of.1.size",
        "at most queues.buffer_size (2 KiB)",
    ),
    (
        &["traffic={kind='backlog', depth=1025, flows=1, sizes={kind='fixed', size='64 B'}}"],
        "traffic.depth",
        "at most queues.rx_descriptors (1024), which packets wait in",
    ),
    (
        &["traffic={kind='bursts', rate='1 pps', on='1 us', off='60 s', flows=1, \
             sizes={kind='fixed', size='64 B'}}"],
        "traffic.rate",
        "a rate at which the first packet comes within 1000000 s",
    ),
    (&["tenants.0.app={kind='snap'}"], "tenants.0.app.kind", "traffic.kind = \"closed-loop\""),
    (&[CLOSED_LOOP, "machine.nic.link=100 Gbps"], "tenants.0.app.kind", "snap, which acknowledges"),
    (&[CLOSED_LOOP, "tenants.0.app={kind='snap'}"], "machine.nic.link", "a rate such as"),
    (
        &[
            CLOSED_LOOP,
            "tenants.0.app={kind='snap'}",
            "machine.nic.link=100 Gbps",
            "traffic.headers=6 KiB",
        ],
        "traffic.headers",
        "less than queues.buffer_size (2 KiB), which has to hold a frame",
    ),
    (
        &[CLOSED_LOOP, "tenants.0.app={kind='snap'}", "tenants.1.app={kind='snap'}"],
        "tenants.1.app.kind",
        "one tenant of this kind",
    ),
    (
        // Of each open read, one of two packets waits.
        &[
            closed_loop!("4 KiB", "64 B", "senders=4000, open_reads=4, payload='2 KiB'"),
            "tenants.0.app={kind='snap', copied='on-completion'}",
        ],
        "queues.pool_buffers",
        "more than 16000: that many packets of a core",
    ),
    (
        &[
            closed_loop!("4 KiB", "64 B", "senders=2, payload='0 B'"),
            "tenants.0.app={kind='snap', copied='on-completion'}",
        ],
        "traffic.payload",
        "1 B to",
    ),
    (
        &[closed_loop!(
            "4 KiB",
            "64 B",
            "senders=2, payload='2 KiB', rivals={senders=2, control={kind='swift'}}"
        )],
        "traffic.rivals.senders",
        "at least 1, and fewer than traffic.senders (2)",
    ),
    (
        &[closed_loop!(
            "4 KiB",
            "64 B",
            "senders=2, payload='2 KiB', rivals={senders=1, control={kind='swift', beta=2.0}}"
        )],
        "traffic.rivals.control.beta",
        "0 to 1",
    ),
    (&[closed_loop!("3 KiB", "64 B")], "traffic.read", "a multiple of traffic.payload (2 KiB)"),
    (&[closed_loop!("4 KiB", "9 B")], "traffic.acknowledgement", "60 B to"),
    (&[CLOSED_LOOP], "traffic.payload", "at most 1984 B, so that queues.buffer_size (2 KiB) holds"),
    (
        &["tenants.0.app.item=4 KiB"],
        "tenants.0.app.item",
        "at most 2 KiB: with network_header it has to fit queues.buffer_size (2 KiB)",
    ),
    (
        &["tenants.1.app.item=2 KiB", "tenants.1.app.network_header=42 B"],
        "tenants.1.app.item",
        "at most 2006 B",
    ),
    (
        &["machine.nic.sram=1000 B"],
        "tenants.0.app.item",
        "with network_header it has to fit machine.nic.sram (1000 B)",
    ),
    (
        &["tenants.0.app.item=4 KiB", "tenants.0.app.requests=from-size"],
        "tenants.0.app.item",
        "it has to fit queues.buffer_size",
    ),
    (
        &["tenants.0.app.network_header=18446744073709551615 B"],
        "tenants.0.app.network_header",
        "0 B to 44 B",
    ),
    (&["tenants.0.app.keys=0"], "tenants.0.app.keys", "1 to"),
    (
        &["tenants.0.app.spike={ probability='1 %', min='5 s', max='6 s' }"],
        "tenants.0.app.spike.min",
        "0 ps to 4 s",
    ),
    (
        &["tenants.0.app.spike={ probability='1 %', min='2 us', max='1 us' }"],
        "tenants.0.app.spike.max",
        "2 us to 4 s, the first being",
    ),
    (&["placement.io_ways=0"], "placement.io_ways", "1 to 6"),
    (&["placement.io_ways=7"], "placement.io_ways", "1 to 6"),
    (&["queues.rx_descriptors=0"], "queues.rx_descriptors", "1 to 65535"),
    (&["queues.tx_descriptors=0"], "queues.tx_descriptors", "1 to 65535"),
    (&["queues.tx_backlog=65536"], "queues.tx_backlog", "0 to 65535"),
    (&["queues.buffer_size=63 B"], "queues.buffer_size", "64 B to 65535 B"),
    (&["queues.headroom=100 B"], "queues.headroom", "a multiple of 64 B"),
    (&["queues.metadata=1 MiB"], "queues.metadata", "up to 65535 B"),
    (
        &["queues.pool_buffers=4000000000"],
        "queues.pool_buffers",
        "128 GiB in all; there are 30517 GiB of buffers",
    ),
    (&["machine.l2.size=20 GiB"], "machine.l2.size", "at most 2 GiB"),
    (&["machine.nic.descriptor_size=20 B"], "machine.nic.descriptor_size", "8 B, 16 B, 32 B, 64 B"),
    (&["machine.nic.completion_size=0 B"], "machine.nic.completion_size", "8 B, 16 B, 32 B, 64 B"),
    (
        &["tenants.0.app={kind='xmem'}", "tenants.1.app={kind='xmem'}"],
        "traffic",
        "nothing, because no tenant serves packets",
    ),
    (&["queues.pool_buffers=1023"], "queues.pool_buffers", "at least queues.rx_descriptors (1024)"),
    (&["queues.burst=0"], "queues.burst", "1 to 1024"),
    (&["queues.burst=1025"], "queues.burst", "1 to 1024"),
    (&["tenants=[]"], "tenants", "at least one"),
    (&["tenants.0.name=batch"], "tenants.1.name", "a name that no other tenant has"),
    (&["tenants.0.name="], "tenants.0.name", "a name that no other tenant has"),
    (&["tenants.0.cores.count=0"], "tenants.0.cores.count", "at least 1"),
    (
        &["tenants.1.app={kind='l2fwd'}", "tenants.1.cores.count=0"],
        "tenants.1.cores.count",
        "at least 1",
    ),
    (
        &[
            "tenants.0.app={kind='xmem'}",
            "tenants.1.app={kind='xmem'}",
            "tenants.0.cores.count=0",
            "tenants.1.cores.count=0",
        ],
        "tenants",
        "at least one core of a tenant",
    ),
    (&["tenants.0.cores.first=4"], "tenants.0.cores.first", "less than machine.core.count (4)"),
    (
        &["tenants.1.cores.count=2"],
        "tenants.1.cores.count",
        "at most 1, because tenants.1.cores.first is 3",
    ),
    (&["tenants.1.cores.first=2"], "tenants.1.cores", "server has 3 from core 0"),
    (
        &["tenants.1.llc_ways.count=5"],
        "tenants.1.llc_ways.count",
        "at most 4, because tenants.1.llc_ways.first is 2",
    ),
    (&["tenants.1.llc_ways.first=6"], "tenants.1.llc_ways.first", "less than machine.llc.ways (6)"),
    (&["tenants.0.memory=remote"], "tenants.0.memory", "no other socket"),
    (&["queues.memory=remote"], "queues.memory", "no other socket"),
    (&["machine.llc.home_trackers=0"], "machine.llc.home_trackers", "1 to 16384"),
    (
        &["machine.numa={links=0,link_bandwidth='9 Gbps',latency='1 ns'}"],
        "machine.numa.links",
        "1 to 8",
    ),
    (&["run.duration=0 s"], "run.duration", "1 ps to 1000 s"),
    (&["run.duration=100 s", "run.sample=1 ms"], "run.duration", "in use are added up over it"),
    (&["run.warmup=1001 s"], "run.warmup", "0 ps to 1000 s"),
    (&["run.sample=0 ps"], "run.sample", "at least 5 ns"),
    (&["run.duration=1999999 ps", "run.sample=1 ps"], "run.sample", "at least 2 ps"),
    (&["slo.p99_service_times=0"], "slo.p99_service_times", "at least 1"),
    (&["slo.p99=0 us"], "slo.p99", "1 ps to 1000 s"),
    (&["slo.drops=100 %"], "slo.drops", "0 % to 99 %"),
    (&["machine.l1d.latency_cycles=100001"], "machine.l1d.latency_cycles", "0 to 100000"),
    (&["machine.l2.latency_cycles=100001"], "machine.l2.latency_cycles", "0 to 100000"),
    (&["machine.llc.latency_cycles=100001"], "machine.llc.latency_cycles", "1 to 100000"),
    (&["machine.noc.latency_cycles=100001"], "machine.noc.latency_cycles", "0 to 100000"),
];

#[test]
fn each_rule_blames_its_key_and_says_what_is_allowed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    load(&Disk, &path, &[], &[]).expect("the fixture itself breaks no rule");
    for (sets, key, allowed) in RULES {
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        let errors = load(&Disk, &path, &sets, &[]).expect_err(&format!("{sets:?} is refused"));
        let of_key = errors.0.iter().find(|e| e.key.as_deref() == Some(*key));
        let error = of_key.unwrap_or_else(|| panic!("{sets:?} blames {key}, not {errors}"));
        assert!(error.allowed.contains(allowed), "{sets:?}: {error}");
    }
}

#[test]
fn what_only_follows_from_a_mistake_is_not_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    let rivals = closed_loop!(
        "1536 B",
        "64 B",
        "senders=2, payload='1 KiB', rivals={senders=1, open_reads=2}"
    );
    for (set, of) in [
        (rivals, "traffic."),
        ("tenants.0.app={kind='l3fwd', shortest_prefix=0}", "tenants.0.app."),
    ] {
        let errors = load(&Disk, &path, &[set.to_owned()], &[]).expect_err("a mistake");
        let told = errors.0.iter().filter(|e| e.key.as_ref().is_some_and(|k| k.starts_with(of)));
        assert_eq!(told.count(), 1, "{errors}");
    }
}

#[test]
fn banks_are_those_of_the_density_and_told_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    let with = |density: &str, banks: u32| {
        let sets = [
            DDR5.to_owned(),
            "machine.dram.bank_groups=8".into(),
            format!("machine.dram.density={density}"),
            format!("machine.dram.banks_per_group={banks}"),
        ];
        load(&Disk, &path, &sets, &[])
    };
    with("8Gb", 2).expect("JESD79-5");
    with("16Gb", 4).expect("JESD79-5");
    assert_eq!(with("4Gb", 4).expect_err("no DDR5").0.len(), 1);
    assert_eq!(with("16Gb", 0).expect_err("no banks").0.len(), 1);
}

#[test]
fn sizes_that_decide_nothing_may_be_any() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    load(&Disk, &path, &["traffic.sizes.size=4 KiB".into()], &[]).expect("clients draw requests");
}

#[test]
fn what_each_core_has_counts_as_data_so_many_times() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    let with = |app: &str, sharing: &str| {
        let app = format!("tenants.0.app={{{app}='{sharing}'}}");
        // 124 GiB of buffers for four cores; the data of three may take a GiB each.
        let sets = [app, "queues.pool_buffers=8100000".into(), "queues.buffer_size=4 KiB".into()];
        load(&Disk, &path, &sets, &[])
    };
    for app in ["kind='l3fwd', rules=1048576, tables", "kind='kvs', log='1 GiB', stores"] {
        with(app, "shared").expect("they fit once");
        let errors = with(app, "per-core").expect_err("three times they do not");
        assert_eq!(errors.0[0].key.as_deref(), Some("queues.pool_buffers"), "{errors}");
    }
}

#[test]
fn what_no_type_holds_is_told_the_range_of_the_rule_and_alone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kvs.toml");
    let pool = "queues.pool_buffers=2048".to_owned();
    for (set, allowed) in [
        ("placement.io_ways=-1", "1 to 6, the ways of the LLC (machine.llc.ways)"),
        ("queues.rx_descriptors=-1", "1 to 65535"),
        ("queues.rx_descriptors=0", "1 to 65535"),
        ("queues.rx_descriptors=65536", "1 to 65535"),
        ("queues.rx_descriptors=5000000000", "1 to 65535"),
        ("queues.tx_descriptors=0", "1 to 65535"),
        ("tenants.0.cores.count=-1", "at least 1"),
    ] {
        for sets in [vec![set.to_owned()], vec![set.to_owned(), pool.clone()]] {
            let errors = load(&Disk, &path, &sets, &[]).expect_err(set);
            assert_eq!(errors.0.len(), 1, "{errors}");
            assert_eq!(errors.0[0].allowed, allowed, "{errors}");
        }
    }
    // With another mistake beside it, the type's range is all that is known.
    let sets = ["placement.io_ways=-1", "placement.x=1"].map(str::to_owned);
    let errors = load(&Disk, &path, &sets, &[]).expect_err("two mistakes");
    assert_eq!(errors.0.len(), 2, "{errors}");
    assert_eq!(errors.0[0].allowed, "0 to 4294967295");
}
