"""The numbers of a scenario, and others near them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from nic2core._core import UserError
from nic2core.scenario.quantity import is_quantity, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def numbers(
    scenario: dict[str, Any], keys: Sequence[str]
) -> Iterator[tuple[str, int | float | str]]:
    """Every number, or number with a unit, of a scenario at or below some keys."""
    found = dict(_leaves("", scenario))
    for wanted in keys:
        below = {k: v for k, v in found.items() if f"{k}.".startswith(f"{wanted}.")}
        if not below:
            raise UserError(
                f"{wanted} is no key of this scenario with a number, and no table that has one; "
                "expected for example machine, machine.nic or queues.rx_descriptors."
            )
        yield from below.items()


def _leaves(key: str, value: Any) -> Iterator[tuple[str, int | float | str]]:
    """The numbers of a table, with their dotted keys."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            yield from _leaves(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, str):
        if is_quantity(value):
            yield key, value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value


def near(value: float | str, by: float) -> tuple[list[Any], list[Any]]:
    """Lower and higher values: changed by the share `by`, and half and twice for what cannot be.

    Whole numbers are changed by at least 1. No value if there is none on that side.
    """
    share = Decimal(str(by))
    lower = [_changed(value, 1 - share), _changed(value, Decimal("0.5"))]
    higher = [_changed(value, 1 + share), _changed(value, Decimal(2))]
    if isinstance(value, int):
        lower[0], higher[0] = min(lower[0], value - 1), max(higher[0], value + 1)
    same = _changed(value, Decimal(1))
    return ([v for v in lower if v != same], [v for v in higher if v != same])


def _changed(value: float | str, factor: Decimal) -> Any:
    if isinstance(value, str):
        return scaled(value, factor)
    return round(value * factor) if isinstance(value, int) else float(Decimal(str(value)) * factor)
