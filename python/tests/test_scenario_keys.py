from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import sources
from nic2core.describe.scenario_keys import LONGEST, Difference, differing, first
from nic2core.results.models import Peak

if TYPE_CHECKING:
    from collections.abc import Callable

    from nic2core import Result

    Keys = Callable[..., dict[str, list[str]]]


@pytest.fixture
def keys(ddio: Result) -> Keys:
    """The keys in which runs of these scenarios differ, with the values."""

    def found(*scenarios: dict[str, Any], changed: str = "") -> dict[str, list[str]]:
        settings = {changed: "x"} if changed else {}
        runs = [replace(ddio, scenario=scenario) for scenario in scenarios]
        runs[-1] = replace(runs[-1], settings=settings)
        return {d.key: d.values for d in differing(runs)}

    return found


def test_keys_are_told_with_their_values_as_they_are_set(ddio: Result, keys: Keys) -> None:
    one, two, three = (copy.deepcopy(ddio.scenario) for _ in range(3))
    assert keys(one, two, three) == {}
    two["queues"]["rx_descriptors"] = 512
    three["placement"]["sweeper"] = True
    three["tenants"][0]["cores"]["count"] = 7
    told = keys(one, two, three)
    was, cores = one["queues"]["rx_descriptors"], one["tenants"][0]["cores"]["count"]
    assert told == {
        "queues.rx_descriptors": [str(was), "512", str(was)],
        "placement.sweeper": ["false", "false", "true"],
        "tenants.0.cores.count": [str(cores), str(cores), "7"],
    }


def test_a_line_that_tells_of_one_more_key_would_take_its_room() -> None:
    keys = [Difference(str(n), ["1", "2"]) for n in range(10)]
    assert first(keys[:9]) == (keys[:9], 0)
    assert first(keys) == (keys[:8], 2)


def test_a_machine_does_not_hide_the_rest(keys: Keys) -> None:
    one = {"machine": {"nic": {"sram": "1 MiB"}, "llc": 1}, "run": {"seed": 1}}
    two = {"machine": {"nic": {"sram": "2 MiB"}, "llc": 2}, "run": {"seed": 2}}
    assert list(keys(one, two)) == ["run.seed", "machine.nic.sram", "machine.llc"]


def test_what_was_changed_comes_first(keys: Keys) -> None:
    one = {"machine": {"nic": {"sram": 1}, "llc": 1}, "traffic": {"rate": 1, "kind": "a"}}
    two = {"machine": {"nic": {"sram": 2}, "llc": 2}, "traffic": {"rate": 2, "kind": "b"}}
    usual = ["traffic.rate", "traffic.kind", "machine.nic.sram", "machine.llc"]
    for changed, leads in (
        ("machine.llc", "machine.llc"),
        ("traffic", "traffic.kind"),
        ("traffic.kin", "traffic.rate"),
    ):
        rest = [key for key in usual if key != leads]
        assert list(keys(one, two, changed=changed)) == [leads, *rest]


def test_a_table_of_another_kind_is_told_by_its_kind(keys: Keys) -> None:
    swift = {"kind": "swift", "beta": 0.8, "max_mdf": 0.5, "initial_cwnd": 1.0}
    dctcp = {"kind": "dctcp", "g": 0.0625, "initial_cwnd": 2.0}
    assert keys({"control": swift}, {"control": dctcp}) == {
        "control.kind": ["swift", "dctcp"],
        "control.initial_cwnd": ["1.0", "2.0"],
    }
    # Among those of one kind it is told, whatever others there are.
    assert keys({"of": swift}, {"of": {**swift, "beta": 0.4}}, {"of": dctcp})["of.beta"] == [
        "0.8", "0.4", "-",
    ]  # fmt: skip
    # Of one kind, a key that one has and the other has not is a difference.
    assert keys({"control": swift}, {"control": {**swift, "max_cwnd": 4}}) == {
        "control.max_cwnd": ["-", "4"]
    }


def test_of_another_kind_what_its_kind_does_not_say_is_told(ddio: Result) -> None:
    runs = [
        replace(ddio, scenario=sources.prepare("host-congestion", sets).scenario)
        for sets in ({}, {"traffic.control": {"kind": "dctcp", "gain": 0.5}})
    ]
    told = {d.key.removeprefix("traffic.control."): d.values for d in differing(runs)}
    # Of the scenario file, and of what was set; the target of 100 us is Swift's own.
    assert told["additive_increase"] == ["0.02", "-"]
    assert told["gain"] == ["-", "0.5"]
    assert told.keys() == {
        "kind",
        "min_cwnd",
        "max_cwnd",
        "initial_cwnd",
        "additive_increase",
        "gain",
    }


def test_what_only_one_has_is_told_as_a_whole(keys: Keys) -> None:
    more = [{"name": "a"}, {"name": "b", "cores": {"first": 3, "last": None}}]
    assert keys({"tenants": more[:1], "iommu": None}, {"tenants": more}) == {
        "tenants.1": ["-", '{ name = "b", cores = { first = 3 } }']
    }
    assert keys({"sizes": [1, 2]}, {"sizes": [1, 3]}) == {"sizes": ["[1, 2]", "[1, 3]"]}
    ((_, values),) = keys({"of": {str(n): n for n in range(99)}}, {}).items()
    assert len(values[0]) == LONGEST
    assert values[0].endswith("…")


def test_a_peak_beside_a_run_has_the_rate_that_was_found_in_the_unit_of_the_scenario(
    ddio: Result,
) -> None:
    found = Peak(peak_mpps=21.0, rate_mpps=21.5, rate_gbps=92.61, failed_by="p99", probes=[],
                 results=ddio.data)  # fmt: skip

    def with_rate(given: str) -> Result:
        traffic = ddio.scenario["traffic"] | {"rate": given}
        return replace(ddio, scenario=ddio.scenario | {"traffic": traffic})

    for given, told in (("26 Mpps", "21.5 Mpps"), ("90 Gbps", "92.6 Gbps")):
        run = with_rate(given)
        (rate,) = differing([run, replace(run, peak=found)])
        assert (rate.key, rate.values) == ("traffic.rate", [given, told])
    run = with_rate("90 Gbps")
    peak, drawn = (
        replace(run, peak=found.model_copy(update={"rate_gbps": gbps})) for gbps in (92.61, None)
    )
    (rate,) = differing([run, drawn])
    assert rate.values == ["90 Gbps", "21.5 Mpps"]
    # What differs between peaks is their result.
    assert differing([peak, drawn]) == []
