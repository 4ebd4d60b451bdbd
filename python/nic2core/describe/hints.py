"""Advice that a table of changes does not give: what to do next."""

from __future__ import annotations

from math import isnan
from shlex import quote
from typing import TYPE_CHECKING

from nic2core import names, words
from nic2core._core import PEAK_MIN_PACKETS, PEAK_RESOLUTION_PERCENT
from nic2core.describe.leaks import against_leaks
from nic2core.describe.stated import stated_instructions
from nic2core.describe.tails import tails
from nic2core.explain.change import Takes, is_simulated
from nic2core.explain.enough import enough_cores
from nic2core.explain.help import GAIN_TOLD
from nic2core.explain.limit import AT_TIMES, CARRIED, SHORT_BY_CHANCE, Limit
from nic2core.explain.overload import most_to_gain, too_many
from nic2core.explain.stages import leaking
from nic2core.explain.use import work
from nic2core.scenario.closed_loop import controls
from nic2core.scenario.quantity import nanoseconds
from nic2core.scenario.toml_text import toml_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.explain.change import Change
    from nic2core.explain.help import Help
    from nic2core.run_record import Record


FELT = 0.05
"""Gain of a change, or leaking share of what the NIC writes, from which it is worth a sentence."""


RIGHT, RIGHT_POINTS = 0.2, 0.05
"""Error of a predicted gain up to which it is right: relative to that of the run, or absolute."""

TIED = 1 + SHORT_BY_CHANCE
"""Rates that domains allow, relative to the lowest, up to which they limit together: a run that is
short of what a domain allows by chance counts as doing all of it."""


def at_ease(result: Record) -> bool:
    """Whether all of the offered load gets through, so that no change can raise the throughput."""
    return (
        result.limit in CARRIED
        and result.data.demand_mpps is not None
        and work(result.data)[1] == "packets"
    )


def is_loaded(result: Record) -> bool:
    """Whether a load is wanted of closed-loop senders: what changes is then how long reads take."""
    transport = result.data.transport
    return transport is not None and bool(transport.by_size) and transport.wanted_gbps is not None


def hints(result: Record, helps: Sequence[Help], saved_in: str = "DIR") -> Iterator[str]:
    """What to do next and what not, what changes do besides, and what is not predicted.

    Commands in it go on from the result's directory `saved_in`.
    """
    saved = quote(saved_in)
    to_try = any(h.change.to_try for h in helps)
    check = f"{saved} --settings --check" if to_try else f"{saved} --check"
    yield from _less(result, helps, check)
    rerun = any(h.measured is not None for h in helps)
    if result.peak is None and result.data.transport is not None and rerun:
        yield (
            "What senders lose, and when, is partly chance, and so are small differences: "
            f"`nic2core compare {saved} --vary run.seed=1,2,3` shows how large these can be."
        )
    if result.peak is not None and rerun:
        yield (
            f"Each re-run is a search of its own, which ends within {PEAK_RESOLUTION_PERCENT} % of "
            "its peak. Chance in the p99 can move a peak further, also down: `nic2core compare "
            f"{saved} --peak --vary run.seed=1,2,3` shows by how much."
        )
    if result.limit is Limit.CONTROL and all(h.measured is None for h in helps):
        yield (
            "How much a change helps cannot be predicted here: it depends on how the senders' "
            f"congestion control responds. `nic2core explain {check}` runs each change."
        )
    most = most_to_gain(result.data)
    told = result.overflow is not None or any(h.measured is not None for h in helps)
    if result.limit in AT_TIMES and most > GAIN_TOLD and not told:
        # What closed-loop senders send again would not come if nothing were dropped.
        at_most = "" if result.data.transport else f": if nothing were dropped, {words.gain(most)}"
        yield (
            "How much a change helps cannot be predicted here, because no stage is full on "
            f"average{at_most}. `nic2core explain {check}` runs each change."
        )
    if result.data.transport is not None and to_try:
        yield (
            "The senders' congestion control is not among these changes: `nic2core sensitivity "
            f"{saved} {' '.join(controls(result.scenario['traffic']))}` shows which of its values "
            "matter."
        )
    yield from _wrong(result, helps)
    yield from _tied(result, helps, saved)
    yield from _best(result, helps, saved)
    if at_ease(result) or is_loaded(result):
        yield from _lowest_tails(result, helps, saved)
    yield from _long_enough_rings(result, saved)
    yield from _enough_cores(result, saved)
    yield from stated_instructions(result)
    # Where no change can help, none has to be predicted.
    open_ = [h for h in helps if h.unknown and h.measured is None and not at_ease(result)]
    for why in dict.fromkeys(h.unknown for h in open_):
        which = words.listed([_named(h) for h in open_ if h.unknown == why])
        yield f"Not predicted: {which}: {why}. `nic2core explain {check}` runs each change."
    for help_ in helps:
        if help_.harm and help_.measured is None:
            yield (
                f"Would lower the rate: {_named(help_)}, {words.gain(help_.predicted)}: "
                f"{help_.harm}."
            )
    if at_ease(result):
        yield (
            f"{why_no_change_helps(result)} `nic2core peak {saved}{_long_enough(result)} --out "
            "PEAK` searches for the highest rate, and `nic2core explain PEAK` then says what would "
            f"raise it. `nic2core explain {check}` shows what lowers the latency."
        )
    helps_by = next((h.predicted for h in helps if h.change.domain == "io-ways"), 0.0)
    if helps_by >= FELT or (at_ease(result) and leaking(result.data) >= FELT):
        yield from against_leaks(result, saved)


