import json
from pathlib import Path

import pytest

from nic2core.studies import PAPERS
from nic2core.studies.claim import Judged, Simulated, judge, load_claims
from nic2core.studies.validation import page, record, write

DOCS = Path(__file__).parents[3] / "docs" / "validation"


def synthetic_record(paper: str) -> dict[str, object]:
    """Every claim met to the point, but for the first, which is missed by far."""
    claims = load_claims(paper)
    judged: list[Judged] = []
    for i, claim in enumerate(claims.claims):
        scale = 10 if i == 0 else 1
        low, high = (scale * (end or 1.0) for end in (claim.published_low, claim.published_high))
        found = Simulated(low, high, holds=True)
        judged.append(judge(claim, found, claims.tolerance))
    return record(
        paper,
        judged,
        engine_version="synthetic",
        seed=1,
        points=3,
        simulated_seconds=9.7,
        wall_seconds=5.2,
        jobs=2,
        summary=None,
    )


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_shows_every_claim_and_a_miss_as_a_miss(paper: str) -> None:
    text = page(synthetic_record(paper))
    for claim in load_claims(paper).claims:
        assert text.count(f"`{claim.id.removeprefix(paper + '/')}`") == 1
    assert sum(text.count(f"| no{why} |") for why in ("", ", fitted", ", given")) == 1
    assert "Engine synthetic, seed 1" in text


def test_the_page_comes_from_the_file_alone(tmp_path: Path) -> None:
    file, text = write(synthetic_record("sweeper"), tmp_path)
    assert text.read_text(encoding="utf-8") == page(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_page_is_that_of_the_committed_file(paper: str) -> None:
    file, text = DOCS / f"{paper}.json", DOCS / f"{paper}.md"
    assert file.exists() == text.exists()
    if not file.exists():
        pytest.skip("no full run is committed yet")
    data = json.loads(file.read_text(encoding="utf-8"))
    assert text.read_text(encoding="utf-8") == page(data)
    assert [row["id"] for row in data["claims"]] == [c.id for c in load_claims(paper).claims]
