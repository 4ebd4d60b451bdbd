"""Cores that are full, and what they wait for."""

from __future__ import annotations

import re
from dataclasses import replace
from math import ceil, isnan
from typing import Any

import pytest

from nic2core import Result, api
from nic2core.describe.hints import hints
from nic2core.describe.stated import stated_instructions
from nic2core.describe.verdict import verdict
from nic2core.explain.enough import enough_cores
from nic2core.explain.use import busiest_share
from nic2core.report.path import picture
from nic2core.rerun import run_changes


def test_a_core_that_posts_and_rings_for_each_packet_is_named_when_it_is_full() -> None:
    one = {"tenants.0.cores.count": 1, "tenants.0.app": {"kind": "l2fwd"}, "queues.burst": 1}
    link = {"machine.nic.link": "200 Gbps", "machine.pcie.generation": 5}
    times = {"run.warmup": "200 us", "run.duration": "400 us", "run.sample": "100 us"}
    traffic = {"traffic.sizes.size": "64 B", "traffic.rate": "80 Mpps"}
    result = api.run("explain-cpu", one | link | times | traffic)
    assert (result.model.cause, result.limited) == ("cores", True)
    assert result.model.use("cores").load == pytest.approx(1.0, abs=0.01)
    said = run_changes(result, jobs=2).by_domain["cores"]
    assert said.predicted == pytest.approx(said.measured, rel=0.2)
    assert said.predicted > 0.3


