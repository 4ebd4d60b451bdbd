"""The tables, by card and subject."""

from __future__ import annotations

from . import Settings, Table
from .rows import (
    cut_by,
    dma_written,
    fabric_us,
    fairness,
    first_latency_ns,
    host_p99_us,
    host_us,
    in_flight_packets,
    in_use,
    not_lost,
    of_group,
    read_us,
    reading,
    rival_over_other,
    rival_read_us,
    rtt_us,
    starved,
    stream_a_core,
)

GOODPUT = reading("goodput_gbps")
DROPPED = reading("transport_drop_percent")
READ = reading("memory_reads")
WRITTEN = reading("memory_writes")
THREADS = "tenants.0.cores.count"
STREAMS = "tenants.1.cores.count"
MODE = "machine.iommu.mode"
OFF = {MODE: "off"}
DCTCP = {"kind": "dctcp", "initial_cwnd": 4, "max_cwnd": 4}
HPCC = {"kind": "hpcc", "base_rtt": "15 us", "flows": 480}
LONG = {"run.warmup": "20 ms", "run.duration": "40 ms"}
SHORT = {"run.warmup": "10 ms", "run.duration": "10 ms"}
GROWN = {"traffic.control.initial_cwnd": 4, "run.warmup": "40 ms", "run.duration": "20 ms"}
PAUSES = ("0 us", "200 us", "500 us", "800 us", "1200 us")
BEHIND_IOMMU = {
    "goodput": GOODPUT,
    "dropped": DROPPED,
    "host delay": host_us,
    "M": reading("misses_per_packet"),
}
CHASING = {
    "name": "chase",
    "cores": {"first": 0, "count": 1},
    "app": {"kind": "xmem", "pattern": "random-chained", "region": "200 MiB"},
}
ICE_LAKE = {"machine.base": "icelake-8360y", "machine.dram.standard": "DDR4-3200AA"}
DRAINS = (
    "machine.dram.drain_high_percent",
    "machine.dram.drain_low_percent",
    "machine.dram.reads_between_drains",
)


def _each(key: str, values: tuple[float | str, ...]) -> dict[str, Settings]:
    return {str(value): {key: value} for value in values}


def _drain(high: int, low: int, reads: int) -> Table:
    return Table(
        "host-network-writes",
        {"0": {"tenants": []}, **_each(THREADS, (1, 2, 3, 4, 6))},
        {
            "GB/s": dma_written,
            "credit, ns": reading("write_latency_ns"),
            "queue full, %": starved("write-queue"),
        },
        dict(zip(DRAINS, (high, low, reads), strict=True)),
    )


def paced(registers: int) -> Settings:
    """Readers at a part of their pace, as a memory benchmark's delays make them."""
    return {"machine.core.l1_miss_registers": registers, "machine.l2.prefetch": "none"}


def _latency(readers: int, registers: tuple[int, ...], settings: Settings) -> Table:
    all_cores = {STREAMS: readers}
    return Table(
        "memory-latency",
        {
            "none": {"tenants": [CHASING]},
            **{str(n): paced(n) | all_cores for n in registers},
            "all": all_cores,
            "all, 256 trackers": {"machine.llc.home_trackers": 256} | all_cores,
            "all, writing": {"tenants.1.app.writes": "100 %", "run.warmup": "3 ms"} | all_cores,
        },
        {
            "memory": reading("bandwidth"),
            "latency": first_latency_ns,
            "trackers": in_use("home-trackers"),
        },
        settings,
    )


