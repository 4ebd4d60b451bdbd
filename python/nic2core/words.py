"""Numbers of a run in words: names of stages and causes, figures with units, the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from nic2core.explain.use import one, work

if TYPE_CHECKING:
    from nic2core.explain.use import Use
    from nic2core.record import Record
    from nic2core.results_model import Packets, Peak

STAGES = {
    "wire": "wire",
    "nic-sram": "NIC input SRAM",
    "descriptors": "receive descriptors",
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
    "cores": "cores",
    "tx-descriptors": "transmit descriptors",
    "tx-fetches": "reads of transmit descriptors",
}
"""The stages of the path, for people."""

ONE_CORE = "one core"
"""What drops packets where one is full and others have room."""

FULL_CORE = 0.95
"""Share of time for which a core is busy that has no room for more: packets come in bunches."""

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

DELAYS = {
    "rtt": "round trip",
    "fabric_delay": "outside the server",
    "host_delay": "in the server",
    "read_latency": "a whole read",
}
"""What closed-loop senders see, for people."""

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
    """A number with three significant figures, or all before the point, in groups of three.

    Less than a thousandth is next to nothing in every unit that is shown, and said to be so.
    """
    if value == 0:
        return "0"
    if abs(value) < 0.001:
        return "< 0.001"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:#.3g}"


def percent(share: float) -> str:
    """A share as percent; small ones keep a figure, so that few drops are not none."""
    value = 100 * share
    return "0 %" if value == 0 else "< 0.01 %" if value < 0.01 else f"{three(value)} %"


def gain(share: float) -> str:
    """By how much something helps: in whole percent, as little more is known of it, if that."""
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
"""What fails above a peak: in short, and in full."""


def failed(found: Peak) -> tuple[str, str]:
    """What fails above a peak, in short and in full."""
    return FAILED.get(found.failed_by, (found.failed_by, found.failed_by))


def stage(name: str) -> str:
    """A stage of the path, for people."""
    return STAGES.get(name, name)


def limiter(result: Record) -> str:
    """What sets the rate of a run: a stage, or what else does where none is full."""
    packets = result.data.packets
    if result.limited:
        return f"the {stage(result.model.cause)}"
    if result.held_back and not idle(result):
        return "the congestion control"
    if result.peak is not None:
        return failed(result.peak)[0]
    if idle(result):
        return "drops" if packets.offered > 0 else "nothing"
    if packets.drop_share > 0:
        return ONE_CORE if _core_is_full(result) else "bursts" if _bursty(result) else "drops"
    return FAILED["rate"][0] if result.behind else "the offered load"


def limit(result: Record) -> str:
    """The same for a table, and the stage that is next."""
    name = limiter(result).removeprefix("the ").removeprefix("a ")
    if result.limited or idle(result) or name == ONE_CORE:
        return name
    return f"{name} ({stage(result.model.cause)} next)"


def mark(result: Record) -> str:
    """What is said of the stage that the model names: that it limits, or would be next."""
    return "limits" if result.limited else "" if idle(result) else "next"


def idle(result: Record) -> bool:
    """Whether the run has done no work, of which a model could be made."""
    rate, _ = work(result.data)
    return rate <= 0


def verdict(result: Record) -> str:
    """What limits this run, in one sentence, and what more there is to say."""
    packets = result.data.packets
    share = percent(packets.drop_share)
    dropped = f" {share} of the packets are dropped." if packets.drop_share > 0 else ""
    dropped += _dropped_outside(result)
    name = stage(result.model.cause)
    if result.limited:
        verb = "limit" if name.endswith("s") and not name.endswith("bus") else "limits"
        return f"the {name} {verb} this run: {_arithmetic(result)}.{dropped}"
    if idle(result):
        if dropped:
            return f"no packet completes: {share} are dropped because {_no_room(result)}."
        if packets.next_arrival_ns is not None:
            return f"no packet arrives; the next comes at {time(packets.next_arrival_ns)}."
        return "the run does no work."
    nearest = f"the nearest stage, the {name}, is at {_share_of_limit(result)} of what it allows"
    if result.held_back:
        return f"{_control(result)}; {nearest}.{dropped}"
    if result.peak is not None:
        short, full = failed(result.peak)
        why = f"{short} sets this peak: at a higher rate {full}"
    elif dropped and _core_is_full(result):
        busiest, mean = (percent(s) for s in _core_shares(result))
        why = (
            f"{share} of the packets are dropped while one core is full ({busiest} busy; the mean "
            f"of all is {mean})"
        )
    elif dropped and _bursty(result):
        why = f"{share} of the packets are dropped in bursts, when {_no_room(result)}"
    elif dropped:
        why = (
            f"{share} of the packets are dropped because {_no_room(result)}, which nothing that is "
            "counted explains: they come evenly, and every stage has room"
        )
    elif result.behind:
        why = FAILED["rate"][1]
    else:
        why = "the offered load is the limit of this run"
    return f"{why}; {nearest}."


def _dropped_outside(result: Record) -> str:
    """What of the closed-loop senders' packets never came to the server."""
    transport = result.data.transport
    if transport is None or transport.dropped_switch == 0:
        return ""
    return f" {percent(transport.dropped_switch / transport.sent)} are dropped by the switch."


