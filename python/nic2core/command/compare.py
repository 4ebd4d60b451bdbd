"""`nic2core compare`: several runs side by side."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from nic2core import sources
from nic2core._core import UserError
from nic2core.command import options, places, terminal
from nic2core.command.arguments import Jobs, Json, Out, Peaks, Seed, Set
from nic2core.command.ending import begin, end, of_varied, print_json, shown_whole
from nic2core.comparison import compare as compare_saved
from nic2core.listing import listed_runs
from nic2core.sweeps import sweep


def compare(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO|RESULT...",
            help="A scenario file, the name of a built-in scenario, or a directory written by "
            "--out: the scenario of that result; without --vary, two or more such directories.",
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=V1,V2,...",
            help="A key and its values; if given for several keys, every combination runs. Runs "
            "that differ in run.seed alone are shown by their means; --out writes these to "
            "over_seeds.parquet.",
        ),
    ] = None,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    jobs: Jobs = 1,
    peaks: Peaks = False,
) -> None:
    """Run a scenario with varied keys, or load saved results, and compare them side by side."""
    if not vary:
        given = {"--set": sets, "--seed": seed is not None, "--out": out, "--peak": peaks}
        _saved(names, [option for option, of in given.items() if of], json_)
        return
    if len(names) > 1:
        split = any(text.endswith(",") for text in vary)
        hint = " Write the values of --vary without spaces, or in quotes." if split else ""
        raise UserError(
            f"--vary takes one scenario; {len(names)} were given: {', '.join(names)}.{hint}"
        )
    scenario = names[0]
    if out is not None:
        places.writable_dir(out, resumes=True)
    varied = options.pairs(vary, "--vary", "placement.io_ways=2,4,6")
    values = options.values(varied)
    try:
        done = sweep(
            scenario,
            values,
            jobs=jobs,
            overrides=options.overrides(sets, seed),
            peak=peaks,
            skip_refused=True,
            out=out,
        )
    except UserError as error:
        raise UserError(of_varied(varied, str(error))) from None
    begin(done)
    with shown_whole():
        report = None
        try:
            if out is not None and len(done):
                if done.not_saved is not None:
                    raise done.not_saved
                done.report(out / places.REPORT_FILE)
                report = out / places.REPORT_FILE
        finally:
            # Show what was simulated even if the disk is full.
            if json_:
                print_json([r.to_json() for r in done])
                terminal.warn(done.results)
            else:
                terminal.show_comparison(done.results, report)
        if out is not None and len(done):
            places.note_files(out)
    end(done, varied)


def _saved(names: list[str], unused: list[str], json_: bool) -> None:
    """Show saved results side by side, as for a comparison that has just run."""
    alone = len(names) == 1 and not listed_runs(Path(names[0]))
    if alone or unused:
        why = f"{', '.join(unused)} cannot be used" if unused else "nothing to compare"
        one = quote(names[0]) if alone else "SCENARIO"
        raise UserError(
            f"{' '.join(names)}: {why} without --vary; expected `nic2core compare {one} "
            "--vary KEY=V1,V2`, or `nic2core compare DIR DIR` for results written by --out."
        )
    scenarios = [name for name in names if _is_scenario(name)]
    if scenarios:
        raise UserError(
            f"{scenarios[0]} is a scenario, and nothing says what to run of it; expected "
            f"`nic2core compare {quote(scenarios[0])} --vary KEY=V1,V2`, or directories that "
            "--out wrote."
        )
    found = compare_saved(*names)
    for missing in found.gaps:
        terminal.note(missing)
    if json_:
        print_json([r.to_json() for r in found])
        terminal.warn(found.results)
    else:
        terminal.show_comparison(found.results)
        terminal.show_keys(found.results)


def _is_scenario(name: str) -> bool:
    """Whether this names a scenario, and no directory with results."""
    found = sources.find(name)
    return found.suffix == ".toml" and found.exists() and not Path(name).is_dir()
