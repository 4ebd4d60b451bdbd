"""The tails that users of a run ask for first: of packets, of whole reads, or of slowdowns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.describe import senders, slowdowns

if TYPE_CHECKING:
    from nic2core.run_record import Record


def tails(result: Record) -> dict[str, float]:
    """The tails of a run by column, ns or times; without those of which it has none.

    Slowdowns if reads are known by size, otherwise whole reads of closed-loop senders, otherwise
    the server's own latency of packets.
    """
    ends = slowdowns.ends(result.data)
    if ends is not None:
        of = {"p99_slowdown_shortest": ends.shortest, "p99_slowdown_longest": ends.longest}
        if ends.longest is ends.shortest:
            del of["p99_slowdown_longest"]
        return {
            column: slowdowns.slowdown(size, 99.0)
            for column, size in of.items()
            if slowdowns.is_known(size, 99.0)
        }
    whole_read = senders.p99_ns(result.data, "read_latency")
    found = {"p99_ns": result.p99_ns} if whole_read is None else {"p99_read_ns": whole_read}
    return {column: ns for column, ns in found.items() if ns is not None}
