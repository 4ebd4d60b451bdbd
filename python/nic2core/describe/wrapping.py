"""Names of runs, broken into lines where a person would break them."""

from __future__ import annotations

import re

WORD = re.compile(r"(?<=\D )")
"""After spaces, except between a number and its unit."""

BREAK = re.compile(rf"(?<=[_=])(?=[^\s=])|(?<=\w\.)(?=[a-z_])|{WORD.pattern}")
"""The same, and after `_`, `=` and the dots of a key."""


def parts(text: str) -> list[str]:
    """The parts that are never broken: words, parts of keys, quantities such as `25 us`."""
    return [part.rstrip() for part in BREAK.split(text)]


def wrap(text: str, width: int) -> str:
    """The text in lines of at most `width`, unless a part alone is longer.

    A word that does not fit into the rest of a line begins a new one, and is broken only if it is
    longer than that.
    """
    lines = [""]
    for word in WORD.split(text):
        if _fits(lines[-1], word, width):
            lines[-1] += word
            continue
        if lines[-1]:
            lines.append("")
        for part in BREAK.split(word):
            if lines[-1] and not _fits(lines[-1], part, width):
                lines.append("")
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _fits(line: str, more: str, width: int) -> bool:
    return len(line) + len(more.rstrip()) <= width


def evenly(count: int, most: int) -> list[int]:
    """How many of `count` things go into each row: as few rows as possible, `most` at most each."""
    rows = -(-count // most)
    least, more = divmod(count, rows)
    return [least + (row < more) for row in range(rows)]
