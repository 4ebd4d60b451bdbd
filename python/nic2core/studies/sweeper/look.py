"""How the configurations and causes of the Sweeper paper look in every figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.draw import palette as meanings
from nic2core.studies import palette
from nic2core.studies.chart import Bars, Part, Series, Stacks
from nic2core.studies.reading import CAUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.studies.evaluate import At
    from nic2core.studies.point import Point
    from nic2core.studies.reading import Reading
    from nic2core.studies.sweeper.points import Placement

_WAYS = {2: palette.SKY, 4: palette.GREEN, 6: palette.ORANGE, 12: palette.BLUE}
_CAUSES = {
    "nic-rx-wr": "NIC RX Wr",
    "nic-tx-rd": "NIC TX Rd",
    "cpu-rx-rd": "CPU RX Rd",
    "cpu-other-rd": "CPU Other Rd",
    "rx-evct": "RX Evct",
    "tx-evct": "TX Evct",
    "other-evct": "Other Evct",
}
"""As the legend of figure 1c has them."""


def color(placement: Placement) -> str:
    """One color for a number of ways, with and without Sweeper."""
    if placement.ways is not None:
        return _WAYS[placement.ways]
    return palette.GREY if placement.policy == "dma" else palette.BLACK


def series(
    at: At,
    placements: Sequence[Placement],
    clusters: Sequence[Callable[[Placement], Point]],
    quantity: Callable[[Reading], float],
) -> list[Series]:
    """A bar of each placement in each cluster."""
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
    """What a figure shows of each placement in each cluster, panel by panel."""

    at: At
    placements: Sequence[Placement]
    x: str
    """What tells the clusters apart."""
    clusters: Sequence[tuple[str, Callable[[Placement], Point]]]
    """The name of each, and its points."""

    def bars(self, title: str, y: str, quantity: Callable[[Reading], float]) -> Bars:
        """A panel of one quantity."""
        places = [cluster for _, cluster in self.clusters]
        bars = series(self.at, self.placements, places, quantity)
        return Bars(title, self.x, y, [name for name, _ in self.clusters], bars)

    def throughput(self, title: str, y: str) -> Bars:
        """A panel of what is done in a second."""
        return self.bars(title, y, lambda r: r.mrps)

    def bandwidth(self) -> Bars:
        """The panel that is the second of the paper's three."""
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
    """Memory accesses by cause, as in figure 1c; what has none of its seven causes comes on top."""

    def heights(quantity: Callable[[Reading], float]) -> list[list[float]]:
        return [[quantity(at(cluster(p))) for p in placements] for _, cluster in clusters]

    parts = [
        Part(name, heights(lambda r, cause=cause: r.accesses(cause)), meanings.cause(cause))  # type: ignore[misc]
        for cause, name in _CAUSES.items()
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
