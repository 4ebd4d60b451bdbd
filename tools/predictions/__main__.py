"""`python -m tools.predictions [bursts] [SCENARIOS [SEED]]`: 40 scenarios, seed 1 unless given."""

import sys
import warnings
from math import isnan
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from . import WITHIN, checked

SHOWN = 10
"""Number of the worst predictions that are listed."""

bursts = sys.argv[1:2] == ["bursts"]
given = [int(word) for word in sys.argv[1 + bursts :]]
scenarios, seed = *given, *(40, 1)[len(given) :]
warnings.simplefilter("ignore")
with TemporaryDirectory() as folder:
    rnd = Random(seed)  # noqa: S311 - no secret
    every = list(checked(scenarios, rnd, Path(folder), bursts=bursts))
told = [of for of in every if not isnan(of.help.predicted)]
for name, some in (("all", told), ("of changes that act", [of for of in told if of.acts])):
    right = sum(abs(of.error) <= WITHIN for of in some)
    print(f"{name}: {right} of {len(some)} predictions within {WITHIN:.0%}")
print(f"not predicted: {len(every) - len(told)}")
for of in sorted(told, key=lambda of: -abs(of.error))[:SHOWN]:
    print(
        f"{of.help.change.domain}, {of.help.change.what}: {of.help.predicted:+.0%} predicted, "
        f"{of.help.measured or 0.0:+.0%} run; {of.limits} limits {of.scenario}"
    )
