"""A scenario that takes a moment to run, and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from small_demo import DEMO, SMALL

import nic2core

if TYPE_CHECKING:
    from nic2core import Result, Scenario


@pytest.fixture(scope="session")
def small() -> Scenario:
    return nic2core.load(DEMO, SMALL)


@pytest.fixture(scope="session")
def result(small: Scenario) -> Result:
    return nic2core.run(small)