def _best(result: Record, helps: Sequence[Help], saved: str) -> Iterator[str]:
    """The change that gives most: of those with equal gain the one that takes least, and which.

    If that takes other hardware, also the setting that gives most.
    """
    known = [h for h in helps if not isnan(_gain(h))]
    found = [h for h in known if h.change.takes is not Takes.IDEAL]
    most = _most(found)
    if most is None:
        return
    equal = [_named(h) for h in found if h is not most and _in_percent(h) == _in_percent(most)]
    every = {h.change.domain for h in result.helps} <= {h.change.domain for h in helps}
    best = "Best single change" if every else "Best of these changes"
    as_much = f" (as much as: {'; '.join(equal)})" if equal else ""
    yield (
        f"{best}: {_named(most)}, {words.gain(_gain(most))}{as_much}: "
        f"{_with_changes(result, [most.change], saved)}."
    )
    setting = _most([h for h in known if h.change.takes is Takes.SETTING])
    if most.change.takes is Takes.HARDWARE and setting is not None:
        yield (
            f"Best change of a setting: {_named(setting)}, {words.gain(_gain(setting))}: "
            f"{_with_changes(result, [setting.change], saved)}."
        )


def _less(result: Record, helps: Sequence[Help], check: str) -> Iterator[str]:
    """What re-runs are to be compared with, or that a change may reduce drops and latency."""
    dropped = result.data.packets.drop_share
    known = [
        f"the {names.TAIL_NAMES[c]} is {words.tail(c, value)}" for c, value in tails(result).items()
    ]
    if any(h.drop_share is not None for h in helps) and known:
        without = words.listed([f"{words.percent(dropped)} of the packets are dropped", *known])
        yield f"Without a change, {without}."
    elif helps and dropped > 0:
        yield (
            f"A change may also reduce drops and latency: `nic2core explain {check}` runs "
            "each one and shows both."
        )
    elif helps and is_loaded(result) and not at_ease(result):
        yield (
            f"A change may also reduce latency: `nic2core explain {check}` runs each one and shows "
            "it."
        )


def _long_enough_rings(result: Record, saved: str) -> Iterator[str]:
    """How long rings would lose nothing, where they overflow at times."""
    of = result.overflow
    if of is None or not of.in_rings or of.enough is None or too_many(result.data):
        return
    needed, now = of.enough, result.scenario["queues"]["rx_descriptors"]
    longer = 1 << (needed - 1).bit_length()
    said = f"Rings of {needed:,} descriptors would lose none of these packets"
    if longer > now and is_simulated(result.scenario, {"queues.rx_descriptors": longer}):
        vary = f"--vary queues.rx_descriptors={now},{longer}"
        said += f": `nic2core compare {saved} {vary}` shows what else they do"
    yield f"{said}."


def _lowest_tails(result: Record, helps: Sequence[Help], saved: str) -> Iterator[str]:
    """The change after which each tail was lowest, of those that can be made and were run."""
    ran = [
        h
        for h in helps
        if h.change.takes is not Takes.IDEAL and not h.filling and not _costs(result, h)
    ]
    for column, without in tails(result).items():
        found = [h for h in ran if h.tails.get(column, without) <= (1 - FELT) * without]
        if not found:
            continue
        lowest = min(found, key=lambda h: h.tails[column])
        yield (
            f"Lowest {names.TAIL_NAMES[column]}: {_named(lowest)}, "
            f"{words.tail(column, lowest.tails[column])} instead of "
            f"{words.tail(column, without)}: {_with_changes(result, [lowest.change], saved)}."
        )


def _costs(result: Record, help_: Help) -> bool:
    """Whether a change that was run lowers the rate, or drops more."""
    more = (help_.drop_share or 0.0) > result.data.packets.drop_share
    return more or (help_.measured or 0.0) < -GAIN_TOLD


