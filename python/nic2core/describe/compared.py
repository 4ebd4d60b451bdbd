"""What is said of several runs, by run or, where only the seed differs, by scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.describe import differences, headline, rows, seeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.describe.headline import Number
    from nic2core.run_record import Record


@dataclass(frozen=True)
class Compared:
    """Runs as terminal, report and `Comparison` tell them."""

    shown: Sequence[Record]
    """One for each column: the runs, or the first run of each scenario."""
    by_seed: bool
    """Whether a column stands for runs with several seeds."""
    sentence: str
    """All in a sentence; empty where there is nothing to say."""
    numbers: list[tuple[Number, list[str]]]
    """The main numbers, with their text in each column."""
    changes: list[tuple[Record, Record, list[str]]]
    """Pairs of columns, and what changes between them."""


def compared(results: Sequence[Record]) -> Compared:
    """Compare runs, and groups of them if some differ in nothing but their seed."""
    groups = seeds.repeated(results)
    if not groups:
        pairs = rows.pairs(results)
        return Compared(
            results,
            by_seed=False,
            sentence=differences.in_a_sentence(results),
            numbers=headline.side_by_side(results),
            changes=[(a, b, differences.differences(a, b)) for a, b in pairs],
        )
    cases = [group.case for group in groups]
    of = {group.case.label: group for group in groups}
    pairs = rows.pairs(cases)
    return Compared(
        cases,
        by_seed=True,
        sentence=seeds.in_a_sentence(groups),
        numbers=seeds.side_by_side(groups),
        changes=[(a, b, seeds.differences(of[a.label], of[b.label])) for a, b in pairs],
    )
