"""What sets the rate of a run, by name, and the marks of stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.describe.peaks import FAILED, failed
from nic2core.explain.limit import IDLE, Limit
from nic2core.explain.model import SAME
from nic2core.explain.use import work
from nic2core.names import stage

if TYPE_CHECKING:
    from nic2core.run_record import Record


NAMES = {
    Limit.STAGE: "a stage",
    Limit.LINKS: "the senders' links",
    Limit.CONTROL: "the congestion control",
    Limit.OBJECTIVE: "the objective",
    Limit.NOTHING: "nothing",
    Limit.ALL_DROPPED: "drops",
    Limit.ONE_CORE: "one core",
    Limit.BURSTS: "bursts",
    Limit.DROPS: "drops",
    Limit.BACKLOG: FAILED["rate"][0],
    Limit.FULL: "a full stage",
    Limit.LOAD: "the offered load",
}
"""What sets the rate of a run, in words, where nothing more specific is known."""


def _is_a_stage(result: Record) -> bool:
    """Whether a stage sets the rate."""
    return result.limit in {Limit.STAGE, Limit.FULL} or full_at_its_peak(result)


def limiter(result: Record) -> str:
    """What sets the rate of a run: a stage, or something else if no stage is full."""
    if _is_a_stage(result):
        return f"the {stage(result.model.cause)}"
    if result.limit is Limit.OBJECTIVE and result.peak:
        return failed(result.peak)[0]
    return NAMES[result.limit]


def limit(result: Record) -> str:
    """The same for a table, followed by the stage that would be next, if no stage limits."""
    name = limiter(result).removeprefix("the ").removeprefix("a ")
    if _is_a_stage(result) or result.limit in {Limit.ONE_CORE, *IDLE}:
        return name
    return f"{name} ({stage(result.model.cause)} next)"


def mark(result: Record) -> str:
    """The mark of the stage that the model names: it limits, or would be next."""
    return "" if result.limit in IDLE else "limits" if _is_a_stage(result) else "next"


def mark_of(result: Record, domain: str) -> str:
    """The mark of a domain: the one that the model names, or the one whose credits wait for it."""
    if domain == result.model.cause:
        return mark(result)
    return "waits" if domain == result.model.tightest and result.limit not in IDLE else ""


def full_at_its_peak(result: Record) -> bool:
    """Whether a stage works at the rate it allows at the highest rate that meets the objective."""
    return result.limit is Limit.OBJECTIVE and share_of_limit(result) >= SAME


def share_of_limit(result: Record) -> float:
    """The rate of a run as a share of what the tightest stage allows."""
    rate, _ = work(result.data)
    allowed = result.model.allows[result.model.tightest]
    return rate / allowed if allowed > 0 else 0.0
