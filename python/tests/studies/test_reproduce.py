import json
import re
from pathlib import Path
from typing import Any

import pytest
from synthetic import Silent, SyntheticEngine

from nic2core import UserError
from nic2core.studies import command, draw_png, load_study
from nic2core.studies.claim import load_claims
from nic2core.studies.reproduce import prepare, reproduce, write
from nic2core.studies.study import Selection
from nic2core.studies.sweeper import fig1, fig5, fig6

KEYS = [
    "id",
    "paper",
    "figure",
    "statement",
    "metric",
    "unit",
    "published_low",
    "published_high",
    "simulated_low",
    "simulated_high",
    "kind",
    "holds",
]


def run(target: str, out: Path, **options: Any) -> int:
    settings = {"as_json": False, "jobs": 2, "claim": None, "docs": None} | options
    return command.run(
        target,
        out=out,
        engine=options.get("engine") or SyntheticEngine(),
        **{key: value for key, value in settings.items() if key != "engine"},
    )


def test_json_is_a_list_of_the_agreed_objects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("sweeper", tmp_path, as_json=True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [claim.id for claim in load_claims("sweeper").claims]
    for row in rows:
        assert list(row) == KEYS
        assert isinstance(row["simulated_low"], float)
        blind = row["kind"] == "value" and row["published_low"] is None
        assert (row["holds"] is None) == blind
    figures = sorted(f.name for f in (tmp_path / "sweeper").iterdir())
    numbers = (1, 10, 2, 5, 6, 7, 8, 9)
    assert figures == ["all.html", *(f"fig{n}.png" for n in numbers)]
    page = (tmp_path / "sweeper" / "all.html").read_text(encoding="utf-8")
    assert all(f"Figure {n}." in page for n in numbers)
    assert "<script src=" not in page
    # The same points, the same page, with the script once.
    assert run("sweeper", tmp_path / "again", as_json=True) == 0
    assert (tmp_path / "again" / "sweeper" / "all.html").read_text(encoding="utf-8") == page
    assert page.count("plotly.js v") == 1
    png = (tmp_path / "sweeper" / "fig5.png").read_bytes()
    assert png.startswith(b"\x89PNG")


def test_the_table_shows_every_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sweeper/fig6", tmp_path) == 0
    text = capsys.readouterr().out
    for name in ("published", "simulated", "error", "holds", "blind", "26.0 Mrps"):
        assert name in text
    assert len(re.findall("^ fig6/", text, flags=re.MULTILINE)) == len(fig6.CLAIMS)


def test_the_claims_that_fail_and_the_verdict_come_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert run("sweeper", tmp_path) == 0
    text = capsys.readouterr().out
    end = re.search(r"all.html\ndocs/.*DEVIATIONS.md .*\n(.*) hold; \d+ blind\n$", text)
    assert end
    fail = sum(int(of) - int(hold) for hold, of in re.findall(r"(\d+) of (\d+)", end[1]))
    held = re.findall(r"^ fig.* (yes|no|blind|absent)\b.*$", text, flags=re.MULTILINE)
    assert 0 < fail == sum(h in {"no", "absent"} for h in held)
    assert {*held[-fail:]} <= {"no", "absent"}


def test_a_figure_needs_its_own_points_only() -> None:
    study = load_study("sweeper")
    task = prepare(study, Selection(figure="1"))
    assert set(task.points) == set(fig1.POINTS)
    assert {c.figure for c in task.claims} == {"1a", "1b", "1c"}
    panel = prepare(study, Selection(figure="5a"))
    assert {c.figure for c in panel.claims} == {"5a"}
    assert [f.number for f in panel.figures] == ["5"]


def test_a_claim_needs_its_own_points_only() -> None:
    task = prepare(load_study("sweeper"), Selection(claim="sweeper/fig6/2way-peak"))
    # As the validation page has it.
    again = prepare(load_study("sweeper"), Selection(claim="fig6/2way-peak"))
    assert again.claims == task.claims
    assert list(task.points) == [fig6.TWO_WAYS]
    assert not task.figures


@pytest.mark.parametrize(
    ("target", "claim", "complaint"),
    [
        ("sweper", None, r'^there is no study "sweper"; there are .*; did you mean sweeper\?$'),
        ("sweeper/5", None, 'expected "sweeper/fig5"'),
        ("sweeper/fig3", None, r'no figure "3"; it has fig1, fig2, fig5, .*\.$'),
        (
            "sweeper",
            "sweeper/fig5a/12-over-2way",
            r"5a/12-over-2way\"; docs.* lists them; did you mean sweeper/fig5a/12way-over-2way\?$",
        ),
    ],
)
def test_an_unknown_target_is_told_what_there_is(
    target: str, claim: str | None, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=complaint):
        run(target, tmp_path, claim=claim)


def test_a_failed_point_is_told_and_its_claims_do_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = SyntheticEngine(refuse_buffers=2048)
    assert run("sweeper/fig5", tmp_path, as_json=True, engine=engine) == 1
    captured = capsys.readouterr()
    assert captured.err.count("the ring is refused") == 2 * len(fig5.PLACEMENTS)
    rows = {row["id"]: row for row in json.loads(captured.out)}
    boost = rows["sweeper/fig5a/sweeper-boost"]
    assert (boost["simulated_low"], boost["holds"]) == (None, False)
    assert not (tmp_path / "sweeper").exists()


def test_only_a_whole_run_is_recorded(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    study = load_study("ddio-bench")
    engine, out = SyntheticEngine(), tmp_path / "out"

    def do(selection: Selection) -> None:
        task = prepare(study, selection)
        done = reproduce(task, engine, jobs=2, out=out, progress=Silent())
        write(task, done, engine, jobs=2, out=out, docs=docs)

    do(Selection(figure="ways"))
    assert not docs.exists()
    do(Selection())
    assert sorted(f.name for f in docs.iterdir()) == ["ddio-bench.json", "ddio-bench.md"]
    data = json.loads((docs / "ddio-bench.json").read_text(encoding="utf-8"))
    assert data["engine_version"] == "synthetic"
    assert data["seed"] == 1
    assert data["points"] == 16
    assert [list(row) for row in data["claims"]] == [KEYS] * 21
    assert "percentage points" in data["summary"]


def test_a_single_claim_does_not_pass_for_a_whole_run() -> None:
    with pytest.raises(
        UserError, match=r"no claim \"none\"; docs/validation/sweeper.md lists them\."
    ):
        prepare(load_study("sweeper"), Selection(claim="none"))
    assert not Selection(claim="x").is_whole
    assert not Selection(figure="1").is_whole
    assert Selection().is_whole


@pytest.mark.parametrize(
    ("target", "claim"), [("sweeper/fig6", None), ("sweeper", "fig6/2way-peak")]
)
def test_pages_of_a_part_of_a_study_are_refused(
    tmp_path: Path, target: str, claim: str | None
) -> None:
    with pytest.raises(UserError, match=r"^--docs .*: the validation pages are of a whole study"):
        run(target, tmp_path, claim=claim, docs=tmp_path / "docs")
    assert list(tmp_path.iterdir()) == []


def test_a_claim_is_looked_for_in_the_figure_that_is_named() -> None:
    study = load_study("sweeper")
    (claim,) = prepare(study, Selection(figure="6", claim="fig6/2way-peak")).claims
    assert claim.id == "sweeper/fig6/2way-peak"
    with pytest.raises(UserError, match=r'^figure 5 of the study "sweeper" has no claim "fig6/2w'):
        prepare(study, Selection(figure="5", claim="fig6/2way-peak"))


def test_claims_are_told_before_a_drawing_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(draw_png, "save", failing)
    with pytest.raises(ZeroDivisionError):
        run("sweeper/fig6", tmp_path, as_json=True)
    assert len(json.loads(capsys.readouterr().out)) == len(fig6.CLAIMS)


def test_paths_are_told_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sweeper/fig6", tmp_path / "runs[a]") == 0
    assert "runs[a]/sweeper/fig6.png" in capsys.readouterr().out.replace("\n", "")
