"""Figure 4: hugepages disabled, over the number of receiver threads (section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import Evaluator, every, span
from nic2core.studies.host_congestion import look
from nic2core.studies.host_congestion.bound import closed_form
from nic2core.studies.host_congestion.fig3 import FROM_8, OFF, ON, PCIE_LIMITS
from nic2core.studies.host_congestion.judge import (
    FALLS,
    LINK_GBPS,
    REACTS_GBPS,
    RISES,
    SOME_PERCENT,
    VISIBLE,
    above,
    below,
    count,
    drops,
    first,
    greatest,
    greatest_loss,
    misses,
    ratios,
    throughput,
)
from nic2core.studies.host_congestion.points import BASE_THREADS, THREADS, receiver
from nic2core.studies.study import Figure

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

SMALL = {n: receiver("small-pages", threads=n) for n in THREADS}
UNMAPPED = [
    receiver(
        "small-pages",
        variant=f"{mode} mode",
        changes={"machine": {"iommu": {"mode": mode}}},
    )
    for mode in ("strict", "deferred")
]
"""Modes that unmap buffers at run time: with 4 KiB pages, because Linux maps buffers singly."""
POINTS = [*OFF.values(), *ON.values(), *SMALL.values(), *UNMAPPED]


def threads_below_81(at: At) -> Simulated | None:
    """Fewest threads with which the IOMMU keeps throughput below the rate at which Swift reacts."""
    return count(
        first(
            THREADS,
            (throughput(at(SMALL[n])) < REACTS_GBPS < throughput(at(OFF[n])) for n in THREADS),
        )
    )


def utilization_with_drops(at: At) -> Simulated | None:
    """Lowest network utilization at which packets are dropped."""
    readings = [at(point) for point in SMALL.values()]
    found = [100 * throughput(r) / LINK_GBPS for r in readings if drops(r) > SOME_PERCENT]
    return Simulated(min(found), min(found)) if found else None


def earlier_bottleneck(at: At) -> Simulated | None:
    """Thread count at which 4 KiB pages lose throughput, minus that of hugepages."""

    def first_loss(mapped: dict[int, Point]) -> int | None:
        lost = (throughput(at(mapped[n])) < VISIBLE * throughput(at(OFF[n])) for n in THREADS)
        return first(THREADS, lost)

    small, huge = first_loss(SMALL), first_loss(ON)
    if small is None or huge is None:
        return None
    return every([small - huge], below(0))


def fewer_drops(at: At) -> Simulated:
    """Greatest drop rate with 4 KiB pages relative to that with hugepages."""
    small, huge = (max(drops(at(p)) for p in points.values()) for points in (SMALL, ON))
    return every([small / huge], FALLS)


def draw(at: At) -> list[Panel]:
    """The panels of the figure, with figure 3's curves for comparison."""
    drawn = [
        look.Curve("IOMMU off", look.OFF, THREADS, list(OFF.values())),
        look.Curve("IOMMU on, 2 MiB pages", look.ON, THREADS, list(ON.values())),
        look.Curve("IOMMU on, 4 KiB pages", look.SMALL_PAGES, THREADS, list(SMALL.values())),
    ]
    return [*look.panels(at, "Receiver threads", drawn)]


def more_misses(at: At) -> Simulated:
    """IOTLB misses per packet added by the smaller pages."""
    return every((misses(at(SMALL[n])) - misses(at(ON[n])) for n in THREADS), above(0))


FIGURE = Figure("4", "Hugepages disabled: payload in pages of 4 KiB", POINTS, draw, columns=3)

_SMALL = list(SMALL.values())
_BOTH = [*OFF.values(), *_SMALL]
_LIMITED = [SMALL[n] for n in PCIE_LIMITS]

CLAIMS = {
    "fig4/loss": greatest_loss((SMALL[n], OFF[n]) for n in THREADS),
    "fig4/largest-drop-rate": greatest(_SMALL, drops),
    "fig4/threads-below-81": Evaluator(_BOTH, threads_below_81),
    "fig4/utilization-with-drops": Evaluator(_SMALL, utilization_with_drops),
    "fig4/earlier-bottleneck": Evaluator(POINTS, earlier_bottleneck),
    "fig4/more-misses": Evaluator(POINTS, more_misses),
    "fig4/unmapping-is-worse": ratios(
        ((point, SMALL[BASE_THREADS]) for point in UNMAPPED), misses, RISES
    ),
    "fig4/two-pages": Evaluator(
        _LIMITED, lambda at: span(at(p).misses_per_packet_of("payload") for p in _LIMITED)
    ),
    "fig4/less-throughput": ratios(((SMALL[n], ON[n]) for n in FROM_8), throughput, FALLS),
    "fig4/closed-form": closed_form({SMALL[n]: OFF[n] for n in THREADS}),
    "fig4/fewer-drops": Evaluator([*ON.values(), *_SMALL], fewer_drops),
}
