"""Simulates the points of a plan on several cores; what it returns does not depend on how many."""

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
    """Follows a plan."""

    def begin(self, total: int) -> None:
        """So many points are wanted."""

    def done(self, point: Point, seconds: float, *, cached: bool) -> None:
        """One more is there."""


class Interrupted(Exception):
    """The user stopped the plan; what was finished is kept."""

    def __init__(self, finished: int, total: int) -> None:
        """So many of so many points are on disk."""
        super().__init__(f"stopped with {finished} of {total} points finished and kept")


class WorkerLost(Exception):
    """A process ended before its point was finished; what was finished is kept."""

    def __init__(self, finished: int, total: int) -> None:
        """So many of so many points are on disk."""
        super().__init__(
            "a process ended before its point was finished, as one does that is killed where "
            f"memory is short; {finished} of {total} points are finished and kept"
        )


@dataclass
class Outcome:
    """What a plan gave."""

    finished: dict[Point, Finished] = field(default_factory=dict)
    failed: dict[Point, str] = field(default_factory=dict)
    cached: int = 0
    """How many of the finished points were on disk already."""


@dataclass
class Runner:
    """Simulates points, each in a process of its own, and keeps what is finished."""

    engine: Engine
    store: Store
    jobs: int
    progress: Progress

    def run(self, points: Sequence[Point]) -> Outcome:
        """Simulate every point of a plan (`plan` puts peaks before the runs that need them)."""
        outcome = Outcome()
        self.progress.begin(len(points))
        # Spawned, not forked: the parent has threads, the child needs none of them.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.jobs, mp_context=spawn, initializer=_end_early) as pool:
            try:
                self._run(list(points), outcome, pool)
            except BaseException as error:
                # Else the pool waits until the points that run are finished.
                for worker in multiprocessing.active_children():
                    worker.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
                done = len(outcome.finished), len(points)
                if isinstance(error, KeyboardInterrupt):
                    raise Interrupted(*done) from None
                if isinstance(error, BrokenProcessPool):
                    raise WorkerLost(*done) from None
                raise
        return outcome

    def _run(self, waiting: list[Point], outcome: Outcome, pool: ProcessPoolExecutor) -> None:
        """Hand out points as they become ready, one to each process, until all are settled."""
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
            # In turns, as `sweep` has it: a wait without end may miss Ctrl-C.
            for future in wait(running, LOOK_S, FIRST_COMPLETED).done:
                point, key = running.pop(future)
                try:
                    finished = future.result()
                except self.engine.failures as error:
                    outcome.failed[point] = str(error)
                    continue
                except BrokenProcessPool:
                    # Ctrl-C ends the workers and interrupts this process: their end may come first.
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
        """Take a point from the disk or hand it to a process."""
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
    """A worker ends at once on Ctrl-C, as Python cannot interrupt the engine, and with its parent.

    Nobody would take what it finds, and what asks for its next point would never come.
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
