"""The engine, as Python sees it: JSON text and plain data in and out.

`origins` names the place where every key was given (`{"run.seed": "kvs.toml, line 40"}`), so that a
later error can name it too. Pass what `load_scenario` returned as long as the scenario is
unchanged, and nothing once it has been changed.
"""

from collections.abc import Callable
from os import PathLike
from typing import Final, final

__all__ = [
    "PEAK_BEHIND_PERCENT",
    "PEAK_CHANCE_DEVIATIONS",
    "PEAK_MIN_PACKETS",
    "PEAK_RESOLUTION_PERCENT",
    "PEAK_SETTLE_DIVISOR",
    "PEAK_WARMUPS",
    "WIRE_OVERHEAD_BYTES",
    "Bursts",
    "ModelError",
    "Problem",
    "Simulation",
    "UserError",
    "__version__",
    "change_scenario",
    "check_scenario",
    "find_peak",
    "load_scenario",
    "results_schema",
    "scenario_schema",
    "without_effect",
]

PEAK_BEHIND_PERCENT: Final[int]
"""Completions that fall behind arrivals by a larger share refuse a rate in a peak search."""
PEAK_CHANCE_DEVIATIONS: Final[int]
"""And by more than so many standard deviations of Poisson arrivals, which are chance."""
PEAK_MIN_PACKETS: Final[int]
"""The fewest packets that a rate may bring in the measured time of a peak search."""
PEAK_RESOLUTION_PERCENT: Final[int]
"""Width of the bracket at the end of a peak search, percent of the rate."""
PEAK_SETTLE_DIVISOR: Final[int]
"""Each probe of a peak search settles at its own rate for the measured time divided by this."""
PEAK_WARMUPS: Final[int]
"""A peak search warms up for so many times `run.warmup`."""
WIRE_OVERHEAD_BYTES: Final[int]
"""Bytes of a frame on the wire that are not in its buffer: preamble, FCS and gap."""
__version__: Final[str]

class UserError(ValueError):
    """The user's input cannot be run; the message says where, what was given, what is allowed."""

    problems: tuple[Problem, ...]
    """What is wrong with the keys of a scenario, one for each paragraph; empty for other errors."""

@final
class Problem:
    """One thing to change in a scenario; its text is a paragraph of the error's message."""

    def __new__(
        cls, place: str, key: str | None, given: str, problem: str, allowed: str
    ) -> Problem: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, str | None, str, str, str]: ...
    @property
    def place(self) -> str:
        """Where it was given: `kvs.toml, line 40`, `--set KEY=VALUE`, or `scenario`."""

    @property
    def key(self) -> str | None:
        """The dotted key; absent if a file or an option as a whole is meant."""

    @property
    def given(self) -> str:
        """What was given, as it would be written in TOML."""

    @property
    def problem(self) -> str:
        """What is wrong with it: a predicate, such as `is not a known key`."""

    @property
    def allowed(self) -> str:
        """What is allowed instead."""

    @property
    def without_place(self) -> str:
        """The text without the place, which means nothing where a program made the change."""

class ModelError(RuntimeError):
    """The simulated server violated one of its own invariants: a bug in nic2core."""

def scenario_schema() -> str:
    """The JSON Schema of a scenario."""

def load_scenario(
    path: str | PathLike[str],
    sets: list[str] = ...,
    machine_dirs: list[str | PathLike[str]] = ...,
) -> tuple[str, dict[str, str]]:
    """Load a scenario file on top of the machine it names, with `key=value` overrides on top.

    The machine is searched for beside the scenario and then in `machine_dirs`. Returns the complete
    scenario as JSON and its origins. Raises UserError.
    """

def check_scenario(json: str, origins: dict[str, str] | None = None) -> str:
    """The same scenario with every default written out. Raises UserError if it cannot be run."""

def change_scenario(
    json: str, sets: list[str], origins: dict[str, str] | None = None
) -> tuple[str, dict[str, str]]:
    """Apply `key=value` overrides to a complete scenario, as `load_scenario` does.

    `origins` covers the keys that are still as they were loaded. Returns the scenario and its
    origins. Raises UserError.
    """

def without_effect(json: str) -> dict[str, str]:
    """The keys of a checked scenario that have no effect because of another key, and why.

    Keys below such a key have no effect either.
    """

@final
class Bursts:
    """The packets of a run (the last million of a long one) in the order in which they come."""

    @staticmethod
    def of(json: str) -> Bursts | None:
        """Those of a scenario; `None` if they do not come at times of their own.

        Raises UserError if the capture cannot be replayed.
        """

    def at(self, mean_mpps: float) -> Bursts:
        """The packets if they come at another mean rate, as a peak search varies it."""

    def in_front_of(
        self, server: tuple[float, float, float, float, float, int, float]
    ) -> tuple[int, float, float, float, float]:
        """What becomes of them in front of a server that drains what waits as a fluid.

        The server: at which rate packets leave the NIC's SRAM, millions per second; how many can
        wait in it; at which rates they are done of all rings, and of one ring at most; descriptors
        of a ring, how many of them are posted together, and how long it then takes until the NIC
        can use them, microseconds. Returns how many packets came in the measured time, the shares
        of them that found no room in the SRAM and in the rings, and the most packets that waited in
        the SRAM and descriptors that were not free in one ring.
        """

@final
class Simulation:
    """One simulated server. At time zero, applications are populated and caches are empty."""

    def __new__(cls, json: str, origins: dict[str, str] | None = None) -> Simulation:
        """Build the server of a scenario, and read the capture that it replays, if any.

        Raises UserError if it cannot be simulated.
        """

    @property
    def now_ps(self) -> int:
        """The current simulated time, in picoseconds."""

    @property
    def warmup_ps(self) -> int:
        """When the scenario's warm-up ends, in picoseconds."""

    @property
    def end_ps(self) -> int:
        """When the scenario's measured time ends, in picoseconds."""

    def advance(self, until_ps: int) -> None:
        """Run until this simulated time, in picoseconds, with the GIL released.

        Ctrl-C raises KeyboardInterrupt within a tenth of a second; the run can then be continued
        from there, with the same results as without the interruption.
        """

    def begin_measuring(self) -> None:
        """End the warm-up: reset everything counted so far."""

    def record_timeline(self, every: int, packets: int, interval_ns: int) -> None:
        """From now on trace one in `every` packets, up to `packets` of them.

        Counters are read once per interval. Results do not change; an earlier recording is lost.
        """

    def timeline(self) -> str | None:
        """The recording as JSON of a `Timeline`; none without a recording."""

    def results(self) -> str:
        """The measurements so far, as JSON. Raises ModelError if a conservation check fails."""

def results_schema() -> str:
    """The JSON Schema of a `Peak`, which includes that of `Results`."""

def find_peak(
    json: str,
    progress: Callable[[float], object] | None = None,
    origins: dict[str, str] | None = None,
) -> str:
    """Find the highest rate that meets the scenario's objective; returns JSON of a `Peak`.

    `progress` is called several times a second with the estimated share of the search that is done,
    0 to 1; it restarts from 0 if the first rates overload the server. An exception raised by
    `progress`, or Ctrl-C, ends the search. Raises UserError if no rate meets the objective.
    """
