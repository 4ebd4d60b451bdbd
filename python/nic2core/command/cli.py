"""The command `nic2core`."""

from __future__ import annotations

import errno
import json
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nic2core import _core, api, engine
from nic2core._core import ModelError, UserError
from nic2core.command import options, places, terminal
from nic2core.comparison import compare as compare_saved
from nic2core.comparison import load_all
from nic2core.describe.capture_facts import capture_facts
from nic2core.result import Result
from nic2core.results.timeline import VIEWER, Recording, Timeline
from nic2core.run_record import comparison
from nic2core.sweeps import NotSaved, Refusal, gap, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nic2core.explain.help import Help
    from nic2core.sweeps import Sweep

    Simulate = Callable[..., Result]

EXIT_BUG, EXIT_USER, EXIT_STOPPED = 1, 2, 130
"""Exit codes: a bug in nic2core; a mistake of the user; stopped by the user (as shells do)."""

DISK_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""Errors when writing to an open file, which do not name the file."""

app = typer.Typer(
    name="nic2core",
    help="Show what happens to packets between the NIC and the core, and what to change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

ScenarioFile = Annotated[
    str,
    typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a built-in scenario."),
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
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write result.json, Parquet tables and report.html to this directory."
    ),
]


def _of_compare(vary: list[str] | None) -> None:
    """Refuse `--vary`: several values of a key mean several runs."""
    if vary:
        raise UserError(
            "--vary: this command runs a single case; expected `nic2core compare SCENARIO --vary "
            f"{vary[0]}`, with --peak to compare the highest rates."
        )


NoVary = Annotated[list[str] | None, typer.Option("--vary", hidden=True, callback=_of_compare)]
Jobs = Annotated[
    int, typer.Option(help="Number of runs at a time; does not affect results.", min=1)
]


@app.command()
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
    if timeline is None:
        _one(api.run, scenario, overrides, json_, out)
        return
    places.writable_timeline(timeline)
    recorded: list[Timeline] = []
    simulate = partial(_record, Recording(every, packets), recorded)
    try:
        _one(simulate, scenario, overrides, json_, out)
    finally:
        for found in recorded:
            found.write(timeline)
    terminal.note(f"Timeline: {timeline.resolve()}; open it at {VIEWER}")
    for found in recorded:
        if missing := found.left_out():
            terminal.note(missing)


@app.command()
def peak(
    scenario: ScenarioFile,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    _vary: NoVary = None,
) -> None:
    """Search for the highest rate that meets the scenario's objective (latency and drops)."""
    _one(api.find_peak, scenario, options.overrides(sets, seed), json_, out)


@app.command()
def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO|RESULT...",
            help="A scenario file, or the name of a built-in scenario; without --vary, two or more "
            "directories written by --out.",
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
    peaks: Annotated[
        bool, typer.Option("--peak", help="Compare each case at its own highest rate.")
    ] = False,
) -> None:
    """Run a scenario with varied keys, or load saved results, and compare them side by side."""
    if not vary:
        given = {"--set": sets, "--seed": seed is not None, "--out": out, "--peak": peaks}
        _saved(sources, [option for option, of in given.items() if of], json_)
        return
    if len(sources) > 1:
        raise UserError(
            f"--vary takes one scenario; {len(sources)} were given: {', '.join(sources)}."
        )
    scenario = sources[0]
    if out is not None:
        places.writable_dir(out)
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
        raise UserError(_of_varied(varied, str(error))) from None
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
            _print_json([r.to_json() for r in done])
            terminal.warn(done.results)
        else:
            terminal.show_comparison(done.results, report)
    if out is not None and len(done):
        places.note_files(out)
    _end(done, varied)


def _end(done: Sweep, varied: Iterable[str]) -> None:
    """Say what of a sweep was not simulated, and end the command accordingly."""
    if done.reused:
        terminal.note(f"{done.reused} of {done.planned} runs were there already.")
    for name, why in done.refused.items():
        terminal.note(f"nic2core: {name}: {_of_varied(varied, engine.said(why))}")
    if done.stopped:
        terminal.note(f"Stopped: {len(done)} of {done.planned} runs are finished and kept.")
        raise typer.Exit(EXIT_STOPPED)
    if done.refused:
        raise typer.Exit(min(map(_exit_code, done.refused.values())))


def _saved(sources: list[str], options: list[str], json_: bool) -> None:
    """Show saved results side by side, as for a comparison that has just run."""
    alone = len(sources) == 1 and not comparison(Path(sources[0]))
    if alone or options:
        why = f"{', '.join(options)} cannot be used" if options else "nothing to compare"
        raise UserError(
            f"{' '.join(sources)}: {why} without --vary; expected `nic2core compare SCENARIO "
            "--vary KEY=V1,V2`, or `nic2core compare DIR DIR` for results written by --out."
        )
    found = compare_saved(*sources)
    _note_gaps(map(Path, sources))
    if json_:
        _print_json([r.to_json() for r in found])
        terminal.warn(found.results)
    else:
        terminal.show_comparison(found.results)
        terminal.show_keys(found.results)


def _note_gaps(directories: Iterable[Path]) -> list[str]:
    """Say which saved sweeps are not complete; return these sentences."""
    gaps = [missing for directory in directories if (missing := gap(directory))]
    for missing in gaps:
        terminal.note(missing)
    return gaps


