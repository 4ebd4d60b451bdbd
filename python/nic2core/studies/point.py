"""A point: one configuration that a study simulates, shared by every figure and claim it serves."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import nic2core
from nic2core import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Point:
    """A complete scenario and what to do with it. Two points are one if they simulate the same."""

    kind: Literal["run", "peak"]
    """`run` at the scenario's own traffic, or the `peak` rate that keeps the scenario's SLO."""
    scenario: str
    """The complete scenario, machine included, as canonical JSON."""
    name: str = field(compare=False)
    """For people."""
    rate_of: Point | None = None
    """If given, traffic arrives at `rate_percent` of the peak rate of that point."""
    rate_percent: int = 100

    def ready_scenario(self, peak_mpps: float | None) -> dict[str, Any]:
        """The scenario to simulate, given the peak of `rate_of`."""
        scenario: dict[str, Any] = json.loads(self.scenario)
        if self.rate_of is not None:
            if peak_mpps is None:
                raise AssertionError(f'"{self.name}" is ready only after "{self.rate_of.name}"')
            packets = round(peak_mpps * 1e4 * self.rate_percent)
            scenario["traffic"]["rate"] = f"{packets} pps"
        return scenario


def canonical(scenario: Mapping[str, Any]) -> str:
    """One text for one scenario: keys in order, no spaces."""
    return json.dumps(scenario, sort_keys=True, separators=(",", ":"))


@cache
def _shipped(name: str) -> str:
    folder = Path(nic2core.__file__).parent
    text, _ = _core.load_scenario(folder / "scenarios" / f"{name}.toml", [], [folder / "machines"])
    return text


def base_scenario(name: str) -> dict[str, Any]:
    """A scenario of `scenarios/`, complete with its machine of `machines/`."""
    scenario: dict[str, Any] = json.loads(_shipped(name))
    return scenario


def point(
    kind: Literal["run", "peak"],
    scenario: Mapping[str, Any],
    name: str,
    rate_of: Point | None = None,
    rate_percent: int = 100,
) -> Point:
    """A point of a scenario that is checked and has its defaults written out."""
    checked = json.loads(_core.check_scenario(json.dumps(scenario)))
    return Point(kind, canonical(checked), name, rate_of, rate_percent)


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the keys of `changes` replaced, tables key by key, but one of another `kind`."""
    merged = dict(base)
    for key, value in changes.items():
        old = base.get(key)
        merged[key] = value
        if isinstance(old, dict) and isinstance(value, dict):
            kind = old.get("kind")
            merged[key] = merge(old, value) if value.get("kind", kind) == kind else value
    return merged


def plan(points: Iterable[Point]) -> list[Point]:
    """Every point once, peak searches before runs, with what they depend on.

    Searches are long and runs may depend on them, so they come first; otherwise the order is the
    order in which the figures name their points.
    """
    ordered: dict[Point, None] = {}
    for point in points:
        if point.rate_of is not None:
            ordered.setdefault(point.rate_of)
        ordered.setdefault(point)
    return sorted(ordered, key=lambda point: point.kind != "peak")
