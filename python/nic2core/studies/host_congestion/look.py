"""How the figures of the host congestion paper look: its panels and colors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.studies import palette
from nic2core.studies.chart import Curves, Line
from nic2core.studies.host_congestion import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.evaluate import At
    from nic2core.studies.host_congestion.judge import Read
    from nic2core.studies.point import Point

OFF, ON, SMALL_PAGES = palette.BLUE, palette.ORANGE, palette.SKY
"""Colors of the three ways to map memory, in every figure."""


@dataclass(frozen=True)
class Curve:
    """One configuration over the quantity that a figure varies."""

    name: str
    color: str
    xs: Sequence[int]
    points: Sequence[Point]

    def line(self, at: At, read: Read, *, name: str | None = None, dashed: bool = False) -> Line:
        """The line of one quantity."""
        xs = [float(x) for x in self.xs]
        ys = [read(at(point)) for point in self.points]
        return Line(name or self.name, xs, ys, self.color, dashed=dashed, marked=True)


def panels(at: At, x: str, drawn: Sequence[Curve], more: Sequence[Line] = ()) -> list[Curves]:
    """Throughput, drop rate and IOTLB misses, as in figures 3, 4 and 5.

    `more` lines are added to the throughput panel only.
    """
    mapped = [curve for curve in drawn if curve.color != OFF]
    return [
        Curves(
            "(left) Throughput",
            x,
            "Throughput (Gbps)",
            [*(c.line(at, judge.throughput) for c in drawn), *more],
        ),
        Curves("(center) Drop rate", x, "Drop rate (%)", [c.line(at, judge.drops) for c in drawn]),
        Curves(
            "(right) IOTLB misses",
            x,
            "IOTLB misses per packet",
            [c.line(at, judge.misses) for c in mapped],
        ),
    ]
