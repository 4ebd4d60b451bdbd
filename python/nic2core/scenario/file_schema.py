"""JSON Schemas of the files that users write: a scenario names a machine, or holds all of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nic2core import _core
from nic2core.scenario.toml_text import LEFT_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

MACHINE = "Machine"
"""The definition of a machine in the schema of a scenario."""

BASE_KEY = {
    "type": "string",
    "description": "Name of a machine file. The keys beside it are laid over that machine.",
}


def scenario_file() -> Json:
    """The schema of a scenario file.

    With a `base`, a machine and its tables need not have all keys. (Tables of a machine without one
    must have them, which the program tells, not the schema.)
    """
    schema: Json = _of_files(json.loads(_core.scenario_schema()))
    tables: Json = schema["$defs"]
    machine = tables[MACHINE]
    whole = {"required": machine["required"]}
    for name in {*_within(machine, tables), MACHINE}:
        tables[name].pop("required", None)
    machine["properties"] = {"base": BASE_KEY, **machine["properties"]}
    machine |= {"if": {"required": ["base"]}, "else": whole}
    return schema


def machine_file() -> Json:
    """The schema of a machine file."""
    schema: Json = _of_files(json.loads(_core.scenario_schema()))
    tables: Json = schema["$defs"]
    machine = tables.pop(MACHINE)
    inner = {name: tables[name] for name in sorted({*_within(machine, tables)})}
    return {"$schema": schema["$schema"], "title": MACHINE, **machine, "$defs": inner}


def _of_files(part: Any) -> Any:
    """A part of the schema as files have it: what may be null is left out by a name."""
    if isinstance(part, list):
        return [_of_files(of) for of in part]
    if not isinstance(part, dict):
        return part
    if part == {"type": "null"}:
        return {"const": LEFT_OUT, "description": "Leaves the key out."}
    of = {key: _of_files(value) for key, value in part.items()}
    types = of.get("type")
    if not isinstance(types, list) or "null" not in types:
        return of
    said = {key: of.pop(key) for key in ("description", "default") if key in of}
    (of["type"],) = (name for name in types if name != "null")
    return {**said, "anyOf": [of, _of_files({"type": "null"})]}


def _within(part: Any, tables: Json) -> Iterator[str]:
    """The names of the definitions that a part of the schema refers to, directly or not."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                name = value.removeprefix("#/$defs/")
                yield name
                yield from _within(tables[name], tables)
            else:
                yield from _within(value, tables)
    elif isinstance(part, list):
        for value in part:
            yield from _within(value, tables)
