"""For how long work waits in a changed model: in memory, and at the IOMMU."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isfinite
from typing import TYPE_CHECKING

from nic2core.explain.model import SAME
from nic2core.explain.queueing import FULLEST, least, settled
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import WRITE_CREDITS

if TYPE_CHECKING:
    from nic2core.explain.model import Model

SENDING = ("read-credits", "read-tags")
"""Pools for which the data of packets that are sent waits."""


def waits_in_channels(
    model: Model, channels: float = 1.0, lines: float = 1.0, before: Model | None = None
) -> float:
    """Relative time for which lines wait if there were `channels` times as many channels.

    The work then causes `lines` times as many lines as it did, and comes as fast as the model
    allows, compared with that of `before`, if the two differ.
    """
    load_now, own = _load(model), model.memory.own_traffic
    alone = _without_dram(before or model, 1.0)

    def load(waits: float) -> float:
        faster = _without_dram(model, waits) / alone if isfinite(alone) else 1.0
        others = (1 - own) / max(model.memory.held(waits), 1e-9)
        return load_now * (own * lines * faster + others) / channels

    return settled(load_now, load, channels)


def waits_with_more(model: Model, under_way: float) -> float:
    """Relative time for which lines wait if `under_way` times as many are in flight."""
    load = _load(model)
    return settled(load, lambda waits: load * under_way / model.memory.held(waits), 1.0)


def _load(model: Model) -> float:
    return min(model.dram_load, FULLEST)


def _without_dram(model: Model, waits: float) -> float:
    """The rate if lines waited that long, and the channels carried all."""
    model = model.without_waits("dram", waits)
    return model.without_waits("home-trackers", model.memory.held(waits)).without(["dram"]).rate


def more_credits(model: Model, domain: str, factor: float) -> Model:
    """A pool of DMA with `factor` times the credits, of which only those that are used crowd.

    Credits that nothing waited for stay free. The more of the others are used, the longer all that
    uses the memory waits. If something else then limits, its rate takes no more of them than
    Little's law says.
    """
    pool, memory = model.pools[domain], model.memory
    own = memory.own_reads if domain in SENDING else memory.own_writes
    waited_for = (factor - 1) * model.use(domain).starved
    more = crowd_walkers(model.with_pool(domain, pool.more(factor)), domain)

    def with_new(share: float) -> Model:
        return crowd_memory(more, 1 + share * waited_for, own)

    def enough(share: float) -> bool:
        # What memory allows follows from the credits in use, and is no limit for them.
        then = with_new(share).settled(model).without(["dram"])
        return factor * then.rate <= then.pools[domain].allows * (1 + share * waited_for)

    return with_new(least(enough))


def crowd_memory(model: Model, factor: float, own: float) -> Model:
    """A domain whose share of the memory requests was `own` now sends `factor` times as many.

    All requests wait longer there, and this domain gets a larger share of the memory's throughput.
    """
    longer = 1 + (factor - 1) * own
    model = model.without_waits("dram", longer).without_waits("home-trackers", longer)
    return model.with_others("dram", factor / longer)


def crowd_walkers(model: Model, domain: str) -> Model:
    """What has more credits than the page walkers can serve waits longer for them, by Little's law.

    Reads stay behind all writes that came before them (PCI Express Base Specification, section
    2.4.1), so they wait for the walks of these. That writes wait for walkers which serve reads is
    left out.
    """
    pool = model.pools[domain]
    waits_ns = pool.spent_ns.get("iommu", 0.0)
    short = model.use(domain).starved > NOTICED
    limits = model.limited and model.tightest == "iommu"
    if model.iotlb is None or not limits or not short or waits_ns <= 0:
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
    before_sending = (*SENDING, "tx-fetches")
    allows = [model.pools[name].allows for name in before_sending if name in model.pools]
    return model.rate >= SAME * min(allows, default=inf)
