"""Writes the definitions of a schema as pydantic classes."""

import json
import subprocess
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from .schema import Json, definition_of, describe, is_optional, plain_type


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


class Writer(ABC):
    """Writes definitions, each after those that it needs."""

    base: ClassVar[str]
    """The base of all classes that are not in `bases`."""
    bases: ClassVar[Mapping[str, str]] = {}
    """The bases of classes that have another one."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self.written: dict[str, str] = {}

    def whole(self, header: str) -> str:
        """The whole file: the header and everything written, formatted."""
        text = header + "".join(f"\n\n{text}" for text in self.written.values())
        command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "models.py", "-"]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, check=True
        ).stdout

    def need(self, definition: str) -> str:
        """Makes sure that a definition is written; returns its name in Python.

        The suffix `Config` adds nothing there.
        """
        name = definition.removesuffix("Config")
        if name not in self.written:
            self.add(name, self.schema["$defs"][definition])
        return name

    def add(self, name: str, schema: Json) -> None:
        """Writes a definition."""
        self.add_class(name, schema)

    def type_of(self, schema: Json) -> str:
        """The type of a key in Python."""
        definition = definition_of(schema)
        kind = plain_type(schema)
        if definition:
            text = self.need(definition)
        elif "prefixItems" in schema:
            text = f"tuple[{', '.join(self.type_of(item) for item in schema['prefixItems'])}]"
        elif kind == "array":
            text = f"list[{self.type_of(schema['items'])}]"
        elif kind == "object":
            text = f"dict[str, {self.type_of(schema['additionalProperties'])}]"
        else:
            text = self.plain(schema)
        return f"{text} | None" if is_optional(schema) else text

    def plain(self, schema: Json) -> str:
        """The type of a number, a truth value or a text."""
        names = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
        return names[plain_type(schema) or ""]

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
        base = self.bases.get(name, self.base)
        self.written[name] = (
            f"class {name}({base}):\n{docstring(describe(schema), '    ')}\n{fields}"
        )

    @abstractmethod
    def field(self, key: str, schema: Json, required: bool) -> str:
        """One key of a table."""
