"""Figure 3: IOMMU off and on over the number of receiver threads (section 3.1)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.studies import palette
from nic2core.studies.chart import Line
from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import Evaluator, at_one, every, span
from nic2core.studies.host_congestion import look
from nic2core.studies.host_congestion.bound import closed_form, closed_form_gbps
from nic2core.studies.host_congestion.judge import (
    CLOSE,
    FALLS,
    LINK_GBPS,
    REACTS_GBPS,
    RISES,
    SOME_PERCENT,
    VISIBLE,
    above,
    below,
    drops,
    each,
    greatest,
    greatest_loss,
    misses,
    ratios,
    throughput,
    within,
)
from nic2core.studies.host_congestion.points import (
    BASE_THREADS,
    DCTCP,
    THREADS,
    dma_writes,
    receiver,
)
from nic2core.studies.study import Figure

if TYPE_CHECKING:
    from nic2core.studies.chart import Panel
    from nic2core.studies.evaluate import At
    from nic2core.studies.host_congestion.judge import Read
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading

OFF = {n: receiver("off", threads=n) for n in THREADS}
ON = {n: receiver("on", threads=n) for n in THREADS}
BASE = ON[BASE_THREADS]
CPU_LIMITS = (2, 4, 6)
PCIE_LIMITS = (10, 12, 14, 16)
"""Thread counts at which credits are the bottleneck, where the paper applies its closed form."""
FROM_8 = (8, *PCIE_LIMITS)

FLOWS = [
    receiver("on", variant=f"{n} senders", changes={"traffic": {"senders": n}}) for n in (20, 80)
]
HALF_TARGET = receiver(
    "on",
    variant="host delay target 50 us",
    changes={"traffic": {"control": {"endpoint_target": "50 us"}}},
)
UNDER_DCTCP = receiver("on", variant="DCTCP", changes={"traffic": DCTCP})
GOODPUT = dma_writes()
POINTS = [*OFF.values(), *ON.values(), *FLOWS, HALF_TARGET, UNDER_DCTCP, GOODPUT]


def at_threads(points: dict[int, Point], counts: tuple[int, ...]) -> list[Point]:
    """The points with these thread counts."""
    return [points[n] for n in counts]


def linear_rise(at: At) -> Simulated:
    """Throughput per thread relative to that with two threads."""

    def of_a_thread(points: dict[int, Point], n: int) -> float:
        return throughput(at(points[n])) / n

    return every(
        (of_a_thread(p, n) / of_a_thread(p, 2) for p in (OFF, ON) for n in (4, 6, 8)),
        within(0.9, 1.1),
    )


def on_below_off(at: At) -> Simulated:
    """Throughput with the IOMMU relative to that without: lower from 10 threads on, not up to 8."""
    ratio = {n: throughput(at(ON[n])) / throughput(at(OFF[n])) for n in THREADS}
    holds = all((ratio[n] < VISIBLE) == (n in PCIE_LIMITS) for n in THREADS)
    return Simulated(min(ratio.values()), max(ratio.values()), holds)


def flows_minimal(at: At) -> Simulated:
    """Throughput with 20 and 80 senders relative to that with 40; the same for misses."""

    def impact(read: Read) -> list[float]:
        return [read(at(p)) / read(at(BASE)) for p in FLOWS]

    changed = impact(throughput)
    holds = all(abs(r - 1) <= CLOSE for r in [*changed, *impact(misses)])
    return Simulated(min(changed), max(changed), holds)


def drops_rise(at: At) -> Simulated:
    """Percentage points that two more threads add to the drop rate, from 8 to 12 threads."""
    rates = [drops(at(ON[n])) for n in (8, 10, 12)]
    return every((after - before for before, after in pairwise(rates)), above(0))


def delay_short_percent(reading: Reading) -> float:
    """Share of packets with a host delay of at most 10 us."""
    return reading.host_delay_percent_within(10)


def full_buffer(rate: Read) -> Read:
    """The rate at which the contents of the NIC's full buffer mean a delay of 90 us."""
    return lambda reading: rate(reading) * reading.stage_us("nic", 99) / 90


