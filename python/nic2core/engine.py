"""The interface to the engine: JSON in, JSON out, in slices that can be watched and stopped."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from nic2core import _core
from nic2core._core import ModelError, UserError
from nic2core.results.models import Peak, Results
from nic2core.results.timeline import Recording, Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLICES = 200
"""Slices of a run: after each one progress is reported and a stop request is noticed."""

LOOK_S = 0.1
"""Polling interval for Ctrl-C, in seconds: people do not notice a tenth."""


# Read with the engine itself: a build may replace the file while this process lives.
_DIGEST = sha256(Path(_core.__file__).read_bytes()).hexdigest()


def version() -> str:
    """The package version and a digest of the compiled engine."""
    return f"{_core.__version__}+{_DIGEST[:12]}"


def said(error: UserError | ModelError) -> str:
    """The message for an error: a conservation check of the model that fails is our bug."""
    bug = "this is a bug in the simulator, please report it: "
    return f"{bug if isinstance(error, ModelError) else ''}{error}"


def said_without_place(error: UserError | ModelError) -> str:
    """The same without the place of a value, where users gave none."""
    problems = error.problems if isinstance(error, UserError) else ()
    return "\n".join(problem.without_place for problem in problems) or said(error)


@contextmanager
def panics_as_bugs() -> Iterator[None]:
    """A panic of the engine, which is no `Exception`, becomes the `ModelError` that it is."""
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as panic:
        raise ModelError(f"{type(panic).__name__}: {panic}") from panic


class Stopped(Exception):
    """The user stopped the run before its end; there is no result."""


@dataclass(frozen=True)
class Watch:
    """Follows a run, and stops it from another thread."""

    told: Callable[[float], None] = lambda _share: None
    """Called with the share of the run that is done, 0 to 1."""
    stop: Event = field(default_factory=Event)
    """Set it to end the run with `Stopped` after the current slice."""

    def tell(self, share: float) -> None:
        """Report progress, or raise `Stopped` if a stop was requested."""
        if self.stop.is_set():
            raise Stopped
        self.told(share)


def run(
    scenario_json: str,
    watch: Watch,
    origins: dict[str, str] | None = None,
) -> Results:
    """Simulate a complete scenario; the engine releases the GIL meanwhile.

    With `origins`, errors name the place where a key was given.
    """
    simulation = _simulate(scenario_json, watch, origins)
    return Results.model_validate_json(simulation.results())


def record(
    scenario_json: str,
    recording: Recording,
    watch: Watch,
    origins: dict[str, str] | None = None,
) -> tuple[Results, Timeline]:
    """Simulate like `run`, with the same results, and record a timeline of the measured time."""
    simulation = _simulate(scenario_json, watch, origins, recording)
    recorded = simulation.timeline()
    assert recorded is not None  # noqa: S101 - says to the type checker what we have just asked for
    return (
        Results.model_validate_json(simulation.results()),
        Timeline.model_validate_json(recorded),
    )


def _simulate(
    scenario_json: str,
    watch: Watch,
    origins: dict[str, str] | None,
    recording: Recording | None = None,
) -> _core.Simulation:
    """The server of a scenario at the end of its run."""
    simulation = _core.Simulation(scenario_json, origins)
    warm, end = simulation.warmup_ps, simulation.end_ps
    slices = [end * part // SLICES for part in range(1, SLICES + 1)]
    for until in sorted({*slices, warm}):
        simulation.advance(until)
        if until == warm:
            simulation.begin_measuring()
            if recording is not None:
                simulation.record_timeline(
                    recording.every, recording.packets, recording.interval_ns
                )
        watch.tell(until / end)
    return simulation


def find_peak(
    scenario_json: str,
    watch: Watch,
    origins: dict[str, str] | None = None,
) -> Peak:
    """Search for the highest rate that meets the scenario's objective; see `run`."""
    return Peak.model_validate_json(_core.find_peak(scenario_json, watch.tell, origins))
