"""What becomes of the IOTLB when more DMA waits for page walks."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from nic2core import Result, api
from nic2core.describe.hints import hints
from nic2core.explain.change import Change
from nic2core.explain.contention import crowd_walkers, left_behind
from nic2core.explain.help import helps
from nic2core.explain.iotlb import Iotlb
from nic2core.explain.memory import Memory
from nic2core.explain.model import Model, Pool
from nic2core.explain.use import Use
from nic2core.explain.what_if import more_dma_credits, without_misses
from nic2core.rerun import run_changes

SCENARIO = "explain-iommu"

HELD = {"io-credits": Pool(90, 9, {"iommu": 2000.0, "io-credits": 500.0}),
        "read-credits": Pool(160, 8, {"iommu": 1800.0, "read-credits": 600.0})}  # fmt: skip
"""Four packets a microsecond: 90 lines, 9 a packet, for 2.5 us; reads allow 8.33."""


def _model(walks: float = 4.0, starved: float = 0.9, can_wait: int = 1000) -> Model:
    used = [
        Use(name, "line", 90, 90.0, 1.0, 1.0, 1.0, starved, 1.0, 1.0, 1.0)
        for name in (*HELD, "dram", "read-queue")
    ]
    memory = Memory(50.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
    iotlb = Iotlb(entries=512, misses=1.1, found=1.0, can_wait=can_wait, of_writes=0.9)
    return Model(9.0, {"iommu": walks}, HELD, memory, used, iotlb)


def _twice(model: Model, domain: str) -> Model:
    return crowd_walkers(model.with_pool(domain, model.pools[domain].more(2)), domain)


def test_twice_the_writes_wait_for_the_same_walkers() -> None:
    found = _twice(_model(), "io-credits").pools
    # Little's law: 180 lines, 9 a packet, 4 packets a microsecond, are held for 5 us.
    assert sum(found["io-credits"].spent_ns.values()) == pytest.approx(5000.0)
    # 2.25 times as long at the IOMMU, and reads behind them for nine tenths of the walks.
    assert found["read-credits"].spent_ns["iommu"] == pytest.approx(1800 * (1 + 1.25 * 0.9))
    assert found["read-credits"].spent_ns["read-credits"] == 600.0


def test_writes_do_not_wait_for_reads() -> None:
    full = _model().with_pool("read-credits", HELD["read-credits"].more(0.48))
    assert full.pools["read-credits"].allows == pytest.approx(4.0)
    found = _twice(full, "read-credits").pools
    assert found["io-credits"] == HELD["io-credits"]
    assert sum(found["read-credits"].spent_ns.values()) == pytest.approx(4800.0)


@pytest.mark.parametrize("model", [_model(walks=40.0), _model(starved=0.0),
                                   replace(_model(), demand=3.0),
                                   replace(_model(), iotlb=None)])  # fmt: skip
def test_nothing_waits_longer_if_walkers_do_not_limit_or_credits_were_free(model: Model) -> None:
    found = _twice(model, "io-credits").pools
    assert {name: pool.spent_ns for name, pool in found.items()} == {
        name: pool.spent_ns for name, pool in HELD.items()
    }


def test_packets_that_wait_to_be_sent_lose_their_pages() -> None:
    before = _model()
    full = before.with_pool("read-credits", HELD["read-credits"].more(0.49))
    # A read that finds nothing takes a walk of its own: 2.1 instead of 1.1 a packet.
    assert left_behind(full, before).others["iommu"] == pytest.approx(4.0 * 1.1 / 2.1)
    # Reads have room.
    assert left_behind(
        before.with_pool("read-credits", HELD["read-credits"].more(0.52)), before
    ) == (before.with_pool("read-credits", HELD["read-credits"].more(0.52)))
    # 465 packets miss 512 times, 466 once more than there are entries.
    for can_wait, lost in ((465, False), (466, True)):
        small = [replace(m, iotlb=_model(can_wait=can_wait).iotlb) for m in (full, before)]
        assert (left_behind(*small) != small[0]) == lost
    # What is so already is in the counters of the run.
    assert left_behind(full, full) == full


@pytest.fixture(scope="module")
def found() -> Result:
    return api.run(SCENARIO)


def test_what_the_model_takes_from_a_run(found: Result) -> None:
    iotlb = found.model.iotlb
    assert iotlb is not None
    # The write of a packet brings its page, its read finds it, and completions miss now and then.
    assert (iotlb.found, iotlb.of_writes) == pytest.approx((1.0, 1.0), abs=0.01)
    assert 1.0 < iotlb.misses < 1.2
    assert (iotlb.entries, iotlb.can_wait) == (512, 6 * (256 + 256))
    # The reads of a larger packet look its page up several times.
    several = api.run(SCENARIO, {"traffic.sizes.size": "1500 B", "run.warmup": "100 us",
                                 "run.duration": "100 us"})  # fmt: skip
    assert several.model.iotlb is not None
    assert several.model.iotlb.found == pytest.approx(1.0, abs=0.1)
    large = api.run(SCENARIO, {"machine.iommu.pages.payload": "2 MiB", "run.warmup": "100 us",
                               "run.duration": "100 us"})  # fmt: skip
    assert large.model.iotlb is not None
    assert large.model.iotlb.found == 0.0
    off = api.run(SCENARIO, {"machine.iommu.mode": "off", "run.warmup": "100 us",
                             "run.duration": "100 us"})  # fmt: skip
    assert off.model.iotlb is None


@pytest.mark.parametrize(("writes", "reads"), [(184, 164), (176, 164), (184, 328)])
def test_how_many_credits_are_too_many_is_foretold(found: Result, writes: int, reads: int) -> None:
    def apply(model: Model) -> Model:
        model = more_dma_credits("io-credits", writes / 92)(model)
        return more_dma_credits("read-credits", reads / 164)(model)

    (said,) = helps(found.model, [Change("io-credits", "", {}, apply)], found.data.measured_ns)
    sets = {"machine.nic.write_credits": writes, "machine.nic.read_credits": reads}
    run = api.run(SCENARIO, sets)
    gain = run.mpps / found.mpps - 1
    assert said.predicted == pytest.approx(gain, abs=0.02)
    assert (gain < -0.4) == ((writes, reads) == (184, 164))
    assert ("IOTLB" in said.harm) == (gain < -0.4)


def test_reads_of_descriptors_wait_for_the_walks_of_data() -> None:
    walked = api.load("pcie-bench", {"machine.base": "broadwell-nfp"}).machine.iommu
    assert walked is not None
    result = api.run("ddio-bench", {
        "machine.iommu": walked.model_dump() | {"mode": "loose"},
        "machine.pcie.generation": 4, "machine.pcie.posted_credits": 128,
        "tenants.0.cores.count": 4, "traffic.flows": 4096, "traffic.rate": "30 Mpps",
        "traffic.sizes": {"kind": "fixed", "size": "252 B"},
        "run.warmup": "4 ms", "run.duration": "1500 us",
    })  # fmt: skip
    model = result.model
    assert (model.cause, result.limited) == ("iommu", True)
    # A send queue's turn is a read of descriptors and of data; both wait for others' page walks.
    assert model.allows["tx-fetches"] == pytest.approx(result.mpps, rel=0.02)
    assert model.cause_of("tx-fetches") == "iommu"
    none = [h for h in run_changes(result, jobs=2) if h.change.domain == "iommu"]
    assert none
    for help_ in none:
        assert help_.measured is not None
        assert help_.measured > 1
        assert help_.predicted == pytest.approx(help_.measured, rel=0.05)
    # A re-run that gains tells that it is no tie with another.
    tied = replace(result)
    others = {**model.others, "rx-fetches": model.rate}
    tied.__dict__["model"] = replace(model, others=others)
    told = [any("may gain nothing" in hint for hint in hints(tied, h)) for h in ([], none)]
    assert told == [True, False]


def test_packets_that_wait_to_be_sent_behind_the_turns_of_their_queues_are_lost_already() -> None:
    turns = Pool(1, 0.05, {"tx-fetches": 3900.0, "iommu": 1000.0})
    before = _model().with_pool("tx-fetches", turns)
    assert before.pools["tx-fetches"].allows == pytest.approx(4.08, rel=0.01)
    full = before.with_pool("read-credits", HELD["read-credits"].more(0.49))
    assert left_behind(full, before) == full


@pytest.mark.parametrize(("walks_ns", "faster"), [(0, 1.0), (500, 2.0), (1000, inf), (1500, inf)])
def test_receive_descriptors_are_read_faster_without_walks(walks_ns: int, faster: float) -> None:
    data = api.run(SCENARIO, {"run.warmup": "20 us", "run.duration": "20 us"}).data
    lines = next(d.uses for d in data.domains if d.domain == "read-credits")
    domains = [
        d.model_copy(update={"holds_reads_ps": walks_ns * 1000 * lines})
        if d.domain == "iommu"
        else d
        for d in data.domains
    ]
    queues = [
        q.model_copy(update={"rx_fetches": 2, "rx_fetching_ps": 2_000_000}) for q in data.queues
    ]
    data = data.model_copy(update={"domains": domains, "queues": queues})
    model = replace(_model(), others={"iommu": 4.0, "rx-fetches": 5.0})
    assert without_misses(data)(model).others == {"iommu": inf, "rx-fetches": 5.0 * faster}
