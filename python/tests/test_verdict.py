from __future__ import annotations

import re
from dataclasses import replace
from math import inf

import pytest

from nic2core import Result, api, words
from nic2core.describe import peaks
from nic2core.describe.differences import differences, summary
from nic2core.describe.hints import hints
from nic2core.describe.limiter import limit, mark, mark_of
from nic2core.describe.verdict import verdict
from nic2core.explain.limit import Limit
from nic2core.explain.model import Pool
from nic2core.report.path import picture
from nic2core.results.models import Peak, Results


def test_the_verdict_names_the_limiting_stage(ddio: Result, sweeper: Result) -> None:
    assert verdict(ddio).startswith("the memory bus limits this run: 256 slots / (17.8 per packet")
    assert verdict(sweeper).startswith("the cores limit this run: 24 cores / (1.00 per packet")


def test_a_run_at_ease_is_not_called_limited(ddio: Result, calm: Result) -> None:
    assert verdict(calm).startswith(
        "the offered load limits this run; the stage closest to its limit, the memory bus, is at "
        "35.0 % of the rate it allows"
    )
    assert "limited by: memory bus → offered load (memory bus next)" in differences(ddio, calm)
    assert summary(calm, calm).endswith("; both are limited by the offered load.")
    assert summary(ddio, ddio).endswith("; both are limited by the memory bus.")


@pytest.mark.parametrize(
    ("failed_by", "short", "says"),
    [
        ("p99", "p99 objective", "the 99th percentile of latency exceeds the objective"),
        ("drops", "drop objective", "more packets are dropped than the objective allows"),
        ("rate", "growing backlog", "completions fall behind arrivals"),
        ("link", "link rate", "the network link is full"),
    ],
)
def test_a_peak_with_room_everywhere_names_what_fails_above_it(
    calm: Result, failed_by: str, short: str, says: str
) -> None:
    found = Peak(
        peak_mpps=1, fails_at_mpps=12, failed_by=failed_by, probes=[], results=offering(calm, 11.9)
    )
    run = replace(calm, peak=found)
    assert f"{short} sets this peak: at a higher rate {says}; the stage closest" in verdict(run)
    assert limit(run) == f"{short} (memory bus next)"
    assert f"Mpps does not ({says})" in peaks.peak(found, calm.scenario["traffic"])


def test_a_stage_that_is_full_sets_a_peak() -> None:
    # With four cores, the read credits are as tight as the cores.
    few = {"tenants.0.cores.count": 3, "machine.dram.channels": 2, "traffic.rate": "5 Mpps"}
    short = {"run.warmup": "2 ms", "run.duration": "1 ms"}
    found = api.find_peak("explain-memory", few | short)
    # The percentage is that of the cores, and so said of them.
    assert (found.model.tightest, found.model.cause) == ("cores", "dram")
    share = words.percent(found.rate_mps / found.model.allows["cores"])
    assert verdict(found).startswith(
        f"the memory bus sets this peak: the cores, at {share} of the rate they allow, wait "
        "for it, and at a higher rate "
    )
    assert limit(found) == "memory bus"
    assert marks(found) == {"cores": "waits", "dram": "limits"}
    assert {g.badge: g.stage for g in picture(found).gauges}["LIMITS"] == "dram"


FULL_LINK = {
    "machine.nic.link": "200 Gbps",
    "machine.pcie.max_payload": "512 B",
    "tenants.0.app": {"kind": "l2fwd"},
    "traffic.sizes.size": "1024 B",
    "run.warmup": "500 us",
    "run.duration": "500 us",
}
"""A PCIe link that carries 12.1 Mpps, before which writes wait that hold credits."""


def marks(result: Result) -> dict[str, str]:
    return {u.name: mark_of(result, u.name) for u in result.model.used if mark_of(result, u.name)}


