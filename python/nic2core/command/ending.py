"""How a command ends: its exit code, and what it says of runs that are missing."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import typer

from nic2core import engine
from nic2core._core import ModelError, UserError
from nic2core.command import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nic2core.sweeps import Sweep

EXIT_BUG, EXIT_USER, EXIT_STOPPED = 1, 2, 130
"""Exit codes: a bug in nic2core; a mistake of the user; stopped by the user (as shells do)."""

DISK_FAILS = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
"""Errors when writing to an open file, which do not name the file."""


def exit_code(error: UserError | ModelError) -> int:
    """The exit code of a command that an error ends."""
    return EXIT_BUG if isinstance(error, ModelError) else EXIT_USER


def begin(done: Sweep) -> None:
    """Say, before what has run is shown, that a sweep was stopped: what is shown may be long."""
    if done.stopped and len(done):
        terminal.note(f"{_finished(done)}; they are shown next.")


def end(done: Sweep, varied: Iterable[str]) -> None:
    """Say what of a sweep was not simulated, and end the command accordingly."""
    if done.reused:
        terminal.note(f"{done.reused} of {done.planned} runs were there already.")
    for name, why in done.refused.items():
        terminal.note(f"nic2core: {name}: {of_varied(varied, engine.said(why))}")
    if done.stopped:
        terminal.note(f"{_finished(done)}.")
        raise typer.Exit(EXIT_STOPPED)
    if done.refused:
        raise typer.Exit(min(map(exit_code, done.refused.values())))


def _finished(done: Sweep) -> str:
    return f"Stopped: {len(done)} of {done.planned} runs are finished and kept"


@contextmanager
def shown_whole() -> Iterator[None]:
    """Hold back a Ctrl-C while what has run is kept and shown: it would be lost. A second one ends.

    The command ends when all is shown.
    """
    came: list[int] = []

    def once(number: int, _frame: object) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)
        # Not by `terminal`, which may be printing just now; stderr may be closed.
        with suppress(OSError, ValueError):
            os.write(
                sys.stderr.fileno(),
                b"Stopping when the results are shown; Ctrl-C again ends without them.\n",
            )

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    held = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in held:
        signal.signal(number, once)
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, before[number])
    if came:
        raise typer.Exit(EXIT_STOPPED)


def of_varied(keys: Iterable[str], text: str) -> str:
    """The text of an error with `--vary` in place of `--set`, for keys that were varied."""
    for key in keys:
        text = text.replace(f"--set {key}=", f"--vary {key}=")
    return text


def print_json(value: Any) -> None:
    """Print a value on stdout."""
    sys.stdout.write(json.dumps(value, indent=1, allow_nan=False) + "\n")
