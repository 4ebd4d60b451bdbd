"""Many runs of one scenario with some keys varied: in parallel, in order, stoppable."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import Any

from nic2core import api, engine, sources
from nic2core._core import ModelError, UserError
from nic2core.comparison import Comparison
from nic2core.describe.labels import name_cases
from nic2core.engine import LOOK_S, Stopped, Watch, said
from nic2core.files import write_parquet
from nic2core.listing import OVER_SEEDS_FILE, Listing, forget_listing, listed_runs, listing
from nic2core.progress import Progress, of_sweep
from nic2core.result import Result
from nic2core.scenario.capture import capture_digest
from nic2core.scenario.toml_text import not_null, plain, toml_value

Settings = dict[str, Any]
Refusal = UserError | ModelError
"""Why a point could not be simulated."""


@dataclass(frozen=True, repr=False)
class Sweep(Comparison):
    """The finished results of a sweep, in the order of the product of its values."""

    planned: int
    """Points that were requested; more than `results` if some were refused or it was stopped."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """With `skip_refused`: points that cannot be simulated, by name, and why."""
    stopped: bool = False
    """Whether Ctrl-C or `Progress.stop` ended it before every point was tried."""
    reused: int = 0
    """How many of the results an earlier sweep had saved in `out`."""
    engine: str = ""
    """The engine that simulated all of them; empty if that is not known."""
    points: Sequence[int] = ()
    """The number of each result's point among those planned, from 0; if empty, the first ones."""
    not_saved: OSError | ValueError | None = None
    """Why not everything could be saved in `out`, if that is so."""
    gaps: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Say what is missing, for a comparison with others."""
        object.__setattr__(self, "gaps", _listing(self).gaps("A sweep"))

    @property
    def complete(self) -> bool:
        """Whether every point ran to its end."""
        return len(self.results) == self.planned

    def save(self, directory: str | Path) -> Path:
        """Write each point to its own directory under `directory`, and the list of them.

        If some runs differ in nothing but `run.seed`, also `over_seeds` as over_seeds.parquet. Runs
        of an earlier sweep stay there unless they have the same number, but are not listed.
        """
        directory = Path(directory)
        _replace(self, directory)
        _save(self, directory, _names(self))
        _save_means(self, directory)
        return directory

    @classmethod
    def load(cls, directory: str | Path) -> Sweep:
        """Read the runs that `save`, or `nic2core compare ... --out DIR`, listed in a directory.

        The reasons in `refused` are then all `UserError`, with the text that was shown.
        """
        directory = Path(directory)
        listed = listing(directory)
        if listed is None:
            raise UserError(
                f"{directory} holds no sweep; expected a directory that `nic2core compare ... "
                "--out DIR` or Sweep.save wrote."
            )
        return cls(
            [Result.load(directory / run) for run in listed.runs],
            listed.planned,
            {name: UserError(why) for name, why in listed.refused.items()},
            listed.stopped,
            engine=listed.engine,
            points=[int(run) for run in listed.runs],
        )

    def _head(self) -> str:
        return f"Sweep of {len(self)} runs, {self.planned} planned"


def _names(done: Sweep) -> dict[int, str]:
    """The names of the results' directories, by the numbers of their points."""
    digits = max(2, len(str(done.planned - 1)))
    numbers = done.points or range(len(done))
    return {number: f"{number:0{digits}}" for number in numbers}


def _listing(done: Sweep) -> Listing:
    return Listing(
        list(_names(done).values()),
        done.planned,
        {name: said(why) for name, why in done.refused.items()},
        done.stopped,
        done.engine,
    )


def _replace(done: Sweep, directory: Path) -> None:
    """Take away the list of another comparison, whose runs are about to be replaced.

    If the disk fills up and only some of them are, the directory is no comparison.
    """
    by_name = dict(zip(_names(done).values(), done.results, strict=True))
    try:
        of_this = all(by_name[run.name].is_saved_in(run) for run in listed_runs(directory))
    except (OSError, ValueError, KeyError):
        of_this = False
    if not of_this:
        forget_listing(directory)


def _save(done: Sweep, directory: Path, points: Container[int]) -> None:
    """Write the results of these points, and the list that makes the directory a comparison."""
    for (number, name), result in zip(_names(done).items(), done.results, strict=True):
        if number in points:
            result.save(directory / name)
    _listing(done).write(directory)


def _save_means(done: Sweep, directory: Path) -> None:
    """Write `over_seeds`, or remove that of an earlier comparison."""
    means = done.over_seeds
    if means.is_empty():
        (directory / OVER_SEEDS_FILE).unlink(missing_ok=True)
    else:
        write_parquet(directory / OVER_SEEDS_FILE, means)


