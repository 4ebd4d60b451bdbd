"""What a run is called: in the words of the field where they tell runs apart, else by its keys."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from nic2core.scenario.toml_text import toml_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nic2core.run_record import Record

    R = TypeVar("R", bound=Record)

ACRONYMS = {"dma": "DMA", "ddio": "DDIO"}


def describe(scenario: Mapping[str, Any]) -> str:
    """Where this scenario's packets go, for people: `DDIO, 2 ways, Sweeper`."""
    placement = scenario["placement"]
    policy = placement["policy"]
    name = " ".join(ACRONYMS.get(word, word) for word in policy.split("-"))
    words = [name[0].upper() + name[1:]]
    # Elsewhere the I/O ways decide nothing, or little: they hold no packets.
    if policy not in ("dma", "ideal-ddio"):
        ways = placement["io_ways"]
        words.append(f"{ways} way" if ways == 1 else f"{ways} ways")
    if placement.get("sweeper"):
        words.append("Sweeper")
    return ", ".join(words)


def name_cases(
    scenarios: Sequence[Mapping[str, Any]], settings: Sequence[Mapping[str, Any]]
) -> list[str]:
    """A name for each case of a comparison: how its packets land, and what else was varied."""
    keys = dict.fromkeys(key for s in settings for key in s)
    ends = [key.rpartition(".")[2] for key in keys]
    # A column of a terminal is narrow: the last part of a key does, where it tells keys apart.
    short = {k: end if ends.count(end) == 1 else k for k, end in zip(keys, ends, strict=True)}
    names = [describe(scenario) for scenario in scenarios]
    by_kind = {key for key in keys if _differ_in_kind([s.get(key) for s in settings])}

    def value(key: str, given: Any) -> str:
        return str(_kind(given)) if key in by_kind else toml_value(given)

    other = [
        ", ".join(
            f"{short[k]}={value(k, v)}" for k, v in s.items() if not k.startswith("placement.")
        )
        for s in settings
    ]
    if len(set(names)) == 1 and any(other):
        names = other
    else:
        names = [f"{n}, {o}" if o else n for n, o in zip(names, other, strict=True)]
    # What decides little is not in their words: `io_ways` of an ideal DDIO, where descriptors lie.
    placed = [
        ", ".join(f"{short[k]}={toml_value(v)}" for k, v in s.items() if k.startswith("placement."))
        for s in settings
    ]
    return [
        f"{n}, {p}" if names.count(n) > 1 and p else n for n, p in zip(names, placed, strict=True)
    ]


def _differ_in_kind(values: Sequence[Any]) -> bool:
    """Whether these are whole tables that their kind tells apart, each as often as it comes."""
    kind_of = {str(value): _kind(value) for value in values}
    return None not in kind_of.values() and len(set(kind_of.values())) == len(kind_of)


def _kind(value: Any) -> str | None:
    """The kind of a table, given as such or, from a command line, in TOML."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = tomllib.loads(f"table = {value}")["table"]
        except tomllib.TOMLDecodeError:
            return None
    return value.get("kind") if isinstance(value, dict) else None


def told_apart(results: Sequence[R]) -> list[R]:
    """The runs with labels of their own: charts know them by nothing else."""
    labels = [r.label for r in results]
    taken = {*labels}
    apart = []
    for number, result in enumerate(results, start=1):
        label = result.label
        if labels.count(label) > 1:
            names = (f"{label} ({n})" for n in count(number))
            label = next(name for name in names if name not in taken)
            taken.add(label)
        apart.append(replace(result, label=label))
    return apart
