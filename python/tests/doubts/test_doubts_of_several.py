"""How the doubts of several runs, and of seeds, are told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from altered import with_full_wire, with_numbers

import nic2core
from nic2core import Result, api
from nic2core.command import terminal
from nic2core.describe.doubts import all_doubts, doubts
from nic2core.report.page import report_html
from nic2core.results.models import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@pytest.mark.parametrize(
    ("found", "told"),
    [([3], [""]), ([3, 3], ["Both runs: "]), ([3, 3, 3], ["All 3 runs: "]),
     ([3, 4, 3], ["DDIO, 0; DDIO, 2: ", "DDIO, 1: "]),
     ([3] * 6 + [0], ["DDIO, 0; DDIO, 1; DDIO, 2; DDIO, 3; and 2 more: "])],
)  # fmt: skip
def test_a_warning_of_several_runs_is_told_once(
    ddio: Result, found: list[int], told: list[str]
) -> None:
    runs = [
        replace(ddio, label=f"DDIO, {n}",
                data=ddio.data.model_copy(update={"reads_after_sweep": reads}))
        for n, reads in enumerate(found)
    ]  # fmt: skip
    assert [doubt.of for doubt in all_doubts(runs)] == told
    assert [len(doubts(run)) for run in runs] == [reads > 0 for reads in found]


def seeds_of(base: Result, reads: Sequence[int]) -> list[Result]:
    """The same run with seeds from 1 on, and so many reads of swept data with each."""
    made = []
    for seed, several in enumerate(reads, start=1):
        data = base.data.model_copy(update={"seed": seed, "reads_after_sweep": several})
        scenario = base.scenario | {"run": base.scenario["run"] | {"seed": seed}}
        label = f"{base.label}, seed={seed}"
        made.append(replace(base, scenario=scenario, data=data, label=label))
    return made


@pytest.mark.parametrize(
    ("reads", "of", "worst"),
    [([3, 5, 4], "All 3 seeds (worst: seed 2): ", 5), ([5, 3], "Both seeds (worst: seed 1): ", 5),
     ([3, 0, 4, 3], "3 of 4 seeds (worst: seed 3): ", 4), ([0, 0, 7], "1 of 3 seeds (seed 3): ", 7),
     ([3, 3, 0], "2 of 3 seeds (worst: seed 1): ", 3), ([3, 3, 3], "All 3 runs: ", 3)],
)  # fmt: skip
def test_several_seeds_are_warned_of_once_with_the_worst_numbers(
    ddio: Result, reads: list[int], of: str, worst: int
) -> None:
    (doubt,) = all_doubts(seeds_of(ddio, reads))
    assert doubt.of == of
    assert f"read it afterwards, {worst} times" in doubt.warning


def test_a_seed_that_was_run_twice_is_warned_of_once(ddio: Result) -> None:
    runs = [*seeds_of(ddio, [3, 4]), *seeds_of(ddio, [3])]
    (doubt,) = all_doubts(runs)
    assert doubt.of == "Both seeds (worst: seed 2): "


def test_seeds_of_several_scenarios_are_warned_of_by_scenario(
    ddio: Result, sweeper: Result
) -> None:
    def told(one: list[int], other: list[int]) -> list[str]:
        runs = [*seeds_of(ddio, one), *seeds_of(sweeper, other)]
        return [f"{doubt.of}{doubt.warning}".split(" times")[0] for doubt in all_doubts(runs)]

    an_error = "an application has a bug: it relinquished data and read it afterwards,"
    assert told([3, 4], [6, 5, 6]) == [
        f"{ddio.label}, both seeds (worst: seed 2): {an_error} 4",
        f"{sweeper.label}, all 3 seeds (worst: seed 1): {an_error} 6",
    ]
    # The same text is told once, whoever's it is.
    assert told([3, 4], [4]) == [
        f"{ddio.label}, both seeds (worst: seed 2); {sweeper.label}: {an_error} 4"
    ]
    assert told([4, 4], [4, 0]) == [
        f"{ddio.label}; {sweeper.label}, 1 of 2 seeds (seed 1): {an_error} 4"
    ]
    assert told([4, 4], [4, 4]) == [f"All 4 runs: {an_error} 4"]


def test_a_kind_of_warning_of_many_runs_is_told_once_with_the_worst_numbers(ddio: Result) -> None:
    def run(number: int, reads: int) -> Result:
        data = ddio.data.model_copy(update={"reads_after_sweep": reads})
        # Another key than the seed, so that they are runs of their own.
        scenario = ddio.scenario | {"placement": ddio.scenario["placement"] | {"io_ways": number}}
        return replace(ddio, scenario=scenario, data=data, label=f"run {number}")

    two = all_doubts([run(1, 5), run(2, 7)])
    assert [doubt.of for doubt in two] == ["run 1: ", "run 2: "]
    (some,) = all_doubts([run(1, 5), run(2, 7), run(3, 0), run(4, 6)])
    assert some.of == "run 1; run 2; run 4 (worst: run 2): "
    assert "7 times" in some.warning
    (every,) = all_doubts([run(1, 5), run(2, 7), run(3, 8)])
    assert every.of == "All 3 runs (worst: run 3): "
    # One seed of each of three scenarios.
    scenarios = [seeds_of(run(number, 0), [0, number]) for number in (3, 4, 5)]
    (one,) = all_doubts([of for seeds in scenarios for of in seeds])
    assert one.of.startswith("run 3, 1 of 2 seeds (seed 2); run 4, 1 of 2 seeds (seed 2); run 5, ")
    assert one.of.endswith(" (worst: run 5, seed 2): ")


def with_series(base: Result, name: str, times: float) -> Result:
    """The same run with a series that ends at so many times its start, and steady arrivals."""
    columns = [
        Series(name=of, unit="Mpps", values=[*[20.0] * 40, *[20.0 * more] * 40])
        for of, more in (("offered", 1.0), (name, times))
    ]
    return with_numbers(base, "series", columns=columns)


def with_latencies(base: Result, **numbers: float) -> Result:
    latency = [
        of.model_copy(update={"distribution": of.distribution.model_copy(update=numbers)})
        for of in base.data.latency
    ]
    return replace(base, data=base.data.model_copy(update={"latency": latency}))


WORSE: dict[str, tuple[str, Callable[[Result, float], Result], float, float]] = {
    "dirty lines": (
        "were not written back", lambda r, n: with_numbers(r, "memory", dirty_end=int(n)),
        500_000, 600_000,
    ),
    "changing throughput": (
        "the throughput was", lambda r, n: with_series(r, "completed", n), 0.9, 0.8
    ),
    "goodput": ("the goodput went", lambda r, n: with_series(r, "goodput", n), 0.5, 0.4),
    "rising goodput": ("the goodput went", lambda r, n: with_series(r, "goodput", n), 2.0, 3.0),
    # The slower they fill, the longer it takes.
    "filling rings": (
        "its rings were still", lambda r, n: with_numbers(r, "packets", in_flight_end=int(n)),
        9_000, 8_000,
    ),
    "few packets": ("99th percentile", lambda r, n: with_latencies(r, count=int(n)), 700, 600),
    "short backlog": (
        "the backlog should be", lambda r, n: with_latencies(r, mean_ns=n), 2_000.0, 1_000.0
    ),
    "marks": (
        "slow down no further",
        lambda r, n: with_numbers(r, "transport", marked=int(n), hears_marks=True),
        13_300, 13_500,
    ),
    "full link": ("link delivers only", with_full_wire, 30.0, 40.0),
    "bursts before a link": (
        "bursts come faster", lambda r, n: with_numbers(r, "packets", link_wait_ns=n), 2e4, 3e4
    ),
    "sizes above the capture's": (
        "drawn requests", lambda r, n: with_numbers(r, "packets", offered_gbps=n), 90.0, 99.0
    ),
    "sizes below the capture's": (
        "drawn requests", lambda r, n: with_numbers(r, "packets", offered_gbps=n), 20.0, 10.0
    ),
    "no arrivals": (
        "no packet arrived", lambda r, n: with_numbers(r, "packets", next_arrival_ns=n), 2e7, 3e7
    ),
}  # fmt: skip


"""What a warning says, how a number that it depends on is set, and the number of a run that is bad
and of one that is worse."""


@pytest.mark.parametrize("what", WORSE)
def test_of_each_kind_the_worse_seed_is_told(what: str, calm: Result, closed_loop: Result) -> None:
    text, with_number, bad, worse = WORSE[what]
    base = closed_loop if what in {"goodput", "rising goodput", "marks"} else calm
    base = with_numbers(base, "packets", completed_before=10**9)
    traffics: dict[str, dict[str, Any]] = {
        "short backlog": {"kind": "backlog", "depth": 32},
        "marks": {
            "control": {"kind": "dctcp", "min_cwnd": 1.0},
            "network": {"ecn_threshold": "1", "delay": "5 us", "sender_link": "100 Gbps"},
        },
        "bursts before a link": {"kind": "replay"},
        "sizes above the capture's": {"kind": "replay", "rate": "40 Gbps"},
        "sizes below the capture's": {"kind": "replay", "rate": "40 Gbps"},
    }
    traffic = base.scenario["traffic"] | traffics.get(what, {})
    base = replace(base, scenario=base.scenario | {"traffic": traffic})
    bad_one, worse_one = with_number(base, bad), with_number(base, worse)
    for pair, seed in (((bad_one, worse_one), 2), ((worse_one, bad_one), 1)):
        runs = [seeds_of(run, [0, 0])[n] for n, run in enumerate(pair)]
        (told,) = (d for d in all_doubts(runs) if text in d.warning)
        assert told.of == f"Both seeds (worst: seed {seed}): "


def test_the_longest_warm_up_that_a_seed_needs_is_suggested() -> None:
    short = {"run.warmup": "100 us", "run.duration": "200 us"}
    done = nic2core.sweep("explain-iommu", {"run.seed": [1, 2, 3]}, overrides=short)
    each = [[d for d in doubts(run) if "warm-up" in d] for run in done]
    assert len({doubt for (doubt,) in each}) > 1
    (told,) = (d.warning for d in all_doubts(done.results) if "warm-up" in d.warning)
    enough = [float(doubt.split("run.warmup to ")[1].split(" ms")[0]) for (doubt,) in each]
    assert f"run.warmup to {max(enough):g} ms or more" in told


def test_terminal_report_and_python_warn_of_seeds_alike(
    ddio: Result, sweeper: Result, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [*seeds_of(ddio, [3, 4]), *seeds_of(sweeper, [0, 5])]
    terminal.warn(runs)
    shown = capsys.readouterr().err.splitlines()
    page = report_html(runs)
    with pytest.warns(api.DoubtfulNumbers) as caught:
        api.warn_of_doubts(runs)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 2
    for doubt, text, line in zip(all_doubts(runs), said, shown, strict=True):
        assert line == f"{doubt.of}Warning: {doubt.warning}"
        assert text == f"{doubt.of}{doubt.warning}"
        assert line in page
