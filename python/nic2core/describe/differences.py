"""What differs between two runs, in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from nic2core import words
from nic2core.describe import senders
from nic2core.describe.contents import CONSUMED_SHARE, consumed_share
from nic2core.describe.headline import benchmarks, dma_write_hits, headline
from nic2core.describe.limiter import limit, limiter
from nic2core.describe.rates import (
    BYTES,
    DIFFERENCE_FELT,
    DROPS_FELT,
    SAME_RATE,
    TIMES,
    achieved,
    all_carry_the_same,
    carried,
    ends,
    lost,
    lost_by_the_fastest,
    times_of,
)
from nic2core.explain.use import neighbours, work
from nic2core.names import CAUSES, OF_PACKETS
from nic2core.words import LEAST, listed, percent, sentence, three, time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nic2core.results.models import Results
    from nic2core.run_record import Record


FEW_LINES = 0.01
"""Memory lines per request below which a cause is next to nothing."""

UNCHANGED = "nothing changes by 1 % or more"
"""Shown where there are no differences."""

SEVERAL = 3
"""From this many runs on, an overview says more than comparing each run with the first."""

MEMORY = "memory traffic"
"""What grows with the load, whatever else changes."""

LATENCY_FELT = 0.1
"""Relative change of the p99 above which a summary mentions it."""

MUCH = 0.01
"""Share of the memory bus above which memory traffic is worth mentioning."""


def in_a_sentence(results: Sequence[Record]) -> str:
    """A comparison of two or more runs in one sentence; empty where there is nothing to say."""
    if len(results) == 2:
        return summary(*results)
    found, labelled = _overview(results)
    # A label stays as it is.
    return f"{found if labelled else sentence(found)}." if found else ""


def overview(results: Sequence[Record]) -> str:
    """Several runs in one sentence: which is fastest, by how much, and what limits them."""
    return _overview(results)[0]


def _overview(results: Sequence[Record]) -> tuple[str, bool]:
    """The same, and whether it begins with a label."""
    what = {work(r.data)[1] for r in results}
    if len(results) < SEVERAL or len(what) > 1:
        return "", False
    labels, labelled = [r.label for r in results], False
    rates, unit = achieved(results)
    low, high = min(rates), max(rates)
    if low <= 0:
        return "", False
    if high / low - 1 < SAME_RATE or all_carry_the_same(results, unit):
        span = three(high) if three(low) == three(high) else f"{three(low)} to {three(high)}"
        apart = _most_apart([*_of_packets(results), *_beside(results)])
        same = "throughput is about the same" if apart else "all runs perform about the same"
        said = f"{same}, {span} {unit}{apart}"
    elif load := carried(labels, [[r] for r in results], unit, partial(_loads_apart, results)):
        said = load
    else:
        best, are, worst = ends(labels, rates)
        more = f"{times_of(high, low)} the slowest, {worst}"
        beside = _most_apart([*_beside(results)]) if what == {"packets"} else ""
        losses = [lost(r) for r in results]
        drops = lost_by_the_fastest(labels, losses, rates)
        labelled = True
        said = f"{best} {are} fastest at {three(high)} {unit}, {more}{drops}{beside}"
    limits = list(dict.fromkeys(limiter(r) for r in results))
    if len(limits) == 1:
        return f"{said}; all are limited by {limits[0]}", labelled
    return f"{said}; the limits are {listed(limits)}", labelled


def _loads_apart(results: Sequence[Record]) -> str:
    """In what runs differ that carry different loads. Memory traffic grows with the load anyway."""
    spans = [span for span in _of_packets(results) if span.name != MEMORY]
    return _most_apart([*spans, *_beside(results)])


def _most_apart(spans: Sequence[_Span]) -> str:
    """The number in which the runs differ most, with its extremes.

    Empty if the difference is too small for users to notice.
    """
    most = max(spans, key=lambda of: of.apart, default=None)
    if most is None or most.apart <= 1 + DIFFERENCE_FELT:
        return ""
    extremes = sorted({most.values.index(end(most.values)) for end in (min, max)})
    told = (f"{most.shown(most.values[run])} ({most.labels[run]})" for run in extremes)
    verb = "range" if words.several(most.name) else "ranges"
    return f"; {most.name} {verb} from {' to '.join(told)}"


@dataclass(frozen=True)
class _Span:
    """A number that every run has."""

    name: str
    labels: list[str]
    values: list[float]
    shown: Callable[[float], str]

    @property
    def apart(self) -> float:
        """The largest value divided by the smallest."""
        return max(self.values) / min(self.values) if min(self.values) > 0 else inf


def _of_packets(results: Sequence[Record]) -> Iterator[_Span]:
    """What users notice of the packets' way besides the rate, if all runs have it."""
    labels = [r.label for r in results]
    traffic = [r.data.memory.bandwidth_gbytes_per_s for r in results]
    if _memory_is_used(results):
        yield _Span(MEMORY, labels, traffic, partial(_with_unit, unit="GB/s"))
    sent = [r.data.transport for r in results if r.data.transport is not None]
    if len(sent) == len(results):
        losses = [lost(r) for r in results]
        if max(losses) >= DROPS_FELT:
            yield _Span("loss", labels, losses, percent)
        tails, name = [senders.p99_ns(r.data, "rtt") for r in results], "the p99 round trip"
    else:
        tails, name = [r.p99_ns for r in results], "the p99"
    told = [tail for tail in tails if tail]
    if len(told) == len(results):
        yield _Span(name, labels, told, time)


