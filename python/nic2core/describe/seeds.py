"""Runs that differ in nothing but their seed, as one: means, and what chance explains."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from polars import selectors

from nic2core.describe import rows
from nic2core.describe.differences import in_percent, lines_by_cause
from nic2core.describe.headline import Number, lined_up
from nic2core.describe.labels import describe, name_cases, told_apart
from nic2core.describe.limiter import limit, limiter
from nic2core.describe.rates import (
    DIFFERENCE_FELT,
    SAME_RATE,
    achieved,
    carried,
    ends,
    lost,
    lost_by_the_fastest,
    times_of,
)
from nic2core.describe.spread import Spread
from nic2core.explain.use import work
from nic2core.names import CAUSES
from nic2core.scenario.toml_text import as_table, toml_value
from nic2core.words import NOTHING, count, listed, sentence, several, three

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nic2core.run_record import Record

RUN = "run"
"""The table of the seed, which may be set as a whole."""

SEED = f"{RUN}.seed"

TOLD = r"(run\.)?seed=[0-9]+"

SEED_IN_LABEL = re.compile(rf"(?<=: ){TOLD}, |(^|, ){TOLD}(?=$|, | \()")
"""How labels of runs tell their seed."""

SEED_ALONE = re.compile(rf"(?<=: ){TOLD}(?=$| \()|^{TOLD}(?= \()")
"""A seed with no other key, in the label of a run with its scenario or its directory."""


@dataclass(frozen=True)
class Repeated:
    """A scenario that was simulated with one or several seeds."""

    case: Record
    """The first of the runs, its label, settings and scenario without the seed."""
    runs: Sequence[Record]
    """One for each seed."""


def repeated(results: Sequence[Record]) -> list[Repeated]:
    """The runs by scenario, in order; empty unless one was simulated with several seeds."""
    groups: dict[str, dict[int, Record]] = {}
    for result in results:
        groups.setdefault(_but_for_the_seed(result), {}).setdefault(result.data.seed, result)
    if all(len(runs) == 1 for runs in groups.values()):
        return []
    found = [[*runs.values()] for runs in groups.values()]
    cases = told_apart([_without_seed(runs[0], _label(runs)) for runs in found])
    return [Repeated(case, runs) for case, runs in zip(cases, found, strict=True)]


def _but_for_the_seed(result: Record) -> str:
    """The same for runs that differ in nothing but their seed."""
    version, is_peak = result.data.engine_version, result.peak is not None
    scenario = _without_seed(result, "").scenario
    what = [result.scenario_name, version, result.capture, is_peak, scenario]
    return json.dumps(what, sort_keys=True)


def _label(runs: Sequence[Record]) -> str:
    """What the labels of the runs share without the seed, or else what the scenario says."""
    labels = {_label_without_seed(run) for run in runs}
    one = labels.pop()
    if one and not labels:
        return one
    case = _without_seed(runs[0], "")
    return name_cases([case.scenario], [case.settings])[0]


def _label_without_seed(run: Record) -> str:
    label = run.label
    if RUN in run.settings:
        whole, rest = (toml_value(of[RUN]) for of in (run.settings, _settings(run)))
        label = label.replace(f"{RUN}={whole}", f"{RUN}={rest}")
    # A scenario's or a directory's name does not say what ran.
    label = SEED_ALONE.sub(lambda _: describe(run.scenario), label)
    return SEED_IN_LABEL.sub("", label).removeprefix(", ").strip()


def _without_seed(result: Record, label: str) -> Record:
    scenario = result.scenario | {RUN: _other_keys(result.scenario[RUN])}
    return replace(result, scenario=scenario, settings=_settings(result), label=label)


def _settings(result: Record) -> dict[str, Any]:
    """The settings without the seed, which is one of its own or a key of the whole table."""
    settings = {key: value for key, value in result.settings.items() if key != SEED}
    whole = as_table(settings.get(RUN))
    return settings if whole is None else settings | {RUN: _other_keys(whole)}


def _other_keys(run: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key != "seed"}


def side_by_side(groups: Sequence[Repeated]) -> list[tuple[Number, list[str]]]:
    """The main numbers: each with its mean in every group, or `-`.

    Of a number that some runs of a group do not have, the mean of those that do.
    """
    return [(number, [_cell(of) for of in each]) for number, each in _numbers(groups)]


@dataclass(frozen=True)
class _Of:
    """A main number in the runs of a group."""

    group: Repeated
    own: Sequence[Number | None]

    @property
    def spread(self) -> Spread | None:
        """Its values, if all runs have one."""
        return Spread(self.known) if len(self.known) == len(self.own) else None

    @property
    def is_mixed(self) -> bool:
        """Whether some runs have one and others none."""
        return 0 < len(self.known) < len(self.own)

    @property
    def known(self) -> dict[int, float]:
        """Its values by seed, of the runs that have one."""
        runs = zip(self.group.runs, self.own, strict=True)
        return {run.data.seed: of.raw for run, of in runs if of is not None and of.raw is not None}


def _numbers(groups: Sequence[Repeated]) -> Iterator[tuple[Number, list[_Of]]]:
    """Each main number by group."""
    for number, values in lined_up(_runs(groups)):
        left = iter(values)
        yield number, [_Of(group, [next(left) for _ in group.runs]) for group in groups]


def _runs(groups: Sequence[Repeated]) -> list[Record]:
    return [run for group in groups for run in group.runs]


def _spread(group: Repeated, values: Sequence[float]) -> Spread:
    return Spread(dict(zip((run.data.seed for run in group.runs), values, strict=True)))


def _cell(of: _Of) -> str:
    spread = of.spread
    if len(of.own) > 1 and spread is not None:
        return str(spread)
    if of.is_mixed:
        known = of.known
        return f"{Spread(known)} ({len(known)} of {count(len(of.own), 'seed')})"
    return ", ".join(_distinct(n.value if n else NOTHING for n in of.own))


def differences(base: Repeated, other: Repeated) -> list[str]:
    """What changes between two groups, and what changes by no more than chance."""
    said: list[str] = []
    unclear: list[str] = []
    unknown: list[str] = []
    for number, (before, after) in _numbers([base, other]):
        was, now = before.spread, after.spread
        if was is not None and now is not None:
            _change(said, unclear, (number.name, number.unit), was, now)
        elif before.is_mixed or after.is_mixed:
            unknown.append(number.name)
    moved = sorted(_lines(base, other), key=lambda of: -abs(of[2].mean - of[1].mean))
    for name, was, now in moved[:3]:
        _change(said, unclear, (name, "lines per request"), was, now)
    if unclear:
        said.append(f"no clearer than chance: {listed(unclear)}")
    if unknown:
        said.append(f"not known in all runs: {listed(unknown)}")
    limits = [_distinct(map(limit, group.runs)) for group in (base, other)]
    if not {*limits[0]} & {*limits[1]}:
        said.append(f"limited by: {', '.join(limits[0])} → {', '.join(limits[1])}")
    return said


def _change(
    said: list[str], unclear: list[str], what: tuple[str, str], was: Spread, now: Spread
) -> None:
    """Tell a change of at least a percent, as clear or as unclear."""
    name, unit = what
    if three(was.mean) == three(now.mean) or abs(now.mean - was.mean) < SAME_RATE * abs(was.mean):
        return
    # Percent of a percentage would be taken for points.
    share = in_percent(was.mean, now.mean) if unit != "%" else ""
    change = f" ({share})" if share else ""
    if was.apart_from(now) is False:
        unclear.append(f"{name}{change}")
    else:
        said.append(f"{name}: {was} → {now} {unit}".rstrip() + change)


def _lines(base: Repeated, other: Repeated) -> Iterator[tuple[str, Spread, Spread]]:
    """The memory traffic of each cause, lines per request."""
    of_runs = lines_by_cause(_runs([base, other]))
    for cause, lines in of_runs.items():
        first = len(base.runs)
        was, now = _spread(base, lines[:first]), _spread(other, lines[first:])
        yield CAUSES.get(cause, cause), was, now


def in_a_sentence(groups: Sequence[Repeated]) -> str:
    """The groups in a sentence: which are fastest, whether by more than chance, and what limits.

    Empty if they do different kinds of work, or one of them does none.
    """
    runs = _runs(groups)
    rates, unit = achieved(runs)
    if len({work(run.data)[1] for run in runs}) > 1 or min(rates) <= 0:
        return ""
    left = iter(rates)
    spreads = [_spread(group, [next(left) for _ in group.runs]) for group in groups]
    least, most = (end(len(group.runs) for group in groups) for end in (min, max))
    over = f"over {count(most, 'seed') if most == least else f'{least} to {most} seeds'}"
    limits = f"limited by {listed(_distinct(map(limiter, runs)))}"
    if len(groups) == 1:
        return sentence(f"{spreads[0]} {unit} {over}; {limits}.")
    best = max(spreads, key=lambda of: of.mean)
    slower = [of for of in spreads if best.mean / of.mean - 1 >= SAME_RATE]
    apart = [of for of in slower if of.apart_from(best) is not False]
    if not slower:
        return sentence(f"all are about as fast, {best} {unit} {over}{_apart(groups)}; {limits}.")
    labels = [group.case.label for group in groups]
    if load := carried(labels, [group.runs for group in groups], unit, lambda: _apart(groups)):
        return sentence(f"{over}, {load}; {limits}.")
    if not apart:
        none = f"none is faster by more than chance {over}, {best} {unit} at most"
        return sentence(f"{none}{_apart(groups)}; {limits}.")
    slow = min(apart, key=lambda of: of.mean)
    order = sorted(range(len(groups)), key=lambda n: -spreads[n].mean)
    names = [labels[n] for n in order]
    # What chance cannot tell from the best counts as as fast.
    rates = [spreads[n].mean if spreads[n] in apart else best.mean for n in order]
    first, are, last = ends(names, rates)
    with_up_to = "with" if are == "is" else "with up to"
    losses = [_spread(group, [lost(run) for run in group.runs]).mean for group in groups]
    means = [of.mean for of in spreads]
    drops = lost_by_the_fastest(labels, losses, means)
    return (
        f"{first} {are} fastest, {with_up_to} {best} {unit} {over}, "
        f"{times_of(best.mean, slow.mean)} the slowest, {last}{drops}; {limits}."
    )


def _apart(groups: Sequence[Repeated]) -> str:
    """The number in which the groups differ most and clearly; empty if nobody would notice."""
    found = {}
    for number, each in _numbers(groups):
        spreads = {of.group.case.label: of.spread for of in each if of.spread is not None}
        if not number.compared or len(spreads) < len(groups):
            continue
        low, high = (end(spreads, key=lambda name: spreads[name].mean) for end in (min, max))
        least, most = spreads[low], spreads[high]
        if (
            0 < least.mean * (1 + DIFFERENCE_FELT) < most.mean
            and least.apart_from(most) is not False
        ):
            ends = f"{least} {number.unit} ({low}) to {most} ({high})"
            verb = "range" if several(number.name) else "ranges"
            found[most.mean / least.mean] = f"; {number.name} {verb} from {ends}"
    return found[max(found)] if found else ""


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def table(groups: Sequence[Repeated]) -> pl.DataFrame:
    """One row per group; `Comparison.over_seeds` says what it has."""
    found = rows.table(_runs(groups))
    keys = {"case", *(key for run in _runs(groups) for key in run.settings)}
    measured = [column for column in found.columns if column not in keys]
    first = 0
    lines = []
    for group in groups:
        of = found.slice(first, len(group.runs))
        first += len(group.runs)
        settings = {key: rows.cell(value) for key, value in group.case.settings.items()}
        line: dict[str, Any] = {"case": group.case.label, **settings, "seeds": of.height}
        for column in measured:
            line |= _over_seeds(group, column, of[column])
        lines.append(line)
    # Columns without values would have a type of their own, which other programs may not read.
    return pl.DataFrame(lines, infer_schema_length=None).with_columns(
        selectors.by_dtype(pl.Null).cast(pl.Float64)
    )


def _over_seeds(group: Repeated, column: str, values: pl.Series) -> dict[str, Any]:
    if values.dtype == pl.String:
        return {column: ", ".join(_distinct(values.drop_nulls())) or None}
    spread = None if values.null_count() else _spread(group, values.to_list())
    return {
        column: spread and spread.mean,
        f"{column} ±": spread and spread.half,
        f"{column} low": spread and spread.low,
        f"{column} high": spread and spread.high,
    }


def drawn(results: Sequence[Record]) -> tuple[pl.DataFrame, list[str], bool]:
    """The table to draw, the keys that were varied, and whether the rows are means over seeds.

    Runs that differ in nothing but their seed are one row, unless nothing else was varied.
    """
    groups = repeated(results)
    others = rows.varied([group.case for group in groups])
    if others:
        return table(groups), others, True
    return rows.table(results), rows.varied(results), False
