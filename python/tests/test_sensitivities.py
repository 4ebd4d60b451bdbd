"""Which values matter: what is changed, what is chance, and what is shown and kept of it."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from math import sqrt
from statistics import stdev
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from nic2core import (
    ModelError,
    Sensitivity,
    Stopped,
    Sweep,
    UserError,
    engine,
    load,
    sensitivity,
    sources,
)
from nic2core.effects import Effect, Shift
from nic2core.progress import Progress
from nic2core.scenario.numbers import near, numbers
from nic2core.scenario.quantity import is_quantity, scaled
from nic2core.sensitivities import OTHER_SEEDS, _found, _Other, _Plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import plotly.graph_objects as go

    from nic2core.results.models import Results

SCENARIO = """
[machine]
base = "skylake-6140"
[placement]
policy = "ddio"
[queues]
rx_descriptors = 64
tx_descriptors = 64
buffer_size = "2 KiB"
rx_instructions = 1000
tx_instructions = 0
post_batch = 16
[traffic]
kind = "poisson"
rate = "20 Mpps"
sizes = { kind = "fixed", size = "64 B" }
flows = 16
[[tenants]]
name = "fwd"
cores = { first = 0, count = 1 }
[tenants.app]
kind = "l3fwd"
[run]
warmup = "100 us"
duration = "400 us"
"""
"""One core, which cannot do what arrives.

