"""What a sweep comes to: the finished results, and their directory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core import engine
from nic2core._core import ModelError, UserError
from nic2core.comparison import Comparison
from nic2core.engine import said
from nic2core.files import write_parquet
from nic2core.listing import OVER_SEEDS_FILE, Listing, forget_listing, listed_runs, listing
from nic2core.result import Result

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

Refusal = UserError | ModelError
"""Why a point could not be simulated."""


@dataclass(frozen=True, repr=False)
class Sweep(Comparison):
    """The finished results of a sweep, in the order of the product of its values."""

    planned: int
    """Points that were requested; more than `results` if some were refused or it was stopped."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """With `skip_refused`: points that cannot be simulated, by name, and why."""
    stopped: bool = False
    """Whether Ctrl-C or `Progress.stop` ended it before every point was tried."""
    reused: int = 0
    """How many of the results an earlier sweep had saved in `out`."""
    engine: str = ""
    """The engine that simulated all of them; empty if that is not known."""
    points: Sequence[int] = ()
    """The number of each result's point among those planned, from 0; if empty, the first ones."""
    not_saved: OSError | ValueError | None = None
    """Why not everything could be saved in `out`, if that is so."""
    gaps: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Say what is missing, for a comparison with others."""
        object.__setattr__(self, "gaps", _listing(self).gaps("A sweep"))

    @property
    def complete(self) -> bool:
        """Whether every point ran to its end."""
        return len(self.results) == self.planned

    def save(self, directory: str | Path) -> Path:
        """Write each point to its own directory under `directory`, and the list of them.

        If some runs differ in nothing but `run.seed`, also `over_seeds` as over_seeds.parquet. Runs
        of an earlier sweep stay there unless they have the same number, but are not listed.
        """
        directory = Path(directory)
        replace_listed(self, directory)
        save_points(self, directory, _names(self))
        save_means(self, directory)
        return directory

    @classmethod
    def load(cls, directory: str | Path) -> Sweep:
        """Read the runs that `save`, or `nic2core compare ... --out DIR`, listed in a directory.

        The reasons in `refused` are then all `UserError`, with the text that was shown.
        """
        directory = Path(directory)
        listed = listing(directory)
        if listed is None:
            raise UserError(
                f"{directory} holds no sweep; expected a directory that `nic2core compare ... "
                "--out DIR` or Sweep.save wrote."
            )
        return cls(
            [Result.load(directory / run) for run in listed.runs],
            listed.planned,
            {name: UserError(why) for name, why in listed.refused.items()},
            listed.stopped,
            engine=listed.engine,
            points=[int(run) for run in listed.runs],
        )

    def _head(self) -> str:
        return f"Sweep of {len(self)} runs, {self.planned} planned"


def of_ended(names: Sequence[str], ended: Mapping[int, Result | Refusal]) -> Sweep:
    """The sweep of these points, of which those that have ended were simulated now."""
    of = sorted(ended.items())
    results = {n: found for n, found in of if not isinstance(found, Refusal)}
    return Sweep(
        list(results.values()),
        len(names),
        {names[n]: found for n, found in of if isinstance(found, Refusal)},
        stopped=len(of) < len(names),
        points=list(results),
        engine=engine.version(),
    )


def _names(done: Sweep) -> dict[int, str]:
    """The names of the results' directories, by the numbers of their points."""
    digits = max(2, len(str(done.planned - 1)))
    numbers = done.points or range(len(done))
    return {number: f"{number:0{digits}}" for number in numbers}


def _listing(done: Sweep) -> Listing:
    return Listing(
        list(_names(done).values()),
        done.planned,
        {name: said(why) for name, why in done.refused.items()},
        done.stopped,
        done.engine,
    )


def replace_listed(done: Sweep, directory: Path) -> None:
    """Take away the list of another comparison, whose runs are about to be replaced.

    If the disk fills up and only some of them are, the directory is no comparison.
    """
    by_name = dict(zip(_names(done).values(), done.results, strict=True))
    try:
        of_this = all(by_name[run.name].is_saved_in(run) for run in listed_runs(directory))
    except (OSError, ValueError, KeyError):
        of_this = False
    if not of_this:
        forget_listing(directory)


def save_points(done: Sweep, directory: Path, points: Container[int]) -> None:
    """Write the results of these points, and the list that makes the directory a comparison."""
    for (number, name), result in zip(_names(done).items(), done.results, strict=True):
        if number in points:
            result.save(directory / name)
    _listing(done).write(directory)


def save_means(done: Sweep, directory: Path) -> None:
    """Write `over_seeds`, or remove that of an earlier comparison."""
    means = done.over_seeds
    if means.is_empty():
        (directory / OVER_SEEDS_FILE).unlink(missing_ok=True)
    else:
        write_parquet(directory / OVER_SEEDS_FILE, means)
