"""`nic2core sensitivity`: which values matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from nic2core import engine
from nic2core._core import ModelError
from nic2core.command import options, places, terminal
from nic2core.command.arguments import Jobs, Json, NoVary, Out, Peaks, ScenarioFile, Seed, Set
from nic2core.command.ending import EXIT_STOPPED, begin, end, print_json, shown_whole

if TYPE_CHECKING:
    from nic2core.sweeps import Refusal


def sensitivity(
    scenario: ScenarioFile,
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY...",
            help="Tables or keys whose numbers are changed, e.g. machine.nic; by default machine.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        float, typer.Option(metavar="PERCENT", help="How much lower and higher.", min=1, max=99)
    ] = 20,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    jobs: Jobs = 1,
    peaks: Peaks = False,
    _vary: NoVary = None,
) -> None:
    """Change each value of the machine, or of another table, and show which of them matter."""
    from nic2core import sensitivities

    if out is not None:
        places.writable_dir(out, resumes=True)
    try:
        found = sensitivities.sensitivity(
            scenario,
            keys or sensitivities.MACHINE,
            by=by / 100,
            jobs=jobs,
            overrides=options.overrides(sets, seed),
            peak=peaks,
            out=out,
        )
    except engine.Stopped:
        terminal.note(
            "Stopped before the scenario and another seed of it had run: nothing to show."
        )
        raise typer.Exit(EXIT_STOPPED) from None
    begin(found.runs)
    with shown_whole():
        try:
            if out is not None:
                if found.runs.not_saved is not None:
                    raise found.runs.not_saved
                found.save_table(out)
                found.report(out / places.REPORT_FILE)
        finally:
            # Show what was simulated even if the disk is full.
            if json_:
                print_json(found.to_json())
                terminal.warn([found.base])
            else:
                terminal.show_sensitivity(found)
        if out is not None:
            places.note_files(out)
    # A value that cannot be run is none of the scenario's mistakes; a bug is one of ours.
    bugs: dict[str, Refusal] = {
        name: why for name, why in found.runs.refused.items() if isinstance(why, ModelError)
    }
    end(replace(found.runs, refused=bugs), ())
