"""Bursts that overflow what is in front of the server: what they lose, and what changes would save.

While a burst comes faster than the server drains it, the difference fills the receive rings or the
NIC's SRAM, and what finds no room is dropped; in the pause they drain. The model's means, over
bursts and pauses together, do not show that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core.explain.help import Help, Helps, settled_with
from nic2core.explain.use import link_of_arrivals, serves, uneven
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.scenario.toml_text import as_sets, given

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.model import Model
    from nic2core.results.models import Results

MOSTLY = 0.95
"""Share of the drops from which one place counts as the one that overflows."""

FITS = 2.0
"""Factor by which the room that a run's drops tell of may differ from that which there is, for its
drops to be those of full room: queues do not fill alike, and what is drained changes with time."""


@dataclass(frozen=True)
class Overflow:
    """One burst, and what it finds."""

    rate: float
    """Packets that come while it lasts, millions per second; no more than the link carries."""
    on_us: float
    """How long it lasts on the wire."""
    off_us: float
    """The pause after it."""
    drains: float
    """What the server does while packets wait, millions per second."""
    room: float
    """Packets of a burst that can wait, as the drops of the run tell."""
    nominal: float
    """Packets for which there is room when it is empty."""
    by_link: bool
    """Whether the link spreads the bursts out."""
    in_rings: bool
    """Whether the receive rings overflow, and not the NIC's SRAM."""

    def carried(self, drains: float, room: float) -> float:
        """Share of the arrivals that a server would carry that drains so much with so much room."""
        done = min(self.rate, drains) * self.on_us
        excess = self.rate * self.on_us - done
        # What waits at the end of a burst has to be done before the next.
        return (done + min(excess, room, drains * self.off_us)) / (self.rate * self.on_us)


def overflow(data: Results, scenario: dict[str, Any], model: Model) -> Overflow | None:
    """What overflows in the bursts of a run that drops packets; `None` where that is not known.

    Of traffic whose bursts have a known length and rate, if they come faster than the server drains
    them, and if as much is lost as of a burst that fills the room there is.
    """
    traffic, packets = scenario.get("traffic") or {}, data.packets
    dropped = packets.dropped_sram + packets.dropped_no_descriptor
    if traffic.get("kind") != "bursts" or not dropped or data.demand_mpps is None or uneven(data):
        return None
    on_us, off_us = (nanoseconds(traffic[key]) / 1e3 for key in ("on", "off"))
    if data.measured_ns < 1e3 * (on_us + off_us):
        return None
    of_burst = data.demand_mpps * (on_us + off_us)
    link = link_of_arrivals(data)
    most = inf if link is None or not link.busy_ps else 1e6 * link.uses / link.busy_ps
    rate = min(of_burst / on_us, most)
    longer_us = of_burst / rate
    off_us -= longer_us - on_us
    in_rings = packets.dropped_no_descriptor >= MOSTLY * dropped
    if off_us <= 0 or not (in_rings or packets.dropped_sram >= MOSTLY * dropped):
        return None
    drains = _drains(model)
    room = of_burst * (1 - packets.drop_share) - drains * longer_us
    nominal = _room(data, scenario, in_rings=in_rings)
    if drains >= rate or not nominal / FITS <= room <= nominal * FITS:
        return None
    by_link = rate == most
    return Overflow(rate, longer_us, off_us, drains, room, nominal, by_link, in_rings)


def helps_at_times(
    of: Overflow | None,
    data: Results,
    scenario: dict[str, Any],
    model: Model,
    found: Sequence[Help],
) -> Helps:
    """What changes give a run that drops packets although no stage is full on average.

    NaN if it is not known what overflows in bursts: that no mean is full does not say that nothing
    would help.
    """

    def predicted(help_: Help) -> float:
        change = help_.change
        # A faster link lets bursts come in less time.
        if of is None or (change.domain == "wire" and of.by_link):
            return nan
        text, *_ = _core.change_scenario(json.dumps(given(scenario)), as_sets(change.overrides))
        more = _room(data, json.loads(text), in_rings=of.in_rings) / of.nominal
        carried = of.carried(_drains(settled_with(change.apply, model)), more * of.room)
        return carried / of.carried(of.drains, of.room) - 1

    return Helps(h if h.unknown or h.harm else replace(h, predicted=predicted(h)) for h in found)


def _drains(model: Model) -> float:
    """What a server does if ever more is offered."""
    return replace(model, demand=inf).rate


def _room(data: Results, scenario: dict[str, Any], *, in_rings: bool) -> float:
    """Packets that can wait in empty receive rings, or in the NIC's SRAM."""
    if not in_rings:
        mean_bytes = data.packets.offered_gbps / data.packets.offered_mpps * 1e3 / 8
        return size_bytes(scenario["machine"]["nic"]["sram"]) / mean_bytes
    cores = sum(t["cores"]["count"] for t in scenario["tenants"] if serves(data, t))
    return float(cores * scenario["queues"]["rx_descriptors"])
