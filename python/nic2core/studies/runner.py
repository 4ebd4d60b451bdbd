"""Simulates the points of a plan on several cores; the results do not depend on how many."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nic2core.engine import LOOK_S
from nic2core.studies.store import Finished, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.engine import Engine
    from nic2core.studies.point import Point


class Progress(Protocol):
    """Follows the progress of a plan."""

    def begin(self, total: int) -> None:
        """Start, with this many points in the plan."""

    def done(self, point: Point, seconds: float, *, cached: bool) -> None:
        """Note that one more point is finished."""


class Interrupted(Exception):
    """The user stopped the plan; finished points are kept."""

    def __init__(self, finished: int, total: int) -> None:
        """`finished` of `total` points are on disk."""
        super().__init__(f"stopped with {finished} of {total} points finished and kept")


class WorkerLost(Exception):
    """A process ended before its point was finished; finished points are kept."""

    def __init__(self, finished: int, total: int) -> None:
        """`finished` of `total` points are on disk."""
        super().__init__(
            "a process ended before its point was finished, as one does that is killed where "
            f"memory is short; {finished} of {total} points are finished and kept"
        )


@dataclass
class Outcome:
    """The results of a plan."""

    finished: dict[Point, Finished] = field(default_factory=dict)
    failed: dict[Point, str] = field(default_factory=dict)
    cached: int = 0
    """How many of the finished points were already on disk."""


@dataclass
class Runner:
    """Simulates points in worker processes and stores the finished ones."""

    engine: Engine
    store: Store
    jobs: int
    progress: Progress

    def run(self, points: Sequence[Point]) -> Outcome:
        """Simulate every point of a plan (`plan` puts peaks before the runs that need them)."""
        outcome = Outcome()
        self.progress.begin(len(points))
        # Spawn rather than fork: the parent has threads, which forking does not handle safely.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=spawn, initializer=_end_early) as pool:
            try:
                self._run(list(points), outcome, pool)
            except BaseException as error:
                # Otherwise the pool would wait for the running points to finish.
                for worker in multiprocessing.active_children():
                    worker.terminate()
                # With the pool's thread: one that ends while Python exits can fail in Python's
                # own code.
                pool.shutdown(cancel_futures=True)
                done = len(outcome.finished), len(points)
                if isinstance(error, KeyboardInterrupt):
                    raise Interrupted(*done) from None
                if isinstance(error, BrokenProcessPool):
                    raise WorkerLost(*done) from None
                raise
        return outcome

    def _run(self, waiting: list[Point], outcome: Outcome, pool: ProcessPoolExecutor) -> None:
        """Hand out points as they become ready, one per process, until all are done or failed."""
        running: dict[Future[Finished], tuple[Point, str]] = {}
        while waiting or running:
            for point in list(waiting):
                if len(running) >= self.jobs:
                    break
                source = point.rate_of
                if source is not None and source in outcome.failed:
                    waiting.remove(point)
                    outcome.failed[point] = f'"{source.name}", whose rate it needs, failed'
                elif source is None or source in outcome.finished:
                    waiting.remove(point)
                    self._start(point, outcome, pool, running)
            if waiting and not running:
                raise AssertionError(f'"{waiting[0].name}" needs a point that is not in the plan')
            # Poll, as `sweep` does: a wait without timeout may miss Ctrl-C.
            for future in wait(running, LOOK_S, FIRST_COMPLETED).done:
                point, key = running.pop(future)
                try:
                    finished = future.result()
                except self.engine.failures as error:
                    outcome.failed[point] = str(error)
                    continue
                except BrokenProcessPool:
                    # Ctrl-C ends the workers and interrupts this process, maybe in that order.
                    time.sleep(1)
                    raise
                self.store.put(key, point.name, finished)
                outcome.finished[point] = finished
                self.progress.done(point, finished.seconds, cached=False)

    def _start(
        self,
        point: Point,
        outcome: Outcome,
        pool: ProcessPoolExecutor,
        running: dict[Future[Finished], tuple[Point, str]],
    ) -> None:
        """Load a point from disk, or hand it to a process."""
        source = point.rate_of
        peak = None if source is None else outcome.finished[source].result["peak_mpps"]
        scenario = point.ready_scenario(peak)
        key = self.store.key(point.kind, scenario)
        kept = self.store.get(key)
        if kept is None:
            running[pool.submit(_simulate, self.engine, point.kind, scenario)] = (point, key)
            return
        outcome.finished[point] = kept
        outcome.cached += 1
        self.progress.done(point, kept.seconds, cached=True)


def _end_early() -> None:
    """Make a worker exit at once on Ctrl-C, and when its parent exits.

    Python cannot interrupt the engine. Without its parent, nobody takes the worker's result or
    gives it another point.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _simulate(engine: Engine, kind: str, scenario: dict[str, Any]) -> Finished:
    begin = time.monotonic()
    result = engine.find_peak(scenario) if kind == "peak" else engine.run(scenario)
    return Finished(result, time.monotonic() - begin)
