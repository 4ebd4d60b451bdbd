"""The interface that a study needs of an engine, and the native engine that implements it."""

from __future__ import annotations

import json
from typing import Any, Protocol


class Engine(Protocol):
    """Simulates complete scenarios. An implementation is picklable: worker processes get a copy."""

    @property
    def version(self) -> str:
        """Identifies the engine's code: results of different versions are never mixed."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """Exceptions raised if a scenario cannot be simulated; other points continue."""

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Simulate; the engine's `Results` as plain data."""

    def find_peak(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Search for the highest rate that meets the SLO; the engine's `Peak` as plain data."""


class NativeEngine:
    """The Rust engine."""

    @property
    def version(self) -> str:
        """The package version and a digest of the compiled engine."""
        from nic2core import engine

        return engine.version()

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The bindings' errors for invalid input and for failed conservation checks."""
        from nic2core import ModelError, UserError

        return (UserError, ModelError)

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        from nic2core import engine

        with engine.panics_as_bugs():
            return _plain(engine.run(json.dumps(scenario), engine.Watch()))

    def find_peak(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        from nic2core import engine

        with engine.panics_as_bugs():
            return _plain(engine.find_peak(json.dumps(scenario), engine.Watch()))


def _plain(model: Any) -> dict[str, Any]:
    data: dict[str, Any] = model.model_dump(mode="json")
    return data
