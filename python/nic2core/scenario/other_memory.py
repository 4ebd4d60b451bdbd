"""A memory that is made one of another standard: its timings are in clocks of the old one."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "machine.dram.standard"
"""The key."""


def without_timings(scenario: dict[str, Any], standard: object) -> dict[str, Any]:
    """The scenario with what `--set` of this standard leaves of the memory's timings."""
    scenario = copy.deepcopy(scenario)
    match scenario:
        case {"machine": {"dram": {"standard": was} as memory}} if was != standard:
            memory.pop("timings", None)
    return scenario


def dropped(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The timings that went with a memory's standard, in a sentence; empty if none did."""
    was, now = before["machine"]["dram"], after["machine"]["dram"]
    given = {key for key, clocks in was.get("timings", {}).items() if clocks is not None}
    gone = sorted(key for key in given if now["timings"].get(key) is None)
    if was["standard"] == now["standard"] or not gone:
        return ""
    return (
        f"machine.dram.timings of {was['standard']} are dropped ({', '.join(gone)}): they are in "
        f"its clocks, and {now['standard']} has timings of its own."
    )