def draw(at: At) -> list[Panel]:
    """The panels of the figure."""
    ends = [float(THREADS[0]), float(THREADS[-1])]
    more = [
        Line("what 100 Gbps can carry", ends, [LINK_GBPS] * 2, palette.GREEN),
        Line(
            "C size / (Tbase + M Tmiss)",
            [float(n) for n in PCIE_LIMITS],
            [closed_form_gbps(at(ON[n]), at(OFF[n])) for n in PCIE_LIMITS],
            palette.BLACK,
            dashed=True,
        ),
    ]
    drawn = [
        look.Curve("IOMMU off", look.OFF, THREADS, list(OFF.values())),
        look.Curve("IOMMU on", look.ON, THREADS, list(ON.values())),
    ]
    return [*look.panels(at, "Receiver threads", drawn, more)]


FIGURE = Figure("3", "IOMMU off and on, 2 MiB pages for payload", POINTS, draw, columns=3)

_ON = list(ON.values())
_LIMITED = at_threads(ON, PCIE_LIMITS)
_STEPS = [(ON[after], ON[before]) for before, after in pairwise(FROM_8)]

CLAIMS = {
    "fig3/pcie-goodput": at_one(GOODPUT, lambda r: r.dma_gbps),
    "fig3/throughput-8-threads": at_one(OFF[8], throughput),
    "fig3/off-throughput": Evaluator(
        at_threads(OFF, FROM_8), lambda at: span(throughput(at(OFF[n])) for n in FROM_8)
    ),
    "fig3/linear-rise": Evaluator([p[n] for p in (OFF, ON) for n in (2, 4, 6, 8)], linear_rise),
    "fig3/software-congestion-handled": each(
        [p[n] for p in (OFF, ON) for n in CPU_LIMITS], drops, lambda r: r <= SOME_PERCENT
    ),
    "fig3/on-below-off": Evaluator([*OFF.values(), *_ON], on_below_off),
    "fig3/on-throughput-falls": ratios(_STEPS, throughput, FALLS),
    "fig3/largest-loss": greatest_loss((ON[n], OFF[n]) for n in THREADS),
    "fig3/largest-drop-rate": greatest(_ON, drops),
    "fig3/steady-drops": each(_LIMITED, drops, lambda r: r >= 2),
    "fig3/misses-rise": ratios(_STEPS, misses, RISES),
    "fig3/sudden-rise": ratios([(ON[10], ON[8])], misses, lambda r: r >= 1.5),
    "fig3/at-most-six-misses": each(_ON, misses, lambda m: m <= 6),
    "fig3/miss-latency": each(_LIMITED, lambda r: r.miss_latency_ns, within(200, 1000)),
    "fig3/flows-minimal": Evaluator([BASE, *FLOWS], flows_minimal),
    "fig3/closed-form": closed_form({ON[n]: OFF[n] for n in PCIE_LIMITS}),
    "fig3/host-delay-idle": each(
        at_threads(OFF, PCIE_LIMITS), delay_short_percent, lambda share: share >= 95
    ),
    "fig3/buffer-rate": at_one(BASE, full_buffer(lambda r: r.received_gbps)),
    "fig3/buffer-rate-payload": at_one(BASE, full_buffer(throughput)),
    "fig3/above-81-to-12-threads": each(
        at_threads(ON, (8, 10, 12)), throughput, above(REACTS_GBPS)
    ),
    "fig3/below-81-then": each(at_threads(ON, (14, 16)), throughput, below(REACTS_GBPS)),
    "fig3/drops-rise-to-12": Evaluator(at_threads(ON, (8, 10, 12)), drops_rise),
    "fig3/drops-fall-then": ratios(((ON[n], BASE) for n in (14, 16)), drops, FALLS),
    "fig3/drops-remain": each(at_threads(ON, (14, 16)), drops, above(SOME_PERCENT)),
    "fig3/lower-target-no-cure": each([HALF_TARGET], drops, above(SOME_PERCENT)),
    "fig3/dctcp-no-cure": each([UNDER_DCTCP], drops, above(SOME_PERCENT)),
}