def cases(vary: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Every combination of the values, the last key varying fastest."""
    return [dict(zip(vary, point, strict=True)) for point in itertools.product(*vary.values())]


def _values(vary: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """The values of every key, as lists of JSON values."""
    found: dict[str, list[Any]] = {}
    for key, given in sources.keyed("vary", vary, "[2, 4]").items():
        values: list[Any] = []
        # Text and tables can be iterated, but their characters and keys are no values.
        if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
            values = [not_null(value) for value in plain({key: list(given)})[key]]
        if not values:
            raise UserError(
                f"vary: {key} = {given!r} is not a list of values; expected one or more, such as "
                "[2, 4]."
            )
        # Compared as a scenario would read them: 2 and "2" are the same.
        written = [toml_value(value) for value in values]
        twice = [value for at, value in enumerate(written) if value in written[:at]]
        if twice:
            raise UserError(f"vary: {key} has {twice[0]} twice; give each value once.")
        found[key] = values
    if not found:
        raise UserError(
            'vary is empty; expected keys and their values, such as {"placement.io_ways": [2, 4]}.'
        )
    return found


def sweep(
    source: sources.Source,
    vary: Mapping[str, Iterable[Any]],
    *,
    jobs: int = 1,
    overrides: Mapping[str, Any] | None = None,
    peak: bool = False,
    progress: Progress | None = None,
    skip_refused: bool = False,
    out: str | Path | None = None,
) -> Sweep:
    """Run every combination of `vary`, e.g. `{"placement.io_ways": [2, 4, 6]}`, `jobs` at a time.

    Values may be any list, array or range; `overrides` apply to all runs, as in `run`.

    The results are in the order of the values and bit-identical for any number of jobs. With
    `peak`, each point is a search for its highest rate. Ctrl-C stops the sweep and returns the
    points that are finished. Without a `progress` of your own, progress bars are shown on a
    terminal. A scenario that is wrong ends the sweep before anything runs. A point that the engine
    refuses when it runs ends it too; with `skip_refused` it is left out.

    With `out`, every point is saved in that directory as soon as it has finished, so that it is
    not lost whatever becomes of the others; `Sweep.load` reads what is there. Points that the same
    engine has saved there before are not run again. What cannot be saved is warned of (`NotSaved`);
    `Sweep.save` of what is returned can save it elsewhere.
    """
    sources.keep_source(source, out)
    values = _values(vary)
    fixed = sources.keyed("overrides", overrides, "4")
    both = sorted(values.keys() & fixed.keys())
    if both:
        raise UserError(
            f"{', '.join(both)}: a key cannot be varied and be set for all runs; give it once."
        )
    settings = cases(values)
    # All points are checked before the first one runs, so a mistake in the last shows at once.
    prepared = [sources.prepare(source, _tables_first({**fixed, **s}), peak=peak) for s in settings]
    api.warn_of_keys_without_effect(prepared, peak=peak)
    names = name_cases([p.scenario for p in prepared], settings)
    done = run_all(
        prepared,
        names,
        jobs=jobs,
        peak=peak,
        progress=progress,
        skip_refused=skip_refused,
        out=None if out is None else Path(out),
    )
    # Ctrl-C ends the sweep, which has ended: what has run is not lost for it.
    with suppress(KeyboardInterrupt):
        api.warn_of_doubts(done.results)
    if done.not_saved is not None:
        warnings.warn(f"Not all runs are saved: {done.not_saved}", NotSaved, stacklevel=2)
    return done


class NotSaved(UserWarning):
    """Results of a sweep could not be saved; what is returned has them."""


def _tables_first(keys: Settings) -> Settings:
    """The same keys, a table that contains others of them before those."""
    tables = [key for key in keys if any(other.startswith(f"{key}.") for other in keys)]
    # A table in another one has a longer name.
    tables.sort(key=len)
    return {**{key: keys[key] for key in tables}, **keys}


def run_all(
    prepared: Sequence[sources.Prepared],
    names: Sequence[str],
    *,
    jobs: int = 1,
    peak: bool = False,
    progress: Progress | None = None,
    skip_refused: bool = False,
    out: Path | None = None,
    check: Callable[[int, Result], None] = lambda _number, _result: None,
) -> Sweep:
    """Run what `prepare` returned, `jobs` at a time; see `sweep`.

    `check` is called with the number of each point and its result, before that is kept; an error
    it raises ends all.
    """
    if not isinstance(jobs, Integral) or jobs < 1:
        raise UserError(f"jobs = {jobs!r} runs nothing; expected 1 or more.")
    simulate = api.peak_prepared if peak else api.run_prepared
    # Not the caller's event, which may stop another sweep later.
    end = Event()
    before = {} if out is None else _saved(out, prepared, names, peak=peak)
    for number, result in before.items():
        check(number, result)
    ended: dict[int, Result | Refusal] = {**before}
    kept = _Kept(out, names)

    with of_sweep(progress) as follow, ThreadPoolExecutor(max_workers=jobs) as pool:
        follow.planned(list(names))

        def one(point: int) -> Result | Refusal:
            def told(share: float) -> None:
                if follow.stop.is_set():
                    raise Stopped
                follow.told(point, share)

            watch = Watch(told, end)
            watch.tell(0.0)
            found = _simulated(
                prepared[point], names[point], watch, simulate, skip_refused=skip_refused
            )
            if isinstance(found, Refusal):
                follow.told(point, 1.0)
            return found

        points: dict[Future[Result | Refusal], int] = {}
        try:
            for number in before:
                follow.told(number, 1.0)
            kept.keep(ended, before)
            left = (number for number in range(len(prepared)) if number not in before)
            points.update((pool.submit(one, number), number) for number in left)
            # Poll: under Polars' Ctrl-C handler a wait without timeout resumes instead of waking.
            running = set(points)
            while running:
                just, running = wait(running, LOOK_S, FIRST_COMPLETED)
                new = _results(just, points)
                for number, found in new.items():
                    if not isinstance(found, Refusal):
                        check(number, found)
                ended |= new
                kept.keep(ended, new)
                if any(point.exception() for point in just):
                    break
        except KeyboardInterrupt:
            pass
        finally:
            # Whatever ended the wait, stop all points; if all have finished this does nothing.
            end.set()
            _join(points)
    for point in points:
        if point.exception() and not _stopped(point):
            point.result()
    ended |= _results(points, points)
    done = replace(_sweep(names, ended), reused=len(before))
    return replace(done, not_saved=kept.finish(done))


@dataclass(frozen=True)
class _Kept:
    """The points of a sweep that are saved in its directory, if it has one, and listed there."""

    out: Path | None
    names: Sequence[str]
    points: set[int] = field(default_factory=set)

    def keep(self, ended: Mapping[int, Result | Refusal], points: Collection[int]) -> None:
        """Save points that have ended, and list them with the others."""
        # What cannot be saved is tried once more at the end.
        with suppress(OSError, ValueError):
            if self.out is not None and points:
                kept = self.points.union(points)
                done = _sweep(
                    self.names,
                    {n: of for n, of in ended.items() if n in kept or isinstance(of, Refusal)},
                )
                # Points that are refused take no place of what is there.
                if not len(done):
                    return
                if not self.points:
                    _replace(done, self.out)
                _save(done, self.out, points)
                self.points.update(points)

    def finish(self, done: Sweep) -> OSError | ValueError | None:
        """Save what could not be saved before, the final list and the means; or why that fails."""
        if self.out is None or not len(done):
            return None
        try:
            if not self.points:
                _replace(done, self.out)
            _save(done, self.out, set(done.points) - self.points)
            _save_means(done, self.out)
        except (OSError, ValueError) as error:
            return error
        return None


def _simulated(
    prepared: sources.Prepared,
    name: str,
    watch: Watch,
    simulate: Callable[[sources.Prepared, str, Watch], Result],
    *,
    skip_refused: bool,
) -> Result | Refusal:
    """The result of a point; with `skip_refused`, why there is none."""
    if not skip_refused:
        return simulate(prepared, name, watch)
    try:
        with engine.panics_as_bugs():
            return simulate(prepared, name, watch)
    except (UserError, ModelError) as error:
        return error


def _saved(
    out: Path, prepared: Sequence[sources.Prepared], names: Sequence[str], *, peak: bool
) -> dict[int, Result]:
    """The points that this engine has saved in a directory before, by their numbers now."""
    unreadable = (OSError, ValueError, KeyError, TypeError)
    done: list[Result] = []
    # What cannot be read is simulated.
    with suppress(*unreadable):
        listed = listing(out)
        if listed is not None and listed.engine == engine.version():
            for directory in listed.runs:
                with suppress(*unreadable):
                    done.append(Result.load(out / directory))
    found: dict[int, Result] = {}
    for number, (asked, name) in enumerate(zip(prepared, names, strict=True)):
        scenario = asked.scenario
        for run in done:
            if (
                run.scenario == scenario
                and (run.peak is not None) == peak
                and run.capture == capture_digest(scenario)
            ):
                found[number] = replace(
                    run, label=name, settings=asked.settings, scenario_name=asked.name
                )
                break
    return found


def _results(
    ended: Iterable[Future[Result | Refusal]], points: Mapping[Future[Result | Refusal], int]
) -> dict[int, Result | Refusal]:
    """What has become of the points that have ended and have not failed, by number."""
    return {points[point]: point.result() for point in ended if point.exception() is None}


def _sweep(names: Sequence[str], ended: Mapping[int, Result | Refusal]) -> Sweep:
    """The sweep of these points, of which those that have ended were simulated now."""
    of = sorted(ended.items())
    results = {n: found for n, found in of if not isinstance(found, Refusal)}
    return Sweep(
        list(results.values()),
        len(names),
        {names[n]: found for n, found in of if isinstance(found, Refusal)},
        stopped=len(of) < len(names),
        points=list(results),
        engine=engine.version(),
    )


def _join(points: Iterable[Future[Result | Refusal]]) -> None:
    """Wait for stopped points to finish their current slice, ignoring further Ctrl-C."""
    running = points
    while running:
        with suppress(KeyboardInterrupt):
            running = wait(running, LOOK_S).not_done


def _stopped(point: Future[Result | Refusal]) -> bool:
    return isinstance(point.exception(), Stopped)
