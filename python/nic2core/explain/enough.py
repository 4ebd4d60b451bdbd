"""How many cores would carry what is offered."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from nic2core.explain.change import is_simulated
from nic2core.explain.help import settled_with
from nic2core.explain.use import busiest_share, one_gets_more, serves, uneven
from nic2core.explain.what_if import with_cores

if TYPE_CHECKING:
    from nic2core.run_record import Record


@dataclass(frozen=True)
class Enough:
    """A number of cores that would carry what is offered."""

    key: str
    """The key of the number."""
    count: int
    tried: str
    """Numbers to compare: that of the run, this one, and one that leaves room for chance, or for
    what the busiest core gets more of a capture, if that can be simulated."""
    evenly: bool
    """Whether RSS spreads what comes evenly now: if not, it may well take more cores."""


def enough_cores(result: Record) -> Enough | None:
    """How many cores would carry what is offered, by the model and if it is spread evenly.

    `None` where cores do not limit open traffic, where some of them are much fuller than others,
    where several tenants share the load or others have the cores behind, and where all cores of the
    machine would not do or so many cannot be simulated (an RSS table has an entry for each).
    """
    data, scenario, model = result.data, result.scenario, result.model
    if not result.limited or model.cause != "cores" or data.transport is not None:
        return None
    if uneven(data):
        return None
    # Synthetic flows are dealt by chance, those of a capture are what they are.
    evenly = scenario["traffic"]["kind"] != "replay" or not one_gets_more(data)
    tenants = scenario["tenants"]
    serving = [n for n, tenant in enumerate(tenants) if serves(data, tenant)]
    ends = [tenant["cores"]["first"] + tenant["cores"]["count"] for tenant in tenants]
    if len(serving) != 1 or ends[serving[0]] != max(ends):
        return None
    number = serving[0]
    first, now = (tenants[number]["cores"][key] for key in ("first", "count"))
    most = scenario["machine"]["core"]["count"] - first
    for count in range(now + 1, most + 1):
        more = settled_with(with_cores(data, scenario, count / now), model)
        if more.rate >= model.demand:
            key = f"tenants.{number}.cores.count"
            if not is_simulated(scenario, {key: count}):
                return None
            beyond = max(count + 1, 0 if evenly else ceil(count * busiest_share(data)))
            beyond = min(beyond, most)
            more_yet = beyond > count and is_simulated(scenario, {key: beyond})
            tried = [now, count, *([beyond] if more_yet else [])]
            return Enough(key, count, ",".join(map(str, tried)), evenly)
    return None
