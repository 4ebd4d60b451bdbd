"""By how much each change would help a run, whatever sets its rate."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

from nic2core.explain.bursts import helps_at_times
from nic2core.explain.bursty_peaks import LOST_AT_PEAK, helps_at_peak
from nic2core.explain.help import GAIN_TOLD, Help, Helps, helps
from nic2core.explain.limit import AT_TIMES, Limit, Run
from nic2core.explain.model import SAME
from nic2core.explain.overload import most_to_gain
from nic2core.explain.use import COMES_IN_BURSTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core.explain.bursts import Overflow
    from nic2core.explain.change import Change
    from nic2core.results.models import Peak, Results


def loses_at_times(run: Run) -> bool:
    """Whether packets are dropped at times, so that what overflows then is worth a look."""
    # A stage that limits while bursts come may wait for the next one.
    limits = run.limit is Limit.STAGE and _comes_in_bursts(run.scenario)
    waits = limits and run.rate < SAME * run.model.rate
    # At a peak it is not what is lost that changes, but the rate.
    return not run.is_peak and (run.limit in AT_TIMES or waits)


def gains(
    run: Run,
    peak: Peak | None,
    of: Overflow | None,
    changes_to: Callable[[Results, dict[str, Any]], list[Change]],
) -> Helps:
    """What changes give a run, or the peak of a search; `of` is what overflows at times.

    At a peak the offered load is unbounded: more would be offered if more were carried. If
    congestion control holds the senders back, their reaction to a change is not known; if packets
    are dropped although no stage is full on average, neither is how many would be. Empty for a run
    that does no work.
    """
    data, model, scenario = run.data, run.model, run.scenario
    if run.rate <= 0:
        return Helps()
    if peak is not None:
        data = data.model_copy(update={"demand_mpps": None})
        model = replace(model, demand=inf)
    changes = changes_to(data, scenario)
    if run.limit is Limit.CONTROL:
        return Helps(Help(change, nan) for change in changes)
    found = helps(model, changes, data.measured_ns)
    if peak is not None and peak.failed_by == "drops":
        at_peak = helps_at_peak(peak.peak_mpps, data, scenario, model, found)
        if at_peak is not None:
            return at_peak
        if _comes_in_bursts(scenario):
            return Helps(replace(h, predicted=nan, unknown=LOST_AT_PEAK) for h in found)
    at_times = run.limit in AT_TIMES or of is not None
    if at_times and most_to_gain(run.data) > GAIN_TOLD:
        return helps_at_times(of, run.data, scenario, model, found)
    return found


def _comes_in_bursts(scenario: dict[str, Any]) -> bool:
    return (scenario.get("traffic") or {}).get("kind") in COMES_IN_BURSTS
