"""Reproduces a paper: plans the points, simulates them, judges the claims, draws the figures."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core._core import UserError
from nic2core.near_names import did_you_mean
from nic2core.studies import draw_html, draw_png, validation
from nic2core.studies.claim import Claim, ClaimFile, Judged, Simulated, judge, load_claims
from nic2core.studies.evaluate import At
from nic2core.studies.point import Point, plan
from nic2core.studies.runner import Outcome, Progress, Runner
from nic2core.studies.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core.studies.engine import Engine
    from nic2core.studies.study import Figure, Selection, Study


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a reproduction."""

    claim_file: ClaimFile
    judged: tuple[Judged, ...]
    outcome: Outcome
    summary: str | None
    wall_seconds: float


@dataclass(frozen=True)
class Task:
    """A part of a study: its claims and figures, and the points that they need."""

    study: Study
    claim_file: ClaimFile
    selection: Selection
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    points: tuple[Point, ...]


def prepare(study: Study, selection: Selection) -> Task:
    """Plan a part of a study: every configuration once, however many claims and figures use it."""
    claim_file = load_claims(study.paper)
    claims = tuple(c for c in claim_file.claims if selection.has_claim(c))
    figures = tuple(f for f in study.figures if selection.has_figure(f))
    if not claims and selection.claim is not None:
        # Too many to list.
        of = "the study" if selection.figure is None else f"figure {selection.figure} of the study"
        raise UserError(
            f'{of} "{study.paper}" has no claim "{selection.claim}"; '
            f"docs/validation/{study.paper}.md lists them"
            f"{did_you_mean(selection.claim, [c.id for c in claim_file.claims])}"
        )
    if not claims:
        known = ", ".join(f"fig{f.number}" for f in study.figures)
        raise UserError(
            f'the study "{study.paper}" has no figure "{selection.figure}"; it has {known}.'
        )
    needed = [p for c in claims for p in study.evaluators[c.id].points]
    needed += [p for f in figures for p in f.points]
    return Task(study, claim_file, selection, claims, figures, tuple(plan(needed)))


def reproduce(
    task: Task, engine: Engine, *, jobs: int, out: Path, progress: Progress
) -> Reproduction:
    """Simulate the points and judge the claims. Finished points are stored under `out`."""
    begin = time.monotonic()
    runner = Runner(engine, Store(out / "points", engine.version), jobs, progress)
    outcome = runner.run(task.points)
    results = {point: finished.result for point, finished in outcome.finished.items()}
    tolerance = task.claim_file.tolerance

    def simulated(claim: Claim) -> Simulated | None:
        evaluator = task.study.evaluators[claim.id]
        if any(point not in results for point in evaluator.points):
            return None
        return evaluator(results)

    judged = tuple(judge(claim, simulated(claim), tolerance) for claim in task.claims)
    summary = task.study.summary(judged) if task.study.summary else None
    return Reproduction(task.claim_file, judged, outcome, summary, time.monotonic() - begin)


def write(
    task: Task,
    done: Reproduction,
    engine: Engine,
    *,
    jobs: int,
    out: Path,
    docs: Path | None = None,
) -> list[Path]:
    """Draw the figures under `out`; write the results of a whole study to `docs`, if given."""
    paper, finished = task.study.paper, done.outcome.finished
    at = At({point: found.result for point, found in finished.items()})
    files = _draw(task, at, out / paper)
    if task.selection.is_whole and docs is not None:
        data = validation.record(
            paper,
            done.judged,
            engine_version=engine.version,
            seed=_seed(task),
            points=len(finished),
            simulated_seconds=sum(f.seconds for f in finished.values()),
            wall_seconds=done.wall_seconds,
            jobs=jobs,
            summary=done.summary,
        )
        files += validation.write(data, docs)
    return files


def _draw(task: Task, at: At, folder: Path) -> list[Path]:
    """Draw every figure whose points have all finished."""
    complete = [f for f in task.figures if all(p in at.results for p in f.points)]
    files, pages = [], []
    for figure in complete:
        panels = figure.draw(At({point: at.results[point] for point in figure.points}))
        title = f"Figure {figure.number}. {figure.title}"
        files.append(folder / f"fig{figure.number}.png")
        draw_png.save(title, panels, figure.columns, files[-1])
        pages.append((title, panels, figure.columns))
    if pages:
        # The page of one figure must not overwrite the page of all figures.
        name = "all" if task.selection.figure is None else f"fig{complete[0].number}"
        files.append(folder / f"{name}.html")
        draw_html.save(task.claim_file.title, pages, files[-1])
    return files


def _seed(task: Task) -> int:
    """The seed that all points share."""
    seeds = {json.loads(point.scenario)["run"]["seed"] for point in task.points}
    if len(seeds) != 1:
        raise AssertionError(f"the points of a study share one seed, found {sorted(seeds)}")
    return int(seeds.pop())
