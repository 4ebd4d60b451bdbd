"""Writes `docs/scenario.md`: every key of a scenario."""

from .schema import (
    Json,
    definition_of,
    describe,
    is_optional,
    plain_type,
    units_of,
    variants_of,
)

INTRO = """# The scenario

<!-- Generated from schema/scenario.schema.json by `python -m tools.codegen`: do not edit. -->

A scenario is one TOML file: a machine, the traffic, the software on the cores, and what is
measured. This page lists every key. `nic2core schema` prints the same as JSON Schema.

**The machine** is usually a file of its own. `[machine] base = "name"` takes `name.toml` or
`machines/name.toml` beside the scenario, or `../machines/name.toml` from there, or `name.toml` or
`machines/name.toml` in the working directory, or else a machine that comes with nic2core; every
other key under `[machine]` overrides that file: its tables key by key, everything else as a whole.

**One run** is changed with `--set key=value`, as often as needed: `--set placement.io_ways=4`,
`--set tenants.0.cores.count=12` (elements of arrays count from 0), `--set "traffic.rate=30 Mpps"`.
A value is TOML, or else text without quotes. A table replaces the whole table of the file: with
`--set 'traffic={ kind = "replay", file = "my.pcap" }'` there is no `rate`, whatever the file has.

A key whose default below is none may be absent. The value `none` leaves it out, whatever the file
or its machine has: `--set machine.iommu=none`, in a file `iommu = "none"`, `None` from Python, and
`--vary 'traffic.rivals=none,{ senders = 4, think = "1 us" }'`.

**A quantity** is text with a number and a unit, such as `"36 MiB"`; the number may have a decimal
fraction. Sizes count in powers of two, rates in powers of ten. `µs` is read as `us`, and `Gbit/s`,
`Mbit/s`, `kbit/s` and `bit/s` as `Gbps` and so on.

**A capture** that is named in a scenario is found relative to that file; one named by `--set` is
relative to the working directory.

Unknown keys, wrong units and impossible combinations are refused with file, line, key, the value
given and what is allowed.

**A key can be without effect** because another one decides: `placement.io_ways` with
`policy = "dma"`, `traffic.sizes` where the clients of a key-value store choose the sizes, `slo` in
a run that is no peak search. In a file such a key is accepted, because it may be required there.
Set by `--set`, `--vary` or from Python it brings a warning, unless another run of the same command
uses it.
"""


def one_line(text: str) -> str:
    """Text on one line, escaped for a table cell."""
    return " ".join(text.split()).replace("|", "\\|")


class Writer:
    """Writes one section for each kind of table, headed by the keys that hold it."""

    def __init__(self, schema: Json) -> None:
        self.schema = schema
        self.sections: dict[str, list[str]] = {}
        self.bodies: dict[str, str] = {}

    def text(self) -> str:
        """The whole page."""
        self.visit("Scenario", self.schema, "", "")
        parts = [INTRO]
        for section, paths in self.sections.items():
            title = ", ".join(f"`{path}`" for path in paths)
            parts.append(f"## {title or 'The top level'}{self.bodies[section]}")
        return "\n".join(parts)

    def visit(self, section: str, schema: Json, path: str, suffix: str) -> None:
        """Notes that `path` is such a table, and visits the tables below it."""
        known = section in self.sections
        paths = self.sections.setdefault(section, [])
        # Several kinds of a table may have the same key.
        if path and path not in paths:
            paths.append(path)
        if not known:
            self.bodies[section] = suffix + self.body(schema)
        for key, value in schema["properties"].items():
            below = value["items"] if plain_type(value) == "array" else value
            definition = definition_of(below)
            if definition is None:
                continue
            child = f"{path}.{key}".lstrip(".") + (".N" if below is not value else "")
            target = self.schema["$defs"][definition]
            if "properties" in target:
                self.visit(definition, target, child, "")
            for table in variants_of(target)[1]:
                if table.tag:
                    suffix = f' with `{table.tag} = "{table.name}"`'
                    self.visit(f"{definition}/{table.name}", table.schema, child, suffix)

    def body(self, schema: Json) -> str:
        """The description, the table of keys, and the names that they accept."""
        text = f"\n\n{describe(schema)}\n\n"
        text += "| Key | Type | Unit | Default | Meaning |\n|---|---|---|---|---|\n"
        names = ""
        for key, value in schema["properties"].items():
            if "const" in value:
                continue
            kind, unit = self.type_of(value)
            default = self.default(key, value, schema)
            meaning = one_line(describe(value))
            text += f"| `{key}` | {kind} | {unit} | {default} | {meaning} |\n"
            names += self.names(key, value)
        return text + names

    def type_of(self, schema: Json) -> tuple[str, str]:
        """The type and the unit of a key, in words."""
        kind = plain_type(schema)
        definition = definition_of(schema)
        if kind == "array":
            return f"array of {self.type_of(schema['items'])[0]}", ""
        if definition:
            target = self.schema["$defs"][definition]
            if units := units_of(target):
                return definition.lower(), ", ".join(units)
            return ("table" if "properties" in target else self.forms(target)), ""
        return {"string": "text", "boolean": "true or false"}.get(kind or "", kind or ""), ""

    def forms(self, definition: Json) -> str:
        """The names and tables that a key accepts."""
        names, tables = variants_of(definition)
        forms = [f'`"{name.name}"`' for name in names]
        if any(table.tag for table in tables):
            forms.append("table by `kind`")
        forms += [f"`{{ {table.name} = … }}`" for table in tables if not table.tag]
        return ", ".join(forms)

    def default(self, key: str, value: Json, schema: Json) -> str:
        """The default of a key, as in TOML."""
        if key in schema.get("required", []):
            return "required"
        default = value.get("default")
        if default is None:
            return "none" if is_optional(value) else ""
        if isinstance(default, dict):
            return "as below"
        if isinstance(default, bool):
            return f"`{str(default).lower()}`"
        return f'`"{default}"`' if isinstance(default, str) else f"`{default}`"

    def names(self, key: str, value: Json) -> str:
        """The meaning of each name that the key accepts."""
        definition = definition_of(value)
        names, tables = variants_of(self.schema["$defs"][definition]) if definition else ([], [])
        lines = [f"- `{n.name}`: {one_line(n.meaning)}\n" for n in names if n.meaning]
        for table in tables:
            if not table.tag:
                meaning = one_line(describe(table.schema))
                lines.append(f"- `{{ {table.name} = … }}`: {meaning}\n")
        return f"\n`{key}`:\n\n" + "".join(lines) if lines else ""
