"""What is said of several runs, by run or, where only the seed differs, by scenario."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, starmap
from typing import TYPE_CHECKING

from nic2core.describe import differences, headline, rates, rows, seeds
from nic2core.describe.scenario_keys import differing
from nic2core.explain.use import work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.describe.headline import Number
    from nic2core.describe.scenario_keys import Difference
    from nic2core.run_record import Record


CHANCE = 0.1
"""Relative difference of two rates or tails up to which it may be chance: in overload at a full
memory bus, seeds alone change a rate by 3 to 10 %."""

COLUMNS = 5
"""Maximum number of runs that are columns of the table of numbers; more of them are its rows."""

ONE_SEED = (
    f"With one seed a run, differences of less than {100 * CHANCE:.0f} % can be chance: runs with "
    "several, `--vary run.seed=1,2,3,4`, show whether they are."
)
"""Shown beside runs that differ by so little, and where a scenario has one seed."""


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
    keys: list[Difference]
    """The keys in which the scenarios differ, with the value in each column."""
    caution: str = ""
    """What to keep in mind about the changes; empty if nothing."""

    @property
    def differing(self) -> list[tuple[Number, list[str]]]:
        """The main numbers that are not the same in all columns, and first what limits.

        The end of a wide table may be out of sight.
        """
        apart = [(number, values) for number, values in self.numbers if len({*values}) > 1]
        return sorted(apart, key=lambda of: of[0].name != headline.LIMITED_BY)

    @property
    def alike(self) -> str:
        """A sentence on the main numbers that are, as shown, the same in all columns."""
        same = [
            f"{number.name} {values[0]} {number.unit}".rstrip()
            for number, values in self.numbers
            if len({*values}) == 1
        ]
        return f"The same in all: {'; '.join(same)}." if same else ""


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
            keys=differing(results),
            caution=ONE_SEED if any(starmap(_may_be_chance, combinations(results, 2))) else "",
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
        keys=differing(cases, [group.runs for group in groups]),
        caution=ONE_SEED if any(len(group.runs) == 1 for group in groups) else "",
    )


def _may_be_chance(base: Record, other: Record) -> bool:
    """Whether the rates or the tails of two runs differ, but by no more than seeds can explain."""
    if work(base.data)[1] != work(other.data)[1]:
        return False
    achieved, _ = rates.achieved([base, other])
    tails = [run.p99_rtt_ns or run.p99_ns or 0.0 for run in (base, other)]
    return any(
        min(pair) > 0 and rates.SAME_RATE <= max(pair) / min(pair) - 1 < CHANCE
        for pair in (achieved, tails)
    )
