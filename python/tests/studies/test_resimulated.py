"""Committed validation results against this engine: what a few seconds can simulate, bit for bit.

A change of the model that moves one of these asks for the whole study to be run again. One that
moves others alone is not seen here: peaks, the key-value store and closed-loop senders take
minutes.
"""

import json
from pathlib import Path

import pytest

from nic2core.studies import command
from nic2core.studies.engine import NativeEngine

DOCS = Path(__file__).parents[3] / "docs" / "validation"


@pytest.mark.parametrize(
    ("paper", "claim"),
    [
        ("pcie-bench", None),
        ("ddio-bench", "ddio-bench/figways/2"),
        ("sweeper", "sweeper/fig7b/2way-outlier"),
        ("host-congestion", "host-congestion/fig3/pcie-goodput"),
    ],
)
def test_the_engine_gives_what_is_committed(
    paper: str, claim: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.run(
        paper, out=tmp_path, engine=NativeEngine(), as_json=True, jobs=2, claim=claim, docs=None
    )
    assert code == 0
    found = json.loads(capsys.readouterr().out)
    committed = json.loads((DOCS / f"{paper}.json").read_text(encoding="utf-8"))["claims"]
    assert found == [row for row in committed if claim in {None, row["id"]}]
    assert found
