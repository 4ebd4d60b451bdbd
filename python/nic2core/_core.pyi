"""The engine, as Python sees it: JSON text and plain data in and out.

`origins` names the place of every key that was given (`{"run.seed": "kvs.toml, line 40"}`), so that
a later error can name it too. Hand over what `load_scenario` gave as long as the scenario is still
the same, and nothing once it was changed.
"""

from os import PathLike
from typing import Final

__all__ = [
    "UserError",
    "__version__",
    "check_scenario",
    "load_scenario",
    "read_capture",
    "scenario_schema",
]

__version__: Final[str]

class UserError(ValueError):
    """The user's input cannot be run; the message says where, what was given, what is allowed."""

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

def read_capture(json: str, origins: dict[str, str] | None = None) -> bytes | None:
    """The capture that the scenario replays, if it does. Raises UserError if it is not whole."""
