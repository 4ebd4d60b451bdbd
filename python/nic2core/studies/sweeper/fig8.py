"""Figure 8: the key-value store over the number of memory channels (section VI-D)."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from nic2core.studies.chart import Bars
from nic2core.studies.evaluate import Evaluator, and_also, every, span, steadily, steps
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import BUFFERS, NEGLIGIBLE, RESOLUTION
from nic2core.studies.sweeper.fig5 import CLUSTERS, ITEMS, PLACEMENTS, PLAIN, SMALLEST, WAYS
from nic2core.studies.sweeper.look import series
from nic2core.studies.sweeper.points import IDEAL, Placement, ddio, kvs

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

CHANNELS = (3, 4, 8)
CHANNELS_OF_FIGURE_5 = 4
LARGEST = (1024, 2048)
"""Item size and buffers per core."""
SIZES = (SMALLEST, LARGEST)
BETWEEN = tuple(cluster for cluster in CLUSTERS if cluster not in SIZES)
"""Footprints between these, of figure 5."""


def bar(placement: Placement, size: tuple[int, int], channels: int) -> Point:
    """A bar of the figure; with four channels it is a bar of figure 5."""
    item, buffers = size
    return kvs(placement, item=item, buffers=buffers, channels=channels)


POINTS = [bar(p, size, n) for size, n, p in product(SIZES, CHANNELS, PLACEMENTS)]


def _boost(at: At, ways: int, size: tuple[int, int], channels: int) -> float:
    plain, swept = (at(bar(ddio(ways, sweeper=s), size, channels)) for s in (False, True))
    return swept.mrps / plain.mrps


def boost(channels: int) -> Evaluator:
    """Throughput with Sweeper relative to that without, at the largest footprint."""

    def evaluate(at: At) -> Simulated:
        return span(_boost(at, w, LARGEST, channels) for w in WAYS)

    return Evaluator(_boosted(LARGEST, channels), evaluate)


def _boosted(size: tuple[int, int], channels: int) -> list[Point]:
    return [bar(ddio(w, sweeper=s), size, channels) for w in WAYS for s in (False, True)]


def noticeable_at_the_smallest(at: At) -> Simulated:
    """The boost with two ways, the default, with 8 channels and the smallest footprint."""
    return every([_boost(at, WAYS[0], SMALLEST, 8)], lambda found: found > 1 + NEGLIGIBLE)


def larger_rings_larger_boost(at: At) -> Simulated:
    """The boost at the largest footprint relative to that at the smallest.

    With four channels there are footprints between them: no doubling of the buffers may lower it.
    """
    doublings = [
        step
        for item, w in product(ITEMS, WAYS)
        for step in steps([_boost(at, w, (item, b), CHANNELS_OF_FIGURE_5) for b in BUFFERS])
    ]
    found = every(
        (
            _boost(at, w, LARGEST, n) / _boost(at, w, SMALLEST, n)
            for n, w in product(CHANNELS, WAYS)
        ),
        lambda r: r > 1 + RESOLUTION,
    )
    return and_also(found, all(step > 1 - RESOLUTION for step in doublings))


def channels_mitigate(at: At) -> Simulated:
    """The boost at the largest footprint relative to that with the next fewer channels."""
    sequences = ([_boost(at, w, LARGEST, n) for n in CHANNELS] for w in WAYS)
    return steadily(sequences, RESOLUTION, rising=False)


def ways_help_short_of_ideal(at: At) -> Simulated:
    """Throughput from 2 to 4, 6, 12 ways and ideal DDIO: each relative to the one before."""
    sequences = [
        [at(bar(p, size, n)).mrps for p in (*PLAIN, IDEAL)] for size, n in product(SIZES, CHANNELS)
    ]
    by_ways = steadily((mrps[: len(PLAIN)] for mrps in sequences), RESOLUTION, rising=True)
    lags = all(ideal > (1 + RESOLUTION) * most for *_, most, ideal in sequences)
    return and_also(steadily(sequences, RESOLUTION, rising=True), by_ways.holds and lags)


def draw(at: At) -> list[Panel]:
    """The panels of the figure: one per footprint, with one cluster per number of channels."""

    def panel(title: str, size: tuple[int, int]) -> Bars:
        places: list[Callable[[Placement], Point]] = [
            lambda p, n=n: bar(p, size, n)  # type: ignore[misc]
            for n in CHANNELS
        ]
        names = [str(n) for n in CHANNELS]
        bars = series(at, PLACEMENTS, places, lambda r: r.mrps)
        return Bars(title, "Memory channels", "Mrps", names, bars)

    return [
        panel("512 buffers of 512 B", SMALLEST),
        panel("2048 buffers of 1 KB", LARGEST),
    ]


FIGURE = Figure("8", "KVS: sensitivity to memory bandwidth", POINTS, draw, columns=2)

CLAIMS = {
    "fig8/3-channels-boost": boost(3),
    "fig8/4-channels-boost": boost(4),
    "fig8/8-channels-boost": boost(8),
    "fig8/channels-mitigate": Evaluator(
        [point for n in CHANNELS for point in _boosted(LARGEST, n)], channels_mitigate
    ),
    "fig8/noticeable-everywhere": Evaluator(
        [bar(ddio(WAYS[0], sweeper=s), SMALLEST, 8) for s in (False, True)],
        noticeable_at_the_smallest,
    ),
    "fig8/larger-rings-larger-boost": Evaluator(
        [
            *(point for size, n in product(SIZES, CHANNELS) for point in _boosted(size, n)),
            *(point for size in BETWEEN for point in _boosted(size, CHANNELS_OF_FIGURE_5)),
        ],
        larger_rings_larger_boost,
    ),
    "fig8/ways-help-short-of-ideal": Evaluator(
        [bar(p, size, n) for size, n, p in product(SIZES, CHANNELS, (*PLAIN, IDEAL))],
        ways_help_short_of_ideal,
    ),
}
