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
from nic2core.explain.help import GAIN_TOLD, Help, Helps, settled_with
from nic2core.explain.overload import dropping
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


BEFORE_RINGS = frozenset(
    {"packet-engine", "pcie", "nic-port", "posted-credits", "iommu", "io-credits"}
)
"""Domains that packets pass before they hold a receive descriptor for long: a burst reaches the
rings no faster than these allow, and waits in the SRAM."""

AFTER_CORES = frozenset({"tx-descriptors", "tx-fetches", "read-tags", "read-credits"})
"""Domains that packets wait for in the send queues, which then have room for a burst, too."""


LOST_AT_PEAK = (
    "what bursts lose sets this peak, and how fast they may come depends on the room for them"
)
"""Why the gains of a peak of bursts that drops set are not known."""

RINGS_INSTEAD = (
    "what waits in the NIC's SRAM would come out of it faster than the cores take it, and may "
    "overflow the rings instead"
)
"""Why it is not known what a faster way out of the SRAM gives."""

SOONER = "bursts would reach the rings sooner, and less of them would wait in the NIC's SRAM"
"""Why a faster way to the rings can lower what is carried."""


@dataclass(frozen=True)
class Overflow:
    """What bursts find."""

    packets: float
    """Packets of a burst."""
    cycle_us: float
    """From the beginning of a burst to that of the next."""
    fastest: float
    """Packets that come while it lasts, millions per second; no more than the link carries."""
    by_link: bool
    """Whether the link spreads the bursts out."""
    reaches: float
    """The same of what reaches the room that overflows."""
    drains: float
    """What the server does while packets wait, millions per second."""
    room: float
    """Packets of a burst that can wait, as the drops of the run tell."""
    nominal: float
    """Packets for which there is room when it is empty."""
    rings: int
    """Number of receive rings; 1 if the SRAM overflows."""
    in_rings: bool
    """Whether the receive rings overflow, and not the NIC's SRAM."""

    @property
    def lasts_us(self) -> float:
        """How long a burst lasts on the wire."""
        return self.packets / self.fastest

    def carried(self, reaches: float, drains: float, room: float) -> float:
        """Share of the arrivals that is carried if bursts reach so much room at such a rate."""
        lasts_us = self.packets / reaches
        done = min(reaches, drains) * lasts_us
        # What waits at the end of a burst has to be done before the next.
        pause_us = max(0.0, self.cycle_us - lasts_us)
        waits = min(self.packets - done, room, drains * pause_us)
        return (done + waits) / self.packets


def overflow(data: Results, scenario: dict[str, Any], model: Model) -> Overflow | None:
    """What overflows in the bursts of a run that drops packets; `None` where that is not known.

    Of traffic whose bursts have a known length and rate, if they come faster than the server drains
    them, and if as much is lost as of a burst that fills the room there is.
    """
    traffic, packets = scenario.get("traffic") or {}, data.packets
    dropped = packets.dropped_sram + packets.dropped_no_descriptor
    if traffic.get("kind") != "bursts" or not dropped or data.demand_mpps is None:
        return None
    # One ring may be full while others have room.
    if uneven(data) or dropping(data) is not None:
        return None
    on_us, off_us = (nanoseconds(traffic[key]) / 1e3 for key in ("on", "off"))
    cycle_us = on_us + off_us
    in_rings = packets.dropped_no_descriptor >= MOSTLY * dropped
    at_one_place = in_rings or packets.dropped_sram >= MOSTLY * dropped
    if not at_one_place or data.measured_ns < 1e3 * cycle_us:
        return None
    of_burst = data.demand_mpps * cycle_us
    link = link_of_arrivals(data)
    most = inf if link is None or not link.busy_ps else 1e6 * link.uses / link.busy_ps
    fastest = min(of_burst / on_us, most)
    reaches, drains = _reaches(model, fastest, in_rings=in_rings), _drains(model)
    room = of_burst * (1 - packets.drop_share) - drains * of_burst / reaches
    rings = _rings(data, scenario, scenario) if in_rings else 1
    nominal = rings * _holds(data, scenario, model, in_rings=in_rings)
    if drains >= reaches or of_burst / reaches >= cycle_us:
        return None
    if not nominal / FITS <= room <= nominal * FITS:
        return None
    by_link = fastest == most
    return Overflow(
        of_burst, cycle_us, fastest, by_link, reaches, drains, room, nominal, rings, in_rings
    )


