"""Which warnings apply to a run, and which runs a warning applies to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nic2core.describe.doubts.captures import part_of_a_round
from nic2core.describe.doubts.drift import drifting
from nic2core.describe.doubts.offered import full_link, other_sizes, short_backlog, smoothed
from nic2core.describe.doubts.one_queue import one_queue_grows
from nic2core.describe.doubts.senders import (
    all_marked,
    behind,
    needless,
    short_timeout,
    starved,
    unheard,
    unmarked,
    unreachable,
)
from nic2core.describe.doubts.setup import (
    late_posting,
    never_there,
    other_build,
    other_version,
    premature_reads,
    small_pool,
)
from nic2core.describe.doubts.too_few import (
    few_of_a_size,
    few_packets,
    few_reads,
    long_pauses,
    no_arrival,
    no_completion,
)
from nic2core.describe.doubts.unsettled import (
    filling,
    sending_queue_fills,
    unsettled,
    windows_grow,
)
from nic2core.describe.doubts.warmup import growing_dirty_lines, short_warmup
from nic2core.describe.seeds import Repeated, repeated
from nic2core.words import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nic2core.describe.doubts.warned import Warned
    from nic2core.run_record import Record

    Kind = Callable[[Record], Warned | None]

NAMED = 4
"""The most runs, or scenarios, that a warning shared by several names."""

TEXTS = 2
"""The most texts of one kind of warning that are told one by one."""


def doubts(result: Record) -> list[str]:
    """The warnings that apply to a run."""
    return [warned.text for warned in _by_kind(result).values()]


def _by_kind(result: Record) -> dict[Kind, Warned]:
    """The warnings that apply to a run, by the function that found them."""
    found: dict[Kind, Warned] = {}
    for several in (
        (other_version, other_build),
        (never_there,),
        (no_arrival, long_pauses, no_completion, short_warmup, growing_dirty_lines, drifting),
        (unsettled, windows_grow, one_queue_grows),
        (filling,),
        (sending_queue_fills,),
        (small_pool,),
        (late_posting,),
        (short_backlog,),
        (unmarked,),
        (unheard,),
        (all_marked,),
        (unreachable,),
        (short_timeout, needless),
        (behind, starved),
        (few_reads, few_packets, few_of_a_size),
        (part_of_a_round,),
        (full_link, smoothed),
        (other_sizes,),
        (premature_reads,),
    ):
        for kind in several:
            warned = kind(result)
            if warned is not None:
                found[kind] = warned
                # It explains those after it.
                break
    return found


@dataclass(frozen=True)
class Doubt:
    """A warning, and the runs that it applies to."""

    of: str
    """The runs in words, followed by a colon; empty for a single run."""
    warning: str


def all_doubts(results: Sequence[Record]) -> list[Doubt]:
    """The warnings of several runs; the same one of several runs is told once.

    Runs that differ in nothing but their seed have the same warnings with other numbers: those of
    the worst are told. So are they where a kind of warning has more than `TEXTS` texts.
    """
    groups = repeated(results) or [Repeated(result, [result]) for result in results]
    found: dict[Kind, dict[str, list[_Seeds]]] = {}
    for group in groups:
        by_kind: dict[Kind, dict[int, Warned]] = {}
        for run in group.runs:
            for kind, warned in _by_kind(run).items():
                by_kind.setdefault(kind, {})[run.data.seed] = warned
        for kind, by_seed in by_kind.items():
            seeds = _Seeds(group, by_seed)
            found.setdefault(kind, {}).setdefault(seeds.worst_text, []).append(seeds)
    told: list[Doubt] = []
    for by_text in found.values():
        if len(by_text) > TEXTS:
            told.append(_worst([of for several in by_text.values() for of in several], groups))
        else:
            told += [Doubt(_who(of, groups, len(results)), t) for t, of in by_text.items()]
    return told


def _worst(found: Sequence[_Seeds], groups: Sequence[Repeated]) -> Doubt:
    """One kind of warning of many runs: which they are, and the numbers of the worst."""
    worst = max(found, key=lambda of: of.by_seed[of.worst].worse)
    what = "scenarios" if any(len(group.runs) > 1 for group in groups) else "runs"
    every = len(found) == len(groups) and all(len(of.by_seed) == len(of.group.runs) for of in found)
    who = sentence(_all(len(found), what)) if every else _named(found)
    seed = f", seed {worst.worst}" if len(worst.group.runs) > 1 else ""
    return Doubt(f"{who} (worst: {worst.group.case.label}{seed}): ", worst.worst_text)


@dataclass(frozen=True)
class _Seeds:
    """The runs of a scenario to which one kind of warning applies."""

    group: Repeated
    by_seed: Mapping[int, Warned]

    @property
    def worst(self) -> int:
        """The seed whose numbers are told."""
        return max(self.by_seed, key=lambda seed: self.by_seed[seed].worse)

    @property
    def worst_text(self) -> str:
        """The warning with these numbers."""
        return self.by_seed[self.worst].text

    @property
    def is_same_in_all(self) -> bool:
        """Whether it applies to every seed, with the same numbers."""
        texts = {warned.text for warned in self.by_seed.values()}
        return len(self.by_seed) == len(self.group.runs) and len(texts) == 1

    def __str__(self) -> str:
        """How many of the seeds, and whose numbers are told."""
        some, of = len(self.by_seed), len(self.group.runs)
        many = f"{some} of {of} seeds" if some < of else _all(of, "seeds")
        return f"{many} ({'worst: ' if some > 1 else ''}seed {self.worst})"


def _who(found: Sequence[_Seeds], groups: Sequence[Repeated], runs: int) -> str:
    if runs == 1:
        return ""
    if len(found) == len(groups) and all(of.is_same_in_all for of in found):
        return f"{sentence(_all(runs, 'runs'))}: "
    if len(groups) == 1:
        return f"{sentence(str(found[0]))}: "
    return f"{_named(found)}: "


def _named(found: Sequence[_Seeds]) -> str:
    """The runs, or scenarios, to which a warning applies, as far as `NAMED` allows."""
    # Labels have commas of their own.
    labels = [f"{of.group.case.label}{'' if of.is_same_in_all else f', {of}'}" for of in found]
    more = f"; and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
    return f"{'; '.join(labels[:NAMED])}{more}"


def _all(number: int, what: str) -> str:
    return f"both {what}" if number == 2 else f"all {number} {what}"
