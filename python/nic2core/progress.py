"""How far a run or a sweep is: told to who asks for it, else bars on stderr, if a terminal."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from nic2core.engine import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Progress:
    """What a sweep tells while it runs, point by point."""

    planned: Callable[[list[str]], None] = lambda _names: None
    """Called once with the name of every point."""
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


@contextmanager
def of_run(watch: Watch | None, what: str) -> Iterator[Watch]:
    """The `watch` of one run, or else a bar."""
    if watch is not None:
        yield watch
        return
    with _bars() as bars:
        task = bars.add_task(what, total=1.0)
        yield Watch(lambda share: bars.update(task, completed=share))


@contextmanager
def of_sweep(progress: Progress | None) -> Iterator[Progress]:
    """The `progress` of a sweep, or else a bar for the whole and one for each of its runs."""
    if progress is not None:
        yield progress
        return
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
            bars.update(whole, completed=sum(shares) / len(shares))

        yield Progress(planned, told)
