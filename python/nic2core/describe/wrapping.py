"""Names of runs broken into lines where a person would break them."""

from __future__ import annotations

import re

BREAK = re.compile(r"(?<=[_=])(?=[^\s=])|(?<=\w\.)(?=[a-z_])|(?<=\D )")
"""Behind `_`, `=`, the points of a key, and spaces but that of a number and its unit."""


def parts(text: str) -> list[str]:
    """What stays whole: words, parts of keys, quantities such as `25 us`."""
    return [part.rstrip() for part in BREAK.split(text)]


def wrap(text: str, width: int) -> str:
    """The text in lines of at most `width`, as far as its parts are no longer."""
    lines = [""]
    for part in BREAK.split(text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def evenly(count: int, most: int) -> list[int]:
    """How many of `count` things are in each of the fewest rows that hold `most` at most."""
    rows = -(-count // most)
    least, more = divmod(count, rows)
    return [least + (row < more) for row in range(rows)]
