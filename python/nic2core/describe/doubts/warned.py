"""One warning about a run, and how bad it is."""

from __future__ import annotations

from typing import NamedTuple


class Warned(NamedTuple):
    """What a run is warned of."""

    text: str
    worse: float = 0.0
    """How bad it is: of several seeds that are warned of the same thing, the greatest is told."""
