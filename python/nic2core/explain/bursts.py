"""Bursts that overflow what is in front of the server: what they lose, and what changes would save.

While more comes than the server does, the difference fills the receive rings or the NIC's SRAM, and
what finds no room is dropped; later they drain. The model's means, over all of the time, do not
show that. So the packets of the run pass once more, by a fluid that drains at the rates that the
model gives (`_core.Bursts`).
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core._core import Bursts, UserError
from nic2core.explain.help import GAIN_TOLD, Help, Helps, settled_with
from nic2core.explain.model import SAME
from nic2core.explain.use import DISPATCH, link_of_arrivals, serves
from nic2core.scenario.quantity import nanoseconds, share, size_bytes
from nic2core.scenario.toml_text import as_sets, given

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nic2core.explain.change import Change
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

TELLING = 0.005
"""Share of the packets dropped in one place from which they tell how much room there is."""

AMISS = 0.03
"""Share of the packets by which the fluid may lose more or less than the run."""

FITS = 2.0
"""Factor by which the room that a run's drops tell of may differ from that which there is, and what
the fluid loses from what the run does: packets in service hold room, and what is drained changes
with time."""

HALVINGS = 30
"""Of the interval that room is searched in: to a millionth of it."""


CORES = frozenset({"cores", "miss-registers"})
"""Domains of which each ring has its own."""

BEFORE_RINGS = frozenset(
    {"rx-fetches", "packet-engine", "pcie", "nic-port", "posted-credits", "iommu", "io-credits"}
)
"""Domains that packets pass before they hold a receive descriptor for long: what comes faster
than these allow waits in the SRAM."""

AFTER_CORES = frozenset({"tx-descriptors", "tx-fetches", "read-tags", "read-credits"})
"""Domains that packets wait for in the send queues, which then have room for a burst, too."""

WAITED_IN = frozenset({"wire", "nic-sram", "descriptors", DISPATCH})
"""Domains that the fluid has in other ways: what packets come by, wait in and are dealt by."""


NEAR = 1.25
"""Factor by which the fluid's peak may differ from that of the search."""

WITHIN = 4.0
"""Factor of the peak within which that with a change is searched."""

STEPS = 10
"""Halvings of that: to a quarter of a percent."""

LOST_AT_PEAK = (
    "what bursts lose sets this peak, and how fast they may come depends on the room for them"
)
"""Why the gains of a peak of bursts that drops set are not known."""

EITHER = (
    "whether bursts then wait in the NIC's SRAM or in the rings depends on rates that differ too "
    "little"
)
"""Why a gain is not known that is another if packets leave the SRAM somewhat sooner or later."""

SOMEWHAT = 1.25
"""How much sooner or later."""

SOONER = "bursts would reach the rings sooner, and less of them would wait before"
"""Why a faster link, or a faster way out of the NIC's SRAM, can lower what is carried."""


@dataclass(frozen=True)
class Server:
    """The rates at which waiting packets are drained, millions per second, and how many can wait.

    In the order in which `_core.Bursts.in_front_of` takes them.
    """

    leaves_sram: float
    sram: float
    serves: float
    serves_ring: float
    ring: float
    post_batch: int
    posting_us: float


@dataclass(frozen=True)
class Passed:
    """What becomes of the packets that come in the measured time, as `in_front_of` returns it."""

    came: int
    in_sram: float
    """Share of them that the SRAM has no room for."""
    in_rings: float
    most_in_sram: float
    """Packets."""
    most_in_ring: float

    @property
    def lost(self) -> float:
        """Share of them that is dropped."""
        return self.in_sram + self.in_rings


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

    @property
    def most_waiting(self) -> float:
        """Packets that would wait in the fullest ring, or in the SRAM, if there were room for all.

        Of all that come, the last as well, which may be more than before if they come faster than
        the server does them.
        """
        passed = _passed(self.packets, replace(self.server, sram=inf, ring=inf))
        return passed.most_in_ring if self.in_rings else passed.most_in_sram

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
        then = _passed(packets, replace(server, sram=sram, ring=ring))
        lost = then.lost * self.lost / self.passed.lost
        return then.came / self.passed.came * max(0.0, 1 - lost) / (1 - self.lost) - 1


