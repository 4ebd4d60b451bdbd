"""What some parts of a result do beyond holding data: the bases of their classes in `models.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import field_validator

from nic2core._core import UserError
from nic2core.results.plain import Plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core.results.models import Domain

PERCENTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
"""The percentiles that every distribution has."""


def column(percent: float) -> str:
    """The name of a percentile as a column: `p999_ns` for 99.9."""
    return f"p{percent:g}_ns".replace(".", "")


def is_read(cause: str) -> bool:
    """Whether a cause of memory traffic reads the memory; all others write it."""
    return cause.endswith("-rd")


class DistributionBase(Plain):
    """A distribution has all percentiles, and returns each by its number."""

    if TYPE_CHECKING:
        percentiles_ns: list[tuple[float, float]]

    @field_validator("percentiles_ns", check_fields=False)
    @classmethod
    def _those_reported(cls, value: list[tuple[float, float]]) -> list[tuple[float, float]]:
        if tuple(at for at, _ in value) != PERCENTILES:
            raise ValueError("not those of 50, 90, 99, 99.9 and 100 %")
        return value

    def percentile(self, percent: float) -> float:
        """The value of one of the reported percentiles, ns."""
        for at, value in self.percentiles_ns:
            if at == percent:
                return value
        known = ", ".join(f"{at:g}" for at in PERCENTILES)
        raise UserError(f"percentile {percent:g} is not measured; allowed: {known}.")


class PeakBase(Plain):
    """A peak is shown as what was found, without every rate tried and the run."""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What `repr` shows."""
        return (
            (name, value)
            for name, value in super().__repr_args__()
            if name not in {"probes", "results"}
        )


class ResultsBase(Plain):
    """Results give the domains by their names."""

    if TYPE_CHECKING:
        domains: list[Domain]

    @property
    def by_domain(self) -> dict[str, Domain]:
        """The domains on the path, in path order."""
        return {domain.domain: domain for domain in self.domains}
