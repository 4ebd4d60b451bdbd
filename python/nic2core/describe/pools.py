"""The credits of a domain in words: how many, for how long, and what they allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.words import NOTHING, three, time

if TYPE_CHECKING:
    from nic2core.explain.model import Model
    from nic2core.explain.use import Use


def usable_credits(model: Model, use: Use) -> int:
    """The credits of a domain that can be in use at once: of lines, whole writes or requests."""
    pool = model.pools.get(use.name)
    # A pool of cores counts cores as busy as the busiest, which can be fewer than there are.
    return use.credits if pool is None or use.name == "cores" else round(pool.credits)


def allowed(model: Model, use: Use) -> str:
    """The rate that a domain allows, or `-` where that is not a meaningful number."""
    rate = model.allowed_by(use)
    return NOTHING if rate is None else three(rate)


def held(use: Use) -> str:
    """How long a credit is held, with the part that counts for the rate if the two differ."""
    # Cores put lines into the I/O ways too, and few of the NIC's lines take a new place.
    if use.uses_per_us <= 0 or use.name == "io-ways":
        return NOTHING
    own, whole = time(use.own_ns), time(use.latency_ns)
    # The time that counts is another queue's if that one allows less than the fullest.
    if use.core != use.short_core:
        return f"{whole} (core {use.short_core}: {own})"
    if own == whole:
        return whole
    if use.own_ns > use.latency_ns:
        return f"{whole} + {time(use.own_ns - use.latency_ns)}"
    return f"{own} of {whole}"


def what_for(use: Use) -> str:
    """The unit of a domain's credits, as in `92 lines`."""
    return use.unit if use.credits == 1 or use.unit == "B" else f"{use.unit}s"
