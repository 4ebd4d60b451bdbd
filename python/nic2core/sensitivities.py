"""Which values of a scenario its results hang on: each is changed by itself, down and up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nic2core import api
from nic2core._core import UserError, __version__
from nic2core.describe.differences import achieved
from nic2core.describe.seeds import SEED
from nic2core.describe.spread import of_two_runs
from nic2core.draw.standalone import write_page
from nic2core.explain.help import TOLD
from nic2core.explain.limit import Limit
from nic2core.files import write_parquet
from nic2core.rerun import why_refused
from nic2core.run_record import SENSITIVITY_FILE
from nic2core.scenario.numbers import around, numbers
from nic2core.sweeps import run_all, tables_first
from nic2core.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plotly.graph_objects import Figure

    from nic2core.progress import Progress
    from nic2core.result import Result
    from nic2core.sweeps import Sweep

OTHER_SEEDS = 4
"""Runs with other seeds, from which it is known what chance does."""

MACHINE = ("machine",)
"""The keys whose numbers are changed if none are named."""


@dataclass(frozen=True)
class Change:
    """What another value of a key changes; shares, 0.1 for a tenth more."""

    value: str
    """The other value, as a scenario has it."""
    rate: float
    """Throughput over that of the base - 1."""
    p99: float | None
    """The same of the p99 latency; `None` without packets."""


@dataclass(frozen=True)
class Effect:
    """What a key does, lower and higher; `None` where that could not be run."""

    key: str
    value: str
    lower: Change | None
    higher: Change | None


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """How far each value moves throughput, or the p99 latency of a run that carries its load."""

    base: Result
    by: float
    """By what share values were made lower and higher; whole numbers by at least one."""
    unit: str
    """Of the throughput that is compared."""
    of_p99: bool
    """Whether effects are told by the p99 latency, because nothing limits throughput."""
    effects: list[Effect]
    """Every key that was changed, the largest effect first."""
    chance: Change
    """How far two runs can be apart that differ in their seed: the half of the 95 % interval of
    their difference, by Student's t of the base and four other seeds."""
    without_effect: dict[str, str]
    """Keys that this scenario does not use, and why; they were not changed."""
    refused: dict[str, str]
    """Values that a scenario cannot have, as `KEY = VALUE`, and why."""
    runs: Sweep
    """All runs, the base first."""

    def felt(self, effect: Effect) -> float:
        """The larger of the two changes of what effects are told by, 0 if both may be chance."""
        changes = [change for change in (effect.lower, effect.higher) if change is not None]
        of = [change.p99 if self.of_p99 else change.rate for change in changes]
        most = max((abs(share) for share in of if share is not None), default=0.0)
        chance = self.chance.p99 if self.of_p99 else self.chance.rate
        return most if chance is None or most > chance else 0.0

    @property
    def what(self) -> str:
        """What effects are told by."""
        return "p99 latency" if self.of_p99 else "throughput"

    @property
    def telling(self) -> list[Effect]:
        """The keys whose effect is more than chance, the largest first."""
        return [effect for effect in self.effects if self.felt(effect) > 0]

    @property
    def silent(self) -> list[str]:
        """The keys that do no more than chance does."""
        return [effect.key for effect in self.effects if self.felt(effect) == 0]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        found = self.telling
        tried = f"{count(len(self.effects), 'value')} made {100 * self.by:.0f} % lower and higher"
        if not found:
            return f"Of {tried}, none changes {self.what} more than another seed can."
        return (
            f"Of {tried}, {len(found)} can change {self.what} more than another seed, most of all "
            f"{found[0].key}."
        )

    @property
    def table(self) -> pl.DataFrame:
        """One row per key, the largest effect first.

        `rate_lower` is the throughput with the value `lower` over that of the base - 1, `p99_lower`
        the same of the 99th percentile of the latency; null if there is none, or if the scenario
        cannot have the value. `by_chance` says that another seed can do as much.
        """
        rows = []
        for effect in self.effects:
            row: dict[str, Any] = {"key": effect.key, "value": effect.value}
            for side, change in (("lower", effect.lower), ("higher", effect.higher)):
                row[side] = None if change is None else change.value
                row[f"rate_{side}"] = None if change is None else change.rate
                row[f"p99_{side}"] = None if change is None else change.p99
            rows.append({**row, "by_chance": self.felt(effect) == 0})
        kinds: dict[str, type[pl.DataType]] = {"key": pl.String, "value": pl.String}
        for side in ("lower", "higher"):
            kinds |= {side: pl.String, f"rate_{side}": pl.Float64, f"p99_{side}": pl.Float64}
        return pl.DataFrame(rows, schema=kinds | {"by_chance": pl.Boolean})

    def __repr__(self) -> str:
        """The sentence and the table, at a Python prompt."""
        return f"{self.sentence}\n{self.table}"

    def to_json(self) -> dict[str, Any]:
        """Everything but the runs, as plain data."""
        return {
            "nic2core": __version__,
            "scenario": self.base.label,
            "by": self.by,
            "unit": self.unit,
            "chance": {"rate": self.chance.rate, "p99": self.chance.p99},
            "effects": self.table.to_dicts(),
            "without_effect": self.without_effect,
            "refused": self.refused,
        }

    def save(self, directory: str | Path) -> Path:
        """Write every run to its own directory under `directory`, and the table."""
        directory = self.runs.save(directory)
        write_parquet(directory / SENSITIVITY_FILE, self.table)
        return directory

    def report(self, path: str | Path) -> Path:
        """Write the figure as a page of its own."""
        figures = [("", [self.plot()], 1)] if self.telling else []
        title = f"{self.base.label}: what {self.what} hangs on · nic2core"
        text = f"{self.sentence} The grey bands are what another seed can do."
        return write_page(title, figures, Path(path), text)

    def plot(self) -> Figure:
        """Bars of every key that does more than chance."""
        from nic2core.draw.tornado import tornado

        return tornado(self)


