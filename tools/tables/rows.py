"""What the tables show of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from nic2core.results.models import Results

if TYPE_CHECKING:
    from nic2core.results.models import Domain, SendersResults, TransportResults

Row = Callable[[Results], float | None]
T = TypeVar("T")


def _there(value: T | None) -> T:
    if value is None:
        raise ValueError("a row of the table is of something that the run does not have")
    return value


def transport(r: Results) -> TransportResults:
    """The transport, which all runs with these rows have."""
    return _there(r.transport)


def goodput(r: Results) -> float:
    """Payload that reached its application, Gbit/s."""
    return transport(r).goodput_gbps


def dropped(r: Results) -> float:
    """Share of the packets sent that were dropped, %."""
    return 100 * transport(r).lost_share


def host_us(r: Results) -> float:
    """Mean host delay, us."""
    return transport(r).host_delay.mean_ns / 1e3


def fabric_us(r: Results) -> float:
    """Mean fabric delay, us."""
    return transport(r).fabric_delay.mean_ns / 1e3


def rtt_us(percent: float) -> Row:
    """A percentile of the round trip, us."""
    return lambda r: transport(r).rtt.percentile(percent) / 1e3


def read_us(percent: float) -> Row:
    """A percentile of the latency of reads, us."""
    return lambda r: transport(r).read_latency.percentile(percent) / 1e3


def not_lost(r: Results) -> float:
    """Packets considered lost that were not, % of those sent."""
    t = transport(r)
    return 100 * (t.not_lost + t.duplicates) / t.sent


def cut_by(name: str) -> Row:
    """Share of what windows are cut by, %: `host`, `path` or `losses`."""

    def share(r: Results) -> float:
        t = transport(r)
        cuts = {"host": t.cut_by_host or 0.0, "path": t.cut_by_path, "losses": t.cut_by_losses}
        return 100 * cuts[name] / sum(cuts.values())

    return share


def group(number: int) -> Callable[[Results], SendersResults | None]:
    """Senders without rivals (0), or the rivals (1)."""
    return lambda r: transport(r).by_group[number] if transport(r).by_group else None


def of_group(number: int) -> Row:
    """What these senders get, Gbit/s."""
    return lambda r: None if (g := group(number)(r)) is None else g.goodput_gbps


def rival_over_other(r: Results) -> float | None:
    """What a rival gets over what another sender gets."""
    others, rivals = group(0)(r), group(1)(r)
    if others is None or rivals is None:
        return None
    return rivals.goodput_gbps / rivals.count / (others.goodput_gbps / others.count)


def rival_read_us(percent: float) -> Row:
    """A percentile of the latency of the rivals' reads, us."""
    return lambda r: _there(group(1)(r)).read_latency.percentile(percent) / 1e3


def domain(r: Results, name: str) -> Domain:
    """A domain of the path."""
    return next(d for d in r.domains if d.domain == name)


def in_use(name: str) -> Row:
    """Credits of a domain in use, on average."""
    return lambda r: domain(r, name).busy_ps / (1e3 * r.measured_ns)


def starved(name: str) -> Row:
    """Share of the time for which something waits for a domain, % (mean of all channels)."""
    return lambda r: domain(r, name).starved_ps / (10 * r.measured_ns)


def memory(r: Results) -> float:
    """Memory traffic, GB/s."""
    return r.memory.bandwidth_gbytes_per_s


def written(r: Results) -> float:
    """Memory traffic that is written, GB/s."""
    return sum(c.gbytes_per_s for c in r.memory.causes if c.cause.endswith(("-evct", "-wr")))


def read(r: Results) -> float:
    """Memory traffic that is read, GB/s."""
    return memory(r) - written(r)


def stream_a_core(r: Results) -> float | None:
    """What STREAM counts on a core, GB/s."""
    cores = [gbs for t in r.tenants for gbs in t.stream_gbytes_per_s_by_core or []]
    return sum(cores) / len(cores) if cores else None


def dram_read_ns(r: Results) -> float:
    """A read in the memory, ns."""
    return r.dram.read_latency.mean_ns


def dma_written(r: Results) -> float:
    """What the DMA benchmark writes, GB/s."""
    return _there(r.dma).gbps / 8


def credit_ns(r: Results) -> float | None:
    """How long a line that is written has its credit, ns."""
    return _there(r.io).write_latency_ns


def before_link_ns(r: Results) -> float:
    """How long a written line waits for the link although there are credits for it, ns."""
    return domain(r, "pcie").holds_writes_ps / domain(r, "io-credits").uses / 1e3


def misses(r: Results) -> float | None:
    """IOTLB misses a packet."""
    return r.iommu.misses_per_packet if r.iommu else None


def miss_ns(r: Results) -> float | None:
    """What a miss takes, ns."""
    return r.iommu.miss_latency_ns if r.iommu else None
