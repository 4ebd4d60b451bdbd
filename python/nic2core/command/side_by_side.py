"""Several runs side by side in the terminal: few as columns, many as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from nic2core.describe import wrapping
from nic2core.describe.compared import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nic2core.describe.compared import Compared
    from nic2core.describe.headline import Number

SHORTEST, LONGEST = 10, 20
"""Minimum width of a column: its longest word, within these bounds (of a number of many runs, only
within the upper). Longer words are broken."""

GAP = 2
"""Cells between two columns."""


def side_by_side(found: Compared, width: int) -> Iterator[Table | str]:
    """The main numbers of all runs, as tables that are at most `width` cells wide."""
    if len(found.shown) <= COLUMNS:
        yield from _columns(found, width)
        return
    yield from _rows(found, width)
    if found.alike:
        yield f"\n{found.alike}"


def _columns(found: Compared, width: int) -> Iterator[Table]:
    """Tables with a column for each run; those that do not fit follow below, evenly distributed."""
    results, rows = found.shown, found.numbers
    names = [_name(n) for n, _ in rows]
    named = min(max(map(len, names)), width // 2)
    shown = [*(r.label for r in results), *(v for _, values in rows for v in values)]
    cells = min(max(_longest_part(shown), SHORTEST), LONGEST)
    shares = wrapping.evenly(len(results), max(1, (width - named) // (cells + GAP)))
    cells = (width - named) // shares[0] - GAP
    first = 0
    for share in shares:
        of = slice(first, first + share)
        first += share
        heads = [wrapping.wrap(r.label, cells) for r in results[of]]
        table = _table(named, [(head, cells) for head in heads])
        for name, (_, values) in zip(names, rows, strict=True):
            table.add_row(Text(name), *map(Text, values[of]))
        if first < len(results):
            table.add_row()
        yield table


def _rows(found: Compared, width: int) -> Iterator[Table]:
    """Tables with a row for each run; the numbers that do not fit follow below, in their order."""
    labels = [r.label for r in found.shown]
    named = min(max(map(len, labels)), width // 2 - GAP)
    left = [_Column(_name(number), values) for number, values in found.differing]
    while left:
        room = width - named
        share: list[_Column] = []
        while left and (not share or left[0].least + GAP <= room):
            share.append(left.pop(0))
            room -= share[-1].least + GAP
        # What is left over makes heads less tall.
        widths = [column.least + max(0, room) // len(share) for column in share]
        columns = list(zip(share, widths, strict=True))
        table = _table(named, [(wrapping.wrap(column.name, w), w) for column, w in columns])
        for n, label in enumerate(labels):
            values = (Text(wrapping.wrap(column.values[n], w)) for column, w in columns)
            table.add_row(Text(wrapping.wrap(label, named)), *values)
        if left:
            table.add_row()
        yield table


@dataclass(frozen=True)
class _Column:
    """A main number of all runs."""

    name: str
    values: Sequence[str]

    @property
    def least(self) -> int:
        """The least width: no word of the name is broken, and values only if they are long."""
        return min(max(_longest_part([self.name]), *map(len, self.values)), LONGEST)


def _name(number: Number) -> str:
    return f"{number.name} [{number.unit}]" if number.unit else number.name


def _longest_part(texts: Sequence[str]) -> int:
    return max(len(part) for text in texts for part in wrapping.parts(text))


def _table(named: int, columns: Sequence[tuple[str, int]]) -> Table:
    """A table with a first column of `named` cells, and columns with these heads and widths."""
    table = Table(box=None, pad_edge=False)
    table.add_column("", max_width=named)
    for head, cells in columns:
        # If cut off, a heading might lose what distinguishes the runs.
        table.add_column(Text(head), justify="right", overflow="fold", max_width=cells)
    return table
