"""nic2core: what happens to a packet between the NIC and the core."""

from nic2core._core import ModelError, UserError, __version__
from nic2core.api import find_peak, load, run
from nic2core.models import Scenario
from nic2core.results import Result
from nic2core.sweep import Sweep, sweep

__all__ = [
    "ModelError",
    "Result",
    "Scenario",
    "Sweep",
    "UserError",
    "__version__",
    "find_peak",
    "load",
    "run",
    "sweep",
]
