"""Figure 5: more receive memory for each of 12 threads (section 3.1)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.studies.evaluate import Evaluator, and_also, at_one, every, steps
from nic2core.studies.host_congestion import look
from nic2core.studies.host_congestion.bound import closed_form
from nic2core.studies.host_congestion.fig3 import OFF
from nic2core.studies.host_congestion.judge import (
    FALLS,
    RESOLUTION,
    RISES,
    VISIBLE,
    below,
    drops,
    host_delay_p99_us,
    misses,
    ratios,
    throughput,
)
from nic2core.studies.host_congestion.points import (
    BASE_REGION_MIB,
    BASE_THREADS,
    REGIONS_MIB,
    receiver,
)
from nic2core.studies.study import Figure

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At

ON = {mib: receiver("on", region_mib=mib) for mib in REGIONS_MIB}
BASE, LARGE = ON[BASE_REGION_MIB], ON[16]
POINTS = [*ON.values(), *OFF.values()]


def throughput_falls(at: At) -> Simulated:
    """Throughput relative to the next smaller region; also lower with the largest than smallest."""
    found = [throughput(at(point)) for point in ON.values()]
    return and_also(every(steps(found), below(1 + RESOLUTION)), found[-1] < VISIBLE * found[0])


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    drawn = [look.Curve("IOMMU on", look.ON, REGIONS_MIB, list(ON.values()))]
    return [*look.panels(at, "Receive memory of a thread (MiB)", drawn)]


FIGURE = Figure("5", "Larger receive regions, IOMMU on, 12 threads", POINTS, draw, columns=3)

_STEPS = [(ON[after], ON[before]) for before, after in pairwise(REGIONS_MIB)]

CLAIMS = {
    "fig5/host-delay-12mb": at_one(BASE, host_delay_p99_us),
    "fig5/host-delay-16mb": at_one(LARGE, host_delay_p99_us),
    "fig5/host-delay-rises": ratios([(LARGE, BASE)], host_delay_p99_us, RISES),
    "fig5/misses-rise": ratios(_STEPS, misses, RISES),
    "fig5/throughput-falls": Evaluator(list(ON.values()), throughput_falls),
    "fig5/closed-form": closed_form(dict.fromkeys(ON.values(), OFF[BASE_THREADS])),
    "fig5/drops-fall-at-16mb": ratios([(LARGE, BASE)], drops, FALLS),
}
