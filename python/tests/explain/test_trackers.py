"""The memory and the LLC's trackers, shared with cores that have other work."""

from __future__ import annotations

from math import inf, isnan

import pytest

from nic2core import api, words
from nic2core.describe import pools
from nic2core.describe.limiter import limit
from nic2core.describe.verdict import verdict
from nic2core.explain.memory import Memory
from nic2core.explain.model import Model, Pool
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import Use
from nic2core.explain.what_if import RECEIVED, more_registers, more_trackers
from nic2core.scenario.models import Scenario

BRIEF = {"run.warmup": "100 us", "run.duration": "100 us"}


def test_what_ideal_ddio_takes_away_is_called_as_the_engine_calls_it() -> None:
    run = api.run("sweeper-kvs", {"placement.policy": "ideal-ddio", **BRIEF})
    lines = {cause.cause: cause.lines for cause in run.data.memory.causes}
    assert {cause: lines[cause] for cause in RECEIVED} == dict.fromkeys(RECEIVED, 0)
    assert sum(lines.values()) > 0


def _used(**loads: float) -> list[Use]:
    """Uses of which only the load counts."""
    return [
        Use(name.replace("_", "-"), "", 20, load, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, load)
        for name, load in loads.items()
    ]


def test_what_waits_for_a_tracker_moves_to_the_memory() -> None:
    spent = {"home-trackers": 60.0, "dram": 50.0, "cores": 100.0}
    # Ten lines wait for twenty trackers; a read takes 100 ns, of which it waits 50.
    memory = Memory(50.0, 50.0, 0.0, 0.0, 0.0, under_way=20.0, held_back=10.0, own_trackers=0.5,
                    own_traffic=1.0)  # fmt: skip
    pools = {"cores": Pool(1, 1, spent)}

    def after(load: float, factor: float) -> dict[str, float]:
        used = _used(home_trackers=1.0, dram=load, read_queue=0.0)
        model = Model(10.0, {"dram": 10.0}, pools, memory, used)
        return more_trackers(factor)(model).pools["cores"].spent_ns

    # A memory that is full gives thirty lines the same rate: 150 ns each.
    assert after(0.99, 2) == pytest.approx({"home-trackers": 0.0, "dram": 100.0, "cores": 100.0},
                                           rel=0.02)  # fmt: skip
    # In one with next to nothing to do, lines wait as before for each other, and 1.3 times as often
    # as lines come: 65.2 ns.
    assert after(0.01, 2)["dram"] == pytest.approx(65.2, rel=0.01)
    # Five trackers more take half of those that wait; the others wait for lines that take longer.
    assert 30.0 / 1.25 < after(0.01, 1.25)["home-trackers"] < 30.0


def test_registers_of_neighbours_that_are_all_in_use_add_to_what_waits_for_a_tracker() -> None:
    run = api.run("explain-trackers", {"run.duration": "100 us"})
    found = more_registers(2)(run.model).pools["io-credits"].spent_ns
    before = run.model.pools["io-credits"].spent_ns
    # Eight cores with twelve registers, beside what waits now.
    longer = 1 + 8 * 12 / run.model.memory.held_back
    assert found["home-trackers"] == pytest.approx(longer * before["home-trackers"], rel=0.01)
    assert {k: v for k, v in found.items() if k != "home-trackers"} == {
        k: v for k, v in before.items() if k != "home-trackers"
    }


def test_registers_of_neighbours_of_a_full_memory_are_not_said_to_do_harm() -> None:
    # They take 6 to 7 % of the packets when run, and not a half.
    sets = {"machine.llc.home_trackers": 64, "run.warmup": "2 ms", "run.duration": "500 us"}
    run = api.run("explain-memory", sets)
    assert run.model.use("home-trackers").load > 0.95
    registers = next(h for h in run.helps if h.change.domain == "miss-registers")
    assert (registers.predicted, registers.harm) == (0.0, "")


@pytest.mark.parametrize(
    ("own", "trackers", "bus", "queues", "named"),
    [
        (0.6, 1.0, 0.98, 0.5, "home-trackers"),
        (0.4, 1.0, 0.98, 0.5, "dram"),
        (0.4, 1.0, 0.5, 0.98, "dram"),
        (0.4, 0.8, 0.5, 0.5, "dram"),
        # All are in use, and what holds them has room.
        (0.4, 1.0, 0.57, 0.37, "home-trackers"),
    ],
)
def test_trackers_that_a_full_memory_holds_are_not_what_limits(
    own: float, trackers: float, bus: float, queues: float, named: str
) -> None:
    pools = {"io-credits": Pool(92, 16, {"home-trackers": 200.0, "dram": 0.0, "io-credits": 300.0})}
    memory = Memory(50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, own_trackers=own, own_traffic=0.0)
    used = _used(home_trackers=trackers, dram=bus, read_queue=queues)
    assert Model(100.0, {}, pools, memory, used).cause == named