def _most(helps: Sequence[Help]) -> Help | None:
    """Of those worth a sentence the one with most gain, and of equal ones that takes least."""
    most = max(helps, key=lambda h: (_in_percent(h), -h.change.takes), default=None)
    return None if most is None or _gain(most) < FELT else most


def _in_percent(help_: Help) -> int:
    return round(100 * _gain(help_))


def _named(help_: Help) -> str:
    return f"{names.stage(help_.change.domain)}, {help_.change.what}"


def _enough_cores(result: Record, saved: str) -> Iterator[str]:
    # At a peak no more than what is carried is offered.
    enough = None if result.peak is not None else enough_cores(result)
    if enough is None:
        return
    said = f"{enough.count} cores carry all that is offered, if RSS spreads it evenly"
    if not enough.evenly:
        said = (
            f"it takes {enough.count} cores to carry all that is offered if RSS spreads it evenly, "
            "and more if it goes on to give one more than others"
        )
    yield (
        f"By the model, {said}: `nic2core compare {saved} --vary {enough.key}={enough.tried}` "
        "shows whether they do."
    )


def _wrong(result: Record, helps: Sequence[Help]) -> Iterator[str]:
    """The changes that were run and give clearly more or less than predicted.

    Of peaks that the p99 sets, chance moves both that without a change and that with it.
    """
    by_chance = result.peak is not None and result.peak.failed_by == "p99"
    unless = " (or by chance, in the p99 of either search)" if by_chance else ""
    found = [h for h in helps if h.measured is not None and not isnan(h.predicted)]
    for h in found:
        more = (h.measured or 0.0) - h.predicted
        if abs(more) > max(RIGHT * abs(h.measured or 0.0), RIGHT_POINTS):
            yield (
                f"Predicted too {'low' if more > 0 else 'high'}: {_named(h)}, "
                f"{words.gain(h.predicted)} instead of {words.gain(_gain(h))}{unless}."
            )


def _with_changes(result: Record, changes: Sequence[Change], saved: str) -> str:
    """The command that repeats the run, or the search, with changes."""
    command = "run" if result.peak is None else "peak"
    keys = " ".join(
        f"--set {quote(f'{key}={toml_value(value)}')}"
        for change in changes
        for key, value in change.overrides.items()
    )
    return f"`nic2core {command} {saved} {keys}`"


def _tied(result: Record, helps: Sequence[Help], saved: str) -> Iterator[str]:
    """Which domains allow the same rate, where that is what limits, and no re-run tells more.

    What only waits for another of them is not one more.
    """
    model = result.model
    if not (result.limited or result.peak is not None):
        return
    full = (name for name, rate in model.allows.items() if rate <= TIED * model.rate)
    tied = list(dict.fromkeys(model.cause_of(name) for name in full))
    if any(h.change.domain in tied and (h.measured or 0.0) >= FELT for h in helps):
        return
    if len(tied) > 1:
        # Of each domain the first that somebody can make.
        offered: dict[str, Change] = {}
        for change in (h.change for h in helps):
            if change.domain in tied and change.takes is not Takes.IDEAL:
                offered.setdefault(change.domain, change)
        changes = list(offered.values())
        together = ""
        if len(changes) == len(tied):
            which = "Both" if len(tied) == 2 else "All"
            together = f" {which} together: {_with_changes(result, changes, saved)}."
        yield (
            f"{words.sentence(words.listed([names.stage(name) for name in tied]))} allow the same "
            f"rate, within {100 * (TIED - 1):.0f} %: which of them limits cannot be told, and a "
            f"change to one alone may gain nothing.{together}"
        )


def why_no_change_helps(result: Record) -> str:
    """Why no change can raise the throughput of a run at ease."""
    if result.limit is Limit.FULL:
        return (
            f"The {names.stage(result.model.tightest)} can do no more, but all of this load gets "
            "through, so no change can raise the throughput."
        )
    return "No stage limits at this load, so no change can raise the throughput."


def _long_enough(result: Record) -> str:
    """The measured time in which a search's first rate brings enough packets, as an option.

    Empty if the run's is no shorter. Half of the rate is tried first. Bursts are measured over
    whole cycles.
    """
    traffic, rate = result.scenario["traffic"], result.data.demand_mpps or 0.0
    cycle_ns = sum(nanoseconds(traffic[key]) for key in ("on", "off") if key in traffic)
    enough_ns = 1e3 * PEAK_MIN_PACKETS / (rate / 2) + cycle_ns
    if nanoseconds(result.scenario["run"]["duration"]) >= enough_ns:
        return ""
    return f' --set run.duration="{words.at_least(enough_ns)}"'


def _gain(help_: Help) -> float:
    """The gain of a change: measured if it was run, otherwise predicted."""
    return help_.predicted if help_.measured is None else help_.measured
