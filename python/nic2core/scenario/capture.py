"""The capture that a run replays: a file beside its scenario, which may be another one later."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


MAGIC = {
    bytes.fromhex(word) for word in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a")
}
"""How a pcap begins, in either byte order and with either unit of time, and a pcapng."""


def is_capture(path: Path) -> bool:
    """Whether a file is a capture by its first bytes; of what is no file, such as a pipe, none."""
    if not path.is_file():
        return False
    with path.open("rb") as content:
        return content.read(4) in MAGIC


def capture_file(scenario: Mapping[str, Any]) -> Path | None:
    """The capture that a scenario replays, if it does."""
    traffic = scenario.get("traffic") or {}
    return Path(traffic["file"]) if traffic.get("kind") == "replay" else None


def capture_digest(scenario: Mapping[str, Any]) -> str | None:
    """SHA-256 of the capture; nothing without one, or if it cannot be read, as the engine tells."""
    file = capture_file(scenario)
    if file is None:
        return None
    try:
        state = file.stat()
        return _digest(file, state.st_ino, state.st_size, state.st_mtime_ns)
    except OSError:
        return None


@lru_cache
def _digest(file: Path, *_state: int) -> str:
    """The digest of a file in this state: once for all points of a sweep."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
