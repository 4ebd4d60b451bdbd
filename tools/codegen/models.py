"""Writes `python/nic2core/scenario/models.py`: the scenario as typed models."""

import json
import re

from . import classes
from .classes import docstring
from .schema import Json, definition_of, describe, plain_type, units_of, variants_of

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


class Writer(classes.Writer):
    """Writes the tables of a scenario, and the names and quantities that they hold."""

    base = "Model"

    def text(self) -> str:
        """The whole file."""
        self.add_class("Scenario", self.schema)
        self.written["Scenario"] += ORIGIN
        return self.whole(HEADER)

    def add(self, name: str, schema: Json) -> None:
        """Writes a table, or the names and tables or the quantity that a key accepts."""
        names, tables = variants_of(schema)
        if names or tables:
            parts = [f"Literal[{', '.join(json.dumps(n.name) for n in names)}]"] if names else []
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

    def plain(self, schema: Json) -> str:
        """The type of a number, a truth value or a text; integers have their range."""
        if plain_type(schema) != "integer":
            return super().plain(schema)
        low, high = RANGES[schema["format"]]
        name = camel(schema["format"]).replace("Uint", "UInt")
        alias = f"{name}: TypeAlias = Annotated[int, Field(ge={low}, le={high})]\n"
        self.written.setdefault(name, alias)
        return name

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
