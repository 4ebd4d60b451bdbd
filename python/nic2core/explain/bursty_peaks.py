"""Peaks that are set by what is lost at times: what changes give them."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

from nic2core.explain.fluid import (
    in_front_of,
    one_serves,
    packets_of,
    sends_fill,
    server_of,
    then_packets,
    with_change,
)
from nic2core.explain.help import GAIN_TOLD, Help, Helps, settled_with
from nic2core.explain.model import SAME
from nic2core.scenario.quantity import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core._core import Bursts
    from nic2core.explain.fluid import Server
    from nic2core.explain.model import Model
    from nic2core.results.models import Results

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
    packets = packets_of(scenario) if traffic.get("kind") in {"bursts", "poisson"} else None
    if packets is None or not one_serves(data, scenario):
        return None
    sends, lost = sends_fill(model), share(scenario["slo"]["drops"])

    def peak(then: dict[str, Any], of: Model) -> float:
        comes = then_packets(packets, scenario, then)
        server = server_of(data, scenario, then, of, sends=sends)
        return nan if comes is None else min(of.rate, _holds(comes, server, lost, peak_mpps))

    now = peak(scenario, model)
    if not 1 / NEAR <= now / peak_mpps <= NEAR or now >= SAME * model.rate:
        return None

    def at_peak(help_: Help) -> Help:
        change = help_.change
        if help_.unknown or help_.harm:
            return help_
        gain = peak(with_change(scenario, change), settled_with(change.apply, model)) / now - 1
        if gain > GAIN_TOLD and change.gain_unknown:
            return replace(help_, predicted=nan, unknown=change.gain_unknown)
        return replace(help_, predicted=gain if isnan(gain) else max(0.0, gain))

    return Helps(at_peak(h) for h in found)


def _holds(packets: Bursts, server: Server, lost: float, near: float) -> float:
    """The highest mean rate at which no more than this share is lost, millions per second."""
    least, most = near / WITHIN, near * WITHIN
    for _ in range(STEPS):
        middle = sqrt(least * most)
        holds = in_front_of(packets.at(middle), server).lost <= lost
        least, most = (middle, most) if holds else (least, middle)
    return least
