"""What a paper claims, what the simulator finds, and whether the two agree."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

Kind = Literal["value", "ordering"]

FACTOR = "x"
"""The unit of ratios."""


@dataclass(frozen=True)
class Claim:
    """One result of a paper, in our words; a blind claim has no published number."""

    id: str
    paper: str
    figure: str
    """The figure that shows it, such as `5a`."""
    section: str
    """Where in the paper it is stated."""
    statement: str
    metric: str
    """What is computed, over which configurations, and for an ordering, when it holds."""
    unit: str
    kind: Kind
    published_low: float | None = None
    published_high: float | None = None
    fitted: bool = False
    """A parameter was chosen to match this number, so it is not a prediction."""
    given: bool = False
    """It follows from the parameters by arithmetic, so it is not a prediction either."""


@dataclass(frozen=True)
class Tolerance:
    """How far a simulated value may deviate from the published one."""

    amount: float
    kind: Literal["relative", "points"]
    """`relative`: percent of the published number; `points`: in the unit of the claim."""
    no_effect: float | None = None
    """Percent around 1 within which a factor counts as no effect: one that lies there does not meet
    a published factor beyond it. Absent if this is not asked."""

    def band(self, low: float, high: float) -> tuple[float, float]:
        """The published range, widened by the tolerance."""
        if self.kind == "points":
            return low - self.amount, high + self.amount
        share = self.amount / 100
        return low - abs(low) * share, high + abs(high) * share

    def shows(self, published: float, simulated: float) -> bool:
        """Whether a simulated factor has the published one's effect at all: above or below 1."""
        if self.no_effect is None:
            return True
        band = self.no_effect / 100
        if published > 1 + band:
            return simulated > 1 + band
        return published >= 1 - band or simulated < 1 - band


@dataclass(frozen=True)
class ClaimFile:
    """The claims of one paper and how they are judged."""

    title: str
    tolerance: Tolerance
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Simulated:
    """The simulator's result for a claim: a range over the same configurations as the paper's."""

    low: float
    high: float
    holds: bool | None = None
    """For an ordering: whether it holds. A value is judged against the published one instead."""


@dataclass(frozen=True)
class Judged:
    """A claim with its simulated result, which is absent if one of its points failed."""

    claim: Claim
    simulated: Simulated | None
    holds: bool | None
    """Absent for a blind claim, which has nothing to compare with."""
    error: tuple[float, float] | None
    """Simulated minus published at the low and the high end: relative, or in the claim's unit if
    the study judges by points."""
    reaches: bool = True
    """Whether a value that holds is close to the published one at both ends. A range that lies
    inside the published one holds, but may be much narrower."""

    def row(self) -> dict[str, Any]:
        """The JSON contract of `nic2core reproduce --json`."""
        c, s = self.claim, self.simulated
        return {
            "id": c.id,
            "paper": c.paper,
            "figure": c.figure,
            "statement": c.statement,
            "metric": c.metric,
            "unit": c.unit,
            "published_low": c.published_low,
            "published_high": c.published_high,
            "simulated_low": None if s is None else s.low,
            "simulated_high": None if s is None else s.high,
            "kind": c.kind,
            "holds": self.holds,
        }


def judge(claim: Claim, simulated: Simulated | None, tolerance: Tolerance) -> Judged:
    """Compare a claim with what was simulated.

    A value holds if the simulated range lies within the published one, widened by the tolerance at
    both ends; a factor must also have an effect where the published one has. A claim that could not
    be simulated does not hold; a blind claim is not judged.
    """
    blind = claim.kind == "value" and claim.published_low is None
    if simulated is None or blind:
        return Judged(claim, simulated, None if blind else False, None)
    if claim.kind == "ordering":
        if simulated.holds is None:
            raise AssertionError(f"the evaluator of {claim.id} must say whether the ordering holds")
        return Judged(claim, simulated, simulated.holds, None)
    low, high = claim.published_low, claim.published_high
    if low is None or high is None:
        raise AssertionError(f"{claim.id} has one published end only; the loader checks this")
    below, above = tolerance.band(low, high)
    ends = ((low, simulated.low), (high, simulated.high))
    error = (simulated.low - low, simulated.high - high)
    if tolerance.kind == "relative":
        error = (error[0] / abs(low), error[1] / abs(high))
    holds = below <= simulated.low and simulated.high <= above
    if claim.unit == FACTOR:
        holds = holds and all(tolerance.shows(*end) for end in ends)
    near = [(*tolerance.band(end, end), found) for end, found in ends]
    reaches = all(below <= found <= above for below, above, found in near)
    return Judged(claim, simulated, holds, error, reaches)


def load_claims(paper: str) -> ClaimFile:
    """Read the claims of a paper."""
    file = files(__package__).joinpath("claims", f"{paper}.toml")
    return parse_claims(paper, file.read_text(encoding="utf-8"))


def parse_claims(paper: str, text: str) -> ClaimFile:
    """Parse a file of claims and refuse what would make a claim ambiguous."""
    name = f"{paper}.toml"
    data = tomllib.loads(text)
    fitted = data.get("fitted", False)
    claims = tuple(
        Claim(paper=paper, **{"fitted": fitted} | _ends(entry)) for entry in data["claim"]
    )
    seen: set[str] = set()
    for claim in claims:
        where = f"{name}: claim {claim.id}"
        if claim.id in seen:
            raise ValueError(f"{where} stands there twice")
        seen.add(claim.id)
        if not claim.id.startswith(f"{paper}/fig{claim.figure}/"):
            raise ValueError(f"{where}: expected an id that begins with {paper}/fig{claim.figure}/")
        if claim.kind not in ("value", "ordering"):
            raise ValueError(f'{where}: kind = "{claim.kind}"; expected "value" or "ordering"')
        low, high = claim.published_low, claim.published_high
        if (low is None) != (high is None):
            raise ValueError(f"{where}: expected both published_low and published_high or neither")
        if low is not None and high is not None and low > high:
            raise ValueError(f"{where}: published_low = {low} is above published_high = {high}")
        if claim.kind == "ordering" and low is not None:
            raise ValueError(f"{where}: an ordering has no published number")
        if claim.kind == "value" and (claim.fitted or claim.given) and low is None:
            raise ValueError(f"{where}: a blind claim can be neither fitted nor given")
    tolerance = Tolerance(**data["tolerance"])
    if tolerance.kind not in ("relative", "points"):
        raise ValueError(
            f'{name}: tolerance.kind = "{tolerance.kind}"; expected "relative" or "points"'
        )
    return ClaimFile(data["title"], tolerance, claims)


def _ends(entry: dict[str, Any]) -> dict[str, Any]:
    """Expand `published = x`, which stands for both ends of the range."""
    if "published" not in entry:
        return entry
    rest = {key: value for key, value in entry.items() if key != "published"}
    return rest | {"published_low": entry["published"], "published_high": entry["published"]}
