"""For how long lines wait in a memory that is changed."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from nic2core import Result, api
from nic2core.describe.headline import lines_per_request
from nic2core.describe.verdict import verdict
from nic2core.explain.contention import more_credits, waits_in_channels, waits_with_more
from nic2core.explain.limit import Limit
from nic2core.explain.memory import Memory
from nic2core.explain.model import Model, Pool
from nic2core.explain.nodes import crosses_sockets, nodes, told
from nic2core.explain.queueing import settled
from nic2core.explain.queues import NOTICED
from nic2core.explain.use import Use
from nic2core.scenario.models import Scenario


def _model(load: float, dram_ns: float, else_ns: float, own: float = 1.0) -> Model:
    """Work that spends its time in memory and elsewhere, and causes `own` of all lines."""
    used = [
        Use(name, "", 1, load, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, load)
        for name in ("dram", "read-queue")
    ]
    memory = Memory(0.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0, own_trackers=0.0, own_traffic=own)
    pools = {"cores": Pool(1, 1, {"dram": dram_ns, "cores": else_ns})}
    return Model(1e6, {"dram": 1e9}, pools, memory, used)


def test_a_full_memory_that_does_twice_as_much_is_full_again() -> None:
    # Nothing is done but wait: half the time, twice the rate.
    assert waits_in_channels(_model(1.0, 100.0, 0.0), 2.0) == pytest.approx(0.5, rel=0.01)
    # 100 of 150 ns are waits. Twice the rate are 75 ns, and 50 of them are not in memory.
    assert waits_in_channels(_model(1.0, 100.0, 50.0), 2.0) == pytest.approx(0.25, rel=0.03)
    # Neighbours who only wait take what the work does not: 0.5 / w + 0.5 * 150 / (50 + 100 w) = 2.
    waits = waits_in_channels(_model(1.0, 100.0, 50.0, own=0.5), 2.0)
    assert 0.5 / waits + 0.5 * 150 / (50 + 100 * waits) == pytest.approx(2.0, rel=0.01)


def test_in_a_memory_with_room_lines_meet_less_often() -> None:
    # A fifth of the time a line finds others, then a tenth, and they are half as long in its way.
    waits = waits_in_channels(_model(0.2, 1.0, 1e6), 2.0)
    assert waits == pytest.approx((0.1 / 0.9) / (0.2 / 0.8) / 2, rel=0.01)
    # The same channels, and half the lines.
    waits = waits_in_channels(_model(0.2, 1.0, 1e6), 1.0, lines=0.5)
    assert waits == pytest.approx((0.1 / 0.9) / (0.2 / 0.8), rel=0.01)
    assert waits_in_channels(_model(0.0, 1.0, 1e6), 2.0) == 1.0
    assert waits_in_channels(_model(0.2, 1.0, 1e6), 1.0) == pytest.approx(1.0)


def test_more_lines_in_flight_wait_longer_up_to_what_the_memory_carries() -> None:
    # Full: twice as many lines, each takes twice as long.
    assert waits_with_more(_model(1.0, 1.0, 1.0), 2.0) == pytest.approx(2.0, rel=0.02)
    # All of a line's time in flight is waiting here: at load u, w = (u / (1 - u)) / (0.2 / 0.8),
    # and u = 0.2 * 2 / w.
    waits = waits_with_more(_model(0.2, 1.0, 1.0), 2.0)
    load = 0.4 / waits
    assert waits == pytest.approx((load / (1 - load)) / 0.25, rel=0.01)
    assert waits_with_more(_model(0.2, 1.0, 1.0), 1.0) == pytest.approx(1.0)


def test_a_load_that_no_wait_keeps_away_is_not_decided_by_waits() -> None:
    assert settled(0.9, lambda _: 1.8, 1.0) == 1.0
    assert settled(0.5, lambda _: 0.5, 2.0) == pytest.approx(0.5)


def test_credits_that_the_rest_of_the_path_does_not_use_crowd_nothing() -> None:
    # A hundred lines, ten a packet, for a microsecond: ten packets a microsecond. Half of what
    # waits in the memory are theirs, so twice as many wait 1.5 times as long, as do the cores.
    reads = Pool(100, 10, {"dram": 1000.0})
    memory = Memory(0.0, 100.0, 0.0, 0.5, 0.0, 0.0, 0.0, own_trackers=0.0, own_traffic=0.5)

    def then(cores_allow: float, starved: float = 1.0) -> Model:
        used = [
            Use(name, "", 1, 1.0, 1.0, 1.0, 1.0, starved, 1.0, 1.0, 1.0)
            for name in ("read-credits", "dram", "read-queue")
        ]
        cores = Pool(1, 1, {"dram": 1e3 / cores_allow})
        pools = {"read-credits": reads, "cores": cores}
        return more_credits(Model(1e6, {"dram": 10.0}, pools, memory, used), "read-credits", 2)

    assert then(1000).rate == pytest.approx(20 / 1.5)
    # Half of the time nothing waited: half of the new ones are used, for 1.25 times as long.
    assert then(1000, starved=0.5).rate == pytest.approx(15 / 1.25)
    # With a share x of the new ones in use, cores allow 15 / (1 + x / 2), and the credits
    # 10 (1 + x) / (1 + x / 2).
    assert then(15).rate == pytest.approx(15 / 1.25)
    assert then(9).pools["cores"].allows == pytest.approx(9)


@pytest.mark.parametrize("memory", ["local", "remote"])
def test_memory_that_others_have_filled_does_not_limit_work_that_hardly_uses_it(
    memory: str,
) -> None:
    scenario = api.load("explain-cpu").model_dump(mode="json", exclude_none=True)
    cores = scenario["tenants"][0]["cores"]
    first = cores["first"] + cores["count"]
    stream = {"name": "stream", "cores": {"first": first, "count": 12}, "app": {"kind": "stream"}}
    scenario["tenants"].append(stream | {"memory": memory})
    sets = {"machine.dram.channels": 1, "run.warmup": "300 us", "run.duration": "300 us"}
    run = api.run(Scenario.model_validate(scenario), sets | {"traffic.rate": "4 Mpps"})
    full = next(n for n in nodes(run.data) if n.name in {memory, ""})
    assert full.gbytes_per_s > 0.7 * full.limit_gbytes_per_s
    # The memory makes packets wait, and sets no rate.
    assert run.model.tightest in {"cores", "miss-registers"}
    if memory == "local":
        assert run.model.memory.own_traffic < NOTICED
        assert run.model.allows["dram"] == inf
    else:
        assert told(run.data).name == "local"
        assert run.model.cause == "cores"
    # With less to do, all of it gets through, and there is headroom.
    calm = api.run(Scenario.model_validate(scenario), sets | {"traffic.rate": "0.5 Mpps"})
    assert calm.limit is Limit.LOAD
    assert "no headroom" not in verdict(calm)


def _with_full_link(run: Result, more: int) -> Result:
    """A run whose link is always busy, with so many more frames than arrive."""
    change = {"busy_ps": round(1e3 * run.data.measured_ns), "uses": run.data.packets.offered + more}
    domains = [d.model_copy(update=change if d.domain == "wire" else {}) for d in run.data.domains]
    return replace(run, data=run.data.model_copy(update={"domains": domains}))


def test_arrivals_that_are_fewer_than_their_mean_are_no_limit_of_a_stage() -> None:
    short = {"run.warmup": "100 us", "run.duration": "300 us", "traffic.rate": "1 Mpps"}
    run = api.run("explain-cpu", short)
    # The mean of all that is asked for is more than the cores carry.
    mean = {"demand_mpps": 9.0}
    more = replace(run, data=run.data.model_copy(update=mean))
    assert more.limit is Limit.STAGE
    for kind in ("bursts", "replay"):
        scenario = run.scenario | {"traffic": run.scenario["traffic"] | {"kind": kind}}
        quiet = replace(more, scenario=scenario)
        assert quiet.model.demand == run.data.packets.offered_mpps
        assert quiet.limit is Limit.LOAD
        # What a link that is full of them could not bring is not known.
        assert _with_full_link(quiet, more=0).model.demand == 9.0
        # One that is full of what is sent brings all.
        sends = _with_full_link(quiet, more=1)
        assert sends.model.demand == run.data.packets.offered_mpps


def test_a_neighbour_of_the_other_socket_without_cores_or_beside_work_without_lines() -> None:
    scenario = api.load("explain-cpu").model_dump(mode="json", exclude_none=True)
    cores = scenario["tenants"][0]["cores"]
    stream = {"name": "stream", "app": {"kind": "stream"}, "memory": "remote"}

    def run(count: int) -> Result:
        beside = stream | {"cores": {"first": cores["count"], "count": count}}
        tenants = {"tenants": [scenario["tenants"][0], beside]}
        sets = {"run.warmup": "200 us", "run.duration": "100 us", "traffic.rate": "1 Mpps"}
        return api.run(Scenario.model_validate(scenario | tenants), sets)

    without = run(0)
    assert [node.name for node in nodes(without.data)] == [""]
    assert not crosses_sockets(without.data, without.scenario)
    # All that the other socket's memory moves is its own.
    beside = run(4)
    remote = next(node for node in nodes(beside.data) if node.name == "remote")
    assert remote.lines > 0
    assert remote.own_lines(beside.data, beside.scenario) == 0
    here = beside.data.memory.nodes[0].causes
    requests = beside.data.packets.completed
    assert lines_per_request(beside) == sum(cause.lines for cause in here) / requests
    assert not crosses_sockets(beside.data, beside.scenario)
    assert "socket-link" not in beside.model.allows
