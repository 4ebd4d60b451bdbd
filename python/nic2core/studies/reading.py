"""Reads what a study needs out of a point's result: the only place that knows its field names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CAUSES = (
    "nic-rx-wr",
    "nic-tx-rd",
    "cpu-rx-rd",
    "cpu-other-rd",
    "rx-evct",
    "tx-evct",
    "other-evct",
)
"""The causes of memory traffic in the Sweeper paper's figure 1c, in stacking order."""


@dataclass(frozen=True)
class Reading:
    """The result of one point: of a run, or of a peak search with the run at the peak."""

    result: dict[str, Any]

    @property
    def _run(self) -> dict[str, Any]:
        run: dict[str, Any] = self.result.get("results", self.result)
        return run

    @property
    def mrps(self) -> float:
        """Million requests a second: the peak, or what was completed."""
        if "peak_mpps" in self.result:
            return float(self.result["peak_mpps"])
        return float(self._run["packets"]["completed_mpps"])

    @property
    def drop_share(self) -> float:
        """Dropped share of the offered packets, 0 to 1."""
        return float(self._run["packets"]["drop_share"])

    @property
    def offered_mpps(self) -> float:
        """Offered packets, millions a second."""
        return float(self._run["packets"]["offered_mpps"])

    @property
    def bandwidth(self) -> float:
        """Memory reads and writes, GB/s."""
        return float(self._run["memory"]["bandwidth_gbps"])

    @property
    def amat_ns(self) -> float:
        """Mean time of a core's memory access over all levels, ns."""
        return float(self._run["amat_ns"])

    def accesses(self, *causes: str) -> float:
        """Memory accesses per completed request by these causes; by all if none is named."""
        requests = self._run["packets"]["completed"]
        lines = sum(
            cause["lines"]
            for cause in self._run["memory"]["causes"]
            if not causes or cause["cause"] in causes
        )
        return float(lines / requests)

    @property
    def rx_evictions(self) -> float:
        """Receive-buffer lines written back to memory, per request."""
        return self.accesses("rx-evct")

    @property
    def premature_reads(self) -> float:
        """Receive-buffer lines the cores had to read from memory, per request."""
        return self.accesses("cpu-rx-rd")

    @property
    def dram_mean_ns(self) -> float:
        """Mean latency of a memory read, ns."""
        return float(self._run["dram"]["read_latency"]["mean_ns"])

    @property
    def dram_p99_ns(self) -> float:
        """99th percentile of the latency of a memory read, ns."""
        percentiles = self._run["dram"]["read_latency"]["percentiles_ns"]
        return float(next(ns for percent, ns in percentiles if percent == 99))

    @property
    def dram_cdf(self) -> list[tuple[float, float]]:
        """Latencies of memory reads: (ns, share at most that)."""
        return [(ns, share) for ns, share in self._run["dram"]["read_latency"]["cdf"]]

    @property
    def write_hit_percent(self) -> float:
        """DMA writes that found their line in the LLC, percent."""
        io = self._run["io"]
        return float(100 * io["write_hits"] / (io["write_hits"] + io["write_misses"]))

    @property
    def dma_gbps(self) -> float:
        """Payload that the DMA benchmark moved, Gbit/s."""
        return float(self._run["dma"]["gbps"])

    @property
    def dma_latency_ns(self) -> float:
        """Mean latency of its reads, ns."""
        return float(self._run["dma"]["latency_ns"])

    def progress(self, tenant: str) -> float:
        """Work of a tenant: millions of requests or accesses a second."""
        return float(self._tenant(tenant)["progress_mps"])

    def llc_miss_ratio(self, tenant: str) -> float:
        """Share of a tenant's LLC accesses that missed, 0 to 1."""
        t = self._tenant(tenant)
        return float(t["llc_misses"] / (t["llc_hits"] + t["llc_misses"]))

    def _tenant(self, name: str) -> dict[str, Any]:
        tenant: dict[str, Any] = next(t for t in self._run["tenants"] if t["name"] == name)
        return tenant
