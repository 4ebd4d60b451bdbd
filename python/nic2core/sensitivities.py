"""Which values of a scenario its results depend on: each is changed by itself, down and up."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core import api, sources
from nic2core._core import PEAK_RESOLUTION_PERCENT, UserError
from nic2core.describe.rates import achieved
from nic2core.describe.seeds import SEED
from nic2core.describe.spread import of_two_runs
from nic2core.effects import Effect, Effects, Shift
from nic2core.engine import Stopped, said_without_place
from nic2core.explain.help import GAIN_TOLD
from nic2core.explain.limit import CARRIED
from nic2core.files import write_parquet
from nic2core.listing import SENSITIVITY_FILE
from nic2core.scenario.numbers import near, numbers
from nic2core.sweeps import NotSaved, run_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plotly.graph_objects import Figure

    from nic2core.progress import Progress
    from nic2core.result import Result
    from nic2core.sweeps import Sweep

OTHER_SEEDS = 4
"""Runs with other seeds, from which it is known what chance does."""

DROPS_TOLD = 0.001
"""Difference between two shares of dropped packets that is visible."""

MACHINE = ("machine",)
"""The keys whose numbers are changed if none are named."""


@dataclass(frozen=True, repr=False)
class Sensitivity(Effects):
    """The effects, to be drawn and kept."""

    base: Result
    runs: Sweep

    def save(self, directory: str | Path) -> Path:
        """Write every run to its own directory under `directory`, and the table."""
        directory = self.runs.save(directory)
        self.save_table(directory)
        return directory

    def save_table(self, directory: Path) -> None:
        """Write the table beside the runs of a directory."""
        write_parquet(directory / SENSITIVITY_FILE, self.table)

    def report(self, path: str | Path) -> Path:
        """Write the figure as a page of its own, with warnings of the base."""
        from nic2core.report import write_sensitivity

        return write_sensitivity(self, Path(path))

    def plot(self) -> Figure:
        """Bars of every key that does more than chance; if none does, of those that do less."""
        from nic2core.draw.tornado import tornado

        return tornado(self)


def sensitivity(
    source: sources.Source,
    keys: str | Sequence[str] = MACHINE,
    *,
    by: float = 0.2,
    jobs: int = 1,
    overrides: Mapping[str, Any] | None = None,
    peak: bool = False,
    progress: Progress | None = None,
    out: str | Path | None = None,
) -> Sensitivity:
    """Find which values of a scenario its throughput and drops depend on.

    For a run that carries its load, its p99 and drops.
    Every number at or below `keys` (`"machine.nic"`, or a single key) is made lower and higher by
    the share `by`, one at a time, and the scenario is run, or with `peak` its peak searched, `jobs`
    at a time. Whole numbers are changed by at least 1. What cannot be changed by that share is
    halved and doubled, and is in `refused` if that cannot be either. Four runs with other seeds
    tell what is chance.

    With `out`, runs are kept there as those of `sweep`; `save` adds the table. Ctrl-C returns what
    is finished, or raises `Stopped` if the scenario as it is and another seed of it are not.
    """
    keys = [keys] if isinstance(keys, str) else keys
    if not keys:
        raise UserError("keys = []: expected one or more tables or keys, such as machine.nic.")
    if not isinstance(by, Real) or not 0 < by < 1:
        raise UserError(
            f"by = {by!r} is no share to change values by; expected 0 to 1, such as 0.2."
        )
    sources.keep_source(source, out)
    plan = _plan(source, keys, by, sources.keyed("overrides", overrides, "4"), peak=peak)
    api.warn_of_keys_without_effect([plan.asked[plan.base]], peak=peak)
    runs = run_all(
        list(plan.asked.values()),
        list(plan.asked),
        jobs=jobs,
        peak=peak,
        progress=progress,
        skip_refused=True,
        out=None if out is None else Path(out),
        check=_base_does_work,
    )
    found = _found(plan, by, runs, peak=peak)
    api.warn_of_doubts([found.base])
    if runs.not_saved is not None:
        warnings.warn(f"Not all runs are saved: {runs.not_saved}", NotSaved, stacklevel=2)
    return found


def _base_does_work(number: int, run: Result) -> None:
    """Refuse a base, the first point, with which nothing can be compared, as soon as it has run."""
    if number == 0 and achieved([run])[0][0] <= 0:
        raise UserError("The scenario does no work as it is, so nothing can be compared with it.")


@dataclass(frozen=True)
class _Other:
    """A run with another value of a key."""

    name: str
    value: str


@dataclass(frozen=True)
class _Plan:
    """What is run, by name: the scenario as it is, with other seeds, and with other values."""

    asked: dict[str, sources.Prepared]
    seeds: list[str] = field(default_factory=list)
    """Names of the runs with other seeds."""
    changed: dict[str, tuple[str, list[_Other | None]]] = field(default_factory=dict)
    """Of every key that is changed its value, and the runs with a lower and a higher one."""
    without_effect: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """Name of the run of the scenario as it is."""
        return next(iter(self.asked))


def _plan(
    source: sources.Source, keys: Sequence[str], by: float, given: Mapping[str, Any], *, peak: bool
) -> _Plan:
    base = sources.prepare(source, given, peak=peak)
    scenario = base.scenario
    plan = _Plan({base.name or "base": base})
    for n in range(1, OTHER_SEEDS + 1):
        seed = {SEED: (scenario["run"]["seed"] + n) % 2**64}
        plan.seeds.append(f"{SEED} = {seed[SEED]}")
        plan.asked[plan.seeds[-1]] = sources.prepare(source, {**given, **seed}, peak=peak)
    for key, value in numbers(scenario, keys):
        runs: list[_Other | None] = [None, None]
        why = f"no other value is near {value}"
        for side, others in enumerate(near(value, by)):
            for other in others:
                try:
                    changed = sources.prepare(source, {**given, key: other}, peak=peak)
                except UserError as error:
                    why = said_without_place(error)
                    continue
                if key in changed.without_effect:
                    plan.without_effect[key] = changed.without_effect[key]
                else:
                    run = _Other(f"{key} = {other}", str(other))
                    plan.asked[run.name] = changed
                    runs[side] = run
                break
        if any(runs):
            plan.changed[key] = (str(value), runs)
        elif key not in plan.without_effect:
            plan.refused[key] = why
    if not plan.changed:
        reasons = [f"{key}: {why}" for key, why in {**plan.without_effect, **plan.refused}.items()]
        text = f"{', '.join(keys)}: no number there can be changed."
        raise UserError("\n".join([text, *reasons]))
    return plan


def _found(plan: _Plan, by: float, runs: Sweep, *, peak: bool) -> Sensitivity:
    """Compare what was run with the scenario as it is."""
    for name in (plan.base, *plan.seeds):
        if name in runs.refused:
            raise runs.refused[name]
    names = list(plan.asked)
    done = {names[n]: run for n, run in zip(runs.points, runs.results, strict=True)}
    # Without another seed, nothing is known of chance.
    if plan.base not in done or not any(name in done for name in plan.seeds):
        raise Stopped
    base = done[plan.base]
    rates, unit = achieved(list(done.values()))
    rate = dict(zip(done, rates, strict=True))

    def change(name: str, value: str = "") -> Shift | None:
        if name not in done:
            return None
        tails = [_p99(run, base) for run in (base, done[name])]
        p99 = None if tails[0] is None or tails[1] is None else tails[1] / tails[0] - 1
        drops = None if peak else done[name].drop_share - base.drop_share
        return Shift(value, rate[name] / rate[plan.base] - 1, p99, drops)

    seeds = [found for name in plan.seeds if (found := change(name)) is not None]
    tails = [found.p99 for found in seeds if found.p99 is not None]
    least = PEAK_RESOLUTION_PERCENT / 100 if peak else GAIN_TOLD
    chance = Shift(
        "",
        _chance([found.rate for found in seeds], least),
        _chance(tails, GAIN_TOLD) if tails else None,
        None if peak else _chance([found.drops or 0.0 for found in seeds], DROPS_TOLD),
    )
    effects = []
    for key, (value, others) in plan.changed.items():
        changes = [None if run is None else change(run.name, run.value) for run in others]
        if any(changes):
            effects.append(Effect(key, value, *changes))
    of_p99 = chance.p99 is not None and not peak and base.limit in CARRIED
    # The engine refuses some values only when it runs; of some keys the other value has run.
    late = {
        key: runs.refused[run.name]
        for key, (_, others) in plan.changed.items()
        for run in others
        if run is not None and run.name in runs.refused
    }
    tried = {effect.key for effect in effects}
    refused = plan.refused | {
        key: said_without_place(why) for key, why in late.items() if key not in tried
    }
    of = Sensitivity(base, by, unit, of_p99, effects, chance, plan.without_effect, refused, runs)
    return replace(of, effects=sorted(effects, key=of.felt, reverse=True))


def _chance(shares: Sequence[float], least: float) -> float:
    """How far two runs can be apart; `shares` are those of other seeds against the base."""
    return max(least, of_two_runs([0.0, *shares]))


def _p99(run: Result, base: Result) -> float | None:
    """The 99th percentile of the latency, or of what closed-loop senders see, the round trip."""
    return run.p99_ns if base.data.transport is None else run.p99_rtt_ns
