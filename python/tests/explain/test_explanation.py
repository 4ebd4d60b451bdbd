"""What `nic2core explain` shows, and what it refuses to."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from math import ceil, floor, nan
from typing import TYPE_CHECKING, Any

import pytest

from nic2core import ModelError, Result, UserError, api, engine, names, words
from nic2core.command import cli, ending, explanation
from nic2core.describe import pools
from nic2core.describe.doubts import doubts
from nic2core.describe.hints import hints
from nic2core.describe.limits import limits_of
from nic2core.describe.tails import tails
from nic2core.explain.change import Takes
from nic2core.explain.help import Help, Helps
from nic2core.explain.model import Model
from nic2core.explain.stages import leaking
from nic2core.explain.what_if import RECEIVED
from nic2core.rerun import run_changes
from nic2core.results.models import IoKindResults, Peak

if TYPE_CHECKING:
    from pathlib import Path

    from nic2core.results.models import Results


def test_the_table_names_the_limit_and_every_domain(
    ddio: Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    helps = [replace(h, measured=h.predicted) for h in ddio.helps]
    explanation.show(ddio, helps)
    shown = capsys.readouterr().out
    assert shown.startswith("The memory bus limits this run: 256 slots / (17.8 per packet")
    lines = shown.splitlines()
    assert sum("◀ limits" in line for line in lines) == 1
    for use in ddio.model.used:
        assert any(use.unit in line for line in lines), use.name
    assert "8 channels" in shown
    assert "re-run" in shown
    # Drops of queues that still fill are not final.
    first, *others = (replace(h, drop_share=0.03) for h in helps)
    for filling, marked in ((False, False), (True, True)):
        explanation.show(ddio, [replace(first, filling=filling), *others])
        shown = capsys.readouterr().out
        assert ("3.00 % *" in shown) == marked
        assert ("Queues still grew in this re-run" in shown) == marked
    explanation.show(ddio, ddio.helps)
    assert "re-run" not in capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_narrow_terminal_cuts_nothing(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    result = api.run("explain-iommu", {"run.warmup": "20 us", "run.duration": "20 us"})
    helps = [replace(h, measured=0.125, refused=None) for h in result.helps]
    helps[0] = replace(helps[0], measured=None, refused="no link is so fast")
    explanation.show(result, helps)
    lines = capsys.readouterr().out.splitlines()
    # Hints have commands, which the terminal wraps so that they can be copied whole.
    cut = [line for line in lines if len(line.rstrip()) > columns]
    assert all(line in list(hints(result, helps)) and "`" in line for line in cut)
    # Every cell stands in a line of its own domain, whole.
    rows = {use.name: [line for line in lines if names.stage(use.name) in line]
            for use in result.model.used}  # fmt: skip
    for use in result.model.used:
        held = f"{use.credits:,} {pools.what_for(use)}"
        if use.name == "io-ways":
            held = "writes leak"
        assert any(held in line for line in rows[use.name]), use.name
    for help_ in helps:
        name = help_.change.domain
        cells = (help_.change.what, "+12 %" if help_.refused is None else "not possible")
        assert any(all(c in line for c in cells) for line in rows[name]), name


def test_a_narrow_terminal_breaks_words_before_names_and_numbers(
    ddio: Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nic2core.describe.limiter.mark", lambda _: "next")
    monkeypatch.setattr(Model, "cause", "io-credits")
    # The longest that there are, of each column.
    used = [replace(u, credits=1024, occupancy=1e6, latency_ns=4666.0, own_ns=3812.0)
            for u in ddio.model.used]  # fmt: skip
    result = replace(ddio)
    monkeypatch.setitem(result.__dict__, "model", replace(ddio.model, used=used))
    for columns, broken in ((80, False), (60, True)):
        monkeypatch.setenv("COLUMNS", str(columns))
        explanation.show(result, result.helps)
        shown = capsys.readouterr().out.partition("domain ")[2].partition("change")[0]
        assert max(map(len, shown.splitlines())) <= columns
        for whole in ("I/O write credits ◀ next", "receive descriptors", "3.81 µs of 4.67 µs"):
            assert (whole in shown) != broken, whole
        # Nothing is cut; the I/O ways show what leaks of them.
        assert shown.count("1,000,000") == shown.count("1,024") == len(used) - 1
        assert len(re.findall(r"85\.9 %  writes", shown)) == 1


def test_json_says_the_same(ddio: Result, tmp_path: Path,
                            capsys: pytest.CaptureFixture[str],
                            monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("sys.argv", ["nic2core", "explain", str(ddio.save(tmp_path)), "--json"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    said = json.loads(capsys.readouterr().out)
    assert (said["limits"], said["full"], said["limited"]) == ("dram", "read-queue", True)
    assert [d["domain"] for d in said["domains"]] == [u.name for u in ddio.model.used]
    helps = {c["domain"]: c["helps_by"] for c in said["changes"]}
    assert helps["dram"] > 0
    assert helps["nic-sram"] == 0
    assert all(c["rerun"] is None for c in said["changes"])


def test_what_is_not_a_result_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "result.json"
    for text, says in ((None, "does not exist"), ("{", "is not JSON"), ("{}", "is not a result")):
        if text is not None:
            file.write_text(text)
        monkeypatch.setattr("sys.argv", ["nic2core", "explain", str(tmp_path)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == ending.EXIT_USER
        assert says in capsys.readouterr().err


def test_a_run_without_work_is_explained_as_far_as_it_goes(
    packetless: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    explanation.show(packetless, packetless.helps)
    assert "cores" in capsys.readouterr().out


def test_what_to_do_next_is_said_where_nothing_limits(
    calm: Result, ddio: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(result: Result, helps: list[Help]) -> str:
        explanation.show(result, helps)
        return " ".join(capsys.readouterr().out.split())

    assert "nic2core peak" in shown(calm, calm.helps)
    assert ddio.data.packets.drop_share > 0
    said = shown(ddio, ddio.helps)
    assert "nic2core explain DIR --check` runs each one and" in said
    assert "nic2core peak" not in said
    run = [replace(h, measured=0.1, drop_share=0.25, tails={"p99_ns": 12300.0}) for h in ddio.helps]
    said = shown(ddio, run)
    assert "25.0 % 12.3 µs" in said
    assert "Without a change" in said
    assert "search of its own" not in said
    found = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=ddio.data)
    peak = replace(ddio, peak=found)
    assert "Each re-run is a search of its own, which ends within 1 %" in shown(peak, run)
    assert "search of its own" not in shown(peak, ddio.helps)
    by_ways = [replace(h, predicted=0.5 * (h.change.domain == "io-ways")) for h in ddio.helps]
    ways = ddio.scenario["placement"]["io_ways"]
    several = f"placement.io_ways={ways},{2 * ways},{4 * ways}"
    assert several in shown(ddio, by_ways)
    assert "placement.io_ways" not in shown(ddio, [replace(h, predicted=0.0) for h in by_ways])


def test_a_change_that_cannot_be_run_says_why_and_the_others_are_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {"run.warmup": "20 us", "run.duration": "20 us"}
    entries = {"machine.nic.rss.indirection_entries": 4}
    # What a scenario's check refuses is not offered.
    assert "5 cores" not in {h.change.what for h in api.run("explain-cpu", short | entries).helps}
    result = api.run("explain-cpu", short)
    assert "5 cores" in {h.change.what for h in result.helps}
    run = engine.run

    def build(text: str, *others: Any) -> Results:
        """Refuse a fifth queue only when it is built."""
        if json.loads(text)["tenants"][0]["cores"]["count"] > 4:
            raise UserError("machine.nic.rss.indirection_entries = 4 cannot be simulated.")
        return run(text, *others)

    monkeypatch.setattr(engine, "run", build)
    helps = run_changes(result).by_domain
    refused = {name: h.refused for name, h in helps.items() if h.refused is not None}
    assert refused.keys() == {"cores"}
    assert refused["cores"].startswith("machine.nic.rss")
    assert all((h.measured is None) == (name in refused) for name, h in helps.items())
    monkeypatch.setenv("COLUMNS", "160")
    explanation.show(result, list(helps.values()))
    shown = capsys.readouterr().out
    assert len([line for line in shown.splitlines() if "not possible" in line]) == 1
    assert "5 cores: machine.nic.rss.indirection_entries = 4" in shown
    changes = explanation.to_json(result, list(helps.values()))["changes"]
    assert {c["domain"]: c["not_possible"] for c in changes if c["not_possible"]} == refused


def test_what_is_refused_is_told_as_it_is(ddio: Result, capsys: pytest.CaptureFixture[str]) -> None:
    refused = [replace(h, refused="allowed: [/a] or [b]") for h in ddio.helps]
    explanation.show(ddio, refused)
    assert "allowed: [/a] or [b]" in " ".join(capsys.readouterr().out.split())


def test_full_credits_and_what_they_wait_for_are_both_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = api.run("explain-trackers", {"run.warmup": "1 ms", "run.duration": "500 us"})
    assert (result.model.tightest, result.model.cause) == ("io-credits", "home-trackers")
    explanation.show(result, [])
    # In a narrow terminal a mark may stand below the name.
    shown = re.sub(r"  [^\n]*\n◀", " ◀", capsys.readouterr().out)
    marked = re.findall(r"^(I/O write credits|LLC home trackers)\b.*◀ (\w+)", shown, re.MULTILINE)
    assert marked == [("I/O write credits", "waits"), ("LLC home trackers", "limits")]
    badges = {row.domain: row.badge for row in limits_of(result) if row.badge}
    assert badges == {"io-credits": "waits", "home-trackers": "limits"}


def test_a_prediction_that_is_off_when_run_is_told(ddio: Result) -> None:
    def told(predicted: float, measured: float) -> list[str]:
        of = replace(ddio.helps[0], predicted=predicted, measured=measured)
        return [hint for hint in hints(ddio, [of]) if hint.startswith("Predicted too ")]

    stage = names.stage(ddio.helps[0].change.domain)
    (low,) = told(0.0, 0.12)
    assert low.startswith(f"Predicted too low: {stage}, ")
    assert low.endswith(", 0 % instead of +12 %.")
    (high,) = told(0.46, 0.12)
    assert high.startswith("Predicted too high: ")
    assert told(0.0, 0.04) == told(0.35, 0.40) == told(nan, 0.12) == []


def test_where_nothing_limits_nothing_is_said_to_be_unpredicted(calm: Result) -> None:
    unknown = [replace(h, unknown="of something", predicted=nan) for h in calm.helps]
    assert "Not predicted" not in "\n".join(hints(calm, unknown))


def test_where_nothing_limits_no_change_is_listed(
    calm: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    explanation.show(calm, calm.helps)
    shown = capsys.readouterr().out
    assert "helps by" not in shown
    assert "twice the descriptors" not in shown
    assert "no change can raise the throughput" in " ".join(shown.split())
    # What was run is shown.
    explanation.show(calm, [replace(h, measured=0.0) for h in calm.helps])
    assert "re-run" in capsys.readouterr().out


def explain(
    monkeypatch: pytest.MonkeyPatch, result: Result, where: Path, *options: str
) -> int | str | None:
    """What `nic2core explain` ends with."""
    command = ["nic2core", "explain", str(result.save(where)), *options]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code


def test_where_nothing_limits_a_check_shows_what_lowers_the_tail(
    calm: Result,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p99_ns = calm.p99_ns
    assert p99_ns is not None

    def run(_: Result, __: int, helps: Helps) -> Helps:
        made = [h for h in helps if h.change.takes is not Takes.IDEAL]
        left = {id(h): 1 - 0.1 * number for number, h in enumerate(made[:3])}
        left |= {id(h): 0.1 for h in helps if h not in made}
        return Helps(
            replace(
                h, measured=0.0, drop_share=0.0, tails={"p99_ns": left.get(id(h), 1.0) * p99_ns}
            )
            for h in helps
        )

    monkeypatch.setattr("nic2core.rerun.run_changes", run)
    assert not explain(monkeypatch, calm, tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert "--check` shows what lowers the latency." in said
    assert not explain(monkeypatch, calm, tmp_path, "--check")
    said = " ".join(capsys.readouterr().out.split())
    third = [h for h in calm.helps if h.change.takes is not Takes.IDEAL][2].change
    assert (
        f"Lowest p99 latency: {names.stage(third.domain)}, {third.what}, "
        f"{words.time(0.8 * p99_ns)} instead of {words.time(p99_ns)}: `nic2core run "
    ) in said
    assert "No stage limits at this load, so no change can raise the throughput." in said
    checked = run(calm, 1, calm.helps).table
    assert checked["rerun_p99_ns"].min() == pytest.approx(0.1 * p99_ns)
    assert "rerun_p99_ns" not in calm.helps.table.columns


def test_only_changes_to_some_domains_are_shown(
    ddio: Result,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not explain(
        monkeypatch, ddio, tmp_path, "--only", "LLC I/O ways", "--only", "cores", "--json"
    )
    shown = json.loads(capsys.readouterr().out)
    assert {c["domain"] for c in shown["changes"]} == {"io-ways", "cores"}
    assert explain(monkeypatch, ddio, tmp_path, "--only", "core")
    told = " ".join(capsys.readouterr().err.split())
    assert "--only core: there is no change to it; allowed: wire, NIC input SRAM, receive" in told


def test_a_check_shows_the_tails_that_senders_ask_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = {"traffic.load": "0.5 Gbps", "run.warmup": "1 ms", "run.duration": "1 ms"}
    loaded = api.run("host-congestion", {**sets, "tenants.0.app.copied": "on-arrival"})
    column, *others = tails(loaded)
    assert (column, others) == ("p99_slowdown_shortest", [])
    short = [loaded.helps[0]]
    monkeypatch.setattr(
        "nic2core.rerun.run_changes",
        lambda *_: [replace(h, measured=0.0, drop_share=0.0, tails={column: 1.234}) for h in short],
    )
    assert not explain(monkeypatch, loaded, tmp_path, "--check")
    out = capsys.readouterr().out
    assert "p99 slowdown" in out
    assert "1.23" in out
    assert "the p99 slowdown of the shortest reads is" in " ".join(out.split())


def test_a_bug_in_a_re_run_is_the_end_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = api.run("explain-cpu", {"run.warmup": "50 us", "run.duration": "50 us"})

    def fails(*_: object) -> None:
        raise ModelError("a packet is missing")

    monkeypatch.setattr("nic2core.engine.run", fails)
    assert explain(monkeypatch, short, tmp_path, "--check") == ending.EXIT_BUG
    assert "this is a bug in the simulator, please report it: a packet is missing" in " ".join(
        capsys.readouterr().out.split()
    )


def test_what_makes_a_saved_run_doubtful_is_told_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = api.run("explain-cpu", {"run.warmup": "20 us", "run.duration": "20 us"})
    due = doubts(short)
    assert due
    for options in ((), ("--json",)):
        assert not explain(monkeypatch, short, tmp_path, *options)
        shown = capsys.readouterr()
        for warning in due:
            assert f"Warning: {warning}" in shown.err
            assert warning not in shown.out


def test_what_is_suggested_is_of_the_directory_and_shown_as_it_is(
    ddio: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Brackets are no markup."""
    saved = ddio.save(tmp_path / "[a] [/b]")
    monkeypatch.setattr("sys.argv", ["nic2core", "explain", str(saved)])
    with pytest.raises(SystemExit):
        cli.main()
    commands = re.findall("`(nic2core [^`]*)`", capsys.readouterr().out.replace("\n", " "))
    assert commands
    assert all(shlex.split(command)[2] == str(saved) for command in commands)


