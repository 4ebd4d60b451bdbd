"""The keys in which the scenarios of several runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.describe.spread import Spread
from nic2core.results.peak_rate import rate_found
from nic2core.scenario import models
from nic2core.scenario.toml_text import toml_value
from nic2core.words import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nic2core.run_record import Record

SHOWN = 8
"""Maximum number of keys shown; more of them would not distinguish scenarios any better."""

LONGEST = 60
"""Maximum characters shown of a value: it may be a whole table that other scenarios lack."""


@dataclass(frozen=True)
class Difference:
    """A key whose value is not the same in all scenarios."""

    key: str
    values: list[str]
    """The value in each scenario as `--set` takes it; `-` if the scenario has no such key. The
    rate that peaks with several seeds found is their mean ± half its 95 % confidence interval."""


def first(found: Sequence[Difference]) -> tuple[Sequence[Difference], int]:
    """The keys to show, and how many more there are: never one, which takes no more room itself."""
    shown = len(found) if len(found) <= SHOWN + 1 else SHOWN
    return found[:shown], len(found) - shown


def differing(
    results: Sequence[Record], runs: Sequence[Sequence[Record]] | None = None
) -> list[Difference]:
    """Every key that is not the same in all runs; keys that a run's settings changed come first.

    Keys of the machine come last, because two machines differ in many. A result can stand for
    several `runs` of its scenario, which differ in their seed; otherwise it stands for itself.
    """
    changed = {key for r in results for key in r.settings}
    scenarios = [r.scenario for r in results]
    if len({r.peak is None for r in results}) > 1:
        each = [[r] for r in results] if runs is None else runs
        scenarios = [_as_run(r, of) for r, of in zip(results, each, strict=True)]
    found = [
        Difference(key, [_text(value) for value in values]) for key, values in _apart("", scenarios)
    ]

    def place(of: Difference) -> tuple[bool, bool]:
        # For a table that was set as a whole, only its kind counts as set: other keys may follow
        # from it.
        was_set = bool({of.key, of.key.removesuffix(".kind")} & changed)
        return not was_set, of.key.startswith("machine.")

    return sorted(found, key=place)


def _as_run(result: Record, runs: Sequence[Record]) -> dict[str, Any]:
    """The scenario; for a peak that is compared with a run, with the rate that was found.

    The rate in its file was only the start of the search. Each seed finds a rate of its own, so
    that of several is their mean.
    """
    traffic = result.scenario.get("traffic")
    peaks = {run.data.seed: run.peak for run in runs if run.peak is not None}
    if not peaks or traffic is None or "rate" not in traffic:
        return result.scenario
    found = {seed: rate_found(of, traffic) for seed, of in peaks.items()}
    # All have the same unit: it depends on the traffic.
    (unit,) = {unit for _, unit in found.values()}
    rate = f"{Spread({seed: rate for seed, (rate, _) in found.items()})} {unit}"
    return result.scenario | {"traffic": traffic | {"rate": rate}}


def _apart(key: str, values: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The keys in which values differ, descending into tables as long as all values are tables."""
    tables = [_table(value) for value in values]
    of = [table for table in tables if table is not None]
    if len(of) < len(values):
        yield key, values
        return
    one_kind = len({str(table.get("kind")) for table in of}) == 1
    for name in dict.fromkeys(name for table in of for name in table):
        # Tables of different kinds have different keys, which follow from the kind: report only
        # keys whose values differ, and keys that are not at their kind's default.
        have = [table for table in of if one_kind or name in table]
        values_differ = any(table.get(name) != have[0].get(name) for table in have)
        if values_differ or (len(have) < len(of) and _is_chosen(have[0], name)):
            yield from _apart(f"{key}.{name}" if key else name, [table.get(name) for table in of])


def _is_chosen(table: Mapping[str, Any], name: str) -> bool:
    """Whether a table's key has a value other than the default of the table's kind."""
    for model in vars(models).values():
        fields = getattr(model, "model_fields", {})
        if "kind" in fields and fields["kind"].default == table.get("kind") and name in fields:
            return bool(fields[name].default != table[name])
    return False


def _table(value: Any) -> Mapping[str, Any] | None:
    """A table, or a list of tables as a table keyed by position."""
    if isinstance(value, list) and value and all(isinstance(of, dict) for of in value):
        return {str(place): of for place, of in enumerate(value)}
    return value if isinstance(value, dict) else None


def _text(value: Any) -> str:
    text = NOTHING if value is None else toml_value(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
