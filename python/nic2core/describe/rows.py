"""Runs as rows of a table: the settings that were changed, and the results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from nic2core.describe import senders, slowdowns
from nic2core.describe.contents import consumed_share
from nic2core.describe.headline import (
    dma_write_hits,
    dma_write_moves,
    lines_per_request,
    several_tenants,
)
from nic2core.describe.limiter import limit
from nic2core.explain.use import work
from nic2core.scenario.quantity import BITS, BYTES, HZ, PS
from nic2core.scenario.toml_text import toml_value
from nic2core.words import NOTHING, three

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.results.models import Results
    from nic2core.run_record import Record


QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-zµμ/%]*)")
"""A number with its unit, if any."""


OF_SENDERS = (
    "lost_share",
    "retransmitted_share",
    "timeouts_per_ms",
    "mean_window",
    "packets_in_flight",
    "cut_packets_per_ms",
    "fairness",
)
"""The columns of what closed-loop senders do."""


def _row(result: Record, keys: Sequence[str], *, by_tenant: bool) -> dict[str, Any]:
    """The main numbers of a run behind its settings of `keys`, and its other settings at the end.

    `Comparison.table` says what the numbers are.
    """
    data = result.data
    rate, what = work(data)
    settings = {key: cell(value) for key, value in result.settings.items()}
    return {
        "case": result.label,
        **{key: settings.get(key) for key in keys},
        "rate_mps": rate,
        "of": what,
        "offered_mpps": data.packets.offered_mpps,
        "gbps": data.packets.completed_gbps,
        "goodput_gbps": result.goodput_gbps,
        "wanted_gbps": data.transport.wanted_gbps if data.transport is not None else None,
        "drop_share": data.packets.drop_share,
        "p50_ns": result.p50_ns,
        "p99_ns": result.p99_ns,
        "p999_ns": result.p999_ns,
        **_of_senders(result),
        "memory_gbytes_per_s": data.memory.bandwidth_gbytes_per_s,
        "memory_lines_per_request": lines_per_request(result),
        "dma_write_hit_share": dma_write_hits(result),
        "dma_write_move_share": dma_write_moves(result),
        "llc_consumed_share": consumed_share(result),
        **_of_tenants(result, by_tenant=by_tenant),
        "limited_by": limit(result),
        **settings,
    }


def _slowdowns(data: Results) -> dict[str, float | None]:
    """The p99 slowdown of the shortest and of the longest reads, if they are known by size."""
    ends = slowdowns.ends(data)
    return {
        "p99_slowdown_shortest": slowdowns.slowdown(ends.shortest, 99.0) if ends else None,
        "p99_slowdown_longest": slowdowns.slowdown(ends.longest, 99.0) if ends else None,
    }


def _of_senders(result: Record) -> dict[str, float | None]:
    """What closed-loop senders see and do; nothing of it is known without them."""
    data, transport = result.data, result.data.transport
    delays = {
        "p99_rtt_ns": result.p99_rtt_ns,
        "p99_read_ns": senders.p99_ns(data, "read_latency"),
        **_slowdowns(data),
        "mean_host_delay_ns": senders.mean_ns(data, "host_delay"),
        "p99_host_delay_ns": senders.p99_ns(data, "host_delay"),
    }
    if transport is None:
        return {**delays, **dict.fromkeys(OF_SENDERS)}
    fairness = transport.fairness if senders.asked_alike(result) else None
    did = (
        transport.lost_share,
        senders.sent_again(transport),
        senders.timeouts_per_ms(transport, data),
        transport.mean_window,
        senders.in_flight(data),
        senders.cut_per_ms(transport, data),
        fairness,
    )
    return {**delays, **dict(zip(OF_SENDERS, did, strict=True))}


def _of_tenants(result: Record, *, by_tenant: bool) -> dict[str, float | None]:
    """Latency and progress of each tenant: a mean over several would describe none of them."""
    tenants = result.data.tenants
    if len(tenants) == 1 and not by_tenant:
        return {"amat_ns": result.data.amat_ns, "progress_mps": tenants[0].progress_mps}
    return {
        **{f"amat_ns ({t.name})": t.amat_ns for t in tenants},
        **{f"progress_mps ({t.name})": t.progress_mps for t in tenants},
        **{
            f"stream_gbytes_per_s ({t.name})": sum(t.stream_gbytes_per_s_by_core)
            for t in tenants
            if t.stream_gbytes_per_s_by_core is not None
        },
    }


def cell(value: Any) -> Any:
    """A cell value; tables become text, as one column cannot hold tables with different keys."""
    return toml_value(value) if isinstance(value, dict | list) else value


def text(value: Any) -> str:
    """A cell of the table as displayed text."""
    if value is None:
        return NOTHING
    return three(value) if isinstance(value, float) else str(value)


def table(results: Sequence[Record]) -> pl.DataFrame:
    """One row per run."""
    by_tenant = several_tenants(results)
    every = dict.fromkeys(key for r in results for key in r.settings)
    keys = [key for key in every if len({str(r.settings.get(key)) for r in results}) > 1]
    found = [_row(r, keys, by_tenant=by_tenant) for r in results]
    return pl.DataFrame(found, infer_schema_length=None)


def varied(results: Sequence[Record]) -> list[str]:
    """The keys that were set for every run, but not to the same value in all of them."""
    keys = results[0].settings if results else {}
    return [
        key
        for key in keys
        if all(key in r.settings for r in results)
        and any(r.settings[key] != keys[key] for r in results)
    ]


def of_one_scenario(results: Sequence[Record]) -> bool:
    """Whether these are runs of one scenario, whose values of a key can be drawn as one curve."""
    return len({r.scenario_name for r in results}) == 1


def is_curve(values: Sequence[Any], least: int) -> bool:
    """Whether these are numbers, or quantities of one kind, with at least `least` distinct ones."""
    _, places = quantities(values)
    return all(type(p) in {int, float} for p in places) and len(set(places)) >= least


def quantities(values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Values such as "10 Gbps" as numbers with their unit: the smallest of those that they have.

    Without a unit, the values as they are, if they are not all of one kind.
    """
    found = [QUANTITY.fullmatch(v) if isinstance(v, str) else None for v in values]
    parts = [(float(p[1]), p[2]) for p in found if p]
    units = {unit for _, unit in parts}
    if not parts or len(parts) < len(values):
        return "", values
    if len(units) == 1:
        return units.pop(), [number for number, _ in parts]
    kind = next((scale for scale in (PS, HZ, BITS, BYTES) if units <= scale.keys()), None)
    if kind is None:
        return "", values
    # Nothing is nothing in any unit.
    least = min({unit for number, unit in parts if number} or units, key=kind.__getitem__)
    return least, [number * (kind[unit] / kind[least]) for number, unit in parts]


def pairs(results: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Which run is compared with which: the first with all others if one key was varied.

    With several keys, pairs differ in one of them: the first key that is not a number, otherwise
    the first. The effect of each other key is shown, for every value of that one, by the runs in
    which only it differs from the first run with that value.
    """
    keys = varied(results)
    if len(keys) < 2:
        return [(results[0], other) for other in results[1:]]
    names = (k for k in keys if not is_curve([r.settings[k] for r in results], 2))
    compared = next(names, keys[0])
    first: dict[tuple[str, ...], Record] = {}
    found = []
    for result in results:
        rest = tuple(str(result.settings[k]) for k in keys if k != compared)
        base = first.setdefault(rest, result)
        if base is not result:
            found.append((base, result))
    starts: dict[str, Record] = {}
    for result in results:
        starts.setdefault(str(result.settings[compared]), result)
    for key in keys:
        if key != compared:
            found += [
                (start, r)
                for start in starts.values()
                for r in results
                if _differ_in(start, r, keys) == [key]
            ]
    return found


def _differ_in(one: Record, other: Record, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if one.settings[key] != other.settings[key]]
