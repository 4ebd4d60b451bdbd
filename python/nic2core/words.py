"""Numbers of a run in words: figures with units, shares, and what belongs in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from nic2core.scenario.quantity import LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nic2core.results.models import Packets


NOTHING = "-"
"""Shown where there is no meaningful number."""


WHOLE: dict[str, Any] = {
    "tbl_rows": -1,
    "tbl_cols": -1,
    "tbl_width_chars": 1000,
    "fmt_str_lengths": 100,
    "tbl_hide_column_data_types": True,
    "tbl_hide_dataframe_shape": True,
}
"""Polars settings that print a whole table, and nothing else."""


@dataclass(frozen=True)
class Severity:
    """How heavily a stage is loaded."""

    name: str
    terminal: str


MEDIUM, HIGH = 0.5, 0.8
"""Load thresholds: above half of the capacity queues grow, above four fifths they dominate latency.
"""


def severity(load: float) -> Severity:
    """The severity of a load."""
    if load >= HIGH:
        return Severity("high", "red")
    if load >= MEDIUM:
        return Severity("medium", "yellow")
    return Severity("low", "blue")


def at_least(ns: float) -> str:
    """A time to set that is enough, in tenths of a millisecond, or of a second from there on.

    No exponent, which no key takes.
    """
    scale, unit = (1e6, "ms") if ns <= 1e9 else (1e9, "s")
    tenths = ceil(10 * ns / scale)
    return f"{tenths // 10}{f'.{tenths % 10}' if tenths % 10 else ''} {unit}"


def time(ns: float) -> str:
    """A time with three significant figures, in the unit that fits."""
    for limit, scale, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        # 999.6 ns are 1.00 µs.
        if float(THREE.create_decimal_from_float(ns)) < limit:
            return f"{three(ns / scale)} {unit}"
    return f"{three(ns / 1e9)} s"


THREE = Context(prec=3)
"""Rounds as decimals, half to even: 633.5 ns and 0.6335 µs become the same."""


LEAST = 0.001
"""What is less is negligible in every unit shown."""


HUNDRED = 99.95
"""From here three significant figures have no digit after the point, and first read as 100."""


def three(value: float) -> str:
    """A number with three significant figures, or all digits before the point, in groups of three.

    Anything below a thousandth appears as `< 0.001`.
    """
    if value == 0:
        return "0"
    if abs(value) < LEAST:
        return f"< {LEAST}"
    if abs(value) >= HUNDRED:
        return f"{value:,.0f}"
    return f"{float(THREE.create_decimal(repr(float(value)))):#.3g}"


def megabytes(lines: float) -> str:
    """What so many cache lines hold."""
    return f"{three(lines * LINE_BYTES / 1e6)} MB"


MOST_DIGITS = 6
"""Significant figures up to which two numbers are written to show that they differ."""


def distinct(one: float, other: float) -> tuple[str, str]:
    """Two numbers with as many significant figures as show that they differ, at least three."""
    texts = three(one), three(other)
    for digits in range(4, MOST_DIGITS + 1):
        if texts[0] != texts[1] or one == other:
            break
        # The point that `#` leaves at the end of whole numbers is no digit.
        texts = f"{one:#,.{digits}g}".rstrip("."), f"{other:#,.{digits}g}".rstrip(".")
    return texts


def count(number: int, one: str) -> str:
    """A number with its noun: `1 packet`, `2 packets`."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def tail(column: str, value: float | None) -> str:
    """A tail of a run, by column of a sweep's table: a time, or how many times as long."""
    if value is None:
        return NOTHING
    return time(value) if column.endswith("_ns") else three(value)


def listed(names: Iterable[str]) -> str:
    """One or several names as in a sentence: `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def several(name: str) -> bool:
    """Whether a name is a plural: `cores`, but not `memory bus` or `loss`."""
    return name.endswith("s") and not name.endswith(("ss", "us"))


def percent(share: float) -> str:
    """A share as a percentage: a few drops do not read as none, nor nearly all as all."""
    value = 100 * share
    if HUNDRED <= value < 100:
        return "over 99.9 %"
    return "0 %" if value == 0 else "< 0.01 %" if value < 0.01 else f"{three(value)} %"


def signed(value: float, digits: int) -> str:
    """A difference with its sign; what rounds to nothing is not negative."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def gain(share: float) -> str:
    """How much something helps, in whole percent: predictions are no more accurate than that."""
    if isnan(share):
        return "?"
    value = round(100 * share)
    return "0 %" if value == 0 else f"{value:+d} %"


def no_room_in(packets: Packets, *, shares: bool = False) -> str:
    """Where packets are dropped for lack of room, most drops first: NIC SRAM, receive rings.

    With `shares`, and if both drop packets, also the share of the drops that is due to each.
    """
    places = {"SRAM": packets.dropped_sram, "rings": packets.dropped_no_descriptor}
    short = sorted((n for n, dropped in places.items() if dropped), key=lambda name: -places[name])
    if not shares or len(short) < 2:
        return ", ".join(short)
    every = sum(places.values())
    return ", ".join(f"{name} {percent(places[name] / every)}" for name in short)


def sentence(text: str) -> str:
    """The text with its first letter capitalised; `p99` and `key=value` stay as they are."""
    as_it_is = text[1:2].isdigit() or "=" in text.partition(" ")[0]
    return text if as_it_is else text[:1].upper() + text[1:]
