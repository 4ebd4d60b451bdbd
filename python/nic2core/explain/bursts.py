"""Bursts that overflow what is in front of the server: what they lose, and what changes would save.

While more comes than the server does, the difference fills the receive rings or the NIC's SRAM, and
what finds no room is dropped; later they drain. The model's means, over all of the time, do not
show that; the fluid of `fluid.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf, isnan, nan
from typing import TYPE_CHECKING, Any

from nic2core.explain.fluid import (
    in_front_of,
    one_serves,
    packets_of,
    rings_of,
    sends_fill,
    server_of,
    then_packets,
    with_change,
)
from nic2core.explain.help import GAIN_TOLD, Help, Helps, settled_with
from nic2core.explain.use import link_of_arrivals
from nic2core.scenario.quantity import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core._core import Bursts
    from nic2core.explain.fluid import Passed, Server
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

TELLING = 0.005
"""Share of the packets dropped in one place from which they tell how much room there is."""

AMISS = 0.03
"""Share of the packets by which the fluid may lose more or less than the run. Chosen when it was
known that rings of 64 that are posted at once are 2 % off (docs/models/explain.md)."""

FITS = 2.0
"""Factor by which the room that a run's drops tell of may differ from that which there is, and what
the fluid loses from what the run does: packets in service hold room, and what is drained changes
with time."""

HALVINGS = 20
"""Of the interval that room is searched in: to a millionth of it."""


EITHER = (
    "whether bursts then wait in the NIC's SRAM or in the rings depends on rates that differ too "
    "little"
)
"""Why a gain is not known that is another if packets leave the SRAM somewhat sooner or later."""

SOMEWHAT = 1.25
"""How much sooner or later. Chosen when the worst predictions were known
(docs/models/explain.md)."""

LONGEST = 1 << 15
"""Packets of the most room that is worth telling of."""

SOONER = "bursts would reach the rings sooner, and less of them would wait before"
"""Why a faster link, or a faster way out of the NIC's SRAM, can lower what is carried."""


@dataclass(frozen=True)
class Burst:
    """A burst of a known length."""

    fastest: float
    """Packets that come while it lasts, millions per second; no more than the link carries."""
    lasts_us: float
    """How long it lasts on the wire."""


@dataclass(frozen=True)
class Overflow:
    """What overflows."""

    packets: Bursts
    passed: Passed
    """What becomes of them in front of `server`."""
    server: Server
    """With room for as many packets as the drops of the run tell."""
    nominal: Server
    """With all the room that there is when it is empty."""
    sends: bool
    """Whether send queues fill, too, so that their descriptors are room as well."""
    lost: float
    """Share of the packets that the run drops."""
    rings: int
    in_rings: bool
    """Whether most is lost for lack of room in the receive rings, and not in the NIC's SRAM."""
    burst: Burst | None
    """`None` if bursts have no known length."""

    @property
    def room(self) -> float:
        """Packets that can wait where most is lost."""
        if not self.in_rings:
            return self.server.sram
        of = self.server
        # On average, so many descriptors wait to be posted with others, and to be used again.
        away = (of.post_batch - 1) / 2 + of.serves_ring * of.posting_us
        return self.rings * (of.ring - away)

    @property
    def drains(self) -> float:
        """What the server does while packets wait there, millions per second."""
        of = self.server
        if not self.in_rings:
            return of.leaves_sram
        return min(of.leaves_sram, of.serves, self.rings * of.serves_ring)

    @cached_property
    def enough(self) -> int | None:
        """Descriptors of a ring, or packets in the SRAM, with which nothing would be lost.

        `None` if more comes than the server ever does.
        """
        passed = in_front_of(self.packets, replace(self.server, sram=inf, ring=inf))
        most = ceil(passed.most_in_ring if self.in_rings else passed.most_in_sram)
        return most if most <= LONGEST else None

    def gain(self, packets: Bursts, server: Server) -> float:
        """What a server with its nominal room carries of packets, over what the run does, - 1.

        What the fluid loses is taken for more or less as it is for the run. NaN if packets that
        leave the SRAM somewhat sooner or later make a difference that is out of proportion.
        """
        gains = [
            self._gain(packets, replace(server, leaves_sram=server.leaves_sram * factor))
            for factor in (1 / SOMEWHAT, 1, SOMEWHAT)
        ]
        return gains[1] if 1 + max(gains) <= SOMEWHAT**2 * (1 + min(gains)) else nan

    def _gain(self, packets: Bursts, server: Server) -> float:
        sram = server.sram - (self.nominal.sram - self.server.sram)
        # What a ring holds for other reasons, such as packets in service, is the same in each.
        ring = server.ring - (self.nominal.ring - self.server.ring)
        then = in_front_of(packets, replace(server, sram=sram, ring=ring))
        lost = then.lost * self.lost / self.passed.lost
        return then.came / self.passed.came * max(0.0, 1 - lost) / (1 - self.lost) - 1


