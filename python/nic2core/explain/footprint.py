"""Whether longer rings would put more buffers in turn than the caches hold.

What the caches then keep depends on their replacement and on what else they hold, so by how much
the rate falls is not predicted, only that it may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core import words
from nic2core.explain.io_lines import written
from nic2core.explain.nodes import told
from nic2core.explain.stages import leaking
from nic2core.scenario.quantity import LINE_BYTES, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.results.models import IoKindResults, Results

MUCH = 0.5
"""Share of the memory bus from which more traffic may lower the rate: lines of many buffers lie in
many rows, which fill the read queues of a channel long before its bus (docs/models/explain.md)."""

LITTLE = 0.05
"""Share of the memory bus below which more traffic lowers no rate."""


def longer_receive_rings(data: Results, scenario: dict[str, Any]) -> str:
    """Why twice the receive descriptors may lower the rate; empty if nothing speaks for it."""
    io, ways = data.io, data.by_domain.get("io-ways")
    # What goes past the LLC, or lies outside of it, is in turn elsewhere.
    received = [*_kind(data, "rx")]
    looked_up = sum(of.write_hits + of.write_misses for of in received)
    if io is None or ways is None or not looked_up:
        return ""
    llc = size_bytes(scenario["machine"]["llc"]["size"]) / LINE_BYTES
    share = looked_up / sum(written(of) for of in received)
    now = share * (io.rx_footprint_lines or 0)
    short = _short(data, looked_up, min(1.0, leaking(data) / share))
    if 2 * now <= ways.credits or now >= llc or not short:
        return ""
    return (
        f"{words.megabytes(2 * now)} of receive buffers would be in turn, where the I/O ways hold "
        f"{words.megabytes(ways.credits)} and the LLC {words.megabytes(llc)}, and {short}"
    )


def longer_send_rings(data: Results, scenario: dict[str, Any]) -> str:
    """The same for twice the transmit descriptors of packets that are copied to be sent."""
    kinds = [*_kind(data, "tx")]
    misses = sum(of.read_misses for of in kinds)
    sent = misses + sum(of.read_hits for of in kinds)
    if not sent or not data.packets.transmitted:
        return ""
    l2 = size_bytes(scenario["machine"]["l2"]["size"]) / LINE_BYTES
    ring = scenario["queues"]["tx_descriptors"] * sent / data.packets.transmitted
    # While it goes round, a core reads as many lines as it writes to be sent.
    copied = 2 * ring
    short = _short(data, sent, misses / sent)
    if copied > l2 or 2 * copied <= l2 or not short:
        return ""
    return (
        f"a core would copy {words.megabytes(2 * copied)} while its ring goes round, where its L2 "
        f"holds {words.megabytes(l2)}, and {short}"
    )


def _kind(data: Results, kind: str) -> Iterator[IoKindResults]:
    """DMA of a kind of line."""
    return (of for of in (data.io.by_kind if data.io is not None else []) if of.kind == kind)


def _short(data: Results, lines: int, gone: float) -> str:
    """How full memory would be if all of these lines were evicted and read back.

    A share of them, `gone`, already is. Empty if that is not so full that the rate may fall.
    """
    node = told(data)
    more = 2 * (1 - gone) * lines * LINE_BYTES / data.measured_ns / node.limit_gbytes_per_s
    used = node.gbytes_per_s / node.limit_gbytes_per_s + more
    if more < LITTLE or used < MUCH:
        return ""
    return (
        "if all that was evicted and read back, it would take "
        f"{100 * used:.0f} % of what the memory bus carries"
    )
