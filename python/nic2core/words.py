"""Numbers of a run in words: names of stages and causes, verdicts and differences."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from nic2core.explain.use import one, serves, work
from nic2core.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.use import Use
    from nic2core.results import Result
    from nic2core.results_model import Peak

STAGES = {
    "wire": "wire",
    "nic-sram": "NIC input SRAM",
    "descriptors": "receive descriptors",
    "pcie": "PCIe link",
    "nic-port": "NIC port",
    "posted-credits": "PCIe posted credits",
    "read-tags": "PCIe read tags",
    "iommu": "IOMMU",
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
    "cores": "cores",
}
"""The stages of the path, for people."""

NOTHING = "-"
"""Stands where a number means nothing."""

LATENCIES = {
    "nic": "in the NIC",
    "dma": "DMA",
    "queue": "in the queue",
    "service": "service",
    "transmit": "transmit (after total)",
    "total": "total",
}
"""The stages of a packet's latency, for people; `total` ends with the request, before transmit."""

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
    "mbuf-rd": "core reads mbuf metadata",
    "mbuf-evct": "mbuf metadata evicted",
    "cpu-descriptor-rd": "core reads descriptors",
    "prefetch-rd": "hardware prefetch",
    "page-clean-wr": "recycled pages cleaned",
    "iommu-walk-rd": "page walks of the IOMMU",
}
"""The causes of memory traffic, for people."""


def cause(name: str) -> str:
    """A cause for people, with the name that tables and the paper use."""
    return f"{CAUSES[name]} ({name})" if name in CAUSES else name


@dataclass(frozen=True)
class Severity:
    """How hard a stage is loaded."""

    name: str
    terminal: str


def severity(load: float) -> Severity:
    """From half of its capacity on queues grow; from four fifths on they dominate latency."""
    if load >= 0.8:
        return Severity("high", "red")
    if load >= 0.5:
        return Severity("medium", "yellow")
    return Severity("low", "blue")


def time(ns: float) -> str:
    """A time with three figures and the unit that fits."""
    for limit, scale, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if ns < limit:
            return f"{three(ns / scale)} {unit}"
    return f"{three(ns / 1e9)} s"


def three(value: float) -> str:
    """A number with three figures, or all before the point, in groups of three."""
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def percent(share: float) -> str:
    """A share as percent; small ones keep a figure, so that few drops are not none."""
    value = 100 * share
    return "0 %" if value == 0 else "< 0.01 %" if value < 0.01 else f"{three(value)} %"


def gain(share: float) -> str:
    """By how much something helps: in whole percent, as little more is known of it."""
    value = round(100 * share)
    return "0 %" if value == 0 else f"{value:+d} %"


@dataclass(frozen=True)
class Number:
    """One main number of a run."""

    name: str
    value: str
    unit: str


def headline(result: Result) -> list[Number]:
    """The main numbers, in the order in which they are asked for."""
    data = result.data
    packets, memory = data.packets, data.memory
    per_request = [c.per_request for c in memory.causes if c.per_request is not None]
    transport = data.transport
    goodput = (
        [] if transport is None else [Number("goodput", three(transport.goodput_gbps), "Gbit/s")]
    )
    return [
        *goodput,
        Number("completed", three(packets.completed_mpps), "Mpps"),
        Number("network", three(packets.completed_gbps), "Gbit/s"),
        Number("offered", three(packets.offered_mpps), "Mpps"),
        Number("dropped", percent(packets.drop_share).removesuffix(" %"), "%"),
        Number("p50 latency", _microseconds(result, 50.0), "µs"),
        Number("p99 latency", _microseconds(result, 99.0), "µs"),
        Number("memory traffic", three(memory.bandwidth_gbps), "GB/s"),
        Number("memory lines", three(sum(per_request)) if per_request else NOTHING, "per request"),
        Number("AMAT", three(data.amat_ns), "ns"),
        Number("limited by", _limit(result), ""),
    ]


def side_by_side(results: Sequence[Result]) -> list[tuple[Number, list[str]]]:
    """The main numbers of several runs: each with its value in every run, where it has one."""
    runs = [{n.name: n for n in headline(r)} for r in results]
    # The run that has most of them has all, in their order.
    return [
        (number, [run[name].value if name in run else NOTHING for run in runs])
        for name, number in max(runs, key=len).items()
    ]


def stage(name: str) -> str:
    """A stage of the path, for people."""
    return STAGES.get(name, name)


def _limit(result: Result) -> str:
    name = stage(result.model.cause)
    return name if result.limited else f"nothing ({name} next)"


def _microseconds(result: Result, percent: float) -> str:
    spread = result.total_latency
    return NOTHING if spread is None else three(percentile(spread, percent) / 1e3)


def verdict(result: Result) -> str:
    """What limits this run, in one sentence."""
    model = result.model
    name = stage(model.cause)
    drops = result.data.packets.drop_share
    lost = f" {percent(drops)} of the packets are dropped." if drops > 0 else ""
    if not result.limited:
        return (
            f"what is offered limits this run; next would be the {name}, "
            f"now at {_share_of_limit(result)} of what it allows.{lost}"
        )
    verb = "limit" if name.endswith("s") and not name.endswith("bus") else "limits"
    return f"the {name} {verb} this run: {_arithmetic(result)}.{lost}"


def _share_of_limit(result: Result) -> str:
    rate, _ = work(result.data)
    allowed = result.model.allows[result.model.tightest]
    return percent(rate / allowed if allowed > 0 else 0.0)


