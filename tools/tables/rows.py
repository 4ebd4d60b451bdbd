"""What the tables show of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from nic2core.describe import senders
from nic2core.results.models import Results
from nic2core.studies.reading import Reading

if TYPE_CHECKING:
    from nic2core.results.models import SendersResults, TransportResults

Row = Callable[[Results], float | None]
T = TypeVar("T")


def _there(value: T | None) -> T:
    if value is None:
        raise ValueError("a row of the table is of something that the run does not have")
    return value


def transport(r: Results) -> TransportResults:
    """The transport, which all runs with these rows have."""
    return _there(r.transport)


def reading(name: str) -> Row:
    """A number that studies read as well: a property of `Reading`."""

    def read(r: Results) -> float:
        value: float = getattr(Reading(r.model_dump()), name)
        return value

    return read


def host_us(r: Results) -> float:
    """Mean host delay, us."""
    return transport(r).host_delay.mean_ns / 1e3


def host_p99_us(r: Results) -> float:
    """99th percentile of the host delay, us."""
    return transport(r).host_delay.percentile(99) / 1e3


def in_flight_packets(r: Results) -> float:
    """Packets in flight, all connections together."""
    return senders.in_flight(r)


def fairness(r: Results) -> float:
    """Jain's index of a run in which something is delivered."""
    found = transport(r).fairness
    assert found is not None  # noqa: S101 - otherwise there is nothing to tabulate
    return found


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

    def share(r: Results) -> float | None:
        t = transport(r)
        cuts = {"host": t.cut_by_host or 0.0, "path": t.cut_by_path, "losses": t.cut_by_losses}
        return 100 * cuts[name] / total if (total := sum(cuts.values())) else None

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


def in_use(name: str) -> Row:
    """Credits of a domain in use, on average."""
    return lambda r: r.by_domain[name].busy_ps / (1e3 * r.measured_ns)


def starved(name: str) -> Row:
    """Share of the time for which something waits for a domain, % (mean of all channels)."""
    return lambda r: r.by_domain[name].starved_ps / (10 * r.measured_ns)


def dma_written(r: Results) -> float:
    """What the DMA benchmark writes, GB/s."""
    return _there(r.dma).gbps / 8


def stream_a_core(r: Results) -> float | None:
    """What STREAM counts on a core, GB/s."""
    cores = [gbs for t in r.tenants for gbs in t.stream_gbytes_per_s_by_core or []]
    return sum(cores) / len(cores) if cores else None


def first_latency_ns(r: Results) -> float | None:
    """Mean latency of the first tenant's accesses, ns."""
    return r.tenants[0].amat_ns
