"""What can be run: a scenario, its file or a result, with keys overridden."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core import _core, shipped
from nic2core._core import Problem, UserError
from nic2core.listing import COMPARISON_FILE, listed_runs
from nic2core.results.peak_rate import rate_to_set
from nic2core.run_record import RESULT_FILE, Record
from nic2core.scenario.capture import capture_file, is_capture
from nic2core.scenario.models import Scenario
from nic2core.scenario.origin import Origin, layered
from nic2core.scenario.other_memory import STANDARD, dropped, own_timings
from nic2core.scenario.toml_text import as_sets, given, not_null, plain
from nic2core.words import listed

if TYPE_CHECKING:
    from os import PathLike

Source = str | Path | Scenario | Record
"""What can be run: the path of a scenario file or of a result, a scenario, or a result."""

BASE = "machine.base"
"""The key that names the machine file."""

A_SEARCH = "a search (nic2core.find_peak, or peak=True)"
ANOTHER_DIRECTORY = "another directory for out"
"""Parts of errors that name what a caller in Python has; the command names its own in their place.
"""


@dataclass(frozen=True)
class Prepared:
    """A complete and checked scenario, ready for the engine."""

    text: str
    """The scenario as JSON for the engine, with every default written out."""
    origins: dict[str, str]
    """Where each key was given, so that a later error can name the place."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The keys that were changed for this run, with their values."""
    without_effect: dict[str, str] = field(default_factory=dict)
    """The keys of `settings` that have no effect in this scenario, and why."""
    warned: frozenset[str] = frozenset()
    """Keys of `settings` that had no effect in the run from which this one goes on, or are of no
    use after a search: there is no need to warn of them again."""
    name: str = ""
    """The name of the scenario file without its extension; empty if there is no file."""
    dropped: str = ""
    """A sentence naming the DRAM timings dropped with their memory standard; empty if none were."""

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as plain data."""
        value: dict[str, Any] = json.loads(self.text)
        return value


def with_origin(
    scenario: Scenario,
    name: str,
    origins: dict[str, str],
    settings: dict[str, Any],
    dropped: str = "",
) -> Scenario:
    """The scenario, which knows from now on what was loaded."""
    loaded = plain(scenario.model_dump())
    scenario._origin = Origin(  # noqa: SLF001 - part of the API, but no key
        name, loaded, origins, settings, dropped
    )
    return scenario


def prepare(
    source: Source, changes: Mapping[str, Any] | None = None, *, peak: bool = False
) -> Prepared:
    """Read and check what is to run, with some keys overridden.

    Unless a `peak` is searched for, a result that is one needs a rate to run at.
    """
    changed = plain(keyed("overrides", changes, "4"))
    overrides = {key: not_null(value) for key, value in changed.items()}
    try:
        return _prepare(source, overrides, peak=peak)
    except UserError as error:
        begun = [part for part in PARTS if len(_missing(part, error)) > 1]
        if not begun:
            raise
        told = [str(p) for p in error.problems if not any(p in _missing(b, error) for b in begun)]
        shorter = UserError("\n".join([*told, *(_of_part(part, error) for part in begun)]))
        shorter.problems = error.problems
        raise shorter from None


def keyed(name: str, given: object, value: str) -> Mapping[str, Any]:
    """Return `given` if it maps keys to values, else refuse it; `value` is an example to show.

    `None` stands for no keys.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    raise UserError(
        f"{name} = {given!r} is a {type(given).__name__}; expected keys and their values, such as "
        f'{{"placement.io_ways": {value}}}.'
    )


PARTS = ("machine.iommu", "machine.pcie")
"""Parts that a machine may do without, whose keys are only known together."""


def _missing(part: str, error: UserError) -> list[Problem]:
    """The keys of a part that are missing: if several are, the machine has no such part."""
    missing = (p for p in error.problems if p.given == "nothing")
    return [p for p in missing if (p.key or "").rpartition(".")[0] == part]


