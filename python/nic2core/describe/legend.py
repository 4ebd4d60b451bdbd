"""How to read the table of what limits: only what it takes for what that table shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core import words
from nic2core.explain.help import NEARLY
from nic2core.explain.queues import OF_QUEUES
from nic2core.explain.use import work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.describe.limits import Row
    from nic2core.run_record import Record

FEW_DESCRIPTORS = 0.8
"""Load up to which reads of transmit descriptors are not full, although as many are under way."""


def legend(result: Record, rows: Sequence[Row]) -> Iterator[str]:
    """What the columns mean, and what is marked, a sentence or two each."""
    rate, what = work(result.data)
    yield (
        f"The run achieves {words.three(rate)} M {what}/s. A domain (a stage of the path) allows "
        "credits / (uses x time held), with the uses and times of this run: at a much higher load "
        "both may differ."
    )
    yield from _what_counts([result], rows)
    if any(row.badge == "waits" for row in rows):
        yield (
            "The domain marked `waits` allows least, but its credits wait for another domain for a "
            "tenth of their time or more (for a link, if that is full): that one limits."
        )
    if any(row.changes for row in rows):
        yield "A change is predicted to help up to what the next domain allows."


def what_counts(results: Sequence[Record], rows: Sequence[Row]) -> str:
    """What counts for the rate where that is not simply all credits and all of their time."""
    return " ".join(_what_counts(results, rows))


def _what_counts(results: Sequence[Record], rows: Sequence[Row]) -> Iterator[str]:
    """By the first row of each kind."""
    part = next((r for r in rows if " of " in r.held), None)
    if part is not None:
        own, whole = part.held.split(" of ")
        yield (
            f"“{part.held}” ({part.name}): held for {whole}, but what is more than {own} are "
            "waits for other domains and does not count."
        )
    # Of each kind of wait the first.
    more = {r.domain == "descriptors": r for r in reversed(rows) if " + " in r.held}
    for of_rings, row in more.items():
        own, wait = row.held.split(" + ")
        for_what = "for PCIe before a credit is taken"
        if of_rings:
            for_what = "until the NIC has read a descriptor that is posted again"
        yield (
            f"“{row.held}” ({row.name}): held for {own}, and a wait of {wait} counts too, "
            f"{for_what}."
        )
    of_core = next((r for r in rows if "(core" in r.held), None)
    if of_core is not None:
        yield (
            f"“{of_core.held}” ({of_core.name}): the fullest ring is the first, but what is "
            "allowed is that of the ring of that core, which runs short first."
        )
    if any(r.domain in OF_QUEUES for r in rows):
        yield "Of what each queue has its own, `in use` is that of the fullest queue."
    if any(_reads_look_full(result) for result in results):
        yield (
            "A send queue reads transmit descriptors whenever there are some: reads are under way "
            "most of the time, but they are full only if each brings all that it can."
        )
    fewer = next((r for r in rows if r.tip), None)
    if fewer is not None:
        yield f"{words.sentence(fewer.name)}: {fewer.tip}"
    if any(_read_queues_are_fuller(result) for result in results):
        yield "The memory bus allows what its channels' read queues do, which are fuller."
    if any(_queue_of_writes_is_fuller(result) for result in results):
        yield "The IOMMU allows what its queue of writes does, which is fuller."


def _reads_look_full(result: Record) -> bool:
    use = next((use for use in result.model.used if use.name == "tx-fetches"), None)
    if use is None or use.load >= FEW_DESCRIPTORS:
        return False
    return use.occupancy >= FEW_DESCRIPTORS * use.credits


def _read_queues_are_fuller(result: Record) -> bool:
    return result.model.use("read-queue").load > result.model.use("dram").load


def _queue_of_writes_is_fuller(result: Record) -> bool:
    model = result.model
    if "iommu" not in model.others:
        return False
    return model.others["iommu"] * model.use("iommu").load < NEARLY * model.rate
