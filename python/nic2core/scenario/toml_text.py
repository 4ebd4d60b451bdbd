"""Values as a user writes them in a scenario or after `--set`."""

from __future__ import annotations

import json
import re
import tomllib
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Mapping


LEFT_OUT = "none"
"""The value that leaves out a key that may be absent: TOML has no null."""


def toml_value(value: Any) -> str:
    """A Python value in the syntax of `--set`: text unchanged, a mapping as an inline table."""
    return value if isinstance(value, str) else _inline(given(value))


def as_table(value: Any) -> dict[str, Any] | None:
    """A table that was given as a mapping or in the syntax of `--set`; `None` for other values."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = tomllib.loads(f"table = {value}")["table"]
        except tomllib.TOMLDecodeError:
            return None
    return value if isinstance(value, dict) else None


def as_sets(overrides: Mapping[str, Any]) -> list[str]:
    """Keys and values as arguments for `--set`."""
    return [f"{key}={toml_value(value)}" for key, value in overrides.items()]


def not_null(value: Any) -> Any:
    """`None` as a scenario writes it."""
    return LEFT_OUT if value is None else value


def plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Convert to JSON values: NumPy values to Python's, other types unknown to JSON to text."""
    text = json.dumps(dict(value), default=_known)
    found: dict[str, Any] = json.loads(text, parse_constant=str)
    return found


def given(value: Any) -> Any:
    """A value without its unset keys, because TOML has no null."""
    if isinstance(value, dict):
        return {name: given(of) for name, of in value.items() if of is not None}
    return [given(of) for of in value] if isinstance(value, list) else value


def _known(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True, warnings=False)
    if isinstance(value, PathLike):
        return fspath(value)
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_inline(of)}" for key, of in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    # JSON writes numbers, booleans and text as TOML does, except that it may escape non-ASCII.
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)
