"""`nic2core run` and `nic2core peak`: a single case."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nic2core import api
from nic2core._core import UserError
from nic2core.command import options, places, terminal
from nic2core.command.arguments import Json, NoVary, Out, ScenarioFile, Seed, Set
from nic2core.command.ending import EXIT_STOPPED, print_json, shown_whole
from nic2core.confirm import confirm
from nic2core.describe.capture_facts import capture_facts
from nic2core.results.timeline import VIEWER, Recording, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core.result import Result

    Simulate = Callable[..., Result]


def run(
    scenario: ScenarioFile,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    _vary: NoVary = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a timeline of single packets to this file, for ui.perfetto.dev.",
        ),
    ] = None,
    every: Annotated[
        int, typer.Option("--timeline-every", metavar="N", help="Follow every Nth packet.", min=1)
    ] = Recording.every,
    packets: Annotated[
        int,
        typer.Option("--timeline-packets", metavar="N", help="Follow this many packets.", min=1),
    ] = Recording.packets,
) -> None:
    """Simulate a scenario and show where packet time and memory traffic go."""
    overrides = options.overrides(sets, seed)
    recording = Recording(every, packets)
    if timeline is None:
        if recording != Recording():
            raise UserError(
                "--timeline-every and --timeline-packets say what a timeline follows; expected "
                "--timeline FILE beside them."
            )
        _one(api.run, scenario, overrides, json_, out)
        return
    places.writable_timeline(timeline, out)
    recorded: list[Timeline] = []

    def written() -> None:
        for found in recorded:
            found.write(timeline)
            terminal.note(f"Timeline: {timeline.resolve()}; open it at {VIEWER}")
            if missing := found.left_out():
                terminal.note(missing)

    _one(partial(_record, recording, recorded), scenario, overrides, json_, out, written)


def peak(
    scenario: ScenarioFile,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    _vary: NoVary = None,
    confirmed: Annotated[
        bool,
        typer.Option(
            "--confirm/--no-confirm",
            help="Also run the peak from a cold start, and warn if it does not hold there.",
        ),
    ] = True,
) -> None:
    """Search for the highest rate that meets the scenario's objective (latency and drops)."""

    def search(scenario: str, overrides: dict[str, Any]) -> Result:
        found = api.find_peak(scenario, overrides)
        if confirmed:
            try:
                confirm(found)
            except KeyboardInterrupt:
                terminal.note("Stopped before the peak was tried from a cold start.")
        return found

    _one(search, scenario, options.overrides(sets, seed), json_, out)


def _record(
    recording: Recording, recorded: list[Timeline], scenario: str, overrides: dict[str, Any]
) -> Result:
    """Simulate, and keep the timeline: it is written once the result is shown."""
    result, timeline = api.record(scenario, overrides, recording)
    recorded.append(timeline)
    return result


def _one(
    simulate: Simulate,
    scenario: str,
    overrides: dict[str, Any],
    json_: bool,
    out: Path | None,
    at_last: Callable[[], None] = lambda: None,
) -> None:
    """Simulate, keep and show; `at_last` is called whatever of that fails."""
    if out is not None:
        places.writable_dir(out)
    try:
        result = simulate(scenario, overrides)
    except KeyboardInterrupt as stop:
        # A search tells what it has found.
        found = " ".join(getattr(stop, "__notes__", ["nothing to show."]))
        terminal.note(f"Stopped before the run finished: {found}")
        raise typer.Exit(EXIT_STOPPED) from None
    with shown_whole():
        try:
            _keep_and_show(result, json_, out)
        finally:
            at_last()


def _keep_and_show(result: Result, json_: bool, out: Path | None) -> None:
    understood = capture_facts(result)
    if understood:
        terminal.note(understood)
    # Save first: drawing may end early, for instance in a pager.
    try:
        if out is not None:
            result.save(out)
            result.report(out / places.REPORT_FILE)
    finally:
        # Show what was simulated even if the disk is full.
        if json_:
            print_json(result.to_json())
            terminal.warn([result])
        else:
            terminal.show_result(result)
    if out is not None:
        places.note_files(out)
