"""Changes that only take a setting."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from nic2core import Result, api
from nic2core.command.cli import app
from nic2core.describe.hints import hints
from nic2core.explain.change import Takes
from nic2core.explain.settings import ONLY_A_RUN_TELLS
from nic2core.rerun import run_changes

if TYPE_CHECKING:
    from pathlib import Path

SHORT = {"run.warmup": "500 us", "run.duration": "500 us"}


@pytest.fixture(scope="module")
def walks() -> Result:
    return api.run("explain-iommu", SHORT)


def test_only_settings_are_listed_and_others_to_try(walks: Result) -> None:
    found = walks.setting_helps
    assert {h.change.takes for h in found} <= {Takes.SETTING, Takes.NO_IOMMU}
    first = [h for h in found if not h.change.to_try]
    known = [h for h in walks.helps if h.change.takes <= Takes.NO_IOMMU]
    assert [h.change.what for h in first] == [h.change.what for h in known]
    to_try = {h.change.what: h for h in found if h.change.to_try}
    assert to_try.keys() == {
        "half the descriptors",
        "read requests of 4 KiB",
        "relaxed ordering",
        "8 completions a write",
        "4 ways",
    }
    assert all(isnan(h.predicted) and h.unknown == ONLY_A_RUN_TELLS for h in to_try.values())
    sets = to_try["half the descriptors"].change.overrides
    before = walks.scenario["queues"]
    assert sets["queues.rx_descriptors"] == before["rx_descriptors"] // 2
    assert before["pool_buffers"] - sets["queues.pool_buffers"] == before["rx_descriptors"] // 2
    said = "\n".join(hints(walks, found))
    assert "`nic2core explain DIR --settings --check` runs each change" in said
    assert "--settings" not in "\n".join(hints(walks, walks.helps))


def test_values_of_the_control_of_closed_loop_senders_are_looked_for_elsewhere(
    walks: Result,
) -> None:
    sent = api.run("host-congestion", SHORT)
    said = "\n".join(hints(sent, sent.setting_helps))
    assert "`nic2core sensitivity DIR traffic.control` shows which of its values matter" in said
    assert "sensitivity" not in "\n".join(hints(walks, walks.setting_helps))


def test_buffers_of_the_other_socket_are_among_them() -> None:
    result = api.run("explain-cpu", SHORT | {"queues.memory": "remote"})
    change = next(h.change for h in result.setting_helps if "queues.memory" in h.change.overrides)
    assert (change.domain, change.what) == ("cores", "buffers on this socket")
    assert change.overrides == {"queues.memory": "local"}


def test_what_is_set_already_is_not_offered(walks: Result) -> None:
    sets = {
        "machine.pcie.max_read_request": "4 KiB",
        "machine.pcie.relaxed_ordering": True,
        "machine.nic.completions_per_write": 8,
        "placement.io_ways": walks.scenario["machine"]["llc"]["ways"],
    }
    result = api.run("explain-iommu", SHORT | sets)
    assert [h.change.what for h in result.setting_helps if h.change.to_try] == [
        "half the descriptors"
    ]


def test_all_of_them_are_run_when_asked_to(walks: Result, tmp_path: Path) -> None:
    checked = run_changes(walks, jobs=2, helps=walks.setting_helps)
    assert len(checked) == len(walks.setting_helps)
    assert all(h.measured is not None for h in checked)
    walks.save(tmp_path / "run")
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "run"), "--settings"])
    assert shown.exit_code == 0
    assert "half the descriptors" in shown.output
    assert "hardware" not in shown.output
