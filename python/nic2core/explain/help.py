"""By how much a change of each domain helps."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING

import polars as pl

from nic2core import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.explain.changes import Change
    from nic2core.explain.model import Model
    from nic2core.explain.use import Use


@dataclass(frozen=True)
class Help:
    """By how much a change helps."""

    change: Change
    predicted: float
    """Rate with the change / rate without - 1, by the model; NaN where that says nothing of it."""
    measured: float | None = None
    """The same of two runs, or of two peaks; nothing before the change is run."""
    drop_share: float | None = None
    """Share of the packets that are dropped with the change, if it is run and there are packets."""
    p99_ns: float | None = None
    """99th percentile of the latency with the change, ns, where there is one."""
    refused: str | None = None
    """Why the change cannot be run, if it was tried and cannot."""
    unknown: str = ""
    """Why the model says nothing of it, where it says something of others."""

    @property
    def error(self) -> float | None:
        """Rate with the change that is predicted / that is measured - 1."""
        if self.measured is None or self.measured <= -1 or isnan(self.predicted):
            return None
        return (1 + self.predicted) / (1 + self.measured) - 1


class Helps(list[Help]):
    """A change of each domain, in path order, and by how much it helps."""

    @property
    def table(self) -> pl.DataFrame:
        """One row per change; `helps_by` 0.25 is a quarter more, null is not known."""
        rows = [
            (h.change.domain, h.change.what, None if isnan(h.predicted) else h.predicted)
            for h in self
        ]
        schema = {"domain": pl.String, "change": pl.String, "helps_by": pl.Float64}
        return pl.DataFrame(rows, schema, orient="row")

    def _shown(self) -> pl.DataFrame:
        """The same for people."""
        rows = [
            (words.stage(h.change.domain), h.change.what, words.gain(h.predicted)) for h in self
        ]
        return pl.DataFrame(rows, ["domain", "change", "helps by"], orient="row")

    def __repr__(self) -> str:
        """The table, for people at a prompt."""
        with pl.Config(**words.WHOLE):
            return str(self._shown())

    def _repr_html_(self) -> str:
        """The table, for a notebook."""
        with pl.Config(**words.WHOLE):
            return self._shown()._repr_html_()


TOLD = 0.005
"""Difference of two gains that shows in whole percent."""


def helps(model: Model, changes: Sequence[Change], measured_ns: float) -> Helps:
    """What the model says of every change; nothing for a run that did no work.

    Of a domain whose credits are held for longer than it was measured the time is not known, nor
    what it allows: nothing is said of a change for which that matters.
    """
    if not isfinite(model.rate) or model.rate <= 0:
        return Helps()
    late = [name for name in model.allows if _held_ns(model.use(name)) > measured_ns]
    known = model.without(late)
    found = Helps()
    for change in changes:
        gain, unknown = _gain(model, change), change.unknown
        if not unknown and abs(_gain(known, change) - gain) > TOLD:
            unknown = _held_too_long(model.use(late[0]), measured_ns)
        found.append(Help(change, nan if unknown else gain, unknown=unknown))
    return found


def _gain(model: Model, change: Change) -> float:
    # What has more credits than help does not take them: nothing is said to harm.
    return max(0.0, change.apply(model).settled(model).rate / model.rate - 1)


def _held_ns(use: Use) -> float:
    """The time for which a credit is held: of a full queue that took none, that of another one."""
    return max(use.latency_ns, use.own_ns)


def _held_too_long(use: Use, measured_ns: float) -> str:
    return (
        f"a credit of the {words.stage(use.name)} is held for {words.time(_held_ns(use))}, longer "
        f"than the {words.time(measured_ns)} that were measured, so what these allow is not known; "
        "run.duration is too short for it"
    )
