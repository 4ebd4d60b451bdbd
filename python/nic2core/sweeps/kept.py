"""Points of a sweep that are saved as soon as they have finished, and are not run again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nic2core import engine
from nic2core.listing import listing
from nic2core.result import Result
from nic2core.scenario.capture import capture_digest
from nic2core.sweeps.swept import Refusal, of_ended, replace_listed, save_means, save_points

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from nic2core.sources import Prepared
    from nic2core.sweeps.swept import Sweep


@dataclass(frozen=True)
class Kept:
    """The points of a sweep that are saved in its directory, if it has one, and listed there."""

    out: Path | None
    names: Sequence[str]
    points: set[int] = field(default_factory=set)

    def keep(self, ended: Mapping[int, Result | Refusal], points: Collection[int]) -> None:
        """Save points that have ended, and list them with the others."""
        # What cannot be saved is tried once more at the end.
        with suppress(OSError, ValueError):
            if self.out is not None and points:
                kept = self.points.union(points)
                done = of_ended(
                    self.names,
                    {n: of for n, of in ended.items() if n in kept or isinstance(of, Refusal)},
                )
                # Points that are refused take no place of what is there.
                if not len(done):
                    return
                if not self.points:
                    replace_listed(done, self.out)
                save_points(done, self.out, points)
                self.points.update(points)

    def finish(self, done: Sweep) -> OSError | ValueError | None:
        """Save what could not be saved before, the final list and the means; or why that fails."""
        if self.out is None or not len(done):
            return None
        try:
            if not self.points:
                replace_listed(done, self.out)
            save_points(done, self.out, set(done.points) - self.points)
            save_means(done, self.out)
        except (OSError, ValueError) as error:
            return error
        return None


def saved_before(
    out: Path, prepared: Sequence[Prepared], names: Sequence[str], *, peak: bool
) -> dict[int, Result]:
    """The points that this engine has saved in a directory before, by their numbers now."""
    unreadable = (OSError, ValueError, KeyError, TypeError)
    done: list[Result] = []
    # What cannot be read is simulated.
    with suppress(*unreadable):
        listed = listing(out)
        if listed is not None and listed.engine == engine.version():
            for directory in listed.runs:
                with suppress(*unreadable):
                    done.append(Result.load(out / directory))
    found: dict[int, Result] = {}
    for number, (asked, name) in enumerate(zip(prepared, names, strict=True)):
        scenario = asked.scenario
        for run in done:
            if (
                run.scenario == scenario
                and (run.peak is not None) == peak
                and run.capture == capture_digest(scenario)
            ):
                found[number] = replace(
                    run, label=name, settings=asked.settings, scenario_name=asked.name
                )
                break
    return found
