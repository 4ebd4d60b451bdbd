"""The API for notebooks and scripts: load a scenario, change it, run it, search for its peak."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nic2core import engine, sources
from nic2core.describe.doubts import all_doubts
from nic2core.describe.labels import describe
from nic2core.progress import of_run
from nic2core.result import Result
from nic2core.results.timeline import Recording, Timeline
from nic2core.scenario.capture import capture_digest
from nic2core.scenario.models import Scenario
from nic2core.scenario.toml_text import toml_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nic2core.engine import Watch
    from nic2core.results.models import Results


def load(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Load a scenario file and its machine, with some keys overridden, for further editing.

    The directory of a saved result, or its `result.json`, stands for the scenario that it ran.

    Overrides always map dotted keys to values: `{"placement.io_ways": 4}`. A value is either a
    Python value or text in the syntax of `--set`: `"4"`, `"{ kind = 'dctcp' }"`.
    """
    read = sources.prepare(path, overrides, peak=True)
    scenario = Scenario.model_validate_json(read.text)
    return sources.with_origin(scenario, read.name, read.origins, read.settings, read.dropped)


class WithoutEffect(UserWarning):
    """A key was set that has no effect, because of the value of another key."""


def warn_of_keys_without_effect(runs: Sequence[sources.Prepared], *, peak: bool = False) -> None:
    """Warn of overridden keys that have no effect in any of these runs.

    Also warn of DRAM timings that were dropped because the memory standard changed. A saved run
    that this one goes on from has warned of keys without effect in it.
    """
    for text in dict.fromkeys(run.dropped for run in runs if run.dropped):
        warnings.warn(text, WithoutEffect, stacklevel=3)
    for key in runs[0].settings if runs else ():
        if key in runs[0].warned:
            continue
        because = [run.without_effect.get(key) for run in runs]
        if not peak and sources.is_objective(key):
            because = ["only a peak search keeps an objective"]
        if all(because):
            values = ", ".join(dict.fromkeys(toml_value(run.settings[key]) for run in runs))
            text = f"{key} = {values} has no effect here: {because[0]}."
            warnings.warn(text, WithoutEffect, stacklevel=3)


def run(
    source: sources.Source,
    overrides: Mapping[str, Any] | None = None,
    *,
    label: str | None = None,
    watch: Watch | None = None,
) -> Result:
    """Simulate a scenario. The same scenario and seed give bit-identical results on any machine.

    Without a `watch` of your own, a progress bar is shown on a terminal.
    """
    prepared = sources.prepare(source, overrides)
    warn_of_keys_without_effect([prepared])
    with of_run(watch, "simulating") as followed:
        result = run_prepared(prepared, label, followed)
    warn_of_doubts([result])
    return result


def record(
    source: sources.Source,
    overrides: Mapping[str, Any] | None = None,
    recording: Recording | None = None,
    *,
    label: str | None = None,
    watch: Watch | None = None,
) -> tuple[Result, Timeline]:
    """Simulate a scenario like `run`, and trace individual packets along their path."""
    prepared = sources.prepare(source, overrides)
    warn_of_keys_without_effect([prepared])
    replayed = capture_digest(prepared.scenario)
    with of_run(watch, "simulating") as followed:
        data, timeline = engine.record(
            prepared.text, recording or Recording(), followed, prepared.origins
        )
    result = _result(prepared, data, label, replayed)
    warn_of_doubts([result])
    return result, timeline


def find_peak(
    source: sources.Source,
    overrides: Mapping[str, Any] | None = None,
    *,
    label: str | None = None,
    watch: Watch | None = None,
) -> Result:
    """Search for the highest rate that meets the scenario's objective; return the run at that rate.

    `result.peak` has the two rates that bracket the peak, and every rate that was tried.
    """
    prepared = sources.prepare(source, overrides, peak=True)
    warn_of_keys_without_effect([prepared], peak=True)
    with of_run(watch, "searching for the peak") as followed:
        result = peak_prepared(prepared, label, followed)
    warn_of_doubts([result])
    return result


class DoubtfulNumbers(UserWarning):
    """The numbers of a run mean less than they seem to; `Result.doubts` lists the reasons."""


def warn_of_doubts(results: Sequence[Result]) -> None:
    """Warn of what makes the numbers doubtful; with several runs, name the run."""
    for doubt in all_doubts(results):
        warnings.warn(f"{doubt.of}{doubt.warning}", DoubtfulNumbers, stacklevel=3)


def run_prepared(prepared: sources.Prepared, label: str | None, watch: Watch) -> Result:
    """Simulate what `prepare` returned."""
    replayed = capture_digest(prepared.scenario)
    data = engine.run(prepared.text, watch, prepared.origins)
    return _result(prepared, data, label, replayed)


def peak_prepared(prepared: sources.Prepared, label: str | None, watch: Watch) -> Result:
    """Search for the peak of what `prepare` returned."""
    replayed = capture_digest(prepared.scenario)
    peak = engine.find_peak(prepared.text, watch, prepared.origins)
    return replace(_result(prepared, peak.results, label, replayed), peak=peak)


def _result(
    prepared: sources.Prepared, data: Results, label: str | None, replayed: str | None
) -> Result:
    """The result of a run.

    `replayed` is the digest of the capture when the run began, when the engine read it.
    """
    scenario = prepared.scenario
    name = describe(scenario) if label is None else str(label)
    return Result(
        scenario,
        data,
        name,
        prepared.settings,
        capture=replayed,
        scenario_name=prepared.name,
        engine=engine.version(),
    )
