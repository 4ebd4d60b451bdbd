from __future__ import annotations

from typing import Any

from nic2core.describe.labels import describe, name_cases


def scenario(policy: str, ways: int = 2, *, sweeper: bool = False) -> dict[str, Any]:
    return {"placement": {"policy": policy, "io_ways": ways, "sweeper": sweeper}}


def test_a_placement_has_its_name_in_the_field() -> None:
    assert describe(scenario("dma")) == "DMA"
    assert describe(scenario("ddio", 1)) == "DDIO, 1 way"
    assert describe(scenario("ddio", 2, sweeper=True)) == "DDIO, 2 ways, Sweeper"
    assert describe(scenario("ideal-ddio")) == "Ideal DDIO"
    assert describe(scenario("descriptors-only", 4)) == "Descriptors only, 4 ways"


def test_cases_are_told_apart_by_what_differs() -> None:
    placed = [scenario("ddio"), scenario("ddio", sweeper=True)]
    settings = [{"placement.sweeper": "false"}, {"placement.sweeper": "true"}]
    assert name_cases(placed, settings) == ["DDIO, 2 ways", "DDIO, 2 ways, Sweeper"]
    same = [scenario("ddio"), scenario("ddio")]
    rings = [{"queues.rx_descriptors": "512"}, {"queues.rx_descriptors": "1024"}]
    assert name_cases(same, rings) == ["rx_descriptors=512", "rx_descriptors=1024"]
    both = [{**a, **b} for a, b in zip(settings, rings, strict=True)]
    assert name_cases(placed, both)[1] == "DDIO, 2 ways, Sweeper, rx_descriptors=1024"
    placed = [scenario("ideal-ddio", ways) for ways in (2, 6)]
    settings = [{"placement.io_ways": "2"}, {"placement.io_ways": "6"}]
    assert name_cases([*placed, scenario("dma")], [*settings, {"placement.policy": "dma"}]) == [
        "Ideal DDIO, io_ways=2", "Ideal DDIO, io_ways=6", "DMA",
    ]  # fmt: skip
    # Beside what else was varied, too.
    both = [{**w, **r} for w in settings for r in rings]
    names = name_cases([p for p in placed for _ in rings], both)
    assert names[:2] == ["rx_descriptors=512, io_ways=2", "rx_descriptors=1024, io_ways=2"]
    assert len(set(names)) == 4
    # Nothing that a name says already, or that those of a name share.
    policies = [scenario(policy) for policy in ("ddio", "ddio-l2", "ddio-l2")]
    packets = [{"placement.policy": "ddio"}] + [
        {"placement.policy": "ddio-l2", "placement.ddio_l2.packets": n} for n in ("1", "8")
    ]
    assert name_cases(policies, packets) == [
        "DDIO, 2 ways", "DDIO L2, 2 ways, packets=1", "DDIO L2, 2 ways, packets=8",
    ]  # fmt: skip
    # Nor one policy's keys in the name of another.
    grid = [
        {"placement.policy": policy, "placement.ddio_l2.packets": n}
        for policy in ("ddio", "ddio-l2")
        for n in ("1", "8")
    ]
    two = [scenario(policy) for policy in ("ddio", "ddio", "ddio-l2", "ddio-l2")]
    assert name_cases(two, grid)[1:3] == [
        "DDIO, 2 ways, ddio_l2.packets=8", "DDIO L2, 2 ways, packets=1",
    ]  # fmt: skip
    # Whole tables are named by what they say.
    tables = [{"placement": "{ policy = 'ddio' }"}, {"placement": "{ policy = 'dma' }"}]
    assert name_cases([scenario("ddio"), scenario("dma")], tables) == ["DDIO, 2 ways", "DMA"]
    ways = [{"machine.l2.ways": "8", "machine.llc.ways": "12"}]
    assert name_cases(same[:1], ways) == ["l2.ways=8, llc.ways=12"]
    cores = [{f"tenants.{tenant}.cores.count": "4"} for tenant in (0, 1)]
    assert name_cases(same[:1], cores[:1]) == ["cores.count=4"]
    both = [cores[0] | cores[1]]
    assert name_cases(same[:1], both) == ["tenants.0.cores.count=4, tenants.1.cores.count=4"]


def test_tables_that_differ_in_kind_are_called_by_it() -> None:
    same = [scenario("ddio"), scenario("ddio")]
    controls = [{"traffic.control": {"kind": kind, "max_cwnd": 4.0}} for kind in ("swift", "dctcp")]
    assert name_cases(same, controls) == ["control=swift", "control=dctcp"]
    told = [{"traffic.control": f'{{ kind = "{kind}" }}'} for kind in ("swift", "dctcp")]
    assert name_cases(same, told) == ["control=swift", "control=dctcp"]
    grid = [control | {"run.seed": seed} for control in controls for seed in ("1", "2")]
    assert name_cases(2 * same, grid)[3] == "control=dctcp, seed=2"
    alike = [{"traffic.control": {"kind": "swift", "beta": beta}} for beta in (0.5, 0.8)]
    assert name_cases(same, alike) == ["control={ beta = 0.5 }", "control={ beta = 0.8 }"]
    default: list[dict[str, Any]] = [{"traffic.control": {"kind": "swift"}}, alike[0]]
    assert name_cases(same, default) == [
        'control={ kind = "swift" }', 'control={ kind = "swift", beta = 0.5 }',
    ]  # fmt: skip
    # A table that stands beside no other, or has no kind, is shown as a whole.
    network = [{"traffic.network": '{ delay = "5 us" }', "run.seed": seed} for seed in ("1", "2")]
    assert name_cases(same, network)[0] == 'network={ delay = "5 us" }, seed=1'
    empty: list[dict[str, Any]] = [{"a.b": {}}, {"a.b": {"kind": "x"}}]
    assert name_cases(same, empty) == ["b={  }", 'b={ kind = "x" }']
    mixed: list[dict[str, Any]] = [*alike, {"traffic.control": '{ kind = "dctcp" }'}]
    assert name_cases([*same, scenario("ddio")], mixed) == [
        'control={ kind = "swift", beta = 0.5 }',
        'control={ kind = "swift", beta = 0.8 }',
        "control=dctcp",
    ]