@pytest.mark.parametrize("rounded", [1 - 1e-15, 1.0, 1 + 1e-15])
def test_registers_that_cores_always_wait_for_are_named_however_rates_are_rounded(
    rounded: float,
) -> None:
    pools = {"miss-registers": Pool(288, 1, {"miss-registers": 200.0}),
             "cores": Pool(24 * rounded, 1, {"miss-registers": 200 * 24 / 288})}  # fmt: skip
    memory = Memory(50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert Model(inf, {}, pools, memory).tightest == "miss-registers"


def test_stream_that_has_all_trackers_before_a_memory_with_room_is_limited_by_them() -> None:
    scenario = api.load("host-congestion-stream").model_dump(mode="json", exclude_none=True)
    stream = next(t for t in scenario["tenants"] if t["app"]["kind"] == "stream")
    scenario["tenants"] = [stream | {"cores": {"first": 0, "count": 24}}]
    del scenario["traffic"]
    sets = {"run.warmup": "300 us", "run.duration": "100 us", "run.sample": "20 us"}
    result = api.run(Scenario.model_validate(scenario), sets)
    assert result.model.use("dram").load < 0.9
    assert result.model.use("home-trackers").load == pytest.approx(1.0)
    assert (limit(result), result.model.cause) == ("LLC home trackers", "home-trackers")
    # The cores never rest, and their registers are all in use at all times.
    assert result.model.use("miss-registers").occupancy == pytest.approx(288, abs=0.01)
    assert verdict(result).startswith("the LLC home trackers limit this run: 288 registers / (")
    assert " of that time. All 128 are in use, each for " in verdict(result)
    # With more registers they would ask for more, and wait as much longer for trackers.
    registers = next(h.predicted for h in result.helps if h.change.domain == "miss-registers")
    assert registers == pytest.approx(0.0, abs=0.05)
    more = api.run(Scenario.model_validate(scenario), sets | {"machine.llc.home_trackers": 256})
    assert more.rate_mps > 1.1 * result.rate_mps
    # Of these the bus has no room left.
    assert (more.model.use("dram").load > 0.9, more.model.cause) == (True, "dram")


def test_what_neighbours_hold_is_no_rate_of_packets() -> None:
    sets = {"tenants.1.cores.count": 4, "run.warmup": "200 us", "run.duration": "200 us"}
    result = api.run("host-congestion-stream", sets)
    alone = api.run("host-congestion-stream", {**sets, "tenants.1.cores.count": 0})
    assert pools.allowed(result.model, result.model.use("home-trackers")) == words.NOTHING
    assert pools.allowed(alone.model, alone.model.use("home-trackers")) != words.NOTHING
    for run in (result, alone):
        assert "inf M" not in verdict(run)
    # Nor is what they fill of the memory, of which the packets move hardly any.
    assert result.model.memory.own_traffic < NOTICED
    assert pools.allowed(result.model, result.model.use("dram")) == words.NOTHING
    assert pools.allowed(alone.model, alone.model.use("dram")) != words.NOTHING


def test_a_read_of_the_other_socket_holds_a_tracker_there() -> None:
    idle = {
        "machine.dram.channels": 6, "traffic.rate": "100 kpps", "tenants.1.cores.count": 1,
        "tenants.1.app.region": "256 MiB", "run.warmup": "1 ms", "run.duration": "500 us",
    }  # fmt: skip
    here = api.run("explain-memory", idle).model.memory
    assert here.waits_ns < 10
    assert here.own_trackers == pytest.approx(0.9, abs=0.05)
    remote = {"tenants.1.memory": "remote", "queues.memory": "remote"}
    there = api.run("explain-memory", {**idle, **remote}).model.memory
    assert there.waits_ns < 10
    read_ns = there.unloaded_ns + there.waits_ns
    assert there.own_trackers == pytest.approx(there.unloaded_ns / read_ns, abs=0.01)


def test_trackers_that_prefetches_have_all_of_are_named_and_their_gain_is_not_told() -> None:
    """Nothing waits for one: prefetches are dropped while none is free."""
    keys = {
        "machine.base": "icelake-8360y",
        "machine.dram.channels": 12,
        "machine.llc.home_trackers": 380,
        "tenants.1.cores.count": 31,
        "run.warmup": "50 us",
        "run.duration": "50 us",
    }
    result = api.run("memory-latency", keys)
    assert result.model.cause == "home-trackers"
    assert 0.8 < result.model.dram_load < 0.9
    more = result.helps.by_domain["home-trackers"]
    assert isnan(more.predicted)
    assert more.unknown.startswith("prefetches are made only while home trackers are free")
    assert api.run("memory-latency", keys | more.change.overrides).rate_mps > 1.05 * result.rate_mps
    none = api.run("memory-latency", keys | {"machine.l2.prefetch": "none"})
    assert not none.helps.by_domain["home-trackers"].unknown
