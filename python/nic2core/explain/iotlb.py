"""The IOTLB as seen by packets that are sent from the buffers in which they arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.explain.pages import SMALL
from nic2core.scenario.queues import room_to_send

if TYPE_CHECKING:
    from nic2core.results.models import Results


@dataclass(frozen=True)
class Iotlb:
    """The IOTLB, as packets see it that are sent from the buffers in which they arrived."""

    entries: int
    misses: float
    """Per piece of work; each takes the entry that was used the longest time ago."""
    found: float
    """Pages of a packet that reads find because its writes have brought them, per piece of work."""
    can_wait: int
    """Packets that queues have room for, once nothing takes them out any more."""
    of_writes: float
    """Share of the page walks that writes ask for."""


def iotlb(data: Results, scenario: dict[str, Any]) -> Iotlb | None:
    """The IOTLB of a run, if it has one and did some work."""
    packets = data.packets.completed
    if data.iommu is None or packets == 0:
        return None
    misses = sum(of.misses for of in data.iommu.lookups)
    by_reads = sum(of.read_misses for of in data.iommu.lookups)
    # Larger pages hold many packets, of which the first read would bring the page back for all. For
    # the same reason pages count that writes have brought, and not each read of a page.
    small = scenario["machine"]["iommu"]["pages"]["payload"] == SMALL
    payload = [of for of in data.iommu.lookups if small and of.mapping == "payload"]
    found = sum(min(of.read_hits, of.misses - of.read_misses) for of in payload)
    queues = scenario["queues"]
    room = queues["rx_descriptors"] + room_to_send(queues)
    return Iotlb(
        entries=scenario["machine"]["iommu"]["iotlb"]["entries"],
        misses=misses / packets,
        found=found / packets,
        can_wait=room * len(data.queues),
        of_writes=1 - by_reads / misses if misses else 0.0,
    )