def test_reruns_of_senders_are_said_to_differ_by_chance(closed_loop: Result, ddio: Result) -> None:
    for result, chance in ((closed_loop, True), (ddio, False)):
        told = "`nic2core compare DIR --vary run.seed=1,2,3` shows how large these can be."
        run = [replace(h, measured=0.02) for h in ddio.helps]
        assert (told in "\n".join(hints(result, run))) == chance
        assert told not in "\n".join(hints(result, ddio.helps))


def test_what_leaks_are_packets_where_kinds_are_told_apart(ddio: Result) -> None:
    io = ddio.data.io
    assert io is not None
    assert io.write_hits is not None
    assert io.write_misses is not None
    written = io.write_hits + io.write_misses
    none = dict.fromkeys(("write_moves", "write_bypasses", "write_asides", "read_hits"), 0)
    kinds = [
        IoKindResults(kind=kind, write_hits=0, write_misses=lines, read_misses=0, **none)
        for kind, lines in (("rx", 16 * written // 17), ("descriptor", written // 17))
    ]
    told = ddio.data.model_copy(update={"io": io.model_copy(update={"by_kind": kinds})})
    assert leaking(told) == pytest.approx(leaking(ddio.data) * 17 / 16, rel=1e-3)


def test_a_leak_has_ways_and_descriptors_against_it(ddio: Result) -> None:
    """24 queues of 1024 packets of 16 lines are 25.2 MB, and completions of 16 B 0.4 MB."""
    leak = [replace(h, predicted=0.5) for h in ddio.helps if h.change.domain == "io-ways"]
    said = "\n".join(hints(ddio, leak))
    # 14.6 of 17 lines written for a request, which has one that is its completion.
    assert (
        "Of the packet lines that the NIC writes, 85.9 % are evicted to memory (19.5 GB/s). "
        "Packets go through 25.6 MB of receive buffers and completions in turn; the I/O ways hold "
        "6.29 MB."
    ) in said
    assert "`nic2core compare DIR --vary placement.io_ways=2,4,8` compares" in said
    named = "\n".join(hints(ddio, leak, "my runs/a"))
    assert "`nic2core compare 'my runs/a' --vary placement.io_ways=2,4,8` compares" in named
    assert "Or use fewer buffers: 128 per queue" in said
    assert "--vary queues.rx_descriptors=1024,512,256,128`" in said
    # Instead of pushes into the L2s an ideal DDIO may lose: it is neither a change nor a bound.
    pushed = replace(
        ddio,
        scenario=ddio.scenario | {"placement": ddio.scenario["placement"] | {"policy": "ddio-l2"}},
    )
    assert "io-ways" in {h.change.domain for h in ddio.helps}
    assert "io-ways" not in {h.change.domain for h in pushed.helps}
    assert "Ideal DDIO is the upper bound" in said
    said = "\n".join(hints(pushed, leak))
    assert "More I/O ways can leak less; `nic2core compare DIR --vary placement.io_ways=2,4" in said
    # A pool that is a ring goes round as a whole, whatever the descriptors.
    for buffers in (2048, ddio.scenario["queues"]["rx_descriptors"]):
        queues = {**ddio.scenario["queues"], "pool": "ring", "pool_buffers": buffers}
        pool = replace(ddio, scenario={**ddio.scenario, "queues": queues})
        assert "rx_descriptors" not in "\n".join(hints(pool, leak))
    assert "--vary" not in "\n".join(hints(ddio, [replace(leak[0], predicted=0.0)]))
    # More ways hold no more of what goes past them.
    assert ddio.data.io is not None
    past = ddio.data.io.model_copy(update={"write_bypasses": 10**9})
    run = replace(ddio, data=ddio.data.model_copy(update={"io": past}))
    said = "\n".join(hints(run, leak))
    assert "--vary placement.policy=ddio,ddio" in said
    assert "io_ways" not in said


def test_what_leaks_is_told_even_where_nothing_limits(calm: Result) -> None:
    """Of 1,778,200 lines."""
    for lines, told in ((90_000, "5.06 %"), (88_000, "")):
        causes = [
            cause.model_copy(update={"lines": lines}) if cause.cause == "rx-evct" else cause
            for cause in calm.data.memory.causes
        ]
        memory = calm.data.memory.model_copy(update={"causes": causes})
        run = replace(calm, data=calm.data.model_copy(update={"memory": memory}))
        said = "\n".join(hints(run, run.helps))
        assert "no change can raise the throughput" in said
        assert ("evicted to memory" in said) == bool(told)
        assert f"Of the packet lines that the NIC writes, {told}" in said or not told


def test_domains_that_limit_together_are_told(ddio: Result) -> None:
    assert "allow the same rate" not in "\n".join(hints(ddio, []))
    model = ddio.model
    others = {**model.others, "wire": 1.01 * model.rate}
    run = replace(ddio)
    # As the cached property would have it.
    run.__dict__["model"] = replace(model, others=others)
    (tied,) = (hint for hint in hints(run, []) if "allow the same rate, within 2 %" in hint)
    both = (model.tightest, "wire")
    for name in both:
        assert names.stage(name) in tied.lower() or names.stage(name) in tied
    assert tied.endswith("a change to one alone may gain nothing."), "no change is known"
    keys: dict[str, dict[str, Any]]
    keys = {"wire": {"machine.nic.link": "200 Gbps"}, model.tightest: {"machine.a.key": 2}}
    helps = [
        replace(
            ddio.helps[0], change=replace(ddio.helps[0].change, domain=name, overrides=keys[name])
        )
        for name in both
    ]
    (tied,) = (hint for hint in hints(run, helps) if "allow the same rate" in hint)
    command = "`nic2core run DIR --set machine.a.key=2 --set 'machine.nic.link=200 Gbps'`"
    assert tied.endswith(f"may gain nothing. Both together: {command}.")


def test_what_does_not_leak_is_not_offered_to_leak_no_more(ddio: Result) -> None:
    assert any(h.change.domain == "io-ways" for h in ddio.helps)
    dry = [
        cause.model_copy(update={"lines": 0}) if cause.cause in RECEIVED else cause
        for cause in ddio.data.memory.causes
    ]
    memory = ddio.data.memory.model_copy(update={"causes": dry})
    run = replace(ddio, data=ddio.data.model_copy(update={"memory": memory}))
    assert all(h.change.domain != "io-ways" for h in run.helps)


def test_the_keys_of_what_helps_most_are_told(ddio: Result) -> None:
    helps = [replace(h, predicted=0.0) for h in ddio.helps]
    best = next(n for n, h in enumerate(helps) if h.change.domain == "nic-sram")
    leak = next(n for n, h in enumerate(helps) if h.change.domain == "io-ways")
    helps[best] = replace(helps[best], predicted=0.2)
    # An ideal DDIO helps more, but nobody can set it.
    helps[leak] = replace(helps[leak], predicted=0.9)
    said = "\n".join(hints(ddio, helps))
    change = "--set 'machine.nic.sram=2 MiB'"
    assert f"NIC input SRAM, 2 MiB of SRAM, +20 %: `nic2core run DIR {change}`." in said
    # What takes other hardware is not for everyone.
    assert "Best change of a setting" not in said
    setting = next(n for n, h in enumerate(helps) if h.change.domain == "descriptors")
    helps[setting] = replace(helps[setting], predicted=0.1)
    too = "\n".join(hints(ddio, helps))
    assert f"{change}`.\nBest change of a setting: receive descriptors, twice the" in too
    helps[setting] = replace(helps[setting], predicted=0.0)
    found = Peak(peak_mpps=1, fails_at_mpps=2, failed_by="p99", probes=[], results=ddio.data)
    said = "\n".join(hints(replace(ddio, peak=found), helps, "out/a"))
    assert f": `nic2core peak out/a {change}`." in said
    helps[best] = replace(helps[best], measured=0.01)
    assert "Best single change" not in "\n".join(hints(ddio, helps))


def test_a_search_of_a_short_run_is_told_its_time(calm: Result) -> None:
    def said(duration: str, traffic: dict[str, str]) -> str:
        scenario = calm.scenario | {
            "run": calm.scenario["run"] | {"duration": duration},
            "traffic": calm.scenario["traffic"] | traffic,
        }
        return "\n".join(hints(replace(calm, scenario=scenario), calm.helps))

    # 1000 packets at half of the rate.
    demand = calm.data.demand_mpps
    assert demand is not None
    enough_ns = 2e6 / demand
    assert "`nic2core peak DIR --out PEAK`" in said("1 s", {})
    assert "`nic2core peak DIR --out PEAK`" in said(f"{ceil(enough_ns)} ns", {})
    short = f"{floor(enough_ns) - 1} ns"
    assert f'peak DIR --set run.duration="{words.at_least(enough_ns)}" --out' in said(short, {})
    cycle = {"on": "3 ms", "off": "4 ms"}
    assert f'"{words.at_least(enough_ns + 7e6)}" --out PEAK`' in said("1 ms", cycle)


def test_a_neighbour_is_kept_out_of_the_io_ways(ddio: Result) -> None:
    leak = [replace(h, predicted=0.2) for h in ddio.helps if h.change.domain == "io-ways"]
    core = ddio.scenario["machine"]["core"]["count"]
    beside = ddio.scenario["tenants"][0] | {"name": "other", "cores": {"first": core, "count": 1}}
    of = ddio.data.tenants[0].model_copy(update={"name": "other", "llc_misses": 10})

    def said(misses: int, **ways: Any) -> str:
        scenario = ddio.scenario | {"tenants": [*ddio.scenario["tenants"], beside | ways]}
        tenants = [*ddio.data.tenants, of.model_copy(update={"llc_misses": misses})]
        data = ddio.data.model_copy(update={"tenants": tenants})
        run = replace(ddio, scenario=scenario, data=data)
        return "\n".join(hint for hint in hints(run, leak) if "keeps its lines out" in hint)

    io_ways, ways = ddio.scenario["placement"]["io_ways"], ddio.scenario["machine"]["llc"]["ways"]
    change = f"'tenants.1.llc_ways={{ first = {io_ways}, count = {ways - io_ways} }}'"
    assert said(10).startswith(
        f"The lines of other may evict those of the NIC, too: `nic2core run DIR --set {change}`"
    )
    assert said(10, llc_ways={"first": io_ways - 1, "count": 2})
    assert not said(10, llc_ways={"first": io_ways, "count": 2})
    assert not said(0)
    assert "keeps its lines out" not in "\n".join(hints(ddio, leak))
