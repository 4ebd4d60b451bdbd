"""Values with units in a scenario: `"36 MiB"`, `"3.2 GHz"`, `"5 us"`."""

from __future__ import annotations

from decimal import Decimal

PS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
HZ = {"Hz": 1e-9, "kHz": 1e-6, "MHz": 1e-3, "GHz": 1.0}
BITS = {"bps": 1e-9, "kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0}
BYTES = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def times(value: str, factor: int) -> str:
    """A quantity multiplied by `factor`, in its own unit."""
    number, _, unit = value.partition(" ")
    product = (Decimal(number) * factor).normalize()
    return f"{product:f} {unit}"


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
