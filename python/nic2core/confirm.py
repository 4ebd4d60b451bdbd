"""Whether a server that starts cold holds the peak that was found with one that was warm."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from nic2core import api, sources
from nic2core.explain.limit import SHORT_BY_CHANCE
from nic2core.progress import of_run
from nic2core.results.peak_rate import rate_to_set
from nic2core.scenario.quantity import nanoseconds, share
from nic2core.settled import rings_fill
from nic2core.words import percent, time

if TYPE_CHECKING:
    from nic2core.engine import Watch
    from nic2core.result import Result

LONGER = 4
"""How many times as long as the scenario's is the warm-up of the cold server."""

STEADY = frozenset({"constant", "poisson"})
"""Traffic whose rate is the same at all times."""


class PeakNotHeld(UserWarning):
    """A server that starts cold at the peak falls behind, although one that was warm did not."""


def confirm(found: Result, watch: Watch | None = None) -> Result | None:
    """Run a peak from a cold start, with a longer warm-up, and warn if the server falls behind.

    `None` for traffic whose rate changes with time.
    """
    traffic = found.scenario["traffic"]
    if found.peak is None or traffic["kind"] not in STEADY:
        return None
    warmup_ns = LONGER * nanoseconds(found.scenario["run"]["warmup"])
    rate = rate_to_set(found.peak, traffic)
    sets = {"traffic.rate": rate, "run.warmup": f"{warmup_ns:.0f} ns"}
    prepared = sources.prepare(sources.scenario_of(found), sets)
    with of_run(watch, "confirming the peak") as followed:
        result = api.run_prepared(prepared, None, followed)
    packets = result.data.packets
    allowed = share(found.scenario["slo"]["drops"])
    dropped = packets.drop_share > allowed + SHORT_BY_CHANCE
    behind = packets.completed < (1 - SHORT_BY_CHANCE) * packets.offered
    if dropped or rings_fill(result) or behind:
        warnings.warn(
            f"a server that starts cold does not hold this peak: at {rate}, after a warm-up of "
            f"{time(warmup_ns)}, it drops {percent(packets.drop_share)} of the packets and "
            f"completes {percent(packets.completed / max(1, packets.offered))}. The search warms "
            "it at lower rates. Either it takes longer to catch up, or it does not: if packets "
            "that wait cost it more, it has two states, and a burst can take it to the slower. "
            "`nic2core compare ... --vary traffic.rate=...` with a long warm-up shows which rates "
            "hold from a cold start.",
            PeakNotHeld,
            stacklevel=2,
        )
    return result
