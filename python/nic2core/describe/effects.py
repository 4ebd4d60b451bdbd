"""What other values of a scenario's keys change, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.settled import rings_fill, short_warmup
from nic2core.words import count

if TYPE_CHECKING:
    from nic2core.effects import Effects


def sentence(of: Effects) -> str:
    """What was found, in a sentence."""
    found = of.telling
    tried = f"{count(len(of.effects), 'value')} made {100 * of.by:g} % lower and higher"
    if not found:
        return f"Of {tried}, none changes {of.what} more than chance does."
    change = "changes" if len(found) == 1 else "change"
    return (
        f"Of {tried}, {len(found)} {change} {of.what} more than chance does, most of all "
        f"{found[0].key}."
    )


def remarks(of: Effects) -> list[str]:
    """What chance does, and which keys do no more or could not be changed."""
    rate, p99 = (f"{100 * share:.1f} %" for share in (of.chance.rate, of.chance.p99 or 0.0))
    tails = "" if of.chance.p99 is None else f", and in {of.p99} by {p99}"
    chance = f"Runs that differ in nothing but their seed differ in throughput by less than {rate}"
    if of.of_drops:
        tails += f", and in what they drop by {100 * (of.chance.drops or 0.0):.2f} points"
    found = [f"{chance}{tails}, in 19 of 20 cases."]
    if not of.telling:
        found.append("Longer runs leave less to chance.")
    if rings_fill(of.base) or short_warmup(of.base):
        found.append(
            "The run that all are compared with has not settled: effects may be those of its "
            "warm-up. Set run.warmup to a longer time."
        )
    if of.runs.stopped:
        found.append(f"Stopped: {len(of.runs.results)} of {of.runs.planned} runs are finished.")
    for said, keys in (
        (f"Do no more than that to {of.what}", of.silent),
        ("Change nothing at all", of.idle),
        ("Without effect in this scenario", of.without_effect),
        (
            "Not changed, because no near value is allowed (`refused`, with --json, says why)",
            of.refused,
        ),
    ):
        if keys:
            found.append(f"{said}: {', '.join(keys)}.")
    if of.silent:
        found.append(
            "Smaller effects may be real: `nic2core compare ... --vary KEY=... --vary "
            "run.seed=1,2,3,4,5` holds runs of the same seed against each other."
        )
    return found
