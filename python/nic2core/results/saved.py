"""What a `result.json` must contain, checked as a whole before anything is read from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, model_validator

from nic2core import _core
from nic2core._core import UserError
from nic2core.results.models import Peak, Results
from nic2core.results.plain import Plain

if TYPE_CHECKING:
    from typing import Self

    from pydantic import ValidationError


def _checked(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario with every default written out; refused if this version could not run it."""
    try:
        text = _core.check_scenario(json.dumps(scenario))
    except UserError as error:
        raise ValueError(error.problems[0].without_place.removesuffix(".")) from error
    whole: dict[str, Any] = json.loads(text)
    return whole


class Saved(Plain):
    """A result as stored on disk; its fields are described in `Record`."""

    nic2core: str
    engine: str = ""
    label: str
    settings: dict[str, Any]
    scenario_name: str = ""
    scenario: Annotated[dict[str, Any], AfterValidator(_checked)]
    capture: str | None = None
    results: Results
    peak: Peak | None = None

    @model_validator(mode="after")
    def _results_are_of_the_scenario(self) -> Self:
        missing = _domains(self.scenario, self.results) - self.results.by_domain.keys()
        if missing:
            raise ValueError(f"results.domains: {', '.join(sorted(missing))} missing")
        if len(self.results.tenants) != len(self.scenario["tenants"]):
            raise ValueError("results.tenants: not those of the scenario")
        return self


def _domains(scenario: dict[str, Any], results: Results) -> set[str]:
    """The domains that `explain` needs for a run of this scenario, from `host/domains.rs`."""
    machine = scenario["machine"]
    needed = {"home-trackers", "read-queue", "write-queue", "dram"}
    if any(tenant["cores"]["count"] for tenant in scenario["tenants"]):
        needed |= {"miss-registers", "cores"}
    if results.queues:
        needed |= {"nic-sram", "descriptors"}
        needed |= {"packet-engine"} if machine["nic"].get("packet_rate") else set()
    if results.queues or scenario.get("dma_bench"):
        needed |= {"io-credits", "read-credits"}
        on_pcie = {"pcie", "posted-credits", "read-tags"}
        needed |= on_pcie if machine.get("pcie") else {"nic-port"}
        # An IOMMU that is off translates nothing, so the engine builds none.
        mode = (machine.get("iommu") or {"mode": "off"})["mode"]
        needed |= set() if mode == "off" else {"iommu"}
        needed |= {"invalidations"} if mode in {"strict", "deferred"} else set()
    return needed


def mismatch(error: ValidationError) -> str:
    """What does not fit, in one line; pydantic would list every key, each with a URL."""
    first, *others = error.errors()
    problem = first["msg"].removeprefix("Value error, ")
    if first["loc"]:
        problem = f"{'.'.join(map(str, first['loc']))}: {problem[:1].lower()}{problem[1:]}"
    more = f", and {len(others)} more such" if others else ""
    return f"{problem}{more}"
