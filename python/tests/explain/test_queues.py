"""Descriptors of queues, and the reads of them."""

from __future__ import annotations

import random
from dataclasses import replace
from math import inf, isnan
from typing import Any

import pytest

from nic2core import Result, api, words
from nic2core.describe import pools
from nic2core.describe.limits import limits_of
from nic2core.describe.verdict import verdict
from nic2core.explain.changes import possible_changes
from nic2core.explain.queueing import before_one_has_had
from nic2core.explain.queues import Queue, by_queue, fullest, more
from nic2core.report.path import picture
from nic2core.rerun import run_changes
from nic2core.results.models import Peak

UNEVEN = {"traffic.flows": 4, "traffic.sizes.size": "64 B", "tenants.0.app.packet_instructions": 50,
          "run.warmup": "200 us", "run.duration": "400 us"}  # fmt: skip
"""Of four flows RSS makes one queue two, two others one each, and the last none."""

# A full queue whose driver posts single descriptors makes the NIC drop packets, or wait for a fetch
# with each: a state of its own, that any change ends. So these post in batches, as drivers do.
POSTS = {"queues.burst": 1, "queues.post_batch": 32}


def test_reads_of_descriptors_that_set_a_peak_are_predicted_to_help_it() -> None:
    short = {"run.warmup": "2 ms", "run.duration": "1 ms", "queues.rx_descriptors": 256}
    carried = api.run("ddio-bench", short | {"traffic.rate": "80 Gbps"})
    assert (carried.limited, carried.model.tightest) == (False, "tx-fetches")

    def predicted(result: Result) -> float:
        return next(h.predicted for h in result.helps if h.change.domain == "tx-fetches")

    # All that arrives is carried, but a search offers more.
    assert predicted(carried) == 0
    found = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=carried.data)
    assert predicted(replace(carried, peak=found)) > 0.1


def test_reads_of_as_many_descriptors_as_a_ring_has_are_not_predicted_to_help() -> None:
    result = api.run(
        "ddio-bench",
        {
            "tenants.0.app": {"kind": "l2fwd"}, "tenants.0.cores.count": 1,
            "queues.tx_descriptors": 64, "traffic.rate": "40 Gbps",
            "traffic.sizes": {"kind": "fixed", "size": "64 B"},
            "run.warmup": "1 ms", "run.duration": "500 us",
        },
    )  # fmt: skip
    assert result.model.tightest == "tx-fetches"
    longer = result.helps.by_domain["tx-fetches"]
    assert isnan(longer.predicted)
    assert "64 seldom hold" in longer.unknown
    # It gives nothing at all.
    run = api.run(result, longer.change.overrides)
    assert run.mpps == pytest.approx(result.mpps, rel=0.01)


@pytest.mark.parametrize(
    ("limits", "sets"),
    [
        ("descriptors", {"traffic.rate": "24 Mpps", "queues.rx_descriptors": 8, "queues.burst": 1}),
        ("tx-descriptors", POSTS | {"traffic.rate": "20 Mpps", "queues.tx_descriptors": 4}),
        (
            "tx-fetches",
            POSTS
            | {"traffic.rate": "7.7 Mpps", "machine.nic.tx_descriptor_batch": 2}
            | {"run.warmup": "1 ms"},  # until the queue's rings are full
        ),
    ],
)
def test_one_queue_that_is_short_of_descriptors_is_named(limits: str, sets: dict[str, Any]) -> None:
    result = api.run("explain-cpu", UNEVEN | sets)
    model = result.model
    assert (model.cause, model.tightest, result.limited) == (limits, limits, True)
    domain = next(d for d in result.data.domains if d.domain == limits)
    queues = sorted(by_queue(result.data, domain), key=lambda q: q.packets)
    span_ps = result.data.measured_ns * 1e3
    full = [q.full / span_ps for q in queues]
    # A ring that is polled packet by packet has a descriptor again now and then.
    assert full[-1] == max(full) > (0.95 if limits == "descriptors" else 0.98)
    assert full[0] == 0.0
    assert f"of core {queues[-1].core}'s queue" in verdict(result)
    assert model.rate == pytest.approx(result.mpps, rel=0.05)
    helps = run_changes(result, jobs=2).by_domain
    # Another core gives each queue other flows.
    for name in helps.keys() - {"cores", "dispatch"}:
        said = helps[name]
        assert said.predicted == pytest.approx(said.measured, rel=0.2, abs=0.05), name
    # More flows fill all queues alike.
    even = helps.pop("dispatch")
    assert (even.measured or 0.0) > 0.2
    if limits == "descriptors":
        # Not as much as they would by the model (D18); this fails when they do.
        assert (even.predicted, even.measured) == pytest.approx((0.91, 0.60), abs=0.05)
    else:
        assert even.error == pytest.approx(0, abs=0.05)
    assert max(helps, key=lambda name: helps[name].predicted) == limits
    assert (helps[limits].measured or 0.0) > 0.2
    # At a rate that the same descriptors carry nothing limits.
    enough = api.run("explain-cpu", UNEVEN | sets | {"traffic.rate": "2 Mpps"})
    assert not enough.limited


