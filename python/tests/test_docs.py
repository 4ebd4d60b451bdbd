"""The scenarios and commands that the documentation shows are accepted as they stand there."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from nic2core import sources
from nic2core.command import cli, options
from nic2core.sweeps import cases

ROOT = Path(__file__).parents[2]
SCENARIO = re.compile(r"^```toml\n(\[machine\]\n.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
IN_TEXT = re.compile(r"`(nic2core [^`]+)`")
OWN = "mine"
"""The name that pages give to the scenario that they show."""
COMMANDS: Any = typer.main.get_command(cli.app)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _shown(page: Path, folder: Path) -> list[Path]:
    """The scenarios that a page shows, written beside the machine that they name."""
    (folder / "machines").mkdir()
    (folder / "scenarios").mkdir()
    shutil.copyfile(ROOT / "machines/skylake-6140.toml", folder / "machines/my-server.toml")
    files = []
    for number, text in enumerate(SCENARIO.findall(page.read_text(encoding="utf-8"))):
        files.append(folder / f"scenarios/{number}.toml")
        files[-1].write_text(text)
    return files


@pytest.mark.parametrize("page", ["README.md", "docs/your-server.md"])
def test_a_scenario_of_the_documentation_is_accepted(page: str, tmp_path: Path) -> None:
    shown = _shown(ROOT / page, tmp_path)
    assert shown
    for scenario in shown:
        sources.prepare(scenario)


def _commands(text: str) -> list[list[str]]:
    """The commands of a page that simulate its own scenario or one of the repository, as words."""
    lines = [line for block in BLOCK.findall(text) for line in _whole_lines(block)]
    lines += [" ".join(shown.split()) for shown in IN_TEXT.findall(BLOCK.sub("", text))]
    words = [shlex.split(line, comments=True) for line in lines if line.startswith("nic2core ")]
    simulating = [w[1:] for w in words if len(w) > 2 and w[1] in {"run", "compare", "peak"}]
    # Not those of results, and not those that stand for any.
    return [w for w in simulating if not w[1].startswith(("out/", "DIR", "SCENARIO", "..."))]


def _whole_lines(block: str) -> list[str]:
    return [line.strip() for line in block.replace("\\\n", " ").splitlines()]


def _given(words: list[str], option: str) -> list[str]:
    return [value for name, value in pairwise(words) if name == option]


def test_the_commands_of_the_documentation_are_found() -> None:
    assert sum(len(_commands(page.read_text(encoding="utf-8"))) for page in PAGES) > 20
    block = "```\nnic2core run demo \\\n  --set a=1  # why\n```\n"
    text = f"{block}(`nic2core peak\ndemo`; `nic2core compare out/x`)"
    assert _commands(text) == [["run", "demo", "--set", "a=1"], ["peak", "demo"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_of_the_documentation_is_accepted(page: Path, tmp_path: Path) -> None:
    shown = _shown(page, tmp_path)
    for words in _commands(page.read_text(encoding="utf-8")):
        parsed = COMMANDS.commands[words[0]].make_context(words[0], words[1:])
        assert parsed.params, "the options are known"
        name = Path(words[1]).stem
        own = shown[0] if name == OWN else ROOT / words[1]
        source = own if own.is_file() else sources.find(name)
        fixed = options.overrides(_given(words, "--set"), None)
        varied = options.pairs(_given(words, "--vary"), "--vary", "queues.burst=1,2")
        for case in cases(options.values(varied)):
            sources.prepare(source, {**fixed, **case})
