from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nic2core import Result, api, names, words
from nic2core.describe import peaks
from nic2core.describe.differences import differences, overview, summary
from nic2core.describe.headline import side_by_side
from nic2core.explain.limit import CARRIED
from nic2core.results.bases import is_read
from nic2core.results.models import Peak, Probe
from nic2core.results.peak_rate import rate_to_set
from nic2core.scenario.quantity import nanoseconds

if TYPE_CHECKING:
    from nic2core.results.models import CauseTraffic, Results


def test_every_cause_of_memory_traffic_either_reads_or_writes() -> None:
    # Lines that are evicted are written.
    writes = {cause for cause in names.CAUSES if cause.endswith(("-wr", "-evct"))}
    assert {cause for cause in names.CAUSES if not is_read(cause)} == writes


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0.0, "0 ns"), (0.5, "0.500 ns"), (999.0, "999 ns"), (999.6, "1.00 µs"), (1000.0, "1.00 µs"),
     (42_000.0, "42.0 µs"), (5e6, "5.00 ms"), (2e9, "2.00 s")],
)  # fmt: skip
def test_a_time_has_the_unit_that_fits(ns: float, text: str) -> None:
    assert words.time(ns) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (3.2e-5, "< 0.001"), (0.01, "0.0100"), (0.001234, "0.00123"), (0.9996, "1.00"),
     (633.5, "634"), (0.6335, "0.634"), (9.996, "10.0"), (99.96, "100"),
     (1234.5, "1,234"), (-0.5, "-0.500")],
)  # fmt: skip
def test_a_number_has_three_significant_figures(value: float, text: str) -> None:
    assert words.three(value) == text


def test_few_drops_are_not_none() -> None:
    assert words.percent(0.0) == "0 %"
    assert words.percent(1e-7) == "< 0.01 %"
    assert words.percent(0.139) == "13.9 %"
    assert words.percent(0.9994) == "99.9 %"
    assert words.percent(0.9996) == "over 99.9 %"
    assert words.percent(1.0) == "100 %"


@pytest.mark.parametrize(
    ("sram", "rings", "says"), [(3, 0, "SRAM"), (0, 2, "rings"), (1, 2, "rings, SRAM")]
)
def test_where_packets_find_no_room_is_told(ddio: Result, sram: int, rings: int, says: str) -> None:
    dropped = {"dropped_sram": sram, "dropped_no_descriptor": rings}
    packets = ddio.data.packets.model_copy(update=dropped)
    assert words.no_room_in(packets) == says
    both = "rings 66.7 %, SRAM 33.3 %"
    assert words.no_room_in(packets, shares=True) == (both if sram and rings else says)


def test_where_an_objective_comes_from_is_told_unless_it_was_set(ddio: Result) -> None:
    probe = Probe(
        offered_mpps=2.0,
        completed_mpps=2.0,
        drop_share=0.0,
        p99_ns=900.0,
        p99_limit_ns=3570.0,
        holds=True,
    )
    found = Peak(peak_mpps=2.0, failed_by="p99", probes=[probe], results=ddio.data)
    slo = {"p99_service_times": 100, "drops": "0 %"}
    assert (
        "The p99 objective was 3.57 µs: 100 times the mean service time of 35.7 ns at"
        in peaks.objective(found, slo)
    )
    assert peaks.objective(found, {**slo, "p99": "20 us"}) == ""


def slower(run: Result, times: float) -> Results:
    packets = run.data.packets
    less = {k: getattr(packets, k) / times for k in ("completed_mpps", "completed_gbps")}
    return run.data.model_copy(update={"packets": packets.model_copy(update=less)})


def test_next_to_no_memory_traffic_is_not_compared(ddio: Result) -> None:
    def with_traffic(gbytes_per_s: float) -> Result:
        used = {"bandwidth_gbytes_per_s": gbytes_per_s}
        memory = ddio.data.memory.model_copy(update=used)
        return replace(ddio, data=ddio.data.model_copy(update={"memory": memory}))

    bus = ddio.data.memory.bus_limit_gbytes_per_s
    assert "memory traffic" not in summary(with_traffic(0.0001 * bus), with_traffic(0.009 * bus))
    assert "memory traffic" in summary(with_traffic(0.0001 * bus), with_traffic(0.011 * bus))
    # It is much all the same if the packets carry less.
    packets = ddio.data.packets.model_copy(update={"completed_gbps": 0.05 * bus})
    slow = replace(ddio, data=ddio.data.model_copy(update={"packets": packets}))
    memory = slow.data.memory.model_copy(update={"bandwidth_gbytes_per_s": 0.009 * bus})
    leaks = replace(slow, data=slow.data.model_copy(update={"memory": memory}))
    gone = memory.model_copy(update={"bandwidth_gbytes_per_s": 0.0001 * bus})
    fits = replace(slow, data=slow.data.model_copy(update={"memory": gone}))
    assert "causes 99 % less memory traffic" in summary(leaks, fits)
    assert "times the memory traffic" in summary(fits, leaks)


