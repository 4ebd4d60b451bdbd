"""What differs between two runs, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core.explain.use import work
from nic2core.headline import headline
from nic2core.verdict import limit, limiter
from nic2core.words import CAUSES, percent, three

if TYPE_CHECKING:
    from nic2core.record import Record


def summary(base: Record, other: Record) -> str:
    """The comparison of two runs in one sentence."""
    (before, what), (after, same) = work(base.data), work(other.data)
    traffic = base.data.memory.bandwidth_gbytes_per_s, other.data.memory.bandwidth_gbytes_per_s
    less = _more(*traffic, "less", "memory traffic")
    limiters = limiter(base), limiter(other)
    end = f"the limit moves from {limiters[0]} to {limiters[1]}"
    if limiters[0] == limiters[1]:
        end = f"the limit of both is {limiters[0]}"
    if what != same:
        return f"{other.label} causes {less}; {end}."
    more = _more(before, after, "fewer", "requests" if what == "packets" else what)
    return f"{other.label} completes {more} and causes {less}; {end}."


def _more(before: float, after: float, fewer: str, what: str) -> str:
    if before <= 0:
        return f"{three(after)} instead of {three(before)} {what}"
    change = round(100 * (after / before - 1))
    if change == 0:
        return f"as {'many' if fewer == 'fewer' else 'much'} {what}"
    return f"{abs(change)} % {'more' if change > 0 else fewer} {what}"


def differences(base: Record, other: Record) -> list[str]:
    """What changed between two runs: the main numbers, and the causes that changed most."""
    said: list[str] = []
    numbers = {n.name: n for n in headline(other)}
    for before in headline(base):
        after = numbers.get(before.name)
        if before.raw is not None and after is not None and after.raw is not None:
            _change(said, before.name, before.raw, after.raw, before.unit)
    drops = base.data.packets.drop_share, other.data.packets.drop_share
    if percent(drops[0]) != percent(drops[1]):
        said.append(f"dropped packets: {percent(drops[0])} → {percent(drops[1])}")
    lines, now = (
        {c.cause: c.per_request for c in r.data.memory.causes if c.per_request is not None}
        for r in (base, other)
    )
    moved = sorted({*lines, *now}, key=lambda c: -abs(now.get(c, 0.0) - lines.get(c, 0.0)))
    for name in moved[:3]:
        _change(
            said, CAUSES.get(name, name), lines.get(name, 0.0), now.get(name, 0.0),
            "lines per request",
        )  # fmt: skip
    if limit(base) != limit(other):
        said.append(f"limited by: {limit(base)} → {limit(other)}")
    return said


def _change(said: list[str], what: str, before: float, after: float, unit: str) -> None:
    """Tell a change that shows in three figures; a share but for a rise from next to nothing."""
    if three(before) == three(after):
        return
    share = ""
    if before > 0 and after / before < 20:
        share = f" ({100 * (after / before - 1):+.0f} %)"
    said.append(f"{what}: {three(before)} → {three(after)} {unit}{share}")
