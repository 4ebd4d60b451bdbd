"""The page of a sensitivity: what a scenario's values move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.describe.doubts import all_doubts
from nic2core.draw.tornado import tornado
from nic2core.files import write_whole
from nic2core.report.page import page_html

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core.effects import Effects

EFFECTS_TEXT = (
    "Each value made lower and higher by itself, the largest effect at the top. The band in the "
    "middle is what chance does. Hover for the values."
)


def write_sensitivity(found: Effects, path: Path) -> Path:
    """Write what a scenario's values move to `path`."""
    page = page_html(
        "sensitivity.html.j2",
        f"{found.base.label}: what {found.what} depends on",
        found.runs.results,
        {"effects": [tornado(found)]} if found.drawn else {},
        found=found,
        text=EFFECTS_TEXT,
        warnings=all_doubts([found.base]),
    )
    write_whole(path, page)
    return path
