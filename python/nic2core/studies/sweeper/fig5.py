"""Figure 5: the key-value store over DDIO ways, with and without Sweeper (section VI-A)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from nic2core.studies.evaluate import (
    Evaluator,
    and_also,
    every,
    largest,
    percent_below,
    span,
    steadily,
)
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import (
    BUFFERS,
    COMPLETELY,
    RESOLUTION,
    faster_and_leaking_less,
)
from nic2core.studies.sweeper.look import Clusters
from nic2core.studies.sweeper.points import IDEAL, Placement, ddio, kvs

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

WAYS = (2, 4, 6, 12)
ITEMS = (512, 1024)
CLUSTERS = tuple((item, buffers) for item in ITEMS for buffers in BUFFERS)
"""In the paper's order: section VI-B calls 1024 buffers of 1 KB the fifth cluster."""
SMALLEST = (512, 512)
PLAIN = tuple(ddio(ways) for ways in WAYS)
SWEEPER = tuple(ddio(ways, sweeper=True) for ways in WAYS)
PLACEMENTS = (*(p for pair in zip(PLAIN, SWEEPER, strict=True) for p in pair), IDEAL)

HARDLY = 0.05
"""Share of the throughput that "largely insensitive" may lose at most, and "noticeably degrades"
loses at least."""
VIRTUALLY = 0.10
"""Accesses within ten percent "virtually match"."""
NEAR_IDEAL = 11.0
"""Percent below ideal from which section VI-A no longer speaks of approaching it."""


def at_cluster(placement: Placement, cluster: tuple[int, int]) -> Point:
    """A bar of the figure."""
    item, buffers = cluster
    return kvs(placement, item=item, buffers=buffers)


POINTS = [at_cluster(p, c) for c, p in product(CLUSTERS, PLACEMENTS)]


def _swept() -> list[tuple[Point, Point, Point]]:
    """DDIO, DDIO with Sweeper, and ideal DDIO, for every number of ways and every cluster."""
    return [
        (
            at_cluster(ddio(w), c),
            at_cluster(ddio(w, sweeper=True), c),
            at_cluster(IDEAL, c),
        )
        for c, w in product(CLUSTERS, WAYS)
    ]


def _gap(at: At, cluster: tuple[int, int]) -> float:
    """By how many percent DDIO with all ways falls short of ideal DDIO."""
    return percent_below(
        at(at_cluster(ddio(12), cluster)).mrps, at(at_cluster(IDEAL, cluster)).mrps
    )


def twelve_over_two(at: At) -> Simulated:
    """Throughput of 12-way relative to 2-way DDIO."""
    return span(
        at(at_cluster(ddio(12), c)).mrps / at(at_cluster(ddio(2), c)).mrps for c in CLUSTERS
    )


def approaches_ideal(at: At) -> Simulated:
    """Gap of 12-way to ideal DDIO at the smallest footprint, which must be the smallest gap."""
    gap = _gap(at, SMALLEST)
    others = [_gap(at, c) for c in CLUSTERS if c != SMALLEST]
    return every([gap], lambda g: g < NEAR_IDEAL and g < min(others))


def below_ideal(at: At) -> Simulated:
    """Gap of 12-way to ideal DDIO at all other footprints."""
    return span(_gap(at, c) for c in CLUSTERS if c != SMALLEST)


def accesses_over_ideal(at: At) -> Simulated:
    """Accesses per request of DDIO relative to ideal DDIO's."""
    return largest(at(d).accesses() / at(ideal).accesses() for d, _, ideal in _swept())


def worst_leak(at: At) -> Simulated:
    """Throughput of ideal DDIO relative to DDIO's."""
    return largest(at(ideal).mrps / at(d).mrps for d, _, ideal in _swept())


def ways_help(at: At) -> Simulated:
    """Throughput with more ways relative to that with fewer; evictions must fall as well."""
    return faster_and_leaking_less([at(at_cluster(p, c)) for p in PLAIN] for c in CLUSTERS)


