"""Suggestions for unknown names."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """The end of a sentence: the known name that was probably meant, if one is similar."""
    near = get_close_matches(asked, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else "."
