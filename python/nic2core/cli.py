"""The command `nic2core`."""

from __future__ import annotations

import errno
import json
import os
import sys
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from nic2core import _core, api, engine, terminal
from nic2core._core import ModelError, UserError
from nic2core.record import RESULT_FILE, comparison
from nic2core.results import Result
from nic2core.sweep import sweep
from nic2core.timeline import VIEWER, Recording, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Simulate = Callable[..., Result]

EXIT_BUG, EXIT_USER, EXIT_STOPPED = 1, 2, 130
"""A bug of ours; the user has something to change; the user stopped it (as a shell has it)."""

DISK_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""Errors of writing to an open file, which do not name it."""

app = typer.Typer(
    name="nic2core",
    help="What happens to a packet between the NIC and the core, and what should be changed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

ScenarioFile = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a shipped one.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Change a key of the scenario, e.g. placement.io_ways=4."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of the run's random numbers.", min=0)]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON on stdout.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write result.json, Parquet tables and report.html there."),
]
Jobs = Annotated[int, typer.Option(help="Runs at a time; the results do not depend on it.", min=1)]


@app.command()
def run(
    scenario: ScenarioFile,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a timeline of single packets there, for ui.perfetto.dev."
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
    """Simulate a scenario and show where its packets' time and memory traffic go."""
    overrides = _overrides(sets, seed)
    if timeline is None:
        _one(api.run, scenario, overrides, json_, out)
        return
    _writable_file(timeline)
    recorded: list[Timeline] = []
    simulate = partial(_record, Recording(every, packets), recorded)
    try:
        _one(simulate, scenario, overrides, json_, out)
    finally:
        for found in recorded:
            found.write(timeline)
    _note(f"Timeline: {timeline.resolve()}; open it at {VIEWER}")


@app.command()
def peak(
    scenario: ScenarioFile,
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
) -> None:
    """Search for the highest rate that keeps the scenario's objective (latency and drops)."""
    _one(api.find_peak, scenario, _overrides(sets, seed), json_, out)


@app.command()
def compare(
    scenario: ScenarioFile,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=V1,V2,...",
            help="A key and its values; with several keys, every combination runs.",
        ),
    ],
    sets: Set = None,
    seed: Seed = None,
    json_: Json = False,
    out: Out = None,
    jobs: Jobs = 1,
    peaks: Annotated[
        bool, typer.Option("--peak", help="Compare each case at its own highest rate.")
    ] = False,
) -> None:
    """Run a scenario with some keys varied and show the runs side by side."""
    if out is not None:
        _writable_dir(out)
    varied = _pairs(vary, "--vary", "placement.io_ways=2,4,6")
    values = {key: split_values(text) for key, text in varied.items()}
    try:
        done = sweep(
            scenario,
            values,
            jobs=jobs,
            overrides=_overrides(sets, seed),
            peak=peaks,
            skip_refused=True,
        )
    except UserError as error:
        raise UserError(_of_varied(varied, str(error))) from None
    try:
        if out is not None and len(done):
            done.save(out)
            done.report(out / "report.html")
    finally:
        # What is simulated is shown, also where the disk is full.
        if json_:
            _print_json([r.to_json() for r in done])
            terminal.warn(done.results)
        else:
            terminal.show_comparison(done.results)
    if out is not None and len(done):
        _note_files(out)
    for name, why in done.refused.items():
        _note(f"nic2core: {name}: {_of_varied(varied, engine.said(why))}")
    if done.stopped:
        _note(f"Stopped: {len(done)} of {done.planned} runs are finished and kept.")
        raise typer.Exit(EXIT_STOPPED)
    if done.refused:
        raise typer.Exit(min(map(_exit_code, done.refused.values())))


def _of_varied(keys: Iterable[str], text: str) -> str:
    """The text of an error with the option that varied a key: what sets it says `--set`."""
    for key in keys:
        text = text.replace(f"--set {key}=", f"--vary {key}=")
    return text


@app.command()
def explain(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="A directory that --out wrote, or a result.json."),
    ],
    json_: Json = False,
    check: Annotated[
        bool, typer.Option("--check", help="Also run each change, and compare with the prediction.")
    ] = False,
    jobs: Jobs = 1,
) -> None:
    """Name what limits a run, and how much a change to each domain would help."""
    from nic2core.explain import show
    from nic2core.explain.check import check as run_changes

    loaded = Result.load(result)
    helps = loaded.helps
    if check:
        helps = run_changes(loaded, jobs)
    if json_:
        _print_json(show.to_json(loaded, helps))
    else:
        show.show(loaded, helps)
    if check and any(h.measured is None and h.refused is None for h in helps):
        _note("Stopped: some changes were not run.")
        raise typer.Exit(EXIT_STOPPED)


@app.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT...", help="Directories that --out wrote.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The HTML file to write; by default report.html in the directory of the result, "
            "where --out of the other commands has it. Of several results it is written to the "
            "current directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write one HTML file that shows one run, or compares several."""
    from nic2core.report import write_report

    out = out or _report_of(results)
    _writable_file(out)
    if len(results) > 1 and out.exists():
        _note(f"{out} is there already: it will be replaced.")
    found = [(path, r) for path in results for r in load_results(path)]
    labels = [r.label for _, r in found]
    # Runs are told apart by their labels, in the charts too. The last part of a path may do.
    short = len({path.resolve().name for path in results}) == len(results)
    loaded = [
        r
        if labels.count(r.label) == 1
        else replace(r, label=f"{r.label} ({path.resolve().name if short else path})")
        for path, r in found
    ]
    _note(f"Report: {write_report(loaded, out).resolve()}")


