"""The page of known deviations against the committed validation results."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "validation"
PAGE = (DOCS / "DEVIATIONS.md").read_text(encoding="utf-8")


def missed() -> set[str]:
    """The claims that do not hold in the committed results."""
    return {
        claim["id"]
        for file in DOCS.glob("*.json")
        for claim in json.loads(file.read_text(encoding="utf-8"))["claims"]
        if claim["holds"] is False
    }


def listed() -> set[str]:
    """The claims that the page lists: an id in code quotes, of a paper that has results."""
    papers = "|".join(re.escape(file.stem) for file in DOCS.glob("*.json"))
    return set(re.findall(rf"`((?:{papers})/[\w./-]+)`", PAGE))


def test_every_missed_claim_is_a_known_deviation() -> None:
    assert missed() - listed() == set()


def test_no_known_deviation_has_closed() -> None:
    assert listed() - missed() == set()


def test_every_deviation_has_a_number_of_its_own() -> None:
    numbers = [int(number) for number in re.findall(r"^\*\*D(\d+)\.", PAGE, flags=re.MULTILINE)]
    assert len(numbers) == len(set(numbers)) > 0