def _memory_is_used(results: Sequence[Record]) -> bool:
    """Whether some run moves much to or from memory: many times next to nothing is little still.

    Much is measured by the bus, or by what the packets carry.
    """
    data = [r.data for r in results]
    return any(
        d.memory.bandwidth_gbytes_per_s
        > min(MUCH * d.memory.bus_limit_gbytes_per_s, d.packets.completed_gbps / 8 or inf)
        for d in data
    )


def _beside(results: Sequence[Record]) -> Iterator[_Span]:
    """How fast memory benchmarks are that all runs have."""
    runs = [{n.name: n for n in benchmarks(r) if n.raw} for r in results]
    for name, first in runs[0].items():
        rates = [run[name].raw or 0.0 for run in runs if name in run]
        # A tenant without cores in some of the runs is not slower there.
        if len(rates) == len(results):
            labels = [r.label for r in results]
            yield _Span(name, labels, rates, partial(_with_unit, unit=first.unit))


def _with_unit(value: float, unit: str) -> str:
    return f"{three(value)} {unit}"


def summary(base: Record, other: Record) -> str:
    """Two runs compared in one sentence: first what users notice, then the work done."""
    felt = [change for change in (_drops_felt(base, other), _p99_felt(base, other)) if change]
    what, same = (work(r.data)[1] for r in (base, other))
    (before, after), unit = achieved([base, other])
    traffic = base.data.memory.bandwidth_gbytes_per_s, other.data.memory.bandwidth_gbytes_per_s
    less = _more(*traffic, "less", "memory traffic", "GB/s of memory traffic")
    causes = [f"causes {less}"] if _memory_is_used([base, other]) else []
    limiters = limiter(base), limiter(other)
    end = f"the limit moves from {limiters[0]} to {limiters[1]}"
    if limiters[0] == limiters[1]:
        end = f"both are limited by {limiters[0]}"
    if what != same:
        return f"{other.label} {listed([*felt, f'causes {less}'])}; {end}."
    done = "requests" if what == "packets" else what
    if before <= 0 and after <= 0:
        with_traffic = base.scenario.get("traffic") and other.scenario.get("traffic")
        return f"Neither run completes any {'requests' if with_traffic else done}."
    more = f"completes {_more(before, after, 'fewer', done, f'M {done}/s')}"
    if base.data.transport and other.data.transport:
        more = f"achieves {_more(before, after, 'less', 'goodput', unit)}"
    elif unit == BYTES:
        more = f"completes {_more(before, after, 'less', 'traffic', unit)}"
    beside = _beside_felt(base, other) if what == "packets" else ""
    return f"{other.label} {listed([*felt, more, *causes])}{beside}; {end}."


def _drops_felt(base: Record, other: Record) -> str:
    """The drops, if they differ much."""
    before, after = base.data.packets.drop_share, other.data.packets.drop_share
    if not _both_offered(base, other) or abs(after - before) < DROPS_FELT:
        return ""
    return f"drops {percent(after)} of the packets instead of {percent(before)}"


def _both_offered(base: Record, other: Record) -> bool:
    """Whether packets came in both runs: one without has no drops to compare."""
    return base.data.packets.offered > 0 and other.data.packets.offered > 0


def _beside_felt(base: Record, other: Record) -> str:
    """The memory benchmarks beside the packets whose rates change much."""
    felt = [of for of in _beside([base, other]) if of.apart > 1 + DIFFERENCE_FELT]
    rates = ((of.name, *map(of.shown, of.values)) for of in felt)
    return "".join(f"; {name} does {after} instead of {before}" for name, before, after in rates)


def _p99_felt(base: Record, other: Record) -> str:
    """The p99 of what users of both runs wait for (round trip or latency), if it changes much."""
    what = "round trip" if base.data.transport and other.data.transport else "latency"
    before, after = (
        senders.p99_ns(r.data, "rtt") if what == "round trip" else r.p99_ns for r in (base, other)
    )
    if not before or not after or abs(after / before - 1) <= LATENCY_FELT:
        return ""
    return f"has a p99 {what} of {time(after)} instead of {time(before)}"


