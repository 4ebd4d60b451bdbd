"""Keys and values in the options of the command."""

from __future__ import annotations

import re
from typing import Any

from nic2core import rerun, sources
from nic2core._core import UserError

IN_PYTHON = {
    sources.A_SEARCH: "a search (`nic2core peak`, or --peak)",
    sources.ANOTHER_DIRECTORY: "another directory for --out",
    f"{rerun.NAME}: ": "--check: ",
}
"""What the library calls by its name in Python, and its name in the command."""

MAX_SEED = 2**64 - 1
"""The largest seed."""

DIGITS = 25
"""The most digits of a number that is looked at: all that keys take have fewer."""

LISTED = 8
"""Maximum number of values written out in the message about a range."""


def overrides(sets: list[str] | None, seed: str | None) -> dict[str, Any]:
    """What `--set` and `--seed` change."""
    found: dict[str, Any] = pairs(sets or [], "--set", "placement.io_ways=4")
    if seed is not None:
        if "run.seed" in found:
            raise UserError("run.seed is given twice, by --seed and by --set; give it once.")
        found["run.seed"] = _seed(seed)
    return found


def _seed(text: str) -> int:
    """The value of `--seed`."""
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise UserError(f"--seed {text} is not a whole number; allowed: 0 to {MAX_SEED}.")
    if len(text) > DIGITS or not 0 <= int(text) <= MAX_SEED:
        raise UserError(f"--seed {text} is out of range; allowed: 0 to {MAX_SEED}.")
    return int(text)


def pairs(texts: list[str], option: str, example: str) -> dict[str, str]:
    """The keys of an option with their values; each key only once."""
    found: dict[str, str] = {}
    for text in texts:
        if not _is_text(text):
            raise UserError(f"`{option} {ascii(text)[1:-1]}` is not text in UTF-8.")
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise UserError(
                f"`{option} {text}` is not KEY=VALUE; write for example `{option} {example}`."
            )
        if key in found:
            raise UserError(
                f"`{option} {text}` repeats the key of `{option} {key}={found[key]}`; give each "
                "key once."
            )
        found[key] = value
    return found


def _is_text(text: str) -> bool:
    """Whether an argument was text: other bytes become characters that have no encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def values(varied: dict[str, str]) -> dict[str, list[str]]:
    """The values of every key that `--vary` names."""
    for key, text in varied.items():
        span = re.fullmatch(rf"(\d{{1,{DIGITS}}})\.\.\.?(\d{{1,{DIGITS}}})", text)
        first, last = map(int, span.groups()) if span else (1, 0)
        if first <= last:
            some = [*map(str, range(first, last + 1)[:LISTED])]
            if last - first >= LISTED:
                # Of sizes, each twice the one before.
                some = _doubled(first, last) if first > LISTED else [*some, "..."]
            raise UserError(
                f"`--vary {key}={text}` is a range; list its values: `--vary "
                f"{key}={','.join(some)}`."
            )
    return {key: split_values(text) for key, text in varied.items()}


def _doubled(first: int, last: int) -> list[str]:
    """`first`, twice that and so on, and `last`."""
    values = [first]
    while 2 * values[-1] < last:
        values.append(2 * values[-1])
    return [*map(str, values), str(last)]


def in_options(text: str) -> str:
    """A text of the library as the command says it."""
    for name, option in IN_PYTHON.items():
        text = text.replace(name, option)
    return text


def split_values(text: str) -> list[str]:
    """The values of `--vary`: separated by commas outside of quotes and brackets."""
    values, depth, quote = [""], 0, ""
    for char in text:
        if quote or char in "\"'":
            quote = "" if char == quote else quote or char
        else:
            depth = max(0, depth + (char in "[{") - (char in "]}"))
        if char == "," and depth == 0 and not quote:
            values.append("")
        else:
            values[-1] += char
    return [v.strip() for v in values]
