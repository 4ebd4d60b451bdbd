"""What is generated from the Rust types is committed as it would be generated now."""

import json

from nic2core import _core
from nic2core.results import models
from tools.codegen import stale


def test_schema_models_and_reference_are_fresh() -> None:
    assert stale() == [], "run `make codegen` and commit what it writes"


def test_a_result_needs_what_the_engine_always_writes_unless_older_ones_lack_it() -> None:
    schema = json.loads(_core.results_schema())
    for name, definition in {schema["title"]: schema, **schema["$defs"]}.items():
        fields = getattr(models, name).model_fields
        keys = definition["properties"]
        assert list(fields) == list(keys), name
        needed = {key for key in definition["required"] if "default" not in keys[key]}
        assert {key for key, field in fields.items() if field.is_required()} == needed, name