def reading(cores: int, batch: int, **more: str) -> Result:
    """Forwarding by a NIC that reads so few receive descriptors at a time."""
    sets = {"tenants.0.app": {"kind": "l2fwd"}, "tenants.0.cores.count": cores}
    nic = {"machine.nic.descriptor_batch": batch, "traffic.sizes.size": "1024 B"}
    times = {"run.warmup": "1 ms", "run.duration": "500 us"}
    return api.run("explain-cpu", sets | nic | times | {"traffic.rate": "11 Mpps"} | more)


def test_a_queue_whose_descriptors_are_read_too_slowly_is_named() -> None:
    result = reading(cores=1, batch=2)
    assert (result.model.cause, result.limited) == ("rx-fetches", True)
    assert result.model.rate == pytest.approx(result.mpps, rel=0.02)
    assert "1 read / (0.500 per packet x" in verdict(result)
    helps = run_changes(result, jobs=2).by_domain
    assert (helps["rx-fetches"].measured or 0.0) > 0.9
    assert (helps["cores"].measured or 0.0) > 0.4
    for name, said in helps.items():
        assert said.predicted == pytest.approx(said.measured, rel=0.2, abs=0.05), name


def test_with_large_batches_queues_run_out_of_descriptors_seldom() -> None:
    far = {"machine.pcie.latency": "2 us", "traffic.sizes.size": "256 B"}
    result = reading(1, 8, **far)
    assert (result.model.cause, result.limited) == ("rx-fetches", True)
    cores = next(h for h in run_changes(result, jobs=2) if h.change.domain == "cores")
    assert cores.measured is not None
    assert cores.predicted == pytest.approx(cores.measured, rel=0.2)
    assert cores.predicted > 0.6, "more than for batches of one"


def test_the_mean_before_one_has_had_too_many_is_that_of_drawing() -> None:
    draw = random.Random(1)  # noqa: S311 - no secret

    def drawn(of_each: int, queues: int) -> int:
        had = [0] * queues
        while True:
            queue = draw.randrange(queues)
            if had[queue] == of_each:
                return sum(had)
            had[queue] += 1

    assert before_one_has_had(1024, 1) == pytest.approx(1024, rel=0.01)
    for of_each, queues in ((1, 1), (1, 24), (7, 1), (8, 2), (32, 4), (300, 3)):
        runs = 4000 if of_each < 100 else 100
        mean = sum(drawn(of_each, queues) for _ in range(runs)) / runs
        assert before_one_has_had(of_each, queues) == pytest.approx(mean, rel=0.02)


def test_packets_wait_behind_one_whose_descriptor_is_read() -> None:
    # No queue's reads are always under way, but the NIC waits for those of one or the other.
    result = reading(cores=4, batch=1)
    assert (result.model.cause, result.limited) == ("rx-fetches", True)
    assert result.model.rate == pytest.approx(result.mpps, rel=0.02)
    assert "and so do all behind it, including those of other queues" in verdict(result)
    assert next(s for s in result.stages if s.stage == "rx-fetches").load > 0.98
    # They are drawn in place of the rings.
    drawn = {gauge.title: gauge.badge for gauge in picture(result).gauges}
    assert drawn["RX reads"] == "LIMITS"
    assert "RX descriptors" not in drawn


