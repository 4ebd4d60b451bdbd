"""How much longer reads take than alone, by their size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.describe.senders import GROUPS
from nic2core.scenario.quantity import size_text
from nic2core.words import NOTHING, three, time

if TYPE_CHECKING:
    from nic2core.results.models import Results, SizeResults


TITLE = "Reads by size"
"""Title of the table."""

COLUMNS = ("size", "reads", "alone", "p50", "p99", "slowdown p50", "p99", "p99.9")
"""The columns of its rows; a slowdown is how many times as long a read takes as alone.

A percentile beyond which no read lies is not told."""


def sizes(data: Results) -> list[SizeResults]:
    """What is known of reads by size: nothing if there is one size and no load. Those completed."""
    transport = data.transport
    return [of for of in transport.by_size if of.latency.count] if transport is not None else []


def slowdown(of: SizeResults, percentile: float) -> float:
    """How many times as long as alone reads of a size take, at a percentile of them."""
    return of.latency.percentile(percentile) / of.alone_ns


def is_known(of: SizeResults, percentile: float) -> bool:
    """Whether a read lies beyond a percentile of them; otherwise it is their largest."""
    return percentile <= 50 or of.latency.count * (1 - percentile / 100) >= 1


def _told(of: SizeResults, percentile: float) -> str:
    """A slowdown as text."""
    return three(slowdown(of, percentile)) if is_known(of, percentile) else NOTHING


@dataclass(frozen=True)
class Ends:
    """The shortest and the longest reads of a group of senders."""

    shortest: SizeResults
    longest: SizeResults


def ends(data: Results) -> Ends | None:
    """The shortest and the longest reads that were completed; `None` if nothing is known by size.

    Those of rivals only if nothing is known of the others. The two are the same if there is one
    size.
    """
    known = sizes(data)
    of = [size for size in known if size.group == min(s.group for s in known)]
    if not of:
        return None
    return Ends(min(of, key=lambda s: s.bytes), max(of, key=lambda s: s.bytes))


def rows(data: Results) -> list[list[str]]:
    """The reads of each size as `COLUMNS`, the shortest first, and those of rivals last."""
    several = any(of.group for of in sizes(data))
    return [
        [
            size_text(of.bytes) + (f", {GROUPS[of.group]}" if several else ""),
            f"{of.latency.count:,}",
            time(of.alone_ns),
            *(time(of.latency.percentile(percentile)) for percentile in (50.0, 99.0)),
            *(_told(of, percentile) for percentile in (50.0, 99.0, 99.9)),
        ]
        for of in sorted(sizes(data), key=lambda of: (of.group, of.bytes))
    ]
