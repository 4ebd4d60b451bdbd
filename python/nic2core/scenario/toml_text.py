"""Values as a user writes them in a scenario or behind `--set`."""

from __future__ import annotations

import json
import re
from typing import Any


def toml_value(value: Any) -> str:
    """A Python value as `--set` takes it: text as it is, a mapping as an inline table."""
    return value if isinstance(value, str) else _inline(value)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_inline(of)}" for key, of in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    # Numbers, booleans and quoted text are the same in JSON.
    return json.dumps(value)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)