def _of_part(part: str, error: UserError) -> str:
    """What to do if a part of the machine is only begun."""
    missing = _missing(part, error)
    keys = [(p.key or "").rpartition(".")[2] for p in missing]
    table = part.removeprefix("machine.")
    return (
        f"{missing[0].place}: the machine has no {part}, which also takes {listed(keys)}. "
        f"Copy the tables [{table}] of a machine that has it (such as broadwell-nfp) into your "
        "machine file; docs/your-server.md says what to change."
    )


def _prepare(source: Source, overrides: dict[str, Any], *, peak: bool) -> Prepared:
    if isinstance(source, str | Path):
        path = find(source)
        if _holds_results(path):
            return _again(Record.load(path), str(path), overrides, peak=peak)
        return _read(path, overrides)
    if isinstance(source, Scenario):
        return _changed(source, overrides)
    if isinstance(source, Record):
        return _again(source, repr(source.label), overrides, peak=peak)
    raise UserError(
        f"{type(source).__name__} is nothing that can run; expected the path of a scenario file "
        "or of a saved result, the name of a shipped scenario, one that nic2core.load gave, or a "
        "result."
    )


def _read(path: Path, overrides: dict[str, Any]) -> Prepared:
    """Load a scenario file and its machine, with these keys overridden."""
    if not path.exists():
        names = sorted(file.stem for file in shipped.SCENARIOS.glob("*.toml"))
        beside = {f.stem: str(f) for f in path.parent.glob("*.toml")}
        near = get_close_matches(path.stem, [*beside, *names], n=1)
        meant = f" Did you mean {beside.get(near[0], near[0])}?" if near else ""
        raise UserError(
            f"{path} does not exist.{meant} A scenario is a TOML file, the directory of a saved "
            f"result, or the name of one in {shipped.SCENARIOS.resolve()}: "
            f"{', '.join(names)}."
        )
    if path.is_dir():
        raise UserError(f"{path} is a directory; name a scenario file or the result of a run.")
    if is_capture(path):
        named = f'[traffic] kind = "replay", file = "{path.name}"'
        raise UserError(f"{path} is a capture, not a scenario. A scenario names it: {named}.")
    sets = as_sets(overrides)
    folders: list[str | PathLike[str]]
    # The folder `machines` beside the scenario's folder, also if the path is a bare file name.
    beside_folder = normpath(path.parent / ".." / "machines")
    folders = [beside_folder, ".", "machines", shipped.MACHINES]
    text, origins = _core.load_scenario(path, sets, folders)
    read = replace(_prepared(text, origins, _as_they_are(text, overrides)), name=_name(path))
    if STANDARD not in overrides:
        return read
    machine = [text for text in sets if text.startswith(("machine=", "machine.base="))]
    # A file that is valid only with the overrides has no earlier timings to report.
    with suppress(UserError):
        before, _ = _core.load_scenario(path, machine, folders)
        return replace(read, dropped=dropped(json.loads(before), read.scenario))
    return read


def _name(file: Path) -> str:
    """The name of a scenario file, with what is no UTF-8 replaced, so that it can be written."""
    return os.fsencode(file.stem).decode("utf-8", "replace")


def _holds_results(path: Path) -> bool:
    """Whether a path is a saved result, or a directory of one or several."""
    return path.name == RESULT_FILE or any(
        (path / file).exists() for file in (RESULT_FILE, COMPARISON_FILE)
    )


def _again(result: Record, name: str, overrides: dict[str, Any], *, peak: bool) -> Prepared:
    """What a run ran that errors call `name`, with these keys overridden."""
    if result.peak is not None and not peak and not overrides.keys() & {"traffic", "traffic.rate"}:
        raise UserError(
            f"{name} is the peak of a search, whose scenario alone does not run at this rate; "
            f"expected {A_SEARCH}, or a rate, such as traffic.rate = "
            f'"{rate_to_set(result.peak, result.scenario["traffic"])}".'
        )
    prepared = _changed(scenario_of(result), overrides)
    prepared = replace(prepared, warned=_had_no_effect(result) - overrides.keys())
    if capture_file(prepared.scenario) == capture_file(result.scenario):
        result.check_capture()
    return prepared


def _had_no_effect(result: Record) -> frozenset[str]:
    """The keys that a run had set and had no effect in it, and those of an objective."""
    before = _prepared(json.dumps(result.scenario), {}, result.settings).without_effect
    return frozenset(before) | {key for key in result.settings if is_objective(key)}


