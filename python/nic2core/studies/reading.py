"""Extracts what a study needs from a point's result: the only place that knows its field names."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from nic2core.results.bases import is_read
from nic2core.scenario.quantity import LINE_BYTES


@dataclass(frozen=True)
class Reading:
    """The result of one point: a run, or a peak search together with the run at the peak."""

    result: dict[str, Any]

    @property
    def _run(self) -> dict[str, Any]:
        run: dict[str, Any] = self.result.get("results", self.result)
        return run

    @property
    def mrps(self) -> float:
        """Million requests per second: the peak rate, or the completed rate of a run."""
        if "peak_mpps" in self.result:
            return float(self.result["peak_mpps"])
        return float(self._run["packets"]["completed_mpps"])

    @property
    def drop_share(self) -> float:
        """Dropped share of the offered packets, 0 to 1."""
        return float(self._run["packets"]["drop_share"])

    @property
    def offered_mpps(self) -> float:
        """Offered packets, millions per second."""
        return float(self._run["packets"]["offered_mpps"])

    @property
    def bandwidth(self) -> float:
        """Memory reads and writes, GB/s."""
        return float(self._run["memory"]["bandwidth_gbytes_per_s"])

    @property
    def amat_ns(self) -> float:
        """Mean time of a core's memory access over all levels, ns."""
        return float(self._run["amat_ns"])

    def accesses(self, *causes: str) -> float:
        """Memory accesses per completed request for these causes, or for all if none is named."""
        requests = self._run["packets"]["completed"]
        lines = sum(
            cause["lines"]
            for cause in self._run["memory"]["causes"]
            if not causes or cause["cause"] in causes
        )
        return float(lines / requests)

    def largest_cause_but(self, left_out: str) -> float:
        """Memory accesses per completed request for the cause with most of them but this one."""
        causes = {cause["cause"] for cause in self._run["memory"]["causes"]} - {left_out}
        return max(self.accesses(cause) for cause in causes)

    @property
    def rx_evictions(self) -> float:
        """Receive-buffer lines written back to memory, per request."""
        return self.accesses("rx-evct")

    @property
    def premature_reads(self) -> float:
        """Receive-buffer lines the cores had to read from memory, per request."""
        return self.accesses("cpu-rx-rd")

    @property
    def consumed_evictions(self) -> float:
        """Evictions of buffers that the cores had consumed; unconsumed ones are read back later."""
        return self.rx_evictions - self.premature_reads

    @property
    def dram_mean_ns(self) -> float:
        """Mean latency of a memory read, ns."""
        return float(self._run["dram"]["read_latency"]["mean_ns"])

    @property
    def dram_p99_ns(self) -> float:
        """99th percentile of the latency of a memory read, ns."""
        return _percentile_ns(self._run["dram"]["read_latency"], 99)

    @property
    def dram_cdf(self) -> list[tuple[float, float]]:
        """Latencies of memory reads: (ns, share up to that)."""
        return [(ns, share) for ns, share in self._run["dram"]["read_latency"]["cdf"]]

    @property
    def write_hit_percent(self) -> float:
        """DMA writes that found their line in the LLC, percent."""
        io = self._run["io"]
        return float(100 * io["write_hits"] / io["written"])

    @property
    def read_hit_percent(self) -> float:
        """DMA reads that found their line in the LLC, percent."""
        io = self._run["io"]
        return float(100 * io["read_hits"] / (io["read_hits"] + io["read_misses"]))

    @property
    def dma_gbps(self) -> float:
        """Payload that the DMA benchmark moved, Gbit/s."""
        return float(self._run["dma"]["gbps"])

    @property
    def dma_latency_ns(self) -> float:
        """Mean latency of the DMA benchmark's reads, ns."""
        return float(self._run["dma"]["latency_ns"])

    @property
    def goodput_gbps(self) -> float:
        """Payload of closed-loop senders that reached its application, Gbit/s."""
        return float(self._run["transport"]["goodput_gbps"])

    @property
    def transport_drop_percent(self) -> float:
        """Dropped share of the packets that closed-loop senders sent, percent."""
        return float(100 * self._run["transport"]["lost_share"])

    @property
    def received_gbps(self) -> float:
        """Whole packets that the cores completed, Gbit/s."""
        return float(self._run["packets"]["completed_gbps"])

    def host_delay_us(self, percent: float) -> float:
        """A percentile of the host delay that acknowledgements report to the senders, us."""
        return _percentile_ns(self._run["transport"]["host_delay"], percent) / 1e3

    def whole_read_us(self, percent: float) -> float:
        """A percentile of the time from the request of a read to its last packet, us."""
        return _percentile_ns(self._run["transport"]["read_latency"], percent) / 1e3

    def host_delay_percent_within(self, us: float) -> float:
        """Share of acknowledgements that report a host delay of at most `us`, percent."""
        cdf = self._run["transport"]["host_delay"]["cdf"]
        # Interpolate: points of the CDF may be a percent apart.
        above = bisect_right(cdf, 1e3 * us, key=lambda point: point[0])
        if above in (0, len(cdf)):
            return 100.0 if above else 0.0
        (low, least), (high, most) = cdf[above - 1 : above + 1]
        return float(100 * (least + (most - least) * (1e3 * us - low) / (high - low)))

    def stage_us(self, stage: str, percent: float) -> float:
        """A percentile of the time that packets spend in a stage of the path, us."""
        return _percentile_ns(self._stage(stage), percent) / 1e3

    def stage_mean_us(self, stage: str) -> float:
        """The mean time that packets spend in a stage of the path, us."""
        return float(self._stage(stage)["mean_ns"] / 1e3)

    def _stage(self, name: str) -> dict[str, Any]:
        stages = self._run["latency"]
        found: dict[str, Any] = next(s for s in stages if s["stage"] == name)["distribution"]
        return found

    @property
    def memory_reads(self) -> float:
        """Memory reads, GB/s."""
        causes = self._run["memory"]["causes"]
        return float(sum(c["gbytes_per_s"] for c in causes if is_read(c["cause"])))

    @property
    def memory_writes(self) -> float:
        """Memory writes, GB/s."""
        return self.bandwidth - self.memory_reads

    @property
    def misses_per_packet(self) -> float:
        """IOTLB misses per packet."""
        return float(self._run["iommu"]["misses_per_packet"])

    def misses_per_packet_of(self, mapping: str) -> float:
        """IOTLB misses per packet for one kind of mapping."""
        lookups = self._run["iommu"]["lookups"]
        return float(next(m["misses_per_packet"] for m in lookups if m["mapping"] == mapping))

    @property
    def miss_latency_ns(self) -> float:
        """Mean time from an IOTLB miss to its translation, ns."""
        return float(self._run["iommu"]["miss_latency_ns"])

    @property
    def write_wait_ns(self) -> float:
        """Mean time that a line holding a write credit waits for its translation, ns."""
        return float(self._domain("iommu")["holds_writes_ps"] / 1e3 / self._credits_taken)

    @property
    def write_latency_ns(self) -> float:
        """Mean time for which a line written by the NIC holds its credit, ns."""
        return float(self._run["io"]["write_latency_ns"])

    @property
    def write_link_wait_ns(self) -> float:
        """Mean time that a line waits for the link before taking a credit that is free, ns."""
        return float(self._domain("pcie")["holds_writes_ps"] / 1e3 / self._credits_taken)

    @property
    def write_credits(self) -> int:
        """Credits for lines that the NIC writes."""
        return int(self._run["io"]["write_credits"])

    @property
    def written_gbps(self) -> float:
        """Lines that the NIC wrote with a credit, Gbit/s."""
        return float(8 * LINE_BYTES * self._credits_taken / self._run["measured_ns"])

    @property
    def _credits_taken(self) -> int:
        taken: int = self._domain("io-credits")["uses"]
        return taken

    def _domain(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(d for d in self._run["domains"] if d["domain"] == name)
        return found

    def progress(self, tenant: str) -> float:
        """Work of a tenant: millions of requests or accesses per second."""
        return float(self._tenant(tenant)["progress_mps"])

    def llc_miss_ratio(self, tenant: str) -> float:
        """Share of a tenant's LLC accesses that missed, 0 to 1."""
        t = self._tenant(tenant)
        return float(t["llc_misses"] / (t["llc_hits"] + t["llc_misses"]))

    def _tenant(self, name: str) -> dict[str, Any]:
        tenant: dict[str, Any] = next(t for t in self._run["tenants"] if t["name"] == name)
        return tenant


def _percentile_ns(distribution: dict[str, Any], percent: float) -> float:
    return float(next(ns for at, ns in distribution["percentiles_ns"] if at == percent))
