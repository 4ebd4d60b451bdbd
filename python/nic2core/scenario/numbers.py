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
    """The numbers of a table that are not zero, with their dotted keys."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in items:
            yield from _leaves(f"{key}.{name}" if key else str(name), inner)
    elif isinstance(value, str):
        if is_quantity(value) and Decimal(value.partition(" ")[0]) != 0:
            yield key, value
    elif isinstance(value, int | float) and not isinstance(value, bool) and value != 0:
        yield key, value


def around(value: float | str, by: float) -> tuple[Any, Any]:
    """A lower and a higher value."""
    if isinstance(value, str):
        return scaled(value, 1 - by), scaled(value, 1 + by)
    if isinstance(value, int):
        step = max(1, round(value * by))
        return value - step, value + step
    return value * (1 - by), value * (1 + by)
