"""Where the command reads results and writes them, looked at before a run that would be lost."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from nic2core import terminal
from nic2core._core import UserError
from nic2core.record import RESULT_FILE, comparison
from nic2core.results import Result


def load_results(path: Path) -> list[Result]:
    """What the last command wrote into a directory: a result, or those of a comparison."""
    return [Result.load(run) for run in comparison(path) or [path]]


def report_of(results: list[Path]) -> Path:
    """Where the report of these results is written: several have no directory in common."""
    first, *others = results
    if others:
        return Path("report.html")
    return (first if first.is_dir() else first.parent) / "report.html"


def note_files(out: Path) -> None:
    """Say where the results of a command are."""
    terminal.note(f"Results: {out}")
    terminal.note(f"Report: {(out / 'report.html').resolve()}")


def writable_dir(path: Path) -> None:
    """Refuse a directory for results before a run that would be lost; tell of others there."""
    check_dir(path, "--out")
    if (path / RESULT_FILE).exists() or (path.is_dir() and comparison(path)):
        terminal.note(f"{path} holds results already: those of the same name will be replaced.")


def check_dir(path: Path, option: str) -> None:
    """Refuse what is no directory for the files of an option."""
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file; {option} wants a directory.")
    fails = "results cannot be written into it"
    _writable(path, fails)
    # Where no directory can be made, leave to write is not all: /proc gives it.
    missing = [p for p in (path, *path.parents) if not p.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: {fails}: {error.strerror}.") from None
    finally:
        # A run that is refused leaves nothing behind.
        for made in missing:
            # Unless another command has put something into it meanwhile.
            with suppress(OSError):
                made.rmdir()


def writable_file(path: Path) -> None:
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