TABLES = {
    "transport/threads": Table(
        "host-congestion",
        _each(THREADS, (1, 2, 4, 6, 7, 8, 10, 12, 16)),
        {
            "goodput": GOODPUT,
            "host delay": host_us,
            "fabric delay": fabric_us,
            "not lost": not_lost,
            "read": READ,
            "written": WRITTEN,
        },
        OFF | SHORT,
    ),
    "transport/patient": Table(
        "host-congestion",
        _each(THREADS, (1, 4)),
        {"host delay": host_us, "not lost": not_lost},
        OFF | SHORT | {"traffic.recovery.min_timeout": "1 ms"},
    ),
    "transport/on-arrival": Table(
        "host-congestion",
        {"on arrival": {"tenants.0.app.copied": "on-arrival"}},
        {"goodput": GOODPUT, "read": READ, "written": WRITTEN},
        OFF | SHORT,
    ),
    "transport/slow-host": Table(
        "host-congestion",
        {
            "60 credits": {"machine.nic.write_credits": 60},
            "48 credits": {"machine.nic.write_credits": 48},
            "8 lanes": {"machine.pcie.lanes": 8},
        },
        {"goodput": GOODPUT, "dropped": DROPPED, "host delay": host_us},
        OFF | SHORT,
    ),
    "transport/marks": Table(
        "host-congestion",
        {"none": {}, **_each("machine.nic.ecn_threshold", ("768 KiB", "512 KiB", "256 KiB"))},
        {"dropped": DROPPED, "goodput": GOODPUT, "host delay": host_us},
        SHORT | {"traffic.senders": 8, "traffic.control": DCTCP},
        seeds=3,
    ),
    "transport/controls": Table(
        "host-congestion",
        {
            "Swift": {},
            "DCTCP": {"traffic.control": DCTCP},
            "TIMELY": {"traffic.control": {"kind": "timely"}},
            "half at most": {"traffic.control": {"kind": "timely", "max_decrease": 0.5}},
        },
        {
            "goodput": GOODPUT,
            "dropped": DROPPED,
            "p99 in the server": host_p99_us,
            "in flight": in_flight_packets,
            "fairness": fairness,
        },
        {"traffic.recovery.min_timeout": "1 ms", "run.warmup": "40 ms", "run.duration": "20 ms"},
        seeds=3,
    ),
    "transport/hpcc": Table(
        "host-congestion",
        {
            "IOMMU": {"traffic.control": HPCC},
            "IOMMU, the switch alone": {"traffic.control": HPCC | {"server_hop": False}},
            "no IOMMU": {"traffic.control": HPCC, "machine.iommu.mode": "off"},
            "no IOMMU, the switch alone": {
                "traffic.control": HPCC | {"server_hop": False},
                "machine.iommu.mode": "off",
            },
        },
        {
            "goodput": GOODPUT,
            "dropped": DROPPED,
            "p99 in the server": host_p99_us,
            "in flight": in_flight_packets,
            "fairness": fairness,
        },
        {"traffic.recovery.min_timeout": "1 ms", "run.warmup": "40 ms", "run.duration": "20 ms"},
        seeds=3,
    ),
    "transport/dcqcn": Table(
        "host-congestion",
        {
            "8 senders": {"traffic.senders": 8},
            "40": {},
            "40, 300 us": {"traffic.control.increase_timer": "300 us"},
            "40, 1500 us": {"traffic.control.increase_timer": "1500 us"},
        },
        {
            "goodput": GOODPUT,
            "dropped": DROPPED,
            "p99 in the server": host_p99_us,
            "in flight": in_flight_packets,
            "fairness": fairness,
        },
        {
            "traffic.control": {"kind": "dcqcn"},
            "machine.nic.ecn_threshold": "256 KiB",
            "traffic.recovery.min_timeout": "1 ms",
            "run.warmup": "40 ms",
            "run.duration": "20 ms",
        },
        seeds=3,
    ),
    "transport/cuts": Table(
        "host-congestion",
        {
            **{f"{n}, off": {THREADS: n} | OFF for n in (4, 8)},
            **_each(THREADS, (10, 12, 14, 16)),
        },
        {"host": cut_by("host"), "path": cut_by("path"), "losses": cut_by("losses")},
        LONG,
    ),
    "transport/rivals": Table(
        "host-congestion",
        {
            "0": {},
            **{
                f"{n}{', off' if off else ''}": {"traffic.rivals": {"senders": n, "control": DCTCP}}
                | off
                for off in ({}, OFF)
                for n in (4, 20)
            },
        },
        {
            "all": GOODPUT,
            "Swift": of_group(0),
            "DCTCP": of_group(1),
            "over": rival_over_other,
            "dropped": DROPPED,
        },
        {"traffic.recovery.min_timeout": "1 ms", "run.duration": "40 ms"},
    ),
    **{
        f"transport/think{name}": Table(
            "host-congestion",
            _each("traffic.think", PAUSES),
            {"goodput": GOODPUT, "p99 of a read": read_us(99), "dropped": DROPPED},
            GROWN | mode,
        )
        for name, mode in (("", {}), ("-off", OFF))
    },
    "transport/additive": Table(
        "host-congestion",
        _each("traffic.control.additive_increase", (0.0058,)),
        {"goodput": GOODPUT, "dropped": DROPPED},
        GROWN,
    ),
    **{
        f"transport/short-reads{name}": Table(
            scenario,
            {"": change},
            {
                "all": GOODPUT,
                "dropped": DROPPED,
                "median": rival_read_us(50),
                "p99": rival_read_us(99),
                "p99.9": rival_read_us(99.9),
            },
            {
                "traffic.rivals": {"senders": 4, "read": "4 KiB", "think": "100 us"},
                "run.warmup": "10 ms",
                "run.duration": "20 ms",
            },
            seeds=3,
        )
        for name, scenario, change in (
            ("-off", "host-congestion", OFF),
            ("", "host-congestion", {}),
            ("-50us", "host-congestion", {"traffic.control.endpoint_target": "50 us"}),
            ("-stream", "host-congestion-stream", {}),
        )
    },
    **{
        f"transport/incast{name}": Table(
            scenario,
            _each("traffic.control.endpoint_target", ("100 us", "50 us")),
            {"goodput": GOODPUT, "dropped": DROPPED},
            {
                "traffic.senders": 8,
                "traffic.read": "64 KiB",
                "traffic.striped": True,
                "traffic.control.additive_increase": 1,
                "traffic.control.initial_cwnd": 16,
                "traffic.control.max_cwnd": 64,
                "run.warmup": "10 ms",
                "run.duration": "20 ms",
            },
        )
        for name, scenario in (("", "host-congestion"), ("-stream", "host-congestion-stream"))
    },
    "transport/timeouts": Table(
        "host-congestion",
        _each("traffic.recovery.min_timeout", ("100 us", "1 ms")),
        {"goodput": GOODPUT, "not lost": not_lost, "rtt, p99": rtt_us(99), "longest": rtt_us(100)},
        {"traffic.control": {"kind": "dctcp"}},
    ),
    **{
        f"transport/increase-{target}": Table(
            "host-congestion",
            _each("traffic.control.additive_increase", (0.02, 0.1, 1)),
            {"goodput": GOODPUT, "dropped": DROPPED},
            SHORT | {"traffic.control.endpoint_target": f"{target} us"},
        )
        for target in (100, 50)
    },
    "iommu/threads": Table(
        "host-congestion", _each(THREADS, (2, 4, 6, 8, 10, 12, 14, 16)), BEHIND_IOMMU, LONG
    ),
    "iommu/modes": Table(
        "host-congestion",
        _each(MODE, ("loose", "deferred", "strict")),
        BEHIND_IOMMU,
        {"machine.iommu.pages.payload": "4 KiB"},
    ),
    "iommu/small-pages": Table(
        "host-congestion",
        _each(THREADS, (8, 16)),
        BEHIND_IOMMU,
        {"machine.iommu.pages.payload": "4 KiB"} | LONG,
    ),
    "iommu/scattered": Table(
        "host-congestion", {"16": {THREADS: 16}}, BEHIND_IOMMU, {"queues.start": "scattered"} | LONG
    ),
    "iommu/relaxed": Table(
        "host-congestion",
        {
            "12": {THREADS: 12},
            "16": {THREADS: 16},
            "12, 4 KiB": {THREADS: 12, "machine.iommu.pages.payload": "4 KiB"},
        },
        BEHIND_IOMMU,
        {"machine.pcie.relaxed_ordering": True} | LONG,
    ),
    "stream/off": Table(
        "host-congestion-stream",
        _each(STREAMS, (0, 2, 4, 6, 8, 10, 12, 15)),
        {
            "goodput": GOODPUT,
            "dropped": DROPPED,
            "memory": reading("bandwidth"),
            "read": READ,
            "STREAM a core": stream_a_core,
            "trackers": in_use("home-trackers"),
            "DRAM read": reading("dram_mean_ns"),
            "credit": reading("write_latency_ns"),
            "before the link": reading("write_link_wait_ns"),
            "no credit": starved("io-credits"),
            "host delay": host_us,
        },
        LONG,
    ),
    "stream/loose": Table(
        "host-congestion-stream",
        _each(STREAMS, (0, 2, 4, 6, 8, 10, 12, 15)),
        {"goodput": GOODPUT, "dropped": DROPPED, "a miss": reading("miss_latency_ns")},
        LONG | {MODE: "loose"},
    ),
    "stream/trackers": Table(
        "host-congestion-stream",
        {
            f"{trackers}, {cores}": {"machine.llc.home_trackers": trackers, STREAMS: cores}
            for trackers, cores in ((96, 8), (160, 10), (160, 15), (192, 15))
        },
        {"goodput": GOODPUT, "dropped": DROPPED},
        {"run.warmup": "12 ms", "run.duration": "10 ms"},
    ),
    "stream/turns": Table(
        "host-congestion-stream",
        _each(STREAMS, (12, 15)),
        {"goodput": GOODPUT, "dropped": DROPPED},
        LONG | {DRAINS[2]: 16},
    ),
    "stream/latency": _latency(17, (1, 3, 5, 6, 8), {}),
    "stream/latency-icelake": _latency(31, (2, 4, 6, 8), ICE_LAKE),
    "stream/drain-20-0": _drain(80, 20, 0),
    "stream/drain-90-16": _drain(99, 90, 16),
    "stream/drain-90-32": _drain(99, 90, 32),
    "stream/drain-60-48": _drain(99, 60, 48),
    "stream/drain-50-64": _drain(99, 50, 64),
}