def test_what_a_full_stage_drops_is_not_called_bursts() -> None:
    run = api.run("explain-cpu", FULL_LINK | {"traffic.rate": "12.0 Mpps",
                  "machine.nic.sram": "64 KiB"})  # fmt: skip
    # All that is offered is done but for less than what comes by chance.
    assert 0 < run.drop_share < 0.02
    assert run.limit is Limit.STAGE
    assert verdict(run).startswith("the PCIe link limits this run: ")
    assert verdict(run).endswith(f"{words.percent(run.drop_share)} of the packets are dropped.")
    assert (limit(run), mark(run)) == ("PCIe link", "limits")


def test_a_full_stage_that_loses_nothing_leaves_no_more_rate_to_gain() -> None:
    run = api.run("explain-cpu", FULL_LINK | {"traffic.rate": "12.0 Mpps"})
    assert (run.drop_share, run.limit) == (0, Limit.FULL)
    assert verdict(run) == (
        "the I/O write credits are full, at 100 % of the rate they allow, and wait for the "
        "PCIe link: there is no headroom left."
    )
    assert limit(run) == "PCIe link"
    assert marks(run) == {"io-credits": "waits", "pcie": "limits"}
    said = " ".join(hints(run, run.helps))
    assert "The I/O write credits can do no more, but all of this load gets through, so" in said
    assert "No stage limits" not in said
    room = api.run("explain-cpu", FULL_LINK | {"traffic.rate": "11.2 Mpps"})
    assert verdict(room).startswith("the offered load limits this run; the stage closest")
    assert room.limit is Limit.LOAD


def test_a_full_link_into_the_nic_drops_nothing_of_what_it_brings(calm: Result) -> None:
    came = calm.data.packets
    done = {"completed": came.offered, "completed_mpps": came.offered_mpps}
    lossy = with_packets(calm, drop_share=0.001, dropped_sram=9, dropped_no_descriptor=0, **done)
    span_ps = int(calm.data.measured_ns * 1e3)
    wire = calm.data.domains[0].model_copy(
        update={"domain": "wire", "unit": "frame", "credits": 1, "busy_ps": span_ps}
    )

    def by(frames: int) -> Result:
        domains = [wire.model_copy(update={"uses": frames}), *calm.data.domains[1:]]
        full = replace(lossy, data=lossy.data.model_copy(update={"domains": domains}))
        assert full.model.tightest == "wire"
        return full

    assert limit(by(came.offered)) == "bursts (wire next)"
    # What it carries away keeps packets in the NIC.
    assert limit(by(came.offered - 9)) == "wire"


def test_the_share_is_said_of_the_stage_whose_it_is(calm: Result) -> None:
    spent = {"home-trackers": 60.0, "dram": 0.0, "io-credits": 40.0}
    rate = calm.mpps / 0.9
    model = replace(calm.model, demand=calm.mpps, others={},
                    pools={"io-credits": Pool(rate, 10, spent)},
                    memory=replace(calm.model.memory, own_trackers=1.0))  # fmt: skip
    run = replace(calm)
    vars(run)["model"] = model
    assert (
        "; the stage closest to its limit, the I/O write credits, is at 90.0 % of the rate it "
        "allows and waits for the LLC home trackers."
    ) in verdict(run)
    assert marks(run) == {"io-credits": "waits", "home-trackers": "next"}


def offering(run: Result, mpps: float) -> Results:
    """The numbers of a run in which so many packets a second came."""
    packets = run.data.packets.model_copy(update={"offered_mpps": mpps})
    return run.data.model_copy(update={"packets": packets})


def test_a_peak_that_fell_behind_by_chance_tells_what_was_offered(calm: Result) -> None:
    found = Peak(peak_mpps=2.60, fails_at_mpps=2.68, failed_by="rate", probes=[],
                 results=offering(calm, 2.65))  # fmt: skip
    said = peaks.peak(found, calm.scenario["traffic"])
    assert said.startswith("Peak: 2.60 Mpps of 2.65 offered holds, 2.68 Mpps does not (")


