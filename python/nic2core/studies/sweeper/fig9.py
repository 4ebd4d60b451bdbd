"""Figure 9: the forwarder beside X-Mem (section VI-E)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.studies import palette
from nic2core.studies.chart import Curves, Line
from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import (
    Evaluator,
    and_also,
    every,
    percent_below,
    span,
    steadily,
    steps,
)
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import RESOLUTION
from nic2core.studies.sweeper.points import collocated, ddio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

LLC_WAYS = 12
SPLITS = (1, 2, 4, 6, 8, 10)
"""I/O ways A of the six splits (A, B) of figure 9a. The paper names only (2, 10) and (4, 8). Steps
of two give five; the sixth is one way."""
SHARED = (2, 4, 6, 8, 10, 12)
"""I/O ways of figure 9b."""
BALANCED = 4
INSENSITIVE = 0.05
"""Throughputs within five percent are the same to someone who chooses the number of ways."""


def split(ways: int, *, sweeper: bool = False) -> Point:
    """A point of figure 9a."""
    return collocated(ddio(ways, sweeper=sweeper), LLC_WAYS - ways)


def shared(ways: int, *, sweeper: bool = False) -> Point:
    """A point of figure 9b."""
    return collocated(ddio(ways, sweeper=sweeper))


def l3fwd(at: At, point: Point) -> float:
    """Performance of the forwarder."""
    return at(point).progress("l3fwd")


def xmem(at: At, point: Point) -> float:
    """Performance of X-Mem."""
    return at(point).progress("xmem")


def _both(ways: Sequence[int], where: Callable[..., Point]) -> list[Point]:
    return [where(w, sweeper=s) for s in (False, True) for w in ways]


PLAIN_SPLIT = [split(w) for w in SPLITS]
PLAIN_SHARED = [shared(w) for w in SHARED]
SWEPT_SHARED = [shared(w, sweeper=True) for w in SHARED]
POINTS = [*_both(SPLITS, split), *_both(SHARED, shared)]


def xmem_loss(at: At) -> Simulated:
    """By how many percent X-Mem's worst performance is below its best, without Sweeper."""
    values = [xmem(at, p) for p in PLAIN_SPLIT]
    loss = percent_below(min(values), max(values))
    return Simulated(loss, loss)


def xmem_misses(at: At) -> Simulated:
    """X-Mem's highest LLC miss ratio relative to its lowest, without Sweeper."""
    ratios = [at(p).llc_miss_ratio("xmem") for p in PLAIN_SPLIT]
    growth = max(ratios) / min(ratios)
    return Simulated(growth, growth)


def ways_trade(at: At) -> Simulated:
    """The lesser of two ratios: the forwarder's gain and X-Mem's loss with more I/O ways."""
    forwarder = [l3fwd(at, p) for p in PLAIN_SPLIT]
    neighbour = [1 / xmem(at, p) for p in PLAIN_SPLIT]
    lesser = map(min, steps(forwarder), steps(neighbour))
    found = every(lesser, lambda r: r > 1 - RESOLUTION)
    whole = steadily([forwarder, neighbour], RESOLUTION, rising=True)
    return and_also(found, whole.holds)


def frontier(at: At) -> Simulated:
    """The gain of the best point with Sweeper over each point without, in the lesser direction."""

    def gains(plain: Point, swept: Point) -> tuple[bool, float]:
        lesser, greater = sorted(
            (l3fwd(at, swept) / l3fwd(at, plain), xmem(at, swept) / xmem(at, plain))
        )
        # Pareto dominance: no worse in either direction and better in one, within the resolution of
        # peaks. Otherwise a single packet would decide where the cores limit both.
        return lesser > 1 - RESOLUTION and greater > 1 + RESOLUTION, lesser

    swept = [split(w, sweeper=True) for w in SPLITS]
    best = [max(gains(p, s) for s in swept) for p in PLAIN_SPLIT]
    lesser = [gain for _, gain in best]
    return Simulated(min(lesser), max(lesser), all(beyond for beyond, _ in best))


def both_improve(at: At) -> Simulated:
    """Sweeper's gain for the application that gains least, at each split."""

    def lesser(ways: int) -> float:
        plain, swept = split(ways), split(ways, sweeper=True)
        return min(of(at, swept) / of(at, plain) for of in (l3fwd, xmem))

    return every((lesser(w) for w in SPLITS), lambda gain: gain > 1 + RESOLUTION)


def most_balanced(at: At) -> Simulated:
    """Number of I/O ways at which the worse-off application, relative to its best, does best."""
    best_l3fwd = max(l3fwd(at, p) for p in PLAIN_SPLIT)
    best_xmem = max(xmem(at, p) for p in PLAIN_SPLIT)

    def worse_off(ways: int) -> float:
        return min(l3fwd(at, split(ways)) / best_l3fwd, xmem(at, split(ways)) / best_xmem)

    found = max(SPLITS, key=worse_off)
    return every([float(found)], lambda ways: ways == BALANCED)


