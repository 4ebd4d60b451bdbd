"""The results of a full run, kept in the documentation: a JSON file and a page made from it."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core.files import write_whole
from nic2core.studies.claim import Claim, Judged, Simulated, judge, load_claims
from nic2core.studies.table import (
    error_text,
    published_text,
    score,
    simulated_text,
    verdict_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.studies.claim import Tolerance


def machine_kind() -> str:
    """The processor and its number of CPUs, on which the wall time depends."""
    name = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} CPUs"


def record(
    paper: str,
    judged: Sequence[Judged],
    *,
    engine_version: str,
    seed: int,
    points: int,
    simulated_seconds: float,
    wall_seconds: float,
    jobs: int,
    summary: str | None,
) -> dict[str, Any]:
    """The content of `docs/validation/PAPER.json`."""
    return {
        "paper": paper,
        "engine_version": engine_version,
        "seed": seed,
        "machine": machine_kind(),
        "jobs": jobs,
        "wall_seconds": round(wall_seconds),
        "points": points,
        "point_seconds": round(simulated_seconds),
        "summary": summary,
        "claims": [j.row() for j in judged],
    }


def page(data: dict[str, Any]) -> str:
    """The Markdown page of a validation file."""
    paper = data["paper"]
    claims = load_claims(paper)
    known = {claim.id: claim for claim in claims.claims}
    judged = [_judged(row, known.get(row["id"])) for row in data["claims"]]
    lines = [
        f"# Validation: {paper}",
        "",
        f"<!-- Generated from {paper}.json by `nic2core reproduce {paper}`; do not edit. -->",
        "",
        claims.title + ".",
        "",
        f"{score(judged)}.",
        *([data["summary"] + "."] if data["summary"] else []),
        "",
        _provenance(data),
        "",
        _rule(claims.tolerance),
        "",
        "| Claim | Where | Statement | Published | Simulated | Error | Holds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for j in judged:
        claim = j.claim
        cells = (
            f"`{claim.id.removeprefix(paper + '/')}`",
            claim.section,
            f"{claim.statement}. *{claim.metric}*",
            published_text(j),
            simulated_text(j),
            error_text(j, claims.tolerance),
            verdict_text(j),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _provenance(data: dict[str, Any]) -> str:
    return (
        f"Engine {data['engine_version']}, seed {data['seed']}. {data['points']} points took "
        f"{data['point_seconds']} s to simulate, one after the other; the last invocation of "
        f"`nic2core reproduce {data['paper']} --jobs {data['jobs']}` took "
        f"{data['wall_seconds']} s, "
        f"points finished earlier not repeated. Machine: {data['machine']}."
    )


def _rule(tolerance: Tolerance) -> str:
    unit = "%" if tolerance.kind == "relative" else "points"
    effect = ""
    if tolerance.no_effect is not None:
        effect = (
            f" If a published factor differs from 1 by more than {tolerance.no_effect:g} %, the "
            "simulated one must do so too, on the same side."
        )
    return (
        f"A value holds if the simulated range lies within the published one, widened by "
        f"{tolerance.amount:g} {unit} at both ends; it holds in part of the range if one of its "
        f"ends lies further than that inside the published one.{effect} The error is that of the "
        "low and of the high end. A blind claim has no published number. For a fitted claim a "
        "parameter was chosen to match it, and a given one follows from the parameters by "
        "arithmetic: neither is a prediction."
    )


def _judged(row: dict[str, Any], known: Claim | None) -> Judged:
    """A row of the file, with its error recomputed and its verdict as recorded."""
    claim = Claim(
        section=known.section if known else "",
        fitted=known is not None and known.fitted,
        given=known is not None and known.given,
        **{
            key: row[key]
            for key in (
                "id",
                "paper",
                "figure",
                "statement",
                "metric",
                "unit",
                "kind",
                "published_low",
                "published_high",
            )
        },
    )
    found = None
    if row["simulated_low"] is not None:
        found = Simulated(row["simulated_low"], row["simulated_high"], row["holds"])
    again = judge(claim, found, load_claims(claim.paper).tolerance)
    return replace(again, holds=row["holds"])


def write(data: dict[str, Any], folder: Path) -> list[Path]:
    """Write the file and its page."""
    file, text = folder / f"{data['paper']}.json", folder / f"{data['paper']}.md"
    write_whole(file, json.dumps(data, indent=2) + "\n")
    write_whole(text, page(data))
    return [file, text]
