"""Writes `python/nic2core/scenario/models.py`: the scenario as typed models."""

import json
import re
import subprocess
import sys
import textwrap

from .schema import (
    Json,
    definition_of,
    describe,
    is_optional,
    plain_type,
    units_of,
    variants_of,
)

HEADER = '''"""The scenario as typed models, with completion and checks in an editor.

Generated from `schema/scenario.schema.json` by `python -m tools.codegen`: do not edit.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from nic2core._core import UserError
from nic2core.near_names import did_you_mean
from nic2core.scenario.assigned import as_model
from nic2core.scenario.origin import Origin


class Model(BaseModel):
    """What all tables of a scenario have in common.

    What is assigned is checked when the scenario runs, by the checker of scenario files.
    """

    model_config = ConfigDict(
        allow_inf_nan=False,
        extra="forbid",
        serialize_by_alias=True,
        use_attribute_docstrings=True,
        validate_by_name=True,
    )

    # To a type checker it would say that every key can be assigned.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            known = type(self).model_fields
            if name in type(self).__private_attributes__:
                super().__setattr__(name, value)
                return
            if name not in known:
                raise UserError(
                    f"{type(self).__name__} has no key `{name}`; allowed: {', '.join(known)}"
                    f"{did_you_mean(name, known)}"
                )
            super().__setattr__(name, as_model(known[name], value))

    def copy(self) -> Self:  # type: ignore[override]
        """A copy that can be changed without changing this one."""
        return self.model_copy(deep=True)
'''

# What a scenario holds besides its keys.
ORIGIN = "    _origin: Origin = PrivateAttr(default_factory=Origin)\n"

# The range of an integer by its format in the schema.
RANGES = {
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


def camel(name: str) -> str:
    """`close-after` as `CloseAfter`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_]", name))


def class_name(definition: str) -> str:
    """The name of a definition in Python, where the suffix `Config` adds nothing."""
    return definition.removesuffix("Config")


def docstring(text: str, indent: str = "") -> str:
    """A docstring of `text`, wrapped at 100 columns."""
    if not text:
        return ""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    one_line = " ".join(text.split())
    if len(indent) + len(one_line) + 6 <= 100:
        return f'{indent}"""{one_line}"""\n'
    lines = textwrap.wrap(
        one_line,
        width=100,
        initial_indent=f'{indent}"""',
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return "\n".join([*lines, f'{indent}"""\n'])


class Writer:
    """Writes definitions, each after those that it needs."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self.written: dict[str, str] = {}

    def text(self) -> str:
        """The whole file."""
        self.add_class("Scenario", self.schema)
        self.written["Scenario"] += ORIGIN
        text = HEADER + "".join(f"\n\n{text}" for text in self.written.values())
        command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "models.py", "-"]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout

    def need(self, definition: str) -> str:
        """Makes sure that a definition is written; returns its name in Python."""
        name = class_name(definition)
        if name not in self.written:
            schema = self.schema["$defs"][definition]
            names, tables = variants_of(schema)
            if names or tables:
                parts = (
                    [f"Literal[{', '.join(json.dumps(n.name) for n in names)}]"] if names else []
                )
                for table in tables:
                    parts.append(f"{camel(table.name)}{name}")
                    self.add_class(parts[-1], table.schema, table.tag)
                union = " | ".join(parts)
                if len(tables) > 1 and tables[0].tag:
                    union = f'Annotated[{union}, Field(discriminator="{tables[0].tag}")]'
                meanings = [f"`{n.name}`: {n.meaning}" for n in names if n.meaning]
                text = " ".join([describe(schema), *meanings])
                self.written[name] = f"{name}: TypeAlias = {union}\n" + docstring(text)
            elif units := units_of(schema):
                text = f'Text such as "{schema["examples"][0]}"; units {", ".join(units)}.'
                field = f'Field(pattern=r"{schema["pattern"]}", examples={schema["examples"]!r})'
                alias = f"{name}: TypeAlias = Annotated[str, {field}]\n"
                self.written[name] = alias + docstring(text)
            else:
                self.add_class(name, schema)
        return name

    def type_of(self, schema: Json) -> str:
        """The type of a key in Python."""
        definition = definition_of(schema)
        kind = plain_type(schema)
        if definition:
            text = self.need(definition)
        elif kind == "array":
            text = f"list[{self.type_of(schema['items'])}]"
        elif kind == "integer":
            low, high = RANGES[schema["format"]]
            text = camel(schema["format"]).replace("Uint", "UInt")
            alias = f"{text}: TypeAlias = Annotated[int, Field(ge={low}, le={high})]\n"
            self.written.setdefault(text, alias)
        else:
            text = {"number": "float", "boolean": "bool", "string": "str"}[kind or ""]
        return f"{text} | None" if is_optional(schema) else text

    def add_class(self, name: str, schema: Json, tag: str | None = None) -> None:
        """Writes a table."""
        fields = ""
        for key, value in schema["properties"].items():
            if key == tag:
                constant = json.dumps(value["const"])
                fields += f"    {key}: Literal[{constant}] = {constant}\n"
                continue
            required = key in schema.get("required", [])
            fields += self.field(key, value, required) + docstring(describe(value), "    ")
        self.written[name] = (
            f"class {name}(Model):\n{docstring(describe(schema), '    ')}\n{fields}"
        )

    def field(self, key: str, schema: Json, required: bool) -> str:
        """One key of a table."""
        kind = self.type_of(schema)
        name = key.replace("-", "_")
        if name != key:
            kind = f'Annotated[{kind}, Field(alias="{key}")]'
        if required:
            return f"    {name}: {kind}\n"
        default = schema.get("default")
        if isinstance(default, dict):
            self.check_defaults(definition_of(schema) or "", default)
            return f"    {name}: {kind} = Field(default_factory={kind})\n"
        return f"    {name}: {kind} = {default!r}\n"

    def check_defaults(self, definition: str, default: Json) -> None:
        """Checks that a default table has the same defaults as its definition, which is written."""
        properties = self.schema["$defs"][definition]["properties"]
        for key, value in default.items():
            if properties[key].get("default") != value:
                raise ValueError(
                    f"{definition}.{key} has another default of its own than {value!r}"
                )
