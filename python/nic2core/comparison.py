"""Several runs side by side, as `nic2core compare` and a report of several results show them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from nic2core import words
from nic2core._core import UserError
from nic2core.describe import rows, seeds
from nic2core.describe.compared import compared
from nic2core.describe.labels import told_apart, with_scenario
from nic2core.draw.drawn import Drawn
from nic2core.listing import listing
from nic2core.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plotly.graph_objects import Figure

    from nic2core.run_record import Record


@dataclass(frozen=True, repr=False)
class Comparison(Drawn):
    """Runs in order; the others are compared with the first."""

    results: list[Result]
    """One result per run."""
    gaps: list[str] = field(default_factory=list, kw_only=True)
    """What is missing of sweeps whose runs these are, a sentence for each."""

    @property
    def sentence(self) -> str:
        """The comparison in a sentence; empty for a single run."""
        return compared(self.results).sentence

    @property
    def table(self) -> pl.DataFrame:
        """One row per run: the keys that were changed, and the main numbers.

        `rate_mps` is in millions per second of the unit in `of`: packets, transactions of the DMA
        benchmark or accesses of memory benchmarks. `p50_ns` and `p99_ns` are the server's own
        latency. `wanted_gbps` is what a load wants of closed-loop senders in all: by chance more or
        less than `traffic.load` says. What closed-loop senders see (`p99_rtt_ns` to
        `p99_host_delay_ns`, the time of a packet in the server; `p99_slowdown_shortest` and
        `..._longest`, how many times as long as alone reads of the smallest and of the largest size
        take, if they are known by size) and do
        (`lost_share` to `fairness`, which is Jain's over connections
        that are asked for the same) is null without any. With several tenants, each has its own
        `amat_ns (NAME)` and `progress_mps (NAME)`, in the units of `tables.tenants`, and STREAM its
        `stream_gbytes_per_s (NAME)`. `dma_write_hit_share` is 0 to 1, and null if the NIC does not
        write to the LLC, as is `dma_write_move_share`, the hits that take a line of the I/O ways
        like a miss, because only a core's cache held the line. `llc_consumed_share` is the share of
        the LLC that receive buffers without a packet hold at the end. `memory_lines_per_request`
        leaves out what tenants that serve no packets cause.
        """
        return rows.table(self.results)

    @property
    def over_seeds(self) -> pl.DataFrame:
        """One row per scenario, if some runs differ in nothing but `run.seed`; otherwise no rows.

        Numbers are those of `table` in the same units: `rate_mps` is the mean over the seeds,
        `rate_mps ±` half its 95 % confidence interval by Student's t (null for one seed), and
        `rate_mps low` and `rate_mps high` are the least and the greatest value. All are null if a
        run lacks the number. Several texts are joined with commas.
        """
        return seeds.table(seeds.repeated(self.results))

    @property
    def keys(self) -> pl.DataFrame:
        """One row per key in which the scenarios differ, with a column for each run.

        If some runs differ in nothing but `run.seed`, with a column for each scenario.
        """
        found = compared(self.results)
        values = {
            column.label: [of.values[n] for of in found.keys]
            for n, column in enumerate(found.shown)
        }
        columns = {"key": [of.key for of in found.keys], **values}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    @property
    def differences(self) -> dict[str, list[str]]:
        """What differs between pairs of runs, by their labels: `{"b against a": ["..."]}`.

        If some runs differ in nothing but `run.seed`, between scenarios: their means.
        """
        return {
            f"{other.label} against {base.label}": said
            for base, other, said in compared(self.results).changes
        }

    def plot(self, column: str = "rate_mps", over: str | None = None) -> Figure:
        """Plot a table column over a key that was set in every run, with a line per other value.

        Without `over` it is the first key with several numbers, otherwise the first. If `run.seed`
        differs too, means are plotted, with bars of their 95 % intervals.
        """
        from nic2core.draw import plots

        found, keys, _ = seeds.drawn(self.results)
        if not keys:
            raise UserError(
                f"plot: no key was varied between the {len(self)} finished runs; expected one that "
                "was set in every run, to two or more values."
            )
        numbers = [c.name for c in found if c.dtype.is_numeric() and c.count()]
        if column not in numbers:
            raise UserError(
                f"plot: there is no column {column!r} of numbers; expected one of "
                f"{', '.join(numbers)}."
            )
        if over is not None and over not in keys:
            raise UserError(
                f"plot: over = {over!r} is no key that was varied (of several seeds, means are "
                f"plotted); expected one of {', '.join(keys)}."
            )
        curves = {key: rows.is_curve(found[key].to_list(), least=2) for key in keys}
        keys.sort(key=lambda key: (key != over, not curves[key]))
        return plots.over(found, keys, column, plots.titles(self.results).get(column, ""))

    def report(self, path: str | Path) -> Path:
        """Write the comparison as one HTML file."""
        from nic2core.report import write_report

        return write_report(self.results, Path(path), self.gaps)

    def _runs(self) -> Sequence[Record]:
        return self.results

    def _head(self) -> str:
        return f"Comparison of {len(self)} runs"

    def __repr__(self) -> str:
        """The table for an interactive prompt, one column per run, without empty rows."""
        over = self.over_seeds
        if over.is_empty():
            known = [c for c in self.table if c.null_count() < len(c)]
            cells = {"run": [c.name for c in known]}
            for number in range(len(self)):
                cells[str(number)] = [rows.text(c[number]) for c in known]
        else:
            found = compared(self.results)
            cells = {"": [f"{n.name} [{n.unit}]" if n.unit else n.name for n, _ in found.numbers]}
            for number, column in enumerate(found.shown):
                cells[column.label] = [texts[number] for _, texts in found.numbers]
        with pl.Config(**words.WHOLE):
            said = [self._head(), self.sentence, str(pl.DataFrame(cells))]
        return "\n".join(part for part in said if part)

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        with pl.Config(tbl_cols=-1, tbl_rows=-1):
            return self.table._repr_html_()

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __getitem__(self, point: int) -> Result:
        return self.results[point]

    def __len__(self) -> int:
        return len(self.results)


def compare(*runs: Result | Comparison | str | Path) -> Comparison:
    """Compare two or more runs: results, sweeps, or the directories where they were saved."""
    paths = [Path(run) for run in runs if isinstance(run, str | Path)]
    # The last part of a path is enough to name a saved run if no two paths share it.
    short = len({path.resolve().name for path in paths}) == len(paths)
    found: list[tuple[str, Result]] = []
    gaps: list[str] = []
    for run in runs:
        name = ""
        if isinstance(run, str | Path):
            # Bytes that are no text have no place in a report.
            path = os.fsencode(Path(run).resolve().name if short else run)
            name = path.decode("utf-8", "replace")
            of = load_all(Path(run))
        elif isinstance(run, Result):
            of = Comparison([run])
        elif isinstance(run, Comparison):
            of = run
        else:
            raise UserError(
                f"compare: {type(run).__name__} is no run; expected results of nic2core.run, "
                "sweeps, or the directories of saved ones."
            )
        found += [(name, result) for result in of]
        gaps += of.gaps
    if len(found) < 2:
        raise UserError(
            f"compare: there {'is 1 run' if found else 'are no runs'}; expected two or more, such "
            'as nic2core.compare("out/a", "out/b").'
        )
    results = with_scenario([result for _, result in found])
    labels = [result.label for result in results]
    named = [
        replace(r, label=f"{r.label} ({name})") if name and labels.count(r.label) > 1 else r
        for (name, _), r in zip(found, results, strict=True)
    ]
    return Comparison(told_apart(named), gaps=gaps)


def load_all(path: Path) -> Comparison:
    """What the last command wrote into a directory: a result, or those of a comparison."""
    listed = listing(path)
    if listed is None:
        return Comparison([Result.load(path)])
    results = [Result.load(path / run) for run in listed.runs]
    return Comparison(results, gaps=listed.gaps(str(path)))