def is_objective(key: str) -> bool:
    """Whether a key belongs to the objective, which only a search keeps: `slo`, or one below it."""
    return key.partition(".")[0] == "slo"


def scenario_of(result: Record) -> Scenario:
    """The scenario that a result ran."""
    scenario = Scenario.model_validate(result.scenario)
    return with_origin(scenario, result.scenario_name, {}, result.settings)


def keep_source(source: Source, out: str | Path | None) -> None:
    """Refuse to write several runs into the directory of the result that they go on from."""
    if out is None:
        return
    out = Path(out)
    if any(_is_of(source, directory) for directory in (out, *listed_runs(out))):
        raise UserError(
            f"{out} holds the result whose scenario is to run; choose {ANOTHER_DIRECTORY}."
        )


def _is_of(source: Source, directory: Path) -> bool:
    """Whether what is to run is the result that a directory holds."""
    if isinstance(source, Record):
        return (directory / RESULT_FILE).exists() and source.is_saved_in(directory)
    if not isinstance(source, str | Path) or not _holds_results(find(source)):
        return False
    path = find(source)
    result = path.parent if path.name == RESULT_FILE else path
    return result.resolve() == directory.resolve()


def _changed(source: Scenario, overrides: dict[str, Any]) -> Prepared:
    """Apply these overrides to a loaded scenario."""
    if BASE in overrides:
        raise UserError(
            f"{BASE} = {overrides[BASE]!r}: a loaded scenario, like that of a result, has the "
            "whole machine, and no file that could be laid over another one; expected the name of "
            "the scenario file in its place, or nic2core.load(FILE, {...})."
        )
    origin = source._origin  # noqa: SLF001 - as in `load`
    # Values of the wrong type are refused below, with the same messages as in a file.
    value = plain(source.model_dump(warnings=False))
    assigned = origin.changed(value)
    before = value
    if STANDARD in assigned and origin.loaded is not None:
        before, dram = origin.loaded, value["machine"]["dram"]
        if STANDARD in overrides:
            # It replaces the one that was assigned.
            dram["standard"] = before["machine"]["dram"]["standard"]
        else:
            dram["timings"] = own_timings(value, assigned)
    text, origins = _core.change_scenario(
        json.dumps(given(value)), as_sets(overrides), origin.places_of(value)
    )
    settings = layered(origin.settings, assigned, _as_they_are(text, overrides))
    prepared = replace(_prepared(text, origins, settings), name=origin.name, dropped=origin.dropped)
    if STANDARD not in (*assigned, *overrides):
        return prepared
    return replace(prepared, dropped=dropped(before, prepared.scenario))


def _prepared(text: str, origins: dict[str, str], settings: dict[str, Any]) -> Prepared:
    idle = _core.without_effect(text) if settings else {}
    found = {
        key: because
        for key in settings
        for of, because in idle.items()
        if f"{key}.".startswith(f"{of}.")
    }
    return Prepared(text, origins, settings, found)


def _as_they_are(text: str, overrides: dict[str, Any]) -> dict[str, Any]:
    """The overridden keys, with their values as the scenario has them."""
    scenario = json.loads(text) if overrides else {}
    return {key: _as_it_is(scenario, key, value) for key, value in overrides.items()}


def _as_it_is(scenario: dict[str, Any], key: str, given: Any) -> Any:
    """A number or boolean given as text, as the scenario has it; everything else as it was given.

    Quantities, too, stay as given: the scenario turns `1000 ns` into `1 us` but keeps `1500 ns`.
    """
    value: Any = scenario
    for part in key.split("."):
        inner = {str(n): v for n, v in enumerate(value)} if isinstance(value, list) else value
        value = inner.get(part) if isinstance(inner, dict) else None
    return value if isinstance(given, str) and isinstance(value, int | float) else given


def find(path: str | Path) -> Path:
    """The file of a scenario; for a shipped one the bare name is enough."""
    path = Path(path)
    named = path.exists() and (not path.is_dir() or _holds_results(path))
    return path if named else shipped.scenario_named(path) or path
