"""Sample results for tests that need no engine; `data/README.md` says what they are."""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Result, UserError, engine, sources
from nic2core.command import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nic2core.results.models import Results

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_interrupts() -> None:
    """Shells start background jobs with SIGINT ignored; the tests of Ctrl-C would wait for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run the command with arguments; what it returns is the exit code."""

    def run(*arguments: str | Path) -> int:
        monkeypatch.setattr(sys, "argv", ["nic2core", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code if isinstance(end.value.code, int) else 0

    return run


@pytest.fixture
def ddio() -> Result:
    return Result.load(DATA / "sample-ddio.json")


@pytest.fixture
def sweeper() -> Result:
    return Result.load(DATA / "sample-sweeper.json")


@pytest.fixture
def calm(ddio: Result) -> Result:
    """A run that completes all that is offered, with no stage near its limit."""
    value = ddio.to_json()
    packets = value["results"]["packets"]
    packets["drop_share"] = packets["dropped_bytes_share"] = 0.0
    packets["completed"] = packets["offered"]
    span = value["results"]["measured_ns"]
    for domain in value["results"]["domains"]:
        load = 0.35 if domain["domain"] == "dram" else 0.3
        domain["busy_ps"] = round(1000 * load * domain["credits"] * span)
        if domain["domain"] == "cores":
            time = value["results"]["core_time"]
            time["busy_ps"] = domain["busy_ps"]
            time["busiest_ps"] = domain["busy_ps"] // domain["credits"]
    return Result.from_json(value)


def _spread(mean_ns: float, p99_ns: float) -> dict[str, Any]:
    """A delay of a thousand samples."""
    ends = {50.0: mean_ns, 90.0: mean_ns, 99.0: p99_ns, 99.9: p99_ns, 100.0: p99_ns}
    cdf = [(mean_ns, 0.9), (p99_ns, 1.0)]
    return {"count": 1000, "mean_ns": mean_ns, "percentiles_ns": [*ends.items()], "cdf": cdf}


@pytest.fixture
def closed_loop(ddio: Result) -> Result:
    """A run of Swift senders whose packets overflow the NIC's buffer of 1 MiB again and again."""
    value = ddio.to_json()
    teeth = [step % 8 for step in range(120)]
    series = {
        "offered": ("Mpps", [2.8 - 0.5 * (t > 5) for t in teeth]),
        "completed": ("Mpps", [2.3 for _ in teeth]),
        "dropped": ("Mpps", [0.5 if t == 5 else 0.0 for t in teeth]),
        "nic-sram": ("KiB", [min(700.0 + 80 * t, 1020.0) for t in teeth]),
        "goodput": ("Gbps", [75.0 for _ in teeth]),
        "window": ("packets", [1.5 + 0.1 * t for t in teeth]),
        "host-delay": ("us", [85.0 + 4 * t for t in teeth]),
        "window-0": ("packets", [1.0 + 0.2 * t for t in teeth]),
        "window-1": ("packets", [1.8 - 0.1 * t for t in teeth]),
    }
    results = value["results"]
    results["series"]["columns"] = [
        {"name": name, "unit": unit, "values": values} for name, (unit, values) in series.items()
    ]
    results["series"]["interval_ns"] = 50_000.0
    results["transport"] = {
        "goodput_gbps": 75.0, "sent": 14_000, "sent_again": 70, "acknowledged": 13_900,
        "dropped_switch": 0, "dropped_server": 84, "lost_share": 0.006,
        "marked": 3_500, "marked_server": 0, "fast_recoveries": 60, "timeouts": 1, "not_lost": 2,
        "delivered": 13_900, "duplicates": 0, "reads": 3_475,
        "mean_window": 0.52, "fairness": 0.81, "connections": [],
        "rtt": _spread(90e3, 140e3), "fabric_delay": _spread(23e3, 45e3),
        "host_delay": _spread(67e3, 98e3), "read_latency": _spread(800e3, 2_200e3),
    }  # fmt: skip
    control = {"kind": "swift", "endpoint_target": "100 us"}
    result = Result.from_json(value)
    traffic = {
        "kind": "closed-loop", "senders": 40, "control": control, "read": "16 KiB",
        "payload": "4 KiB", "headers": "332 B", "recovery": {"min_timeout": "100 us"},
        "network": {"delay": "5 us", "sender_link": "100 Gbps"},
    }  # fmt: skip
    return replace(result, scenario=result.scenario | {"traffic": traffic})


@pytest.fixture
def packetless(ddio: Result) -> Result:
    """A run without traffic: no latency, no packets, no requests."""
    value = ddio.to_json()
    results = value["results"]
    results["latency"] = []
    results["io"] = None
    results["packets"] = dict.fromkeys(results["packets"], 0)
    results["queues"] = []
    results["demand_mpps"] = None
    for cause in results["memory"]["causes"]:
        cause["per_request"] = None
    # An engine samples them all the same.
    for column in results["series"]["columns"]:
        if not column["name"].startswith(("memory-", "rx-")):
            column["values"] = [0.0] * len(column["values"])
    return Result.from_json(value)


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch, ddio: Result) -> list[int]:
    """An engine whose result tells which seed it ran with; it runs later points faster."""
    ran: list[int] = []

    def prepare(_source: Any, overrides: Mapping[str, Any], **_: bool) -> sources.Prepared:
        seed = int(overrides.get("run.seed", 1))
        if seed == 13:
            raise UserError("run.seed = 13: brings bad luck")
        scenario = dict(ddio.scenario)
        scenario["run"] = {**scenario["run"], "seed": seed}
        return sources.Prepared(json.dumps(scenario), {}, dict(overrides))

    def run(scenario_json: str, watch: engine.Watch, _origins: None) -> Results:
        seed = json.loads(scenario_json)["run"]["seed"]
        for part in range(10):
            watch.tell(part / 10)
            time.sleep(0.02 / seed)
        ran.append(seed)
        return ddio.data.model_copy(update={"seed": seed})

    monkeypatch.setattr(sources, "prepare", prepare)
    monkeypatch.setattr(engine, "run", run)
    return ran
