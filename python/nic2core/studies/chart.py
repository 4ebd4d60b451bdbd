"""Figures as data, so that the PNG and the interactive page show the same content."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Series:
    """Bars of one configuration, one in every cluster; `None` where a bar is missing."""

    name: str
    values: Sequence[float | None]
    color: str
    hatched: bool = False
    """Marks the same configuration with Sweeper, in the same color."""


@dataclass(frozen=True)
class Bars:
    """Clusters of bars."""

    title: str
    x: str
    y: str
    clusters: Sequence[str]
    series: Sequence[Series]


@dataclass(frozen=True)
class Part:
    """One segment of the stacks: its height by cluster and by bar within the cluster."""

    name: str
    heights: Sequence[Sequence[float]]
    color: str


@dataclass(frozen=True)
class Stacks:
    """Clusters of stacked bars."""

    title: str
    x: str
    y: str
    clusters: Sequence[str]
    bars: Sequence[str]
    """Names of the bars in every cluster."""
    parts: Sequence[Part]


@dataclass(frozen=True)
class Line:
    """Points connected in order."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    color: str
    dashed: bool = False
    marked: bool = False
    labels: Sequence[str] = field(default_factory=tuple)
    """Text beside each point."""


@dataclass(frozen=True)
class Curves:
    """Lines over common axes."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log_x: bool = False


Panel = Bars | Stacks | Curves
