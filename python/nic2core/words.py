"""Numbers of a run in words: names of stages and causes, figures with units."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from nic2core.scenario.quantity import LINE_BYTES, is_bit_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nic2core.explain.model import Model
    from nic2core.explain.use import Use
    from nic2core.results.models import Distribution, Packets, Peak, Results

STAGES = {
    "wire": "wire",
    "nic-sram": "NIC input SRAM",
    "descriptors": "receive descriptors",
    "rx-fetches": "RX descriptor reads",
    "pcie": "PCIe link",
    "nic-port": "NIC port",
    "posted-credits": "PCIe posted credits",
    "read-tags": "PCIe read tags",
    "iommu": "IOMMU",
    "invalidations": "IOMMU invalidation queue",
    "io-credits": "I/O write credits",
    "read-credits": "I/O read credits",
    "io-ways": "LLC I/O ways",
    "llc": "LLC",
    "home-trackers": "LLC home trackers",
    "read-queue": "memory read queues",
    "write-queue": "memory write queues",
    "dram": "memory bus",
    "socket-link": "inter-socket link",
    "miss-registers": "miss registers",
    "dispatch": "RSS dispatch",
    "cores": "cores",
    "tx-descriptors": "transmit descriptors",
    "tx-fetches": "TX descriptor reads",
}
"""Display names of the stages of the path."""

NOTHING = "-"
"""Shown where there is no meaningful number."""

LATENCIES = {
    "nic": "in the NIC",
    "dma": "DMA",
    "queue": "in the queue",
    "service": "service",
    "transmit": "transmit (after total)",
    "total": "total",
    "sent": "from port to port",
}
"""Display names of the latency stages; `total` ends with the request, before transmit."""

DELAYS = {
    "rtt": "round trip",
    "fabric_delay": "outside the server",
    "host_delay": "in the server",
    "read_latency": "a whole read",
    "block_latency": "a whole block",
}
"""Display names of the delays that closed-loop senders see."""

CAUSES = {
    "nic-rx-wr": "NIC writes received packets",
    "nic-tx-rd": "NIC reads packets to send",
    "cpu-rx-rd": "core reads received packets",
    "cpu-other-rd": "core reads application data",
    "rx-evct": "receive buffers evicted",
    "tx-evct": "transmit buffers evicted",
    "other-evct": "application data evicted",
    "cpu-tx-rd": "core reads transmit buffers",
    "nic-descriptor-rd": "NIC reads descriptors",
    "nic-descriptor-wr": "NIC writes descriptors",
    "descriptor-evct": "descriptors evicted",
    "nic-bench-rd": "NIC reads benchmark data",
    "nic-bench-wr": "NIC writes benchmark data",
    "bench-evct": "benchmark data evicted",
    "mbuf-rd": "core reads mbuf metadata",
    "mbuf-evct": "mbuf metadata evicted",
    "cpu-descriptor-rd": "core reads descriptors",
    "prefetch-rd": "hardware prefetch",
    "page-clean-wr": "recycled pages cleaned",
    "iommu-walk-rd": "IOMMU page walks",
}
"""Display names of the causes of memory traffic."""


CONTENTS = {
    "rx": "packet data in use",
    "rx-consumed": "consumed receive buffers",
    "tx": "transmit buffers",
    "app": "application data",
    "mbuf": "mbuf metadata",
    "descriptor": "descriptors",
    "bench": "benchmark data",
}
"""Display names of what the LLC holds."""


OF_PACKETS = {name for name in CAUSES if {"rx", "tx", "descriptor", "mbuf"} & {*name.split("-")}}
"""The causes that concern lines on a packet's way: data, descriptors and mbufs."""


TAKES = {
    "SETTING": "setting",
    "NO_IOMMU": "no IOMMU",
    "HARDWARE": "hardware",
    "IDEAL": "ideal",
}
"""Display names of what changes take."""


WHOLE: dict[str, Any] = {
    "tbl_rows": -1,
    "tbl_cols": -1,
    "tbl_width_chars": 1000,
    "fmt_str_lengths": 100,
    "tbl_hide_column_data_types": True,
    "tbl_hide_dataframe_shape": True,
}
"""Polars settings that print a whole table, and nothing else."""


def cause(name: str) -> str:
    """A cause's display name, followed by the name that tables and the paper use."""
    return f"{CAUSES[name]} ({name})" if name in CAUSES else name


def latencies(data: Results) -> dict[str, Distribution]:
    """The latency stages by display name, in path order; empty without packets."""
    return {LATENCIES.get(s.stage, s.stage): s.distribution for s in data.latency}


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
    """A time to set that is enough, in tenths of a millisecond: no exponent, which no key takes."""
    tenths = ceil(ns / 1e5)
    return f"{tenths // 10}{f'.{tenths % 10}' if tenths % 10 else ''} ms"


def time(ns: float) -> str:
    """A time with three significant figures, in the unit that fits."""
    for limit, scale, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if ns < limit:
            return f"{three(ns / scale)} {unit}"
    return f"{three(ns / 1e9)} s"


