"""What makes the numbers of a run doubtful."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from altered import with_full_wire, with_numbers

import nic2core
from nic2core import Result, api, words
from nic2core.describe.doubts import all_doubts, doubts
from nic2core.describe.doubts.drift import drifting
from nic2core.describe.doubts.senders import highest_target
from nic2core.describe.headline import headline
from nic2core.describe.verdict import verdict
from nic2core.engine import version
from nic2core.results.models import Peak, SendersResults

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def crowded() -> Result:
    """DCTCP behind a switch with little room, from the first packet on."""
    return api.run("host-congestion", {
        "machine.iommu.mode": "off", "traffic.control": {"kind": "dctcp"},
        "traffic.network.buffer": "256 KiB", "run.warmup": "3 ms", "run.duration": "2 ms",
    })  # fmt: skip


def test_a_result_of_another_version_is_told_however_it_is_saved(
    ddio: Result, tmp_path: Path
) -> None:
    value = ddio.to_json()
    value["results"]["engine_version"] = "0.0.9"
    Result.from_json(value).save(tmp_path)
    old = Result.load(tmp_path)
    (told,) = set(doubts(old)) - set(doubts(ddio))
    assert told.startswith(f"nic2core 0.0.9 simulated this run, and {nic2core.__version__} may ")
    (both,) = [d for d in all_doubts([ddio, replace(old, label="old")]) if d.warning == told]
    assert both.of == "old: "


@pytest.mark.parametrize("scenario", ["sweeper-l3fwd", "host-congestion"])
def test_a_run_too_short_for_any_packet_is_told(scenario: str) -> None:
    run = api.run(scenario, {"run.warmup": "100 ns", "run.duration": "1 ns"})
    assert "the run does no work" in verdict(run)
    (told,) = (d for d in doubts(run) if "run.duration" in d)
    still = run.data.packets.in_flight_end
    on_the_way = f", with {still} packets on the way at its end" if still else ""
    assert (
        told == f"no packet completed in the 1.00 ns measured{on_the_way}. Increase run.duration."
    )
    assert bool(still) == (scenario == "sweeper-l3fwd")


def test_a_throughput_that_still_changes_is_told_unless_by_chance_or_arrivals(
    calm: Result, closed_loop: Result
) -> None:
    offered = [10.0 + 0.1 * (step % 3) for step in range(40)]

    def told(completed: list[float], arrived: list[float], run: Result = calm) -> list[str]:
        value = run.to_json()
        columns = {"offered": arrived, "completed": completed}
        value["results"]["series"]["columns"] = [
            {"name": name, "unit": "Mpps", "values": values} for name, values in columns.items()
        ]
        value["results"]["packets"]["completed_before"] = 10**9
        changed = replace(run, data=Result.from_json(value | {"scenario": calm.scenario}).data)
        return [doubt for doubt in doubts(changed) if "throughput" in doubt]

    (doubt,) = told([9.0 - 0.05 * step for step in range(40)], offered)
    assert "was 8.52 Mpps in the first half of the measurement and 7.52 Mpps in the sec" in doubt
    assert "Set run.warmup to 10 ms or more." in doubt
    # Rising, and settled early.
    assert told([6.0] * 4 + [8.0] * 36, offered)
    # It changes by less than 5 %, by chance, as the arrivals do, or within too few samples.
    assert not told([8.0] * 20 + [7.7] * 20, offered)
    assert not told([3.0, 15.0, 3.0, 9.0] * 5 + [3.0, 15.0, 6.0, 9.0] * 5, offered)
    assert not told([8.0] * 20 + [7.0] * 20, [8.1] * 20 + [7.1] * 20)
    assert not told([8.0] * 8 + [7.0] * 8, offered[:16])
    # Arrivals of a backlog follow what completes.
    traffic = {**calm.scenario["traffic"], "kind": "backlog", "depth": 1}
    backlog = replace(calm, scenario=calm.scenario | {"traffic": traffic})
    assert told([8.0] * 20 + [7.0] * 20, [8.0] * 20 + [7.0] * 20, backlog)
    # Closed-loop senders are judged by their goodput.
    assert not told([8.0] * 20 + [7.0] * 20, offered, closed_loop)


@pytest.mark.parametrize(
    ("on", "off", "warmup"),
    [("20 us", "20 us", "2 ms"), ("300 us", "300 us", "2 ms"), ("1500 us", "1 ms", "2350 us")],
)
def test_bursts_are_no_change_of_the_throughput(on: str, off: str, warmup: str) -> None:
    run = api.run("explain-cpu", {
        "traffic": {
            "kind": "bursts", "rate": "4 Mpps", "on": on, "off": off, "flows": 1000,
            "sizes": {"kind": "fixed", "size": "256 B"},
        },
        "run.warmup": warmup, "run.duration": "3 ms",
    })  # fmt: skip
    assert drifting(run) is None


def test_a_benchmark_that_fills_the_caches_shows_in_the_throughput() -> None:
    cold = drifting(api.run("explain-memory", {"run.warmup": "0 us"}))
    assert cold is not None
    assert "16 ms or more" in cold.text


def test_what_the_switch_drops_is_told(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None
    assert (transport.dropped_switch > 1000, transport.dropped_server) == (True, 0)
    share = words.percent(transport.dropped_switch / transport.sent)
    shown = {n.name: f"{n.value} {n.unit}" for n in headline(crowded)}
    assert shown["dropped by the switch"] == share
    assert shown["dropped"] == "0 %"
    assert f"{share} are dropped by the switch" in verdict(crowded)


def test_dctcp_without_marks_is_told(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None

    def told(network: str | None, nic: str | None, kind: str = "dctcp") -> list[str]:
        scenario: dict[str, Any] = deepcopy(crowded.scenario)
        scenario["traffic"]["network"]["ecn_threshold"] = network
        scenario["traffic"]["control"]["kind"] = kind
        scenario["machine"]["nic"]["ecn_threshold"] = nic
        hears = transport.model_copy(update={"hears_marks": kind == "dctcp"})
        data = crowded.data.model_copy(update={"transport": hears})
        found = doubts(replace(crowded, scenario=scenario, data=data))
        return [doubt for doubt in found if "marks" in doubt and "slow down" not in doubt]

    assert told("64 KiB", None) == told(None, "64 KiB") == told("64 KiB", None, "swift") == []
    (doubt,) = told(None, None)
    assert 'neither the switch nor the NIC marks packets, so the control "dctcp" reacts' in doubt
    (doubt,) = told("64 KiB", "64 KiB", "swift")
    assert "machine.nic.ecn_threshold changes nothing but the number of marks" in doubt


def test_senders_that_wait_for_too_short_are_told() -> None:
    def told(**sets: Any) -> list[str]:
        keys = {key.replace("__", "."): value for key, value in sets.items()}
        run = {"run.warmup": "4 ms", "run.duration": "4 ms", "run.sample": "1 ms"}
        found = doubts(api.run("host-congestion", {**run, **keys}))
        return [doubt for doubt in found if "declared lost, but arrived" in doubt]

    dctcp = {"traffic__control": {"kind": "dctcp"}}
    (doubt,) = told(**dctcp)
    assert "traffic.recovery.min_timeout = 100 us" in doubt
    assert told(**dctcp, traffic__recovery__min_timeout="1 ms") == []
    # Swift keeps its round trips near the timeout, and 1 % are usual then.
    assert told() == []


def test_cuts_for_losses_where_nothing_was_lost_are_told(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None

    def told(lost: float, cut_by_losses: float) -> list[str]:
        seen: dict[str, Any] = {
            "lost_share": lost, "cut_by_path": 100.0, "cut_by_losses": cut_by_losses,
            "not_lost": round(0.01 * transport.sent), "duplicates": 0, "cut_by_host": None,
        }  # fmt: skip
        data = crowded.data.model_copy(update={"transport": transport.model_copy(update=seen)})
        scenario: dict[str, Any] = deepcopy(crowded.scenario)
        scenario["traffic"]["recovery"]["min_timeout"] = "20 us"
        found = doubts(replace(crowded, scenario=scenario, data=data))
        return [doubt for doubt in found if "declared lost, but arrived" in doubt]

    (doubt,) = told(0.0, 50.0)
    assert "33.3 % of what windows were cut by is due to that. Set it to a longer time." in doubt
    assert told(0.0, 5.0) == told(0.01, 50.0) == []


def test_a_timeout_shorter_than_the_way_is_told() -> None:
    times = {"run.warmup": "200 us", "run.duration": "200 us", "run.sample": "100 us"}
    for timeout, told in (("9 us", True), ("10 us", False)):
        run = api.run("host-congestion", times | {"traffic.recovery.min_timeout": timeout})
        assert any("shorter than the network's delay there and back" in d for d in doubts(run)) is (
            told
        )


def test_windows_that_only_grow_are_told() -> None:
    times = {"run.warmup": "1 ms", "run.duration": "1 ms", "run.sample": "200 us"}
    slow = {"traffic.control.additive_increase": 0.005, "traffic.control.initial_cwnd": 0.1}
    (doubt,) = [d for d in doubts(api.run("host-congestion", times | slow)) if "window grew" in d]
    assert doubt.startswith("no window was cut in the 1.00 ms measured, and the mean window grew")
    # A window that has room for all that is asked for does not grow any more.
    full = {"traffic.control.max_cwnd": 0.1, "traffic.control.initial_cwnd": 0.1}
    still = api.run("host-congestion", times | full | {"run.warmup": "12 ms"})
    assert still.data.transport is not None
    assert not any("window grew" in d for d in doubts(still))


def test_dctcp_at_its_least_windows_is_told(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None

    def told(share: float, window: float, marks: str = "marked", **more: object) -> list[str]:
        both = {"marked": 0, "marked_server": 0, marks: round(share * transport.sent)}
        seen = {**both, "mean_window": window, **more}
        marked = transport.model_copy(update=seen)
        data = crowded.data.model_copy(update={"transport": marked})
        traffic = crowded.scenario["traffic"]
        if "by_group" in more:
            traffic = traffic | {"rivals": {"senders": 1, "open_reads": 2}}
        found = doubts(
            replace(crowded, data=data, scenario=crowded.scenario | {"traffic": traffic})
        )
        return [doubt for doubt in found if "slow down no further" in doubt]

    connections = len(transport.connections)
    (doubt,) = told(0.95, 2.5)
    assert (
        f"95.0 % of the packets are marked: {connections} connections near the minimum window of 2"
        in doubt
    )
    assert "keep the queue of the switch above" in doubt
    assert "keep the NIC's SRAM above" in told(0.95, 2.5, "marked_server")[0]
    assert told(0.85, 2.5) == []
    # Of two groups, only the connections that hear marks are counted.
    shape: dict[str, object] = {"first": 0, "count": 1, "goodput_gbps": 1.0, "sent": 1}
    shape |= {"sent_again": 0, "timeouts": 0, "mean_window": 2.5, "fairness": 1.0}
    shape |= {"read_latency": transport.read_latency.model_dump()}
    groups = [
        SendersResults.model_validate(
            shape | {"control": "traffic.control", "hears_marks": hears, "cut_by_host": None}
        )
        for hears in (True, False)
    ]
    (doubt,) = told(0.95, 100.0, by_group=groups)
    assert f"marked: {len(crowded.data.queues)} connection" in doubt
    # Windows that are still large can be cut.
    assert told(0.95, 4.0) == []


def test_windows_that_grow_behind_pauses_are_told() -> None:
    def told(**keys: object) -> list[str]:
        run = {"run.warmup": "2 ms", "run.duration": "6 ms", "machine.iommu.mode": "off"}
        thinks = {"traffic.think": "800 us", "tenants.0.cores.count": 12}
        found = doubts(api.run("host-congestion", {**run, **thinks, **keys}))
        return [doubt for doubt in found if "had not settled" in doubt]

    # Windows begin at one packet and grow by 0.02 a round trip, while the pauses set the goodput.
    (doubt,) = told()
    assert "the mean window went from 1." in doubt
    assert told(**{"traffic.control.initial_cwnd": 4.0}) == []


def test_pauses_too_long_for_the_run_are_told() -> None:
    def told(think: str) -> list[str]:
        run = {"run.warmup": "1 ms", "run.duration": "1 ms", "tenants.0.cores.count": 2}
        return doubts(api.run("host-congestion", {**run, "traffic.think": think}))

    found = [doubt for doubt in told("1 s") if "before they ask for the next" in doubt]
    assert found
    assert "completed in the 1.00 ms measured, because threads think for 1.00 s" in found[0]
    assert not [doubt for doubt in told("1 s") if "a packet takes longer than that" in doubt]
    assert not [doubt for doubt in told("100 us") if "before they ask" in doubt]


def test_bursts_that_a_link_spreads_are_told_at_a_peak_too() -> None:
    sizes = {"kind": "fixed", "size": "1024 B"}
    on_off = {"rate": "20 Mpps", "on": "20 us", "off": "80 us", "flows": 64, "sizes": sizes}
    sets = {"traffic": {"kind": "bursts", **on_off}, "run.warmup": "500 us", "run.duration": "1 ms"}

    def told(link: str) -> list[list[str]]:
        run = api.run("explain-cpu", {**sets, "machine.nic.link": link})
        found = Peak(peak_mpps=4, failed_by="p99", probes=[], results=run.data)
        both = (run, replace(run, peak=found))
        return [[d for d in doubts(r) if "bursts come faster" in d] for r in both]

    # While on, 168 Gbps come.
    (run,), (peak,) = told("100 Gbps")
    assert run == peak
    assert "Neither latencies nor the objective include this wait" in peak
    assert told("200 Gbps") == [[], []]
    assert "capture" not in peak
    assert peak.endswith("A lower traffic.rate leaves bursts as they are.")
    # Of several sizes, what comes at the rate of the link waits before it.
    mix = {"kind": "mix", "of": [{"size": f"{s} B", "weight": 1} for s in (60, 1514)]}
    on_off |= {"rate": "99 Gbps", "sizes": mix, "on": "100 us"}
    mixed = api.run("explain-cpu", {**sets, "traffic": {"kind": "bursts", **on_off}})
    (smoothed,) = [d for d in doubts(mixed) if "one after the other" in d]
    busy = re.search(r"the 100 Gbps link is (9[89]\.\d) % busy while a burst lasts", smoothed)
    assert busy is not None


def test_a_run_of_another_build_is_told_once_it_is_loaded() -> None:
    run = api.run("explain-link", {"run.warmup": "0 us", "run.duration": "10 us"})

    def told(engine: str) -> list[str]:
        again = Result.from_json(replace(run, engine=engine).to_json())
        return [doubt for doubt in doubts(again) if "another build" in doubt]

    assert run.engine == version()
    assert told(run.engine) == told("") == []
    (other,) = told("0.1.0+0123456789ab")
    assert f"(0.1.0+0123456789ab; this is {version()})" in other


def test_a_peak_tells_of_a_queue_that_falls_behind_alone(calm: Result) -> None:
    def told(sent: int, share: int = 4000) -> list[str]:
        first, *others = calm.data.queues
        rest = [q.model_copy(update={"offered": 2000, "sent": 2000}) for q in others]
        most = first.model_copy(update={"offered": share, "sent": sent})
        done = sum(q.sent for q in (most, *rest))
        packets = calm.data.packets.model_copy(
            update={"completed": done, "transmitted": done, "completed_mpps": 2.0}
        )
        data = calm.data.model_copy(update={"queues": [most, *rest], "packets": packets})
        peak = Peak(peak_mpps=2, fails_at_mpps=3, failed_by="rate", probes=[], results=data)
        found = doubts(replace(calm, data=data, peak=peak))
        assert not any("its queue grows" in d for d in doubts(replace(calm, data=data)))
        return [doubt for doubt in found if "its queue grows" in doubt]

    # Two standard deviations are 126 packets.
    (grows,) = told(3860)
    core = calm.data.queues[0].core
    assert f"of 4,000 packets that came for core {core} at this peak, 3,860 were done" in grows
    assert "About 1.93 Mpps can be kept up" in grows
    assert told(3880) == []
    # Of queues that get the same, one or another falls behind by chance.
    assert told(1860, share=2000) == []


def test_a_peak_at_a_full_link_tells_of_the_waits_before_it() -> None:
    short = {"run.warmup": "500 us", "run.duration": "500 us"}
    sets = {"machine.nic.link": "5 Gbps", "traffic.rate": "0.5 Mpps"}
    found = api.find_peak("explain-link", sets | short | {"run.duration": "4 ms"})
    assert found.peak is not None
    assert found.peak.failed_by == "link"
    assert found.peak.rate_gbps == pytest.approx(5.0, rel=0.02)
    (told,) = (doubt for doubt in doubts(found) if "is full at this peak" in doubt)
    assert "Neither latencies nor the objective include this wait" in told
    # What ends a search is somewhat less than what is otherwise called full.
    domains = [
        d.model_copy(update={"busy_ps": int(0.996e3 * found.data.measured_ns)})
        if d.domain == "wire"
        else d
        for d in found.data.domains
    ]
    less = replace(found, data=found.data.model_copy(update={"domains": domains}))
    assert told in doubts(less)
    assert told not in doubts(replace(less, peak=None))


@pytest.mark.parametrize(
    ("values", "warned"),
    [([5.0] * 20 + [25.0] * 20, 1), ([25.0] * 20 + [5.0] * 20, 1),
     ([20.0] * 20 + [25.0] * 20, 0), ([5.0, 25.0], 0)],
)  # fmt: skip
def test_windows_that_have_not_settled_are_told(
    crowded: Result, values: list[float], warned: int
) -> None:
    columns = [
        c.model_copy(update={"values": values}) if c.name == "goodput" else c
        for c in crowded.data.series.columns
    ]
    series = crowded.data.series.model_copy(update={"columns": columns})
    changed = replace(crowded, data=crowded.data.model_copy(update={"series": series}))
    told = [doubt for doubt in doubts(changed) if "had not settled" in doubt]
    assert len(told) == warned
    assert all("run.warmup to 5 ms" in doubt for doubt in told)


SHORT = {"run.warmup": "100 us", "run.duration": "100 us", "run.sample": "10 us"}


def test_rings_that_still_fill_are_told() -> None:
    few: dict[str, Any] = {
        **SHORT, "tenants.0.cores.count": 2, "tenants.0.app.keys": 10_000,
        "tenants.0.app.buckets": 4096, "tenants.0.app.log": "16 MiB",
        "tenants.0.app.request_instructions": 4000,
    }  # fmt: skip
    full = api.run("sweeper-kvs", few | {"traffic.rate": "14 Mpps"})
    told = [doubt for doubt in doubts(full) if "its rings were still filling" in doubt]
    assert len(told) == 1
    # What comes and is not completed, until two rings of 1024 are full.
    packets = full.data.packets
    assert packets.in_flight_end > packets.in_flight_begin + 100
    grows = (packets.in_flight_end - packets.in_flight_begin) / 0.1
    full_ms = 0.2 + (2048 - packets.in_flight_end) / grows
    said = float(told[0].split("run.warmup to ")[1].split(" ms")[0])
    assert full_ms <= said <= full_ms + 0.1
    calm = api.run("sweeper-kvs", few | {"traffic.rate": "1 Mpps"})
    assert not any("rings were still filling" in doubt for doubt in doubts(calm))
    # Cores complete packets that only wait in the other rings.
    changed = with_numbers(calm, "packets", unsent_begin=3, unsent_end=203)
    (sends,) = (d for d in doubts(changed) if "wait to be sent grew from 3 to 203" in d)
    # 64 descriptors each, which are full already.
    assert "Set run.warmup to 0.2 ms" in sends
    # Or not, if packets wait in software too: 728 more come in 364 us.
    queues = changed.scenario["queues"] | {"tx_backlog": 400}
    behind = replace(changed, scenario=changed.scenario | {"queues": queues})
    (sends,) = (d for d in doubts(behind) if "wait to be sent" in d)
    assert "Set run.warmup to 0.6 ms" in sends
    few_more = with_numbers(calm, "packets", unsent_begin=3, unsent_end=5)
    assert not any("wait to be sent" in doubt for doubt in doubts(few_more))


def test_a_peak_whose_queues_grow_is_told() -> None:
    run = api.run("explain-cpu", SHORT)
    packets = run.data.packets.model_copy(update={"offered": 100_000})
    found = Peak(peak_mpps=4, failed_by="rate", probes=[], results=run.data)
    at_peak = replace(run, peak=found, data=run.data.model_copy(update={"packets": packets}))
    for share, told in ((0.004, False), (0.006, True)):
        end = packets.in_flight_begin + int(share * packets.offered)
        grown = with_numbers(at_peak, "packets", in_flight_end=end)
        assert any("may not keep up with this rate" in d for d in doubts(grown)) == told, share


def test_connections_that_deliver_nothing_are_told(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None
    count = len(transport.connections)

    def told(silent: int, each: int) -> list[str]:
        delivered = [0] * silent + [each] * (count - silent)
        connections = [
            c.model_copy(update={"delivered": n})
            for c, n in zip(transport.connections, delivered, strict=True)
        ]
        changed = {"connections": connections, "delivered": sum(delivered)}
        found = doubts(with_numbers(crowded, "transport", **changed))
        return [doubt for doubt in found if "delivered nothing" in doubt]

    (some,) = told(3, 30)
    assert some.startswith(f"3 of {count} connections")
    # Where most deliver only a few, one without any is chance.
    assert told(3, 19) == []
    assert told(0, 30) == []


def test_a_backlog_that_the_descriptors_do_not_keep_is_told() -> None:
    # Descriptors are posted again when nearly all have been used.
    few = {"queues.rx_descriptors": 64, "queues.post_batch": 60}
    for sets, told in (({}, False), ({"placement.policy": "ideal-ddio"}, False), (few, True)):
        run = api.run("sweeper-l3fwd", SHORT | {"traffic.depth": 64} | sets)
        assert any("the backlog should be 1,536" in doubt for doubt in doubts(run)) == told, sets


def test_caches_that_still_fill_with_dirty_lines_are_told() -> None:
    short = api.run("explain-memory", {"run.warmup": "6 ms", "run.duration": "4 ms"})
    (told,) = (doubt for doubt in doubts(short) if "warm-up" in doubt)
    assert "xmem touches" in told
    # Of an X-Mem that has touched all of its data no rule says how long the caches go on filling.
    tenants = [
        t.model_copy(update={"progress_mps": 10 * t.progress_mps}) for t in short.data.tenants
    ]
    short = replace(short, data=short.data.model_copy(update={"tenants": tenants}))
    (told,) = (doubt for doubt in doubts(short) if "warm-up" in doubt)
    memory = short.data.memory
    more = memory.dirty_end - memory.dirty_begin
    assert f"{more:,} were not written back" in told
    assert told.endswith("Set run.warmup to 14 ms or more.")
    assert not any("warm-up" in doubt for doubt in doubts(api.run("explain-memory")))

    def at(end: int) -> list[str]:
        changed = memory.model_copy(update={"dirty_end": end})
        data = short.data.model_copy(update={"memory": changed})
        return [d for d in doubts(replace(short, data=data)) if "warm-up" in d]

    # Of a steady state they come and go: up to 2 % of what the memory carries.
    carried = sum(cause.lines for cause in memory.causes)
    assert at(memory.dirty_begin + carried // 100) == []
    assert len(at(memory.dirty_begin + carried // 40)) == 1
    assert at(0) == [], "fewer are no cold caches"
    # Of more packets that wait, the buffers are dirty: 34 lines of 2 KiB and the metadata.
    begin = short.data.packets.unsent_begin
    waiting = with_numbers(short, "packets", unsent_end=begin + more // 34 + 1)
    assert not any("warm-up" in doubt for doubt in doubts(waiting))


def test_a_pool_that_packets_exhaust_which_wait_for_their_read_is_told() -> None:
    def told(**keys: object) -> list[str]:
        sets = {"tenants.0.cores.count": 1, "run.warmup": "0.1 ms", "run.duration": "0.1 ms"}
        run = api.run("host-congestion", sets | keys)
        return [d for d in doubts(run) if "each core's pool" in d]

    # 1024 descriptors, and of each of 40 reads three packets that wait for the fourth.
    assert told(**{"queues.pool_buffers": 1144}) == []
    (doubt,) = told(**{"queues.pool_buffers": 1143})
    assert "up to 120 packets wait in theirs" in doubt
    assert "Set queues.pool_buffers to 1,144 or more" in doubt
    assert told(**{"queues.pool_buffers": 1143, "tenants.0.app.copied": "on-arrival"}) == []


def test_a_pool_that_cannot_fill_both_rings_is_told() -> None:
    short = {"run.warmup": "10 us", "run.duration": "50 us"}

    def told(app: dict[str, Any], **queues: int | None) -> list[str]:
        run = api.run("explain-cpu", short | {"tenants.0.app": app})
        scenario = dict(run.scenario)
        scenario["queues"] = scenario["queues"] | queues
        return [d for d in doubts(replace(run, scenario=scenario)) if "each core's pool" in d]

    l3fwd = nic2core.load("explain-cpu").tenants[0].app.model_dump()
    copy = l3fwd | {"transmit": "copy"}
    assert told(l3fwd) == []
    assert told(l3fwd, pool_buffers=512) == [], "256 of each ring"
    (doubt,) = told(l3fwd, pool_buffers=511)
    assert "has 511 buffers, but its queues need 512" in doubt
    assert "Set queues.pool_buffers to 512 or more" in doubt
    assert len(told({"kind": "l2fwd"}, pool_buffers=None)) == 1, "as many as receive descriptors"
    (doubt,) = told(l3fwd, pool_buffers=512, tx_backlog=1024)
    assert "need 1,536 (256 receive descriptors, and room for 1,280 packets" in doubt
    assert told(copy, pool_buffers=256) == []


def test_latencies_of_a_full_link_are_those_of_full_buffers_if_packets_are_dropped(
    calm: Result,
) -> None:
    full = with_full_wire(calm, 30.0)
    nic = {**full.scenario["machine"]["nic"], "link": "100 Gbps"}
    scenario = full.scenario | {"machine": full.scenario["machine"] | {"nic": nic}}
    full = replace(full, scenario=scenario)
    (kept,) = (text for text in doubts(full) if "link delivers only" in text)
    assert "latencies are those of the first microseconds" in kept
    (drops,) = (t for t in doubts(with_numbers(full, "packets", drop_share=0.02)) if "only" in t)
    assert "Packets are dropped, so latencies are those of full buffers." in drops


def test_rings_that_are_posted_nearly_whole_are_told() -> None:
    def told(post_batch: int) -> list[str]:
        run = api.run("explain-cpu", {
            "traffic.rate": "24 Mpps", "queues.rx_descriptors": 64, "queues.burst": 1,
            "queues.post_batch": post_batch, "run.warmup": "50 us", "run.duration": "100 us",
        })  # fmt: skip
        assert run.data.packets.dropped_no_descriptor > 0
        return [d for d in doubts(run) if "queues.post_batch" in d]

    (doubt,) = told(64)
    assert "up to 63 of a queue's 64 wait until 64 can be posted together" in doubt
    assert "Set queues.post_batch to 16 or less" in doubt
    assert told(32) == []


def test_others_that_fill_the_caches_leave_a_chase_nothing_to_warm_up() -> None:
    short = {"run.duration": "100 us", "tenants.0.app.region": "64 MiB"}
    told = []
    for readers in (17, 0):
        run = api.run("memory-latency", short | {"tenants.1.cores.count": readers})
        told.append([d for d in doubts(run) if "chase touches" in d])
    assert [len(doubts) for doubts in told] == [0, 1]


@pytest.mark.parametrize(
    ("control", "key"),
    [
        ({"kind": "swift"}, "fabric_target"),
        ({"kind": "timely", "high_threshold": "100 us"}, "high_threshold"),
    ],
)
def test_a_target_that_the_empty_network_exceeds_is_told(control: dict[str, Any], key: str) -> None:
    def told(delay: str, **more: object) -> list[str]:
        keys = {"traffic.control": {**control, **more}, "traffic.network.delay": delay}
        times = {"run.warmup": "1 ms", "run.duration": "1 ms", "tenants.0.cores.count": 2}
        recovery = {"traffic.recovery.min_timeout": "5 ms"}
        found = doubts(api.run("host-congestion", keys | times | recovery))
        return [doubt for doubt in found if "it can only slow down" in doubt]

    (doubt,) = told("200 us")
    assert "the network alone takes 400 µs there and back (twice its delay, and 356 ns" in (
        doubt.lower()
    )
    assert f"Set {key} to more than that." in doubt
    assert told("10 us") == []
    assert told("200 us", **{key: "1 ms"}) == []
    # A control without a target for the delay has none to exceed.
    control = {"kind": "dctcp"}
    assert told("200 us") == []


def test_a_frame_on_a_slow_link_counts_for_the_empty_network() -> None:
    keys = {
        "traffic.network.sender_link": "100 Mbps", "tenants.0.cores.count": 1,
        "run.warmup": "1 ms", "run.duration": "2 ms",
    }  # fmt: skip
    found = doubts(api.run("host-congestion", keys))
    # 4448 bytes take 356 us.
    assert any("356 µs for a frame on a sender's link" in doubt for doubt in found)
    assert any(doubt.startswith("no whole read of 40 senders was completed") for doubt in found)


def test_a_control_may_have_a_fabric_target_and_nothing_else_of_swifts() -> None:
    target = {"kind": "own", "fabric_target": "30 us"}
    assert highest_target(target) == (30e3, "fabric_target")
    assert highest_target({"kind": "own"}) == (0.0, "")


def test_tails_of_few_reads_are_told() -> None:
    few = {"traffic.senders": 4, "traffic.read": "1 MiB", "tenants.0.cores.count": 2}
    times = {"run.warmup": "2 ms", "run.duration": "2 ms", "queues.pool_buffers": 4096}
    result = api.run("host-congestion", few | times)
    transport = result.data.transport
    assert transport is not None
    reads = transport.read_latency.count
    assert 0 < reads < 100
    (doubt,) = (d for d in doubts(result) if "99th percentile of whole reads" in d)
    assert f"is the largest of {reads} reads" in doubt


def test_rivals_that_come_too_late_are_told_and_those_that_come_are_meant_to() -> None:
    times = {"run.warmup": "2 ms", "run.duration": "2 ms", "run.sample": "50 us"}

    def told(start: str) -> list[str]:
        rivals = {"senders": 20, "start": start, "control": {"kind": "dctcp"}}
        return doubts(api.run("host-congestion", times | {"traffic.rivals": rivals}))

    (doubt,) = (d for d in told("5 ms") if "never send" in d)
    assert "traffic.rivals.start is 5.00 ms, and the run ends at 4.00 ms" in doubt
    assert not [d for d in told("3 ms") if "never send" in d or "had not settled" in d]


def test_connections_that_deliver_nothing_are_told_unless_by_chance(crowded: Result) -> None:
    transport = crowded.data.transport
    assert transport is not None
    one = transport.connections[0]

    def told(delivered: list[int]) -> list[str]:
        connections = [one.model_copy(update={"delivered": n}) for n in delivered]
        seen = {"connections": connections, "delivered": sum(delivered)}
        data = crowded.data.model_copy(update={"transport": transport.model_copy(update=seen)})
        return [d for d in doubts(replace(crowded, data=data)) if "delivered nothing" in d]

    # A read is four packets: with 5 packets each in the mean 29 of 100 have none by chance.
    assert told([7] * 71 + [0] * 29) == []
    (doubt,) = told([20] * 25 + [0] * 75)
    assert "75 of 100 connections delivered nothing" in doubt
    # With 50 none has.
    (doubt,) = told([50] * 99 + [0])
    assert "1 of 100 connections" in doubt


def test_a_link_that_still_sends_what_had_queued_needs_a_longer_warm_up() -> None:
    sizes = {"kind": "fixed", "size": "508 B"}
    short = {"run.warmup": "100 us", "run.duration": "300 us", "tenants.0.cores.count": 2}

    def told(rate: str, queued: int, drop_share: float = 0.0) -> list[str]:
        run = api.run("ddio-bench", {"traffic.sizes": sizes, "traffic.rate": rate, **short})
        demand = run.data.demand_mpps
        assert demand is not None
        full = with_full_wire(run, demand)
        wire = full.data.by_domain["wire"]
        # As many of 532 B on the wire as 100 Gbps carry.
        carried = round(run.data.measured_ns * 100 / (8 * 532))
        sends = wire.model_copy(update={"uses": carried})
        domains = [sends if d.domain == "wire" else d for d in full.data.domains]
        queue = run.data.queues[0].model_copy(
            update={"tx_busy_ps": round(queued * 1e3 * run.data.measured_ns)}
        )
        update = {"domains": domains, "queues": [queue]}
        late = replace(full, data=full.data.model_copy(update=update))
        late = with_numbers(late, "packets", drop_share=drop_share)
        return [doubt for doubt in doubts(late) if "link is full although" in doubt]

    (text,) = told("98 Gbps", 470)
    # 2 Gbps are left: 0.47 Mpps.
    assert "asks for 98.0 % of it: 470 packets on average wait to be sent" in text
    assert "some 999 µs to drain: set run.warmup to 1.1 ms or more" in text
    assert not told("99.8 Gbps", 470)
    assert not told("98 Gbps", 470, drop_share=0.1)
