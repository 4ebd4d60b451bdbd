"""A change of the memory standard drops timings, which are in clocks of the old standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "machine.dram.standard"
"""The key of the memory standard."""
TIMINGS = "machine.dram.timings"
"""The key of the table of its timings."""


def own_timings(now: Mapping[str, Any], assigned: Mapping[str, Any]) -> Any:
    """The timings of a scenario's new standard: only those that were assigned in Python as well."""
    timings = now["machine"]["dram"]["timings"]
    if TIMINGS in assigned:
        return timings
    return {key: clocks for key, clocks in timings.items() if f"{TIMINGS}.{key}" in assigned}


def dropped(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """A sentence naming the timings dropped with the old memory standard; empty if none were."""
    was, now = before["machine"]["dram"], after["machine"]["dram"]
    timings = was.get("timings") or {}
    known = {key for key, clocks in timings.items() if clocks is not None}
    gone = sorted(key for key in known if now["timings"].get(key) is None)
    if was["standard"] == now["standard"] or not gone:
        return ""
    return (
        f"machine.dram.timings of {was['standard']} are dropped ({', '.join(gone)}): they are in "
        f"its clocks, and {now['standard']} has timings of its own."
    )