def overflow(data: Results, scenario: dict[str, Any], model: Model) -> Overflow | None:
    """What overflows in a run that drops packets; `None` where that is not known.

    That is traffic without times of its own, and where the fluid does not lose what the run does.
    """
    dropped = (data.packets.dropped_sram, data.packets.dropped_no_descriptor)
    # Where tenants take different times, how long a ring's packets take is not known.
    if not any(dropped) or sum(serves(data, tenant) for tenant in scenario["tenants"]) != 1:
        return None
    packets = _packets(scenario)
    if packets is None:
        return None
    sends = model.tightest in AFTER_CORES
    server = nominal = _server(data, scenario, scenario, model, sends=sends)
    lost_sram, lost_rings = (of / data.packets.offered for of in dropped)
    if lost_sram > TELLING:
        sram = _room(
            lambda room: _passed(packets, replace(nominal, sram=room)).in_sram,
            lost_sram,
            nominal.sram,
        )
        server = replace(nominal, sram=sram)
    if lost_rings > TELLING:
        ring = _room(
            lambda room: _passed(packets, replace(server, ring=room)).in_rings,
            lost_rings,
            nominal.ring,
        )
        server = replace(server, ring=ring)
    found, lost = _passed(packets, server), lost_sram + lost_rings
    amiss = max(abs(found.in_sram - lost_sram), abs(found.in_rings - lost_rings))
    if amiss > AMISS or not lost / FITS <= found.lost <= lost * FITS:
        return None
    rings, in_rings = _rings(data, scenario, scenario), lost_rings >= lost_sram
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
        then = _changed(scenario, change)
        same = _comes(then) == _comes(scenario)
        comes = of.packets if same else _packets(then)
        if comes is None:
            return replace(help_, predicted=nan)
        changed = settled_with(change.apply, model)
        server = _server(data, scenario, then, changed, sends=of.sends)
        gain = of.gain(comes, server)
        unknown = EITHER if isnan(gain) else change.gain_unknown if gain > GAIN_TOLD else ""
        if unknown:
            return replace(help_, predicted=nan, unknown=unknown)
        sooner = not same or server.leaves_sram > of.server.leaves_sram
        if sooner and gain < -GAIN_TOLD:
            return replace(help_, predicted=gain, harm=SOONER)
        return replace(help_, predicted=max(0.0, gain))

    return Helps(in_bursts(h) for h in found)


def helps_at_peak(
    peak_mpps: float,
    data: Results,
    scenario: dict[str, Any],
    model: Model,
    found: Sequence[Help],
) -> Helps | None:
    """What changes give a peak that is set by what is lost at times.

    `None` where it is not, or where the fluid has another peak; for a capture as well, of which the
    probes of a search see other parts.
    """
    traffic = scenario.get("traffic") or {}
    packets = _packets(scenario) if traffic.get("kind") in {"bursts", "poisson"} else None
    if packets is None or sum(serves(data, tenant) for tenant in scenario["tenants"]) != 1:
        return None
    sends = model.tightest in AFTER_CORES
    lost = share(scenario["slo"]["drops"])

    def peak(then: dict[str, Any], of: Model) -> float:
        comes = packets if _comes(then) == _comes(scenario) else _packets(then)
        server = _server(data, scenario, then, of, sends=sends)
        return nan if comes is None else min(of.rate, _holds(comes, server, lost, peak_mpps))

    now = peak(scenario, model)
    if not 1 / NEAR <= now / peak_mpps <= NEAR or now >= SAME * model.rate:
        return None

    def at_peak(help_: Help) -> Help:
        change = help_.change
        if help_.unknown or help_.harm:
            return help_
        gain = peak(_changed(scenario, change), settled_with(change.apply, model)) / now - 1
        if gain > GAIN_TOLD and change.gain_unknown:
            return replace(help_, predicted=nan, unknown=change.gain_unknown)
        return replace(help_, predicted=max(0.0, gain))

    return Helps(at_peak(h) for h in found)


