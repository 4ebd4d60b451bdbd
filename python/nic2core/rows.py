"""Runs as rows of a table: what was changed, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from nic2core.explain.use import work
from nic2core.verdict import limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.record import Record


def row(result: Record) -> dict[str, Any]:
    """The main numbers of a run with the settings that made it.

    `rate_mps` counts what the run is for, `of`: packets, transactions of the DMA benchmark or
    accesses of memory benchmarks, millions a second.
    """
    data = result.data
    rate, what = work(data)
    return {
        "case": result.label,
        **result.settings,
        "rate_mps": rate,
        "of": what,
        "offered_mpps": data.packets.offered_mpps,
        "gbps": data.packets.completed_gbps,
        "goodput_gbps": None if data.transport is None else data.transport.goodput_gbps,
        "drop_share": data.packets.drop_share,
        "p50_ns": result.latency_ns(50.0),
        "p99_ns": result.p99_ns,
        "memory_gbytes_per_s": data.memory.bandwidth_gbytes_per_s,
        "amat_ns": data.amat_ns,
        "limited_by": limit(result),
    }


def table(results: Sequence[Record]) -> pl.DataFrame:
    """One row per run."""
    return pl.DataFrame([row(r) for r in results])


def varied(results: Sequence[Record]) -> list[str]:
    """The keys that were set for each of the runs, and not to the same value for all."""
    keys = results[0].settings if results else {}
    return [
        key
        for key in keys
        if all(key in r.settings for r in results)
        and any(r.settings[key] != keys[key] for r in results)
    ]