@app.command()
def reproduce(
    study: Annotated[
        str, typer.Argument(metavar="PAPER[/FIGURE]", help="E.g. sweeper or sweeper/fig5.")
    ],
    json_: Json = False,
    jobs: Jobs = 1,
    claim: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this claim, e.g. fig6/2way-peak.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write figures.")] = Path("out"),
    docs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the validation pages there.")
    ] = None,
) -> None:
    """Rerun a paper's evaluation and compare every published number with the simulated one."""
    from nic2core.studies import command

    _check_dir(out, "--out")
    if docs is not None:
        _check_dir(docs, "--docs")
    code = command.run(study, as_json=json_, jobs=jobs, claim=claim, out=out, docs=docs)
    raise typer.Exit(code)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario: every key, its unit, its meaning."""
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
    """Simulate, and lay the timeline aside: it is written once the result is shown."""
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
        _writable_dir(out)
    try:
        result = simulate(scenario, overrides)
    except KeyboardInterrupt:
        _note("Stopped before the run was finished: there is nothing to show.")
        raise typer.Exit(EXIT_STOPPED) from None
    # Kept first: what is drawn may end early, in a pager for instance.
    try:
        if out is not None:
            result.save(out)
            result.report(out / "report.html")
    finally:
        # What is simulated is shown, also where the disk is full.
        if json_:
            _print_json(result.to_json())
            terminal.warn([result])
        else:
            terminal.show_result(result)
    if out is not None:
        _note_files(out)


def _report_of(results: list[Path]) -> Path:
    """Where the report of these results is written: several have no directory in common."""
    first, *others = results
    if others:
        return Path("report.html")
    return (first if first.is_dir() else first.parent) / "report.html"


def _note_files(out: Path) -> None:
    _note(f"Results: {out}")
    _note(f"Report: {(out / 'report.html').resolve()}")


def load_results(path: Path) -> list[Result]:
    """What the last command wrote into a directory: a result, or those of a comparison."""
    return [Result.load(run) for run in comparison(path) or [path]]


def _writable_dir(path: Path) -> None:
    """Refuse a directory for results before a run that would be lost; tell of others there."""
    _check_dir(path, "--out")
    if (path / RESULT_FILE).exists() or (path.is_dir() and comparison(path)):
        _note(f"{path} holds results already: those of the same name will be replaced.")


def _check_dir(path: Path, option: str) -> None:
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file; {option} wants a directory.")
    _writable(path, "results cannot be written into it")


def _writable_file(path: Path) -> None:
    """The same for a single file."""
    if path.is_dir():
        raise UserError(f"{path} is a directory; name a file in it.")
    _writable(path, "it cannot be written")


def _writable(path: Path, fails: str) -> None:
    """Ask for leave to write the path, or what its first missing folder lies in."""
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    mode = os.W_OK | (os.X_OK if there.is_dir() else 0)
    if not (there == path or there.is_dir()):
        raise UserError(f"{path}: {fails}: {there} is a file.")
    if not os.access(there, mode):
        raise UserError(f"{path}: {fails}: no permission to write to {there}.")


def _overrides(sets: list[str] | None, seed: int | None) -> dict[str, Any]:
    overrides: dict[str, Any] = _pairs(sets or [], "--set", "placement.io_ways=4")
    if seed is not None:
        if "run.seed" in overrides:
            raise UserError("run.seed is given twice, by --seed and by --set; give it once.")
        overrides["run.seed"] = seed
    return overrides


def _pairs(texts: list[str], option: str, example: str) -> dict[str, str]:
    """The keys of an option with their values; each key once."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise UserError(
                f"`{option} {text}` is not a key and a value; write for example `{option} "
                f"{example}`."
            )
        if key in pairs:
            raise UserError(
                f"`{option} {text}` comes after `{option} {key}={pairs[key]}`; give each key once."
            )
        pairs[key] = value
    return pairs


def split_values(text: str) -> list[str]:
    """The values of `--vary`: separated by commas outside of quotes and brackets."""
    values, depth, quote = [""], 0, ""
    for char in text:
        if quote or char in "\"'":
            quote = "" if char == quote else quote or char
        else:
            depth = max(0, depth + (char in "[{") - (char in "]}"))
        if char == "," and depth == 0 and not quote:
            values.append("")
        else:
            values[-1] += char
    return [v.strip() for v in values]


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")


def _note(text: str) -> None:
    """Say something beside the results: on stderr, so that stdout stays what was asked for."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _note(f"nic2core: {message}")


def main() -> None:
    """Run the command; the user's mistakes end in one paragraph and exit code 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", api.WithoutEffect)
            # Said beside the numbers, where there are several runs with their names.
            warnings.simplefilter("ignore", api.DoubtfulNumbers)
            warnings.showwarning = _show_warning
            app()
    except (UserError, ModelError) as error:
        _note(f"nic2core: {engine.said(error)}")
        sys.exit(_exit_code(error))
    except OSError as error:
        # What names no file is not the user's, unless a disk is full behind stdout.
        if error.filename is None and error.errno not in DISK_FAILS:
            raise
        _note(f"nic2core: {error.filename or 'stdout'}: {error.strerror}.")
        sys.exit(EXIT_USER)


def _exit_code(error: UserError | ModelError) -> int:
    return EXIT_BUG if isinstance(error, ModelError) else EXIT_USER
