"""A made-up engine for tests of the framework. Its numbers follow a toy rule and mean nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import synthetic_receiver

from nic2core.studies.sweeper.look import CAUSES


class ScenarioRefused(ValueError):
    """What this engine raises in place of the real one's error."""


def megabytes(size: str) -> float:
    number, unit = size.split()
    return float(number) * {"B": 1 / 2**20, "KiB": 1 / 2**10, "MiB": 1}[unit]


@dataclass(frozen=True)
class SyntheticEngine:
    """Answers at once, in the shape of the real engine's results."""

    version: str = "synthetic"
    failures: tuple[type[Exception], ...] = (ScenarioRefused,)
    seconds: float = 0.0
    """How long a point takes."""
    refuse_buffers: int | None = None
    """The ring size at which it raises."""
    leaks_after_sweep: bool = False
    """Seeded fault: consumed buffers are written back in spite of Sweeper."""
    receiver_fault: synthetic_receiver.Fault | None = None
    """Seeded fault of the receiver of closed-loop traffic."""

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        time.sleep(self.seconds)
        if scenario["queues"]["rx_descriptors"] == self.refuse_buffers:
            raise ScenarioRefused("the ring is refused")
        return self._results(scenario)

    def find_peak(self, scenario: dict[str, Any]) -> dict[str, Any]:
        results = self.run(scenario)
        mpps = results["packets"]["completed_mpps"]
        return {
            "peak_mpps": mpps,
            "fails_at_mpps": 1.01 * mpps,
            "failed_by": "p99",
            "probes": [],
            "results": results,
        }

    def _results(self, scenario: dict[str, Any]) -> dict[str, Any]:
        if (bench := scenario.get("dma_bench")) is not None:
            # Translations that do not fit cost time, as does the size.
            missed = 0 if scenario["machine"].get("iommu") is None else megabytes(bench["window"])
            ns = 400 + 10 * missed + 1e6 * megabytes(bench["size"])
            dma = {"transactions": 1000, "gbps": 1e4 / ns, "latency_ns": ns}
            return {"engine_version": self.version, "dma": dma}
        if (scenario.get("traffic") or {"kind": "closed-loop"})["kind"] == "closed-loop":
            found = synthetic_receiver.results(scenario, self.receiver_fault)
            return {"engine_version": self.version, **found}
        placement, queues = scenario["placement"], scenario["queues"]
        traffic, machine = scenario["traffic"], scenario["machine"]
        cores = scenario["tenants"][0]["cores"]["count"]
        lines = megabytes(traffic["sizes"]["size"]) * 2**20 / 64
        footprint = queues["rx_descriptors"] * cores * megabytes(queues["buffer_size"])
        ways, llc = placement.get("io_ways", 0), machine["llc"]
        io = ways * megabytes(llc["size"]) / llc["ways"]
        depth = traffic.get("depth", 0)
        app = scenario["tenants"][0]["app"]["kind"]
        per_request = dict.fromkeys(CAUSES, 0.0)
        per_request["cpu-other-rd"] = 12.0 if app == "kvs" else 0.01
        per_request["other-evct"] = 8.0 if app == "kvs" else 0.01
        if placement["policy"] == "dma":
            per_request |= {"nic-rx-wr": lines, "cpu-rx-rd": lines, "nic-tx-rd": 2.0}
        elif placement["policy"] == "ddio":
            early = lines * max(0.0, min(0.4, (depth * cores * lines * 64 / 2**20 - io) / 20))
            consumed = lines * max(0.05, 1 - io / footprint) * (1 - 0.3 * (ways == 2))
            if placement["sweeper"]:
                early, consumed = 1.2 * early, consumed if self.leaks_after_sweep else 0.0
            per_request |= {"cpu-rx-rd": early, "rx-evct": early + consumed}
        accesses = sum(per_request.values())
        mrps = 80 * machine["dram"]["channels"] / (accesses + 4 + footprint / 50)
        offered = mrps
        if traffic.get("rate", "").endswith(" pps"):
            offered = float(traffic["rate"].split()[0]) / 1e6
        bursts = 5 / queues["rx_descriptors"]
        requests = 100_000
        memory_ns = 60 + 2 * accesses
        return {
            "engine_version": self.version,
            "packets": {
                "completed": requests,
                "offered_mpps": offered,
                "completed_mpps": mrps,
                "drop_share": max(bursts, 1 - mrps / offered),
            },
            "memory": {
                "bandwidth_gbytes_per_s": mrps * accesses * 0.064,
                "causes": [
                    {"cause": cause, "lines": round(requests * value)}
                    for cause, value in per_request.items()
                ],
            },
            "dram": {
                "read_latency": {
                    "mean_ns": memory_ns,
                    "percentiles_ns": [[50.0, memory_ns], [99.0, 3 * memory_ns]],
                    "cdf": [[memory_ns, 0.5], [3 * memory_ns, 0.99], [5 * memory_ns, 1.0]],
                }
            },
            "io": {
                "written": round(1e4 * min(1.0, io / footprint)) + 100,
                "write_hits": round(1e4 * min(1.0, io / footprint)),
                "write_misses": 100,
                "write_bypasses": 0,
                "read_hits": round(1e4 * min(1.0, io / footprint)),
                "read_misses": 100,
            },
            "amat_ns": memory_ns / 10,
            "tenants": [
                {
                    "name": tenant["name"],
                    "progress_mps": mrps if tenant["app"]["kind"] != "xmem" else 900 - 20 * ways,
                    "llc_hits": 1000,
                    "llc_misses": 10 + 5 * ways,
                }
                for tenant in scenario["tenants"]
            ],
        }


class Silent:
    """Progress that is remembered and not shown."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.cached = 0
        self.seconds = 0.0

    def begin(self, total: int) -> None:
        self.total = total

    def done(self, point: Any, seconds: float, *, cached: bool) -> None:
        self.names.append(point.name)
        self.seconds += seconds
        self.cached += cached
