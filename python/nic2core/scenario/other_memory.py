"""A change of the memory standard drops timings, which are in clocks of the old standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "machine.dram.standard"
"""The key of the memory standard."""


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
