"""What is shipped with the package: the machines and the scenarios."""

from __future__ import annotations

from pathlib import Path

MACHINES = Path(__file__).parent / "machines"
SCENARIOS = Path(__file__).parent / "scenarios"


def scenario_named(path: Path) -> Path | None:
    """The shipped scenario of this name, with or without its ending; none of a path in a folder."""
    file = SCENARIOS / f"{path.name.removesuffix('.toml')}.toml"
    return file if len(path.parts) == 1 and file.exists() else None
