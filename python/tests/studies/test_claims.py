from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from nic2core.studies import PAPERS, load_study
from nic2core.studies.claim import (
    Claim,
    Simulated,
    Tolerance,
    judge,
    load_claims,
    parse_claims,
)
from nic2core.studies.sweeper import fig1
from nic2core.studies.table import claims_table, score, verdict_text

RELATIVE = Tolerance(15, "relative")
POINTS = Tolerance(12, "points")


def value(low: float | None, high: float | None = None) -> Claim:
    high = low if high is None else high
    return Claim("p/fig1/x", "p", "1", "I", "s", "m", "x", "value", low, high)


ORDERING = Claim("p/fig1/o", "p", "1", "I", "s", "m", "x", "ordering")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_an_evaluator_and_every_evaluator_a_claim(paper: str) -> None:
    claims = {claim.id for claim in load_claims(paper).claims}
    assert claims == set(load_study(paper).evaluators)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_belongs_to_a_figure_of_the_study(paper: str) -> None:
    numbers = {figure.number for figure in load_study(paper).figures}
    for claim in load_claims(paper).claims:
        assert any(claim.figure.startswith(number) for number in numbers), claim.id
        assert claim.statement
        assert claim.metric
        assert claim.unit


@pytest.mark.parametrize("paper", PAPERS)
def test_statements_differ(paper: str) -> None:
    statements = [claim.statement for claim in load_claims(paper).claims]
    assert len(set(statements)) == len(statements)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_ordering_says_when_it_holds(paper: str) -> None:
    for claim in load_claims(paper).claims:
        assert ("holds if" in claim.metric) == (claim.kind == "ordering"), claim.id


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [(2.22, 2.98, True), (2.20, 2.6, False), (2.6, 3.0, False), (2.3, 2.4, True)],
)
def test_a_value_holds_within_fifteen_percent_of_its_range(
    low: float, high: float, *, holds: bool
) -> None:
    judged = judge(value(2.6), Simulated(low, high), RELATIVE)
    assert judged.holds is holds
    assert judged.error == pytest.approx((low / 2.6 - 1, high / 2.6 - 1))


def test_the_band_of_a_range_reaches_beyond_both_ends() -> None:
    claim = value(1.0, 2.0)
    assert judge(claim, Simulated(0.86, 2.29), RELATIVE).holds
    assert not judge(claim, Simulated(0.84, 2.0), RELATIVE).holds
    assert not judge(claim, Simulated(1.0, 2.31), RELATIVE).holds


def test_a_range_inside_the_published_one_holds_in_part() -> None:
    claim = value(9.0, 35.0)
    part = judge(claim, Simulated(8.4, 12.5), RELATIVE)
    assert (part.holds, part.reaches) == (True, False)
    assert verdict_text(part) == "yes, part of the range"
    whole = judge(claim, Simulated(8.4, 33.0), RELATIVE)
    assert (whole.holds, whole.reaches, verdict_text(whole)) == (True, True, "yes")
    missed = judge(claim, Simulated(1.0, 12.5), RELATIVE)
    assert (missed.holds, verdict_text(missed)) == (False, "no")
    fit = judge(replace(claim, fitted=True), Simulated(8.4, 12.5), RELATIVE)
    given = judge(replace(claim, given=True), Simulated(8.4, 33.0), RELATIVE)
    assert verdict_text(fit) == "yes, part of the range, fitted"
    assert verdict_text(given) == "yes, given"
    assert score([whole, missed, fit, given]) == (
        "3 of 4 values (1 fitted, 1 given, 1 in part of the range) hold"
    )


@pytest.mark.parametrize(
    ("published", "simulated", "holds"),
    [(1.14, 1.011, False), (1.14, 1.03, True), (0.9, 0.99, False), (0.9, 0.97, True),
     (1.02, 1.0, True), (1.1, 0.95, False)],
)  # fmt: skip
def test_a_factor_must_have_the_published_effect(
    published: float, simulated: float, *, holds: bool
) -> None:
    found = Simulated(simulated, simulated)
    tolerance = replace(RELATIVE, no_effect=2)
    assert judge(value(published), found, tolerance).holds is holds
    # Only a factor has a value at which nothing changes.
    assert judge(replace(value(published), unit="us"), found, tolerance).holds
    assert judge(value(published), found, RELATIVE).holds


def test_what_is_no_effect_is_what_peaks_are_not_known_to() -> None:
    assert load_claims("sweeper").tolerance.no_effect == 100 * fig1.RESOLUTION


def test_points_are_points() -> None:
    judged = judge(value(98.0), Simulated(87.0, 87.0), POINTS)
    assert judged.holds
    assert judged.error == (-11.0, -11.0)
    assert not judge(value(98.0), Simulated(85.9, 85.9), POINTS).holds


def test_a_blind_claim_is_not_judged_and_an_absent_one_does_not_hold() -> None:
    assert judge(value(None), Simulated(1.0, 1.0), RELATIVE).holds is None
    assert judge(value(None), None, RELATIVE).holds is None
    assert judge(value(1.0), None, RELATIVE).holds is False
    assert judge(ORDERING, None, RELATIVE).holds is False
    assert judge(ORDERING, Simulated(1.0, 1.0, holds=True), RELATIVE).holds is True
    with pytest.raises(AssertionError, match="must say"):
        judge(ORDERING, Simulated(1.0, 1.0), RELATIVE)


CLAIM = """
[[claim]]
id = "{id}"
figure = "1a"
section = "I"
statement = "s"
metric = "m"
unit = "x"
kind = "{kind}"
{published}
"""
HEAD = 'title = "t"\ntolerance = { kind = "relative", amount = 15 }\n'


def claim_text(ident: str = "p/fig1a/x", kind: str = "value", published: str = "") -> str:
    return CLAIM.format(id=ident, kind=kind, published=published)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (claim_text() + claim_text(), "twice"),
        (claim_text("p/fig2/x"), "begins with p/fig1a/"),
        (claim_text(kind="guess"), 'expected "value" or "ordering"'),
        (claim_text(published="published_low = 1"), "both"),
        (claim_text(published="published_low = 2\npublished_high = 1"), "above"),
        (claim_text(kind="ordering", published="published = 1"), "no published number"),
    ],
)
def test_an_ambiguous_claim_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_claims("p", HEAD + text)


def test_a_tolerance_of_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r'tolerance\.kind = "relativ"; expected "relative" or'):
        parse_claims("p", HEAD.replace("relative", "relativ") + claim_text())


@pytest.mark.parametrize("paper", PAPERS)
def test_ids_can_be_copied_from_a_narrow_terminal(paper: str) -> None:
    file = load_claims(paper)
    judged = [
        judge(claim, Simulated(12.3, 45.6, holds=True), file.tolerance) for claim in file.claims
    ]
    console = Console(width=80, record=True, file=StringIO())
    console.print(claims_table(judged, file.tolerance))
    shown = console.export_text()
    assert "holds" in shown
    ids = [claim.id.removeprefix(f"{paper}/") for claim in file.claims]
    assert [claim_id for claim_id in ids if f" {claim_id} " not in shown] == []
