"""The main numbers of a run, by what it measures: packets, DMA or memory benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core import words
from nic2core.describe import peaks, senders, slowdowns
from nic2core.describe.contents import CONSUMED_SHARE, consumed_share
from nic2core.describe.limiter import limit
from nic2core.describe.stated import (
    cycles_per_packet,
    instructions_per_cycle,
    instructions_per_packet,
)
from nic2core.explain.io_lines import written
from nic2core.explain.nodes import own_lines
from nic2core.explain.overload import dropping
from nic2core.explain.stages import leaking
from nic2core.explain.use import serves, work
from nic2core.words import NOTHING, three

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nic2core.results.models import CauseTraffic, IoResults, SizeResults
    from nic2core.run_record import Record


@dataclass(frozen=True)
class Number:
    """One main number of a run."""

    name: str
    value: str
    unit: str
    raw: float | None = None
    """The value as a number; absent for text, and where the run has no value."""
    compared: bool = False
    """Whether `differences` of two runs tells its change like this; if not, another number shows
    it, or it is told in another way."""


LIMITED_BY = "limited by"
"""The name of what limits among the main numbers: the only one in words."""

FELT = 0.1
"""Mean wait before the link over the p99 latency, which does not include it, from which it is one
of the main numbers."""

SENDERS_SEE = {
    "rtt": "p99 round trip",
    "host_delay": "p99 in the server",
    "read_latency": "p99 whole read",
}
"""The delays of closed-loop senders that users ask for first."""


def headline(result: Record, *, by_tenant: bool = False) -> list[Number]:
    """The main numbers, in the order in which users ask for them.

    With `by_tenant`, what is told for each of several tenants is told for a single one, too.
    """
    numbers = [n for part in parts(result, by_tenant=by_tenant).values() for n in part]
    return [*numbers, Number(LIMITED_BY, limit(result), "")]


def parts(result: Record, *, by_tenant: bool = False) -> dict[str, list[Number]]:
    """The main numbers by where they are measured: senders, server, caches and memory."""
    by_tenant = by_tenant or several_tenants([result])
    _, what = work(result.data)
    done = _packets(result) if what == "packets" else _dma(result)
    found = {
        senders.TITLE: [*_senders(result)] if what == "packets" else [],
        "The server": [*done, *_core_work(result), *benchmarks(result)],
        "Caches and memory": [
            *_memory(result, by_tenant=by_tenant),
            *_dma_writes(result),
            *_llc(result),
            *_iotlb(result),
            *_amat(result, by_tenant=by_tenant),
        ],
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def several_tenants(results: Sequence[Record]) -> bool:
    """Whether some run has several tenants, so that numbers of a tenant have to say whose they are.

    One without cores counts: a run with it can then be compared with one in which it has some.
    """
    return any(len(r.data.tenants) > 1 for r in results)


def _memory(result: Record, *, by_tenant: bool) -> Iterator[Number]:
    memory = result.data.memory
    yield _number("memory traffic", memory.bandwidth_gbytes_per_s, "GB/s")
    yield from (
        _number(f"memory traffic of {name}", sum(c.gbytes_per_s for c in causes), "GB/s")
        for name, causes in owned(result)
        if by_tenant
    )
    lines = lines_per_request(result)
    if lines is not None:
        yield _beside("memory lines", lines, "per request")


def lines_per_request(result: Record) -> float | None:
    """Memory lines that a request causes; `None` if none was completed, or requests are no work."""
    completed = result.data.packets.completed
    if completed == 0 or work(result.data)[1] != "packets":
        return None
    return own_lines(result.data, result.scenario) / completed


def side_by_side(results: Sequence[Record]) -> list[tuple[Number, list[str]]]:
    """The main numbers of several runs: each with its value in every run, or `-`."""
    return [
        (number, [of.value if of else NOTHING for of in values])
        for number, values in lined_up(results)
    ]


def lined_up(results: Sequence[Record]) -> list[tuple[Number, list[Number | None]]]:
    """The main numbers of several runs, each as every run has it."""
    by_tenant = several_tenants(results)
    runs = [{n.name: n for n in headline(r, by_tenant=by_tenant)} for r in results]
    # The longest first: it usually has the numbers of all others. One that it lacks comes after
    # that which it follows elsewhere.
    rows: dict[str, Number] = {}
    order: list[str] = []
    for run in sorted(runs, key=len, reverse=True):
        place = 0
        for name, number in run.items():
            if name in rows:
                place = order.index(name) + 1
                continue
            rows[name] = number
            order.insert(place, name)
            place += 1
    return [(rows[name], [run.get(name) for run in runs]) for name in order]


def _number(name: str, value: float, unit: str) -> Number:
    return Number(name, three(value), unit, value, compared=True)


def _beside(name: str, value: float, unit: str) -> Number:
    """A number whose change another one shows."""
    return Number(name, three(value), unit, value)


def _percent(name: str, share: float) -> Number:
    """A share of 0 to 1 in percent."""
    return Number(name, words.percent(share).removesuffix(" %"), "%", 100 * share)


def _senders(result: Record) -> Iterator[Number]:
    """What closed-loop senders achieve and observe, if there are any."""
    transport = result.data.transport
    if transport is None:
        return
    yield _number("goodput", transport.goodput_gbps, "Gbit/s")
    if transport.wanted_gbps is not None:
        yield _beside("wanted", transport.wanted_gbps, "Gbit/s")
    yield _percent("retransmitted", senders.sent_again(transport))
    wrongly = senders.share(senders.taken_for_lost(transport), transport)
    yield _percent("declared lost, but arrived", wrongly)
    yield _beside("timeouts", senders.timeouts_per_ms(transport, result.data), "per ms")
    yield _beside("window", transport.mean_window, "packets")
    yield _beside("cut in all", senders.cut_per_ms(transport, result.data), "packets per ms")
    for cause, share in senders.cuts(transport).items():
        yield _percent(f"cut by {cause}", share)
    yield _beside("in flight", senders.in_flight(result.data), "packets")
    if senders.asked_alike(result) and transport.fairness is not None:
        yield _beside("fairness", transport.fairness, "")
    if transport.by_group:
        yield _number("goodput of the rivals", transport.by_group[1].goodput_gbps, "Gbit/s")
    times = senders.advantage(result)
    if times is not None:
        yield _beside("a rival over another sender", times, "x")
    for delay, name in SENDERS_SEE.items():
        yield _tail(name, senders.p99_ns(result.data, delay))
    for whose, group in zip(senders.GROUPS, transport.by_group, strict=False):
        reads = group.read_latency
        yield _tail(
            f"{SENDERS_SEE['read_latency']} of the {whose}",
            reads.percentile(99.0) if reads.count else None,
        )
    for name, size in _ends(result):
        yield _number(name, slowdowns.slowdown(size, 99.0), "x")
    if transport.block_latency is not None:
        yield _tail("p99 whole block", senders.p99_ns(result.data, "block_latency"))


def _ends(result: Record) -> Iterator[tuple[str, SizeResults]]:
    """The shortest and the longest reads, if reads are known by size."""
    ends = slowdowns.ends(result.data)
    if ends is None:
        return
    if ends.shortest is ends.longest:
        yield "p99 slowdown of reads", ends.shortest
        return
    yield "p99 slowdown of shortest reads", ends.shortest
    yield "p99 slowdown of longest reads", ends.longest


def _tail(name: str, ns: float | None) -> Number:
    """The 99th percentile of a delay, if there is one."""
    return Number(name, NOTHING, "µs") if ns is None else _number(name, ns / 1e3, "µs")


def _packets(result: Record) -> Iterator[Number]:
    packets, transport = result.data.packets, result.data.transport
    yield _number("completed", packets.completed_mpps, "Mpps")
    yield _beside("network", packets.completed_gbps, "Gbit/s")
    yield _beside("offered", packets.offered_mpps, "Mpps")
    if transport is not None:
        share = senders.share(transport.dropped_switch, transport)
        yield _percent("dropped by the switch", share)
    yield _percent("dropped", packets.drop_share)
    if packets.drop_share > 0:
        yield _percent("dropped bytes", packets.dropped_bytes_share)
        yield Number("no room in", words.no_room_in(packets, shares=True), "")
        of = dropping(result.data)
        if of is not None:
            yield Number("dropped most", f"core {of.core}: {words.percent(of.share)}", "")
    spread = result.total_latency
    if spread is None:
        yield from (Number(f"{p} latency", NOTHING, "µs") for p in ("p50", "p99"))
        return
    yield _number("p50 latency", spread.percentile(50.0) / 1e3, "µs")
    yield _number("p99 latency", spread.percentile(99.0) / 1e3, "µs")
    wait_ns = packets.link_wait_ns or 0.0
    if wait_ns > FELT * spread.percentile(99.0):
        yield _beside("before the link", wait_ns / 1e3, "µs")
    objective_ns = None if result.peak is None else peaks.objective_ns(result.peak)
    if objective_ns is not None and objective_ns < peaks.FAR * spread.percentile(99.0):
        yield _beside("p99 objective", objective_ns / 1e3, "µs")


def _core_work(result: Record) -> Iterator[Number]:
    """What a packet costs the cores: the first that users compare with their own server."""
    for name, value in (
        ("core cycles", cycles_per_packet(result)),
        ("instructions", instructions_per_packet(result)),
    ):
        if value is not None:
            yield _beside(name, value, "per packet")
    each = instructions_per_cycle(result)
    if each is not None:
        yield _beside("instructions per cycle", each, "")


def _dma(result: Record) -> Iterator[Number]:
    """What the DMA benchmark measures, if there is one."""
    dma = result.data.dma
    if dma is None:
        return
    yield _number("DMA", dma.gbps, "Gbit/s")
    yield _beside("transactions", work(result.data)[0], "M/s")
    if dma.latency_ns is not None:
        yield _number("DMA read latency", dma.latency_ns, "ns")


def _amat(result: Record, *, by_tenant: bool) -> Iterator[Number]:
    """Mean latency of loads and stores."""
    if by_tenant:
        means = ((t.name, t.amat_ns) for t in result.data.tenants if t.amat_ns is not None)
        yield from (_number(f"AMAT ({name})", ns, "ns") for name, ns in means)
    elif result.data.amat_ns is not None:
        yield _number("AMAT", result.data.amat_ns, "ns")


def owned(result: Record) -> list[tuple[str, list[CauseTraffic]]]:
    """The memory traffic of each tenant's own lines."""
    return [(t.name, t.memory) for t in result.data.tenants if t.memory]


