"""What an IOMMU costs, and what pages would help."""

from __future__ import annotations

import re
import warnings
from math import isnan
from typing import TYPE_CHECKING

import pytest

from nic2core import Result, api, words
from nic2core.command import explanation
from nic2core.describe.hints import hints
from nic2core.describe.limits import limits_of
from nic2core.explain.change import Takes
from nic2core.explain.changes import possible_changes
from nic2core.explain.help import helps
from nic2core.explain.pages import KEYS, why_they_may_miss

if TYPE_CHECKING:
    from nic2core.explain.help import Help

PAGES = {"run.warmup": "500 us", "run.duration": "500 us"}


def of_iommu(result: Result) -> dict[str, Help]:
    return {h.change.what: h for h in result.helps if h.change.domain == "iommu"}


def test_large_pages_are_offered_and_give_what_is_said_where_the_iotlb_holds_them() -> None:
    result = api.run("explain-iommu", PAGES)
    offered = of_iommu(result)
    assert list(offered) == ["pages of 2 MiB", "no misses (no IOMMU)"]
    pages = offered["pages of 2 MiB"]
    kinds = ("payload", "descriptors", "completions")
    assert pages.change.overrides == {f"machine.iommu.pages.{kind}": "2 MiB" for kind in kinds}
    run = api.run("explain-iommu", PAGES | pages.change.overrides)
    assert run.data.iommu is not None
    assert run.data.iommu.misses_per_packet == pytest.approx(0.0, abs=0.01)
    assert pages.predicted == pytest.approx(run.mpps / result.mpps - 1, rel=0.2)
    assert pages.predicted > 1
    row = next(row for row in limits_of(result) if row.domain == "iommu")
    assert [(what, takes) for what, takes, _ in row.changes] == [
        ("pages of 2 MiB", "setting"),
        ("no misses (no IOMMU)", "no IOMMU"),
    ]
    # Of changes that give the same the one that takes least is told.
    assert pages.predicted == offered["no misses (no IOMMU)"].predicted
    (most,) = (hint for hint in hints(result, result.helps) if hint.startswith("Best single"))
    assert most.startswith("Best single change: IOMMU, pages of 2 MiB, +")
    assert "`nic2core run DIR --set 'machine.iommu.pages.payload=2 MiB' --set" in most
    assert list(of_iommu(run)) == ["no misses (no IOMMU)"]
    # Buffers that are mapped one by one have small pages.
    strict = api.run("explain-iommu", PAGES | {"machine.iommu.mode": "strict"})
    assert list(of_iommu(strict)) == ["no misses (no IOMMU)"]
    loose = next(h.change for h in strict.helps if h.change.domain == "invalidations")
    hardware = next(h.change for h in strict.helps if h.change.domain == "home-trackers")
    away = of_iommu(strict)["no misses (no IOMMU)"].change
    assert loose.takes is Takes.SETTING
    assert away.takes is Takes.NO_IOMMU
    assert hardware.takes is Takes.HARDWARE
    # What is told can be set on the command line, where there is no null.
    assert away.overrides == {"machine.iommu.mode": "off"}


@pytest.mark.parametrize(
    ("entries", "ways", "why"),
    [
        (20, 20, "the IOTLB holds 20 translations, and 24 pages of 2 MiB would be in use"),
        (512, 8, "in a set-associative IOTLB, it depends on which pages share a set"),
    ],
)
def test_of_large_pages_that_may_miss_nothing_is_said(entries: int, ways: int, why: str) -> None:
    iotlb = {"machine.iommu.iotlb.entries": entries, "machine.iommu.iotlb.ways": ways}
    result = api.run("explain-iommu", PAGES | iotlb)
    pages = of_iommu(result)["pages of 2 MiB"]
    assert isnan(pages.predicted)
    assert pages.unknown == why
    said = "\n".join(hints(result, result.helps))
    which = "IOMMU, pages of 2 MiB"
    if ways < entries:
        # What is not known of large pages is not known of huge ones.
        which += " and IOMMU, pages of 1 GiB"
    assert f"Not predicted: {which}: {why}. `nic2core explain DIR --check`" in said