def overflow(data: Results, scenario: dict[str, Any], model: Model) -> Overflow | None:
    """What overflows in a run that drops packets; `None` where that is not known.

    That is traffic without times of its own, and where the fluid does not lose what the run does.
    """
    dropped = (data.packets.dropped_sram, data.packets.dropped_no_descriptor)
    if not any(dropped) or not one_serves(data, scenario):
        return None
    packets = packets_of(scenario)
    if packets is None:
        return None
    sends = sends_fill(model)
    server = nominal = server_of(data, scenario, scenario, model, sends=sends)
    lost_sram, lost_rings = (of / data.packets.offered for of in dropped)
    # What reaches the rings depends on the room in the SRAM.
    if lost_sram > TELLING:
        server = _with_room(packets, server, lost_sram, in_rings=False)
    if lost_rings > TELLING:
        server = _with_room(packets, server, lost_rings, in_rings=True)
    found, lost = in_front_of(packets, server), lost_sram + lost_rings
    amiss = max(abs(found.in_sram - lost_sram), abs(found.in_rings - lost_rings))
    if amiss > AMISS or not lost / FITS <= found.lost <= lost * FITS:
        return None
    rings, in_rings = rings_of(data, scenario, scenario), lost_rings >= lost_sram
    burst = _burst(data, scenario)
    return Overflow(packets, found, server, nominal, sends, lost, rings, in_rings, burst)


def helps_at_times(
    of: Overflow | None,
    data: Results,
    scenario: dict[str, Any],
    model: Model,
    found: Sequence[Help],
) -> Helps:
    """What changes give a run that drops packets at times.

    NaN if it is not known what overflows: that no mean is full does not say that nothing would
    help.
    """

    def in_bursts(help_: Help) -> Help:
        change = help_.change
        if help_.unknown or help_.harm:
            return help_
        if of is None:
            return replace(help_, predicted=nan)
        then = with_change(scenario, change)
        comes = then_packets(of.packets, scenario, then)
        if comes is None:
            return replace(help_, predicted=nan)
        after = settled_with(change.apply, model)
        server = server_of(data, scenario, then, after, sends=of.sends)
        gain = of.gain(comes, server)
        unknown = EITHER if isnan(gain) else change.gain_unknown if gain > GAIN_TOLD else ""
        if unknown:
            return replace(help_, predicted=nan, unknown=unknown)
        sooner = comes is not of.packets or server.leaves_sram > of.server.leaves_sram
        if sooner and gain < -GAIN_TOLD:
            return replace(help_, predicted=gain, harm=SOONER)
        return replace(help_, predicted=max(0.0, gain))

    return Helps(in_bursts(h) for h in found)


def _with_room(packets: Bursts, server: Server, lost: float, *, in_rings: bool) -> Server:
    """A server with as much room, in its SRAM or in each ring, as loses this share there.

    The same server if that is not about as much as it has.
    """

    def holding(room: float) -> Server:
        return replace(server, ring=room) if in_rings else replace(server, sram=room)

    def loses(room: float) -> float:
        passed = in_front_of(packets, holding(room))
        return passed.in_rings if in_rings else passed.in_sram

    room = server.ring if in_rings else server.sram
    least, most = room / FITS, room * FITS
    if not loses(most) <= lost <= loses(least):
        return server
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if loses(middle) > lost else (least, middle)
    return holding(most)


def _burst(data: Results, scenario: dict[str, Any]) -> Burst | None:
    """A burst of on/off traffic."""
    traffic = scenario["traffic"]
    if traffic["kind"] != "bursts" or data.demand_mpps is None:
        return None
    on_us, off_us = (nanoseconds(traffic[key]) / 1e3 for key in ("on", "off"))
    packets = data.demand_mpps * (on_us + off_us)
    link = link_of_arrivals(data)
    most = inf if link is None or not link.busy_ps else 1e6 * link.uses / link.busy_ps
    fastest = min(packets / on_us, most)
    return Burst(fastest, packets / fastest)
