"""Runs that differ in nothing but their seed: means over the seeds, and how far apart these are."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from nic2core.describe import rows
from nic2core.describe.differences import SAME_RATE, achieved, alike
from nic2core.describe.headline import Number, lined_up
from nic2core.describe.labels import name_cases, told_apart, with_scenario
from nic2core.describe.verdict import limit, limiter
from nic2core.explain.use import work
from nic2core.words import NOTHING, count, listed, sentence, three

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nic2core.run_record import Record

SEED = "run.seed"

CHANGE = 0.01
"""Relative change of a mean below which a comparison does not mention it."""


@dataclass(frozen=True)
class Repeated:
    """A scenario that was simulated with one or several seeds."""

    case: Record
    """The first of the runs, its label, settings and scenario without the seed."""
    runs: Sequence[Record]


@dataclass(frozen=True)
class Spread:
    """A number of several runs. All its values are known."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return fmean(self.values)

    @property
    def low(self) -> float:
        """The least value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The greatest value."""
        return max(self.values)

    def apart_from(self, other: Spread) -> bool:
        """Whether every value lies on the same side of all values of the other.

        If seeds alone made the difference, this would happen by chance with two seeds each in a
        third of all cases, with three in a tenth, with four in 3 %, and with five in 0.8 %.
        """
        return self.high < other.low or other.high < self.low

    def __str__(self) -> str:
        """The mean, followed by the least and the greatest value if they look different."""
        low, high = three(self.low), three(self.high)
        return three(self.mean) if low == high else f"{three(self.mean)} ({low} to {high})"


def repeated(results: Sequence[Record]) -> list[Repeated]:
    """The runs by scenario, in order; empty unless one was simulated with several seeds."""
    groups: dict[str, list[Record]] = {}
    for result in results:
        groups.setdefault(_but_for_the_seed(result), []).append(result)
    if all(len({r.data.seed for r in runs}) == 1 for runs in groups.values()):
        return []
    firsts = [_without_seed(runs[0]) for runs in groups.values()]
    settings = [r.settings for r in firsts]
    # What is set alike for all does not tell them apart.
    common = {key for key in settings[0] if all(s.get(key) == settings[0][key] for s in settings)}
    apart = [{key: value for key, value in s.items() if key not in common} for s in settings]
    names = name_cases([r.scenario for r in firsts], apart)
    named = [replace(r, label=name) for r, name in zip(firsts, names, strict=True)]
    cases = told_apart(with_scenario(named))
    return [Repeated(case, runs) for case, runs in zip(cases, groups.values(), strict=True)]


def _but_for_the_seed(result: Record) -> str:
    """The same for runs that differ in nothing but their seed."""
    version, is_peak = result.data.engine_version, result.peak is not None
    what = [result.scenario_name, version, is_peak, _without_seed(result).scenario]
    return json.dumps(what, sort_keys=True)


def _without_seed(result: Record) -> Record:
    run = {key: value for key, value in result.scenario["run"].items() if key != "seed"}
    settings = {key: value for key, value in result.settings.items() if key != SEED}
    return replace(result, scenario=result.scenario | {"run": run}, settings=settings)


def side_by_side(groups: Sequence[Repeated]) -> list[tuple[Number, list[str]]]:
    """The main numbers: each with its spread in every group, or `-`."""
    return [(number, [_cell(of) for of in each]) for number, each in _numbers(groups)]


def _numbers(groups: Sequence[Repeated]) -> Iterator[tuple[Number, list[list[Number | None]]]]:
    """Each main number with its values by group and run."""
    for number, values in lined_up([run for group in groups for run in group.runs]):
        left = iter(values)
        yield number, [[next(left) for _ in group.runs] for group in groups]


def _cell(own: Sequence[Number | None]) -> str:
    if len(own) > 1 and (spread := _spread(own)) is not None:
        return str(spread)
    return ", ".join(_distinct(of.value if of else NOTHING for of in own))


def _spread(own: Sequence[Number | None]) -> Spread | None:
    """A number's spread, if all runs of a group have it."""
    values = [of.raw for of in own if of is not None and of.raw is not None]
    return Spread(values) if len(values) == len(own) else None


