"""The rate that a search for a peak found, as a scenario gives it."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context
from typing import TYPE_CHECKING, Any

from nic2core.scenario.quantity import is_bit_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nic2core.results.models import Peak

DOWN = Context(prec=4, rounding=ROUND_DOWN)
"""Rounds down as decimals, so that a rate that was found holds."""


def in_bits(traffic: Mapping[str, Any]) -> bool:
    """Whether the rate of traffic is given in bits. That of a capture as it is counts as such."""
    given = traffic.get("rate")
    return traffic["kind"] == "replay" if given is None else is_bit_rate(given)


def rate_found(found: Peak, traffic: Mapping[str, Any]) -> tuple[float, str]:
    """What was offered at a peak, in the terms of `traffic.rate` and its unit, if that is known."""
    if found.rate_gbps is not None and in_bits(traffic):
        return found.rate_gbps, "Gbps"
    return found.peak_mpps if found.rate_mpps is None else found.rate_mpps, "Mpps"


def rate_to_set(found: Peak, traffic: Mapping[str, Any]) -> str:
    """The same as a value for `traffic.rate`; rounded down to hold."""
    rate, unit = rate_found(found, traffic)
    return f"{DOWN.create_decimal(repr(rate)).normalize():f} {unit}"


def wire_rate(found: Peak, traffic: Mapping[str, Any]) -> str:
    """The same if it is in bits."""
    return rate_to_set(found, traffic) if rate_found(found, traffic)[1] == "Gbps" else ""
