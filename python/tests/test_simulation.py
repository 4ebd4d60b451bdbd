"""A simulated server, run from Python."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nic2core import _core
from nic2core.scenario.models import Scenario

FIXTURE = Path(__file__).parents[2] / "crates/scenario/tests/data/kvs.toml"
US = 1_000_000


def simulation(*sets: str) -> _core.Simulation:
    return _core.Simulation(_core.load_scenario(FIXTURE, ["tenants.1.app.keys=1000", *sets])[0])


def test_a_run_counts_what_it_measured() -> None:
    server = simulation("traffic.rate=1 Mpps", "run.warmup=100 us", "run.duration=1 ms")
    assert (server.now_ps, server.warmup_ps, server.end_ps) == (0, 100 * US, 1_100 * US)
    server.advance(server.warmup_ps)
    server.begin_measuring()
    server.advance(server.end_ps)
    assert server.now_ps == server.end_ps
    results = json.loads(server.results())
    assert results["measured_ns"] == 1_000_000
    # 1000 arrivals are expected; six standard deviations of a Poisson count are 190.
    assert results["packets"]["offered"] == pytest.approx(1_000, abs=190)


def test_where_a_run_is_cut_changes_nothing() -> None:
    whole, cut = simulation(), simulation()
    whole.advance(100 * US)
    for until in [1, 7, 50 * US + 3, 99 * US, 100 * US]:
        cut.advance(until)
    assert cut.results() == whole.results()


def test_ctrl_c_stops_a_run_at_once() -> None:
    server = simulation()
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        server.advance(10**15)
    stopped = time.monotonic()
    timer.join()
    # A tenth of a second, and as much again for a machine that is busy with other things.
    assert stopped - sent[0] < 0.2
    assert 0 < server.now_ps < 10**15


def test_other_threads_run_meanwhile() -> None:
    server = simulation()
    thread = threading.Thread(target=server.advance, args=(500 * US,))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    thread.join()
    assert turns > 1_000, "the interpreter's lock was free during the run"


def test_a_model_can_be_built_and_run_without_a_file() -> None:
    scenario = Scenario.model_validate_json(_core.load_scenario(FIXTURE)[0])
    scenario.placement.policy = "dma"
    server = _core.Simulation(scenario.model_dump_json())
    server.advance(10 * US)
    assert server.now_ps == 10 * US


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
ASKED_FOR = HUGE_PAGES.exists() and "[madvise]" in HUGE_PAGES.read_text()
"""Whether Linux gives huge pages to those who ask for them: neither to all nor to none."""

BUILD_A_SERVER = """
import sys
from pathlib import Path
from nic2core import _core

server = _core.Simulation(_core.load_scenario(Path(sys.argv[1]), ["tenants.1.app.keys=1000"])[0])
sys.stdout.write(Path("/proc/self/smaps").read_text())
"""


@pytest.mark.skipif(not ASKED_FOR, reason="nobody has to ask Linux for huge pages here")
def test_its_tables_are_asked_for_in_huge_pages() -> None:
    """Nothing else in the process asks for them (docs/speed.md)."""
    program = [sys.executable, "-c", BUILD_A_SERVER, str(FIXTURE)]
    smaps = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    sizes = [int(size) for size in re.findall(r"^Size: +(\d+) kB$", smaps, re.MULTILINE)]
    flags = re.findall(r"^VmFlags: (.*)$", smaps, re.MULTILINE)
    asked = sum(size for size, of in zip(sizes, flags, strict=True) if "hg" in of.split())
    assert asked * 1024 > 8 << 20
