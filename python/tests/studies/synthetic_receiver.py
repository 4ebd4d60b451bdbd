"""A made-up receiver of closed-loop traffic. Its numbers follow a toy rule and mean nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Fault = Literal[
    "walks-are-free",
    "endless-iotlb",
    "deaf-senders",
    "no-drops",
    "flows-take-pages",
    "private-bus",
    "unmapping-is-free",
    "one-thread-works",
    "always-drops",
    "slow-walks",
    "lines-miss",
    "standing-queue",
    "no-buffer",
    "idle-credits",
    "narrow-bus",
    "idle-stream",
]
"""Mechanisms of the paper that a seeded fault takes away: a miss costs no time; the IOTLB holds all
pages; senders do not hear the host's delay; nothing is dropped; each connection has pages of its
own; STREAM does not share the memory bus; what is unmapped stays in the IOTLB; threads beyond the
second add nothing; packets are dropped without congestion; walks take ten times as long; each line
of a packet misses by itself; packets wait without congestion; nothing waits in the NIC; a tenth of
the credits is never used; the memory bus is slower from the first STREAM core on; STREAM moves
nothing."""

LINK, REACTS = 92.0, 81.0
CREDITS, LINE_BITS = 92, 512
LINES, PAYLOAD_SHARE = 71, 4096 / (71 * 64)
BASE_NS = CREDITS * LINE_BITS * PAYLOAD_SHARE / 100
MISS_NS = 0.22 * BASE_NS
BUFFER_BITS = 8 * 2**20


@dataclass(frozen=True)
class Receiver:
    """What the toy rule looks at."""

    threads: int
    stream_cores: int
    region_mib: float
    payload_page: str | None
    """Absent with the IOMMU off."""
    unmaps: bool
    senders: int
    fault: Fault | None

    @property
    def misses(self) -> float:
        """Misses per packet: what does not fit 128 entries."""
        if self.fault == "endless-iotlb":
            return 0.01
        if self.payload_page is None:
            return 0.0
        payload = self.region_mib * (0.5 if self.payload_page == "2 MiB" else 256)
        pages = self.threads * (payload + 10)
        if self.fault == "flows-take-pages":
            pages *= self.senders / 40
        missed = max(0.01, 1 - 128 / pages) * (5 if self.fault == "lines-miss" else 1)
        unmapped = self.unmaps and self.fault != "unmapping-is-free"
        return missed * (3 + 0.5 * (payload > 100) + unmapped)

    @property
    def payload_misses(self) -> float:
        """Those for payload: two pages a packet at most."""
        return min(2.0, 2.1 * self.misses / 3.5)

    @property
    def bus(self) -> float:
        """How much slower the memory bus is."""
        if self.fault == "private-bus":
            return 1.0
        spare = 0 if self.fault == "narrow-bus" else 4
        return 1 + 0.004 * max(0, self.stream_cores - spare) ** 2

    @property
    def walk_ns(self) -> float:
        """How long a miss takes."""
        return 4000.0 if self.fault == "slow-walks" else 400.0

    @property
    def wait_ns(self) -> float:
        """What translations take from a line."""
        return 0.0 if self.fault == "walks-are-free" else self.misses * MISS_NS * self.walk_ns / 400

    @property
    def latency_ns(self) -> float:
        """How long a line holds its credit."""
        return (BASE_NS + self.wait_ns) * self.bus

    @property
    def capacity(self) -> float:
        """Payload that the credits let through, Gbps."""
        used = 0.9 if self.fault == "idle-credits" else 1.0
        return used * CREDITS * LINE_BITS * PAYLOAD_SHARE / self.latency_ns

    @property
    def served(self) -> float:
        """Payload that the threads and the link are good for, Gbps."""
        threads = min(2, self.threads) if self.fault == "one-thread-works" else self.threads
        return min(11.6 * threads, LINK)

    @property
    def goodput(self) -> float:
        """Payload that arrives, Gbps."""
        return min(self.served, self.capacity)

    @property
    def congested(self) -> bool:
        """Whether the host interconnect limits."""
        return self.capacity < self.served

    @property
    def drop_share(self) -> float:
        """Dropped share of what is sent."""
        if self.fault == "always-drops":
            return 0.01
        if not self.congested or self.fault == "no-drops":
            return 0.0
        if self.capacity > REACTS or self.fault == "deaf-senders":
            return 0.02 + (LINK - self.capacity) / 1000
        return 0.024 * self.capacity / REACTS

    @property
    def delay_ns(self) -> float:
        """Delay in the full buffer, or in one that is nearly empty."""
        if self.fault == "standing-queue" or (self.congested and self.fault != "no-buffer"):
            return BUFFER_BITS / (1.08 * self.goodput)
        return 5e3

    @property
    def bandwidth(self) -> float:
        """Memory bandwidth, GB/s."""
        received = self.goodput * 16 / LINK
        streams = 0 if self.fault == "idle-stream" else self.stream_cores
        return received + min(90 - received, 11.0 * streams)


def receiver(scenario: dict[str, Any], fault: Fault | None) -> Receiver:
    """What the rule looks at in a scenario."""
    iommu, queues = scenario["machine"]["iommu"], scenario["queues"]
    cores = {t["app"]["kind"]: t["cores"]["count"] for t in scenario["tenants"]}
    buffer_bytes = float(queues["buffer_size"].removesuffix(" B"))
    return Receiver(
        threads=cores["snap"],
        stream_cores=cores.get("stream", 0),
        region_mib=queues["pool_buffers"] * buffer_bytes / 2**20,
        payload_page=None if iommu["mode"] == "off" else iommu["pages"]["payload"],
        unmaps=iommu["mode"] in ("strict", "deferred"),
        senders=scenario["traffic"]["senders"],
        fault=fault,
    )


def results(scenario: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
    """In the shape of the real engine's results."""
    if scenario.get("traffic") is None:
        causes = [
            {"cause": "cpu-other-rd", "gbytes_per_s": 64.0},
            {"cause": "other-evct", "gbytes_per_s": 26.0},
        ]
        return {"memory": {"bandwidth_gbytes_per_s": 90.0, "causes": causes}}
    r = receiver(scenario, fault)
    iommu = None
    if r.payload_page is not None:
        iommu = {
            "misses_per_packet": r.misses,
            "miss_latency_ns": r.walk_ns,
            "lookups": [{"mapping": "payload", "misses_per_packet": r.payload_misses}],
        }
    measured_ns = 1e6
    lines = r.goodput * measured_ns / (PAYLOAD_SHARE * LINE_BITS)
    return {
        "measured_ns": measured_ns,
        "packets": {"completed_gbps": 1.08 * r.goodput},
        "transport": {
            "goodput_gbps": r.goodput,
            "lost_share": r.drop_share,
            "host_delay": distribution(r.delay_ns),
            # Four packets, one after the other.
            "read_latency": distribution(4 * r.delay_ns),
        },
        "latency": [
            {"stage": "nic", "distribution": distribution(r.delay_ns)},
            {"stage": "dma", "distribution": distribution(r.latency_ns)},
        ],
        "memory": {
            "bandwidth_gbytes_per_s": r.bandwidth,
            "causes": [
                {"cause": "prefetch-rd", "gbytes_per_s": 0.25 * r.bandwidth},
                {"cause": "rx-evct", "gbytes_per_s": 0.75 * r.bandwidth},
            ],
        },
        "io": {
            "write_credits": CREDITS,
            "write_credits_used": min(CREDITS, CREDITS * r.goodput / r.capacity),
            "write_latency_ns": r.latency_ns,
        },
        "domains": [
            {"domain": "io-credits", "uses": round(lines)},
            {"domain": "pcie", "holds_writes_ps": 0},
            {"domain": "iommu", "holds_writes_ps": 1e3 * r.wait_ns * r.bus * round(lines)},
        ],
        "iommu": iommu,
    }


def distribution(ns: float) -> dict[str, Any]:
    """A narrow one."""
    return {
        "mean_ns": ns,
        "percentiles_ns": [[50.0, ns], [99.0, ns], [99.9, 2 * ns], [100.0, 3 * ns]],
        "cdf": [[ns, 0.99], [3 * ns, 1.0]],
    }
