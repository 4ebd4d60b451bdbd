"""How much a change to each domain helps."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import TYPE_CHECKING

import polars as pl

from nic2core import names, words
from nic2core.explain.contention import left_behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nic2core.explain.change import Change
    from nic2core.explain.model import Model
    from nic2core.explain.use import Use


@dataclass(frozen=True)
class Help:
    """How much a change helps."""

    change: Change
    predicted: float
    """Predicted rate with the change / rate without - 1; NaN if the model cannot predict it."""
    measured: float | None = None
    """The same, measured from two runs or two peaks; `None` before the change is run."""
    drop_share: float | None = None
    """Share of packets dropped with the change, if it was run and there are packets."""
    tails: Mapping[str, float] = field(default_factory=dict)
    """The tails with the change that users ask for first, if it was run: by column of a sweep, ns
    or times."""
    filling: bool = False
    """Whether queues still grew in the run with the change: drops and latencies are not final."""
    refused: str | None = None
    """Why the change cannot be run, if that was tried."""
    is_bug: bool = False
    """Whether that is a bug in the simulator."""
    unknown: str = ""
    """Why the model cannot predict this change, although it predicts others."""
    harm: str = ""
    """What would make this change lower the rate; empty if it is not predicted to."""

    @property
    def error(self) -> float | None:
        """Predicted rate with the change / measured rate with the change - 1."""
        if self.measured is None or self.measured <= -1 or isnan(self.predicted):
            return None
        return (1 + self.predicted) / (1 + self.measured) - 1


class Helps(list[Help]):
    """The changes to each domain, in path order, and how much each helps."""

    @property
    def by_domain(self) -> dict[str, Help]:
        """The first change to each domain."""
        found: dict[str, Help] = {}
        for help_ in self:
            found.setdefault(help_.change.domain, help_)
        return found

    @property
    def table(self) -> pl.DataFrame:
        """One row per change; `helps_by` 0.25 means a quarter more, null means unknown.

        `rerun` is the same as measured, null before the change is run. After that there are
        columns of the share of packets dropped and of the tails, as `rerun_p99_ns`.
        """
        rows = [
            (
                h.change.domain,
                h.change.what,
                names.TAKES[h.change.takes.name],
                None if isnan(h.predicted) else h.predicted,
                h.measured,
            )
            for h in self
        ]
        schema = {
            "domain": pl.String,
            "change": pl.String,
            "takes": pl.String,
            "helps_by": pl.Float64,
            "rerun": pl.Float64,
        }
        frame = pl.DataFrame(rows, schema, orient="row")
        if all(h.drop_share is None for h in self):
            return frame
        dropped = pl.Series("rerun_drop_share", [h.drop_share for h in self], pl.Float64)
        tails = [
            pl.Series(f"rerun_{column}", [h.tails.get(column) for h in self], pl.Float64)
            for column in tail_columns(self)
        ]
        return frame.with_columns(dropped, *tails)

    def _shown(self) -> pl.DataFrame:
        """The table as displayed."""
        rows = [
            (
                names.stage(h.change.domain),
                h.change.what,
                names.TAKES[h.change.takes.name],
                words.gain(h.predicted),
                words.NOTHING if h.measured is None else words.gain(h.measured),
            )
            for h in self
        ]
        shown = pl.DataFrame(
            rows, ["domain", "change", "takes", "helps by", "re-run"], orient="row"
        )
        if all(h.measured is None for h in self):
            return shown.drop("re-run")
        if all(h.drop_share is None for h in self):
            return shown
        dropped = [
            words.NOTHING if h.drop_share is None else words.percent(h.drop_share) for h in self
        ]
        tails = [
            pl.Series(names.TAILS[column], [words.tail(column, h.tails.get(column)) for h in self])
            for column in tail_columns(self)
        ]
        return shown.with_columns(pl.Series("dropped", dropped), *tails)

    def __repr__(self) -> str:
        """The table, at a Python prompt."""
        with pl.Config(**words.WHOLE):
            return str(self._shown())

    def _repr_html_(self) -> str:
        """The table, in a notebook."""
        with pl.Config(**words.WHOLE):
            return self._shown()._repr_html_()


def tail_columns(helps: Iterable[Help]) -> list[str]:
    """The columns of the tails that re-runs have."""
    return list(dict.fromkeys(column for h in helps for column in h.tails))


GAIN_TOLD = 0.005
"""Difference between two gains that is visible in whole percent."""


NEARLY = 0.95
"""Load of the walkers, relative to that which sets what the IOMMU allows, from which it is theirs
and not its queue's."""


