"""nic2core: what happens to a packet between the NIC and the core."""

from nic2core._core import ModelError, Problem, UserError, __version__
from nic2core.api import DoubtfulNumbers, WithoutEffect, find_peak, load, record, run
from nic2core.comparison import Comparison, compare
from nic2core.engine import Stopped, Watch
from nic2core.progress import Progress
from nic2core.result import Result
from nic2core.results.timeline import Recording, Timeline
from nic2core.scenario.models import Scenario
from nic2core.sensitivities import Sensitivity, sensitivity
from nic2core.sweeps import NotSaved, Sweep, sweep

__all__ = [
    "Comparison",
    "DoubtfulNumbers",
    "ModelError",
    "NotSaved",
    "Problem",
    "Progress",
    "Recording",
    "Result",
    "Scenario",
    "Sensitivity",
    "Stopped",
    "Sweep",
    "Timeline",
    "UserError",
    "Watch",
    "WithoutEffect",
    "__version__",
    "compare",
    "find_peak",
    "load",
    "record",
    "run",
    "sensitivity",
    "sweep",
]


def __dir__() -> list[str]:
    """List the public names only; by default Python also lists every imported module."""
    return __all__
