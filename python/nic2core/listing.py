"""The list of a comparison's runs, which makes their directory that comparison."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nic2core._core import UserError, __version__
from nic2core.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COMPARISON_FILE = "comparison.json"
"""The file in a comparison's directory that lists the directories of its runs, in order. If it
exists, the directory is that comparison, whatever else earlier commands left there."""
OVER_SEEDS_FILE = "over_seeds.parquet"
"""The file beside it with the means of runs that differ in nothing but their seed, if any do."""
SENSITIVITY_FILE = "sensitivity.parquet"
"""The same of runs with one value changed each: what that does."""
OF_COMPARISONS = (OVER_SEEDS_FILE, SENSITIVITY_FILE)
"""Tables beside the list of a comparison's runs."""


@dataclass(frozen=True)
class Listing:
    """What the list says of a sweep."""

    runs: Sequence[str]
    """The names of the runs' directories, in order."""
    planned: int
    """Points that were requested."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Those that cannot be simulated, by name, and why."""
    stopped: bool = False
    """Whether the sweep ended before every point was tried."""
    engine: str = ""
    """The engine that simulated all of them; empty if that is not known."""

    def gaps(self, where: str) -> list[str]:
        """What is missing from a sweep that is called `where`, in a sentence, if anything is."""
        if self.planned == len(self.runs):
            return []
        why = "the sweep was stopped" if self.stopped else "the others were refused"
        return [f"{where} holds {len(self.runs)} of {self.planned} runs: {why}."]

    def write(self, directory: Path) -> None:
        """Make a directory that has the runs a comparison of them."""
        listed = {
            "nic2core": __version__,
            "planned": self.planned,
            "runs": list(self.runs),
            "refused": dict(self.refused),
            "stopped": self.stopped,
            "engine": self.engine,
        }
        write_whole(directory / COMPARISON_FILE, json.dumps(listed, indent=1) + "\n")


def listing(directory: Path) -> Listing | None:
    """The list of a comparison saved here; `None` for a single run."""
    file = directory / COMPARISON_FILE
    try:
        listed = json.loads(file.read_bytes())
        runs = [str(run) for run in listed["runs"]]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(f"{file} is not what `nic2core compare ... --out DIR` wrote.") from error
    if not runs:
        return None
    # Older files list only the runs, or not why some of those planned are missing.
    return Listing(
        runs,
        listed.get("planned", len(runs)),
        listed.get("refused", {}),
        listed.get("stopped", False),
        listed.get("engine", ""),
    )


def listed_runs(directory: Path) -> list[Path]:
    """The directories of the runs of a comparison saved here; empty for a single run."""
    listed = listing(directory)
    return [] if listed is None else [directory / run for run in listed.runs]


def forget_listing(directory: Path) -> None:
    """Remove the list of a comparison saved here, and its tables; its runs stay."""
    # The list last: it tells that the other files are nic2core's.
    for name in (*OF_COMPARISONS, COMPARISON_FILE):
        (directory / name).unlink(missing_ok=True)
