"""The congestion controls of closed-loop traffic, as a scenario has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def controls(traffic: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The table of each congestion control, by its key: one, or that of the rivals as well."""
    found = {"traffic.control": traffic["control"]}
    rivals = traffic.get("rivals")
    if rivals is not None:
        found["traffic.rivals.control"] = rivals["control"]
    return found
