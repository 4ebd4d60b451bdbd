import json
from typing import Any

import pytest

from nic2core.studies import load_study
from nic2core.studies.point import Point, base_scenario, canonical, merge, plan
from nic2core.studies.sweeper import fig1, fig5, fig6, fig8
from nic2core.studies.sweeper.points import IDEAL, ddio, kvs


def all_points() -> list[Point]:
    return plan(p for figure in load_study("sweeper").figures for p in figure.points)


def differences(a: Any, b: Any, path: str = "") -> set[str]:
    """The keys at which two scenarios differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return {
            found
            for key in a.keys() | b.keys()
            for found in differences(a.get(key), b.get(key), f"{path}.{key}".lstrip("."))
        }
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return {
            found
            for i, (x, y) in enumerate(zip(a, b, strict=True))
            for found in differences(x, y, f"{path}[{i}]")
        }
    return set() if a == b else {path}


def test_figures_share_their_points() -> None:
    shared = set(fig1.POINTS) & set(fig5.POINTS)
    assert len(shared) == 12
    assert set(fig6.LEFT) <= set(fig5.POINTS)
    four = [p for p in fig8.POINTS if json.loads(p.scenario)["machine"]["dram"]["channels"] == 4]
    assert set(four) <= set(fig5.POINTS)
    assert len(plan([*fig1.POINTS, *fig5.POINTS])) == len(fig1.POINTS) + len(fig5.POINTS) - 12


def test_the_plan_puts_peaks_before_what_depends_on_them() -> None:
    points = all_points()
    assert len(points) == len(set(points))
    for i, point in enumerate(points):
        if point.rate_of is not None:
            assert points.index(point.rate_of) < i


def test_no_figure_changes_the_machine_but_for_memory_channels() -> None:
    machine = base_scenario("sweeper-kvs")["machine"]
    for point in all_points():
        changed = differences(machine, json.loads(point.scenario)["machine"])
        assert changed <= {"dram.channels"}, point.name


def test_kvs_points_differ_from_the_scenario_file_only_where_the_paper_varies_it() -> None:
    base = base_scenario("sweeper-kvs")
    allowed = {
        "placement.policy",
        "placement.io_ways",
        "placement.sweeper",
        "queues.rx_descriptors",
        "queues.buffer_size",
        "traffic.sizes.size",
        "tenants[0].app.item",
        "machine.dram.channels",
    }
    for point in {*fig1.POINTS, *fig5.POINTS, *fig6.RIGHT, *fig8.POINTS}:
        assert differences(base, json.loads(point.scenario)) <= allowed, point.name


def test_the_scenario_file_is_one_of_its_own_points() -> None:
    point = kvs(ddio(2), item=1024, buffers=1024)
    changed = differences(base_scenario("sweeper-kvs"), json.loads(point.scenario))
    assert changed <= {"queues.buffer_size"}, "1 KiB and 1024 B are one size in two spellings"


def test_a_point_is_what_it_simulates_and_not_its_name() -> None:
    scenario = canonical({"a": 1})
    assert Point("run", scenario, "x") == Point("run", scenario, "y")
    assert Point("run", scenario, "x") != Point("peak", scenario, "x")
    assert kvs(IDEAL) != kvs(ddio(2))


def test_a_dependent_point_takes_its_rate_from_the_peak() -> None:
    source = Point("peak", canonical({"traffic": {"rate": "1 pps"}}), "source")
    point = Point("run", source.scenario, "at 85 %", source, 85)
    assert point.ready_scenario(26.0)["traffic"]["rate"] == "22100000 pps"
    with pytest.raises(AssertionError, match="only after"):
        point.ready_scenario(None)


def test_merge_goes_into_tables_and_leaves_the_base_alone() -> None:
    base = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert merge(base, {"a": {"b": 3}, "d": [2]}) == {"a": {"b": 3, "c": 2}, "d": [2]}
    assert base == {"a": {"b": 1, "c": 2}, "d": [1]}
    swift = {"control": {"kind": "swift", "beta": 1}}
    assert merge(swift, {"control": {"kind": "swift", "x": 2}})["control"]["beta"] == 1
    assert merge(swift, {"control": {"kind": "dctcp"}}) == {"control": {"kind": "dctcp"}}


def test_xmem_and_ddio_have_disjoint_ways_that_fill_the_llc() -> None:
    from nic2core.studies.sweeper import fig9

    for ways in fig9.SPLITS:
        scenario = json.loads(fig9.split(ways).scenario)
        forwarder, xmem = (t["llc_ways"] for t in scenario["tenants"])
        assert forwarder is None
        assert scenario["placement"]["io_ways"] == xmem["first"] == ways
        assert xmem["first"] + xmem["count"] == scenario["machine"]["llc"]["ways"]
