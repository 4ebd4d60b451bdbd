"""Turns readings of points into simulated results of claims. All functions are pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from nic2core.studies.claim import Simulated
from nic2core.studies.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from nic2core.studies.point import Point


@dataclass(frozen=True)
class At:
    """The readings of the points that an evaluator or a figure declared, and no others."""

    results: Mapping[Point, Mapping[str, Any]]

    def __call__(self, point: Point) -> Reading:
        """The reading at a point."""
        if point not in self.results:
            raise AssertionError(f'"{point.name}" is read but was not declared as needed')
        return Reading(dict(self.results[point]))


@dataclass(frozen=True)
class Evaluator:
    """How a claim is computed: from these points, by this function."""

    points: Sequence[Point]
    evaluate: Callable[[At], Simulated | None]
    """Returns `None` if the points do not show what the claim is about."""

    def __call__(self, results: Mapping[Point, Mapping[str, Any]]) -> Simulated | None:
        """The simulated result, given the results of at least the declared points.

        If a ratio has a zero denominator the claim has no value, as if the points did not show it.
        """
        try:
            return self.evaluate(At({point: results[point] for point in self.points}))
        except ZeroDivisionError:
            return None


def at_one(point: Point, read: Callable[[Reading], float]) -> Evaluator:
    """A quantity of one point."""
    return Evaluator([point], lambda at: largest([read(at(point))]))


def span(values: Iterable[float]) -> Simulated:
    """The range from least to greatest: the counterpart of "1.2 to 1.6"."""
    found = list(values)
    return Simulated(min(found), max(found))


def largest(values: Iterable[float]) -> Simulated:
    """The greatest value alone: the counterpart of "up to 2.6"."""
    found = max(values)
    return Simulated(found, found)


def every(values: Iterable[float], test: Callable[[float], bool]) -> Simulated:
    """An ordering that holds if every value passes the test; the range shows by how much."""
    found = list(values)
    return Simulated(min(found), max(found), all(test(value) for value in found))


def and_also(found: Simulated, condition: object) -> Simulated:
    """The same ordering, but it holds only if the condition does too."""
    return replace(found, holds=bool(found.holds and condition))


def steadily(sequences: Iterable[Sequence[float]], resolution: float, *, rising: bool) -> Simulated:
    """Ratios of consecutive values, which must rise (or fall) as far as `resolution` can tell.

    No step may go the other way, and the last value must lie beyond the first: a sequence of equal
    values does not rise.
    """
    found = [list(sequence) for sequence in sequences]
    each = [step for sequence in found for step in steps(sequence)]
    whole = [sequence[-1] / sequence[0] for sequence in found]
    if rising:
        kept = every(each, lambda step: step > 1 - resolution)
        return and_also(kept, all(step > 1 + resolution for step in whole))
    kept = every(each, lambda step: step < 1 + resolution)
    return and_also(kept, all(step < 1 - resolution for step in whole))


def percent_above(value: float, reference: float) -> float:
    """By how many percent `value` exceeds `reference`."""
    return 100 * (value / reference - 1)


def percent_below(value: float, reference: float) -> float:
    """By how many percent `value` falls short of `reference`."""
    return 100 * (1 - value / reference)


def steps(values: Sequence[float]) -> list[float]:
    """Ratio of each value to the one before: above 1 where the sequence rises."""
    return [after / before for before, after in pairwise(values)]