def test_a_peak_at_the_line_rate_names_no_rate_that_fails(calm: Result) -> None:
    found = Peak(peak_mpps=11.9, failed_by="link", probes=[], results=offering(calm, 11.9))
    says = (
        "Peak: 11.9 Mpps holds, at the line rate (the network link is full); 0 rates tried. "
        "The p99 comes from 240,000 packets; to see how much of it is chance, try other seeds "
        "(compare --peak --vary run.seed=1,2,3)."
    )
    assert peaks.peak(found, calm.scenario["traffic"]) == says


@pytest.mark.parametrize(
    ("peak", "fails", "told"),
    [(27.21, 27.24, "27.21 Mpps holds, 27.24"), (27.2, 27.8, "27.2 Mpps holds, 27.8"),
     (1234.2, 1234.4, "1,234.2 Mpps holds, 1,234.4"), (151.2, 151.8, "151 Mpps holds, 152"),
     (150.6, 151.4, "150.6 Mpps holds, 151.4"), (2.0, 1.99, "2.00 Mpps holds, 1 % more"),
     (2.0, 2.0, "2.00 Mpps holds, 1 % more")],
)  # fmt: skip
def test_a_peak_and_the_rate_that_fails_are_seen_to_differ(
    calm: Result, peak: float, fails: float, told: str
) -> None:
    found = Peak(peak_mpps=peak, fails_at_mpps=fails, failed_by="p99", probes=[],
                 results=offering(calm, peak))  # fmt: skip
    said = peaks.peak(found, calm.scenario["traffic"]).replace(" Mpps does not", " does not")
    assert f"Peak: {told} does not (" in said
    # At a prompt it is its numbers, and not the whole run.
    assert repr(found) == (
        f"Peak(peak_mpps={peak}, rate_mpps=None, rate_gbps=None, fails_at_mpps={fails}, "
        "failed_by='p99')"
    )


@pytest.mark.parametrize(
    ("traffic", "rate"),
    [({"kind": "replay", "rate": "100 Gbps"}, "61.23 Gbps"), ({"kind": "replay"}, "61.23 Gbps"),
     ({"kind": "poisson", "rate": "9 Gbps"}, "61.23 Gbps"),
     ({"kind": "poisson", "rate": "9 Mpps"}, ""), ({"kind": "replay", "rate": "9 Mpps"}, "")],
)  # fmt: skip
def test_a_peak_of_traffic_in_bits_can_be_put_back(
    calm: Result, traffic: dict[str, str], rate: str
) -> None:
    found = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", rate_gbps=61.2399, probes=[],
                 results=offering(calm, 1))  # fmt: skip
    run = replace(calm, peak=found, scenario=calm.scenario | {"traffic": traffic})
    told = f' (traffic.rate = "{rate}") holds' if rate else "Mpps holds"
    assert told in peaks.peak(found, traffic)
    assert (f"sets this peak of {rate} on the wire: at" in verdict(run)) == bool(rate)


def test_a_peak_that_bears_drops_says_what_was_offered(calm: Result) -> None:
    update = {"offered_mpps": 20.0, "drop_share": 0.4}
    data = calm.data.model_copy(update={"packets": calm.data.packets.model_copy(update=update)})
    found = Peak(peak_mpps=12, fails_at_mpps=21, failed_by="drops", probes=[], results=data)
    assert peaks.peak(found, calm.scenario["traffic"]).startswith(
        "Peak: 12.0 Mpps of 20.0 offered holds, 21.0 Mpps does not"
    )


def with_packets(result: Result, **change: float) -> Result:
    packets = result.data.packets.model_copy(update=change)
    return replace(result, data=result.data.model_copy(update={"packets": packets}))


def test_one_full_core_beside_idle_ones_is_told(calm: Result) -> None:
    span_ps = int(calm.data.measured_ns * 1e3)
    time = calm.data.core_time.model_copy(
        update={"busiest_ps": int(0.97 * span_ps), "busy_ps": 6 * span_ps}
    )
    packets = calm.data.packets.model_copy(update={"drop_share": 0.15})
    run = replace(calm, data=calm.data.model_copy(update={"core_time": time, "packets": packets}))
    assert limit(run) == "one core"
    assert (
        "dropped while one core is saturated (97.0 % busy; the mean of all is 25.0 %)"
    ) in verdict(run)


