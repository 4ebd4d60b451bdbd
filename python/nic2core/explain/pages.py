"""Pages of the memory that the NIC accesses, and whether the IOTLB holds all of them."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from nic2core.explain.use import serves
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.scenario.queues import room_to_send

if TYPE_CHECKING:
    from nic2core.results.models import Results

WALKING = 0.05
"""Share of the time in page walks from which they are expected to lower the rate."""

SMALL, SMALL_BYTES = "4 KiB", 4096
"""The smallest page."""

LARGER = ("2 MiB", "1 GiB")
"""The page sizes that replace smaller ones."""

KEYS = {
    "payload": "payload",
    "descriptor": "descriptors",
    "completion": "completions",
    "acknowledgement": "acknowledgements",
}
"""Kinds of mapping as named in results, with the key of their page size."""


def larger_pages(data: Results, scenario: dict[str, Any], page: str) -> dict[str, Any]:
    """The keys that give pages of this size to every kind of mapping that is used with smaller."""
    pages = scenario["machine"]["iommu"]["pages"]
    lookups = data.iommu.lookups if data.iommu is not None else []
    keys = [KEYS[of.mapping] for of in lookups if of.hits + of.misses > 0]
    smaller = (key for key in keys if size_bytes(pages[key]) < size_bytes(page))
    return {f"machine.iommu.pages.{key}": page for key in smaller}


def why_they_may_miss(data: Results, scenario: dict[str, Any], page: str) -> str:
    """Why pages of this size may miss the IOTLB too; empty if it holds all that are in use."""
    if not data.queues:
        return "the number of pages is known only for packet buffers"
    iotlb = scenario["machine"]["iommu"]["iotlb"]
    if iotlb["ways"] < iotlb["entries"]:
        return "in a set-associative IOTLB, it depends on which pages share a set"
    pages = _in_use(data, scenario, page)
    if pages <= iotlb["entries"]:
        return ""
    return (
        f"the IOTLB holds {iotlb['entries']} translations, and {pages} pages of {page} would be "
        "in use"
    )


def why_longer_rings_may_miss(data: Results, scenario: dict[str, Any], sets: dict[str, Any]) -> str:
    """Why rings of these lengths may miss the IOTLB, where those of now do not; empty otherwise.

    What goes round in more pages than an IOTLB holds is always out of it when its turn comes. Other
    writes wait for the walk, unless relaxed ordering lets them pass.
    """
    machine = scenario["machine"]
    iommu = machine.get("iommu")
    if data.iommu is None or iommu is None or iommu["mode"] != "loose":
        return ""
    if (machine.get("pcie") or {}).get("relaxed_ordering"):
        return ""
    longer = {key.removeprefix("queues."): value for key, value in sets.items()}
    changed = {**scenario, "queues": {**scenario["queues"], **longer}}
    now, then = _in_turn(data, scenario), _in_turn(data, changed)
    before, after = (len(data.queues) * sum(of.pages for of in all_) for all_ in (now, then))
    entries = iommu["iotlb"]["entries"]
    # A walk reads at least one entry of the page table.
    walks_ns = sum(of.entered for of in now) * nanoseconds(iommu["step_latency"])
    waits = walks_ns * data.packets.completed_mpps / 1e3
    if before > entries or after <= entries or waits < WALKING:
        return ""
    return (
        f"{after} pages would be in turn instead of {before}, and the IOTLB holds {entries} "
        "translations"
    )


class _Region(NamedTuple):
    """Memory that a queue goes through in order, in pages of one size."""

    mapping: str
    """The key of its page size: each kind of mapping has translations of its own."""
    entries: int
    entry_bytes: float
    page_bytes: float
    a_packet: float = 1.0
    """Entries that a packet takes."""

    @property
    def bytes(self) -> float:
        """All of it."""
        return self.entries * self.entry_bytes

    @property
    def pages(self) -> int:
        """All of its pages."""
        return ceil(self.bytes / self.page_bytes)

    @property
    def entered(self) -> float:
        """Pages that a packet enters, in the mean."""
        return self.a_packet * self.entry_bytes / self.page_bytes


def _in_turn(data: Results, scenario: dict[str, Any]) -> list[_Region]:
    """What a queue goes through, as it lies in memory: buffers, descriptors and completions."""
    queues, nic = scenario["queues"], scenario["machine"]["nic"]
    page = {of: size_bytes(size) for of, size in scenario["machine"]["iommu"]["pages"].items()}
    descriptor, completion = size_bytes(nic["descriptor_size"]), size_bytes(nic["completion_size"])
    received, sent = queues["rx_descriptors"], queues["tx_descriptors"]
    together = queues["tx_completion_batch"]
    buffers = queues.get("pool_buffers") or received

    def region(mapping: str, entries: int, each: float, a_packet: float = 1.0) -> _Region:
        return _Region(mapping, entries, each, page[mapping], a_packet)

    found = [region("payload", buffers, _buffer_bytes(queues))]
    if _copies(data, scenario):
        of = "payload" if data.transport is None else "acknowledgements"
        found.append(region(of, room_to_send(queues), _sent_bytes(scenario)))
    return [
        *found,
        region("descriptors", received, descriptor),
        region("completions", received, completion),
        region("descriptors", sent, descriptor),
        region("completions", ceil(sent / together), completion, 1 / together),
    ]


def _in_use(data: Results, scenario: dict[str, Any], page: str) -> int:
    """Pages that all queues have in use at a time, if none is smaller than this.

    The receive buffers of a queue begin on such a page, unless those of all queues lie in one
    region. What else it has follows, each part on a small page of its own, so that parts of one
    kind may share a large one.
    """
    buffers, *rest = _in_turn(data, scenario)
    queues, least = len(data.queues), size_bytes(page)
    together = scenario["queues"].get("start") == "dealt"
    begins = 0.0
    used: set[tuple[str, int]] = set()

    def put(of: _Region, times: int = 1) -> float:
        """Uses the pages of what begins here, so many times, and returns what comes behind it."""
        page_bytes = max(least, of.page_bytes)
        ends = begins + times * of.bytes
        used.update(
            (of.mapping, n) for n in range(int(begins // page_bytes), ceil(ends / page_bytes))
        )
        return ceil(ends / SMALL_BYTES) * SMALL_BYTES

    for queue in range(queues):
        if not together:
            page_bytes = max(least, buffers.page_bytes)
            begins = ceil(begins / page_bytes) * page_bytes
            begins = put(buffers)
        elif queue == 0:
            begins = put(buffers, queues)
        for of in rest:
            begins = put(of)
    return len(used)


def _buffer_bytes(queues: dict[str, Any]) -> float:
    """What a receive buffer takes, with what lies before it."""
    of = ("object_header", "metadata", "headroom", "buffer_size")
    return sum(size_bytes(queues[key]) for key in of)


def _sent_bytes(scenario: dict[str, Any]) -> float:
    """What a buffer to send from takes, if it is not the one that a packet arrived in."""
    return size_bytes(
        scenario["traffic"].get("acknowledgement") or scenario["queues"]["buffer_size"]
    )


def _copies(data: Results, scenario: dict[str, Any]) -> bool:
    """Whether some packets are sent from buffers other than those they arrived in."""
    tenants = zip(scenario["tenants"], data.tenants, strict=True)
    return any(serves(data, asked) and not tenant.sends_in_place for asked, tenant in tenants)
