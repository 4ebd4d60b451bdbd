"""The configurations of the Sweeper paper, each a point built from a scenario file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nic2core.studies.point import Point, base_scenario, merge, point


@dataclass(frozen=True)
class Placement:
    """Where packets land, and whether consumed buffers are swept."""

    policy: str
    ways: int | None = None
    sweeper: bool = False

    @property
    def name(self) -> str:
        """The name in the paper's legends."""
        if self.ways is None:
            return {"dma": "DMA", "ideal-ddio": "Ideal-DDIO"}[self.policy]
        return f"DDIO {self.ways} ways" + (" + Sweeper" if self.sweeper else "")

    @property
    def changes(self) -> dict[str, Any]:
        """The scenario's `placement`."""
        placement: dict[str, Any] = {"policy": self.policy, "sweeper": self.sweeper}
        if self.ways is not None:
            placement["io_ways"] = self.ways
        return placement


DMA = Placement("dma")
IDEAL = Placement("ideal-ddio")


def ddio(ways: int, *, sweeper: bool = False) -> Placement:
    """DDIO with this many ways."""
    return Placement("ddio", ways, sweeper)


def kvs(placement: Placement, *, item: int = 1024, buffers: int = 1024, channels: int = 4) -> Point:
    """The key-value store at its peak under the SLO (figures 1, 5, 6 and 8)."""
    return _point("peak", "sweeper-kvs", _kvs_changes(placement, item, buffers, channels))


def kvs_at_peak_of(source: Point, placement: Placement, *, buffers: int) -> Point:
    """The key-value store at the peak rate of another configuration (figure 6, right)."""
    return _point("run", "sweeper-kvs", _kvs_changes(placement, 1024, buffers, 4), source)


def _kvs_changes(placement: Placement, item: int, buffers: int, channels: int) -> Changes:
    name = f"KVS, {item} B x {buffers}, {placement.name}"
    if channels != 4:
        name += f", {channels} channels"
    return Changes(
        name,
        {
            "placement": placement.changes,
            "queues": {"rx_descriptors": buffers, "buffer_size": f"{item} B"},
            "traffic": {"sizes": {"size": f"{item} B"}},
            "machine": {"dram": {"channels": channels}},
        },
        {"item": f"{item} B"},
    )


SPIKES = {"probability": "1 %", "min": "1 us", "max": "100 us"}
"""Section VI-F gives the range; of the probability it says only that it is small. Its order of
magnitude follows from the paper's own numbers. At the 26 Mrps of 2-way DDIO a core gets 108
requests during the longest spike, which 128 buffers can hold: a shallow ring can drop packets only
where spikes overlap, and at one in a thousand requests they are 0.9 ms apart. At 2 %, spikes alone
would take 1 us per request and leave 24 cores less than 24 Mrps, so ring depth could not matter."""

NO_LATENCY_LIMIT = 1_000_000
"""In service times: section VI-F is exempt from the SLO (appendix) and limits only drops."""


def spiky_kvs(placement: Placement, buffers: int) -> Point:
    """The key-value store with spikes at its peak without drops (figure 10a)."""
    return _point("peak", "sweeper-kvs", _spiky_changes(placement, buffers))


def spiky_kvs_at(placement: Placement, buffers: int, source: Point, percent: int) -> Point:
    """The spiky store at a share of the drop-free peak of another configuration (figure 10b)."""
    return _point("run", "sweeper-kvs", _spiky_changes(placement, buffers), source, percent)


def _spiky_changes(placement: Placement, buffers: int) -> Changes:
    plain = _kvs_changes(placement, 1024, buffers, 4)
    slo = {"p99_service_times": NO_LATENCY_LIMIT, "drops": "0 %"}
    # Drops occur where spikes overlap: 6 ms have some 1400 spikes over 24 cores, 2 ms too few.
    scenario = merge(plain.scenario, {"slo": slo, "run": {"duration": "6 ms"}})
    return Changes(f"spiky {plain.name}", scenario, plain.app | {"spike": SPIKES})


def l3fwd(placement: Placement, depth: int) -> Point:
    """The forwarder with `depth` packets always waiting on each core (figures 2 and 7)."""
    changes = {"placement": placement.changes, "traffic": {"depth": depth}}
    name = f"L3fwd, backlog {depth}, {placement.name}"
    return _point("run", "sweeper-l3fwd", Changes(name, changes, {}))


def collocated(placement: Placement, xmem_ways: int | None = None) -> Point:
    """Forwarder and X-Mem side by side, at the forwarder's peak under the SLO (figure 9).

    With `xmem_ways`, X-Mem is restricted to that many of the upper LLC ways, which are not I/O
    ways. The forwarder's cores are unrestricted: the paper assigns ways only to DDIO and X-Mem.
    """
    scenario: dict[str, Any] = {"placement": placement.changes}
    name = f"L3fwd and X-Mem, {placement.name}"
    if xmem_ways is not None:
        if placement.ways is None:
            raise AssertionError("only DDIO's ways can be set apart from X-Mem's")
        name += f", {xmem_ways} ways for X-Mem"
        forwarder, xmem = base_scenario("sweeper-collocation")["tenants"]
        scenario["tenants"] = [
            forwarder,
            xmem | {"llc_ways": {"first": placement.ways, "count": xmem_ways}},
        ]
    return _point("peak", "sweeper-collocation", Changes(name, scenario, {}))


@dataclass(frozen=True)
class Changes:
    """How a configuration differs from its scenario file."""

    name: str
    scenario: dict[str, Any]
    app: dict[str, Any]
    """Changes to the application of the only tenant."""


def _point(
    kind: Any, base: str, changes: Changes, source: Point | None = None, percent: int = 100
) -> Point:
    scenario = merge(base_scenario(base), changes.scenario)
    if changes.app:
        (tenant,) = scenario["tenants"]
        scenario["tenants"] = [tenant | {"app": tenant["app"] | changes.app}]
    name = changes.name
    if source is not None:
        name += f" at {percent} % of the peak of {source.name}"
    return point(kind, scenario, name, source, percent)
