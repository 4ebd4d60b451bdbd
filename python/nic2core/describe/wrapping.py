"""Names of runs, broken into lines where a person would break them."""

from __future__ import annotations

import re

BREAK = re.compile(r"(?<=[_=])(?=[^\s=])|(?<=\w\.)(?=[a-z_])|(?<=\D )")
"""After `_`, `=`, the dots of a key, and spaces, except between a number and its unit."""


def parts(text: str) -> list[str]:
    """The parts that are never broken: words, parts of keys, quantities such as `25 us`."""
    return [part.rstrip() for part in BREAK.split(text)]


def wrap(text: str, width: int) -> str:
    """The text in lines of at most `width`, unless a part alone is longer."""
    lines = [""]
    for part in BREAK.split(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def evenly(count: int, most: int) -> list[int]:
    """How many of `count` things go into each row: as few rows as possible, `most` at most each."""
    rows = -(-count // most)
    least, more = divmod(count, rows)
    return [least + (row < more) for row in range(rows)]