@pytest.mark.parametrize(("kind", "rate"), [("constant", "668 kpps"), ("poisson", "700 kpps")])
def test_a_core_that_is_offered_a_little_more_than_it_can_do_limits(kind: str, rate: str) -> None:
    # It does 654; no packet is dropped yet.
    overrides = {"tenants.0.cores.count": 1, "traffic.kind": kind, "traffic.rate": rate}
    run = api.run("explain-cpu", overrides | {"run.duration": "1 ms"})
    assert limit(run) == "cores"
    assert verdict(run).startswith("the cores limit this run: 1 core / (1.00 per packet")


def test_drops_and_a_backlog_are_not_laid_on_a_stage_with_room(calm: Result) -> None:
    late = with_packets(calm, completed=int(0.9 * calm.data.packets.offered))
    assert verdict(late).startswith(
        "completions fall behind arrivals; the stage closest to its limit, the"
    )
    assert limit(late) == "growing backlog (memory bus next)"
    for change, why in (({"dropped_sram": 9}, "the NIC input SRAM has no room"),
                        ({"dropped_no_descriptor": 9}, "no receive descriptor is free"),
                        ):  # fmt: skip
        none = {"dropped_sram": 0, "dropped_no_descriptor": 0}
        lossy = with_packets(calm, drop_share=0.001, **none | change)
        assert verdict(lossy).startswith(
            f"0.100 % of the packets are dropped during bursts, when {why}; the stage closest"
        )
        assert limit(lossy) == "bursts (memory bus next)"


def test_even_arrivals_are_not_called_bursts(calm: Result) -> None:
    lossy = with_packets(calm, drop_share=0.001, dropped_sram=9, dropped_no_descriptor=0)
    lasts = {"on": "1 ms", "off": "1 ms"}
    for kind, bursts in (("constant", False), ("poisson", True), ("bursts", True),
                         ("replay", True), ("closed-loop", True)):  # fmt: skip
        run = replace(lossy, scenario=calm.scenario | {"traffic": {"kind": kind, **lasts}})
        assert ("dropped during bursts, when the NIC" in verdict(run)) == bursts
        assert limit(run).startswith("bursts" if bursts else "drops")
        unexplained = "the NIC input SRAM has no room, which no counter explains: packets"
        assert (unexplained in verdict(run)) != bursts


def test_a_run_in_which_no_packet_arrives_says_when_the_next_comes(packetless: Result) -> None:
    packets = packetless.data.packets.model_copy(update={"next_arrival_ns": 11e6})
    work = {"packets": packets, "tenants": [
        t.model_copy(update={"progress_mps": 0.0}) for t in packetless.data.tenants
    ]}  # fmt: skip
    run = replace(packetless, data=packetless.data.model_copy(update=work))
    assert verdict(run) == "no packet arrives; the next comes at 11.0 ms."
    # What came before has been completed or dropped meanwhile.
    before = {"completed": 950, "dropped_sram": 50, "drop_share": 0.05, "next_arrival_ns": 11e6}
    assert verdict(with_packets(run, offered=0, **before)) == (
        "no packet arrives; the next comes at 11.0 ms. 5.00 % of the packets are dropped."
    )


def test_a_benchmark_waits_for_no_packet() -> None:
    late = {"traffic.rate": "1 pps", "run.warmup": "100 us", "run.duration": "200 us"}
    run, nothing = (api.run(name, late) for name in ("sweeper-collocation", "sweeper-kvs"))
    assert run.data.packets.next_arrival_ns is not None
    # What comes is counted in packets, and what is done in accesses.
    assert run.model.rate > 0.5 * run.rate_mps
    assert verdict(run).startswith("no packet arrives; the next comes at ")
    assert (limit(run), mark(run)) == (limit(nothing), mark(nothing))
    assert not any("`nic2core peak DIR" in hint for hint in hints(run, run.helps))
    assert verdict(nothing).startswith("no packet arrives; the next comes at ")
    assert nothing.helps == [], "there is no work that a change could help"


