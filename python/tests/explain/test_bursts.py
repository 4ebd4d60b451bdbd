"""Drops although no stage is full on average: in bursts, and of one core's queue."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import Result, api
from nic2core.describe.headline import headline
from nic2core.describe.hints import hints
from nic2core.describe.verdict import verdict
from nic2core.explain.help import Helps
from nic2core.explain.limit import Limit
from nic2core.explain.overload import dropping, overloaded
from nic2core.rerun import run_changes
from nic2core.words import percent, three
from tools.predictions.pcap import pcap

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core.explain.help import Help

BURSTS = {
    "kind": "bursts",
    "rate": "60 Gbps",
    "on": "300 us",
    "off": "500 us",
    "flows": 4096,
    "sizes": {"kind": "fixed", "size": "512 B"},
}
TWO_CORES: dict[str, Any] = {
    "traffic": BURSTS,
    "tenants.0.cores.count": 2,
    "tenants.0.app": {"kind": "l2fwd", "packet_instructions": 2600},
    "queues.rx_descriptors": 512,
    "run.warmup": "1.6 ms",
    "run.duration": "1.6 ms",
}


def trains() -> bytes:
    """40 trains of 200 frames of 512 bytes, each of one flow: 10.7 Gbit/s on the wire."""
    frames = ((80_000 * train + 100 * n, 512, train) for train in range(40) for n in range(200))
    return pcap(frames)


@pytest.fixture(scope="module")
def rings() -> Result:
    """Bursts that overflow the receive rings of two cores."""
    return api.run("ddio-bench", TWO_CORES)


@pytest.fixture(scope="module")
def sram() -> Result:
    """Bursts that overflow the SRAM, because DMA has few credits."""
    few = {"machine.nic.write_credits": 8, "machine.nic.sram": "256 KiB"}
    return api.run("ddio-bench", {**TWO_CORES, **few})


def of(result: Result, *whats: str) -> dict[str, Help]:
    """The changes of these names, run."""
    found = [h for h in result.helps if f"{h.change.domain}: {h.change.what}" in whats]
    assert len(found) == len(whats)
    return {h.change.what: h for h in run_changes(result, helps=Helps(found))}


def test_what_a_burst_loses_is_explained(rings: Result) -> None:
    overflow = rings.overflow
    assert rings.limit is Limit.BURSTS
    assert overflow is not None
    assert overflow.burst is not None
    # 60 Gbps of 536 B on the wire; two rings of 512, of which packets in service hold some.
    assert overflow.burst.fastest == pytest.approx(60e3 / 8 / 536, rel=0.001)
    assert 800 < overflow.room < 2 * overflow.nominal.ring == 1024
    # Of a burst of 300 us, what is done meanwhile and what can wait.
    without = 1 - (overflow.drains * 300 + overflow.room) / (overflow.burst.fastest * 300)
    # At its end, half of the 64 that are posted together, more or less, may wait in each ring.
    batches = 2 * 32 / (overflow.burst.fastest * 300)
    assert rings.drop_share == pytest.approx(without, abs=batches)
    assert (
        f"during bursts, when no receive descriptor is free: 14.0 Mpps come for 300 µs, of which "
        f"{overflow.room:,.0f} packets can wait, and the cores allow {three(overflow.drains)}."
    ) in verdict(rings)


def test_what_changes_save_of_bursts_is_predicted(rings: Result) -> None:
    ran = of(
        rings,
        "descriptors: twice the descriptors",
        "cores: 3 cores",
        "cores: cores at 3.75 GHz",
        "nic-sram: 1024 KiB of SRAM",
    )
    for what, help_ in ran.items():
        assert help_.measured is not None
        assert help_.predicted == pytest.approx(help_.measured, abs=0.05), what
    assert ran["3 cores"].predicted > 0.1
    assert ran["twice the descriptors"].predicted > 0.1
    assert ran["1024 KiB of SRAM"].predicted == pytest.approx(0, abs=1e-9)


def test_a_stage_that_waits_between_bursts_is_helped_by_room_before_it(sram: Result) -> None:
    assert sram.limit is Limit.STAGE
    assert sram.model.cause == "io-credits"
    assert "because it waits between bursts: 14.0 Mpps come for 300 µs, of which" in verdict(sram)
    for what, help_ in of(sram, "nic-sram: 512 KiB of SRAM", "io-credits: 16 of them").items():
        assert help_.measured is not None
        assert help_.measured > 0.2, what
        assert help_.error == pytest.approx(0, abs=0.2), what


def test_a_faster_link_would_change_bursts_that_it_spreads_out() -> None:
    faster = {**BURSTS, "rate": "120 Gbps", "on": "200 us", "off": "600 us"}
    result = api.run("ddio-bench", {**TWO_CORES, "traffic": faster})
    overflow = result.overflow
    assert overflow is not None
    assert overflow.burst is not None
    assert overflow.burst.fastest == pytest.approx(100e3 / 8 / 536, rel=0.01)
    assert overflow.burst.lasts_us == pytest.approx(200 * 1.2, rel=0.01)
    (link,) = of(result, "wire: a link of 200 Gbps").values()
    assert link.measured is not None
    assert link.measured < -0.05
    assert link.predicted == pytest.approx(link.measured, abs=0.03)
    assert "would reach the rings sooner" in link.harm


POISSON = {k: v for k, v in BURSTS.items() if k not in {"on", "off"}} | {
    "kind": "poisson",
    "rate": "33 Gbps",
}
SHORT = {"run.warmup": "100 us", "run.duration": "1 ms", "queues.rx_descriptors": 64}


def test_what_poisson_arrivals_lose_of_short_rings_is_predicted() -> None:
    result = api.run("ddio-bench", {**TWO_CORES, "traffic": POISSON, **SHORT})
    assert result.limit is Limit.BURSTS
    assert result.drop_share > 0.02
    overflow = result.overflow
    assert overflow is not None
    assert overflow.burst is None
    # As much room as there is, of which up to 63 descriptors wait until 64 can be posted together.
    assert overflow.server.ring == pytest.approx(64, rel=0.05)
    assert f"a ring would need {overflow.enough:,} descriptors to" in verdict(result)
    ran = of(result, "descriptors: twice the descriptors", "cores: 3 cores")
    for what, help_ in ran.items():
        assert help_.measured is not None
        assert help_.measured > 0.02, what
        assert help_.predicted == pytest.approx(help_.measured, abs=0.02), what


def test_rings_as_long_as_it_says_lose_nothing(rings: Result) -> None:
    assert rings.overflow is not None
    needed = rings.overflow.enough
    assert needed is not None
    assert f"Rings of {needed:,} descriptors would lose none" in " ".join(hints(rings, rings.helps))
    assert "--vary queues.rx_descriptors=512,1024`" in " ".join(hints(rings, rings.helps))

    def lost(share: float) -> float:
        of = {"queues.rx_descriptors": round(share * needed), "queues.post_batch": 8}
        return api.run(rings, of).drop_share

    assert lost(1.0) < 0.001
    assert lost(0.8) > 0.02


def test_where_it_is_not_known_what_overflows_no_gain_is_predicted() -> None:
    app = TWO_CORES["tenants.0.app"]
    slower = {**app, "packet_instructions": 2800}
    tenants = [
        {"name": "a", "app": app, "cores": {"first": 0, "count": 1}},
        {"name": "b", "app": slower, "cores": {"first": 1, "count": 1}},
    ]
    of_all = {key: of for key, of in TWO_CORES.items() if not key.startswith("tenants")}
    result = api.run("ddio-bench", {**of_all, "tenants": tenants})
    assert result.limit is Limit.BURSTS
    assert result.overflow is None
    assert result.drop_share > 0.01
    assert all(isnan(h.predicted) for h in result.helps)
    said = " ".join(hints(result, result.helps))
    gain = 1 / (1 - result.drop_share) - 1
    assert f"if nothing were dropped, +{100 * gain:.0f} %. `nic2core explain DIR --check`" in said
    # Of hardly any drops nothing can be gained.
    few = result.data.packets.model_copy(update={"drop_share": 0.004})
    calm = replace(result, data=result.data.model_copy(update={"packets": few}))
    assert all(h.predicted == 0 for h in calm.helps if not h.unknown)


def test_the_queue_that_drops_is_named_and_so_is_a_core_that_can_never_do_its_share() -> None:
    # Of eleven flows RSS gives one core more than the other.
    uneven = {**BURSTS, "flows": 11, "rate": "50 Gbps", "on": "200 us", "off": "100 us"}
    result = api.run("ddio-bench", {**TWO_CORES, "traffic": uneven, "queues.rx_descriptors": 128})
    more = overloaded(result.data)
    assert result.limit is Limit.ONE_CORE
    assert more is not None
    busiest = result.data.queues[more.core]
    assert busiest.core_busy_ps is not None
    # Although it is idle at times.
    assert busiest.core_busy_ps < 0.99 * 1e3 * result.data.measured_ns
    assert more.share > 1.02
    dropped = dropping(result.data)
    assert dropped is not None
    assert dropped.core == more.core
    assert dropped.share > 0.99
    of_queue = result.tables.queues["dropped"].to_list()
    assert of_queue[more.core] == busiest.dropped
    assert sum(of_queue) == result.data.packets.dropped_no_descriptor
    said = verdict(result)
    assert f"of them of core {more.core}'s queue, because more comes to core" in said
    assert {n.name: n.value for n in headline(result)}["dropped most"] == (
        f"core {more.core}: {percent(dropped.share)}"
    )


def test_a_burst_that_is_longer_than_the_measured_time_is_no_lasting_load() -> None:
    few = {**BURSTS, "flows": 200}
    part = {**TWO_CORES, "traffic": few, "run.duration": "500 us"}
    result = api.run("ddio-bench", part)
    # While it lasts, more comes than the cores can do.
    assert result.drop_share > 0.1
    assert overloaded(result.data) is None
    assert result.limit is Limit.BURSTS


def test_of_rings_that_do_not_overflow_alike_the_fuller_one_decides() -> None:
    few = {**BURSTS, "flows": 100}
    result = api.run("ddio-bench", {**TWO_CORES, "traffic": few})
    assert result.limit is Limit.BURSTS
    dropped = dropping(result.data)
    assert dropped is not None
    assert dropped.share > 0.99
    ran = of(result, "descriptors: twice the descriptors", "cores: 3 cores")
    for what, help_ in ran.items():
        assert help_.measured is not None
        assert help_.measured > 0.1, what
        assert help_.predicted == pytest.approx(help_.measured, abs=0.02), what


def test_only_rings_of_those_that_serve_count() -> None:
    def gain(*tenants: dict[str, Any]) -> float:
        of_all = {key: of for key, of in TWO_CORES.items() if not key.startswith("tenants")}
        short = {"queues.rx_descriptors": 256, "tenants": list(tenants)}
        result = api.run("ddio-bench", {**of_all, **short})
        (more,) = (h for h in result.helps if h.change.what == "5 cores")
        return more.predicted

    app = {"kind": "l2fwd", "packet_instructions": 5200}
    xmem = {"kind": "xmem", "region": "64 KiB", "pattern": "random"}

    def cores(first: int, count: int) -> dict[str, int]:
        return {"first": first, "count": count}

    alone = gain({"name": "a", "app": app, "cores": cores(0, 4)})
    behind = gain(
        {"name": "x", "app": xmem, "cores": cores(0, 2)},
        {"name": "a", "app": app, "cores": cores(2, 4)},
    )
    assert alone > 0.1
    assert behind == pytest.approx(alone, abs=0.02)


def test_what_a_small_ring_does_not_use_for_bursts_is_no_larger_in_a_longer_one() -> None:
    small = {"queues.rx_descriptors": 64, "queues.post_batch": 16, "tenants.0.cores.count": 5}
    app = {"tenants.0.app": {"kind": "l2fwd", "packet_instructions": 9000}}
    on = {"traffic": {**BURSTS, "on": "60 us", "off": "240 us"}, "run.duration": "1.8 ms"}
    result = api.run("ddio-bench", {**TWO_CORES, **small, **app, **on})
    (help_,) = of(result, "descriptors: twice the descriptors").values()
    assert help_.measured is not None
    assert help_.measured > 0.3
    assert help_.error == pytest.approx(0, abs=0.05)


def test_what_changes_give_a_peak_that_drops_in_bursts_set_is_predicted() -> None:
    found = api.find_peak("ddio-bench", {**TWO_CORES, "slo.p99": "1 ms"})
    assert found.peak is not None
    assert found.peak.failed_by == "drops"
    # Nothing is full on average.
    assert found.peak.peak_mpps < 0.6 * min(found.model.allows.values())
    ran = of(found, "descriptors: twice the descriptors", "cores: 3 cores")
    for what, help_ in ran.items():
        assert help_.measured is not None
        assert help_.measured > 0.2, what
        assert help_.predicted == pytest.approx(help_.measured, abs=0.06), what


def test_of_a_peak_of_a_capture_that_drops_set_nothing_is_predicted(tmp_path: Path) -> None:
    capture = tmp_path / "trains.pcap"
    capture.write_bytes(trains())
    replay = {"kind": "replay", "file": str(capture), "rate": "5 Gbps"}
    short = {"queues.rx_descriptors": 64, "queues.post_batch": 8, "run.duration": "6 ms"}
    short["slo.p99"] = "1 ms"
    found = api.find_peak("ddio-bench", {**TWO_CORES, "traffic": replay, **short})
    assert found.peak is not None
    assert found.peak.failed_by == "drops"
    assert all(isnan(h.predicted) and h.unknown for h in found.helps)


def test_what_a_capture_loses_is_predicted_as_long_as_it_is_there(tmp_path: Path) -> None:
    capture = tmp_path / "trains.pcap"
    capture.write_bytes(trains())
    replay = {"kind": "replay", "file": str(capture), "rate": "11 Gbps"}
    short = {"queues.rx_descriptors": 64, "queues.post_batch": 8}
    result = api.run("ddio-bench", {**TWO_CORES, "traffic": replay, **short})
    assert result.limit is Limit.BURSTS
    ran = of(result, "descriptors: twice the descriptors", "cores: cores at 3.75 GHz")
    for what, help_ in ran.items():
        assert help_.measured is not None
        assert help_.measured > 0.02, what
        assert help_.predicted == pytest.approx(help_.measured, abs=0.03), what
    # Nothing is known of a capture that is gone.
    capture.unlink()
    gone = replace(result, label="gone")
    assert gone.overflow is None
    assert all(isnan(h.predicted) for h in gone.helps)


def test_a_tail_is_not_lowest_where_more_is_dropped() -> None:
    calm = api.run("ddio-bench", {**TWO_CORES, "queues.rx_descriptors": 1024})
    assert calm.drop_share == 0
    tail = calm.p99_ns
    assert tail is not None
    first, second, *_ = calm.helps
    ran = [
        replace(first, measured=-0.1, drop_share=0.1, tails={"p99_ns": 0.3 * tail}),
        replace(second, measured=0.0, drop_share=0.0, tails={"p99_ns": 0.6 * tail}),
    ]
    (said,) = (h for h in hints(calm, ran) if h.startswith("Lowest p99 latency"))
    assert second.change.what in said
    shown = repr(Helps(ran))
    assert "dropped" in shown
    assert "10.0 %" in shown


def test_what_would_overflow_the_rings_instead_of_the_sram_is_lost_there() -> None:
    few = {"machine.nic.write_credits": 8, "machine.nic.sram": "256 KiB"}
    result = api.run("ddio-bench", {**TWO_CORES, **few, "tenants.0.cores.count": 1})
    assert result.overflow is not None
    assert not result.overflow.in_rings
    # One core does 4.3 Mpps, and 16 credits carry 6.
    more = result.helps.by_domain["io-credits"]
    assert more.predicted > 0.2
    again = api.run(result, more.change.overrides)
    assert again.data.packets.dropped_no_descriptor > 0
    gain = (1 - again.drop_share) / (1 - result.drop_share) - 1
    assert more.predicted == pytest.approx(gain, abs=0.05)
    assert result.helps.by_domain["nic-sram"].predicted > 0.1
