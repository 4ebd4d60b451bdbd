"""The engine, as Python sees it: JSON text and plain data in and out.

`origins` names the place of every key that was given (`{"run.seed": "kvs.toml, line 40"}`), so that
a later error can name it too. Hand over what `load_scenario` gave as long as the scenario is still
the same, and nothing once it was changed.
"""

from collections.abc import Callable
from os import PathLike
from typing import Final, final

__all__ = [
    "PEAK_RESOLUTION_PERCENT",
    "PEAK_SETTLE_DIVISOR",
    "WIRE_OVERHEAD_BYTES",
    "ModelError",
    "Simulation",
    "UserError",
    "__version__",
    "change_scenario",
    "check_scenario",
    "find_peak",
    "load_scenario",
    "scenario_schema",
    "without_effect",
]

PEAK_RESOLUTION_PERCENT: Final[int]
"""Width of the bracket that a peak search ends with, of the rate."""
PEAK_SETTLE_DIVISOR: Final[int]
"""A peak's probe settles at its own rate for this part of the measured time."""
WIRE_OVERHEAD_BYTES: Final[int]
"""What a frame takes on the wire beside its bytes in the buffer: preamble, FCS and gap."""
__version__: Final[str]

class UserError(ValueError):
    """The user's input cannot be run; the message says where, what was given, what is allowed."""

class ModelError(RuntimeError):
    """The simulated server broke one of its own laws: a bug of nic2core."""

def scenario_schema() -> str:
    """The JSON Schema of a scenario."""

def load_scenario(
    path: str | PathLike[str],
    sets: list[str] = ...,
    machine_dirs: list[str | PathLike[str]] = ...,
) -> tuple[str, dict[str, str]]:
    """Load a scenario file, laid over the machine it names, with `key=value` overrides over both.

    The machine is searched beside the scenario and then in `machine_dirs`. Returns the complete
    scenario as JSON and its origins. Raises UserError.
    """

def check_scenario(json: str, origins: dict[str, str] | None = None) -> str:
    """The same scenario with every default written out. Raises UserError if it cannot be run."""

def change_scenario(
    json: str, sets: list[str], origins: dict[str, str] | None = None
) -> tuple[str, dict[str, str]]:
    """A complete scenario with `key=value` overrides laid over it, as `load_scenario` does.

    `origins` are those of what is still as it was loaded. Returns the scenario and its origins.
    Raises UserError.
    """

def without_effect(json: str) -> dict[str, str]:
    """The keys of a checked scenario that decide nothing in it, and why: another key says so.

    What lies below such a key is meant too.
    """

@final
class Simulation:
    """One simulated server, at time zero: applications populated, caches empty."""

    def __new__(cls, json: str, origins: dict[str, str] | None = None) -> Simulation:
        """Build the server of a scenario, and read the capture that it replays, if it does.

        Raises UserError if it cannot be simulated.
        """

    @property
    def now_ps(self) -> int:
        """The simulated time in picoseconds."""

    @property
    def warmup_ps(self) -> int:
        """When the scenario's warm-up ends, in picoseconds."""

    @property
    def end_ps(self) -> int:
        """When the scenario's measured time ends, in picoseconds."""

    def advance(self, until_ps: int) -> None:
        """Run until this simulated time, in picoseconds, without the interpreter's lock.

        Ctrl-C raises KeyboardInterrupt within a tenth of a second; the server can then go on from
        where it was stopped, and gives the same results as without the interruption.
        """

    def begin_measuring(self) -> None:
        """Forget what was counted so far: the end of the warm-up."""

    def record_timeline(self, every: int, packets: int, interval_ns: int) -> None:
        """Record from now on the way of every so many packets, so many in all.

        Counters are read at the interval. It changes nothing else; an earlier recording is lost.
        """

    def timeline(self) -> str | None:
        """What was recorded, as JSON of a `Timeline`; nothing without a recording."""

    def results(self) -> str:
        """What was measured since, as JSON. Raises ModelError if a balance does not hold."""

def find_peak(
    json: str,
    progress: Callable[[float], object] | None = None,
    origins: dict[str, str] | None = None,
) -> str:
    """The highest rate that keeps the scenario's objective, as JSON of a `Peak`.

    `progress` is called several times a second with the share of the search that is probably done
    (from 0 again where the first rates overload the server),
    0 to 1. An exception that it raises, and Ctrl-C, end the search. Raises UserError if there is no
    rate that keeps the objective.
    """
