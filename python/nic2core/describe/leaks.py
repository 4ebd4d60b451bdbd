"""Advice against packets that leak from the I/O ways: settings to try."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from nic2core import words
from nic2core.explain.io_lines import written
from nic2core.explain.stages import LEAKS, leaking
from nic2core.explain.use import serves
from nic2core.scenario.closed_loop import most_kept
from nic2core.scenario.quantity import LINE_BYTES, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.run_record import Record


def against_leaks(result: Record, saved: str) -> Iterator[str]:
    """What leaks from the I/O ways, and settings to try: nobody can buy an ideal DDIO."""
    io, peak = result.data.io, "" if result.peak is None else " --peak"
    if io is not None and io.write_bypasses > written(io) / 2:
        policy = result.scenario["placement"]["policy"]
        yield (
            f"Most of what the NIC writes goes to memory because of placement.policy ({policy}): "
            f"`nic2core compare {saved} --vary placement.policy={policy},ddio{peak}` compares it "
            "with one that writes to the LLC."
        )
        return
    footprint = _footprint(result)
    if footprint:
        evicted = sum(c.gbytes_per_s for c in result.data.memory.causes if c.cause in LEAKS)
        yield (
            f"Of the packet lines that the NIC writes, {words.percent(leaking(result.data))} are "
            f"evicted to memory ({words.three(evicted)} GB/s). Packets go through "
            f"{words.megabytes(footprint)} of receive buffers and completions in turn; the I/O "
            f"ways hold {words.megabytes(_io_lines(result))}."
        )
    yield from _kept_out(result, saved)
    ways: int = result.scenario["placement"]["io_ways"]
    most: int = result.scenario["machine"]["llc"]["ways"]
    several = sorted({ways, min(2 * ways, most), min(4 * ways, most)})

    def vary(key: str, values: Sequence[int]) -> str:
        return f"`nic2core compare {saved} --vary {key}={','.join(map(str, values))}{peak}`"

    if len(several) > 1:
        yield (
            f"{_of_more_ways(result)}; {vary('placement.io_ways', several)} compares them. (Ice "
            "Lake servers have been reported to ignore the mask of the I/O ways.)"
        )
    fewer = _fewer_descriptors(result)
    if len(fewer) > 1:
        yield (
            f"Or use fewer buffers: {fewer[-1]} per queue are no more than the I/O ways hold, and "
            "fewer of their lines leak (some still do, because sets do not fill evenly); "
            f"{vary('queues.rx_descriptors', fewer)} compares ring sizes. Shorter rings drop "
            "sooner in bursts."
        )


def _kept_out(result: Record, saved: str) -> Iterator[str]:
    """How to keep the lines of cores without packets out of the I/O ways."""
    io_ways: int = result.scenario["placement"]["io_ways"]
    rest = result.scenario["machine"]["llc"]["ways"] - io_ways
    command = "run" if result.peak is None else "peak"
    tenants = zip(result.scenario["tenants"], result.data.tenants, strict=True)
    for number, (asked, tenant) in enumerate(tenants):
        ways = asked.get("llc_ways")
        if serves(result.data, asked) or tenant.llc_misses == 0 or rest == 0:
            continue
        if ways is None or ways["first"] < io_ways:
            others = f"tenants.{number}.llc_ways={{ first = {io_ways}, count = {rest} }}"
            yield (
                f"The lines of {tenant.name} may evict those of the NIC, too: `nic2core {command} "
                f"{saved} --set {quote(others)}` keeps its lines out of the I/O ways."
            )


def _of_more_ways(result: Record) -> str:
    """What more I/O ways may do; an ideal DDIO lacks what `ddio-l2` puts into the L2s."""
    if result.scenario["placement"]["policy"] == "ddio-l2":
        return "More I/O ways can leak less"
    return "Ideal DDIO is the upper bound of what more I/O ways can achieve"


def _footprint(result: Record) -> float:
    """Lines that the NIC writes while the receive rings go round; 0 if it is not known."""
    io, machine = result.data.io, result.scenario["machine"]
    if io is None or not io.rx_footprint_lines:
        return 0.0
    completion = size_bytes(machine["nic"]["completion_size"]) / LINE_BYTES
    descriptors = len(result.data.queues) * int(result.scenario["queues"]["rx_descriptors"])
    return io.rx_footprint_lines + descriptors * completion


def _io_lines(result: Record) -> int:
    """Lines that the I/O ways hold."""
    return result.data.by_domain["io-ways"].credits


def _fewer_descriptors(result: Record) -> list[int]:
    """Numbers of receive descriptors, halved until the packets they hold fit into the I/O ways.

    Only the present number if fewer descriptors do not mean fewer buffers: a pool that is a ring
    with a size of its own circulates as before.
    """
    queues = result.scenario["queues"]
    now: int = queues["rx_descriptors"]
    if queues.get("pool") == "ring" and queues.get("pool_buffers") is not None:
        return [now]
    footprint = _footprint(result)
    at_a_time = (queues["burst"], queues["post_batch"], queues["tx_completion_batch"])
    waits = result.scenario["traffic"].get("depth") or most_kept(result.scenario) + 1
    least = max(*at_a_time, waits)
    several = [now]
    while footprint * several[-1] / now > _io_lines(result):
        if several[-1] // 2 < least:
            return [now]
        several.append(several[-1] // 2)
    return several
