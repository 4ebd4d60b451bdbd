"""The dispatch: which core a packet goes to. RSS chooses it by the packet's flow."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log, sqrt
from typing import TYPE_CHECKING, Any

from nic2core.explain.queues import OF_QUEUES, by_queue, shortest
from nic2core.explain.use import uneven
from nic2core.explain.what_if import more

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core.explain.model import Model
    from nic2core.results.models import Results

MANY = 1024
"""Flows for each queue of which RSS gives all queues nearly the same number."""


def spread(data: Results) -> float:
    """What the dispatch lets the cores do, as a share of what they could do if all were as busy.

    The busiest core saturates first, and what the others have left is of no use. 1 where they are
    about equally busy: the cores themselves are then the limit.
    """
    time = data.core_time
    return time.busy_ps / (len(data.queues) * time.busiest_ps) if uneven(data) else 1.0


def more_flows(data: Results, scenario: dict[str, Any]) -> int | None:
    """As many flows as RSS deals evenly; `None` where too few of them are not the cause.

    The flows of a capture cannot be more.
    """
    traffic = scenario.get("traffic") or {}
    many = MANY * len(data.queues)
    return many if uneven(data) and traffic.get("flows", many) < many else None


def dealt(data: Results, scenario: dict[str, Any], flows: int) -> float:
    """What `spread` is with so many flows, all equally likely.

    The fullest of *n* queues has some sqrt(2 ln *n*) standard deviations more flows than the mean
    (the expected maximum of *n* normal variables), and the fullest entries of the table.
    """
    queues = len(data.queues)
    entries: float = scenario["machine"]["nic"]["rss"]["indirection_entries"] / queues
    most = (1 + sqrt(2 * log(queues) * queues / flows)) * ceil(entries) / entries
    return 1 / most


def evenly(data: Results, share: float) -> Callable[[Model], Model]:
    """The dispatch lets cores, and queues, do this share of what they could."""

    def apply(model: Model) -> Model:
        model = replace(model, spread=max(share, model.spread))
        for name in set(OF_QUEUES) & model.allows.keys():
            queues = by_queue(data, data.by_domain[name])
            packets = sum(queue.packets for queue in queues)
            # The others carry as much as the one that is short.
            others = share * len(queues) * shortest(queues).packets / packets if packets else 1.0
            model = more(name, max(1.0, others))(model)
        return model

    return apply
