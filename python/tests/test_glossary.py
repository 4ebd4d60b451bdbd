"""Every main number is explained, in one place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core import api
from nic2core.describe import glossary
from nic2core.describe.headline import headline
from nic2core.results.models import IoResults, Packets, TransportResults

if TYPE_CHECKING:
    from nic2core import Result
    from nic2core.results.plain import Plain

PAGE = Path(__file__).parents[2] / "docs/results.md"
SHORT = {"run.warmup": "100 us", "run.duration": "100 us"}


def test_the_main_numbers_of_all_kinds_of_runs_are_explained(
    ddio: Result, closed_loop: Result, packetless: Result
) -> None:
    others = [api.run(name, SHORT) for name in ("pcie-bench", "explain-memory", "explain-iommu")]
    for run in (ddio, closed_loop, packetless, *others):
        for number in headline(run, by_tenant=True):
            assert glossary.meaning(number.name), number.name


def test_the_number_of_a_tenant_or_a_cause_is_found() -> None:
    terms = glossary.TERMS
    assert glossary.meaning("AMAT (a b)") == terms["AMAT"]
    assert glossary.meaning("memory traffic of x") == terms["memory traffic"]
    assert glossary.meaning("dropped bytes") == terms["dropped bytes"]
    assert glossary.meaning("p99 whole read of the rivals") == terms["p99 whole read"]
    assert glossary.meaning("AMATeur") == ""


def page() -> tuple[str, str]:
    """The page up to the counters of real servers, and these."""
    terms, _, counters = PAGE.read_text(encoding="utf-8").partition("## Counters that you know")
    return terms, counters


def test_the_page_of_results_has_the_same_words() -> None:
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", page()[0], re.MULTILINE)
    assert [row for row in rows if row != ("number", "what it is")] == [*glossary.TERMS.items()]


def test_what_counters_of_real_servers_are_called_here_is_there(ddio: Result) -> None:
    counters = page()[1]
    named = set(re.findall(r"`tables\.(\w+)`", counters))
    assert {"io", "iotlb", "memory", "stages"} <= named
    assert all(hasattr(ddio.tables, name) for name in named)
    fields = re.findall(r"`data\.(\w+)\.(\w+)`", counters)
    kinds: dict[str, type[Plain]]
    kinds = {"packets": Packets, "io": IoResults, "transport": TransportResults}
    assert len(fields) >= 3
    assert all(field in kinds[part].model_fields for part, field in fields)
