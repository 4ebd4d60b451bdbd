"""Figure 6: cores that run STREAM beside 12 threads, IOMMU off and on (section 3.2)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.studies import palette
from nic2core.studies.chart import Curves, Line
from nic2core.studies.evaluate import Evaluator, and_also, at_one, every
from nic2core.studies.host_congestion import look
from nic2core.studies.host_congestion.bound import closed_form
from nic2core.studies.host_congestion.judge import (
    FALLS,
    RESOLUTION,
    RISES,
    SOME_PERCENT,
    VISIBLE,
    above,
    below,
    count,
    drops,
    each,
    first,
    greatest_loss,
    host_delay_p99_us,
    ratios,
    throughput,
)
from nic2core.studies.host_congestion.points import STREAM_CORES, receiver, stream_alone
from nic2core.studies.study import Figure

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Simulated
    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point

OFF = {n: receiver("off", stream_cores=n) for n in STREAM_CORES}
ON = {n: receiver("on", stream_cores=n) for n in STREAM_CORES}
MOST = STREAM_CORES[-1]
ALONE = stream_alone()
POINTS = [*OFF.values(), *ON.values(), ALONE]
SATURATED = 0.9
"""From this share of its greatest bandwidth on, the memory bus is close to saturation."""
HUNDREDS_US = 200.0
"""Microseconds from which one speaks of hundreds."""
PROPORTIONAL = 0.9
"""Growth is sublinear if a core adds less than this share of what each of the first cores adds."""


def first_cores(at: At, points: dict[int, Point]) -> int | None:
    """Fewest STREAM cores that lower the throughput visibly."""
    base = throughput(at(points[0]))
    return first(STREAM_CORES, (throughput(at(points[n])) < VISIBLE * base for n in STREAM_CORES))


def throughput_falls(at: At) -> Simulated:
    """Throughput relative to that with fewer STREAM cores; visibly lower with the most cores."""
    found = [[throughput(at(points[n])) for n in STREAM_CORES] for points in (OFF, ON)]
    steps = [after / before for f in found for before, after in pairwise(f)]
    return and_also(every(steps, below(1 + RESOLUTION)), all(f[-1] < VISIBLE * f[0] for f in found))


def near_saturation(at: At) -> Simulated | None:
    """Memory bandwidth where the throughput begins to fall, relative to the greatest bandwidth."""
    start = first_cores(at, OFF)
    if start is None:
        return None
    most = max(at(point).bandwidth for point in OFF.values())
    return every([at(OFF[start]).bandwidth / most], lambda r: r >= SATURATED)


def falls_earlier(at: At) -> Simulated | None:
    """Fewest STREAM cores that lower the throughput with the IOMMU, minus those without.

    If even the most cores do not lower it without the IOMMU, one more core is assumed.
    """
    on, off = first_cores(at, ON), first_cores(at, OFF) or MOST + 1
    return None if on is None else every([on - off], below(0))


def sublinear_cores(at: At) -> Simulated | None:
    """Fewest STREAM cores beyond which a core adds less bandwidth than the first cores did."""
    added = [
        (before, (at(ON[after]).bandwidth - at(ON[before]).bandwidth) / (after - before))
        for before, after in pairwise(STREAM_CORES)
    ]
    enough = PROPORTIONAL * added[0][1]
    return count(first([n for n, _ in added], (each_adds < enough for _, each_adds in added)))


def off_drops(at: At) -> Simulated:
    """Drop rate due to the contended memory bus alone, that is, while the link is not full."""
    lower = throughput(at(OFF[MOST])) < VISIBLE * throughput(at(OFF[0]))
    return and_also(every([drops(at(OFF[MOST]))], above(SOME_PERCENT)), lower)


def delay_above_target(at: At) -> Simulated:
    """Host delay with the most STREAM cores: above the target and above that with fewer cores."""
    most, fewer = (host_delay_p99_us(at(ON[MOST])), [host_delay_p99_us(at(ON[n])) for n in (0, 8)])
    return every([most], lambda delay: delay > max(100, *fewer))


def read_tail(at: At) -> Simulated:
    """By how much the most STREAM cores lengthen the tail of whole reads, IOMMU off and on."""
    base = at(OFF[0]).whole_read_us(99)
    grown = (at(points[MOST]).whole_read_us(99) - base for points in (OFF, ON))
    return every(grown, lambda us: us >= HUNDREDS_US)


def cpus_get_more(at: At) -> Simulated:
    """Memory traffic added by the STREAM cores relative to the payload that the NIC receives."""

    def ratio(points: dict[int, Point]) -> float:
        most = at(points[MOST])
        return (most.bandwidth - at(points[0]).bandwidth) / (throughput(most) / 8)

    return every([ratio(OFF), ratio(ON)], RISES)


def draw(at: At) -> list[Panel]:
    """The panels of the figure: throughput and memory bandwidth share an axis, as in the paper."""
    x = "STREAM cores"
    xs = [float(n) for n in STREAM_CORES]

    def panel(title: str, points: dict[int, Point]) -> Curves:
        readings = [at(point) for point in points.values()]
        lines = [
            Line("throughput (Gbps)", xs, [throughput(r) for r in readings], look.ON, marked=True),
            Line(
                "memory bandwidth (GB/s)",
                xs,
                [r.bandwidth for r in readings],
                palette.BLACK,
                marked=True,
            ),
            Line("reads", xs, [r.memory_reads for r in readings], palette.BLUE, dashed=True),
            Line("writes", xs, [r.memory_writes for r in readings], palette.SKY, dashed=True),
        ]
        return Curves(title, x, "Gbps, GB/s", lines)

    drawn = [
        look.Curve("IOMMU off", look.OFF, STREAM_CORES, list(OFF.values())),
        look.Curve("IOMMU on", look.ON, STREAM_CORES, list(ON.values())),
    ]
    return [
        panel("(left) IOMMU off", OFF),
        panel("(center) IOMMU on", ON),
        Curves("(right) Drop rate", x, "Drop rate (%)", [c.line(at, drops) for c in drawn]),
    ]


FIGURE = Figure("6", "STREAM on other cores of the node, 12 threads", POINTS, draw, columns=3)

_OFF, _ON = list(OFF.values()), list(ON.values())

CLAIMS = {
    "fig6/stream-alone": at_one(ALONE, lambda r: r.bandwidth),
    "fig6/stream-alone-reads": at_one(ALONE, lambda r: r.memory_reads),
    "fig6/stream-alone-writes": at_one(ALONE, lambda r: r.memory_writes),
    "fig6/writes-without-stream": at_one(OFF[0], lambda r: r.memory_writes),
    "fig6/reads-without-stream": at_one(OFF[0], lambda r: r.memory_reads),
    "fig6/off-loss": greatest_loss([(OFF[MOST], OFF[0])]),
    "fig6/on-loss": greatest_loss([(ON[MOST], OFF[0])]),
    "fig6/on-loses-more": ratios([(ON[MOST], OFF[MOST])], throughput, FALLS),
    "fig6/off-first-cores": Evaluator(_OFF, lambda at: count(first_cores(at, OFF))),
    "fig6/off-near-saturation": Evaluator(_OFF, near_saturation),
    "fig6/off-headroom": ratios(((OFF[n], OFF[0]) for n in (6, 8)), throughput, above(VISIBLE)),
    "fig6/on-first-cores": Evaluator(_ON, lambda at: count(first_cores(at, ON))),
    "fig6/on-falls-earlier": Evaluator([*_OFF, *_ON], falls_earlier),
    "fig6/sublinear-cores": Evaluator(_ON, sublinear_cores),
    "fig6/write-latency-rises": ratios(
        [(p[MOST], p[0]) for p in (OFF, ON)], lambda r: r.stage_mean_us("dma"), RISES
    ),
    "fig6/throughput-falls": Evaluator([*_OFF, *_ON], throughput_falls),
    "fig6/off-drops": Evaluator([OFF[0], OFF[MOST]], off_drops),
    "fig6/on-low-without-stream": ratios([(ON[0], OFF[0])], throughput, below(VISIBLE)),
    "fig6/on-throughput-15-cores": at_one(ON[MOST], throughput),
    "fig6/on-delay-above-target": Evaluator([ON[n] for n in (0, 8, MOST)], delay_above_target),
    "fig6/on-drops-fall": ratios([(ON[MOST], ON[0])], drops, FALLS),
    "fig6/cpus-get-more": Evaluator([p[n] for p in (OFF, ON) for n in (0, MOST)], cpus_get_more),
    "fig6/closed-form": closed_form({ON[n]: OFF[n] for n in STREAM_CORES}),
    "fig6/hundreds-of-microseconds": each(
        [OFF[MOST], ON[MOST]], lambda r: r.host_delay_us(99.9), lambda us: us >= HUNDREDS_US
    ),
    "fig6/read-tail": Evaluator([OFF[0], OFF[MOST], ON[MOST]], read_tail),
}