def differences(base: Repeated, other: Repeated) -> list[str]:
    """What changes between two groups, and what changes no more than seeds do."""
    said, unclear = [], []
    for number, (before, after) in _numbers([base, other]):
        was, now = _spread(before), _spread(after)
        if was is None or now is None or not (number.compared or number.unit == "%"):
            continue
        if three(was.mean) == three(now.mean) or abs(now.mean - was.mean) < CHANGE * was.mean:
            continue
        change = f"{100 * (now.mean / was.mean - 1):+.0f} %" if was.mean > 0 else ""
        if was.apart_from(now):
            share = f" ({change})" if change and number.unit != "%" else ""
            said.append(f"{number.name}: {was} → {now} {number.unit}{share}".rstrip())
        else:
            unclear.append(f"{number.name} ({change})" if change else number.name)
    if unclear:
        said.append(f"no clearer than chance: {listed(unclear)}")
    was_limited, is_limited = (", ".join(_distinct(map(limit, g.runs))) for g in (base, other))
    if was_limited != is_limited:
        said.append(f"limited by: {was_limited} → {is_limited}")
    return said


def in_a_sentence(groups: Sequence[Repeated]) -> str:
    """The groups in one sentence: which is fastest, and whether by more than chance; what limits.

    Empty if they do different kinds of work, or one of them does none.
    """
    runs = [run for group in groups for run in group.runs]
    if len({work(run.data)[1] for run in runs}) > 1:
        return ""
    rates, unit = achieved(runs)
    left = iter(rates)
    spreads = [Spread([next(left) for _ in group.runs]) for group in groups]
    least, most = (end(len(group.runs) for group in groups) for end in (min, max))
    over = f"over {count(most, 'seed') if most == least else f'{least} to {most} seeds'}"
    limits = f"limited by {listed(_distinct(map(limiter, runs)))}"
    if len(groups) == 1:
        return sentence(f"{spreads[0]} {unit} {over}; {limits}.")
    names, means = [g.case.label for g in groups], [s.mean for s in spreads]
    fast, slow = (end(spreads, key=lambda s: s.mean) for end in (max, min))
    if slow.mean <= 0:
        return ""
    more = fast.mean / slow.mean - 1
    if more < SAME_RATE or not fast.apart_from(slow):
        low, high = min(s.low for s in spreads), max(s.high for s in spreads)
        return sentence(
            f"none is faster by more than chance, {three(low)} to {three(high)} {unit} {over}; "
            f"{limits}."
        )
    (best, are), (worst, _) = (alike(names, means, of.mean) for of in (fast, slow))
    return sentence(
        f"{best} {are} fastest at {fast} {unit} {over}, {100 * more:.0f} % more than the slowest, "
        f"{worst}; {limits}."
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def table(groups: Sequence[Repeated]) -> pl.DataFrame:
    """One row per group; `Comparison.over_seeds` says what it has."""
    found = rows.table([run for group in groups for run in group.runs])
    keys = {"case", *(key for group in groups for run in group.runs for key in run.settings)}
    measured = [column for column in found.columns if column not in keys]
    first = 0
    lines = []
    for group in groups:
        of = found.slice(first, len(group.runs))
        first += len(group.runs)
        settings = {key: rows.cell(value) for key, value in group.case.settings.items()}
        line: dict[str, Any] = {"case": group.case.label, **settings, "seeds": of.height}
        for column in measured:
            line |= _over_seeds(column, of[column])
        lines.append(line)
    return pl.DataFrame(lines, infer_schema_length=None)


def _over_seeds(column: str, values: pl.Series) -> dict[str, Any]:
    if not values.dtype.is_numeric():
        return {column: ", ".join(_distinct(values.drop_nulls())) or None}
    spread = None if values.null_count() else Spread(values.to_list())
    return {
        column: spread and spread.mean,
        f"{column} low": spread and spread.low,
        f"{column} high": spread and spread.high,
    }


def drawn(results: Sequence[Record]) -> tuple[pl.DataFrame, list[str], bool]:
    """The table to draw, the keys that were varied, and whether the rows are means over seeds.

    Runs that differ in nothing but their seed are one row, unless nothing else was varied.
    """
    keys = rows.varied(results)
    others = [key for key in keys if key != SEED]
    groups = repeated(results)
    if groups and others:
        return table(groups), others, True
    return rows.table(results), keys, False
