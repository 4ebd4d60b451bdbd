"""The capture that a run replays: a separate file, which may change after the run."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


MAGIC = {
    bytes.fromhex(word) for word in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a")
}
"""First bytes of a pcap file, in either byte order and either time unit, and of a pcapng file."""


def is_capture(path: Path) -> bool:
    """Whether a file is a capture, by its first bytes; false for anything else, such as a pipe."""
    if not path.is_file():
        return False
    with path.open("rb") as content:
        return content.read(4) in MAGIC


def capture_file(scenario: Mapping[str, Any]) -> Path | None:
    """The capture that a scenario replays, if any."""
    traffic = scenario.get("traffic") or {}
    return Path(traffic["file"]) if traffic.get("kind") == "replay" else None


def capture_digest(scenario: Mapping[str, Any]) -> str | None:
    """SHA-256 of the capture; none without one, or if unreadable, which the engine reports."""
    file = capture_file(scenario)
    if file is None:
        return None
    try:
        state = file.stat()
        # A device may have no end.
        if not S_ISREG(state.st_mode):
            return None
        return _digest(file, state.st_ino, state.st_size, state.st_mtime_ns)
    # A name with a null character is none.
    except (OSError, ValueError):
        return None


@lru_cache
def _digest(file: Path, *_state: int) -> str:
    """The digest of a file in this state, computed once for all points of a sweep."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