def test_the_fullest_core_is_called_one_where_another_stage_is_named() -> None:
    alone = {"tenants.1.cores.count": 0, "run.warmup": "300 us", "run.duration": "300 us"}
    alone |= {"traffic.rate": "90 Mpps", "tenants.0.app.packet_instructions": 50}
    run = api.run("sweeper-collocation", alone)
    assert (run.model.full, run.model.cause) == ("cores", "dram")
    said = verdict(run)
    assert said.startswith("the memory bus limits this run: the busiest of 12 cores is busy 100 % ")
    assert "; waiting for the memory bus takes " in said
    assert " of a core's time for each packet" in said


def test_a_run_that_completes_nothing_names_no_stage(calm: Result) -> None:
    packets = {"completed": 0, "completed_mpps": 0.0, "drop_share": 1.0, "dropped_sram": 122_000}
    none = with_packets(calm, **packets)
    assert verdict(none) == (
        "no packet completes: 100 % are dropped because the NIC input SRAM has no room."
    )
    assert (limit(none), mark(none)) == ("drops", "")
    assert none.helps == [], "there is no work that a change could help"
    assert not any("--check" in hint for hint in hints(none, none.helps))


def test_what_is_awaited_though_the_load_gets_through_is_told() -> None:
    short = {"run.warmup": "200 us", "run.duration": "200 us", "traffic.rate": "2 Mpps"}
    busy = api.run("explain-trackers", short)
    assert busy.verdict.startswith("The offered load limits this run")
    said = "for the LLC home trackers 100 % of the time."
    assert busy.verdict.endswith(f"What waits, though throughput does not suffer: {said}")
    alone = api.run("explain-trackers", {"tenants.1.cores.count": 0, **short})
    assert "What waits" not in alone.verdict


def test_completions_that_wait_for_others_are_told(calm: Result) -> None:
    total = calm.total_latency
    assert total is not None

    def told(share: float) -> str:
        packets = calm.data.packets.model_copy(update={"gathering_ns": share * total.mean_ns})
        run = replace(calm, data=calm.data.model_copy(update={"packets": packets}))
        return run.verdict

    assert (
        f", a packet's completion waits {words.time(0.3 * total.mean_ns)} for others of "
        in told(0.3)
    )
    assert told(0.1) == calm.verdict


def test_drops_of_the_switch_are_none_of_the_server(calm: Result, closed_loop: Result) -> None:
    assert closed_loop.data.transport is not None
    open_windows = {"dropped_switch": 1_400, "mean_window": 50.0}
    transport = closed_loop.data.transport.model_copy(update=open_windows)
    data = calm.data.model_copy(update={"transport": transport})
    run = replace(calm, data=data, scenario=closed_loop.scenario)
    said = verdict(run)
    assert said.startswith("the offered load limits this run")
    assert said.endswith(" 10.0 % are dropped by the switch.")
    assert limit(run).startswith("offered load")


def test_packets_that_are_still_on_their_way_are_not_dropped(calm: Result) -> None:
    run = with_packets(calm, completed=0, completed_mpps=0.0)
    assert verdict(run) == "the run does no work."
    assert limit(run) == "nothing"
    few = {
        "offered": 100, "dropped_sram": 3, "dropped_no_descriptor": 0, "in_flight_end": 97,
        "drop_share": 0.03,
    }  # fmt: skip
    run = with_packets(calm, completed=0, completed_mpps=0.0, **few)
    assert verdict(run) == "the run does no work. 3.00 % of the packets are dropped."
    assert limit(run) == "nothing"


