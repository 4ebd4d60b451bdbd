"""Runs with numbers of their results changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nic2core import Result


def with_numbers(base: Result, part: str, **numbers: Any) -> Result:
    """The same run with these numbers in a part of its results."""
    changed = getattr(base.data, part).model_copy(update=numbers)
    return replace(base, data=base.data.model_copy(update={part: changed}))


def with_full_wire(base: Result, demand: float) -> Result:
    """The same run with a wire that was busy all the time, at this demand in Mpps."""
    domains = [
        of.model_copy(update={"busy_ps": round(1e3 * base.data.measured_ns)})
        if of.domain == "wire"
        else of
        for of in base.data.domains
    ]
    data = base.data.model_copy(update={"domains": domains, "demand_mpps": demand})
    return replace(base, data=data)
