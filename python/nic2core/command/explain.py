"""`nic2core explain`: what limits a run, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nic2core._core import UserError
from nic2core.command import terminal
from nic2core.command.arguments import Jobs, Json
from nic2core.command.ending import EXIT_BUG, EXIT_STOPPED, print_json, shown_whole
from nic2core.names import stage
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
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="DOMAIN",
            help="Only changes to this domain, such as cores; may be repeated.",
        ),
    ] = None,
    jobs: Jobs = 1,
) -> None:
    """Show what limits a run, and how much a change to each domain would help."""
    from nic2core.command import explanation
    from nic2core.explain.help import Helps
    from nic2core.rerun import run_changes

    loaded = Result.load(result)
    helps = loaded.setting_helps if settings else loaded.helps
    if only:
        domains = _domains(only, [h.change.domain for h in helps])
        helps = Helps(h for h in helps if h.change.domain in domains)
    if check:
        # Re-runs take long; that another build simulated the run that they are compared with is a
        # reason not to begin.
        terminal.warn([loaded])
        helps = run_changes(loaded, jobs, helps)
    with shown_whole():
        if json_:
            print_json(explanation.to_json(loaded, helps))
        else:
            explanation.show(loaded, helps, str(result))
        if not check:
            terminal.warn([loaded])
        if check and any(h.measured is None and h.refused is None for h in helps):
            terminal.note("Stopped: some changes were not run.")
            raise typer.Exit(EXIT_STOPPED)
        if any(h.is_bug for h in helps):
            raise typer.Exit(EXIT_BUG)


def _domains(only: list[str], known: list[str]) -> set[str]:
    """The domains of these names, as they are displayed or as results have them."""
    by_name = {text.lower(): name for name in known for text in (name, stage(name))}
    for text in only:
        if text.lower() not in by_name:
            allowed = ", ".join(dict.fromkeys(map(stage, known)))
            raise UserError(f"--only {text}: there is no change to it; allowed: {allowed}.")
    return {by_name[text.lower()] for text in only}