def test_a_queue_of_writes_that_is_full_before_its_walkers_is_told() -> None:
    # All six TLPs of a packet wait for one walk, so four places keep one walker of six busy.
    short = {"run.warmup": "1 ms", "run.duration": "1 ms", "traffic.rate": "8 Mpps"}
    queue = {"machine.iommu.walkers": 6, "machine.iommu.posted_queue": 4}
    found = api.run("explain-iommu", {**queue, **short, "traffic.sizes.size": "1500 B"})
    assert found.model.full == "iommu"
    walkers = found.model.use("iommu")
    assert walkers.allows_mps > 1.1 * found.model.allows["iommu"]
    share = words.percent(found.rate_mps / found.model.allows["iommu"])
    assert verdict(found).startswith(
        f"the IOMMU limits this run: its queue of 4 writes is {share} full of those that wait for "
        f"page walks: {words.three(found.model.allows['iommu'])} M packets/s."
    )


def test_a_few_packets_on_their_way_are_no_backlog(calm: Result) -> None:
    for completed, by in ((97, Limit.LOAD), (60, Limit.BACKLOG)):
        assert with_packets(calm, offered=100, completed=completed).limit is by
    assert with_packets(calm, offered=1_000_000, completed=979_000).limit is Limit.BACKLOG


def test_waits_of_credits_that_limit_by_themselves_are_told() -> None:
    sets = {"machine.iommu.step_latency": "150 ns", "machine.pcie.max_payload": "512 B"}
    short = {"run.warmup": "5 ms", "run.duration": "2 ms"}
    said = verdict(api.run("host-congestion", sets | short))
    assert said.startswith("the I/O write credits limit this run: 88 usable lines / (")
    waits = re.search(r"time includes ([\d.]+) ns of waiting for the PCIe link and (\S+) ns", said)
    assert waits is not None, said
    # Most is the way itself, 300 ns of some 450, and the IOMMU's part is less than a tenth.
    link, iommu = float(waits[1]), float(waits[2])
    assert 100 < link < 180, said
    assert 20 < iommu < 48, said
    assert "ns for the IOMMU" in said


def test_what_is_waited_for_is_followed_to_the_end(calm: Result) -> None:
    domains = [("tx-fetches", 1.0), ("read-credits", 1.0), ("wire", 0.99), ("dram", 0.1)]
    used = [replace(calm.model.used[0], name=name, load=load, credits=4, uses_per_work=1.0,
                    latency_ns=1e3, own_ns=1e3, core=None, short_core=None)
            for name, load in domains]  # fmt: skip
    used += [u for u in calm.model.used if u.name in {"home-trackers", "read-queue"}]
    turns = Pool(4, 1.0, {"tx-fetches": 200.0, "read-credits": 800.0})
    reads = Pool(8, 1.0, {"read-credits": 500.0, "wire": 1500.0})
    model = replace(calm.model, used=used, others={"wire": 4.04},
                    pools={"tx-fetches": turns, "read-credits": reads}, demand=inf)  # fmt: skip
    assert model.way_to_cause("tx-fetches") == ["tx-fetches", "read-credits", "wire"]
    assert (model.tightest, model.cause) == ("tx-fetches", "wire")
    result = replace(calm)
    result.__dict__["model"] = model
    result.__dict__["limit"] = Limit.STAGE
    assert verdict(result).startswith("the wire limits this run: 4 ")
    told = (
        "; waiting for the I/O read credits takes 800 ns of that time, and these wait for the wire."
    )
    assert told in verdict(result)
    # Two that name each other end the search.
    loop = replace(model, pools={"tx-fetches": turns, "read-credits": replace(
        reads, spent_ns={"read-credits": 500.0, "tx-fetches": 1500.0})})  # fmt: skip
    assert loop.way_to_cause("tx-fetches") == ["tx-fetches", "read-credits"]


def test_a_run_without_packets_drops_none_to_compare(ddio: Result, packetless: Result) -> None:
    told = [*differences(ddio, packetless), summary(ddio, packetless)]
    assert ddio.drop_share > 0
    assert not [line for line in told if "drop" in line]
