"""Arguments and options that several commands take."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from nic2core._core import UserError
from nic2core.command import options

ScenarioFile = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, the name of a built-in scenario, or a directory written by --out: "
        "the scenario of that result.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the scenario, e.g. placement.io_ways=4. Setting a table, e.g. "
        "\"traffic={kind='replay', file='my.pcap'}\", replaces all of it.",
    ),
]
# Read as text, so that a value that is no seed is refused as any other mistake is.
Seed = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help=f"Seed of the run's random numbers, 0 to {options.MAX_SEED}.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON on stdout.")]


def directory(text: str) -> Path:
    """A directory; not an empty text, which would be the working directory."""
    if not text:
        raise typer.BadParameter('"" names no directory; expected one, such as out.')
    return Path(text)


Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=directory,
        help="Write result.json, Parquet tables and report.html to this directory.",
    ),
]


def _of_compare(vary: list[str] | None) -> None:
    """Refuse `--vary`: several values of a key mean several runs."""
    if vary:
        raise UserError(
            "--vary: this command runs a single case; expected `nic2core compare SCENARIO --vary "
            f"{quote(vary[0])}`, with --peak to compare the highest rates."
        )


NoVary = Annotated[list[str] | None, typer.Option("--vary", hidden=True, callback=_of_compare)]
Jobs = Annotated[
    int, typer.Option(help="Number of runs at a time; does not affect results.", min=1)
]

Peaks = Annotated[
    bool, typer.Option("--peak", help="Compare highest rates, each found by a search.")
]