It posts in batches: a short ring that is posted one at a time has two states (docs/models/nic.md),
and drops tell which one it happens to be in.
"""

KEYS = ["machine.core", "machine.l1d.ways", "machine.nic", "queues.rx_instructions"]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sensitivity") / "busy.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def found(scenario: Path) -> Sensitivity:
    with pytest.warns():
        return sensitivity(scenario, KEYS, jobs=2)


@pytest.mark.parametrize(
    ("value", "share", "other"),
    [
        ("195 ns", 1.2, "234 ns"),
        ("2.3 GHz", 0.8, "1.84 GHz"),
        ("1 MiB", 0.8, "838848 B"),  # 13107 whole lines
        ("39424 KiB", 0.5, "19712 KiB"),
        ("64 B", 1.2, "77 B"),
        ("833 ps", 0.8, "666 ps"),
        ("2.594 GHz", 0.8, "2.075 GHz"),
        ("2400 MHz", 1.25, "3 GHz"),
        ("800 MHz", 1.2, "960 MHz"),
        ("11900 kpps", 1.2, "14280 kpps"),
        ("95 %", 1.2, "100 %"),
    ],
)
def test_quantities_are_scaled_to_what_can_be_written(value: str, share: float, other: str) -> None:
    assert scaled(value, Decimal(str(share))) == other


@pytest.mark.parametrize("by", [0.1, 0.2, 0.7, 0.9])
def test_every_share_gives_values_that_a_scenario_can_have(by: float) -> None:
    for key, value in (("machine.pcie.latency", "195 ns"), ("machine.core.frequency", "3 GHz")):
        for changed, *_ in near(value, by):
            sources.prepare("ddio-bench", {key: changed})


def test_what_has_no_other_value_that_near_is_halved_and_doubled() -> None:
    assert near(1, 0.2) == ([0, 0], [2, 2])
    assert near(16, 0.2) == ([13, 8], [19, 32])
    assert near("16 B", 0.01) == (["8 B"], ["32 B"])
    assert near(0, 0.2) == ([-1], [1])
    found = dict(numbers(sources.prepare("ddio-bench").scenario, ["machine.l2", "machine.pcie"]))
    assert found["machine.l2.size"] == "1 MiB"
    assert found["machine.pcie.lanes"] == 16


@pytest.mark.parametrize("text", ["DDR4-3200AA", "8Gb", "x16", "row-bank", "all ranks", "ns", ""])
def test_names_are_no_quantities(text: str) -> None:
    assert is_quantity("1.5 us")
    assert not is_quantity(text)


def test_where_a_core_limits_its_instructions_matter_and_the_buffer_does_not(
    found: Sensitivity,
) -> None:
    effects = {effect.key: effect for effect in found.effects}
    instructions = effects["queues.rx_instructions"]
    assert (instructions.lower, instructions.higher) != (None, None)
    assert instructions.lower is not None
    assert instructions.higher is not None
    assert (instructions.lower.value, instructions.higher.value) == ("800", "1200")
    assert not found.of_p99
    assert "queues.rx_instructions" in [effect.key for effect in found.telling[:3]]
    assert "machine.core.frequency" in [effect.key for effect in found.telling[:3]]
    assert {"machine.core.store_buffer", "machine.nic.sram"} <= {*found.silent, *found.idle}


def test_instructions_of_a_core_that_limits_cost_the_time_that_they_take(scenario: Path) -> None:
    # Its accesses are few: those of the tables get cheaper with each packet that warms the caches.
    app = {"tenants.0.app": {"kind": "l2fwd"}}
    of = sensitivity(scenario, ["queues.rx_instructions"], overrides=app, jobs=2)
    (effect,) = of.effects
    assert effect.lower is not None
    assert effect.higher is not None
    # By hand: 200 instructions, four a cycle, at 3 GHz.
    took_ns, more_ns = 1e3 / of.base.mpps, 200 / 4 / 3
    assert effect.lower.rate == pytest.approx(took_ns / (took_ns - more_ns) - 1, rel=0.02)
    assert effect.higher.rate == pytest.approx(took_ns / (took_ns + more_ns) - 1, rel=0.02)


def test_every_number_is_changed_or_it_is_told_why_not(found: Sensitivity, scenario: Path) -> None:
    core = sources.prepare(scenario).scenario["machine"]["core"]
    told = {effect.key for effect in found.effects} | {*found.without_effect}
    told |= {*found.refused}
    assert told >= {f"machine.core.{key}" for key in core}
    effects = {effect.key: effect for effect in found.effects}
    # A binary tree has a power of two of ways.
    assert [change.value for change in effects["machine.l1d.ways"].changes] == ["4", "16"]
    assert found.without_effect["machine.nic.rss.indirection_entries"] == "there is one queue"
    assert not any(why.startswith("--set") for why in found.refused.values())


def test_the_table_has_every_key_and_the_largest_effect_first(found: Sensitivity) -> None:
    table = found.table
    assert table["key"].to_list() == [effect.key for effect in found.effects]
    told = table.filter(~pl.col("by_chance"))
    assert told["key"].to_list() == [effect.key for effect in found.telling]
    largest = [found.felt(effect) for effect in found.effects]
    assert largest == sorted(largest, reverse=True)


@pytest.mark.filterwarnings("ignore::nic2core.DoubtfulNumbers")
def test_it_is_the_same_for_any_number_of_jobs(found: Sensitivity, scenario: Path) -> None:
    again = sensitivity(scenario, KEYS, jobs=1)
    assert again.table.equals(found.table)
    assert again.chance == found.chance


def test_what_the_engine_refuses_when_it_runs_is_told_unless_the_other_value_has_run(
    found: Sensitivity,
) -> None:
    base, seed, other = found.runs.results[:3]
    names = ("base", "run.seed = 2", "a = 1", "a = 3", "b = 4")
    plan = _Plan(dict.fromkeys(names, sources.Prepared("{}", {})), ["run.seed = 2"])
    plan.changed["a"] = ("2", [_Other("a = 1", "1"), _Other("a = 3", "3")])
    plan.changed["b"] = ("8", [_Other("b = 4", "4"), None])
    refused: dict[str, UserError | ModelError] = {
        "a = 1": UserError("too few"),
        "b = 4": UserError("no room"),
    }
    runs = Sweep([base, seed, other], len(names), refused, points=[0, 1, 3])
    of = _found(plan, 0.2, runs, peak=False)
    assert of.refused == {"b": "no room"}
    (effect,) = of.effects
    assert (effect.key, effect.value, effect.lower) == ("a", "2", None)
    assert effect.higher is not None
    assert effect.higher.value == "3"


def test_what_another_seed_can_do_as_well_is_chance(found: Sensitivity) -> None:
    of = replace(found, of_p99=False, chance=Shift("", 0.02, 0.1, 0.001))
    small, large = Shift("9", -0.02, 0.5, 0.001), Shift("9", -0.03, 0.05, 0.0)
    assert of.felt(Effect("key", "8", small, None)) == 0
    assert of.felt(Effect("key", "8", small, large)) == 0.03
    tails = replace(of, of_p99=True)
    assert tails.felt(Effect("key", "8", large, small)) == 0.5
    assert tails.felt(Effect("key", "8", large, None)) == 0
    assert tails.felt(Effect("key", "8", Shift("9", 1.0, None, None), None)) == 0
    # Fewer drops at the same throughput, as closed-loop senders with another target have.
    assert of.felt(Effect("key", "8", Shift("9", 0.01, 0.0, -0.03), None)) == 0.03
    assert tails.felt(Effect("key", "8", Shift("9", 0.01, 0.0, -0.03), None)) == 0.03


def test_what_changes_nothing_at_all_is_told_apart_from_what_may_be_chance(
    found: Sensitivity,
) -> None:
    same, less = Shift("9", 0.0, 0.0, 0.0), Shift("7", 0.0, -0.001, 0.0)
    effects = [Effect("idle", "8", same, same), Effect("silent", "8", less, same)]
    of = replace(found, of_p99=False, effects=effects, chance=Shift("", 0.02, 0.1, 0.001))
    assert (of.telling, of.silent, of.idle) == ([], ["silent"], ["idle"])
    assert "Change nothing at all: idle." in of.remarks
    assert of.remarks[-1].startswith("Smaller effects may be real: `nic2core compare")
    assert "Longer runs leave less to chance." in of.remarks


def test_where_the_reasons_are_is_told(found: Sensitivity) -> None:
    of = replace(found, refused={"machine.l1d.ways": "no power of two is near"})
    told = "Not changed, because no near value is allowed (`refused`, with --json, says why): "
    assert f"{told}machine.l1d.ways." in of.remarks
    # The key of that name is in what --json prints, too.
    assert of.to_json()["refused"] == of.refused


def test_chance_is_what_runs_with_other_seeds_are_apart(found: Sensitivity) -> None:
    rates = [run.mpps / found.base.mpps for run in found.runs.results[: 1 + OTHER_SEEDS]]
    assert [run.data.seed for run in found.runs.results[: 1 + OTHER_SEEDS]] == [1, 2, 3, 4, 5]
    # Student's t of four degrees of freedom.
    assert found.chance.rate == pytest.approx(2.776 * stdev(rates) * sqrt(2), rel=1e-3)


def test_a_run_that_carries_its_load_is_told_by_its_latency(scenario: Path) -> None:
    calm = {"traffic.rate": "1 Mpps", "run.warmup": "3 ms", "run.duration": "2 ms"}
    of = sensitivity(scenario, ["machine.pcie.latency"], overrides=calm, by=0.5, jobs=2)
    assert of.of_p99
    (effect,) = of.telling
    assert effect.higher is not None
    assert effect.higher.rate == pytest.approx(0, abs=0.01)
    # A packet waits for the link once: half of 150 ns more.
    assert of.base.p99_ns is not None
    assert effect.higher.p99 == pytest.approx(150 / 2 / of.base.p99_ns, rel=0.5)


def test_what_a_full_server_does_not_complete_is_dropped(scenario: Path) -> None:
    # A small buffer, so that what arrives does not wait in it for a good part of the run.
    full = {"run.warmup": "2 ms", "run.duration": "2 ms", "machine.nic.sram": "16 KiB"}
    found = sensitivity(scenario, ["queues.rx_instructions"], overrides=full, jobs=2)
    assert found.what == "throughput or drops"
    (effect,) = found.telling
    packets = found.base.data.packets
    for change in effect.changes:
        more = change.rate * packets.completed_mpps / packets.offered_mpps
        assert change.drops == pytest.approx(-more, abs=0.01)


def test_bars_are_drawn_for_what_matters(found: Sensitivity) -> None:
    figure: go.Figure = found.plot()
    keys = [f"{effect.key} = {effect.value}" for effect in found.telling]
    assert [*figure.data[0].y] == keys
    assert [bar.name for bar in figure.data] == ["lower"] * 3 + ["higher"] * 3
    lower = found.telling[0].lower
    assert lower is not None
    assert figure.data[0].x[0] == pytest.approx(100 * lower.rate)


def test_where_nothing_does_more_than_chance_what_does_less_is_drawn(
    found: Sensitivity, tmp_path: Path
) -> None:
    same = Shift("9", 0.0, 0.0, 0.0)
    less, much = (Shift("7", share, 0.0, 0.0) for share in (0.005, -0.01))
    effects = [Effect("idle", "8", same, same), Effect("a", "8", less, same)]
    effects.append(Effect("b", "8", same, much))
    of = replace(found, of_p99=False, effects=effects, chance=Shift("", 0.02, 0.1, 0.001))
    assert [*of.plot().data[0].y] == ["b = 8", "a = 8"]
    page = of.report(tmp_path / "report.html").read_text()
    assert "a = 8" in page
    assert 'role="alert">Warning: ' in page
    # It has the head of every report, and its commands are no backticks.
    assert 'id="theme"' in page
    assert "<code>nic2core compare" in page
    assert "`nic2core" not in page


def test_a_scenario_that_does_no_work_is_refused_as_soon_as_that_is_known(
    scenario: Path,
) -> None:
    ended: list[int] = []
    progress = Progress()
    progress.told = lambda point, share: ended.append(point) if share == 1.0 else None
    idle = {"traffic.rate": "1 pps"}
    with pytest.raises(UserError, match="does no work as it is"):
        sensitivity(scenario, KEYS, overrides=idle, progress=progress)
    assert len(ended) < OTHER_SEEDS


def test_the_command_shows_and_keeps_what_it_found(
    command: Callable[..., int],
    scenario: Path,
    tmp_path: Path,
    found: Sensitivity,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert command("sensitivity", scenario, *KEYS, "--jobs", "2", "--out", out) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert found.sentence in said
    # Whole, also in a narrow terminal.
    shares = [f"{100 * c.rate:+.1f} %" for effect in found.telling for c in effect.changes]
    assert all(text in said for text in (*shares, *(effect.key for effect in found.telling)))
    assert f"Do no more than that to throughput or drops: {', '.join(found.silent)}." in said
    assert f"{100 * (found.telling[0].changes[0].drops or 0.0):+.2f}" in said
    assert "Without effect in this scenario: machine.nic.rss.indirection_entries." in said
    assert pl.read_parquet(out / "sensitivity.parquet").equals(found.table)
    assert found.telling[0].key in (out / "report.html").read_text()
    assert len(Sweep.load(out)) == found.runs.planned

    # Its page is not replaced by one of its runs side by side.
    page = (out / "report.html").read_text()
    for options in ((), ("--out", out / "report.html")):
        assert command("report", out, *options) == 2
        assert f"its report is {out / 'report.html'}" in capsys.readouterr().err
    assert (out / "report.html").read_text() == page
    assert command("report", out, "--out", tmp_path / "runs.html") == 0
    capsys.readouterr()

    assert command("sensitivity", scenario, *KEYS, "--json", "--out", out) == 0
    again = capsys.readouterr()
    assert f"{found.runs.planned} of {found.runs.planned} runs were there already." in again.err
    shown = json.loads(again.out)
    assert shown["effects"] == found.table.to_dicts()


@pytest.mark.parametrize("arguments", [("machine.nix",), ("placement.policy",), ("--by", "0.5")])
def test_what_is_no_number_to_change_is_refused(
    command: Callable[..., int],
    scenario: Path,
    arguments: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command("sensitivity", scenario, *arguments) == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::nic2core.DoubtfulNumbers")
def test_what_has_run_when_it_is_stopped_is_shown(scenario: Path) -> None:
    progress = Progress()

    def told(point: int, share: float) -> None:
        if point == 5 and share == 1.0:
            progress.stop.set()

    progress.told = told
    found = sensitivity(scenario, KEYS, progress=progress)
    assert found.runs.stopped
    assert 0 < len(found.effects) < 5


@pytest.mark.parametrize("last", [None, 0])
def test_nothing_is_shown_before_chance_is_known(scenario: Path, last: int | None) -> None:
    progress = Progress()

    def told(point: int, share: float) -> None:
        if point == last and share == 1.0:
            progress.stop.set()

    progress.told = told
    if last is None:
        progress.stop.set()
    with pytest.raises(Stopped):
        sensitivity(scenario, KEYS, progress=progress)


def test_a_value_that_only_the_engine_refuses_is_no_mistake_of_the_scenario(
    command: Callable[..., int],
    scenario: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = engine.run

    def build(text: str, *others: Any) -> Results:
        """Refuse another size of the table only when it is built."""
        if json.loads(text)["machine"]["nic"]["rss"]["indirection_entries"] != 128:
            raise UserError("machine.nic.rss.indirection_entries cannot be simulated.")
        return run(text, *others)

    monkeypatch.setattr(engine, "run", build)
    cores = ("--set", "tenants.0.cores.count=2", "--set", "machine.nic.rss.indirection_entries=128")
    keys = ("machine.nic.rss", "machine.nic.sram", "--set", "run.duration=20 us")
    assert command("sensitivity", scenario, *keys, *cores) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not changed, because no near value is allowed" in said
    assert "machine.nic.rss.indirection_entries" in said


def test_where_nothing_can_be_changed_it_is_told_why(scenario: Path) -> None:
    rss = "machine.nic.rss.indirection_entries"
    with pytest.raises(UserError, match="there is one queue"):
        sensitivity(scenario, [rss])


def test_keys_are_one_or_several(scenario: Path) -> None:
    with pytest.raises(UserError, match=r"keys = \[\]: expected one or more"):
        sensitivity(scenario, [])
    with pytest.raises(UserError, match=r"machine\.nix"):
        sensitivity(scenario, "machine.nix")


@pytest.mark.parametrize("by", [0, 1, -0.2])
def test_values_are_changed_by_a_share(by: float) -> None:
    with pytest.raises(UserError, match="expected 0 to 1"):
        sensitivity("demo", by=by)


def test_a_scenario_that_cannot_run_says_why(scenario: Path) -> None:
    with pytest.raises(UserError, match=r"traffic\.rate"):
        sensitivity(scenario, KEYS, overrides={"traffic.rate": "fast"})


def test_the_scenario_as_it_is_runs_first(found: Sensitivity) -> None:
    assert found.base is found.runs.results[0]
    assert found.base.settings == {}


@pytest.mark.filterwarnings("ignore::nic2core.DoubtfulNumbers")
def test_the_peak_of_a_loaded_scenario_with_a_table_set_for_all_runs(scenario: Path) -> None:
    loaded = load(scenario)
    loaded.run.duration = "300 us"
    table = {"traffic.sizes": {"kind": "fixed", "size": "128 B"}, "traffic.rate": "8 Mpps"}
    found = sensitivity(
        loaded, ["queues.rx_instructions"], overrides=table, by=0.5, peak=True, jobs=2
    )
    assert found.base.peak is not None
    assert not found.of_p99
    assert found.chance.rate >= 0.01
    assert (found.chance.drops, found.of_drops, found.what) == (None, False, "throughput")
    (effect,) = found.effects
    assert effect.lower is not None
    assert effect.lower.rate > 0.2


@pytest.mark.filterwarnings("ignore::nic2core.DoubtfulNumbers")
def test_closed_loop_senders_are_told_by_their_round_trip() -> None:
    short = {"run.warmup": "200 us", "run.duration": "200 us", "tenants.0.cores.count": 1}
    found = sensitivity("host-congestion", ["machine.iommu.walkers"], overrides=short, jobs=2)
    assert found.p99 == "p99 round trip"
    assert found.unit == "Gbit/s of goodput"
    assert found.effects[0].changes[0].p99 is not None


def test_a_directory_may_hold_one_after_another(
    command: Callable[..., int], scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    asked = (scenario, "--set", "run.duration=20 us", "--out", out)
    assert command("sensitivity", scenario, "machine.nic.sram", *asked[1:]) == 0
    assert command("compare", *asked, "--vary", "placement.io_ways=2,4") == 0
    assert not (out / "sensitivity.parquet").exists()
    assert command("sensitivity", scenario, "machine.nic.sram", *asked[1:]) == 0
    assert command("run", *asked) == 0
    assert command("run", *asked) == 0
