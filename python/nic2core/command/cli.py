"""The command `nic2core`."""

from __future__ import annotations

import io
import signal
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from nic2core import _core, api, engine
from nic2core._core import ModelError, UserError
from nic2core.command import options, terminal
from nic2core.command.compare import compare
from nic2core.command.ending import DISK_FAILS, EXIT_USER, exit_code, print_json
from nic2core.command.explain import explain
from nic2core.command.report import report
from nic2core.command.reproduce import reproduce
from nic2core.command.run import peak, run
from nic2core.command.sensitivity import sensitivity
from nic2core.sweeps import NotSaved

app = typer.Typer(
    name="nic2core",
    help="Show what happens to packets between the NIC and the core, and what to change.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def schema(
    machine: Annotated[
        bool, typer.Option("--machine", help="Of a machine file, not of a scenario.")
    ] = False,
) -> None:
    """Print the JSON Schema of a scenario file: every key with its unit and meaning."""
    from nic2core.scenario import file_schema

    print_json(file_schema.machine_file() if machine else file_schema.scenario_file())


for command in (run, peak, compare, explain, sensitivity, report, reproduce, schema):
    app.command()(command)


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


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    terminal.note(f"nic2core: {message}")


def _streams() -> None:
    """Make stdout and stderr take whatever is printed.

    What a terminal cannot show becomes `?`, and a closed stream swallows all.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def main() -> None:
    """Run the command; user mistakes end in one paragraph and exit code 2."""
    _streams()
    # As Ctrl-C: what has finished is kept, whoever ends the command.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        Path.cwd()
    except FileNotFoundError:
        terminal.note("nic2core: the working directory does not exist any more; change to another.")
        sys.exit(EXIT_USER)
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
        terminal.note(f"nic2core: {options.in_options(engine.said(error))}")
        sys.exit(exit_code(error))
    except OSError as error:
        # An error without a file name is a bug, unless stdout goes to a full disk.
        if error.filename is None and error.errno not in DISK_FAILS:
            raise
        terminal.note(f"nic2core: {error.filename or 'stdout'}: {error.strerror}.")
        sys.exit(EXIT_USER)