def helps(model: Model, changes: Sequence[Change], measured_ns: float) -> Helps:
    """The model's prediction for every change; empty for a run that did no work.

    If a domain's credits are held for longer than the measurement, neither that time nor the rate
    it allows is known: changes for which this matters get no prediction.
    """
    if not isfinite(model.rate) or model.rate <= 0:
        return Helps()
    late = [name for name in model.allows if _held_ns(model.use(name)) > measured_ns]
    found = Helps()
    for change in changes:
        changed, unknown = settled_with(change.apply, model), change.unknown
        # What is less than this is a rounding of the quotient.
        gain = round(changed.rate / model.rate - 1, 12)
        if not unknown and _differs(model.without(late), change, gain):
            # The one of them that makes the difference, if one does by itself.
            by_itself = (n for n in late if _differs(model.without([n]), change, gain))
            unknown = _held_too_long(model.use(next(by_itself, late[0])), measured_ns)
        if not unknown and gain > GAIN_TOLD:
            unknown = change.gain_unknown or _queue_would_fill(model, changed)
        if unknown:
            found.append(Help(change, nan, unknown=unknown))
            continue
        harm = _harm(model, changed, change) if gain < -GAIN_TOLD else ""
        # Otherwise, what does not help is done less, or waits overlap.
        found.append(Help(change, gain if harm else max(0.0, gain), harm=harm))
    return found


def _differs(model: Model, change: Change, gain: float) -> bool:
    """Whether a model visibly gives a change another gain."""
    return abs(settled_with(change.apply, model).rate / model.rate - 1 - gain) > GAIN_TOLD


def settled_with(apply: Callable[[Model], Model], model: Model) -> Model:
    """A changed model, once waits have followed the rates."""
    return left_behind(apply(model).settled(model), model)


def _queue_would_fill(model: Model, changed: Model) -> str:
    """Why a rate is not known that the IOMMU's queue of writes would limit; empty otherwise.

    The fuller it is the longer each write waits in it, because writes keep their order and wait for
    each other's page walks.
    """
    if changed.tightest != "iommu":
        return ""
    walkers = model.use("iommu").load
    if model.allows["iommu"] * walkers > NEARLY * model.rate:
        return ""
    return (
        "the IOMMU's queue of writes would be full, and how many it then carries depends on how "
        "their page walks overlap"
    )


def _harm(model: Model, changed: Model, change: Change) -> str:
    """What of the path gets worse for certain, if the model says that the rate falls."""
    if changed.tightest == "iommu" and changed.allows["iommu"] < model.allows["iommu"]:
        return (
            "packets would wait to be sent until their pages have left the IOTLB, and reading them "
            "would take page walks of its own"
        )
    if change.domain == "miss-registers" and model.memory.full_registers > 0:
        return (
            "cores with other work would ask for more, and DMA would wait behind it for a tracker"
        )
    return ""


def _held_ns(use: Use) -> float:
    """The time for which a credit is held; for a full queue that took none, another queue's."""
    return max(use.latency_ns, use.own_ns)


def _held_too_long(use: Use, measured_ns: float) -> str:
    return (
        f"a credit of the {names.stage(use.name)} is held for {words.time(_held_ns(use))}, longer "
        f"than the {words.time(measured_ns)} measured, so the rate that this domain allows is not "
        "known; run.duration is too short for that"
    )