def test_many_runs_are_told_in_a_sentence(ddio: Result, sweeper: Result) -> None:
    assert overview([ddio, sweeper]) == ""
    more = replace(sweeper, label="more")
    assert overview([ddio, sweeper, more]).startswith(
        "DDIO, 2 ways, Sweeper and more are fastest at 24.4 M packets/s, 17 % more than the "
        "slowest, DDIO, 2 ways; the limit"
    )
    late = replace(ddio, label="late", data=slower(ddio, 37))
    assert "at 20.9 M packets/s, 37 times the slowest, late" in overview([ddio, ddio, late])
    # What the fastest drops is part of how fast it is.
    drops = sweeper.data.packets.model_copy(update={"drop_share": 0.25})
    lossy = replace(more, data=sweeper.data.model_copy(update={"packets": drops}))
    said = overview([ddio, replace(sweeper, data=slower(sweeper, 2)), lossy])
    assert "; more loses 25.0 % of the packets, " in said
    assert " loses " not in overview([ddio, sweeper, more])
    # Packets of another size are not as much work.
    packets = sweeper.data.packets.model_copy(update={"offered_mpps": 5.0})
    large = replace(
        sweeper, label="large", data=sweeper.data.model_copy(update={"packets": packets})
    )
    assert "Gbit/s, " in overview([ddio, ddio, large])
    assert "completes 14 % less traffic" in summary(large, ddio)
    assert "requests" not in summary(large, ddio)
    same = [replace(ddio, label=str(n)) for n in range(3)]
    limit = "all are limited by the memory bus"
    assert overview(same) == f"all runs perform about the same, 20.9 M packets/s; {limit}"
    spread = sweeper.total_latency
    assert spread is not None
    latency = [s for s in ddio.data.latency if s.stage != "total"]
    latency += [s for s in sweeper.data.latency if s.stage == "total"]
    fast = replace(ddio, label="fast", data=ddio.data.model_copy(update={"latency": latency}))
    said = overview([*same[:2], fast])
    slow, quick = (words.time(r.p99_ns or 0) for r in (ddio, fast))
    told = "throughput is about the same, 20.9 M packets/s"
    assert said == f"{told}; the p99 ranges from {slow} (0) to {quick} (fast); {limit}"
    # Where more differs, what differs most is told.
    memory = ddio.data.memory.model_copy(update={"bandwidth_gbytes_per_s": 0.02})
    spared = replace(ddio, label="ideal", data=ddio.data.model_copy(update={"memory": memory}))
    said = overview([same[0], fast, spared])
    assert said.startswith(
        f"{told}; memory traffic ranges from 51.8 GB/s (0) to 0.0200 GB/s (ideal); "
    )
    # But little is no traffic, however many times it is less.
    idle = [
        replace(r, data=r.data.model_copy(update={"memory": memory.model_copy(update={
            "bandwidth_gbytes_per_s": gbytes
        })}))
        for r, gbytes in zip(same, (0.2, 0.1, 0.001), strict=True)
    ]  # fmt: skip
    assert overview(idle).startswith("all runs perform about the same, 20.9 M packets/s; ")


def test_controls_with_the_same_goodput_are_told_apart(closed_loop: Result) -> None:
    transport = closed_loop.data.transport
    assert transport is not None

    def run(label: str, lost_share: float) -> Result:
        update = {"transport": transport.model_copy(update={"lost_share": lost_share})}
        return replace(closed_loop, label=label, data=closed_loop.data.model_copy(update=update))

    said = overview([run("a", 0.03), run("b", 0.03), run("c", 0.09)])
    assert "throughput is about the same" in said
    assert "; loss ranges from 3.00 % (a) to 9.00 % (c); " in said
    said = overview([run("a", 0.001), run("b", 0.002), run("c", 0.003)])
    assert said.startswith("all runs perform about the same")


