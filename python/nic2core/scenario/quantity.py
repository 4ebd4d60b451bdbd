"""Values with units in a scenario: `"36 MiB"`, `"3.2 GHz"`, `"5 us"`."""

from __future__ import annotations

from decimal import Decimal
from math import inf

LINE_BYTES = 64
"""Size of a cache line."""

PS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
HZ = {"Hz": 1e-9, "kHz": 1e-6, "MHz": 1e-3, "GHz": 1.0}
BITS = {"bps": 1e-9, "kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0}
BYTES = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


STEPS = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "MHz": 1,
    "GHz": 10**3,
    "bps": 1,
    "kbps": 10**3,
    "Mbps": 10**6,
    "Gbps": 10**9,
    "pps": 1,
    "kpps": 10**3,
    "Mpps": 10**6,
    **{unit: int(size) for unit, size in BYTES.items()},
    "%": 1000,
}
"""How many of the smallest steps that a scenario can have a unit is."""


def is_quantity(value: str) -> bool:
    """Whether a text is a number with a unit, as quantities are in a complete scenario."""
    number, _, unit = value.partition(" ")
    return unit in STEPS and number.replace(".", "", 1).isdigit()


def times(value: str, factor: int) -> str:
    """A quantity multiplied by `factor`, in its own unit."""
    number, _, unit = value.partition(" ")
    product = (Decimal(number) * factor).normalize()
    return f"{product:f} {unit}"


def scaled(value: str, factor: Decimal) -> str:
    """About `factor` times a quantity: in whole steps, and from 1 KiB on in whole lines."""
    number, _, unit = value.partition(" ")
    steps = Decimal(number) * STEPS[unit] * factor
    if unit in BYTES:
        line = LINE_BYTES if steps >= STEPS["KiB"] else 1
        size = line * round(steps / line)
        whole = next(name for name in (unit, "KiB", "B") if size % STEPS[name] == 0)
        return f"{size // STEPS[whole]} {whole}"
    most = 100 * STEPS[unit] if unit == "%" else inf
    # Clocks of 1000 MHz and more are known by their gigahertz.
    unit = "GHz" if unit == "MHz" and steps >= STEPS["GHz"] else unit
    found = (Decimal(min(round(steps), most)) / STEPS[unit]).normalize()
    return f"{found:f} {unit}"


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


def share(value: str) -> float:
    """A share, 0 to 1."""
    number, _, _ = value.partition(" ")
    return float(number) / 100


def size_bytes(value: str) -> float:
    """A size, bytes."""
    number, _, unit = value.partition(" ")
    return float(number) * BYTES[unit]


def size_text(size: int) -> str:
    """A number of bytes in the largest unit of which it is a whole number."""
    unit = max((u for u in BYTES if size % BYTES[u] == 0), key=lambda u: BYTES[u])
    return f"{size // int(BYTES[unit])} {unit}"
