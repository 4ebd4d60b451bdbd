"""Many runs of one scenario with some keys varied: in parallel, in order, stoppable."""

from nic2core.sweeps.points import run_all
from nic2core.sweeps.swept import Refusal, Sweep
from nic2core.sweeps.vary import NotSaved, cases, sweep

__all__ = ["NotSaved", "Refusal", "Sweep", "cases", "run_all", "sweep"]