def test_a_neighbour_that_is_slowed_is_told() -> None:
    short = {"run.warmup": "100 us", "run.duration": "100 us", "traffic.rate": "1 Mpps"}
    with warnings.catch_warnings(action="ignore"):
        run = api.run("explain-trackers", short)
    server, stream = run.data.tenants
    rates = stream.stream_gbytes_per_s_by_core
    assert rates is not None

    def at(share: float, label: str) -> Result:
        slowed = {"stream_gbytes_per_s_by_core": [share * rate for rate in rates]}
        tenants = [server, stream.model_copy(update=slowed)]
        return replace(run, label=label, data=run.data.model_copy(update={"tenants": tenants}))

    stream_name = f"STREAM ({stream.name})"
    whole, half = (f"{words.three(share * sum(rates))} GB/s" for share in (1, 0.5))
    said = overview([at(0.5, "a"), at(0.8, "b"), at(1, "c")])
    ranges = f"; {stream_name} ranges from {half} (a) to {whole} (c); "
    assert ranges in said
    # Also where the packets' rates differ.
    whole_run = at(1, "d")
    slow = replace(whole_run, data=slower(whole_run, 2))
    said = overview([at(0.5, "a"), at(1, "c"), slow])
    assert "100 % more than the slowest, d" + ranges in said
    told = f"; {stream_name} does {whole} instead of {half}; both"
    assert told in summary(at(0.5, "a"), slow)
    assert stream_name not in summary(at(0.95, "a"), slow)


def test_differences_are_named_with_their_size(ddio: Result, sweeper: Result) -> None:
    said = differences(ddio, sweeper)
    assert "completed: 20.9 → 24.4 Mpps (+17 %)" in said
    assert "receive buffers evicted: 14.6 → 0.120 lines per request (-99 %)" in said
    assert "limited by: memory bus → cores" in said


def test_a_run_does_not_differ_from_itself(ddio: Result) -> None:
    assert differences(ddio, ddio) == []


@pytest.mark.parametrize(
    ("carried", "said"),
    [
        (100.4, []),
        (99.6, []),
        (100.6, ["memory traffic: 100 → 101 GB/s (+1 %)"]),
        (99.4, ["memory traffic: 100 → 99.4 GB/s (-1 %)"]),
    ],
)
def test_what_changes_by_no_percent_is_left_out(
    ddio: Result, carried: float, said: list[str]
) -> None:
    def with_traffic(gbytes_per_s: float) -> Result:
        memory = ddio.data.memory.model_copy(update={"bandwidth_gbytes_per_s": gbytes_per_s})
        return replace(ddio, data=ddio.data.model_copy(update={"memory": memory}))

    assert differences(with_traffic(100.0), with_traffic(carried)) == said


def test_what_a_neighbour_does_to_packets_is_told_beside_its_own_lines(ddio: Result) -> None:
    more = {"cpu-other-rd": 50.0, "other-evct": 40.0, "prefetch-rd": 30.0, "rx-evct": 1.0}
    memory, io = ddio.data.memory, ddio.data.io
    assert io is not None
    assert io.write_hits is not None
    assert io.write_misses is not None

    def with_more(cause: CauseTraffic) -> CauseTraffic:
        lines = (cause.per_request or 0.0) + more.get(cause.cause, 0.0)
        return cause.model_copy(update={"per_request": lines})

    causes = [with_more(c) for c in memory.causes]
    fewer = {"write_hits": 0, "write_misses": io.write_hits + io.write_misses}
    data = ddio.data.model_copy(
        update={
            "memory": memory.model_copy(update={"causes": causes}),
            "io": io.model_copy(update=fewer),
        }
    )
    said = differences(ddio, replace(ddio, data=data))
    assert [s.partition(":")[0] for s in said] == [
        "DMA writes that hit", "core reads application data", "application data evicted",
        "receive buffers evicted",
    ]  # fmt: skip


def test_a_share_of_drops_that_changes_by_no_percent_is_left_out(ddio: Result) -> None:
    def with_drops(share: float) -> Result:
        packets = ddio.data.packets.model_copy(update={"drop_share": share})
        return replace(ddio, data=ddio.data.model_copy(update={"packets": packets}))

    assert differences(with_drops(0.139), with_drops(0.1395)) == []
    assert differences(with_drops(0.139), with_drops(0.15)) == ["dropped packets: 13.9 % → 15.0 %"]
    assert differences(with_drops(0.0), with_drops(1e-7)) == ["dropped packets: 0 % → < 0.01 %"]