def test_what_follows_from_stated_instructions_is_said() -> None:
    times = {"run.warmup": "200 us", "run.duration": "400 us"}
    full = api.run("explain-cpu", times)
    (said,) = stated_instructions(full)
    assert said in list(hints(full, full.helps))
    # 12,000 of the scenario, and those of the accesses.
    assert re.search(r"on instructions, 12,\d\d\d a packet, most of which", said), said
    assert "(`rx_instructions`, `tx_instructions` and `packet_instructions`)" in said
    at_ease = api.run("explain-cpu", times | {"traffic.rate": "1 Mpps"})
    assert not list(stated_instructions(at_ease))
    # Cores that mostly wait for memory are not limited by instructions.
    time = full.data.core_time
    waits = time.model_copy(update={"dispatch_ps": time.busy_ps // 3})
    waiting = replace(full, data=full.data.model_copy(update={"core_time": waits}))
    assert (waiting.model.cause, list(stated_instructions(waiting))) == ("cores", [])


def test_flows_that_rss_deals_unevenly_limit_by_the_fullest_core() -> None:
    times = {"run.warmup": "200 us", "run.duration": "400 us"}
    result = api.run("explain-cpu", times | {"traffic.flows": 5, "traffic.rate": "4 Mpps"})
    model = result.model
    assert (model.cause, result.limited) == ("dispatch", True)
    assert model.rate == pytest.approx(result.mpps, rel=0.02)
    said = verdict(result)
    assert said.startswith("the RSS dispatch limits this run: core 2 gets 39.9 % of the packets ")
    assert "is busy 100 % of the time, and the mean of all 4 is 75.0 %; without loss they " in said
    assert "would carry 1.89 M packets/s" in said
    # All cores would do a third more, and most of the rate that they allow is never asked of them.
    assert model.allows["cores"] / model.allows["dispatch"] == pytest.approx(4 / 3, rel=0.01)
    assert model.use("cores").load == pytest.approx(0.75, abs=0.01)
    stages = {stage.stage: stage for stage in result.stages}
    assert stages["dispatch"].detail == "busiest core; the mean is 75 %"
    drawn = {gauge.stage: gauge for gauge in picture(result).gauges}
    assert (drawn["dispatch"].badge, drawn["cores"].badge) == ("LIMITS", "")
    assert drawn["dispatch"].x + drawn["dispatch"].w < drawn["cores"].x
    # Another core gives the flows other places, and which is then the fullest nobody knows.
    changes = result.helps.by_domain
    assert isnan(changes["cores"].predicted)
    assert "which share one is chance" in changes["cores"].unknown
    # Dealt evenly the same cores do more, as many times as the fullest has more than the mean.
    assert changes["dispatch"].change.overrides == {"traffic.flows": 4096}
    vars(result)["helps"] = [changes["dispatch"]]
    (even,) = run_changes(result)
    assert even.measured == pytest.approx(1 / 3, abs=0.03)
    assert even.error == pytest.approx(0, abs=0.06)


def test_the_dispatch_is_no_limit_where_it_is_even_or_not_the_cause() -> None:
    times = {"run.warmup": "200 us", "run.duration": "400 us"}
    even = api.run("explain-cpu", times | {"traffic.rate": "4 Mpps"})
    assert (even.model.cause, even.limited) == ("cores", True)
    assert "4 cores / (" in verdict(even)
    # It allows what cores do, and is listed all the same.
    assert even.model.allowed_by(even.model.use("dispatch")) == pytest.approx(even.mpps, rel=0.02)
    assert "dispatch" not in even.model.allows
    assert "dispatch" not in [gauge.stage for gauge in picture(even).gauges]
    one = api.run("explain-cpu", times | {"traffic.rate": "4 Mpps", "tenants.0.cores.count": 1})
    assert "dispatch" not in [use.name for use in one.model.used]
    # Enough flows, of which one tenant's take longer: RSS gives all cores as many.
    app = {"kind": "l3fwd", "packet_instructions": 30_000}
    slow = {"name": "slow", "cores": {"first": 4, "count": 4}, "app": app}
    both = {"tenants": [even.scenario["tenants"][0], slow], "traffic.rate": "2 Mpps"}
    apart = api.run("explain-cpu", times | both)
    assert (apart.model.cause, apart.limited) == ("cores", True)
    assert "dispatch" not in apart.model.allows
    assert "dispatch" not in [h.change.domain for h in apart.helps]
    senders = api.run("host-congestion", times | {"tenants.0.cores.count": 2, "traffic.senders": 2})
    assert "dispatch" not in [use.name for use in senders.model.used]


@pytest.mark.parametrize("rate", [4, 5, 6, 8, 9])
def test_as_many_cores_as_are_said_to_be_enough_are(rate: int) -> None:
    load: dict[str, Any] = {"traffic.rate": f"{rate} Mpps", "traffic.flows": 65536}
    load |= {"run.warmup": "1 ms", "run.duration": "500 us"}
    result = api.run("explain-cpu", load)
    enough = enough_cores(result)
    assert enough is not None
    assert enough.key == "tenants.0.cores.count"
    assert enough.tried == f"4,{enough.count},{enough.count + 1}"
    # The largest table of the NIC that has no entry for one of them.
    entries = 2 ** ((enough.count - 1).bit_length() - 1)
    rss = {"machine.nic.rss.indirection_entries": entries}
    assert enough_cores(api.run("explain-cpu", load | rss)) is None
    said = f"By the model, {enough.count} cores carry all that is offered"
    assert said in " ".join(hints(result, []))
    few, many = (
        api.run("explain-cpu", load | {enough.key: n}) for n in (enough.count - 1, enough.count)
    )
    assert not many.limited
    assert many.drop_share == 0
    assert few.limited


def test_one_core_more_than_is_said_is_needed_at_7_mpps() -> None:
    """docs/models/explain.md says so; take it out there when this fails."""
    load: dict[str, Any] = {"traffic.rate": "7 Mpps", "traffic.flows": 65536}
    load |= {"run.warmup": "1 ms", "run.duration": "500 us"}
    enough = enough_cores(api.run("explain-cpu", load))
    assert enough is not None
    as_said, more = (
        api.run("explain-cpu", load | {enough.key: n}) for n in (enough.count, enough.count + 1)
    )
    assert as_said.limited
    assert not more.limited


def test_no_more_cores_are_tried_than_there_are() -> None:
    load = {"traffic.rate": "4 Mpps", "traffic.flows": 65536, "machine.llc.slices": 28}
    load |= {"run.warmup": "200 us", "run.duration": "400 us"}
    enough = enough_cores(api.run("explain-cpu", load))
    assert enough is not None
    no_more = load | {"machine.core.count": enough.count}
    all_ = enough_cores(api.run("explain-cpu", no_more))
    assert all_ is not None
    assert all_.tried == f"4,{enough.count}"


def test_of_a_capture_that_one_core_gets_more_of_it_is_said_that_more_may_be_needed() -> None:
    load: dict[str, Any] = {"tenants.0.app.request_instructions": 4000}
    load |= {"run.warmup": "500 us", "run.duration": "500 us"}
    result = api.run("demo", load | {"tenants.0.cores.count": 6})
    found = enough_cores(result)
    assert found is not None
    assert not found.evenly
    room = ceil(found.count * busiest_share(result.data))
    assert room > found.count + 1
    assert found.tried == f"6,{found.count},{room}"
    assert "and more if it goes on" in " ".join(hints(result, []))


def test_no_number_of_cores_is_named_where_they_do_not_limit_or_none_suffices() -> None:
    times = {"run.warmup": "200 us", "run.duration": "400 us"}
    for sets in (
        {"traffic.rate": "1 Mpps"},
        {"traffic.flows": 5, "traffic.rate": "4 Mpps"},
        {"traffic.rate": "14 Mpps", "machine.core.count": 5, "machine.llc.slices": 28},
    ):
        assert enough_cores(api.run("explain-cpu", times | sets)) is None


IMIX = [("60 B", 7), ("590 B", 4), ("1514 B", 1)]


def behind(instructions: int, descriptors: int, **sets: Any) -> Result:
    """Four cores that forward packets of many sizes, and come later than these."""
    queues = {"rx_descriptors": descriptors, "tx_descriptors": 1024, "pool": "stack"}
    queues["pool_buffers"] = 4 * descriptors
    traffic = {
        "rate": "60 Mpps",
        "flows": 200,
        "sizes": {"kind": "mix", "of": [{"size": s, "weight": w} for s, w in IMIX]},
    }
    sets |= {f"queues.{key}": value for key, value in queues.items()}
    sets |= {f"traffic.{key}": value for key, value in traffic.items()}
    sets |= {"machine.nic.descriptor_batch": 32, "tenants.0.app.packet_instructions": instructions}
    return api.run("explain-cpu", {"run.warmup": "1 ms", "run.duration": "500 us"} | sets)


@pytest.mark.parametrize("instructions", [1000, 1300, 1600])
def test_reads_for_queues_whose_core_is_behind_are_not_what_limits(instructions: int) -> None:
    # The rings are full: what is read is soon taken, and the NIC waits for the next to be posted.
    result = behind(instructions, 1024)
    assert (result.model.cause, result.limited) == ("cores", True)


@pytest.mark.parametrize("window", [64, 224, 512])
def test_the_waits_of_cores_are_no_more_than_their_time(window: int) -> None:
    # A long window hides the way to the LLC, and some of that to memory.
    result = behind(1600, 4096, **{"machine.core.reorder_window": window})
    cores, time = result.model.pools["cores"], result.data.core_time
    assert min(cores.spent_ns.values()) >= 0
    assert cores.spent_ns["io-ways"] > 0
    busy_ns = time.busy_ps / 1e3 / result.data.packets.completed
    assert sum(cores.spent_ns.values()) == pytest.approx(busy_ns)
    dispatch_ns = time.dispatch_ps / 1e3 / result.data.packets.completed
    assert cores.spent_ns["cores"] >= 0.99 * dispatch_ns


def test_cores_that_read_packets_back_gain_by_an_ideal_ddio() -> None:
    long = {"run.warmup": "3 ms"}
    result, ideal = (
        behind(1600, 4096, **long, **policy) for policy in ({}, {"placement.policy": "ideal-ddio"})
    )
    assert result.model.cause == "cores"
    said = next(h.predicted for h in result.helps if h.change.domain == "io-ways")
    gained = ideal.mpps / result.mpps - 1
    assert gained > 0.1
    assert said == pytest.approx(gained, abs=0.05)


def test_more_cores_raise_a_peak_that_cores_set_as_much_as_is_said() -> None:
    found = api.find_peak("explain-cpu", {"run.warmup": "500 us", "run.duration": "1 ms"})
    assert not found.limited
    cores = next(h for h in found.helps if h.change.domain == "cores")
    vars(found)["helps"] = [cores]
    (checked,) = run_changes(found)
    assert checked.measured is not None
    assert checked.measured > 0.1
    assert checked.error == pytest.approx(0, abs=0.2)
    assert (checked.drop_share, found.data.packets.drop_share) == (0, 0)
    assert "p99_ns" in checked.tails
