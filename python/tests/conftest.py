"""Sample results for tests that need no engine; `data/README.md` says what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from nic2core import Result

DATA = Path(__file__).parent / "data"


@pytest.fixture
def ddio() -> Result:
    return Result.load(DATA / "sample-ddio.json")


@pytest.fixture
def sweeper() -> Result:
    return Result.load(DATA / "sample-sweeper.json")


@pytest.fixture
def packetless(ddio: Result) -> Result:
    """A run without traffic: no latency, no packets, no requests."""
    value = ddio.to_json()
    results = value["results"]
    results["latency"] = []
    results["io"] = None
    results["packets"] = dict.fromkeys(results["packets"], 0)
    for cause in results["memory"]["causes"]:
        cause["per_request"] = None
    results["series"]["columns"] = []
    return Result.from_json(value)
