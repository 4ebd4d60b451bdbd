"""What is generated from the Rust types is committed as it would be generated now."""

import subprocess
import sys

from tools.codegen import stale


def test_schema_models_and_reference_are_fresh() -> None:
    assert stale() == [], "run `python -m tools.codegen` and commit what it writes"


def test_the_stub_describes_the_extension_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "nic2core._core"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
