"""How to read the table of what limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nic2core import api
from nic2core.describe.legend import legend, what_counts
from nic2core.describe.limits import limits_of

if TYPE_CHECKING:
    from nic2core import Result


def test_only_what_the_table_shows_is_explained(ddio: Result) -> None:
    rows = limits_of(ddio)
    plain = [replace(row, held="9 us", badge="", tip="", changes=[]) for row in rows]
    own = [row for row in plain if not row.domain.endswith(("descriptors", "tx-fetches"))]
    assert what_counts([], own) == ""
    said = " ".join(legend(ddio, plain))
    assert said.startswith("The run achieves ")
    for word in ("waits", "predicted", "held for", "wait of"):
        assert word not in said


def test_each_form_of_a_time_is_explained_by_its_first_row(ddio: Result) -> None:
    row = next(row for row in limits_of(ddio) if row.domain == "descriptors")

    def said(held: str, domain: str = "descriptors") -> str:
        rows = [replace(row, held=text, domain=domain) for text in (held, "1 us of 7 us")]
        return what_counts([], rows)

    assert "“2 us of 9 us” (receive descriptors): held for 9 us" in said("2 us of 9 us")
    assert "1 us of 7 us" not in said("2 us of 9 us")
    assert "held for 2 us, and a wait of 1 us counts too, until the NIC" in said("2 us + 1 us")
    assert "counts too, for PCIe before" in said("2 us + 1 us", "io-credits")
    assert "“9 us (core 3: 2 us)”" in said("9 us (core 3: 2 us)")
    # Both kinds of a wait that counts, each by its first row.
    credits_ = replace(row, held="3 us + 4 us", domain="io-credits", name="I/O write credits")
    both = what_counts([], [replace(row, held="2 us + 1 us"), credits_])
    assert "1 us counts too, until the NIC" in both
    assert "“3 us + 4 us” (I/O write credits): held for 3 us" in both


def test_marks_and_changes_are_explained_where_there_are_some(ddio: Result) -> None:
    first, *rest = limits_of(ddio)
    waits = " ".join(legend(ddio, [replace(first, badge="waits"), *rest]))
    assert "The domain marked `waits` allows least" in waits
    change = ("twice", "setting", "+2 %")
    changed = " ".join(legend(ddio, [replace(first, changes=[change]), *rest]))
    assert "A change is predicted to help up to" in changed


def test_reads_of_descriptors_that_bring_few_are_not_full() -> None:
    def said(rate: str) -> str:
        short = {"run.warmup": "100 us", "run.duration": "200 us"}
        run = api.run("ddio-bench", {"traffic.rate": rate, "tenants.0.cores.count": 4, **short})
        return what_counts([run], limits_of(run))

    few = "full only if each brings all that it can"
    assert few in said("90 Gbps")
    # Not under way for most of the time either.
    assert few not in said("1 Gbps")
