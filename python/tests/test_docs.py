"""The scenarios that the documentation shows are accepted as they stand there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nic2core import api

ROOT = Path(__file__).parents[2]
SCENARIO = re.compile(r"^```toml\n(\[machine\]\n.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/your-server.md"])
def test_a_scenario_of_the_documentation_is_accepted(page: str, tmp_path: Path) -> None:
    (tmp_path / "machines").mkdir()
    (tmp_path / "scenarios").mkdir()
    copied = tmp_path / "machines/my-server.toml"
    shutil.copyfile(ROOT / "machines/skylake-6140.toml", copied)
    shown = SCENARIO.findall((ROOT / page).read_text(encoding="utf-8"))
    assert shown
    for number, text in enumerate(shown):
        scenario = tmp_path / f"scenarios/{number}.toml"
        scenario.write_text(text)
        api.prepare(scenario)
