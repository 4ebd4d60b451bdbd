"""Which changes are offered, and by how much."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nic2core import Result, api
from nic2core.explain.changes import possible_changes
from nic2core.scenario.models import Scenario
from nic2core.scenario.quantity import times

FETCHES = "tx-fetches"


def test_what_the_engine_does_not_simulate_is_not_offered() -> None:
    short = {"run.warmup": "100 us", "run.duration": "100 us"}

    def offered(overrides: dict[str, Any], scenario: str = "explain-link") -> set[str]:
        return {h.change.domain for h in api.run(scenario, {**overrides, **short}).helps}

    def more_cores(overrides: dict[str, Any]) -> bool:
        offered = api.run("explain-link", {**overrides, **short}).helps
        return any(h.change.what.endswith(" cores") for h in offered)

    assert "pcie" in offered({})
    assert more_cores({})
    assert "pcie" not in offered({"machine.pcie.generation": 5})
    cores = {"machine.core.count": 32, "tenants.0.cores.count": 32, "machine.llc.index": "hashed"}
    assert not more_cores(cores)
    widths = [{"machine.noc.port_width": width} for width in ("512 B", "1024 B")]
    assert ["nic-port" in offered(width, "sweeper-l3fwd") for width in widths] == [True, False]
    for domain, sets in {
        "descriptors": {"queues.rx_descriptors": 40_000, "queues.pool_buffers": 40_000},
        "rx-fetches": {"machine.nic.descriptor_batch": 200},
        "read-credits": {"machine.nic.read_credits": 8000},
        "home-trackers": {"machine.llc.home_trackers": 10_000},
    }.items():
        assert domain in offered({})
        assert domain not in offered(sets), domain
    # A link of all lanes that there are has a next generation.
    wider = {
        lanes: next(h.change.what for h in run.helps if h.change.domain == "pcie")
        for lanes in (8, 16)
        for run in [api.run("explain-link", {"machine.pcie.lanes": lanes, **short})]
    }
    assert wider == {8: "16 lanes", 16: "generation 4"}


@pytest.mark.parametrize("value", ["100 Gbps", "1000001 B", "38.5 MiB", "1048577 B"])
def test_twice_a_quantity_is_exact(value: str) -> None:
    number, unit = value.split()
    doubled, same = times(value, 2).split()
    assert (Decimal(doubled), same) == (2 * Decimal(number), unit)
    assert "E" not in doubled
    assert "e" not in doubled


def test_a_run_at_ease_gains_from_nothing(calm: Result) -> None:
    assert not calm.limited
    assert {h.predicted for h in calm.helps} == {0.0}


def test_more_cores_move_those_behind_that_stand_first_in_the_file(ddio: Result) -> None:
    server = ddio.scenario["tenants"][0]
    neighbour = {"name": "n", "cores": {"first": 4, "count": 8}, "app": {"kind": "stream"}}
    tenants = [neighbour, server | {"cores": {"first": 0, "count": 4}}]
    found = possible_changes(ddio.data, ddio.scenario | {"tenants": tenants})
    cores = next(c for c in found if c.domain == "cores").overrides
    assert cores["tenants.1.cores.count"] == 5
    assert (cores["tenants.1.cores.first"], cores["tenants.0.cores.first"]) == (0, 5)
    # A tenant without cores has no place.
    nobody = neighbour | {"cores": {"first": 31, "count": 0}}
    found = possible_changes(ddio.data, ddio.scenario | {"tenants": [server, nobody]})
    cores = next(c for c in found if c.domain == "cores").overrides
    assert not any(key.startswith("tenants.1") for key in cores)
    assert cores["machine.core.count"] == 30


def test_larger_batches_are_offered_up_to_a_ring(ddio: Result) -> None:
    def offered(**rings: int) -> set[str]:
        machine, queues = ddio.scenario["machine"], ddio.scenario["queues"]
        nic = machine["nic"] | {"descriptor_batch": 16, "tx_descriptor_batch": 16}
        changed = {"machine": machine | {"nic": nic}, "queues": queues | rings}
        scenario = ddio.scenario | changed
        domains = [*ddio.data.domains, ddio.data.domains[0].model_copy(update={"domain": FETCHES})]
        data = ddio.data.model_copy(update={"domains": domains})
        return {c.domain for c in possible_changes(data, scenario)} & {"rx-fetches", FETCHES}

    assert offered() == {"rx-fetches", FETCHES}
    assert offered(tx_descriptors=16) == {"rx-fetches"}
    assert offered(rx_descriptors=16) == {FETCHES}


def test_prefetches_get_room_only_where_there_are_some(ddio: Result) -> None:
    def sets(prefetch: str) -> dict[str, Any]:
        machine = ddio.scenario["machine"]
        l2 = machine["l2"] | {"prefetch": prefetch}
        found = possible_changes(ddio.data, ddio.scenario | {"machine": machine | {"l2": l2}})
        return next(c for c in found if c.domain == "miss-registers").overrides

    assert set(sets("none")) == {"machine.core.l1_miss_registers"}
    assert set(sets("stream")) == {"machine.core.l1_miss_registers", "machine.l2.superqueue"}


@pytest.mark.parametrize("beside", [False, True])
def test_ideal_ddio_keeps_what_is_sent_in_place_out_of_memory_too(*, beside: bool) -> None:
    scenario = api.load("explain-memory").model_dump(mode="json", exclude_none=True)
    stream = {"name": "stream", "cores": {"first": 8, "count": 4}, "app": {"kind": "stream"}}
    # It fills the memory of the other socket.
    scenario["tenants"][1:] = [stream | {"memory": "remote"}] if beside else []
    sets = {
        "placement.policy": "ddio-headers", "traffic.rate": "16 Mpps",
        "machine.nic.link": "400 Gbps", "machine.pcie.generation": 4,
        "machine.nic.write_credits": 184, "machine.pcie.posted_credits": 128,
        "run.warmup": "2 ms", "run.duration": "1 ms",
    }  # fmt: skip
    run = api.run(Scenario.model_validate(scenario), sets)
    assert run.model.memory.own_traffic == 1.0
    ideal = next(h for h in run.helps if h.change.domain == "io-ways")
    then = api.run(Scenario.model_validate(scenario), sets | ideal.change.overrides)
    # Everything that is offered gets through, which twice the memory would not do.
    assert then.rate_mps == pytest.approx(16.0, rel=0.02)
    assert run.rate_mps * (1 + ideal.predicted) == pytest.approx(then.rate_mps, rel=0.02)


def test_a_domain_that_allows_any_rate_allows_no_more_with_a_change(ddio: Result) -> None:
    """As one whose credits are held for longer than the run: changes are tried without it."""
    without = ddio.model.without(["dram"])
    assert without.with_others("dram", 2.0).allows == without.allows
