"""A memory that is made one of another standard: its timings are in clocks of the old one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "machine.dram.standard"
"""The key."""


def dropped(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The timings that went with a memory's standard, in a sentence; empty if none did."""
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