def test_of_queues_that_wait_for_their_cores_the_fullest_is_shown() -> None:
    def queue(core: int, busy_ps: int) -> Queue:
        return Queue(core, 4, 10, busy_ps, 0, 10, 10)

    assert fullest([queue(0, 0), queue(1, 900), queue(2, 100)]).core == 1


def test_a_ring_that_is_full_of_what_waits_for_its_core_is_shown_and_allows_by_another() -> None:
    # Two of four cores get two flows of five each, and have more than they can do.
    sets = {"traffic.flows": 5, "traffic.rate": "4 Mpps"}
    result = api.run("explain-cpu", sets | {"run.warmup": "200 us", "run.duration": "400 us"})
    use, queues = result.model.use("descriptors"), result.tables.queues
    most = queues.sort("rx_descriptors_in_use").row(-1, named=True)
    assert use.core == most["core"]
    assert use.occupancy == pytest.approx(most["rx_descriptors_in_use"])
    assert use.occupancy > 0.9 * use.credits
    assert f", core {use.core}" in next(s.detail for s in result.stages if s.stage == use.name)
    # Its own part is small: another queue is shorter of descriptors, and that allows what is said.
    assert use.short_core != use.core
    domain = next(d for d in result.data.domains if d.domain == "descriptors")
    by_core = {q.core: q for q in by_queue(result.data, domain)}
    assert use.short_core is not None
    assert by_core[use.short_core].own_ps == max(q.own_ps for q in by_core.values())
    span_ps = result.data.measured_ns * 1e3
    allowed = result.mpps * span_ps / by_core[use.short_core].full
    assert result.model.allows["descriptors"] == pytest.approx(allowed)
    # The times that are shown are the whole of the fullest, and that by which the other allows.
    own = f"(core {use.short_core}: {words.time(use.own_ns)})"
    assert pools.held(use) == f"{words.time(use.latency_ns)} {own}"
    assert use.occupancy == pytest.approx(use.uses_per_us * use.latency_ns / 1e3)


def test_more_credits_help_the_queues_that_are_short() -> None:
    def queue(packets: int, wanted: float, busy_ps: int) -> Queue:
        return Queue(0, 4, packets, busy_ps, busy_ps, packets, wanted)

    short, idle = queue(100, 150, 4000), queue(50, 50, 1000)
    # The one does all that comes, the other what it did.
    assert more([short, idle], 2, 1000) == pytest.approx(200 / 150)
    assert more([short, short], 1.25, 1000) == pytest.approx(1.25)
    assert more([queue(100, 400, 4000), idle], 2, 1000) == pytest.approx(250 / 150)
    # Senders without a law send what is carried.
    assert more([queue(100, inf, 4000), idle], 2, 1000) == 2


def test_packets_that_wait_for_others_of_their_completion_are_no_use_that_grows() -> None:
    """At a hundredth of the rate a completion takes a hundred times as long to be full."""
    sets = {"queues.tx_completion_batch": 32, "queues.tx_descriptors": 64, "traffic.flows": 256,
            "run.warmup": "200 us", "run.duration": "2 ms"}  # fmt: skip
    slow = api.run("explain-cpu", sets | {"traffic.rate": "0.2 Mpps"})
    use = slow.model.use("tx-descriptors")
    assert use.latency_ns > 5 * use.own_ns
    pool = slow.model.pools["tx-descriptors"]
    assert pool.credits == 64 - 15.5
    # Little's law with what is shown.
    assert pool.allows == pytest.approx(pool.credits / (use.uses_per_work * use.own_ns) * 1e3)
    row = next(row for row in limits_of(slow) if row.domain == "tx-descriptors")
    assert "16 of the 64 are always held by packets that have been sent" in row.tip
    twice = next(c for c in possible_changes(slow.data, slow.scenario)
                 if c.domain == "tx-descriptors")  # fmt: skip
    more = twice.apply(slow.model).pools["tx-descriptors"]
    assert more.credits <= 128 - 15.5
