"""Runs the points of a sweep, several at a time, until they have ended or Ctrl-C stops them."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from threading import Event
from typing import TYPE_CHECKING

from nic2core import api, engine, sources
from nic2core._core import ModelError, UserError
from nic2core.engine import LOOK_S, Stopped, Watch
from nic2core.progress import Progress, of_sweep
from nic2core.sweeps.kept import Kept, saved_before
from nic2core.sweeps.swept import Refusal, Sweep, of_ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nic2core.result import Result


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
    before = {} if out is None else saved_before(out, prepared, names, peak=peak)
    for number, result in before.items():
        check(number, result)
    ended: dict[int, Result | Refusal] = {**before}
    kept = Kept(out, names)

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
    done = replace(of_ended(names, ended), reused=len(before))
    return replace(done, not_saved=kept.finish(done))


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


def _results(
    ended: Iterable[Future[Result | Refusal]], points: Mapping[Future[Result | Refusal], int]
) -> dict[int, Result | Refusal]:
    """What has become of the points that have ended and have not failed, by number."""
    return {points[point]: point.result() for point in ended if point.exception() is None}


def _join(points: Iterable[Future[Result | Refusal]]) -> None:
    """Wait for stopped points to finish their current slice, ignoring further Ctrl-C."""
    running = points
    while running:
        with suppress(KeyboardInterrupt):
            running = wait(running, LOOK_S).not_done


def _stopped(point: Future[Result | Refusal]) -> bool:
    return isinstance(point.exception(), Stopped)
