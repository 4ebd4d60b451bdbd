"""Figure 6: memory latency under the key-value store (section VI-B)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.studies.chart import Curves, Line
from nic2core.studies.evaluate import Evaluator, at_one, every, percent_below, span
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import RESOLUTION
from nic2core.studies.sweeper.look import color
from nic2core.studies.sweeper.points import Placement, ddio, kvs, kvs_at_peak_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading

BUFFERS = 1024
WAYS = (2, 12)
PLACEMENTS = (ddio(2), ddio(12), ddio(2, sweeper=True), ddio(12, sweeper=True))
TWO_WAYS = kvs(ddio(2), buffers=BUFFERS)


def at_own_peak(placement: Placement) -> Point:
    """Left: each configuration at its own peak, as in the fifth cluster of figure 5."""
    return kvs(placement, buffers=BUFFERS)


def at_common_rate(placement: Placement) -> Point:
    """Right: each configuration at the peak rate of 2-way DDIO."""
    if placement == ddio(2):
        return TWO_WAYS
    return kvs_at_peak_of(TWO_WAYS, placement, buffers=BUFFERS)


LEFT = [at_own_peak(p) for p in PLACEMENTS]
RIGHT = [at_common_rate(p) for p in PLACEMENTS]


def reduction(
    where: Callable[[Placement], Point], quantity: Callable[[Reading], float], *ways: int
) -> Callable[[At], Simulated]:
    """By how many percent Sweeper reduces a latency."""

    def evaluate(at: At) -> Simulated:
        return span(
            percent_below(quantity(at(where(ddio(w, sweeper=True)))), quantity(at(where(ddio(w)))))
            for w in ways
        )

    return evaluate


def mean(reading: Reading) -> float:
    """Mean latency of memory reads."""
    return reading.dram_mean_ns


def p99(reading: Reading) -> float:
    """99th percentile of the latency of memory reads."""
    return reading.dram_p99_ns


def throughput(at: At) -> Simulated:
    """Throughput with Sweeper relative to that without."""
    return span(
        at(at_own_peak(ddio(w, sweeper=True))).mrps / at(at_own_peak(ddio(w))).mrps for w in WAYS
    )


def lower_though_faster(at: At) -> Simulated:
    """The greatest ratio: mean and p99 with over without Sweeper, throughput without over with."""

    def worst(ways: int) -> float:
        plain, swept = at(at_own_peak(ddio(ways))), at(at_own_peak(ddio(ways, sweeper=True)))
        return max(mean(swept) / mean(plain), p99(swept) / p99(plain), plain.mrps / swept.mrps)

    return every((worst(w) for w in WAYS), lambda r: r < 1 - RESOLUTION)


def lower_at_the_same_rate(at: At) -> Simulated:
    """The greater ratio of mean and p99 at one rate, with over without Sweeper."""

    def worst(ways: int) -> float:
        plain, swept = at(at_common_rate(ddio(ways))), at(at_common_rate(ddio(ways, sweeper=True)))
        return max(mean(swept) / mean(plain), p99(swept) / p99(plain))

    return every((worst(w) for w in WAYS), lambda r: r < 1 - RESOLUTION)


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""

    def cdf(title: str, where: Callable[[Placement], Point]) -> Curves:
        lines = []
        for placement in PLACEMENTS:
            points = at(where(placement)).dram_cdf
            xs, ys = [ns for ns, _ in points], [share for _, share in points]
            lines.append(Line(placement.name, xs, ys, color(placement), placement.sweeper))
        return Curves(title, "Memory access latency (ns)", "CDF", lines, log_x=True)

    return [
        cdf("(left) Each at its own peak", at_own_peak),
        cdf("(right) All at the peak rate of 2-way DDIO", at_common_rate),
    ]


def _both(points: Sequence[Point], ways: int) -> list[Point]:
    """The points without and with Sweeper for one number of ways."""
    return [p for p, placement in zip(points, PLACEMENTS, strict=True) if placement.ways == ways]


FIGURE = Figure(
    "6", "KVS: memory access latency, 1024 buffers of 1 KB", [*LEFT, *RIGHT], draw, columns=2
)

CLAIMS = {
    "fig6/left-mean-2way": Evaluator(_both(LEFT, 2), reduction(at_own_peak, mean, 2)),
    "fig6/left-mean-12way": Evaluator(_both(LEFT, 12), reduction(at_own_peak, mean, 12)),
    "fig6/left-p99-2way": Evaluator(_both(LEFT, 2), reduction(at_own_peak, p99, 2)),
    "fig6/left-p99-12way": Evaluator(_both(LEFT, 12), reduction(at_own_peak, p99, 12)),
    "fig6/left-throughput": Evaluator(LEFT, throughput),
    "fig6/left-lower-though-faster": Evaluator(LEFT, lower_though_faster),
    "fig6/2way-peak": at_one(TWO_WAYS, lambda reading: reading.mrps),
    "fig6/right-mean": Evaluator(RIGHT, reduction(at_common_rate, mean, *WAYS)),
    "fig6/right-p99": Evaluator(RIGHT, reduction(at_common_rate, p99, *WAYS)),
    "fig6/right-lower": Evaluator(RIGHT, lower_at_the_same_rate),
}
