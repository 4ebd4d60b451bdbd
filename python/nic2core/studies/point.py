"""A point: one configuration that a study simulates, shared by all figures and claims using it."""

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
    """A complete scenario and what to do with it. Points that simulate the same are equal."""

    kind: Literal["run", "peak"]
    """`run` with the scenario's own traffic, or search for the `peak` rate that meets its SLO."""
    scenario: str
    """The complete scenario, machine included, as canonical JSON."""
    name: str = field(compare=False)
    """A name for people; ignored when points are compared."""
    rate_of: Point | None = None
    """If given, traffic arrives at `rate_percent` of this point's peak rate."""
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
    """A scenario's canonical JSON: sorted keys, no spaces."""
    return json.dumps(scenario, sort_keys=True, separators=(",", ":"))


@cache
def _shipped(name: str) -> str:
    folder = Path(nic2core.__file__).parent
    text, _ = _core.load_scenario(folder / "scenarios" / f"{name}.toml", [], [folder / "machines"])
    return text


def base_scenario(name: str) -> dict[str, Any]:
    """A scenario from `scenarios/`, complete with its machine from `machines/`."""
    scenario: dict[str, Any] = json.loads(_shipped(name))
    return scenario


def point(
    kind: Literal["run", "peak"],
    scenario: Mapping[str, Any],
    name: str,
    rate_of: Point | None = None,
    rate_percent: int = 100,
) -> Point:
    """Make a point from a scenario, which is checked and gets its defaults written out."""
    checked = json.loads(_core.check_scenario(json.dumps(scenario)))
    return Point(kind, canonical(checked), name, rate_of, rate_percent)


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes` merged in; a table of another `kind` is replaced as a whole."""
    merged = dict(base)
    for key, value in changes.items():
        old = base.get(key)
        merged[key] = value
        if isinstance(old, dict) and isinstance(value, dict):
            kind = old.get("kind")
            merged[key] = merge(old, value) if value.get("kind", kind) == kind else value
    return merged


def plan(points: Iterable[Point]) -> list[Point]:
    """Every point once, including those that others depend on, peak searches before runs.

    Searches are long and runs may depend on them, so they come first; otherwise the points stay in
    the order in which the figures name them.
    """
    ordered: dict[Point, None] = {}
    for point in points:
        if point.rate_of is not None:
            ordered.setdefault(point.rate_of)
        ordered.setdefault(point)
    return sorted(ordered, key=lambda point: point.kind != "peak")
