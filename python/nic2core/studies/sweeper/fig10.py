"""Figure 10: buffer provisioning of a key-value store with spiky service times (section VI-F)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.studies import palette
from nic2core.studies.chart import Bars, Curves, Line
from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import Evaluator, every
from nic2core.studies.study import Figure
from nic2core.studies.sweeper.fig1 import RESOLUTION
from nic2core.studies.sweeper.look import series
from nic2core.studies.sweeper.points import ddio, spiky_kvs, spiky_kvs_at

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.sweeper.points import Placement

BUFFERS = (128, 256, 512, 1024, 2048)
SHALLOW, DEEP = 128, 2048
FITTING = (128, 256)
"""Rings that fit entirely into two ways (section VI-F)."""
PLAIN, SWEEPER = ddio(2), ddio(2, sweeper=True)
RATES = (70, 85, 100, 110, 120, 135, 150, 175)
"""Arrival rates of figure 10b, in percent of the deep ring's drop-free peak. The paper does not
give its rates; what matters is where drops set in and where the curves cross."""
CURVES = ((PLAIN, SHALLOW), (PLAIN, DEEP), (SWEEPER, SHALLOW), (SWEEPER, DEEP))
REFERENCE = spiky_kvs(PLAIN, DEEP)

PEAKS = [spiky_kvs(p, b) for b in BUFFERS for p in (PLAIN, SWEEPER)]


def at_rate(placement: Placement, buffers: int, percent: int) -> Point:
    """A point of a curve of figure 10b."""
    return spiky_kvs_at(placement, buffers, REFERENCE, percent)


DROPS = [at_rate(p, b, percent) for p, b in CURVES for percent in RATES]
_CROSSING = [at_rate(PLAIN, b, percent) for b in (SHALLOW, DEEP) for percent in RATES]


def _peak(at: At, placement: Placement, buffers: int) -> float:
    return at(spiky_kvs(placement, buffers)).mrps


def deeper_sustains_more(at: At) -> Simulated:
    """The best drop-free throughput of the deeper rings relative to that of the shallowest."""
    deeper = max(_peak(at, PLAIN, b) for b in BUFFERS if b != SHALLOW)
    return every([deeper / _peak(at, PLAIN, SHALLOW)], lambda r: r > 1 + RESOLUTION)


def fitting_is_not_best(at: At) -> Simulated:
    """The best of the rings that do not fit the I/O ways relative to the best of those that do."""
    fitting = max(_peak(at, PLAIN, b) for b in FITTING)
    deeper = max(_peak(at, p, b) for p in (PLAIN, SWEEPER) for b in BUFFERS if b not in FITTING)
    return every([deeper / fitting], lambda r: r > 1 + RESOLUTION)


def deepest_over_best_other(at: At) -> Simulated:
    """The deepest ring's drop-free throughput relative to the best of the others."""
    others = max(_peak(at, PLAIN, b) for b in BUFFERS if b != DEEP)
    ratio = _peak(at, PLAIN, DEEP) / others
    return Simulated(ratio, ratio)


def sweeper_pushes_higher(at: At) -> Simulated:
    """The deepest ring with Sweeper relative to the best without, at any depth."""
    best = max(_peak(at, PLAIN, b) for b in BUFFERS)
    return every([_peak(at, SWEEPER, DEEP) / best], lambda r: r > 1 + RESOLUTION)


def deep_over_shallow(placement: Placement) -> Evaluator:
    """Drop-free throughput of the deep ring relative to the shallow one without Sweeper."""

    def evaluate(at: At) -> Simulated:
        ratio = _peak(at, placement, DEEP) / _peak(at, PLAIN, SHALLOW)
        return Simulated(ratio, ratio)

    return Evaluator([spiky_kvs(placement, DEEP), spiky_kvs(PLAIN, SHALLOW)], evaluate)


def crossing(at: At) -> float | None:
    """Drop rate, percent, above which the shallow ring drops less than the deep one, if they cross.

    Both curves are interpolated linearly between rates.
    """
    deep = [100 * at(at_rate(PLAIN, DEEP, percent)).drop_share for percent in RATES]
    shallow = [100 * at(at_rate(PLAIN, SHALLOW, percent)).drop_share for percent in RATES]
    lead = [s - d for s, d in zip(shallow, deep, strict=True)]
    for i in range(1, len(RATES)):
        if lead[i - 1] > 0 >= lead[i]:
            part = lead[i - 1] / (lead[i - 1] - lead[i])
            return deep[i - 1] + part * (deep[i] - deep[i - 1])
    return None


def crossing_drops(at: At) -> Simulated | None:
    """The drop rate at the crossing, if there is one."""
    found = crossing(at)
    return None if found is None else Simulated(found, found)


def shallow_wins_when_dropping(at: At) -> Simulated:
    """At the highest rate: drops of the shallow ring relative to those of the deep one."""
    shallow, deep = (at(at_rate(PLAIN, b, RATES[-1])).drop_share for b in (SHALLOW, DEEP))
    return every([shallow / deep], lambda r: r < 1 - RESOLUTION)


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    colors = {SHALLOW: palette.SKY, DEEP: palette.ORANGE}
    lines = []
    for placement, buffers in CURVES:
        readings = [at(at_rate(placement, buffers, percent)) for percent in RATES]
        lines.append(
            Line(
                f"{buffers} buffers" + (" + Sweeper" if placement.sweeper else ""),
                [r.offered_mpps for r in readings],
                [100 * r.drop_share for r in readings],
                colors[buffers],
                placement.sweeper,
                marked=True,
            )
        )
    places = [lambda p, b=b: spiky_kvs(p, b) for b in BUFFERS]
    return [
        Bars(
            "(a) Peak throughput without drops",
            "RX buffers per core",
            "Mrps",
            [str(b) for b in BUFFERS],
            series(at, (PLAIN, SWEEPER), places, lambda r: r.mrps),
        ),
        Curves("(b) Packet drops", "Arrival rate (Mrps)", "Dropped packets (%)", lines),
    ]


FIGURE = Figure(
    "10", "Spiky KVS: the effect of buffer provisioning", [*PEAKS, *DROPS], draw, columns=2
)

_PLAIN_PEAKS = [spiky_kvs(PLAIN, b) for b in BUFFERS]
CLAIMS = {
    "fig10a/deeper-sustains-more": Evaluator(_PLAIN_PEAKS, deeper_sustains_more),
    "fig10a/fitting-is-not-best": Evaluator(PEAKS, fitting_is_not_best),
    "fig10a/deepest-over-best-other": Evaluator(_PLAIN_PEAKS, deepest_over_best_other),
    "fig10a/sweeper-pushes-higher": Evaluator(
        [*_PLAIN_PEAKS, spiky_kvs(SWEEPER, DEEP)], sweeper_pushes_higher
    ),
    "fig10b/deep-over-shallow": deep_over_shallow(PLAIN),
    "fig10b/deep-over-shallow-with-sweeper": deep_over_shallow(SWEEPER),
    "fig10b/crossing-drop-rate": Evaluator(_CROSSING, crossing_drops),
    "fig10b/shallow-drops-less-beyond": Evaluator(
        [at_rate(PLAIN, b, RATES[-1]) for b in (SHALLOW, DEEP)], shallow_wins_when_dropping
    ),
}
