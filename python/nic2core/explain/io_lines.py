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
    kinds: list[IoKindResults] = getattr(io, "by_kind", [io])
    asides = sum(of.write_asides for of in kinds)
    return (io.write_hits or 0) + (io.write_misses or 0) + io.write_bypasses + asides
