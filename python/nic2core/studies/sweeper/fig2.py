"""Figure 2: the forwarder with deep queues of waiting packets (section IV-B)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import Evaluator, every, steps
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import NEGLIGIBLE, RESOLUTION
from nic2core.studies.sweeper.look import Clusters
from nic2core.studies.sweeper.points import IDEAL, ddio, l3fwd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.sweeper.points import Placement

DEPTHS = (50, 250, 450)
DDIO = tuple(ddio(ways) for ways in (2, 6, 12))
PLACEMENTS = (*DDIO, IDEAL)
APP_DATA = ("cpu-other-rd", "other-evct")
"""The causes of traffic that are application data."""
_DDIO = [l3fwd(d, depth) for depth, d in product(DEPTHS, DDIO)]
_TWO_WAYS = [l3fwd(ddio(2), depth) for depth in DEPTHS]
POINTS = [l3fwd(p, depth) for depth, p in product(DEPTHS, PLACEMENTS)]


def ideal_bandwidth(at: At) -> Simulated:
    """Memory bandwidth of ideal DDIO relative to that of two-way DDIO, at each depth."""
    return every(
        (at(l3fwd(IDEAL, n)).bandwidth / at(l3fwd(ddio(2), n)).bandwidth for n in DEPTHS),
        lambda share: share <= NEGLIGIBLE,
    )


def app_data_small(at: At) -> Simulated:
    """Share of application data in the accesses per packet."""
    return every(
        (at(p).accesses(*APP_DATA) / at(p).accesses() for p in _DDIO),
        lambda share: share <= NEGLIGIBLE,
    )


def ways_help(at: At) -> Simulated:
    """Throughput from 2 to 6 to 12 ways to ideal: each relative to the one before.

    With a backlog the throughput is measured at once and not searched for, so each step can show.
    """
    sequences = ([at(l3fwd(p, n)).mrps for p in PLACEMENTS] for n in DEPTHS)
    return every(
        (step for sequence in sequences for step in steps(sequence)), lambda r: r > 1 + RESOLUTION
    )


def consumed_dominate(at: At) -> Simulated:
    """Evictions of consumed buffers relative to the largest other cause of traffic."""

    def ratio(point: Point) -> float:
        reading = at(point)
        app_data = reading.accesses(*APP_DATA)
        return reading.consumed_evictions / max(app_data, reading.largest_cause_but("rx-evct"))

    return every((ratio(point) for point in _DDIO), lambda r: r > 1)


def premature_only_two_ways(at: At) -> Simulated:
    """Share of reads of evicted receive buffers in all accesses: with two ways and with more."""
    two = [at(p).premature_reads / at(p).accesses() for p in _TWO_WAYS]
    more = [at(p).premature_reads / at(p).accesses() for p in _DDIO if p not in _TWO_WAYS]
    holds = max(more) <= NEGLIGIBLE < max(two)
    return Simulated(max(more), max(two), holds)


def premature_overshadowed(at: At) -> Simulated:
    """With two ways: reads of evicted receive buffers relative to all evictions of these.

    The other evictions are those of consumed ones, so more of them are if it is below a half.
    """
    readings = [at(point) for point in _TWO_WAYS]
    return every(
        (r.premature_reads / r.rx_evictions for r in readings),
        lambda share: share < 0.5,
    )


def waiting(at: At, placements: Sequence[Placement], depths: Sequence[int]) -> Clusters:
    """The forwarder with these placements and numbers of waiting packets."""
    clusters = [(str(n), lambda p, n=n: l3fwd(p, n)) for n in depths]
    return Clusters(at, placements, "Packets waiting per core (D)", clusters)


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    shown = waiting(at, PLACEMENTS, DEPTHS)
    return [
        shown.throughput("(a) Throughput", "Mpps"),
        shown.bandwidth(),
        shown.accesses("c", "packet"),
    ]


FIGURE = Figure("2", "L3fwd: the effect of network data leaks", POINTS, draw, columns=3)

CLAIMS = {
    "fig2a/ways-help": Evaluator(POINTS, ways_help),
    "fig2b/ideal-bandwidth-negligible": Evaluator(POINTS, ideal_bandwidth),
    "fig2c/app-data-small": Evaluator(_DDIO, app_data_small),
    "fig2c/consumed-dominate": Evaluator(_DDIO, consumed_dominate),
    "fig2c/premature-only-2way": Evaluator(_DDIO, premature_only_two_ways),
    "fig2c/premature-overshadowed": Evaluator(_TWO_WAYS, premature_overshadowed),
}
