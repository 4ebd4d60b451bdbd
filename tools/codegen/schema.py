"""Reads the JSON Schemas of scenarios and results, which use only a few shapes."""

import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


def definition_of(schema: Json) -> str | None:
    """The name that `$ref` points to, also inside "this or null"."""
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    named = [v for v in schema.get("anyOf", []) if "$ref" in v]
    return definition_of(named[0]) if named else None


def is_optional(schema: Json) -> bool:
    """Whether the key may be absent without having a value."""
    kind = schema.get("type")
    return (isinstance(kind, list) and "null" in kind) or {"type": "null"} in schema.get(
        "anyOf", []
    )


def plain_type(schema: Json) -> str | None:
    """`integer`, `string`, …, without "or null"."""
    kind = schema.get("type")
    return next(k for k in kind if k != "null") if isinstance(kind, list) else kind


def units_of(definition: Json) -> list[str] | None:
    """The units of a quantity, from its pattern, without their other spellings."""
    found = re.search(r"\(([^()]*)\)\)\$$", definition.get("pattern", ""))
    return found[1].split("|") if found else None


def describe(schema: Json) -> str:
    """The description, with links into the Rust documentation turned into plain names."""

    def plain(link: re.Match[str]) -> str:
        *owner, name = link[1].split("::")
        kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
        return f"`{kebab}`" if owner else f"`{name}`"

    return re.sub(r"\[`([\w:]+)`\](\(.*?\))?", plain, schema.get("description", ""))


@dataclass(frozen=True)
class Name:
    """A value of an enumeration."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """One of several tables, identified by its `tag`, or by its only key if there is no tag."""

    tag: str | None
    name: str
    schema: Json


def variants_of(definition: Json) -> tuple[list[Name], list[Table]]:
    """The names and the tables that an enumeration allows."""
    names: list[Name] = []
    tables: list[Table] = []
    if "enum" in definition:
        names += [Name(name, "") for name in definition["enum"]]
    for variant in definition.get("oneOf", []):
        if "const" in variant:
            names.append(Name(variant["const"], describe(variant)))
        elif "enum" in variant:
            names += [Name(name, "") for name in variant["enum"]]
        else:
            properties = variant["properties"]
            tags = [key for key, value in properties.items() if "const" in value]
            if tags:
                tables.append(Table(tags[0], properties[tags[0]]["const"], variant))
            else:
                (key,) = properties
                tables.append(Table(None, key, variant))
    return names, tables
