"""Figure 7: Sweeper on the forwarder with deep queues (section VI-C)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from nic2core.studies.evaluate import Evaluator, every, span
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import COMPLETELY, RESOLUTION
from nic2core.studies.sweeper.fig2 import waiting
from nic2core.studies.sweeper.points import ddio, l3fwd

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

DEPTHS = (250, 450)
"""The paper does not name its "two scenarios of interest", those of figure 2 with noticeable
premature evictions; the deeper two of the three are taken."""
WAYS = (2, 6, 12)
PLACEMENTS = tuple(ddio(w, sweeper=s) for w in WAYS for s in (False, True))


def _pairs(*ways: int) -> list[tuple[Point, Point]]:
    """Points without and with Sweeper, for every depth and number of ways."""
    return [
        (l3fwd(ddio(w), depth), l3fwd(ddio(w, sweeper=True), depth))
        for depth, w in product(DEPTHS, ways)
    ]


POINTS = [point for pair in _pairs(*WAYS) for point in pair]
_TWO_WAYS = [point for pair in _pairs(2) for point in pair]


def boost(at: At) -> Simulated:
    """Throughput with Sweeper relative to that without."""
    return span(at(s).mrps / at(d).mrps for d, s in _pairs(*WAYS))


def fewer_accesses(at: At) -> Simulated:
    """Accesses per packet with Sweeper relative to those without."""
    return every(
        (at(s).accesses() / at(d).accesses() for d, s in _pairs(*WAYS)),
        lambda r: r < 1 - RESOLUTION,
    )


def consumed_gone(at: At) -> Simulated:
    """RX Evct minus CPU RX Rd with Sweeper, as a share of the accesses without."""
    return every(
        (at(s).consumed_evictions / at(d).accesses() for d, s in _pairs(*WAYS)),
        lambda share: abs(share) <= COMPLETELY,
    )


def two_way_outlier(at: At) -> Simulated:
    """With two ways: by how many lines per packet CPU RX Rd grows with Sweeper."""
    return every(
        (at(s).premature_reads - at(d).premature_reads for d, s in _pairs(2)), lambda r: r > 0
    )


def two_way_net_gain(at: At) -> Simulated:
    """With two ways: the worse ratio of receive-buffer traffic and of (inverse) throughput."""

    def worst(plain: Point, swept: Point) -> float:
        d, s = at(plain), at(swept)
        traffic = (s.rx_evictions + s.premature_reads) / (d.rx_evictions + d.premature_reads)
        return max(traffic, d.mrps / s.mrps)

    return every((worst(d, s) for d, s in _pairs(2)), lambda r: r < 1 - RESOLUTION)


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    shown = waiting(at, PLACEMENTS, DEPTHS)
    return [shown.throughput("(a) Throughput", "Mpps"), shown.accesses("b", "packet")]


FIGURE = Figure("7", "L3fwd: Sweeper and premature evictions", POINTS, draw, columns=2)

CLAIMS = {
    "fig7a/sweeper-boost": Evaluator(POINTS, boost),
    "fig7b/fewer-accesses": Evaluator(POINTS, fewer_accesses),
    "fig7b/consumed-evictions-gone": Evaluator(POINTS, consumed_gone),
    "fig7b/2way-outlier": Evaluator(_TWO_WAYS, two_way_outlier),
    "fig7b/2way-net-gain": Evaluator(_TWO_WAYS, two_way_net_gain),
}
