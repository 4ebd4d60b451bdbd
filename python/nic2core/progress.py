"""Progress of a run or a sweep: to the caller's callback, else on stderr as bars or lines."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from nic2core.engine import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


LINE_S = 10.0
"""Seconds between two progress lines without a terminal; shorter runs print none."""


@dataclass
class Progress:
    """What a sweep reports while it runs, point by point."""

    planned: Callable[[list[str]], None] = lambda _names: None
    """Called once with the names of all points."""
    told: Callable[[int, float], None] = lambda _point, _share: None
    """Called with a point's number and the share of it that is done."""
    stop: Event = field(default_factory=Event)
    """Set it to stop; finished points are kept."""


def _bars() -> Bars:
    console = Console(stderr=True)
    return Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class _Lines:
    """Progress where bars cannot be drawn: in a pipe, or in a log."""

    def __init__(self) -> None:
        self._due = time.monotonic() + LINE_S
        # Each point of a sweep reports from its own thread.
        self._lock = Lock()

    def told(self, what: str, share: float) -> None:
        """Print the share of the whole that is done, if the next line is due."""
        with self._lock:
            if time.monotonic() < self._due:
                return
            self._due = time.monotonic() + LINE_S
        # A full disk or a closed pipe behind it is no reason to end a run.
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{what}: {100 * share:.0f} %\n")
            sys.stderr.flush()


@contextmanager
def of_run(watch: Watch | None, what: str) -> Iterator[Watch]:
    """The caller's `watch` of one run, or else a progress bar."""
    if watch is not None:
        yield watch
        return
    lines = _Lines()
    with _bars() as bars:
        task = bars.add_task(what, total=1.0)

        def told(share: float) -> None:
            bars.update(task, completed=share)
            if bars.disable:
                lines.told(what, share)

        yield Watch(told)


@contextmanager
def of_sweep(progress: Progress | None) -> Iterator[Progress]:
    """The caller's `progress` of a sweep, or else a bar for the whole and one for each run."""
    if progress is not None:
        yield progress
        return
    lines = _Lines()
    with _bars() as bars:
        tasks: list[TaskID] = []
        shares: list[float] = []
        whole = bars.add_task("all runs", total=1.0)

        def planned(names: list[str]) -> None:
            tasks.extend(bars.add_task(name, total=1.0, start=False) for name in names)
            shares.extend(0.0 for _ in names)

        def told(point: int, share: float) -> None:
            if shares[point] == 0.0:
                bars.start_task(tasks[point])
            shares[point] = share
            bars.update(tasks[point], completed=share)
            mean = sum(shares) / len(shares)
            bars.update(whole, completed=mean)
            if bars.disable:
                ended = sum(share >= 1.0 for share in shares)
                lines.told(f"{ended} of {len(shares)} runs are finished", mean)

        yield Progress(planned, told)