def sensitivity(
    source: api.Source,
    keys: Sequence[str] = MACHINE,
    *,
    by: float = 0.2,
    jobs: int = 1,
    overrides: Mapping[str, Any] | None = None,
    peak: bool = False,
    progress: Progress | None = None,
    out: str | Path | None = None,
) -> Sensitivity:
    """Find which values of a scenario its throughput hangs on, or its p99 if it carries its load.

    Every number below `keys` (`"machine.nic"`, or a single key) is made lower and higher by the
    share `by`, one at a time, and the scenario is run, or with `peak` its peak searched, `jobs` at
    a time. Whole numbers change by at least 1. Values that a scenario cannot have are in `refused`.
    Four runs with other seeds tell what is chance.

    With `out`, runs are kept there as those of `sweep`. Ctrl-C stops it and returns what is
    finished, or is passed on before the scenario as it is and one more seed have run.
    """
    if not 0 < by < 1:
        raise UserError(f"by = {by} is no share to change values by; expected 0 to 1, such as 0.2.")
    plan = _plan(source, keys, by, api.keyed("overrides", overrides or {}, "4"))
    runs = run_all(
        list(plan.asked.values()),
        list(plan.asked),
        jobs=jobs,
        peak=peak,
        progress=progress,
        skip_refused=True,
        out=None if out is None else Path(out),
    )
    found = _found(plan, by, runs)
    api.warn_of_doubts([found.base])
    return found


@dataclass(frozen=True)
class _Plan:
    """What is run, by name: the scenario as it is, with other seeds, and with other values."""

    asked: dict[str, api.Prepared]
    seeds: list[str]
    """Names of the runs with other seeds."""
    numbers: dict[str, int | float | str]
    """Every number that is to be changed, by key."""
    without_effect: dict[str, str]
    refused: dict[str, str]

    @property
    def base(self) -> str:
        """Name of the run of the scenario as it is."""
        return next(iter(self.asked))


def _plan(source: api.Source, keys: Sequence[str], by: float, given: Mapping[str, Any]) -> _Plan:
    base = api.prepare(source, given)
    scenario = base.scenario
    plan = _Plan({base.name or "base": base}, [], dict(numbers(scenario, keys)), {}, {})
    for n in range(1, OTHER_SEEDS + 1):
        seed = {SEED: (scenario["run"]["seed"] + n) % 2**64}
        plan.seeds.append(_name(SEED, seed[SEED]))
        plan.asked[plan.seeds[-1]] = api.prepare(source, {**given, **seed})
    for key, value in plan.numbers.items():
        for changed in around(value, by):
            name = _name(key, changed)
            try:
                one = api.prepare(source, tables_first({**given, key: changed}))
            except UserError as error:
                plan.refused[name] = why_refused(error)
                continue
            if key in one.without_effect:
                plan.without_effect[key] = one.without_effect[key]
            else:
                plan.asked[name] = one
    if len(plan.asked) == 1 + OTHER_SEEDS:
        raise UserError(
            f"{', '.join(keys)}: no number there can be changed; expected a table or a key of "
            "numbers that have an effect, such as machine.nic."
        )
    return plan


def _name(key: str, value: object) -> str:
    return f"{key} = {value}"


def _found(plan: _Plan, by: float, runs: Sweep) -> Sensitivity:
    """Compare what was run with the scenario as it is."""
    for name in (plan.base, *plan.seeds):
        if name in runs.refused:
            raise runs.refused[name]
    names = list(plan.asked)
    done = {names[n]: run for n, run in zip(runs.points, runs.results, strict=True)}
    # Without another seed, nothing is known of chance.
    if plan.base not in done or plan.seeds[0] not in done:
        raise KeyboardInterrupt
    base = done[plan.base]
    rates, unit = achieved(list(done.values()))
    rate = dict(zip(done, rates, strict=True))
    if rate[plan.base] <= 0:
        raise UserError("The scenario does no work as it is, so nothing can be compared with it.")

    def change(name: str, value: str) -> Change | None:
        if name not in done:
            return None
        tails = _p99(base), _p99(done[name])
        p99 = None if tails[0] is None or tails[1] is None else tails[1] / tails[0] - 1
        return Change(value, rate[name] / rate[plan.base] - 1, p99)

    seeds = [found for name in plan.seeds if (found := change(name, "")) is not None]
    tails = [found.p99 for found in seeds if found.p99 is not None]
    chance = Change("", _chance([found.rate for found in seeds]), _chance(tails) if tails else None)
    effects = []
    for key, value in plan.numbers.items():
        lower, higher = (change(_name(key, v), str(v)) for v in around(value, by))
        if lower is not None or higher is not None:
            effects.append(Effect(key, str(value), lower, higher))
    of_p99 = chance.p99 is not None and base.limit in (Limit.LOAD, Limit.FULL)
    refused = plan.refused | {name: why_refused(why) for name, why in runs.refused.items()}
    of = Sensitivity(base, by, unit, of_p99, effects, chance, plan.without_effect, refused, runs)
    effects.sort(key=of.felt, reverse=True)
    return of


def _chance(shares: Sequence[float]) -> float:
    """How far two runs can be apart; `shares` are those of other seeds against the base."""
    return max(TOLD, of_two_runs([0.0, *shares]))


def _p99(run: Result) -> float | None:
    """The 99th percentile of what users see: of closed-loop senders the round trip."""
    return run.p99_rtt_ns or run.p99_ns