def dma_write_hits(result: Record) -> float | None:
    """The share of lines written by the NIC that hit a cache, if it writes to the LLC.

    Lines that go past the LLC to memory, as payload with `ddio-headers`, count as written.
    """
    return _of_dma_writes(result, lambda io: io.write_hits)


def dma_write_moves(result: Record) -> float | None:
    """The share of them that hit a line that only a core's cache held.

    They take a line of the I/O ways, as misses do.
    """
    return _of_dma_writes(result, lambda io: io.write_moves)


def _of_dma_writes(result: Record, count: Callable[[IoResults], int | None]) -> float | None:
    """The share of the lines written by the NIC that a counter has.

    Not known where packets lie beside all caches, as with an ideal DDIO: the rest are completions.
    """
    io = result.data.io
    if io is None or io.write_hits is None or io.write_misses is None:
        return None
    if any(of.write_asides for of in io.by_kind):
        return None
    return (count(io) or 0) / written(io)


def _iotlb(result: Record) -> Iterator[Number]:
    iommu = result.data.iommu
    if iommu is not None and iommu.misses_per_packet is not None:
        yield _number("IOTLB misses", iommu.misses_per_packet, "per packet")


def _dma_writes(result: Record) -> Iterator[Number]:
    share = dma_write_hits(result)
    if share is not None:
        yield _percent("DMA writes that hit", share)
        yield _percent("DMA data that leaks", leaking(result.data))
    moved = dma_write_moves(result)
    if moved is not None:
        yield _percent("DMA hits in an L2 only", moved)


def _llc(result: Record) -> Iterator[Number]:
    share = consumed_share(result)
    if share is not None and result.data.packets.offered > 0:
        yield _percent(CONSUMED_SHARE, share)


def benchmarks(result: Record) -> Iterator[Number]:
    """What memory benchmarks measure, alone or next to packet traffic."""
    for asked, tenant in zip(result.scenario["tenants"], result.data.tenants, strict=True):
        if serves(result.data, asked):
            continue
        streams = tenant.stream_gbytes_per_s_by_core
        if streams is not None:
            yield _number(f"STREAM ({tenant.name})", sum(streams), "GB/s")
        else:
            yield _number(f"X-Mem ({tenant.name})", tenant.progress_mps, "M accesses/s")