def balanced_gain(of: Callable[[At, Point], float]) -> Evaluator:
    """Sweeper's gain for one application in the most balanced split."""

    def evaluate(at: At) -> Simulated:
        gain = of(at, split(BALANCED, sweeper=True)) / of(at, split(BALANCED))
        return Simulated(gain, gain)

    return Evaluator([split(BALANCED), split(BALANCED, sweeper=True)], evaluate)


def xmem_degrades(at: At) -> Simulated:
    """X-Mem's performance relative to that with fewer I/O ways, with a shared LLC, no Sweeper."""
    return steadily([[xmem(at, p) for p in PLAIN_SHARED]], RESOLUTION, rising=False)


def xmem_gain(at: At) -> Simulated:
    """X-Mem's performance with Sweeper relative to that without, with a shared LLC."""
    return span(xmem(at, s) / xmem(at, d) for d, s in zip(PLAIN_SHARED, SWEPT_SHARED, strict=True))


def xmem_faster(at: At) -> Simulated:
    """The same, as an ordering: it must show with any number of I/O ways."""
    gains = (xmem(at, s) / xmem(at, d) for d, s in zip(PLAIN_SHARED, SWEPT_SHARED, strict=True))
    return every(gains, lambda gain: gain > 1 + RESOLUTION)


def two_ways_slower(at: At) -> Simulated:
    """The forwarder with two I/O ways relative to twelve, without Sweeper."""
    return every(
        [l3fwd(at, shared(2)) / l3fwd(at, shared(12))], lambda ratio: ratio < 1 - RESOLUTION
    )


def two_way_loss(at: At) -> Simulated:
    """The forwarder's loss with two I/O ways compared with twelve, percent, without Sweeper."""
    loss = percent_below(l3fwd(at, shared(2)), l3fwd(at, shared(12)))
    return Simulated(loss, loss)


def ways_indifferent(at: At) -> Simulated:
    """With Sweeper, the forwarder's performance relative to its best over the I/O ways."""
    values = [l3fwd(at, p) for p in SWEPT_SHARED]
    return every((v / max(values) for v in values), lambda r: r >= 1 - INSENSITIVE)


def draw(at: At) -> list[Panel]:
    """The two panels, normalised to plain DDIO with two I/O ways."""

    def plane(
        title: str, ways: Sequence[int], where: Callable[..., Point], label: Callable[[int], str]
    ) -> Curves:
        unit_x, unit_y = l3fwd(at, where(2)), xmem(at, where(2))

        def line(name: str, color: str, *, sweeper: bool) -> Line:
            points = [where(w, sweeper=sweeper) for w in ways]
            return Line(
                name,
                [l3fwd(at, p) / unit_x for p in points],
                [xmem(at, p) / unit_y for p in points],
                color,
                marked=True,
                labels=[label(w) for w in ways],
            )

        return Curves(
            title,
            "Normalised L3fwd performance",
            "Normalised X-Mem performance",
            [
                line("DDIO", palette.SKY, sweeper=False),
                line("DDIO + Sweeper", palette.ORANGE, sweeper=True),
            ],
        )

    return [
        plane("(a) Disjoint ways (A, B)", SPLITS, split, lambda w: f"({w}, {LLC_WAYS - w})"),
        plane("(b) X-Mem in all ways", SHARED, shared, str),
    ]


FIGURE = Figure("9", "Collocated L3fwd and X-Mem", POINTS, draw, columns=2)

CLAIMS = {
    "fig9a/xmem-loss": Evaluator(PLAIN_SPLIT, xmem_loss),
    "fig9a/xmem-miss-ratio": Evaluator(PLAIN_SPLIT, xmem_misses),
    "fig9a/ways-trade": Evaluator(PLAIN_SPLIT, ways_trade),
    "fig9a/frontier": Evaluator(_both(SPLITS, split), frontier),
    "fig9a/both-improve": Evaluator(_both(SPLITS, split), both_improve),
    "fig9a/most-balanced": Evaluator(PLAIN_SPLIT, most_balanced),
    "fig9a/balanced-l3fwd-gain": balanced_gain(l3fwd),
    "fig9a/balanced-xmem-gain": balanced_gain(xmem),
    "fig9b/xmem-degrades": Evaluator(PLAIN_SHARED, xmem_degrades),
    "fig9b/xmem-gain": Evaluator([*PLAIN_SHARED, *SWEPT_SHARED], xmem_gain),
    "fig9b/xmem-faster": Evaluator([*PLAIN_SHARED, *SWEPT_SHARED], xmem_faster),
    "fig9b/2way-l3fwd-loss": Evaluator([shared(2), shared(12)], two_way_loss),
    "fig9b/two-ways-slower": Evaluator([shared(2), shared(12)], two_ways_slower),
    "fig9b/l3fwd-indifferent": Evaluator(SWEPT_SHARED, ways_indifferent),
}
