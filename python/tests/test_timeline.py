"""The timeline of packets: what Perfetto gets is what the engine measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nic2core import Recording, Result, Timeline, UserError, api, names
from nic2core.command import cli
from nic2core.results.timeline import Counter, DroppedPacket, PacketWay, Slice

FIXTURE = Path(__file__).parents[2] / "crates/scenario/tests/data/kvs.toml"
GOLDEN = Path(__file__).parent / "data/timeline.json"
SHORT = {
    "tenants.1.app.keys": "1000",
    "traffic.rate": "4 Mpps",
    "run.warmup": "50 us",
    "run.duration": "200 us",
}

Event = dict[str, Any]


@pytest.fixture(scope="module")
def recorded() -> tuple[Result, Timeline]:
    return api.record(FIXTURE, SHORT, Recording(every=3, packets=100))


def validate(path: Path) -> list[Event]:
    """Check a file against the Trace Event Format, as far as a timeline uses it."""
    trace = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert set(trace) == {"displayTimeUnit", "traceEvents"}
    assert trace["displayTimeUnit"] in {"ns", "ms"}
    kinds = {
        "M": {"name": str, "pid": int, "args": dict},
        "X": {"name": str, "cat": str, "pid": int, "tid": int, "ts": float, "dur": float},
        "i": {"name": str, "s": str, "pid": int, "tid": int, "ts": float, "args": dict},
        "C": {"name": str, "pid": int, "ts": float, "args": dict},
    }
    named = set()
    for event in trace["traceEvents"]:
        for key, kind in kinds[event["ph"]].items():
            assert isinstance(event[key], kind), (key, event)
        if event["ph"] == "M":
            named.add((event["name"], event["pid"], event.get("tid")))
            continue
        assert event["ts"] >= 0
        assert ("process_name", event["pid"], 0) in named, event
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert ("thread_name", event["pid"], event["tid"]) in named, event
        if event["ph"] == "C":
            assert all(isinstance(v, int | float) for v in event["args"].values())
    events: list[Event] = trace["traceEvents"]
    return events


def nanoseconds(event: Event) -> tuple[int, int]:
    return round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)


def test_slices_of_a_row_are_nested(recorded: tuple[Result, Timeline], tmp_path: Path) -> None:
    events = validate(recorded[1].write(tmp_path / "t.json"))
    rows: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        if event["ph"] == "X":
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
    assert len({pid for pid, _ in rows}) > 1
    for row in rows.values():
        inside: list[tuple[int, int]] = []
        for event in row:
            begin, end = nanoseconds(event)
            while inside and inside[-1][1] <= begin < end:
                inside.pop()
            assert not inside or (inside[-1][0] <= begin <= end <= inside[-1][1]), event


def test_steps_fill_the_stages_and_stages_the_packet(
    recorded: tuple[Result, Timeline], tmp_path: Path
) -> None:
    _, timeline = recorded
    events = validate(timeline.write(tmp_path / "t.json"))
    of = {kind: [e for e in events if e.get("cat") == kind] for kind in ("packet", "stage", "step")}
    assert len(of["packet"]) == len(timeline.packets) == 100

    def whole(kind: str) -> int:
        return sum(end - begin for begin, end in map(nanoseconds, of[kind]))

    assert whole("packet") == whole("stage") == whole("step") > 0
    assert {e["name"] for e in of["stage"]} <= set(names.LATENCIES.values())
    for packet, event in zip(
        sorted(timeline.packets, key=lambda p: (p.queue, p.slices[0].begin_ps)),
        of["packet"],
        strict=True,
    ):
        assert event["args"]["packet"] == packet.number
        assert nanoseconds(event) == (
            packet.slices[0].begin_ps // 1000,
            packet.slices[-1].end_ps // 1000,
        )


def test_the_timeline_of_a_result_is_that_of_its_run(recorded: tuple[Result, Timeline]) -> None:
    result, timeline = recorded
    assert api.run(FIXTURE, SHORT).to_json() == result.to_json()
    assert result.record_again(Recording(every=3, packets=100)) == timeline


def test_a_small_timeline_is_written_as_it_always_was(tmp_path: Path) -> None:
    def way(number: int, begin: int, dropped: str | None, *ends: tuple[str, str, int]) -> PacketWay:
        slices = []
        for stage, step, end in ends:
            slices.append(Slice(stage=stage, step=step, begin_ps=begin, end_ps=end))
            begin = end
        return PacketWay(
            number=number, flow=3, bytes=1024, queue=0, dropped=dropped, slices=slices
        )  # fmt: skip

    core = ("service", "core", 2_000_000)
    dma = ("dma", "PCIe, data", 1_500_250)
    late = "no receive descriptor"
    timeline = Timeline(
        packets=[
            way(0, 1_000_000, None, ("nic", "behind others in SRAM", 1_200_999), dma, core),
            # Beside the first, so in a row of its own; then one behind the first.
            way(1, 1_100_000, late, ("nic", "behind others in SRAM", 1_300_000)),
            way(2, 2_000_000, None, ("dma", "PCIe, data", 2_100_000)),
        ],
        unfinished=0,
        drops=[DroppedPacket(at_ps=1_300_000, number=1, flow=3, queue=0, reason=late)],
        times_ps=[1_000_000, 2_000_000, 3_000_000],
        counters=[
            Counter(name="NIC SRAM", unit="bytes", queue=None, values=[1024.0, 1024.0, 0.0]),
            Counter(name="waiting for the core", unit="packets", queue=0, values=[0.0, 1.0, 1.0]),
        ],
    )
    written = timeline.write(tmp_path / "t.json")
    validate(written)
    assert written.read_text() == GOLDEN.read_text()


def test_the_command_writes_a_timeline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "deep/timeline.json"
    sets = [part for key, value in SHORT.items() for part in ("--set", f"{key}={value}")]
    options = ["--timeline", str(file), "--timeline-every", "5", "--timeline-packets", "20"]
    monkeypatch.setattr(sys, "argv", ["nic2core", "run", str(FIXTURE), *sets, *options])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code in {0, None}
    assert len([e for e in validate(file) if e.get("cat") == "packet"]) == 20
    assert f"{file}; open it at https://ui.perfetto.dev" in capsys.readouterr().err


def test_what_a_timeline_does_not_have_is_told() -> None:
    timeline = Timeline(packets=[], unfinished=0, drops=[], times_ps=[0, 1], counters=[])
    assert timeline.left_out() == "The timeline has no packets: none came while it was recorded."
    update = {"unfinished": 1, "drops_left_out": 7, "readings_left_out": 5000}
    assert timeline.model_copy(update=update).left_out() == (
        "The timeline does not have 1 packet still on the way at its end, 7 drops beyond the first "
        "0, 5,000 readings of the counters beyond the first 2."
    )


def test_a_recording_of_nothing_is_refused() -> None:
    allowed = "whole numbers from 1 to 4294967295 are allowed"
    with pytest.raises(UserError, match=f"every = 0: {allowed}"):
        Recording(every=0)
    with pytest.raises(UserError, match=f"packets = 5000000000: {allowed}"):
        Recording(packets=5_000_000_000)
    with pytest.raises(UserError, match=rf"interval_ns = 1\.5: {allowed}"):
        Recording(interval_ns=1.5)  # type: ignore[arg-type]
