"""Writes `python/nic2core/results/models.py`: the result of a run as typed models."""

from typing import ClassVar

from . import classes
from .schema import Json, is_optional, plain_type

HEADER = '''"""The result of a run, and the search for a peak, as the engine writes them.

Generated from the Rust types in `crates/engine/src/stats/results/` by `python -m tools.codegen`: do
not edit. Unknown and missing keys are refused, so a result that does not fit is noticed when it is
read. A key has a default if the engine leaves it out, or if saved results may lack it.
"""

from typing import Annotated

from pydantic import Field

from nic2core.results.bases import DistributionBase, PeakBase, ResultsBase
from nic2core.results.plain import Plain
'''


class Writer(classes.Writer):
    """Writes the parts of a result."""

    base = "Plain"
    bases: ClassVar = {
        "Distribution": "DistributionBase",
        "Peak": "PeakBase",
        "Results": "ResultsBase",
    }

    def text(self) -> str:
        """The whole file."""
        self.add_class("Peak", self.schema)
        return self.whole(HEADER)

    def field(self, key: str, schema: Json, required: bool) -> str:
        """One key."""
        kind = self.type_of(schema)
        if "exclusiveMinimum" in schema:
            kind = f"Annotated[{kind}, Field(gt={schema['exclusiveMinimum']})]"
        if required and "default" not in schema:
            return f"    {key}: {kind}\n"
        if plain_type(schema) == "array" and not is_optional(schema):
            return f"    {key}: {kind} = Field(default_factory=list)\n"
        return f"    {key}: {kind} = {schema.get('default')!r}\n"