THREE = Context(prec=3)
"""Rounds as decimals, half to even: 633.5 ns and 0.6335 µs become the same."""

DOWN = Context(prec=4, rounding=ROUND_DOWN)
"""Rounds down as decimals, so that a rate that was found holds."""

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


FAILED = {
    "p99": ("the p99 objective", "the 99th percentile of latency exceeds the objective"),
    "drops": ("the drop objective", "more packets are dropped than the objective allows"),
    "rate": ("a growing backlog", "completions fall behind arrivals"),
    "link": ("the link rate", "the network link is full"),
}
"""What fails above a peak, in short and in full."""


def failed(found: Peak) -> tuple[str, str]:
    """What fails above a peak, in short and in full."""
    return FAILED.get(found.failed_by, (found.failed_by, found.failed_by))


def stage(name: str) -> str:
    """The display name of a stage of the path."""
    return STAGES.get(name, name)


def usable_credits(model: Model, use: Use) -> int:
    """The credits of a domain that can be in use at once: of lines, whole writes or requests."""
    pool = model.pools.get(use.name)
    # A pool of cores counts cores as busy as the busiest, which can be fewer than there are.
    return use.credits if pool is None or use.name == "cores" else round(pool.credits)


def allowed(model: Model, use: Use) -> str:
    """The rate that a domain allows, or `-` where that is not a meaningful number."""
    rate = model.allowed_by(use)
    return NOTHING if rate is None else three(rate)


def held(use: Use) -> str:
    """How long a credit is held, with the part that counts for the rate if the two differ."""
    # Cores put lines into the I/O ways too, and few of the NIC's lines take a new place.
    if use.uses_per_us <= 0 or use.name == "io-ways":
        return NOTHING
    own, whole = time(use.own_ns), time(use.latency_ns)
    # The time that counts is another queue's if that one allows less than the fullest.
    if use.core != use.short_core:
        return f"{whole} (core {use.short_core}: {own})"
    if own == whole:
        return whole
    if use.own_ns > use.latency_ns:
        return f"{whole} + {time(use.own_ns - use.latency_ns)}"
    return f"{own} of {whole}"


def what_for(use: Use) -> str:
    """The unit of a domain's credits, as in `92 lines`."""
    return use.unit if use.credits == 1 or use.unit == "B" else f"{use.unit}s"


SEEN = 0.005
"""Share of dropped packets above which three significant figures show the difference."""


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


def peak(found: Peak, traffic: Mapping[str, Any]) -> str:
    """A peak, the rate that fails above it, and how many packets its p99 comes from."""
    differs = wire_rate(found, traffic) or traffic["kind"] == "bursts"
    wire = f' (traffic.rate = "{rate_to_set(found, traffic)}")' if differs else ""
    fails, packets = found.fails_at_mpps, found.results.packets
    # If the objective allows drops, the offered rate is higher than the completed one; so it is
    # where queues were longer in the end, by no more than chance.
    apart = max(packets.drop_share, 1 - found.peak_mpps / packets.offered_mpps) > SEEN
    # Seeds do not move what a capture brings.
    replays = traffic["kind"] == "replay"
    others = "values of run.warmup" if replays else "seeds (compare --peak --vary run.seed=1,2,3)"
    tried = packets.offered_mpps if apart else found.peak_mpps
    holds, above = three(tried), "at the line rate"
    if fails is not None:
        holds, short = distinct(tried, fails)
        above = f"{short} Mpps does not"
    rate = f"{three(found.peak_mpps)} Mpps of {holds} offered" if apart else f"{holds} Mpps"
    return (
        f"Peak: {rate}{wire} holds, {above} ({failed(found)[1]}); "
        f"{len(found.probes)} rates tried. The p99 comes from {behind_p99(found):,} packets; to "
        f"see how much of it is chance, try other {others}."
    )


FAR = 100
"""Times a p99 from which an objective says nothing beside it: it was set to play no part."""


def objective_ns(found: Peak) -> float | None:
    """The p99 objective at a peak, ns."""
    at_peak = (p.p99_limit_ns for p in found.probes if p.completed_mpps == found.peak_mpps)
    return next(at_peak, None)


def objective(found: Peak, slo: Mapping[str, Any]) -> str:
    """Where a peak's p99 objective comes from, if none was set."""
    held_ns = objective_ns(found)
    if held_ns is None or slo.get("p99") is not None:
        return ""
    services: int = slo["p99_service_times"]
    return (
        f"The p99 objective was {time(held_ns)}: {services} times the mean service time of "
        f"{time(held_ns / services)} at the first rate tried, because slo.p99 is not set."
    )


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


def behind_p99(found: Peak) -> int:
    """The number of packets that a peak's 99th percentile comes from."""
    return next(s.distribution.count for s in found.results.latency if s.stage == "total")


def sentence(text: str) -> str:
    """The text with its first letter capitalised; `p99` and `key=value` stay as they are."""
    as_it_is = text[1:2].isdigit() or "=" in text.partition(" ")[0]
    return text if as_it_is else text[:1].upper() + text[1:]
