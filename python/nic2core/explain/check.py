"""Really running a scenario with each change, to hold what the model said against it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nic2core import api
from nic2core._core import UserError
from nic2core.explain.use import work
from nic2core.models import Scenario
from nic2core.sweep import run_all

if TYPE_CHECKING:
    from nic2core.explain.help import Help
    from nic2core.results import Result


def check(result: Result, jobs: int = 1) -> list[Help]:
    """Run every change, `jobs` at a time; one that the engine refuses says why.

    Ctrl-C ends it: what is not run has no measured value.
    """
    if result.peak is not None:
        raise UserError(
            "The peak of a search has no rate of its own that a change could be run at; make a "
            "result with `nic2core run` at that rate."
        )
    said = result.helps
    base, _ = work(result.data)
    if base <= 0:
        return said
    scenario = Scenario.model_validate(result.scenario)
    result.check_capture()
    prepared: dict[str, api.Prepared] = {}
    refused: dict[str, str] = {}
    for help_ in said:
        try:
            prepared[help_.change.domain] = api.prepare(scenario, help_.change.overrides)
        except UserError as error:
            refused[help_.change.domain] = str(error)
    done = run_all(list(prepared.values()), list(prepared), jobs=jobs, skip_refused=True)
    refused = {d: r.removeprefix("scenario: ") for d, r in (refused | done.refused).items()}
    measured = {r.label: work(r.data)[0] / base - 1 for r in done}
    return [
        replace(h, measured=measured.get(h.change.domain), refused=refused.get(h.change.domain))
        for h in said
    ]
