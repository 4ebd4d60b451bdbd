"""Files generated from Rust types: a scenario's schema, models and reference; results' models."""

import json
from pathlib import Path

from nic2core import _core

from . import models, reference, results

ROOT = Path(__file__).parents[2]


def generated() -> dict[Path, str]:
    """Every generated file and what it must contain."""
    text = _core.scenario_schema()
    schema = json.loads(text)
    measured = json.loads(_core.results_schema())
    return {
        ROOT / "schema/scenario.schema.json": text,
        ROOT / "python/nic2core/scenario/models.py": models.Writer(schema).text(),
        ROOT / "python/nic2core/results/models.py": results.Writer(measured).text(),
        ROOT / "docs/scenario.md": reference.Writer(schema).text(),
    }


def stale() -> list[Path]:
    """The generated files that are missing or out of date."""
    return [p for p, text in generated().items() if not p.exists() or p.read_text() != text]
