"""`nic2core reproduce`: its output and its exit code."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from nic2core._core import UserError
from nic2core.near_names import did_you_mean
from nic2core.studies import PAPERS, load_study
from nic2core.studies.engine import NativeEngine
from nic2core.studies.reproduce import Reproduction, prepare, reproduce, write
from nic2core.studies.runner import Interrupted, WorkerLost
from nic2core.studies.study import Selection
from nic2core.studies.table import claims_table, score, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core.studies.engine import Engine
    from nic2core.studies.point import Point

EXIT_OK, EXIT_FAILED, EXIT_STOPPED = 0, 1, 130
"""Exit codes. A missed claim is a result, but a point that cannot be simulated is a failure."""


class Bar:
    """A progress bar, if there is a terminal."""

    def __init__(self, console: Console) -> None:
        """Draw on this console."""
        self._bar = ProgressBar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("points", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, total: int) -> None:
        """See `Progress`."""
        self._bar.update(self._task, total=total)

    def done(self, point: Point, seconds: float, *, cached: bool) -> None:
        """See `Progress`."""
        self._bar.advance(self._task)
        if not cached:
            line = f"{seconds:6.1f} s  {point.name}"
            self._bar.console.print(
                line, style="dim", highlight=False, markup=False, soft_wrap=True
            )


def parse_target(target: str) -> tuple[str, str | None]:
    """Split a target such as `sweeper/fig5` into paper and figure."""
    paper, slash, figure = target.partition("/")
    if paper not in PAPERS:
        raise UserError(
            f'there is no study "{paper}"; there are {", ".join(PAPERS)}, each alone or with a '
            f'figure, such as "sweeper/fig5"{did_you_mean(paper, list(PAPERS))}'
        )
    if not slash:
        return paper, None
    if not figure.startswith("fig"):
        raise UserError(
            f'"{target}" names no figure; expected "{paper}/fig5" or the like. A single claim is '
            "asked for with --claim."
        )
    return paper, figure.removeprefix("fig")


def run(
    target: str,
    *,
    as_json: bool,
    jobs: int,
    claim: str | None,
    out: Path,
    docs: Path | None,
    engine: Engine | None = None,
) -> int:
    """Run the whole command and return its exit code."""
    console = Console(stderr=True, highlight=False)
    engine = engine or NativeEngine()
    try:
        paper, figure = parse_target(target)
        selection = Selection(figure, claim)
        if docs is not None and not selection.is_whole:
            raise UserError(
                f"--docs {docs}: the validation pages are of a whole study, and this is a part of "
                f"one; leave --docs out, or name {paper} alone."
            )
        task = prepare(load_study(paper), selection)
        with Bar(console) as bar:
            done = reproduce(task, engine, jobs=jobs, out=out, progress=bar)
    except Interrupted as stopped:
        console.print(f"{stopped}; run the same command again to continue")
        return EXIT_STOPPED
    except WorkerLost as lost:
        fewer = ", with fewer --jobs" if jobs > 1 else ""
        console.print(f"{lost}; run the same command again{fewer}", soft_wrap=True)
        return EXIT_FAILED
    if as_json:
        json.dump([j.row() for j in done.judged], sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _print_claims(done)
    for point, reason in done.outcome.failed.items():
        text = f"failed: {point.name}: {reason}"
        console.print(text, style="red", markup=False, soft_wrap=True)
    try:
        for file in write(task, done, engine, jobs=jobs, out=out, docs=docs):
            if not as_json:
                Console(highlight=False).print(str(file), style="dim", markup=False)
    finally:
        # Print the summary even if drawing fails.
        if not as_json:
            _print_summary(done)
    return EXIT_FAILED if done.outcome.failed else EXIT_OK


def _print_claims(done: Reproduction) -> None:
    """Print every claim; those that fail come last, next to the summary."""
    in_turn = sorted(done.judged, key=lambda j: verdict(j) in {"no", "absent"})
    Console().print(claims_table(in_turn, done.claim_file.tolerance))


def _print_summary(done: Reproduction) -> None:
    console = Console()
    if any(j.holds is False for j in done.judged):
        console.print(
            "docs/validation/DEVIATIONS.md has the known misses by their causes.", style="dim"
        )
    console.print(score(done.judged))
    if done.summary is not None:
        console.print(done.summary)
