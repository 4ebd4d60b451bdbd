"""What sets the rate of a run: a stage of the path, or something else if none does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from nic2core.explain.asked import asked, links_load
from nic2core.explain.model import FULL, SAME
from nic2core.explain.overload import overloaded
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import link_of_arrivals, work

if TYPE_CHECKING:
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

SHORT_BY_CHANCE = 0.02
"""Share of the packets by which a run may fall short of the offered load and still count as keeping
up: in a short run, some packets are still in flight at the end. It is also the resolution with
which a run shows how close a domain is to its allowed rate."""

LEFT = 0.01
"""Share of the arrivals left uncompleted above which queues are growing, not just fluctuating."""

LEFT_FREE = 0.05
"""Share of what a stage allows from which senders that lose nothing leave it free on purpose: those
that keep a queue before it do 96.5 % and more (docs/models/explain.md)."""

FULL_CORE = 0.95
"""Share of time busy from which a core counts as saturated: packets come in bunches."""


class Limit(Enum):
    """What sets the rate of a run."""

    STAGE = auto()
    """It allows less than what is offered."""
    LINKS = auto()
    """The links of closed-loop senders."""
    CONTROL = auto()
    """The senders' congestion control."""
    OBJECTIVE = auto()
    """For a peak: its objective, or the link or a backlog if that fails above it."""
    NOTHING = auto()
    """No work is done, and no more packets are dropped than are on their way. This includes
    benchmarks next to traffic that never arrives: the cores for it only wait."""
    ALL_DROPPED = auto()
    """No packet completes: more are dropped than are on their way."""
    ONE_CORE = auto()
    """One core is saturated, or would be without drops, and drops packets; others have headroom."""
    BURSTS = auto()
    DROPS = auto()
    """No counter explains them."""
    BACKLOG = auto()
    """Completions fall behind arrivals."""
    FULL = auto()
    """A stage works at the rate it allows and nothing is lost, but it could not take more."""
    LOAD = auto()
    """The offered load."""


CARRIED = frozenset({Limit.LOAD, Limit.FULL})
"""Where all of the offered load gets through."""


AT_TIMES = frozenset({Limit.ONE_CORE, Limit.BURSTS, Limit.DROPS})
"""Where packets are dropped although no stage is full on average."""


IDLE = (Limit.NOTHING, Limit.ALL_DROPPED)
"""What sets the rate of runs that do no work which a model could describe."""


@dataclass(frozen=True)
class Run:
    """What the question is asked of: a run, or the peak of a search."""

    data: Results
    scenario: dict[str, Any]
    model: Model
    is_peak: bool

    @property
    def rate(self) -> float:
        """Work done, millions per second."""
        return work(self.data)[0]

    @cached_property
    def limit(self) -> Limit:
        """What sets its rate."""
        packets = self.data.packets
        drops = packets.drop_share > 0
        if self.rate <= 0 or packets.next_arrival_ns is not None:
            dropped = packets.dropped_sram + packets.dropped_no_descriptor
            most = drops and packets.completed == 0 and dropped > packets.in_flight_end
            return Limit.ALL_DROPPED if most else Limit.NOTHING
        if self._senders_limit is not None:
            return self._senders_limit
        if self._stage_limits:
            return Limit.STAGE
        if self.is_peak:
            return Limit.OBJECTIVE
        if drops:
            return self._of_drops
        return Limit.BACKLOG if self._behind else Limit.FULL if self._full else Limit.LOAD

    @property
    def _senders_limit(self) -> Limit | None:
        """What closed-loop senders are limited by, if they are by something of their own."""
        full = links_load(self.data, self.scenario) >= FULL
        if full and self.data.packets.drop_share == 0:
            return Limit.LINKS
        return Limit.CONTROL if self._held_back else None

    @property
    def _held_back(self) -> bool:
        """Whether closed-loop senders send clearly less than the path allows, and could send more.

        Their congestion control then sets the rate; all that is known of the path is that it has
        room.
        """
        transport = self.data.transport
        # Where nothing comes, the rate may be that of other work.
        if transport is None or self.data.packets.offered == 0:
            return False
        # Where packets are dropped, the path was full for a part of the time.
        room = NOTICED if self.data.packets.drop_share > 0 else LEFT_FREE
        if self.rate >= (1 - room) * self.model.rate:
            return False
        # A window that is nearly fully open may cover everything that is requested.
        of = asked(self.data, self.scenario)
        closed = sum(group.mpps for group in of if group.closed)
        return self.model.limited or closed > sum(group.mpps for group in of) / 2

    @property
    def _stage_limits(self) -> bool:
        """Whether a stage of the path allows less than what is offered.

        Either the run does all that the stage allows, and drops or leaves some of what arrived. Or
        it falls short of the offered load by more than chance, since arrivals that happen to be
        fewer than their distribution's mean are no limit of a stage. (A peak comes close to what a
        stage allows, but it is defined by the objective.)
        """
        data, packets = self.data, self.data.packets
        if self._full and not self.is_peak and self._loses:
            return True
        if not self.model.limited:
            return False
        left = packets.completed < (1 - LEFT) * packets.offered
        if data.demand_mpps is None or (
            left and not self.is_peak and self.rate >= SAME * self.model.rate
        ):
            return True
        expected = self.model.demand * data.measured_ns / 1e3
        return packets.completed < expected - _by_chance(expected)

    @property
    def _full(self) -> bool:
        """Whether the tightest domain does all that it allows, within the resolution of a run."""
        return self.rate >= (1 - SHORT_BY_CHANCE) * self.model.allows.get(self.model.tightest, inf)

    @property
    def _loses(self) -> bool:
        """Whether some of what arrives is dropped or left because of the tightest domain.

        A full link into the NIC is no such case: it delivers its packets evenly, so drops happen
        for lack of room behind it.
        """
        if self.model.tightest == "wire" and link_of_arrivals(self.data) is not None:
            return False
        return self.data.packets.drop_share > 0 or self._behind

    @property
    def _behind(self) -> bool:
        """Whether completions fall behind arrivals by more than chance."""
        packets = self.data.packets
        return packets.completed < packets.offered - _by_chance(packets.offered)

    @property
    def _of_drops(self) -> Limit:
        """What drops packets although no stage is full on average."""
        if one_core_is_full(self.data) or overloaded(self.data) is not None:
            return Limit.ONE_CORE
        # `constant` and `backlog` spread packets evenly.
        even = (self.scenario.get("traffic") or {}).get("kind") in {"constant", "backlog"}
        return Limit.DROPS if even else Limit.BURSTS


def core_shares(data: Results) -> tuple[float, float]:
    """The share of time that the busiest core is busy, and the mean over all cores."""
    time, span_ps = data.core_time, data.measured_ns * 1e3
    cores = data.by_domain.get("cores")
    count = 1 if cores is None else cores.credits
    return time.busiest_ps / span_ps, time.busy_ps / span_ps / count


def one_core_is_full(data: Results) -> bool:
    """Whether one core is saturated while others have headroom."""
    busiest, mean = core_shares(data)
    return busiest >= FULL_CORE > mean


def _by_chance(packets: float) -> float:
    """By how many packets a run may fall short of this number and still count as keeping up.

    Three standard deviations of Poisson arrivals, or the share that may still be in flight.
    """
    return max(SHORT_BY_CHANCE * packets, 3 * sqrt(packets))