def _more(before: float, after: float, fewer: str, what: str, in_units: str) -> str:
    """A change in percent, as a multiple if it is large, or in units if hardly any is left."""
    if before <= 0:
        return f"{three(after)} instead of {three(before)} {in_units}"
    if after / before >= TIMES:
        return f"{after / before:.0f} times the {what}"
    change = round(100 * (after / before - 1))
    if change == -100 and after > 0:
        return f"{three(after)} instead of {three(before)} {in_units}"
    if change == 0:
        return f"as {'many' if fewer == 'fewer' else 'much'} {what}"
    return f"{abs(change)} % {'more' if change > 0 else fewer} {what}"


def differences(base: Record, other: Record) -> list[str]:
    """What changed between two runs: the main numbers, and the causes that changed most."""
    said: list[str] = []
    numbers = {n.name: n for n in headline(other)}
    for before in headline(base):
        after = numbers.get(before.name)
        if (
            before.compared
            and before.raw is not None
            and after is not None
            and after.raw is not None
        ):
            _change(said, before.name, before.raw, after.raw, before.unit)
    if _both_offered(base, other):
        drops = base.data.packets.drop_share, other.data.packets.drop_share
        _share(said, "dropped packets", *drops)
    hits, then = dma_write_hits(base), dma_write_hits(other)
    if hits is not None and then is not None:
        _share(said, "DMA writes that hit", hits, then)
    held, later = consumed_share(base), consumed_share(other)
    if held is not None and later is not None:
        _share(said, CONSUMED_SHARE, held, later)
    _senders(said, base.data, other.data)
    lines = lines_by_cause([base, other])
    moved = sorted(lines.items(), key=lambda of: -abs(of[1][1] - of[1][0]))
    for name, (was, now) in moved[:3]:
        if max(was, now) < FEW_LINES:
            continue
        _change(said, CAUSES.get(name, name), was, now, "lines per request")
    if limit(base) != limit(other):
        said.append(f"limited by: {limit(base)} → {limit(other)}")
    return said


def lines_by_cause(results: Sequence[Record]) -> dict[str, list[float]]:
    """Memory lines per request by cause, in every run; no causes if some run has no requests."""
    runs = [
        {c.cause: c.per_request for c in r.data.memory.causes if c.per_request is not None}
        for r in results
    ]
    causes = sorted({cause for run in runs for cause in run}) if all(runs) else []
    if any(neighbours(r.data, r.scenario) for r in results):
        # The lines that cores beside the packets cause belong to no request.
        causes = [cause for cause in causes if cause in OF_PACKETS]
    return {cause: [run.get(cause, 0.0) for run in runs] for cause in causes}


def _senders(said: list[str], base: Results, other: Results) -> None:
    """How closed-loop senders recover; counts are per millisecond, as run lengths may differ."""
    before, after = base.transport, other.transport
    if before is None or after is None:
        return
    again = senders.sent_again(before), senders.sent_again(after)
    _share(said, "packets retransmitted", *again)
    # Old results do not say.
    if before.hears_marks is not False or after.hears_marks is not False:
        marked = senders.marked_share(before), senders.marked_share(after)
        _share(said, "packets marked (ECN)", *marked)
    spans = base.measured_ns / 1e6, other.measured_ns / 1e6
    recoveries = before.fast_recoveries / spans[0], after.fast_recoveries / spans[1]
    _change(said, "fast recoveries", *recoveries, "per ms")
    timeouts = senders.timeouts_per_ms(before, base), senders.timeouts_per_ms(after, other)
    _change(said, "timeouts", *timeouts, "per ms")


def _share(said: list[str], what: str, before: float, after: float) -> None:
    """Mention a share if it is displayed differently."""
    if percent(before) != percent(after) and not _as_before(before, after):
        said.append(f"{what}: {percent(before)} → {percent(after)}")


def _change(said: list[str], what: str, before: float, after: float, unit: str) -> None:
    """Mention a change of at least a percent; a change from almost zero gets no percentage."""
    if max(before, after) < LEAST or three(before) == three(after) or _as_before(before, after):
        return
    share = in_percent(before, after)
    said.append(f"{what}: {three(before)} → {three(after)} {unit}{f' ({share})' if share else ''}")


def in_percent(before: float, after: float) -> str:
    """A change in percent; empty from nothing or so little that a percentage says nothing."""
    if before < LEAST or after / before >= TIMES:
        return ""
    return f"{100 * (after / before - 1):+.0f} %"


def _as_before(before: float, after: float) -> bool:
    """Whether a number's change rounds to 0 %."""
    return before > 0 and round(100 * (after / before - 1)) == 0
