"""Where a scenario comes from, and which of its keys have changed since it was loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

IN_PYTHON = "scenario"
"""The place named for keys that were set in Python rather than in a file."""


@dataclass(frozen=True)
class Origin:
    """What a loaded scenario knows of its file. Scenarios that differ only in this are equal.

    `Scenario._origin` holds it: private, so that it does not look like a key. Copies keep it.
    """

    name: str = field(default="", compare=False)
    """Name of the file without its extension; empty for a scenario made in Python."""
    loaded: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    """The scenario as it was loaded."""
    places: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each key was given."""
    settings: dict[str, Any] = field(default_factory=dict, compare=False)
    """The keys that were changed when it was loaded."""
    dropped: str = field(default="", compare=False)
    """A sentence naming the DRAM timings dropped with their memory standard; empty if none were."""

    def changed(self, now: dict[str, Any]) -> dict[str, Any]:
        """The keys that have changed since the scenario was loaded, with their current values."""
        return {} if self.loaded is None else dict(_apart("", self.loaded, now))

    def places_of(self, now: dict[str, Any]) -> dict[str, str]:
        """Where each key was given: the file for unchanged keys, Python for the others."""
        changed = self.changed(now)
        kept = {key: at for key, at in self.places.items() if not _within(key, changed)}
        here = (key for of, value in changed.items() for key in _keys(of, value))
        return kept | dict.fromkeys(here, IN_PYTHON)


def layered(*settings: dict[str, Any]) -> dict[str, Any]:
    """Merge settings applied in turn: a later key replaces earlier keys within its table."""
    found: dict[str, Any] = {}
    for changed in settings:
        found = {key: value for key, value in found.items() if not _within(key, changed)} | changed
    return found


def _within(key: str, of: dict[str, Any]) -> bool:
    return any(f"{key}.".startswith(f"{other}.") for other in of)


def _apart(key: str, was: Any, now: Any) -> Iterator[tuple[str, Any]]:
    """The differing keys, descending into tables with the same keys and lists of equal length."""
    before, after = _parts(was), _parts(now)
    if before and after and before.keys() == after.keys():
        for name, value in after.items():
            yield from _apart(f"{key}.{name}" if key else name, before[name], value)
    elif was != now:
        yield key, now


def _keys(key: str, value: Any) -> Iterator[str]:
    """A key and all keys below it."""
    yield key
    for name, part in _parts(value).items():
        yield from _keys(f"{key}.{name}", part)


def _parts(value: Any) -> dict[str, Any]:
    """The values directly below this one, a list's elements by index."""
    if isinstance(value, list):
        return {str(number): part for number, part in enumerate(value)}
    return value if isinstance(value, dict) else {}
