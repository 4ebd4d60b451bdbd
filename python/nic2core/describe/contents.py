"""What the LLC holds when a run ends, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import names
from nic2core.describe.labels import uses_io_ways

if TYPE_CHECKING:
    from nic2core.results.models import LlcContents
    from nic2core.run_record import Record

CONSUMED = "rx-consumed"
"""The kind of lines in receive buffers that hold no packet any more."""

CONSUMED_SHARE = "LLC with consumed receive buffers"
"""Name of the share of the LLC that these lines are."""

APP = "app"
"""The kind of an application's own lines."""


def ways(result: Record) -> int:
    """Number of ways of the LLC."""
    count: int = result.scenario["machine"]["llc"]["ways"]
    return count


def io_ways(result: Record) -> int:
    """Number of ways that packets written by the NIC take; 0 if the policy uses none."""
    count: int = result.scenario["placement"]["io_ways"]
    return count if uses_io_ways(result.scenario) else 0


def kind(held: LlcContents, *, by_tenant: bool) -> str:
    """What lines are, in words; with `by_tenant`, an application's data by its tenant."""
    if held.kind == APP and held.tenant is None:
        return "page tables"
    if by_tenant and held.kind == APP:
        return f"data of {held.tenant}"
    return names.CONTENTS.get(held.kind, held.kind)


def consumed_share(result: Record) -> float | None:
    """Share of the LLC that consumed receive buffers hold, 0 to 1; `None` if it was not told."""
    held = result.data.llc_contents
    if held is None:
        return None
    return sum(of.share for of in held if of.kind == CONSUMED) / ways(result)
