"""A change to one domain: what it does to the scenario and to the model, and what it takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core._core import UserError
from nic2core.explain.use import DISPATCH
from nic2core.scenario.toml_text import as_sets, given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nic2core.explain.model import Model
    from nic2core.results.models import Results


class Takes(IntEnum):
    """What a change takes, the least first."""

    SETTING = 0
    NO_IOMMU = 1
    """A setting, too, but one that gives up protection."""
    TRAFFIC = 2
    """Other traffic."""
    HARDWARE = 3
    IDEAL = 4
    """No real server offers it: it is a bound of what others can give."""


IDEAL_POLICY = "ideal-ddio"
"""The placement that no real server offers."""


@dataclass(frozen=True)
class Change:
    """A change to one domain."""

    domain: str
    what: str
    """The change as displayed."""
    overrides: dict[str, Any]
    """The change as keys of the scenario."""
    apply: Callable[[Model], Model] = field(repr=False)
    """The change to the model."""
    unknown: str = ""
    """Why the model cannot predict its effect; empty if it can."""
    gain_unknown: str = ""
    """Why the model cannot predict how much it helps where it helps at all; empty if it can."""
    to_try: bool = False
    """Whether it is a setting that may help or harm, and no more of what a domain lacks."""

    @property
    def takes(self) -> Takes:
        """What it takes."""
        if self.overrides.get("placement.policy") == IDEAL_POLICY:
            return Takes.IDEAL
        if self.overrides.get("machine.iommu.mode") == "off":
            return Takes.NO_IOMMU
        if any(key.startswith("traffic.") for key in self.overrides):
            return Takes.TRAFFIC
        machine = (key for key in self.overrides if key.startswith("machine."))
        return Takes.SETTING if all(map(_is_set, machine)) else Takes.HARDWARE


SETTINGS_OF_DEVICES = frozenset(
    {
        "machine.pcie.max_read_request",
        "machine.pcie.relaxed_ordering",
        "machine.nic.completions_per_write",
    }
)
"""Keys of the machine, besides those of the IOMMU, that an owner can set."""


def _is_set(key: str) -> bool:
    """Whether a key of the machine is a setting and not a property of hardware."""
    return key.startswith("machine.iommu.") or key in SETTINGS_OF_DEVICES


def offered(changes: Iterable[Change], data: Results, scenario: dict[str, Any]) -> Iterator[Change]:
    """Those to domains of the run that the engine can simulate."""
    known = {*data.by_domain, DISPATCH}
    for change in changes:
        if change.domain in known and is_simulated(scenario, change.overrides):
            yield change


def is_simulated(scenario: dict[str, Any], overrides: dict[str, Any]) -> bool:
    """Whether the engine can simulate the scenario with these keys changed."""
    try:
        _core.change_scenario(json.dumps(given(scenario)), as_sets(overrides))
    except UserError:
        return False
    return True
