"""Closed-loop traffic, as a scenario has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core.scenario.quantity import size_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


def controls(traffic: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The table of each congestion control, by its key: one, or that of the rivals as well."""
    found = {"traffic.control": traffic["control"]}
    rivals = traffic.get("rivals")
    if rivals is not None:
        found["traffic.rivals.control"] = rivals["control"]
    return found


def most_kept(scenario: Mapping[str, Any]) -> int:
    """Most receive buffers of a core in which packets wait for the rest of their read."""
    if all(tenant["app"].get("copied") != "on-completion" for tenant in scenario["tenants"]):
        return 0
    traffic = scenario["traffic"]
    packets = round(size_bytes(traffic["read"]) / size_bytes(traffic["payload"]))
    return int(traffic["senders"] * traffic.get("open_reads", 1) * (packets - 1))