def _of_varied(keys: Iterable[str], text: str) -> str:
    """The text of an error with `--vary` in place of `--set`, for keys that were varied."""
    for key in keys:
        text = text.replace(f"--set {key}=", f"--vary {key}=")
    return text


@app.command()
def explain(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A directory written by --out, or a result.json."),
    ],
    json_: Json = False,
    check: Annotated[
        bool, typer.Option("--check", help="Also run each change and compare with the prediction.")
    ] = False,
    jobs: Jobs = 1,
) -> None:
    """Show what limits a run, and how much a change to each domain would help."""
    from nic2core.command import explanation
    from nic2core.describe.hints import at_ease, why_no_change_helps
    from nic2core.rerun import run_changes

    loaded = Result.load(result)
    helps: Sequence[Help] = loaded.helps
    if check and at_ease(loaded):
        terminal.note(f"--check reruns nothing. {why_no_change_helps(loaded)}")
        check = False
    if check:
        helps = run_changes(loaded, jobs)
    if json_:
        _print_json(explanation.to_json(loaded, helps))
    else:
        explanation.show(loaded, helps)
    terminal.warn([loaded])
    if check and any(h.measured is None and h.refused is None for h in helps):
        terminal.note("Stopped: some changes were not run.")
        raise typer.Exit(EXIT_STOPPED)


@app.command()
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
    peaks: Annotated[
        bool, typer.Option("--peak", help="Change the highest rate, not throughput as offered.")
    ] = False,
    _vary: NoVary = None,
) -> None:
    """Change each value of the machine, or of another table, and show which of them matter."""
    from nic2core import sensitivities

    if out is not None:
        places.writable_dir(out)
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
    try:
        if out is not None:
            if found.runs.not_saved is not None:
                raise found.runs.not_saved
            found.save_table(out)
            found.report(out / places.REPORT_FILE)
    finally:
        # Show what was simulated even if the disk is full.
        if json_:
            _print_json(found.to_json())
            terminal.warn([found.base])
        else:
            terminal.show_sensitivity(found)
    if out is not None:
        places.note_files(out)
    # A value that cannot be run is none of the scenario's mistakes; a bug is one of ours.
    bugs: dict[str, Refusal] = {
        name: why for name, why in found.runs.refused.items() if isinstance(why, ModelError)
    }
    _end(replace(found.runs, refused=bugs), ())


@app.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Directories written by --out.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The HTML file to write; by default report.html in the result's directory, where "
            "--out of the other commands also writes it. For several results, the default is the "
            "current directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write an HTML report of one run, or a comparison of several."""
    from nic2core.report import write_report

    out = out or places.report_of(results)
    places.writable_report(out)
    if len(results) > 1 and out.exists():
        terminal.note(f"{out} already exists and will be replaced.")
    loaded = load_all(results[0]) if len(results) == 1 else compare_saved(*results).results
    gaps = _note_gaps(results)
    terminal.note(f"Report: {write_report(loaded, out, gaps).resolve()}")


@app.command()
def reproduce(
    study: Annotated[
        str, typer.Argument(metavar="PAPER[/FIGURE]", help="For example sweeper or sweeper/fig5.")
    ],
    json_: Json = False,
    jobs: Jobs = 1,
    claim: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this claim, e.g. fig6/2way-peak.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures.")] = Path("out"),
    docs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write the validation pages to this directory."),
    ] = None,
) -> None:
    """Rerun a paper's evaluation and compare every published number with the simulated one."""
    from nic2core.studies import command

    places.check_dir(out, "--out")
    if docs is not None:
        places.check_dir(docs, "--docs")
    code = command.run(study, as_json=json_, jobs=jobs, claim=claim, out=out, docs=docs)
    raise typer.Exit(code)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario: every key with its unit and meaning."""
    sys.stdout.write(_core.scenario_schema())


def _version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"nic2core {_core.__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


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
) -> None:
    if out is not None:
        places.writable_dir(out)
    try:
        result = simulate(scenario, overrides)
    except KeyboardInterrupt:
        terminal.note("Stopped before the run finished: nothing to show.")
        raise typer.Exit(EXIT_STOPPED) from None
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
            _print_json(result.to_json())
            terminal.warn([result])
        else:
            terminal.show_result(result)
    if out is not None:
        places.note_files(out)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    terminal.note(f"nic2core: {message}")


def main() -> None:
    """Run the command; user mistakes end in one paragraph and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", api.WithoutEffect)
            # These are shown next to the numbers, with the run's name if there are several.
            warnings.simplefilter("ignore", api.DoubtfulNumbers)
            # `compare` raises the reason.
            warnings.simplefilter("ignore", NotSaved)
            warnings.showwarning = _show_warning
            app()
    except (UserError, ModelError) as error:
        terminal.note(f"nic2core: {engine.said(error)}")
        sys.exit(_exit_code(error))
    except OSError as error:
        # An error without a file name is a bug, unless stdout goes to a full disk.
        if error.filename is None and error.errno not in DISK_FAILS:
            raise
        terminal.note(f"nic2core: {error.filename or 'stdout'}: {error.strerror}.")
        sys.exit(EXIT_USER)


def _exit_code(error: UserError | ModelError) -> int:
    return EXIT_BUG if isinstance(error, ModelError) else EXIT_USER