def helps_at_times(
    of: Overflow | None,
    data: Results,
    scenario: dict[str, Any],
    model: Model,
    found: Sequence[Help],
) -> Helps:
    """What changes give a run that drops packets at times.

    NaN if it is not known what overflows in bursts: that no mean is full does not say that nothing
    would help.
    """

    def in_bursts(help_: Help) -> Help:
        change = help_.change
        if help_.unknown or help_.harm:
            return help_
        # A faster link lets bursts come in less time.
        if of is None or (change.domain == "wire" and of.by_link):
            return replace(help_, predicted=nan)
        text, *_ = _core.change_scenario(json.dumps(given(scenario)), as_sets(change.overrides))
        then, changed = json.loads(text), settled_with(change.apply, model)
        rings = _rings(data, scenario, then)
        in_rings = rings * _holds(data, then, model, in_rings=True)
        if not of.in_rings and _overflows(in_rings, of.packets, of.fastest, changed):
            return replace(help_, predicted=nan, unknown=RINGS_INSTEAD)
        # What a ring holds for other reasons, such as packets in service, is the same in each.
        used = (of.nominal - of.room) / of.rings
        holds = _holds(data, then, model, in_rings=of.in_rings)
        room = (rings if of.in_rings else 1) * (holds - used)
        reaches = _reaches(changed, of.fastest, in_rings=of.in_rings)
        carried = of.carried(reaches, _drains(changed), room)
        gain = carried / of.carried(of.reaches, of.drains, of.room) - 1
        if gain > GAIN_TOLD and change.gain_unknown:
            return replace(help_, predicted=nan, unknown=change.gain_unknown)
        if reaches > of.reaches and gain < -GAIN_TOLD:
            return replace(help_, predicted=gain, harm=SOONER)
        return replace(help_, predicted=max(0.0, gain))

    return Helps(in_bursts(h) for h in found)


def _drains(model: Model) -> float:
    """What a server does if ever more is offered."""
    return replace(model, demand=inf).rate


def _reaches(model: Model, fastest: float, *, in_rings: bool) -> float:
    """The rate at which bursts reach the rings, or the SRAM, millions per second."""
    if not in_rings:
        return fastest
    return min([fastest, *(rate for name, rate in model.allows.items() if name in BEFORE_RINGS)])


def _overflows(room: float, packets: float, fastest: float, model: Model) -> bool:
    """Whether bursts that wait in the SRAM would come out of it faster than rings have room for."""
    before = BEFORE_RINGS | {"rx-fetches"}
    reaches = min((rate for name, rate in model.allows.items() if name in before), default=inf)
    drains = min((rate for name, rate in model.allows.items() if name not in before), default=inf)
    return packets - drains * packets / min(reaches, fastest) > room


def _rings(data: Results, scenario: dict[str, Any], then: dict[str, Any]) -> int:
    """The receive rings of a run's tenants that serve packets, in this or a changed scenario."""
    both = zip(scenario["tenants"], then["tenants"], strict=True)
    return sum(changed["cores"]["count"] for tenant, changed in both if serves(data, tenant))


def _holds(data: Results, scenario: dict[str, Any], model: Model, *, in_rings: bool) -> float:
    """Packets that can wait in an empty ring, and its send queue if that fills, or in the SRAM."""
    if not in_rings:
        mean_bytes = data.packets.offered_gbps / data.packets.offered_mpps * 1e3 / 8
        return size_bytes(scenario["machine"]["nic"]["sram"]) / mean_bytes
    queues = scenario["queues"]
    sends = queues["tx_descriptors"] if model.tightest in AFTER_CORES else 0
    return float(queues["rx_descriptors"] + sends)
