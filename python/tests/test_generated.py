"""What is generated from the Rust types is committed as it would be generated now."""

from tools.codegen import stale


def test_schema_models_and_reference_are_fresh() -> None:
    assert stale() == [], "run `python -m tools.codegen` and commit what it writes"
