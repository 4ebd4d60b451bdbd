"""Names of runs: in the field's own terms where these distinguish runs, otherwise by their keys."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from nic2core.scenario.toml_text import as_table, toml_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nic2core.run_record import Record

    R = TypeVar("R", bound=Record)

ACRONYMS = {"dma": "DMA", "ddio": "DDIO", "l2": "L2"}


VAGUE = ("count", "first", "size", "ways")
"""Last parts of keys that say nothing without the part before."""


def describe(scenario: Mapping[str, Any]) -> str:
    """A readable name for where a scenario's packets go: `DDIO, 2 ways, Sweeper`."""
    placement = scenario["placement"]
    policy = placement["policy"]
    name = " ".join(ACRONYMS.get(word, word) for word in policy.split("-"))
    words = [name[0].upper() + name[1:]]
    if uses_io_ways(scenario):
        ways = placement["io_ways"]
        words.append(f"{ways} way" if ways == 1 else f"{ways} ways")
    if placement.get("sweeper"):
        words.append("Sweeper")
    return ", ".join(words)


def uses_io_ways(scenario: Mapping[str, Any]) -> bool:
    """Whether packets lie in the I/O ways: with other policies these matter little or nothing."""
    return scenario["placement"]["policy"] not in ("dma", "ideal-ddio")


def name_cases(
    scenarios: Sequence[Mapping[str, Any]], settings: Sequence[Mapping[str, Any]]
) -> list[str]:
    """A name for each case of a comparison: where its packets go, and what else was varied."""
    keys = dict.fromkeys(key for s in settings for key in s)
    ends = [_end(key) for key in keys]
    # Terminal columns are narrow: the end of a key is enough if it is unique.
    short = {k: end if ends.count(end) == 1 else k for k, end in zip(keys, ends, strict=True)}
    names = [describe(scenario) for scenario in scenarios]
    several = {key: [s.get(key) for s in settings] for key in keys}
    value = {key: value_of(given) for key, given in several.items()}
    other = [
        ", ".join(f"{short[k]}={value[k](v)}" for k, v in s.items() if not _of_placement(k))
        for s in settings
    ]
    if len(set(names)) == 1 and any(other):
        names = other
    else:
        names = [f"{n}, {o}" if o else n for n, o in zip(names, other, strict=True)]
    # A key of another policy must not be taken for one of the policy in force.
    policies = [scenario["placement"]["policy"].replace("-", "_") for scenario in scenarios]

    def of_policy(key: str, policy: str) -> str:
        table, _, inner = key.removeprefix("placement.").partition(".")
        return short[key] if not inner or table == policy else f"{table}.{inner}"

    return [
        ", ".join(
            [n, *(f"{of_policy(k, p)}={value[k](v)}" for k, v in _apart(n, s, names, settings))]
        )
        for n, s, p in zip(names, settings, policies, strict=True)
    ]


def _end(key: str) -> str:
    """The last part of a key, or two parts where the last alone says nothing: `cores.count`."""
    *before, last = key.split(".")
    return ".".join([*before[-1:], last]) if last in VAGUE else last


def _of_placement(key: str) -> bool:
    """Whether it is a key of the placement, or the whole table."""
    return key.partition(".")[0] == "placement"


def _apart(
    name: str,
    of: Mapping[str, Any],
    names: Sequence[str],
    settings: Sequence[Mapping[str, Any]],
) -> list[tuple[str, Any]]:
    """What tells a case apart from those of the same name, and `describe` leaves out.

    Keys of little effect (`io_ways` of ideal DDIO, where descriptors are), and a policy's own keys.
    """
    same = [s for n, s in zip(names, settings, strict=True) if n == name]
    return [
        (key, value)
        for key, value in of.items()
        if _of_placement(key) and any(s.get(key) != value for s in same)
    ]


def value_of(several: Sequence[Any]) -> Callable[[Any], str]:
    """How a value is shown beside the others of its key.

    Of whole tables, their kinds if these differ; otherwise what they do not share, if each has
    something of that.
    """
    tables = [as_table(value) for value in several]
    found = {toml_value(table): table for table in tables if table is not None}
    if None in tables or not found:
        return toml_value
    kinds = [table.get("kind") for table in found.values()]
    first, *others = found.values()
    if None not in kinds and len({*kinds}) == len(kinds):
        return lambda value: str((as_table(value) or first)["kind"])
    if not others:
        return toml_value
    shared = {k for k, v in first.items() if all(of.get(k) == v and k in of for of in others)}
    if any(not table.keys() - shared for table in found.values()):
        return toml_value

    def apart(value: Any) -> str:
        own = {key: of for key, of in (as_table(value) or first).items() if key not in shared}
        return str(own["kind"]) if own.keys() == {"kind"} else toml_value(own)

    return apart


def with_scenario(results: Sequence[R]) -> list[R]:
    """The runs, labelled also by their scenarios if these are not all the same.

    Otherwise a reader would take what the labels say for all that differs.
    """
    if len({r.scenario_name for r in results if r.scenario_name}) < 2:
        return [*results]
    return [
        replace(r, label=f"{r.scenario_name}: {r.label}") if r.scenario_name else r for r in results
    ]


def told_apart(results: Sequence[R]) -> list[R]:
    """The runs with unique labels, which are all that charts know them by."""
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
