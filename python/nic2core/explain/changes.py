"""The changes to each domain that `explain` offers."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING, Any

from nic2core.explain.asked import asked, links_mpps
from nic2core.explain.change import IDEAL_POLICY, Change, offered
from nic2core.explain.dispatch import dealt, evenly, more_flows
from nic2core.explain.footprint import longer_receive_rings, longer_send_rings
from nic2core.explain.model import FULL
from nic2core.explain.pages import (
    LARGER,
    larger_pages,
    why_longer_rings_may_miss,
    why_they_may_miss,
)
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import DISPATCH, gathering, serves, uneven
from nic2core.explain.what_if import (
    faster_clock,
    leaks,
    longer_fetches,
    loose_mode,
    more,
    more_by_queue,
    more_channels,
    more_dma_credits,
    more_registers,
    more_trackers,
    no_leak,
    wider_link,
    with_cores,
    without_iommu,
    without_misses,
)
from nic2core.scenario.closed_loop import groups
from nic2core.scenario.quantity import scaled, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.results.models import Results


FASTER = Decimal("1.25")
"""How many times as fast a clock becomes."""

STREAMED = 0.7
"""Share of requests that find their row open, from which they are streams of long runs in a row."""


def possible_changes(data: Results, scenario: dict[str, Any]) -> list[Change]:
    """The changes to each domain of a run, in path order.

    Changes that the engine cannot simulate are left out.
    """
    found = list(offered(_all(data, scenario), data, scenario))
    # If a PCIe link can be wider, the next generation is not offered.
    wider = [c for c in found if c.domain == "pcie"]
    return [c for c in found if c not in wider[1:]]


def _all(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    yield from _receiving(data, scenario)
    machine = scenario["machine"]
    nic, pcie = machine["nic"], machine.get("pcie")
    if pcie is not None:
        sets: dict[str, Any] = {"machine.pcie.lanes": 2 * pcie["lanes"]}
        yield Change("pcie", f"{2 * pcie['lanes']} lanes", sets, wider_link("pcie"))
        sets = {"machine.pcie.generation": pcie["generation"] + 1}
        yield Change("pcie", f"generation {pcie['generation'] + 1}", sets, wider_link("pcie"))
        for domain, key in (
            ("posted-credits", "posted_credits"),
            ("read-tags", "non_posted_credits"),
        ):
            sets = {f"machine.pcie.{key}": 2 * pcie[key]}
            yield Change(domain, f"{2 * pcie[key]} of them", sets, more_dma_credits(domain, 2))
    elif "port_width" in machine["noc"]:
        width = times(machine["noc"]["port_width"], 2)
        sets = {"machine.noc.port_width": width}
        yield Change("nic-port", f"{width} a cycle", sets, wider_link("nic-port"))
    if machine.get("iommu") is not None:
        yield from _larger_pages(data, scenario)
        apply = without_iommu(data)
        yield Change("iommu", "no misses (no IOMMU)", {"machine.iommu.mode": "off"}, apply)
        sets = {"machine.iommu.mode": "loose"}
        yield Change("invalidations", "no invalidations (mode loose)", sets, loose_mode(data))
    for domain, key in (("io-credits", "write_credits"), ("read-credits", "read_credits")):
        sets = {f"machine.nic.{key}": 2 * nic[key]}
        yield Change(domain, f"{2 * nic[key]} of them", sets, more_dma_credits(domain, 2))
    # Instead of `ddio-l2` it would take away more than leaks: what the cores find in their L2s.
    if leaks(data, scenario) and scenario["placement"]["policy"] != "ddio-l2":
        yield Change(
            "io-ways",
            "no leak (ideal DDIO)",
            {"placement.policy": IDEAL_POLICY},
            no_leak(data, scenario),
        )
    trackers = 2 * machine["llc"]["home_trackers"]
    sets = {"machine.llc.home_trackers": trackers}
    why = _prefetches_have_the_rest(data, scenario, "more")
    what = f"{trackers} of them"
    yield Change("home-trackers", what, sets, more_trackers(2), why)
    channels = machine["dram"]["channels"]
    yield Change(
        "dram",
        f"{2 * channels} channels",
        {"machine.dram.channels": 2 * channels},
        more_channels(2),
        gain_unknown=_rows_would_change(data),
    )
    yield from _more_flows(data, scenario)
    yield from _more_registers(data, scenario)
    yield from _more_cores(data, scenario)
    yield from _faster_clocks(data, scenario)
    yield from _send_queues(data, scenario)


def _receiving(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """The link, and what takes packets from it: SRAM, packet rate, receive descriptors."""
    nic, queues = scenario["machine"]["nic"], scenario["queues"]
    sets: dict[str, Any]
    if nic.get("link"):
        link = times(nic["link"], 2)
        yield Change("wire", f"a link of {link}", {"machine.nic.link": link}, wider_link("wire"))
    sram = times(nic["sram"], 2)
    yield Change("nic-sram", f"{sram} of SRAM", {"machine.nic.sram": sram}, more("nic-sram", 2))
    if nic.get("packet_rate"):
        rate = times(nic["packet_rate"], 2)
        sets = {"machine.nic.packet_rate": rate}
        yield Change("packet-engine", rate, sets, more("packet-engine", 2))
    sets = {"queues.rx_descriptors": 2 * queues["rx_descriptors"]}
    if queues.get("pool_buffers") is not None:
        # Add the buffers that the new descriptors hold; the rest of the pool stays as it is.
        sets["queues.pool_buffers"] = queues["pool_buffers"] + queues["rx_descriptors"]
    apply = more_by_queue(data, "descriptors", 2)
    why = longer_receive_rings(data, scenario) or why_longer_rings_may_miss(data, scenario, sets)
    yield Change("descriptors", "twice the descriptors", sets, apply, why)
    # The NIC never reads more than a ring at once.
    if nic["descriptor_batch"] < queues["rx_descriptors"]:
        batch = 2 * nic["descriptor_batch"]
        sets = {"machine.nic.descriptor_batch": batch}
        yield Change("rx-fetches", f"{batch} descriptors each", sets, more("rx-fetches", 2))


def _prefetches_have_the_rest(data: Results, scenario: dict[str, Any], change: str) -> str:
    """Why it is not known what comes of trackers, or of what else cores could ask for.

    Where prefetches have all trackers that cores leave, they become more or fewer with either.
    """
    trackers = data.by_domain["home-trackers"]
    whole_ps = 1e3 * data.measured_ns * trackers.credits
    waiting = trackers.holds_cores_ps + trackers.holds_writes_ps + trackers.holds_reads_ps
    full = trackers.busy_ps >= FULL * whole_ps and waiting < NOTICED * whole_ps
    if not full or scenario["machine"]["l2"].get("prefetch", "none") == "none":
        return ""
    return (
        f"prefetches are made only while home trackers are free, and how many {change} would then "
        "be made is not known"
    )


def _rows_would_change(data: Results) -> str:
    """Why it is not known what channels give where most requests find their row open."""
    dram = data.dram
    columns = dram.row_hits + dram.row_misses + dram.row_conflicts
    if columns == 0 or dram.row_hits < STREAMED * columns:
        return ""
    return (
        f"{100 * dram.row_hits / columns:.0f} % of the requests find their row open, and with more "
        "channels fewer might, because each would get a smaller part of every stream"
    )


def _larger_pages(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """Larger pages, up to the size of which the IOTLB holds all that are in use: none miss then."""
    for page in LARGER:
        sets, why = larger_pages(data, scenario, page), why_they_may_miss(data, scenario, page)
        if sets:
            yield Change("iommu", f"pages of {page}", sets, without_misses(data), why)
        if not why:
            return


def _more_flows(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """As many flows as RSS deals evenly, where too few are the cause."""
    flows = more_flows(data, scenario)
    if flows is not None:
        apply = evenly(data, dealt(data, scenario, flows))
        yield Change(DISPATCH, f"{flows:,} flows", {"traffic.flows": flows}, apply)


def _more_registers(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """Twice the miss registers, and as much more room behind them."""
    machine = scenario["machine"]
    registers = 2 * machine["core"]["l1_miss_registers"]
    sets = {"machine.core.l1_miss_registers": registers}
    superqueue = machine["l2"].get("superqueue")
    if superqueue is not None and machine["l2"].get("prefetch", "none") != "none":
        # The L2 keeps the same room for its prefetches behind them.
        sets["machine.l2.superqueue"] = superqueue + registers // 2
    why = _prefetches_have_the_rest(data, scenario, "fewer")
    yield Change("miss-registers", f"{registers} per core", sets, more_registers(2), why)


def _faster_clocks(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """Cores that are a quarter faster, and an uncore, if it has a clock of its own."""
    machine = scenario["machine"]
    for clock, name in (("core", "cores"), ("uncore", "the uncore")):
        if machine.get(clock) is None:
            continue
        frequency = scaled(machine[clock]["frequency"], FASTER)
        sets = {f"machine.{clock}.frequency": frequency}
        apply = faster_clock(data, scenario, clock, FASTER)
        yield Change("cores", f"{name} at {frequency}", sets, apply)


def _asked_of_more(data: Results, scenario: dict[str, Any], cores: float) -> float:
    """How many times as much is asked for by `cores` times as many cores.

    Threads have connections and reads of their own, but all share the senders' links, and a load is
    what all threads want together.
    """
    if data.transport is None:
        return 1.0
    now = [group.mpps for group in asked(data, scenario)]
    loaded = [group.load_gbps is not None for group in groups(scenario["traffic"])]
    then = sum(mpps * (1 if own else cores) for mpps, own in zip(now, loaded, strict=True))
    return min(then, links_mpps(scenario)) / sum(now) if sum(now) > 0 else 1.0


def _send_queues(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """More descriptors in send queues, and more of them per read."""
    ring = scenario["queues"]["tx_descriptors"]
    sets = {"queues.tx_descriptors": 2 * ring}
    # Those that gather for a completion are as many as before.
    gathered = gathering(scenario)
    apply = more_by_queue(data, "tx-descriptors", (2 * ring - gathered) / (ring - gathered))
    why = longer_send_rings(data, scenario) or why_longer_rings_may_miss(data, scenario, sets)
    yield Change("tx-descriptors", "twice the descriptors", sets, apply, why)
    batch = scenario["machine"]["nic"].get("tx_descriptor_batch")
    if batch is not None and batch < ring:
        sets = {"machine.nic.tx_descriptor_batch": 2 * batch}
        # While a read is under way, the next can only find what the rest of the ring holds.
        few = f"rings of {ring} seldom hold that many that are not read yet"
        yield Change(
            "tx-fetches",
            f"{2 * batch} descriptors each",
            sets,
            longer_fetches(data, 2),
            gain_unknown=few if 2 * (2 * batch) > ring else "",
        )


def _more_cores(data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """A quarter more cores for every tenant that serves packets; tenants behind it move up."""
    tenants = scenario["tenants"]
    serving = [serves(data, t) for t in tenants]
    if not any(serving) or data.packets.offered == 0:
        return
    sets: dict[str, Any] = {}
    before = after = last = 0
    moved = 0
    working = [n for n, tenant in enumerate(tenants) if tenant["cores"]["count"] > 0]
    for number in sorted(working, key=lambda n: tenants[n]["cores"]["first"]):
        cores, takes = tenants[number]["cores"], serving[number]
        first, count = cores["first"] + moved, cores["count"]
        added = ceil(count / 4) if takes else 0
        sets[f"tenants.{number}.cores.first"] = first
        if takes:
            sets[f"tenants.{number}.cores.count"] = count + added
            before, after = before + count, after + count + added
        moved += added
        last = max(last, first + count + added)
    machine = scenario["machine"]
    if last > machine["core"]["count"]:
        sets["machine.core.count"] = last
        if machine["llc"].get("slices") is None:
            # Otherwise the number of slices would grow with the cores.
            sets["machine.llc.slices"] = machine["core"]["count"]
    load = _asked_of_more(data, scenario, after / before)
    why = "RSS would give the flows to other cores, and which share one is chance"
    apply = with_cores(data, scenario, after / before, load)
    yield Change("cores", f"{after} cores", sets, apply, why if uneven(data) else "")