@pytest.mark.parametrize("buffers", [2808, 3000])
def test_so_many_large_pages_are_in_use_as_are_said(buffers: int) -> None:
    """Those of buffers, of both rings of descriptors, of completions, and of acknowledgements."""
    sizes = {f"machine.iommu.pages.{kind}": "2 MiB" for kind in KEYS.values()}
    sets = {"tenants.0.cores.count": 5, "queues.pool_buffers": buffers}
    times = {"run.warmup": "4 ms", "run.duration": "1 ms"}

    def run(entries: int) -> Result:
        iotlb = {"machine.iommu.iotlb": {"entries": entries, "ways": entries}}
        with warnings.catch_warnings(action="ignore"):
            return api.run("host-congestion", sizes | sets | times | iotlb)

    few = run(20)
    # 2808 buffers of 4480 bytes are 12 MiB, less 3 KiB.
    found = re.search(
        r"and (\d+) pages of 2 MiB", why_they_may_miss(few.data, few.scenario, "2 MiB")
    )
    assert found is not None
    pages = int(found[1])
    assert pages == 5 * (6 + 3 if buffers == 2808 else 7 + 3)
    enough, short = run(pages), run(pages - 1)
    assert enough.data.iommu is not None
    assert short.data.iommu is not None
    assert enough.data.iommu.misses_per_packet == 0
    assert (short.data.iommu.misses_per_packet or 0.0) > 0.01
    assert why_they_may_miss(enough.data, enough.scenario, "2 MiB") == ""


def test_huge_pages_are_offered_where_large_ones_may_not_do() -> None:
    few = {"machine.iommu.iotlb": {"entries": 20, "ways": 20}}
    result = api.run("explain-iommu", {"run.warmup": "2 ms", "run.duration": "2 ms"} | few)
    huge = of_iommu(result)["pages of 1 GiB"]
    assert set(huge.change.overrides.values()) == {"1 GiB"}
    run = api.run("explain-iommu", huge.change.overrides | few)
    assert run.data.iommu is not None
    assert run.data.iommu.misses_per_packet == pytest.approx(0.0, abs=0.01)
    assert huge.predicted == pytest.approx(run.mpps / result.mpps - 1, rel=0.2)


def test_what_would_fill_the_queue_of_writes_is_not_foretold() -> None:
    small = {"tenants.0.cores.count": 16, "machine.iommu.pages.payload": "4 KiB"}
    times = {"run.warmup": "6 ms", "run.duration": "2 ms"}
    result = api.run("host-congestion", small | times)
    more = result.helps.by_domain["io-credits"]
    assert isnan(more.predicted)
    assert more.unknown.startswith("the IOMMU's queue of writes would be full")
    # Where walkers are fuller than the queue, they tell how many writes they can serve.
    few = api.run("host-congestion", small | times | {"machine.iommu.walkers": 3})
    more = few.helps.by_domain["io-credits"]
    assert more.predicted == pytest.approx(1 / few.model.use("iommu").load - 1, abs=0.05)


def test_nothing_is_foretold_by_credits_that_are_held_for_longer_than_was_measured() -> None:
    result = api.run("explain-iommu", {"run.warmup": "200 us", "run.duration": "200 us"})
    use = result.model.use("io-credits")
    held_ns = max(use.latency_ns, use.own_ns)
    # As if only a third of that time had been measured. (A ring that is full of packets which wait
    # for their core holds its descriptors for longer than most runs, but does not limit.)
    changes = possible_changes(result.data, result.scenario)
    found = helps(result.model, changes, held_ns / 3)
    by_name = found.by_domain
    more = by_name["io-credits"]
    assert isnan(more.predicted)
    assert more.unknown.startswith(
        f"a credit of the I/O write credits is held for {words.time(held_ns)}, longer "
        f"than the {words.time(held_ns / 3)} measured, so the rate that this domain allows "
        "is not known"
    )
    # What does not reach them is foretold as ever.
    assert by_name["nic-sram"].predicted == 0
    said = explanation.to_json(result, found)["changes"]
    assert {c["domain"] for c in said if c["not_predicted"]} == {
        h.change.domain for h in found if isnan(h.predicted)
    }
