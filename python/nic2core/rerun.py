"""Runs a scenario with each change, to compare the result with the model's prediction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nic2core import sources
from nic2core._core import ModelError, UserError
from nic2core.describe.tails import tails
from nic2core.engine import said_without_place
from nic2core.explain.help import Helps
from nic2core.settled import rings_fill, send_queues_fill
from nic2core.sweeps import Refusal, run_all

if TYPE_CHECKING:
    from nic2core.explain.help import Help
    from nic2core.result import Result

NAME = "run_changes"
"""What errors call it; the command names its option in this place."""


def run_changes(result: Result, jobs: int = 1, helps: Helps | None = None) -> Helps:
    """Run every change of these, or of `result.helps`, `jobs` at a time.

    One that the engine refuses records why.

    For a peak, the peak with each change is searched. Ctrl-C stops it: changes that were not run
    have no measured value.
    """
    predicted = result.helps if helps is None else helps
    base = result.rate_mps
    if base <= 0:
        raise UserError(
            f"{NAME}: the run does no work, so no change can be compared with it; allowed: a run "
            "in which something completes."
        )
    scenario = sources.scenario_of(result)
    result.check_capture()
    prepared: dict[str, sources.Prepared] = {}
    refused: dict[str, Refusal] = {}
    for help_ in predicted:
        try:
            prepared[_name(help_)] = sources.prepare(scenario, help_.change.overrides)
        except UserError as error:
            refused[_name(help_)] = error
    done = run_all(
        list(prepared.values()),
        list(prepared),
        jobs=jobs,
        peak=result.peak is not None,
        skip_refused=True,
    )
    runs = {r.label: r for r in done}
    return Helps(_checked(h, base, runs.get(_name(h)), refused | done.refused) for h in predicted)


def _name(help_: Help) -> str:
    """A name that identifies a change among all."""
    return f"{help_.change.domain}: {help_.change.what}"


def _checked(help_: Help, base: float, run: Result | None, refused: dict[str, Refusal]) -> Help:
    if run is None:
        why = refused.get(_name(help_))
        said = None if why is None else said_without_place(why)
        return replace(help_, refused=said, is_bug=isinstance(why, ModelError))
    packets = run.data.packets
    return replace(
        help_,
        measured=run.rate_mps / base - 1,
        drop_share=packets.drop_share if packets.offered else None,
        tails=tails(run),
        # Of a peak, the search has seen to that.
        filling=run.peak is None and bool(rings_fill(run) or send_queues_fill(run)),
    )
