"""What the command shows in the terminal: results as tables with small bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nic2core import names, words
from nic2core.command.side_by_side import side_by_side
from nic2core.describe import peaks, senders, slowdowns
from nic2core.describe.compared import COLUMNS, Compared, compared
from nic2core.describe.differences import UNCHANGED
from nic2core.describe.doubts import all_doubts
from nic2core.describe.headline import headline
from nic2core.describe.limiter import mark
from nic2core.describe.scenario_keys import first
from nic2core.describe.verdict import verdict
from nic2core.explain.use import neighbours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nic2core.effects import Shift
    from nic2core.result import Result
    from nic2core.results.models import Distribution
    from nic2core.sensitivities import Sensitivity

EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = 16) -> str:
    """A bar of `width` cells for a share of 0 to 1, in eighths of a cell."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def show_result(result: Result) -> None:
    """Draw one run."""
    console = Console(highlight=False)
    console.print(Text(f"{result.label}: {verdict(result)}", style="bold"))
    if result.peak is not None:
        console.print(peaks.peak(result.peak, result.scenario["traffic"]))
        objective = peaks.objective(result.peak, result.scenario["slo"])
        if objective:
            console.print(objective)
    warn([result])
    drawn = (_main, _path, _latency, _senders, _rivals, _slowdowns, _memory)
    for table in (draw(result) for draw in drawn):
        if table.row_count:
            console.print(Padding(table, (1, 0, 0, 0)))


def note(text: str) -> None:
    """Print a note on stderr, so that stdout contains only the results."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def warn(results: Sequence[Result]) -> None:
    """Print warnings about doubtful numbers on stderr, with the run's name if there are several."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for doubt in all_doubts(results):
        console.print(Text(f"{doubt.of}Warning: {doubt.warning}", style="yellow"))


def _table(title: str, *columns: str | Text) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or not column else "right")
    return table


def _main(result: Result) -> Table:
    table = _table("", "", "")
    table.show_header = False
    for number in headline(result):
        table.add_row(Text(number.name), Text(f"{number.value} {number.unit}".rstrip()))
    return table


def _path(result: Result) -> Table:
    table = _table("Load of each stage of the path", "stage", "load", "", "")
    for stage in result.stages:
        named = mark(result) if stage.stage == result.limiting_stage.stage else ""
        table.add_row(
            f"{names.stage(stage.stage)}{f' ◀ {named}' if named else ''}",
            f"{100 * stage.load:.0f} %",
            Text(bar(stage.load, 10), style=words.severity(stage.load).terminal),
            stage.detail,
            style="bold" if named else "",
        )
    return table


def _latency(result: Result) -> Table:
    return _delays("Latency by stage", "stage", names.latencies(result.data))


def _senders(result: Result) -> Table:
    table = _delays(senders.TITLE, "delay", senders.delays(result.data))
    if result.data.transport is not None:
        table.caption, table.caption_justify = Text(senders.done(result)), "left"
    return table


def _rivals(result: Result) -> Table:
    table = _table(senders.RIVALS, "", *senders.GROUPS)
    for name, values in senders.groups(result):
        table.add_row(name, *map(Text, values))
    return table


def _slowdowns(result: Result) -> Table:
    table = _table(slowdowns.TITLE, *slowdowns.COLUMNS)
    for row in slowdowns.rows(result.data):
        table.add_row(*map(Text, row))
    return table


def _delays(title: str, of: str, spreads: Mapping[str, Distribution]) -> Table:
    table = _table(title, of, "mean", "p50", "p99", "p99.9", "")
    whole = max((s.mean_ns for s in spreads.values()), default=0.0) or 1.0
    for name, spread in spreads.items():
        table.add_row(
            name,
            words.time(spread.mean_ns),
            *(words.time(spread.percentile(p)) for p in (50.0, 99.0, 99.9)),
            bar(spread.mean_ns / whole),
        )
    return table


def _memory(result: Result) -> Table:
    causes = result.data.memory.causes
    # Lines that cores beside the packets cause belong to no request.
    beside = neighbours(result.data, result.scenario)
    requests = not beside and any(c.per_request is not None for c in causes)
    table = _table(
        "Memory traffic by cause", "cause", *(["lines/request"] if requests else []), "GB/s", ""
    )
    most = max((c.gbytes_per_s for c in causes), default=0.0) or 1.0
    for cause in causes:
        lines = [words.three(cause.per_request or 0.0)] if requests else []
        table.add_row(
            names.cause(cause.cause),
            *lines,
            words.three(cause.gbytes_per_s),
            bar(cause.gbytes_per_s / most, 12),
        )
    return table


def show_comparison(results: Sequence[Result], report: Path | None = None) -> None:
    """Draw several runs side by side; of a few, list what changes between them.

    Of many, that would push the table off the screen: it is in the `report`, if one was written.
    """
    if not results:
        return
    console = Console(highlight=False)
    found = compared(results)
    if found.sentence:
        console.print(Text(found.sentence, style="bold"))
    for part in side_by_side(found, console.width):
        console.print(part, markup=False)
    warn(results)
    if len(found.shown) > COLUMNS:
        where = (
            "the report, which --out DIR and `nic2core report` write" if report is None else report
        )
        console.print(f"\nWhat changes between pairs of them is in {where}.", markup=False)
    else:
        _changes(console, found)
    if found.caution:
        console.print(f"\n{found.caution}", markup=False)


def _changes(console: Console, found: Compared) -> None:
    """What changes between pairs of runs."""
    for base, other, changes in found.changes:
        console.print(Text(f"\n{other.label} against {base.label}", style="bold"))
        for sentence in changes or [UNCHANGED]:
            console.print(f"  {sentence}", markup=False)


def show_sensitivity(found: Sensitivity) -> None:
    """Draw what each value changes, the largest effect first; list those that change nothing."""
    console = Console(highlight=False)
    console.print(Text(f"{found.base.label}: {found.sentence}", style="bold"))
    warn([found.base])
    drops = ["drops"] if found.of_drops else []
    table = _table("", "key", "value", "changed to", "rate", "p99", *drops)
    for effect in found.telling:
        head = [effect.key, effect.value]
        for change in effect.changes:
            table.add_row(*head, change.value, *_shares(change)[: 2 + len(drops)])
            head = ["", ""]
    if table.row_count:
        console.print(Padding(table, (1, 0, 0, 0)))
    points = "; drops: points, of the packets" if drops else ""
    console.print(f"\nrate: throughput in {found.unit}; p99: {found.p99}{points}.", markup=False)
    for remark in found.remarks:
        console.print(remark, markup=False)


def _shares(change: Shift) -> list[str]:
    """A change of throughput and of the p99, in percent, and of drops, in points."""
    shares = (change.rate, change.p99)
    drops = "" if change.drops is None else words.signed(100 * change.drops, 2)
    return [*("" if s is None else f"{words.signed(100 * s, 1)} %" for s in shares), drops]


def show_keys(results: Sequence[Result]) -> None:
    """List the keys in which the scenarios differ, with each column's value, or all of many."""
    console = Console(highlight=False)
    found = compared(results)
    if found.keys:
        console.print(Text("\nThe scenarios differ in", style="bold"))
    shown, more = first(found.keys)
    many = len(found.shown) > COLUMNS
    for of in shown:
        values = ", ".join(dict.fromkeys(of.values)) if many else " | ".join(of.values)
        console.print(f"  {of.key}: {values}", markup=False)
    if more:
        console.print(f"  and {more} more keys")