def _control(result: Record) -> str:
    """What is known of a congestion control that holds its senders back."""
    transport = result.data.transport
    assert transport is not None  # noqa: S101 - only such senders are held back
    target = result.scenario["traffic"]["control"].get("endpoint_target")
    host = f"packets are {time(transport.host_delay.mean_ns)} in the server"
    if target is not None:
        host += f", its target there is {target}"
    again = f", {percent(transport.sent_again / transport.sent)} are sent again"
    return (
        "the senders' congestion control holds the load back: its windows are "
        f"{three(transport.mean_window)} packets, {host}{again if transport.sent_again else ''}"
    )


def _core_shares(result: Record) -> tuple[float, float]:
    """The share of time for which the busiest core is busy, and the mean of all."""
    time, span_ps = result.data.core_time, result.data.measured_ns * 1e3
    cores = next((d.credits for d in result.data.domains if d.domain == "cores"), 1)
    return time.busiest_ps / span_ps, time.busy_ps / span_ps / cores


def _core_is_full(result: Record) -> bool:
    """Whether one core is, while others have room."""
    busiest, mean = _core_shares(result)
    return busiest >= FULL_CORE > mean


def _bursty(result: Record) -> bool:
    """Whether packets may come in bunches: `constant` and `backlog` keep them even."""
    return (result.scenario.get("traffic") or {}).get("kind") not in {"constant", "backlog"}


def _no_room(result: Record) -> str:
    """For want of what packets are dropped."""
    packets = result.data.packets
    if packets.dropped_sram >= packets.dropped_no_descriptor:
        return "the NIC input SRAM has no room"
    return "no receive descriptor is free"


def _share_of_limit(result: Record) -> str:
    rate, _ = work(result.data)
    allowed = result.model.allows[result.model.tightest]
    return percent(rate / allowed if allowed > 0 else 0.0)


def _arithmetic(result: Record) -> str:
    """Little's law with the numbers of the domain that is full, and what it waits for."""
    model = result.model
    full = next(u for u in model.used if u.name == model.full)
    per, (_, what) = what_for(full), work(result.data)
    if full.name == "cores" and _core_is_full(result):
        busiest, mean = (percent(s) for s in _core_shares(result))
        return (
            f"the fullest of {full.credits} is busy {busiest} of the time and the mean {mean}; as "
            f"RSS deals the flows they do {three(model.allows[full.name])} M {what}/s"
        )
    pool = model.pools.get(full.name)
    usable = usable_credits(result, full)
    if usable < full.credits:
        per = f"usable {per}"
    if full.core is not None:
        per = f"{per} of core {full.core}'s queue"
    allows = three(model.allows.get(full.name, full.allows_mps))
    text = (
        f"{usable} {per} / ({three(full.uses_per_work)} per {one(what)} x "
        f"{time(full.own_ns)}) = {allows} M {what}/s"
    )
    if pool is None or model.cause == full.name:
        return text
    waits = time(model.waits(pool)[model.cause])
    return (
        f"{text} allowed by the {stage(full.name)}; waiting for the {stage(model.cause)} takes "
        f"{waits} of that time"
    )


def usable_credits(result: Record, use: Use) -> int:
    """The credits of a domain that can be in use at once: of lines, those of whole TLPs."""
    pool = result.model.pools.get(use.name)
    # Of cores, a pool has as many as the fullest has the work of.
    return use.credits if pool is None or use.name == "cores" else round(pool.credits)


def allowed(result: Record, use: Use) -> str:
    """The rate that a domain allows, where it allows one that is worth a number."""
    rate = result.model.allows.get(use.name, use.allows_mps)
    # The I/O ways are always full: they evict, and stop nothing.
    return three(rate) if rate < 1e4 and use.name != "io-ways" else NOTHING


def held(use: Use) -> str:
    """How long a domain holds a credit: of it, what its rate follows from, if that is not all."""
    if use.uses_per_us <= 0:
        return NOTHING
    own, whole = time(use.own_ns), time(use.latency_ns)
    return whole if own == whole else f"{own} of {whole}"


def what_for(use: Use) -> str:
    """What the credits of a domain are for: `92 lines`."""
    return use.unit if use.credits == 1 or use.unit == "B" else f"{use.unit}s"


def peak(found: Peak) -> str:
    """How sure a peak is: of its p99, by how many packets."""
    fails = found.fails_at_mpps
    above = "holds up to the line rate" if fails is None else f"holds, {three(fails)} Mpps does not"
    return (
        f"Peak: {three(found.peak_mpps)} Mpps {above} ({failed(found)[1]}); "
        f"{len(found.probes)} rates tried; the p99 is of {behind_p99(found):,} packets."
    )


def objective_ns(found: Peak) -> float | None:
    """What the p99 at a peak was held against, ns."""
    at_peak = (p.p99_limit_ns for p in found.probes if p.completed_mpps == found.peak_mpps)
    return next(at_peak, None)


def no_room_in(packets: Packets) -> str:
    """For want of what packets are dropped, in short, the most first: NIC SRAM, receive rings."""
    places = {"SRAM": packets.dropped_sram, "rings": packets.dropped_no_descriptor}
    short = [name for name, dropped in places.items() if dropped]
    return ", ".join(sorted(short, key=lambda name: -places[name]))


def behind_p99(found: Peak) -> int:
    """The packets that the 99th percentile of a peak's run is of."""
    return next(s.distribution.count for s in found.results.latency if s.stage == "total")


def sentence(text: str) -> str:
    """The text with a capital first letter; `p99` stays as it is written."""
    return text if text[1:2].isdigit() else text[:1].upper() + text[1:]
