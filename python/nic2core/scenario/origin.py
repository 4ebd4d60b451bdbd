"""Where a scenario comes from, and what of it is no longer as it was loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.scenario.models import Scenario

IN_PYTHON = "scenario"
"""The place of what is in no file: a program made it."""


@dataclass(frozen=True)
class Origin:
    """What a loaded scenario knows of its file. Where it comes from makes none another scenario."""

    name: str = field(default="", compare=False)
    """That of the file, without its ending; empty of a scenario that was made in Python."""
    loaded: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    """The scenario as it was loaded."""
    places: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each key was given."""
    settings: dict[str, Any] = field(default_factory=dict, compare=False)
    """The keys that were changed when it was loaded."""
    dropped: str = field(default="", compare=False)
    """Timings that were given for another memory, in a sentence."""

    def changed(self, now: dict[str, Any]) -> dict[str, Any]:
        """The keys that are no longer as they were loaded, with what they are now."""
        return {} if self.loaded is None else dict(_apart("", self.loaded, now))

    def places_of(self, now: dict[str, Any]) -> dict[str, str]:
        """Where each key is given: those of the file that are as they were, the others here."""
        changed = self.changed(now)
        kept = {key: at for key, at in self.places.items() if not _within(key, changed)}
        here = (key for of, value in changed.items() for key in _keys(of, value))
        return kept | dict.fromkeys(here, IN_PYTHON)


def origin_of(scenario: Scenario) -> Origin:
    """Where a scenario comes from."""
    return scenario._origin  # noqa: SLF001 - it is no key, so it has no name that looks like one


def remember(scenario: Scenario, origin: Origin) -> None:
    """Keep with a scenario where it comes from; its copies keep it too."""
    scenario._origin = origin  # noqa: SLF001 - see above


def layered(*settings: dict[str, Any]) -> dict[str, Any]:
    """The keys that were changed one after the other: a later one replaces what lies within it."""
    found: dict[str, Any] = {}
    for changed in settings:
        found = {key: value for key, value in found.items() if not _within(key, changed)} | changed
    return found


def _within(key: str, of: dict[str, Any]) -> bool:
    return any(f"{key}.".startswith(f"{other}.") for other in of)


def _apart(key: str, was: Any, now: Any) -> Iterator[tuple[str, Any]]:
    """Where values differ: within tables of the same keys, and within lists of the same length."""
    before, after = _parts(was), _parts(now)
    if before and after and before.keys() == after.keys():
        for name, value in after.items():
            yield from _apart(f"{key}.{name}" if key else name, before[name], value)
    elif was != now:
        yield key, now


def _keys(key: str, value: Any) -> Iterator[str]:
    """A key and all that lies below it."""
    yield key
    for name, part in _parts(value).items():
        yield from _keys(f"{key}.{name}", part)


def _parts(value: Any) -> dict[str, Any]:
    """What lies below, a list's elements by number."""
    if isinstance(value, list):
        return {str(number): part for number, part in enumerate(value)}
    return value if isinstance(value, dict) else {}
