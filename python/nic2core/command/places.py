"""Where the command reads and writes results, checked before a run whose results would be lost."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core._core import UserError
from nic2core.command import terminal
from nic2core.listing import COMPARISON_FILE, OF_COMPARISONS, SENSITIVITY_FILE, listed_runs
from nic2core.results.timeline import HEAD as TRACE_HEAD
from nic2core.run_record import RESULT_FILE
from nic2core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT_FILE = "report.html"
HEAD = 1 << 16
"""Bytes at the start of a report that contain its title, which names every run it shows."""


def report_of(results: list[Path]) -> Path:
    """Where the report of these results is written: several results share no directory."""
    first, *others = results
    if others:
        return Path(REPORT_FILE)
    return (first if first.is_dir() else first.parent) / REPORT_FILE


def report_file(out: Path) -> Path:
    """The file that is meant by an output: in a directory, as of the other commands, or itself."""
    return out / REPORT_FILE if out.is_dir() or not out.suffix else out


def note_files(out: Path) -> None:
    """Say where a command's results are."""
    terminal.note(f"Results: {out}")
    terminal.note(f"Report: {(out / REPORT_FILE).resolve()}")


def writable_dir(path: Path, *, resumes: bool = False) -> None:
    """Refuse an unsuitable directory before a run that would be lost; mention existing files.

    A command that `resumes` does not run again what is there.
    """
    check_dir(path, "--out")
    if not path.is_dir():
        return
    listed = listed_runs(path)
    # A run that is listed and cannot be read is ours, and run again.
    others = (file for file in _in_the_way(path) if file.parent not in listed)
    foreign = [str(file.relative_to(path)) for file in others if not _is_ours(file)]
    if foreign:
        raise UserError(
            f"{path} contains files that nic2core did not write and would replace: "
            f"{', '.join(foreign)}; choose another directory for --out."
        )
    if (path / RESULT_FILE).exists() or listed:
        said = "those of the same name will be replaced"
        if resumes and listed:
            said = "runs that are the same are kept, others of the same name are replaced"
        elif listed:
            said = f"the {len(listed)} runs of its comparison are kept, but no longer as one"
        terminal.note(f"{path} already contains results: {said}.")
    elif any(path.iterdir()):
        terminal.note(f"{path} is not empty: its other files are kept.")


def writable_report(path: Path) -> None:
    """Refuse a report file that cannot be written, exists and is no report, or says more.

    The page of a sensitivity does, than one of its runs side by side would.
    """
    writable_file(path)
    if path.is_file() and not _is_report(path):
        raise UserError(f"{path} exists and is not a nic2core report; choose another file.")
    if path.name == REPORT_FILE and (path.parent / SENSITIVITY_FILE).exists():
        raise UserError(
            f"{path.parent} is what `nic2core sensitivity` wrote, and its report is {path}. For "
            "another one, of its runs side by side, name another file with --out."
        )


def writable_timeline(path: Path, out: Path | None) -> None:
    """Refuse a file that cannot be written, exists and is no timeline, or is one of `out`."""
    writable_file(path)
    if out is not None and path.name in _names() and path.resolve().parent == out.resolve():
        raise UserError(
            f"--timeline {path}: --out writes a file of this name there; choose another."
        )
    if out is not None and out.resolve().is_relative_to(path.resolve()):
        raise UserError(f"--timeline {path}: --out {out} needs a directory there; choose another.")
    if path.is_file() and path.stat().st_size > 0:
        with path.open("rb") as file:
            if file.read(len(TRACE_HEAD)) != TRACE_HEAD.encode():
                raise UserError(f"{path} exists and is not a timeline; choose another file.")


def _in_the_way(out: Path) -> Iterator[Path]:
    """The files in a directory that have the names of files a command writes there."""
    numbered = sorted(p for p in out.iterdir() if p.name.isdigit())
    # A run's directory cannot be made where a file is.
    yield from (path for path in numbered if not path.is_dir())
    for folder in (out, *(path for path in numbered if path.is_dir())):
        yield from (folder / name for name in _names() if (folder / name).exists())


def _names() -> list[str]:
    """The names of the files that a command writes into a directory."""
    tables = (f"{name}.parquet" for name in TABLES)
    return [RESULT_FILE, COMPARISON_FILE, *OF_COMPARISONS, REPORT_FILE, *tables]


def _is_ours(file: Path) -> bool:
    """Whether nic2core wrote a file: results and comparisons name it, and tables lie by them."""
    if file.suffix == ".html":
        return _is_report(file)
    if file.suffix == ".parquet":
        of = COMPARISON_FILE if file.name in OF_COMPARISONS else RESULT_FILE
        file = file.with_name(of)
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "nic2core" in found


def _is_report(file: Path) -> bool:
    """Whether a file is a page of nic2core's, which names it in its title."""
    with file.open("rb") as page:
        return b"nic2core</title>" in page.read(HEAD)


def check_dir(path: Path, option: str) -> None:
    """Refuse a path that cannot be the directory for an option's files."""
    if path.exists() and not path.is_dir():
        raise UserError(f"{path} is a file; {option} needs a directory.")
    fails = "results cannot be written there"
    _writable(path, fails)
    # Write permission does not mean that a directory can be made: /proc is an example.
    missing = [p for p in (path, *path.parents) if not p.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: {fails}: {error.strerror}.") from None
    finally:
        # A refused run leaves nothing behind,
        for made in missing:
            # unless another command has put something there meanwhile.
            with suppress(OSError):
                made.rmdir()


def writable_file(path: Path) -> None:
    """Refuse a path that cannot be written as a file."""
    if path.is_dir():
        raise UserError(f"{path} is a directory; name a file in it.")
    _writable(path, "the file cannot be written")


def _writable(path: Path, fails: str) -> None:
    """Check write permission for the path, or for its closest existing parent."""
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    mode = os.W_OK | (os.X_OK if there.is_dir() else 0)
    if not (there == path or there.is_dir()):
        raise UserError(f"{path}: {fails}: {there} is a file.")
    if not os.access(there, mode):
        raise UserError(f"{path}: {fails}: no permission to write to {there}.")
