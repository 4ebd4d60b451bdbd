"""What to do next, where a table of changes does not say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import words
from nic2core.explain.queues import NOTICED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.explain.help import Help
    from nic2core.record import Record


def at_ease(result: Record) -> bool:
    """Whether all that is offered gets through, so that no change can raise the throughput."""
    return (
        result.peak is None
        and not result.limited
        and not result.data.packets.drop_share
        and result.data.demand_mpps is not None
    )


def hints(result: Record, helps: Sequence[Help]) -> Iterator[str]:
    """What to do next where no change helps the throughput, and what it helps besides."""
    dropped = result.data.packets.drop_share
    if any(h.drop_share is not None for h in helps) and result.p99_ns is not None:
        yield (
            f"As it is, {words.percent(dropped)} of the packets are dropped, and the p99 of the "
            f"latency is {words.time(result.p99_ns)}."
        )
    elif dropped > 0:
        yield (
            "A change may save drops and latency besides: `nic2core explain DIR --check` runs "
            "each, and shows both."
        )
    if result.window_limited and all(h.measured is None for h in helps):
        yield (
            "What a change helps is not known here: the senders' control decides what they make of "
            "it. `nic2core explain DIR --check` runs each."
        )
    leak = next((h for h in helps if h.change.domain == "io-ways"), None)
    if leak is not None and leak.predicted >= NOTICED:
        ways: int = result.scenario["placement"]["io_ways"]
        most: int = result.scenario["machine"]["llc"]["ways"]
        several = sorted({ways, min(2 * ways, most), min(4 * ways, most)})
        if len(several) > 1:
            peak = "" if result.peak is None else " --peak"
            yield (
                "An ideal DDIO is what other ways for packets can come to at most; `nic2core "
                f"compare SCENARIO --vary placement.io_ways={','.join(map(str, several))}{peak}` "
                "runs them."
            )
    if at_ease(result):
        yield (
            "At this load no stage limits, so no change can raise the throughput. `nic2core peak "
            "SCENARIO --out DIR` searches the highest rate, and `nic2core explain DIR` then says "
            "what raises that."
        )
