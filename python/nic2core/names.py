"""Display names of what a run has: stages of the path, causes of memory traffic, delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.results.models import Distribution, Results


STAGES = {
    "wire": "wire",
    "nic-sram": "NIC input SRAM",
    "packet-engine": "NIC packet rate",
    "descriptors": "receive descriptors",
    "rx-fetches": "RX descriptor reads",
    "pcie": "PCIe link",
    "nic-port": "NIC port",
    "posted-credits": "PCIe posted credits",
    "read-tags": "PCIe read tags",
    "iommu": "IOMMU",
    "invalidations": "IOMMU invalidation queue",
    "io-credits": "I/O write credits",
    "read-credits": "I/O read credits",
    "io-ways": "LLC I/O ways",
    "llc": "LLC",
    "home-trackers": "LLC home trackers",
    "read-queue": "memory read queues",
    "write-queue": "memory write queues",
    "dram": "memory bus",
    "socket-link": "inter-socket link",
    "miss-registers": "miss registers",
    "dispatch": "RSS dispatch",
    "cores": "cores",
    "tx-descriptors": "transmit descriptors",
    "tx-fetches": "TX descriptor reads",
}
"""Display names of the stages of the path."""


LATENCIES = {
    "nic": "in the NIC",
    "dma": "DMA",
    "queue": "in the queue",
    "service": "service",
    "transmit": "transmit (after total)",
    "total": "total",
    "sent": "from port to port",
}
"""Display names of the latency stages; `total` ends with the request, before transmit."""


DELAYS = {
    "rtt": "round trip",
    "fabric_delay": "outside the server",
    "host_delay": "in the server",
    "read_latency": "a whole read",
    "block_latency": "a whole block",
}
"""Display names of the delays that closed-loop senders see."""


CAUSES = {
    "nic-rx-wr": "NIC writes received packets",
    "nic-tx-rd": "NIC reads packets to send",
    "cpu-rx-rd": "core reads received packets",
    "cpu-other-rd": "core reads application data",
    "rx-evct": "receive buffers evicted",
    "tx-evct": "transmit buffers evicted",
    "other-evct": "application data evicted",
    "cpu-tx-rd": "core reads transmit buffers",
    "nic-descriptor-rd": "NIC reads descriptors",
    "nic-descriptor-wr": "NIC writes descriptors",
    "descriptor-evct": "descriptors evicted",
    "nic-bench-rd": "NIC reads benchmark data",
    "nic-bench-wr": "NIC writes benchmark data",
    "bench-evct": "benchmark data evicted",
    "mbuf-rd": "core reads mbuf metadata",
    "mbuf-evct": "mbuf metadata evicted",
    "cpu-descriptor-rd": "core reads descriptors",
    "prefetch-rd": "hardware prefetch",
    "page-clean-wr": "recycled pages cleaned",
    "iommu-walk-rd": "IOMMU page walks",
}
"""Display names of the causes of memory traffic."""


CONTENTS = {
    "rx": "packet data in use",
    "rx-consumed": "consumed receive buffers",
    "tx": "transmit buffers",
    "app": "application data",
    "mbuf": "mbuf metadata",
    "descriptor": "descriptors",
    "bench": "benchmark data",
}
"""Display names of what the LLC holds."""


OF_PACKETS = {name for name in CAUSES if {"rx", "tx", "descriptor", "mbuf"} & {*name.split("-")}}
"""The causes that concern lines on a packet's way: data, descriptors and mbufs."""


TAKES = {
    "SETTING": "setting",
    "NO_IOMMU": "no IOMMU",
    "TRAFFIC": "traffic",
    "HARDWARE": "hardware",
    "IDEAL": "ideal",
}
"""Display names of what changes take."""


def cause(name: str) -> str:
    """A cause's display name, followed by the name that tables and the paper use."""
    return f"{CAUSES[name]} ({name})" if name in CAUSES else name


def latencies(data: Results) -> dict[str, Distribution]:
    """The latency stages by display name, in path order; empty without packets."""
    return {LATENCIES.get(s.stage, s.stage): s.distribution for s in data.latency}


TAILS = {
    "p99_ns": "p99",
    "p99_read_ns": "p99 read",
    "p99_slowdown_shortest": "p99 slowdown\nshortest reads",
    "p99_slowdown_longest": "p99 slowdown\nlongest reads",
}
"""Columns of a sweep's table that are a tail, with their names above a column of a narrow table."""

TAIL_NAMES = {
    "p99_ns": "p99 latency",
    "p99_read_ns": "p99 of whole reads",
    "p99_slowdown_shortest": "p99 slowdown of the shortest reads",
    "p99_slowdown_longest": "p99 slowdown of the longest reads",
}
"""Their names in a sentence."""


def stage(name: str) -> str:
    """The display name of a stage of the path."""
    return STAGES.get(name, name)
