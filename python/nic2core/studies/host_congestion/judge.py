"""Evaluators shared by most claims of the host congestion paper, and its wording as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.studies.claim import Simulated
from nic2core.studies.evaluate import Evaluator, every, largest, percent_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading

    Read = Callable[[Reading], float]
    Test = Callable[[float], bool]

LINK_GBPS = 92.0
"""Payload that a 100 Gbps link carries, without headers (section 3)."""
REACTS_GBPS = 81.0
"""Throughput below which a full NIC buffer means a delay above Swift's target (section 3.1)."""
VISIBLE = 0.98
"""Throughput is visibly lower if below this share of another (defined in the claims file)."""
SOME_PERCENT = 0.01
"""Drop rate above which there are "some drops", % (defined there too)."""
RESOLUTION = 0.005
"""A quantity rises or falls if it changes by more than this share (defined there too)."""
CLOSE = 0.05
"""Largest deviation that is "close", and smallest change that has an impact (defined there too)."""


def throughput(reading: Reading) -> float:
    """Payload received, Gbps."""
    return reading.goodput_gbps


def drops(reading: Reading) -> float:
    """Drop rate, %."""
    return reading.transport_drop_percent


def misses(reading: Reading) -> float:
    """IOTLB misses per packet."""
    return reading.misses_per_packet


def host_delay_p99_us(reading: Reading) -> float:
    """99th percentile of the host delay, us."""
    return reading.host_delay_us(99)


def below(limit: float) -> Test:
    """A test for values below `limit`."""
    return lambda value: value < limit


def above(limit: float) -> Test:
    """A test for values above `limit`."""
    return lambda value: value > limit


RISES = above(1 + RESOLUTION)
"""The test of a ratio that must be above 1 by more than the resolution of a run."""
FALLS = below(1 - RESOLUTION)
"""The test of a ratio that must be below 1 by more than that."""


def within(low: float, high: float) -> Test:
    """A test for values from `low` to `high`."""
    return lambda value: low <= value <= high


def greatest(points: Sequence[Point], read: Read) -> Evaluator:
    """The greatest value of a quantity over several points."""
    return Evaluator(points, lambda at: largest(read(at(point)) for point in points))


def each(points: Sequence[Point], read: Read, test: Test) -> Evaluator:
    """A quantity that must pass a test at every point."""
    return Evaluator(points, lambda at: every((read(at(point)) for point in points), test))


def ratios(pairs: Iterable[tuple[Point, Point]], read: Read, test: Test) -> Evaluator:
    """The ratio of a quantity at two points, which must pass a test for every pair."""
    pairs = list(pairs)
    points = list(dict.fromkeys(point for pair in pairs for point in pair))
    return Evaluator(points, lambda at: every((read(at(a)) / read(at(b)) for a, b in pairs), test))


def greatest_loss(pairs: Iterable[tuple[Point, Point]]) -> Evaluator:
    """The greatest loss of throughput from the second point of a pair to the first, percent."""
    pairs = list(pairs)
    points = list(dict.fromkeys(point for pair in pairs for point in pair))
    return Evaluator(
        points,
        lambda at: largest(percent_below(throughput(at(a)), throughput(at(b))) for a, b in pairs),
    )


def first(counts: Sequence[int], passed: Iterable[bool]) -> int | None:
    """The first of ascending counts that passed, if any."""
    return next((n for n, yes in zip(counts, passed, strict=True) if yes), None)


def count(found: int | None) -> Simulated | None:
    """A count as a simulated value, if there is one."""
    return None if found is None else Simulated(found, found)