def test_the_summary_says_more_or_less(ddio: Result, sweeper: Result) -> None:
    there, back = summary(ddio, sweeper), summary(sweeper, ddio)
    assert "17 % more requests and causes 41 % less memory traffic" in there
    assert "14 % fewer requests and causes 68 % more memory traffic" in back


def test_numbers_that_only_one_run_has_shift_no_others(ddio: Result, closed_loop: Result) -> None:
    runs_and_goodputs = (([ddio, closed_loop], ["-", "75.0"]), ([closed_loop, ddio], ["75.0", "-"]))
    for runs, goodput in runs_and_goodputs:
        rows = {number.name: values for number, values in side_by_side(runs)}
        assert next(iter(rows.items())) == ("goodput", goodput)
        assert rows["completed"] == ["20.9", "20.9"]


def test_a_sentence_begins_with_a_capital_unless_a_key_or_a_percentile_does() -> None:
    assert words.sentence("most cores are busy") == "Most cores are busy"
    assert words.sentence("p99 differs") == "p99 differs"
    assert words.sentence("rx_descriptors=256 does most") == "rx_descriptors=256 does most"


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0.0, "0 ms"), (1.0, "0.1 ms"), (1e6, "1 ms"), (1.23e6, "1.3 ms"), (9.9e11, "990 s"),
     (1e9, "1000 ms"), (1.0001e9, "1.1 s"), (9.876543218e11, "987.7 s")],
)  # fmt: skip
def test_a_time_that_is_enough_is_rounded_up_and_can_be_set(ns: float, text: str) -> None:
    assert words.at_least(ns) == text
    sets = {"run.warmup": text, "run.duration": "1 ms"}
    assert nanoseconds(api.load("demo", sets).run.warmup) >= ns


@pytest.mark.parametrize(
    ("mpps", "told"),
    [
        (0.3, "0.3 Mpps"),
        (12345.6, "12340 Mpps"),
        (8.7659e-5, "0.00008765 Mpps"),
        (120.0, "120 Mpps"),
    ],
)
def test_a_rate_that_was_found_can_be_set(ddio: Result, mpps: float, told: str) -> None:
    found = Peak(peak_mpps=1.0, rate_mpps=mpps, failed_by="p99", probes=[], results=ddio.data)
    assert rate_to_set(found, {"kind": "poisson", "rate": "1 Mpps"}) == told
    assert 0 <= mpps - float(told.split(maxsplit=1)[0]) <= 1e-3 * mpps


@pytest.mark.parametrize(
    ("traffic", "told"),
    [({"kind": "bursts", "rate": "9 Mpps"}, "4.997 Mpps"),
     ({"kind": "bursts", "rate": "9 Gbps"}, "4.956 Gbps"),
     ({"kind": "poisson", "rate": "9 Mpps"}, "")],
)  # fmt: skip
def test_the_rate_of_a_peak_is_that_of_the_scenario(
    ddio: Result, traffic: dict[str, str], told: str
) -> None:
    """For bursts the rate while on, and where drops are allowed more than is completed."""
    found = Peak(peak_mpps=2.48, rate_mpps=4.9975, rate_gbps=4.9568, failed_by="p99", probes=[],
                 results=ddio.data)  # fmt: skip
    said = peaks.peak(found, traffic)
    assert (f' (traffic.rate = "{told}")' in said) == bool(told)
    assert rate_to_set(found, traffic) == (told or "4.997 Mpps")
    assert "try other seeds" in said
    assert "try other values of run.warmup" in peaks.peak(found, {"kind": "replay"})


def test_no_run_is_faster_for_the_packets_that_came_by_chance(calm: Result, ddio: Result) -> None:
    def run(label: str, share: float, of: Result = calm) -> Result:
        packets = of.data.packets
        names = ("completed", "offered", "completed_mpps", "offered_mpps")
        update = {
            name: type(getattr(packets, name))(share * getattr(packets, name)) for name in names
        }
        packets = packets.model_copy(update=update)
        return replace(of, label=label, data=of.data.model_copy(update={"packets": packets}))

    same = [run("a", 1.0), run("b", 0.985), run("c", 1.015)]
    assert {r.limit for r in same} <= CARRIED
    assert overview(same).startswith("all runs perform about the same, ")
    # Where something limits, it is not chance.
    limited = [run("a", 1.0, ddio), run("b", 0.985, ddio), run("c", 1.015, ddio)]
    assert " fastest at " in overview(limited)


def test_what_rounds_to_nothing_is_not_negative() -> None:
    assert [words.signed(value, 1) for value in (-0.04, 0.04, -0.06)] == ["+0.0", "+0.0", "-0.1"]
