"""How the configurations and causes of the Sweeper paper look in every figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.draw import palette as meanings
from nic2core.studies import palette
from nic2core.studies.chart import Bars, Part, Series, Stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading
    from nic2core.studies.sweeper.points import Placement

_WAYS = {2: palette.SKY, 4: palette.GREEN, 6: palette.ORANGE, 12: palette.BLUE}
CAUSES = {
    "nic-rx-wr": "NIC RX Wr",
    "nic-tx-rd": "NIC TX Rd",
    "cpu-rx-rd": "CPU RX Rd",
    "cpu-other-rd": "CPU Other Rd",
    "rx-evct": "RX Evct",
    "tx-evct": "TX Evct",
    "other-evct": "Other Evct",
}
"""The causes of figure 1c in stacking order, and their names in its legend."""


def color(placement: Placement) -> str:
    """The color of a number of ways, the same with and without Sweeper."""
    if placement.ways is not None:
        return _WAYS[placement.ways]
    return palette.GREY if placement.policy == "dma" else palette.BLACK


def series(
    at: At,
    placements: Sequence[Placement],
    clusters: Sequence[Callable[[Placement], Point]],
    quantity: Callable[[Reading], float],
) -> list[Series]:
    """A bar for each placement in each cluster."""
    return [
        Series(
            placement.name,
            [quantity(at(cluster(placement))) for cluster in clusters],
            color(placement),
            placement.sweeper,
        )
        for placement in placements
    ]


@dataclass(frozen=True)
class Clusters:
    """Builds a figure's panels, which show each placement in each cluster."""

    at: At
    placements: Sequence[Placement]
    x: str
    """The quantity that differs between clusters."""
    clusters: Sequence[tuple[str, Callable[[Placement], Point]]]
    """The name and the points of each cluster."""

    def bars(self, title: str, y: str, quantity: Callable[[Reading], float]) -> Bars:
        """A panel of one quantity."""
        places = [cluster for _, cluster in self.clusters]
        bars = series(self.at, self.placements, places, quantity)
        return Bars(title, self.x, y, [name for name, _ in self.clusters], bars)

    def throughput(self, title: str, y: str) -> Bars:
        """A panel of throughput."""
        return self.bars(title, y, lambda r: r.mrps)

    def bandwidth(self) -> Bars:
        """The panel of memory bandwidth, the second of three in the paper."""
        return self.bars("(b) Memory bandwidth", "GB/s", lambda r: r.bandwidth)

    def accesses(self, panel: str, unit: str) -> Stacks:
        """The panel of memory accesses by cause."""
        title = f"({panel}) Memory accesses per {unit} by cause"
        return _breakdown(self.at, title, self.placements, self.clusters, x=self.x, unit=unit)


def _breakdown(
    at: At,
    title: str,
    placements: Sequence[Placement],
    clusters: Sequence[tuple[str, Callable[[Placement], Point]]],
    *,
    x: str,
    unit: str,
) -> Stacks:
    """Memory accesses by cause, as in figure 1c, with all other causes as one part on top."""

    def heights(quantity: Callable[[Reading], float]) -> list[list[float]]:
        return [[quantity(at(cluster(p))) for p in placements] for _, cluster in clusters]

    parts = [
        Part(name, heights(lambda r, cause=cause: r.accesses(cause)), meanings.cause(cause))  # type: ignore[misc]
        for cause, name in CAUSES.items()
    ]
    rest = heights(lambda r: r.accesses() - r.accesses(*CAUSES))
    parts.append(Part("descriptors and other", rest, meanings.OTHER_CAUSE))
    return Stacks(
        title=title,
        x=x,
        y=f"Memory accesses per {unit}",
        clusters=[name for name, _ in clusters],
        bars=[p.name for p in placements],
        parts=parts,
    )
