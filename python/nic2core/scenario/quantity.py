"""Values with units in a scenario: `"36 MiB"`, `"3.2 GHz"`, `"5 us"`."""

from __future__ import annotations

from decimal import Decimal

PS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
HZ = {"Hz": 1e-9, "kHz": 1e-6, "MHz": 1e-3, "GHz": 1.0}
BITS = {"bps": 1e-9, "kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0}
BYTES = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


LINE = 64
"""Bytes of a cache line."""

UNITS = PS.keys() | HZ.keys() | BITS.keys() | BYTES.keys()


def is_quantity(value: str) -> bool:
    """Whether a text is a number with a unit, as quantities are in a complete scenario."""
    number, _, unit = value.partition(" ")
    return unit in UNITS and number.replace(".", "", 1).isdigit()


def times(value: str, factor: int | Decimal) -> str:
    """A quantity multiplied by `factor`, in its own unit."""
    number, _, unit = value.partition(" ")
    product = (Decimal(number) * factor).normalize()
    return f"{product:f} {unit}"


def scaled(value: str, share: float) -> str:
    """A quantity multiplied by `share`; of a size whole bytes, and whole lines from 1 KiB on."""
    factor = Decimal(str(share))
    if value.rpartition(" ")[2] not in BYTES:
        return times(value, factor)
    size = size_bytes(value) * share
    step = LINE if size >= BYTES["KiB"] else 1
    return f"{step * round(size / step)} B"


def nanoseconds(value: str) -> float:
    """A duration, ns."""
    number, _, unit = value.partition(" ")
    return float(number) * PS[unit]


def gigahertz(value: str) -> float:
    """A frequency, cycles per nanosecond."""
    number, _, unit = value.partition(" ")
    return float(number) * HZ[unit]


def is_bit_rate(value: str) -> bool:
    """Whether a traffic rate is in bits on the wire rather than in packets."""
    return value.rpartition(" ")[2] in BITS


def gigabits(value: str) -> float:
    """A bit rate, bits per nanosecond."""
    number, _, unit = value.partition(" ")
    return float(number) * BITS[unit]


def size_bytes(value: str) -> float:
    """A size, bytes."""
    number, _, unit = value.partition(" ")
    return float(number) * BYTES[unit]
