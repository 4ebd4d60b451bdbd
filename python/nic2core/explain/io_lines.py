"""Lines that the NIC writes: the denominator of every share of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.results.models import IoKindResults, IoResults


def written(io: IoKindResults | IoResults) -> int:
    """Lines that the NIC has written, wherever they went.

    Results from before 1 December 2026 have no total, and the outcomes of that time.
    """
    if io.written is not None:
        return io.written
    return (io.write_hits or 0) + (io.write_misses or 0) + io.write_bypasses + _aside(io)


def placed(io: IoKindResults | IoResults) -> int:
    """Those of them that a hit ratio is of: not those that lie outside of the caches."""
    return written(io) - _aside(io)


def _aside(io: IoKindResults | IoResults) -> int:
    kinds: list[IoKindResults] = getattr(io, "by_kind", [io])
    return sum(of.write_asides for of in kinds)
