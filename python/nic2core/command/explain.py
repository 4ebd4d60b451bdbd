"""`nic2core explain`: what limits a run, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nic2core.command import terminal
from nic2core.command.arguments import Jobs, Json
from nic2core.command.ending import EXIT_BUG, EXIT_STOPPED, print_json, shown_whole
from nic2core.result import Result


def explain(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A directory written by --out, or a result.json."),
    ],
    json_: Json = False,
    check: Annotated[
        bool, typer.Option("--check", help="Also run each change and compare with the prediction.")
    ] = False,
    settings: Annotated[
        bool,
        typer.Option(
            "--settings",
            help="Only changes of settings, also of those whose effect only a run tells.",
        ),
    ] = False,
    jobs: Jobs = 1,
) -> None:
    """Show what limits a run, and how much a change to each domain would help."""
    from nic2core.command import explanation
    from nic2core.rerun import run_changes

    loaded = Result.load(result)
    helps = loaded.setting_helps if settings else loaded.helps
    if check:
        helps = run_changes(loaded, jobs, helps)
    with shown_whole():
        if json_:
            print_json(explanation.to_json(loaded, helps))
        else:
            explanation.show(loaded, helps, str(result))
        terminal.warn([loaded])
        if check and any(h.measured is None and h.refused is None for h in helps):
            terminal.note("Stopped: some changes were not run.")
            raise typer.Exit(EXIT_STOPPED)
        if any(h.is_bug for h in helps):
            raise typer.Exit(EXIT_BUG)
