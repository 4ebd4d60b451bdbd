"""How many cores would carry what is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.explain.changes import uneven, with_cores
from nic2core.explain.help import settled_with
from nic2core.explain.use import serves

if TYPE_CHECKING:
    from nic2core.run_record import Record


def enough_cores(result: Record) -> tuple[str, int, int] | None:
    """The key of the cores of a run that they limit, their number, and one that would suffice.

    By the model, and if the load is spread evenly over them. `None` where cores do not limit open
    traffic, where some of them are much fuller than others, where several tenants share the load or
    others have the cores behind, or if no number of cores that the machine has suffices.
    """
    data, scenario, model = result.data, result.scenario, result.model
    if not result.limited or model.cause != "cores" or data.transport is not None:
        return None
    if uneven(data):
        return None
    tenants = scenario["tenants"]
    serving = [n for n, tenant in enumerate(tenants) if serves(data, tenant)]
    ends = [tenant["cores"]["first"] + tenant["cores"]["count"] for tenant in tenants]
    if len(serving) != 1 or ends[serving[0]] != max(ends):
        return None
    number = serving[0]
    first, now = (tenants[number]["cores"][key] for key in ("first", "count"))
    for count in range(now + 1, scenario["machine"]["core"]["count"] - first + 1):
        more = settled_with(with_cores(data, scenario, count / now), model)
        if more.rate >= model.demand:
            return f"tenants.{number}.cores.count", now, count
    return None
