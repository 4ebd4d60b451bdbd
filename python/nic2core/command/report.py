"""`nic2core report`: saved results as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nic2core.command import places, terminal
from nic2core.comparison import compare as compare_saved
from nic2core.comparison import load_all


def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Directories written by --out.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The HTML file to write, or a directory for a report.html. The default is the "
            "result's directory, where --out of the other commands also writes it, and for several "
            "results the current directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write an HTML report of one run, or a comparison of several."""
    out = places.report_of(results) if out is None else places.report_file(out)
    places.writable_report(out)
    if len(results) > 1 and out.exists():
        terminal.note(f"{out} already exists and will be replaced.")
    found = load_all(results[0]) if len(results) == 1 else compare_saved(*results)
    for missing in found.gaps:
        terminal.note(missing)
    terminal.note(f"Report: {found.report(out).resolve()}")
