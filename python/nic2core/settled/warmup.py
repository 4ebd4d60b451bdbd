"""Whether the warm-up of a run was long enough to fill the caches."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from nic2core import _core
from nic2core.explain.use import serves
from nic2core.results.bases import is_read
from nic2core.scenario.quantity import LINE_BYTES, nanoseconds, size_bytes

if TYPE_CHECKING:
    from nic2core.results.models import TenantResults
    from nic2core.run_record import Record

SLOWER = 1.5
"""How many times slower a memory benchmark may be once the caches are full: its rate is that of
caches which are not."""

WARM_TURNS = 3
"""Turns of the receive rings that a warm-up should cover, as a rule of thumb.

The first turn touches each buffer, the second meets what the first left in the caches, and a third
covers what follows from that. Large rings need fewer turns: it is enough if the cores request as
much as fills the LLC this often, as it remembers no more. (The NIC's writes turn over the I/O ways
alone, so a header that a core has read may stay in the other ways for a whole turn.) The data of a
memory benchmark needs as many: with three random accesses per line, 5 % of the lines are never
touched. A benchmark that goes through its data in order needs one turn. A forwarder's table, in
which each packet looks up a random rule, needs as many as random accesses.
"""

FEW = 0.02
"""Share of the lines read from memory below which a benchmark has hardly any of the LLC."""

WORD_BYTES = 8
"""Size of an X-Mem access."""


class Short(NamedTuple):
    """A warm-up that is too short; sorts by the time that would be enough."""

    enough_ns: float
    why: str


def short_warmup(result: Record) -> Short | None:
    """Why the warm-up was shorter than the caches take to fill, by rules of thumb, if it was."""
    found = (short for short in (_of_packets(result), _of_benchmarks(result)) if short)
    return max(found, default=None)


def _of_packets(result: Record) -> Short | None:
    """Whether the warm-up turned the receive rings, or the rules, too few times."""
    queues, packets = result.scenario["queues"], result.data.packets
    cores = len(result.data.queues)
    if packets.completed_mpps == 0 or cores == 0:
        return None
    # In a pool that is a ring every buffer takes its turn; in a stack, those that the rings hold.
    in_turn = queues.get("pool_buffers") if queues.get("pool") == "ring" else None
    turn = cores * int(in_turn or queues["rx_descriptors"])
    requests = result.data.core_time.llc_hits + result.data.core_time.llc_misses
    asked = LINE_BYTES * requests / packets.completed
    llc = size_bytes(result.scenario["machine"]["llc"]["size"])
    turn = min(turn, ceil(llc / asked)) if asked > 0 else turn
    wanted = WARM_TURNS * max(turn, _rules_turn(result))
    before = packets.completed_before
    if before >= wanted:
        return None
    warmup_ns = nanoseconds(result.scenario["run"]["warmup"])
    # Packets completed per ns of run.warmup; if there are none, the measured rate is used.
    settled, per_ns, earlier = 0.0, packets.completed_mpps / 1e3, ""
    if result.peak is not None and result.peak.probes:
        # A search warms up at the first rate, and goes on from earlier probes.
        settled = min(before, packets.completed / _core.PEAK_SETTLE_DIVISOR)
        per_ns = _core.PEAK_WARMUPS * result.peak.probes[0].completed_mpps / 1e3
        earlier = " and in earlier probes"
    elif warmup_ns > 0 and before > 0:
        per_ns = before / warmup_ns
    why = (
        f"{before:,} packets completed in it{earlier}, but the caches keep filling until about "
        f"{_rounded(wanted):,} have"
    )
    # At least in proportion: the first probe may have seen a dense part of a capture.
    least_ns = warmup_ns * wanted / before if before else 0.0
    return Short(max((wanted - settled) / per_ns, least_ns), why)


def _rounded(packets: int) -> int:
    """The number to three significant figures: it is an estimate."""
    return int(float(f"{packets:.2e}"))


def _rules_turn(result: Record) -> int:
    """Packets until the forwarders have drawn as many rules as there are, or as caches hold."""
    machine, queues = result.scenario["machine"], result.data.queues
    turn = 0
    for tenant in result.scenario["tenants"]:
        app, cores = tenant["app"], tenant["cores"]
        own = range(cores["first"], cores["first"] + cores["count"])
        drawn = sum(queue.received for queue in queues if queue.core in own)
        if app["kind"] != "l3fwd" or drawn == 0:
            continue
        rules = int(app["rules"]) * (len(own) if app.get("tables") == "per-core" else 1)
        if app.get("destinations") == "per-flow":
            # The number of flows in a capture is not known here, so its rules are not counted.
            rules = min(rules, result.scenario["traffic"].get("flows", 0))
        rules = min(rules, int(_caches(machine, len(own)) / LINE_BYTES))
        turn = max(turn, ceil(rules * sum(queue.received for queue in queues) / drawn))
    return turn


def _of_benchmarks(result: Record) -> Short | None:
    """Whether the warm-up is too short for a memory benchmark to fill the caches.

    Next to traffic, its first touches would be mistaken for what it costs the other tenants.
    """
    warmup_ns = nanoseconds(result.scenario["run"]["warmup"])
    short = []
    for asked, tenant in zip(result.scenario["tenants"], result.data.tenants, strict=True):
        if serves(result.data, asked) or tenant.progress_mps <= 0:
            continue
        wanted, per_ns = _fills(result.scenario["machine"], asked, tenant)
        if warmup_ns * per_ns < wanted and not _others_fill(result, tenant):
            why = (
                f"{tenant.name} touches {warmup_ns * per_ns / 1e6:,.1f} MB in it, but the caches "
                f"keep filling until it has touched about {wanted / 1e6:,.1f} MB"
            )
            short.append(Short(SLOWER * wanted / per_ns, why))
    return max(short, default=None)


def _fills(
    machine: dict[str, Any], asked: dict[str, Any], tenant: TenantResults
) -> tuple[float, float]:
    """The bytes that a memory benchmark touches until the caches are full, and bytes per ns."""
    app, cores = asked["app"], asked["cores"]["count"]
    caches = _caches(machine, cores)
    per_ns = tenant.progress_mps / 1e3
    if app["kind"] == "stream":
        return min(3 * cores * size_bytes(app["array"]), caches), per_ns
    data = min(cores * size_bytes(app["region"]), caches)
    if app["pattern"] == "sequential":
        return data, per_ns * WORD_BYTES
    return WARM_TURNS * data, per_ns * LINE_BYTES


def _others_fill(result: Record, tenant: TenantResults) -> bool:
    """Whether others have filled the LLC in the warm-up, and leave a benchmark hardly any of it."""
    run, memory = result.scenario["run"], result.data.memory
    lines = sum(cause.lines for cause in memory.causes if is_read(cause.cause))
    warmups = nanoseconds(run["warmup"]) / result.data.measured_ns
    llc = size_bytes(result.scenario["machine"]["llc"]["size"]) / LINE_BYTES
    return lines * warmups >= WARM_TURNS * llc and tenant.llc_misses < FEW * lines


def _caches(machine: dict[str, Any], cores: int) -> float:
    """The bytes that the LLC and the L2s of this many cores hold."""
    return size_bytes(machine["llc"]["size"]) + cores * size_bytes(machine["l2"]["size"])
