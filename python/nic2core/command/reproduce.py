"""`nic2core reproduce`: a paper's evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nic2core.command import places
from nic2core.command.arguments import Jobs, Json, directory


def reproduce(
    study: Annotated[
        str, typer.Argument(metavar="PAPER[/FIGURE]", help="For example sweeper or sweeper/fig5.")
    ],
    json_: Json = False,
    jobs: Jobs = 1,
    claim: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this claim, e.g. fig6/2way-peak.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", parser=directory, help="Where to write figures.")
    ] = Path("out"),
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=directory,
            help="Also write the validation pages to this directory.",
        ),
    ] = None,
) -> None:
    """Rerun a paper's evaluation and compare every published number with the simulated one."""
    from nic2core.studies import command

    places.check_dir(out, "--out")
    if docs is not None:
        places.check_dir(docs, "--docs")
    code = command.run(study, as_json=json_, jobs=jobs, claim=claim, out=out, docs=docs)
    raise typer.Exit(code)
