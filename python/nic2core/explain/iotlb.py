"""What becomes of the IOTLB when more DMA waits for page walks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core.explain.model import SAME
from nic2core.explain.pages import SMALL
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import WRITE_CREDITS

if TYPE_CHECKING:
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

SENDING = ("read-credits", "read-tags")
"""Pools for which packets wait before they are sent."""


@dataclass(frozen=True)
class Iotlb:
    """The IOTLB, as packets see it that are sent from the buffers in which they arrived."""

    entries: int
    misses: float
    """Per piece of work; each takes the entry that was used the longest time ago."""
    found: float
    """Pages of a packet that reads find because its writes have brought them, per piece of work."""
    can_wait: int
    """Packets that rings have room for, once nothing takes them out any more."""
    of_writes: float
    """Share of the page walks that writes ask for."""


def iotlb(data: Results, scenario: dict[str, Any]) -> Iotlb | None:
    """The IOTLB of a run, if it has one and did some work."""
    packets = data.packets.completed
    if data.iommu is None or packets == 0:
        return None
    misses = sum(of.misses for of in data.iommu.lookups)
    by_reads = sum(of.read_misses for of in data.iommu.lookups)
    # Larger pages hold many packets, of which the first read would bring the page back for all.
    small = scenario["machine"]["iommu"]["pages"]["payload"] == SMALL
    found = sum(of.read_hits for of in data.iommu.lookups if small and of.mapping == "payload")
    queues = scenario["queues"]
    room = queues["rx_descriptors"] + queues["tx_descriptors"]
    return Iotlb(
        entries=scenario["machine"]["iommu"]["iotlb"]["entries"],
        misses=misses / packets,
        found=found / packets,
        can_wait=room * len(data.queues),
        of_writes=1 - by_reads / misses if misses else 0.0,
    )


def crowd(model: Model, domain: str) -> Model:
    """What has more credits than the page walkers can serve waits longer for them, by Little's law.

    Reads stay behind all writes that came before them (PCI Express Base Specification, section
    2.4.1), so they wait for the walks of these; writes do not wait for those of reads.
    """
    pool = model.pools[domain]
    waits_ns = pool.spent_ns.get("iommu", 0.0)
    short = model.use(domain).starved > NOTICED
    if model.iotlb is None or model.tightest != "iommu" or not short or waits_ns <= 0:
        return model
    longer = 1 + sum(pool.spent_ns.values()) * (pool.allows / model.rate - 1) / waits_ns
    if domain not in WRITE_CREDITS:
        return model.with_pool(domain, pool.spends("iommu", longer))
    behind = 1 + (longer - 1) * model.iotlb.of_writes
    pools = {
        name: of.spends("iommu", longer if name in WRITE_CREDITS else behind)
        for name, of in model.pools.items()
    }
    return replace(model, pools=pools)


def left_behind(model: Model, before: Model) -> Model:
    """The model if packets that wait to be sent have lost their pages to those that came later.

    Once sending is the tightest, ever more packets wait to be sent, and behind them for their core.
    If as many misses happen meanwhile as the IOTLB has entries, reads find nothing there, and each
    asks for a walk of its own.
    """
    if model.iotlb is None or not _backs_up(model) or _backs_up(before):
        return model
    again = 1 + model.iotlb.found / model.iotlb.misses
    return model.with_others("iommu", 1 / again)


def _backs_up(model: Model) -> bool:
    """Whether what waits to be sent loses its pages: reads are full, and the IOTLB is too small."""
    of = model.iotlb
    if of is None or of.misses * of.can_wait <= of.entries:
        return False
    allows = [model.pools[name].allows for name in SENDING if name in model.pools]
    return model.rate >= SAME * min(allows, default=inf)