def _holds(packets: Bursts, server: Server, lost: float, near: float) -> float:
    """The highest mean rate at which no more than this share is lost, millions per second."""
    least, most = near / WITHIN, near * WITHIN
    for _ in range(STEPS):
        middle = sqrt(least * most)
        holds = _passed(packets.at(middle), server).lost <= lost
        least, most = (middle, most) if holds else (least, middle)
    return least


def _changed(scenario: dict[str, Any], change: Change) -> dict[str, Any]:
    """The scenario with a change."""
    text, *_ = _core.change_scenario(json.dumps(given(scenario)), as_sets(change.overrides))
    then: dict[str, Any] = json.loads(text)
    return then


def _packets(scenario: dict[str, Any]) -> Bursts | None:
    """The packets of a run; `None` if they have no times of their own, or the capture is gone."""
    try:
        return Bursts.of(json.dumps(given(scenario)))
    except UserError:
        return None


def _comes(scenario: dict[str, Any]) -> tuple[object, ...]:
    """What decides which packets come, when, and to which ring."""
    nic = scenario["machine"]["nic"]
    cores = [tenant["cores"] for tenant in scenario["tenants"]]
    return scenario["traffic"], scenario["run"], nic["rss"], nic.get("link"), cores


def _passed(packets: Bursts, server: Server) -> Passed:
    return Passed(*packets.in_front_of(astuple(server)))


def _room(lost: Callable[[float], float], share: float, nominal: float) -> float:
    """The room with which so much is lost; the nominal if it is not about as much."""
    least, most = nominal / FITS, nominal * FITS
    if not lost(most) <= share <= lost(least):
        return nominal
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if lost(middle) > share else (least, middle)
    return most


def _server(
    data: Results, scenario: dict[str, Any], then: dict[str, Any], model: Model, *, sends: bool
) -> Server:
    """The server of a model of this or a changed scenario, with the room that it has."""
    allows = {name: rate for name, rate in model.allows.items() if name not in WAITED_IN}

    def least(names: Callable[[str], bool]) -> float:
        return min((rate for name, rate in allows.items() if names(name)), default=inf)

    queues = then["queues"]
    mean_bytes = data.packets.offered_gbps / data.packets.offered_mpps * 1e3 / 8
    return Server(
        leaves_sram=least(lambda name: name not in CORES | AFTER_CORES),
        sram=size_bytes(then["machine"]["nic"]["sram"]) / mean_bytes,
        serves=least(lambda name: name not in CORES | BEFORE_RINGS),
        serves_ring=least(lambda name: name in CORES) / _rings(data, scenario, then),
        ring=float(queues["rx_descriptors"] + (queues["tx_descriptors"] if sends else 0)),
        post_batch=queues["post_batch"],
        posting_us=_posting_us(data),
    )


def _posting_us(data: Results) -> float:
    """From posting descriptors until a core has packets in them: the NIC reads, and then writes."""
    fetches = sum(q.rx_fetches for q in data.queues)
    reading_us = sum(q.rx_fetching_ps for q in data.queues) / 1e6 / (fetches or 1)
    dma = next((s.distribution.mean_ns for s in data.latency if s.stage == "dma"), 0.0)
    return reading_us + dma / 1e3


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


def _rings(data: Results, scenario: dict[str, Any], then: dict[str, Any]) -> int:
    """The receive rings of a run's tenants that serve packets, in this or a changed scenario."""
    both = zip(scenario["tenants"], then["tenants"], strict=True)
    return sum(changed["cores"]["count"] for tenant, changed in both if serves(data, tenant))
