"""Plotly figures of one or several runs: the same in notebooks and in the report."""

from nic2core.draw.connections import by_connection
from nic2core.draw.curves import grid, over, peak_drops, peak_search, titles
from nic2core.draw.latency import latency_by_stage, latency_cdf
from nic2core.draw.llc import llc_by_way, llc_contents
from nic2core.draw.memory import dram_cdf, memory_by_cause
from nic2core.draw.queues import by_core
from nic2core.draw.series import time_series
from nic2core.draw.slowdowns import slowdowns_by_size

__all__ = [
    "by_connection",
    "by_core",
    "dram_cdf",
    "grid",
    "latency_by_stage",
    "latency_cdf",
    "llc_by_way",
    "llc_contents",
    "memory_by_cause",
    "over",
    "peak_drops",
    "peak_search",
    "slowdowns_by_size",
    "time_series",
    "titles",
]
