"""How right `explain` is where nobody chose the scenario.

Draws servers and loads at random, runs each and, where something limits it, every change that is
listed for it. `python -m tools.predictions [bursts] [SCENARIOS [SEED]]` prints how many predictions
keep the rule of the scenarios made for it, and those that are furthest off; with `bursts`, where
some packets of on/off bursts, of Poisson arrivals or of a capture are dropped at times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from nic2core import UserError, api
from nic2core.explain.limit import AT_TIMES
from nic2core.rerun import run_changes
from nic2core.settled import rings_fill

from .pcap import pcap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from nic2core import Result
    from nic2core.explain.help import Help

WITHIN = 0.2
"""Largest error of a predicted rate that keeps the rule."""

ACTS = 0.05
"""Change of the rate, predicted or run, from which a change acts."""

DROPS = 0.02
"""Share of the packets that bursts lose from which something may help them."""

MOST_REFUSED = 3
"""Scenarios that may be refused for each that something limits: a key that there is no more would
be in a third of them."""

PACKETS = 20_000
"""Packets of a capture."""

GAP_NS = 3000
"""Mean pause between its trains."""

MOST_OF_TRAIN = 2000
"""Packets of its longest trains."""

TIMES = {"run.warmup": "6 ms", "run.duration": "1 ms", "run.sample": "100 us"}

FORWARDERS: list[dict[str, Any]] = [
    {"kind": "l2fwd"},
    {"kind": "l2fwd", "packet_instructions": 400},
    {"kind": "l3fwd", "rules": 1000},
    {"kind": "l3fwd", "transmit": "zero-copy"},
    {"kind": "l3fwd", "packet_instructions": 800},
]

SOMETIMES: dict[str, list[Any]] = {
    "machine.base": ["skylake-6140", "icelake-8360y", "skylake-host-congestion"],
    "machine.nic.link": ["40 Gbps", "200 Gbps"],
    "machine.pcie.generation": [3, 4, 5],
    "machine.dram.channels": [1, 2, 4],
    "machine.nic.read_credits": [64, 128, 512],
    "machine.nic.write_credits": [48, 184],
    "placement.policy": ["dma", "ddio"],
    "placement.io_ways": [1, 4, 11],
    "queues.rx_descriptors": [64, 128, 512, 2048],
    "queues.tx_descriptors": [64, 128, 512],
    "queues.burst": [1, 8],
    "traffic.flows": [8, 64, 65536],
}
"""Keys of which each is set in about a third of the scenarios."""


@dataclass(frozen=True)
class Checked:
    """A prediction and what it was made for."""

    help: Help
    limits: str
    scenario: str

    @property
    def error(self) -> float:
        """Predicted rate with the change / rate when run - 1."""
        return inf if self.help.error is None else self.help.error

    @property
    def acts(self) -> bool:
        """Whether the change does something, or was predicted to."""
        return max(abs(self.help.predicted), abs(self.help.measured or 0.0)) > ACTS


def drawn(rnd: Random) -> tuple[str, dict[str, Any]]:
    """A forwarder on PCIe on few or many cores, with more or less load than it can take."""
    keys: dict[str, Any] = {
        "tenants.0.app": rnd.choice(FORWARDERS),
        "tenants.0.cores.count": rnd.choice([1, 2, 3, 4, 6, 8, 12, 16]),
        "traffic.sizes": {"kind": "fixed", "size": f"{rnd.choice([64, 128, 256, 512, 1500])} B"},
        "traffic.rate": rnd.choice(["20 Gbps", "40 Gbps", "80 Gbps", "99 Gbps", "190 Gbps"]),
        "run.seed": rnd.randrange(1, 100),
    }
    keys |= {key: rnd.choice(of) for key, of in SOMETIMES.items() if rnd.random() < 1 / 3}
    return rnd.choice(["ddio-bench", "explain-cpu"]), keys


def drawn_bursts(rnd: Random, folder: Path) -> tuple[str, dict[str, Any]]:
    """The same with on/off bursts, Poisson arrivals, or a capture that is put into `folder`.

    On/off bursts are measured over whole bursts and pauses.
    """
    scenario, keys = drawn(rnd)
    sizes, rate = keys.pop("traffic.sizes"), rnd.choice(["40 Gbps", "80 Gbps", "99 Gbps"])
    keys.pop("traffic.rate")
    flows = keys.pop("traffic.flows", 65536)
    traffic = {"rate": rate, "sizes": sizes, "flows": flows}
    times = {"run.warmup": "3 ms", "run.duration": "2 ms"}
    kind = rnd.choice(["bursts", "poisson", "replay"])
    if kind == "poisson":
        # Near what the cores take, or nothing is dropped, or all of the time.
        keys["queues.rx_descriptors"] = rnd.choice([16, 32, 64])
        keys["queues.post_batch"] = 8
    elif kind == "bursts":
        on = rnd.choice([50, 100, 300, 600])
        cycle = on * rnd.choice([2, 3, 5])
        traffic |= {"on": f"{on} us", "off": f"{cycle - on} us"}
        measured = cycle * max(1, round(2000 / cycle))
        times = {"run.warmup": f"{3000 + 2 * cycle} us", "run.duration": f"{measured} us"}
    else:
        file = folder / f"{rnd.randrange(1 << 32):08x}.pcap"
        file.write_bytes(capture(rnd))
        rate = rnd.choice(["10 Gbps", "20 Gbps", "40 Gbps", "60 Gbps"])
        traffic = {"file": str(file), "rate": rate}
    return scenario, keys | times | {"traffic": {"kind": kind, **traffic}}


def capture(rnd: Random) -> bytes:
    """A pcap of trains of packets: as long as of a Pareto distribution, each of one flow."""
    frames: list[tuple[int, int, int]] = []
    now_ns = 0.0
    flows = rnd.choice([40, 1000])
    apart_ns = rnd.choice([100, 300])
    while len(frames) < PACKETS:
        now_ns += rnd.expovariate(1 / GAP_NS)
        flow, size = rnd.randrange(flows), rnd.choice([128, 512, 1500])
        for _ in range(min(MOST_OF_TRAIN, int(8 * rnd.paretovariate(1.2)))):
            now_ns += apart_ns
            frames.append((round(now_ns), size, flow))
    return pcap(frames)


def tells(result: Result, *, bursts: bool) -> bool:
    """Whether something limits a run, or its bursts overflow something."""
    if bursts:
        at_times = result.limit in AT_TIMES or result.overflow is not None
        return at_times and result.drop_share > DROPS
    # While rings fill, the rate is that of no other run.
    return result.limited and rings_fill(result) is None


def checked(
    scenarios: int, rnd: Random, folder: Path, *, bursts: bool = False
) -> Iterator[Checked]:
    """The predictions for so many scenarios that something limits, with what running them gave.

    Captures are put into `folder`.
    """
    done = refused = 0
    while done < scenarios:
        scenario, keys = drawn_bursts(rnd, folder) if bursts else drawn(rnd)
        try:
            result = api.run(scenario, TIMES | keys)
        except UserError:
            # Not every combination can be simulated, but most can.
            refused += 1
            if refused > MOST_REFUSED * (done + 10):
                raise
            continue
        if not tells(result, bursts=bursts):
            continue
        done += 1
        for help_ in run_changes(result, jobs=2):
            if help_.measured is not None and not help_.filling:
                yield Checked(help_, result.model.cause, f"{scenario} {keys}")
