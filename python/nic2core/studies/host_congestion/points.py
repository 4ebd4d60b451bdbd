"""The configurations of the host congestion paper, each a point built from one scenario file."""

from __future__ import annotations

from typing import Any, Literal

from nic2core.studies.point import Point, base_scenario, merge, point

THREADS = (2, 4, 6, 8, 10, 12, 14, 16)
"""Receiver threads of figures 3 and 4."""
BASE_THREADS = 12
"""Receiver threads of every other figure (section 3.2)."""
REGIONS_MIB = (4, 8, 12, 16)
"""Receive memory per thread in figure 5."""
BASE_REGION_MIB = 12
"""Receive memory per thread in every other figure (section 3.1)."""
STREAM_CORES = (0, 2, 4, 6, 8, 10, 12, 15)
"""Cores that run STREAM in figure 6."""

Iommu = Literal["off", "on", "small-pages"]
"""`on` maps payload in pages of 2 MiB, `small-pages` in pages of 4 KiB."""

RUN = {"warmup": "20 ms", "duration": "40 ms"}
"""After 20 ms the windows have settled, even where STREAM fills the NIC's buffer only slowly. In
40 ms the drop rate is known to a tenth of a percent."""
DCTCP = {
    "control": {"kind": "dctcp", "initial_cwnd": 4.0, "max_cwnd": 4.0},
    "recovery": {"min_timeout": "1 ms"},
}
"""The window is at most one read, as the scenario sets it for Swift. The scenario's timeout is that
of csg-htsim's Swift, and shorter than the round trips that DCTCP causes."""
STREAM = {"name": "stream", "app": {"kind": "stream"}}

_NAMES: dict[Iommu, str] = {
    "off": "IOMMU off",
    "on": "IOMMU on",
    "small-pages": "IOMMU on, 4 KiB pages",
}


def _base() -> dict[str, Any]:
    return merge(base_scenario("host-congestion"), {"run": RUN})


def receiver(
    iommu: Iommu,
    *,
    threads: int = BASE_THREADS,
    region_mib: int = BASE_REGION_MIB,
    stream_cores: int = 0,
    variant: str = "",
    changes: dict[str, Any] | None = None,
) -> Point:
    """Threads that receive from many senders, beside cores that run STREAM.

    A `variant` is a name for `changes` to keys that no figure varies.
    """
    scenario = merge(_base(), changes or {})
    (snap,) = scenario["tenants"]
    scenario["tenants"] = [snap | {"cores": {"first": 0, "count": threads}}]
    if stream_cores:
        cores = {"first": threads, "count": stream_cores}
        scenario["tenants"].append(STREAM | {"cores": cores})
    scenario["queues"] |= region(region_mib, scenario["queues"])
    if iommu == "off":
        scenario["machine"]["iommu"]["mode"] = "off"
    if iommu == "small-pages":
        scenario["machine"]["iommu"]["pages"]["payload"] = "4 KiB"
    parts = [f"{threads} threads of {region_mib} MiB", _NAMES[iommu]]
    if stream_cores:
        parts.append(f"{stream_cores} STREAM cores")
    return point("run", scenario, ", ".join([*parts, variant] if variant else parts))


def region(mib: int, queues: dict[str, Any]) -> dict[str, Any]:
    """The keys of `queues` for this much receive memory; a ring has no more slots than buffers."""
    buffers = mib * 2**20 // int(queues["buffer_size"].removesuffix(" B"))
    ring = queues["rx_descriptors"]
    return {"pool_buffers": buffers, "rx_descriptors": ring if ring <= buffers else ring // 2}


def stream_alone() -> Point:
    """STREAM on every core of the node, no traffic."""
    scenario = _base()
    cores = {"first": 0, "count": scenario["machine"]["core"]["count"]}
    scenario |= {"traffic": None, "tenants": [STREAM | {"cores": cores}]}
    return point("run", scenario, "STREAM alone")


def dma_writes() -> Point:
    """Writes of 4 KiB at random places in one thread's receive memory, as fast as possible."""
    scenario = _base()
    bench = {"direction": "write", "size": "4 KiB", "window": f"{BASE_REGION_MIB} MiB"}
    scenario |= {"traffic": None, "tenants": [], "dma_bench": bench}
    scenario["machine"]["iommu"]["mode"] = "off"
    return point("run", scenario, "DMA writes alone, IOMMU off")
