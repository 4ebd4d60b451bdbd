"""A study: the evaluation of one paper as points, evaluators of its claims, and figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nic2core.studies.chart import Panel
    from nic2core.studies.claim import Claim, Judged
    from nic2core.studies.evaluate import At, Evaluator
    from nic2core.studies.point import Point


@dataclass(frozen=True)
class Figure:
    """One figure of the paper, to be drawn in the paper's layout."""

    number: str
    """As in the paper, such as `5`."""
    title: str
    points: Sequence[Point]
    draw: Callable[[At], Sequence[Panel]]
    columns: int = 1
    """Panels side by side in the paper."""


@dataclass(frozen=True)
class Study:
    """The evaluation of one paper."""

    paper: str
    evaluators: Mapping[str, Evaluator]
    """By the id of the claim."""
    figures: Sequence[Figure]
    summary: Callable[[Sequence[Judged]], str] | None = None
    """A sentence on all claims together, if the study has a measure of its own."""


@dataclass(frozen=True)
class Selection:
    """Which part of a study to reproduce."""

    figure: str | None = None
    """A number such as `5`, or one panel such as `5a`."""
    claim: str | None = None
    """A claim's id, also without the paper's name in front, as the validation page shows it."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole study is selected."""
        return self.figure is None and self.claim is None

    def has_claim(self, claim: Claim) -> bool:
        """Whether a claim is selected."""
        named = self.claim in (None, claim.id, claim.id.removeprefix(f"{claim.paper}/"))
        return named and self.figure in (None, claim.figure, number_of(claim.figure))

    def has_figure(self, figure: Figure) -> bool:
        """Whether a figure is to be drawn; none is for a single claim."""
        if self.claim is not None:
            return False
        return self.figure is None or number_of(self.figure) == figure.number


def number_of(panel: str) -> str:
    """The figure that a panel such as `5a` belongs to; a figure's number is returned unchanged."""
    return re.sub(r"(?<=[0-9])[a-z]$", "", panel)
