"""Finished points on disk, so that no point is simulated twice and Ctrl-C loses none."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nic2core.files import write_whole
from nic2core.studies.point import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """The result of one point, and how long it took to simulate."""

    result: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Store:
    """A directory with one file per point, named by what was simulated and by which engine."""

    directory: Path
    engine_version: str

    def key(self, kind: str, scenario: Mapping[str, Any]) -> str:
        """The name of a point: the same configuration and engine give the same name."""
        text = f"{self.engine_version}\n{kind}\n{canonical(scenario)}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def get(self, key: str) -> Finished | None:
        """The finished point of that name, if any; a damaged file counts as absent."""
        try:
            data = json.loads((self.directory / f"{key}.json").read_text(encoding="utf-8"))
            result, seconds = data["result"], data["seconds"]
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return Finished(result, seconds) if isinstance(result, dict) and result else None

    def put(self, key: str, name: str, finished: Finished) -> None:
        """Store a finished point. The file appears whole or not at all."""
        data = {
            "name": name,
            "engine": self.engine_version,
            "seconds": finished.seconds,
            "result": finished.result,
        }
        write_whole(self.directory / f"{key}.json", json.dumps(data))