def boost(at: At) -> Simulated:
    """Throughput with Sweeper relative to that without."""
    return span(at(s).mrps / at(d).mrps for d, s, _ in _swept())


def below_ideal_with_sweeper(at: At) -> Simulated:
    """By how many percent DDIO with Sweeper falls short of ideal DDIO."""
    return span(percent_below(at(s).mrps, at(ideal).mrps) for _, s, ideal in _swept())


def boost_shrinks(at: At) -> Simulated:
    """Sweeper's boost with more ways relative to that with fewer."""
    boosts = (
        [
            at(at_cluster(s, c)).mrps / at(at_cluster(d, c)).mrps
            for d, s in zip(PLAIN, SWEEPER, strict=True)
        ]
        for c in CLUSTERS
    )
    return steadily(boosts, RESOLUTION, rising=False)


def insensitive(at: At) -> Simulated:
    """Throughput at 2048 buffers relative to 512, with Sweeper; plain DDIO must lose noticeably."""

    def kept(placement: Placement, item: int) -> float:
        deep, shallow = (at(kvs(placement, item=item, buffers=b)).mrps for b in (2048, 512))
        return deep / shallow

    swept = (kept(s, item) for item, s in product(ITEMS, SWEEPER))
    plain = [kept(d, item) for item, d in product(ITEMS, PLAIN)]
    found = every(swept, lambda s: s >= 1 - HARDLY)
    return and_also(found, all(d < 1 - HARDLY for d in plain))


def evictions_gone(at: At) -> Simulated:
    """Share of evictions of consumed buffers in all accesses, with Sweeper."""
    readings = [at(s) for _, s, _ in _swept()]
    return every(
        (r.consumed_evictions / r.accesses() for r in readings),
        lambda share: abs(share) <= COMPLETELY,
    )


def matches_ideal(at: At) -> Simulated:
    """Accesses per request with Sweeper relative to ideal DDIO's."""
    return every(
        (at(s).accesses() / at(ideal).accesses() for _, s, ideal in _swept()),
        lambda r: abs(r - 1) <= VIRTUALLY,
    )


def bandwidth_saved(at: At) -> Simulated:
    """Memory bandwidth of DDIO relative to Sweeper's, both at their peaks."""
    return largest(at(d).bandwidth / at(s).bandwidth for d, s, _ in _swept())


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    clusters = [
        (
            f"{b} x {item} B" if item < 1024 else f"{b} x 1 KB",
            lambda p, c=(item, b): at_cluster(p, c),
        )
        for item, b in CLUSTERS
    ]
    shown = Clusters(at, PLACEMENTS, "RX buffers per core x packet size", clusters)
    return [
        shown.throughput("(a) Peak throughput", "Mrps"),
        shown.bandwidth(),
        shown.accesses("c", "request"),
    ]


FIGURE = Figure("5", "KVS: DDIO ways, with and without Sweeper", POINTS, draw)

CLAIMS = {
    "fig5a/12way-over-2way": Evaluator(POINTS, twelve_over_two),
    "fig5a/12way-approaches-ideal": Evaluator(POINTS, approaches_ideal),
    "fig5a/12way-below-ideal": Evaluator(POINTS, below_ideal),
    "fig5a/ideal-over-ddio": Evaluator(POINTS, worst_leak),
    "fig5a/ways-help": Evaluator(POINTS, ways_help),
    "fig5a/sweeper-boost": Evaluator(POINTS, boost),
    "fig5a/sweeper-below-ideal": Evaluator(POINTS, below_ideal_with_sweeper),
    "fig5a/boost-shrinks-with-ways": Evaluator(POINTS, boost_shrinks),
    "fig5a/insensitive-to-buffers": Evaluator(POINTS, insensitive),
    "fig5b/bandwidth-saved": Evaluator(POINTS, bandwidth_saved),
    "fig5c/accesses-over-ideal": Evaluator(POINTS, accesses_over_ideal),
    "fig5c/consumed-evictions-gone": Evaluator(POINTS, evictions_gone),
    "fig5c/accesses-match-ideal": Evaluator(POINTS, matches_ideal),
}
