"""Tables of the model cards that come from runs: what is run for each, and what is shown.

`python -m tools.tables NAME...` runs them anew and prints them, to be compared with the cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nic2core import sources
from nic2core.sweeps import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nic2core.results.models import Results

Settings = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """One table: a column for each run, a row for each number.

    With `seeds`, each column is that many runs, and a cell the range over them.
    """

    scenario: str
    columns: Mapping[str, Settings]
    rows: Mapping[str, Callable[[Results], float | None]]
    settings: Settings = field(default_factory=dict)
    seeds: int = 1

    def prepared(self) -> list[sources.Prepared]:
        """What is run, column by column."""
        return [
            sources.prepare(self.scenario, {**self.settings, **column, "run.seed": seed})
            for column in self.columns.values()
            for seed in self._seeds
        ]

    def run(self, jobs: int) -> str:
        """Run it and give it in Markdown."""
        names = [f"{label}, seed {seed}" for label in self.columns for seed in self._seeds]
        return self.markdown([r.data for r in run_all(self.prepared(), names, jobs=jobs).results])

    def markdown(self, results: Sequence[Results]) -> str:
        """The table of results, which are in the order of `prepared`."""
        groups = [results[i : i + self.seeds] for i in range(0, len(results), self.seeds)]
        lines = [["", *self.columns], ["---"] * (len(self.columns) + 1)]
        lines += [[name, *(_cell(of, group) for group in groups)] for name, of in self.rows.items()]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    @property
    def _seeds(self) -> range:
        return range(1, self.seeds + 1)


def _cell(of: Callable[[Results], float | None], group: Sequence[Results]) -> str:
    values = [value for value in map(of, group) if value is not None]
    if not values:
        return ""
    low, high = (_number(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    """Three digits, but at most two decimals, and whole units from 100 on."""
    return (
        f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    )