def _arithmetic(result: Result) -> str:
    """Little's law with the numbers of the domain that is full, and what it waits for."""
    model = result.model
    full = next(u for u in model.used if u.name == model.full)
    per, (_, what) = what_for(full), work(result.data)
    pool = model.pools.get(full.name)
    usable = full.credits if pool is None else round(pool.credits)
    if usable < full.credits:
        per = f"usable {per}"
    allows = three(model.allows.get(full.name, full.allows_mps))
    text = (
        f"{usable} {per} / ({three(full.uses_per_work)} a {one(what)} x "
        f"{time(full.latency_ns)}) = {allows} M {what}/s"
    )
    if pool is None or model.cause == full.name:
        return text
    waits = time(pool.spent_ns[model.cause])
    return f"{text} for the {stage(full.name)}, of which {waits} are spent there"


def allowed(result: Result, use: Use) -> str:
    """The rate that a domain allows, where it allows one that is worth a number."""
    rate = result.model.allows.get(use.name, use.allows_mps)
    # The I/O ways are always full: they evict, and stop nothing.
    return three(rate) if rate < 1e4 and use.name != "io-ways" else NOTHING


def what_for(use: Use) -> str:
    """What the credits of a domain are for: `92 lines`."""
    return use.unit if use.credits == 1 or use.unit == "B" else f"{use.unit}s"


WARM_TURNS = 3
"""Turns of the receive rings that a warm-up should have, by rule of thumb: the first touches each
buffer, the second meets what the first left in the caches, and one more for what follows of that.
"""


def short_warmup(result: Result) -> str:
    """A warning if the warm-up filled the receive rings too few times; else nothing."""
    cores = sum(tenant["cores"]["count"] for tenant in result.scenario["tenants"] if serves(tenant))
    ring = cores * int(result.scenario["queues"]["rx_descriptors"])
    warmup_ns = result.data.series.start_ns
    per_ns = result.data.packets.completed_mpps / 1e3
    if per_ns <= 0 or per_ns * warmup_ns >= WARM_TURNS * ring:
        return ""
    # Rounded up, so that the time it names is enough.
    enough_ms = ceil(WARM_TURNS * ring / per_ns / 1e5) / 10
    return (
        f"Warning: the warm-up of {time(warmup_ns)} is short: at this rate it turns the receive "
        f"rings {three(per_ns * warmup_ns / ring)} times, and until about {WARM_TURNS} turns the "
        f"caches still fill. Set run.warmup to {enough_ms:g} ms or more."
    )


def peak(found: Peak) -> str:
    """How sure a peak is."""
    why = {
        "p99": "the 99th percentile of latency exceeds the objective",
        "drops": "too many packets are dropped",
        "rate": "completions fall behind arrivals",
    }.get(found.failed_by, found.failed_by)
    return (
        f"Peak: {three(found.peak_mpps)} Mpps holds, {three(found.fails_at_mpps)} Mpps does not "
        f"({why}); {len(found.probes)} rates tried."
    )


def summary(base: Result, other: Result) -> str:
    """The comparison of two runs in one sentence."""
    a, b = base.data, other.data
    work = _more(a.packets.completed_mpps, b.packets.completed_mpps, "fewer", "requests")
    traffic = _more(a.memory.bandwidth_gbps, b.memory.bandwidth_gbps, "less", "memory traffic")
    limits = _limit(base), _limit(other)
    if not base.limited and not other.limited:
        end = "neither run comes near a limit"
    elif limits[0] == limits[1]:
        end = f"limited by {limits[0]} in both"
    else:
        end = f"limited by {limits[0]} before, by {limits[1]} now"
    return f"{other.label} completes {work} and causes {traffic}; {end}."


def _more(before: float, after: float, fewer: str, what: str) -> str:
    if before <= 0:
        return f"{three(after)} instead of {three(before)} {what}"
    change = round(100 * (after / before - 1))
    if change == 0:
        return f"as {'many' if fewer == 'fewer' else 'much'} {what}"
    return f"{abs(change)} % {'more' if change > 0 else fewer} {what}"


def differences(base: Result, other: Result) -> list[str]:
    """What changed between two runs, the large changes first named by cause."""
    said: list[str] = []
    a, b = base.data, other.data
    _change(said, "completed requests", a.packets.completed_mpps, b.packets.completed_mpps, "Mpps")
    if base.p99_ns is not None and other.p99_ns is not None:
        _change(said, "p99 latency", base.p99_ns / 1e3, other.p99_ns / 1e3, "µs")
    _change(said, "memory traffic", a.memory.bandwidth_gbps, b.memory.bandwidth_gbps, "GB/s")
    drops = (a.packets.drop_share, b.packets.drop_share)
    if percent(drops[0]) != percent(drops[1]):
        said.append(f"dropped packets: {percent(drops[0])} → {percent(drops[1])}")
    before, after = (
        {c.cause: c.per_request for c in r.memory.causes if c.per_request is not None}
        for r in (a, b)
    )
    moved = sorted({*before, *after}, key=lambda c: -abs(after.get(c, 0.0) - before.get(c, 0.0)))
    for name in moved[:3]:
        _change(
            said, CAUSES.get(name, name), before.get(name, 0.0), after.get(name, 0.0),
            "lines per request",
        )  # fmt: skip
    if _limit(base) != _limit(other):
        said.append(f"limited by: {_limit(base)} → {_limit(other)}")
    return said


def _change(said: list[str], what: str, before: float, after: float, unit: str) -> None:
    """Tell a change that shows in three figures; a share but for a rise from next to nothing."""
    if three(before) == three(after):
        return
    share = ""
    if before > 0 and after / before < 20:
        share = f" ({100 * (after / before - 1):+.0f} %)"
    said.append(f"{what}: {three(before)} → {three(after)} {unit}{share}")


def sentence(text: str) -> str:
    """The text with a capital first letter; `p99` stays as it is written."""
    return text if text[1:2].isdigit() else text[:1].upper() + text[1:]
