"""The stages of the path as gauges: how full each is, and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.explain.io_lines import written
from nic2core.explain.limit import core_shares
from nic2core.explain.nodes import told
from nic2core.explain.use import DISPATCH, brought

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.use import Use
    from nic2core.results.models import Results


LEAKS = {"rx-evct", "bench-evct"}
"""Evictions of lines that the device wrote: packets, and data of the DMA benchmark."""

DATA = {"rx", "bench"}
"""The kinds of these lines."""

UNEVEN = 1.1
"""Ratio of the busiest core's load to the mean from which both are shown."""


@dataclass(frozen=True)
class Stage:
    """A stage and its load."""

    stage: str
    """The name of a domain, or `llc`."""
    load: float
    """Mean use of its capacity, 0 to 1."""
    detail: str
    """What the load consists of, as displayed."""


def stages(data: Results, scenario: dict[str, Any], used: Sequence[Use]) -> list[Stage]:
    """Every stage of a run, given how its domains were used, in path order."""
    found = [_stage(data, scenario, use) for use in used]
    llc = _llc(data)
    if llc is not None:
        # In front of its trackers and the memory behind it.
        place = next(n for n, s in enumerate(found) if s.stage == "home-trackers")
        found.insert(place, llc)
    return found


def _stage(data: Results, scenario: dict[str, Any], use: Use) -> Stage:
    load, of = use.load, use.occupancy
    if use.name == "io-ways":
        # The load of the I/O ways shows in the lines that leave them for memory.
        load = leaking(data)
        return Stage(use.name, load, f"{100 * load:.1f} % of writes leak")
    details = {
        "wire": "busy time",
        "nic-sram": f"{of / 1024:.1f} of {use.credits / 1024:.0f} KiB",
        "packet-engine": "busy time",
        "pcie": "in the busier direction",
        "invalidations": "busy time",
        "nic-port": "busy time",
        "dram": _bus(data),
    }
    if use.name == "tx-fetches":
        each = brought(data, scenario, use.core)
        return Stage(use.name, load, f"{each:.1f} descriptors each")
    if use.name == DISPATCH:
        _, mean = core_shares(data)
        return Stage(use.name, load, f"busiest core; the mean is {100 * mean:.0f} %")
    if use.name == "rx-fetches":
        return Stage(use.name, load, f"packets wait {100 * use.starved:.0f} % of the time")
    plain = f"{of:.1f} of {use.credits} {use.unit}s"
    if use.core is not None:
        plain = f"{of:.1f} of {use.credits}, core {use.core}"
    if use.name == "cores" and load > UNEVEN * of / use.credits:
        plain = f"{of:.1f} of {use.credits}, the busiest {100 * load:.0f} %"
    return Stage(use.name, load, details.get(use.name, plain))


def leaking(data: Results) -> float:
    """Lines of packets that left caches for memory, as a share of those that the NIC wrote, 0 to 1.

    What went past the LLC counts as written, and not as leaked. The same for data of the DMA
    benchmark. Of results from before 29 November 2026, which do not tell kinds apart, the share of
    all that was written, descriptors included.
    """
    io = data.io
    kinds = [of for of in io.by_kind if of.kind in DATA] if io is not None else []
    lines = sum(written(of) for of in kinds)
    if io is not None and not io.by_kind:
        lines = written(io)
    evicted = sum(c.lines for c in data.memory.causes if c.cause in LEAKS)
    return min(1.0, evicted / lines) if lines else 0.0


def _bus(data: Results) -> str:
    """What the memory bus carries; with two nodes, that of the node whose load is shown."""
    node = told(data)
    where = f", {node.name}" if node.name else ""
    return f"{node.gbytes_per_s:.1f} of {node.limit_gbytes_per_s:.1f} GB/s{where}"


def _llc(data: Results) -> Stage | None:
    rows = [c for c in data.caches if c.level == "llc"]
    hits, misses = sum(c.hits for c in rows), sum(c.misses for c in rows)
    if hits + misses == 0:
        return None
    share = misses / (hits + misses)
    return Stage("llc", share, f"{100 * share:.1f} % of core requests miss")
