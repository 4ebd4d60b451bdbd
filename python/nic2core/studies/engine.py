"""What a study needs from the engine, and the engine itself behind it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Protocol


class Engine(Protocol):
    """Simulates complete scenarios. An implementation is picklable: worker processes get a copy."""

    @property
    def version(self) -> str:
        """Names the engine's code: results of different versions are never mixed."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What it raises when a scenario cannot be simulated; other points go on."""

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Simulate; the `Results` of the engine as plain data."""

    def find_peak(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """Search the highest rate that keeps the SLO; the `Peak` of the engine as plain data."""


class NativeEngine:
    """The Rust engine."""

    @property
    def version(self) -> str:
        """The package version and a digest of the compiled engine."""
        return _native_version()

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What the bindings say of the input, and of a balance of the model that does not hold."""
        from nic2core import ModelError, UserError

        return (UserError, ModelError)

    def run(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        from nic2core import engine

        return _plain(engine.run(json.dumps(scenario), engine.Watch()))

    def find_peak(self, scenario: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        from nic2core import engine

        return _plain(engine.find_peak(json.dumps(scenario), engine.Watch()))


def _plain(model: Any) -> dict[str, Any]:
    data: dict[str, Any] = model.model_dump(mode="json")
    return data


@cache
def _native_version() -> str:
    from nic2core import _core

    compiled = Path(_core.__file__).read_bytes()
    return f"{_core.__version__}+{hashlib.sha256(compiled).hexdigest()[:12]}"
