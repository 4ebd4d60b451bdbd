"""What other values of a scenario's keys change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from nic2core._core import __version__
from nic2core.describe.effects import remarks, sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.run_record import Record


class Runs(Protocol):
    """The runs that tell the effects."""

    @property
    def results(self) -> Sequence[Record]:
        """Those that are finished, the base first."""
        ...

    @property
    def planned(self) -> int:
        """How many were asked for."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether it was stopped before all of them were finished."""
        ...


@dataclass(frozen=True)
class Shift:
    """What another value of a key changes; shares, 0.1 for a tenth more."""

    value: str
    """The other value, as a scenario has it."""
    rate: float
    """Throughput over that of the base - 1."""
    p99: float | None
    """The same of the p99 latency; `None` without packets."""
    drops: float | None
    """Share of the packets that is dropped, less that of the base; `None` at a peak."""


@dataclass(frozen=True)
class Effect:
    """What a key does, lower and higher; `None` where that was not run."""

    key: str
    value: str
    lower: Shift | None
    higher: Shift | None

    @property
    def changes(self) -> list[Shift]:
        """Those of the two that were run."""
        return [change for change in (self.lower, self.higher) if change is not None]

    @property
    def nothing(self) -> bool:
        """Whether throughput, p99 and drops are those of the base to the last bit."""
        return not any(change.rate or change.p99 or change.drops for change in self.changes)


@dataclass(frozen=True, repr=False)
class Effects:
    """How far each value moves throughput and drops, or the p99 of a run that carries its load."""

    base: Record
    by: float
    """By what share values were made lower and higher."""
    unit: str
    """Of the throughput that is compared."""
    of_p99: bool
    """Whether effects are told by the p99 latency, because the run carries its load."""
    effects: list[Effect]
    """Every key that was changed, the largest effect first."""
    chance: Shift
    """How far apart two runs are that differ in nothing but their seed, in 19 of 20 cases: half the
    interval of their difference, by Student's t of the base and up to four other seeds. At least
    0.005, and of the rates of peaks the resolution of their search; of drops 0.001."""
    without_effect: dict[str, str]
    """Keys that this scenario does not use, and why; they were not changed."""
    refused: dict[str, str]
    """Keys whose value cannot be changed by that much, nor halved or doubled, and why."""
    runs: Runs

    def felt(self, effect: Effect) -> float:
        """The largest change of what effects are told by, 0 if all may be chance."""
        chances = self._told(self.chance)
        felt = [
            abs(share)
            for change in effect.changes
            for share, chance in zip(self._told(change), chances, strict=True)
            if share is not None and abs(share) > (chance or 0.0)
        ]
        return max(felt, default=0.0)

    def _told(self, change: Shift) -> tuple[float | None, float | None]:
        """What effects are told by."""
        return (change.p99 if self.of_p99 else change.rate), change.drops

    @property
    def of_drops(self) -> bool:
        """Whether any run drops packets."""
        lost = self.chance.drops is not None and self.base.drop_share > 0
        return lost or any(change.drops for effect in self.effects for change in effect.changes)

    @property
    def what(self) -> str:
        """What effects are told by."""
        return f"{self.p99 if self.of_p99 else 'throughput'}{' or drops' if self.of_drops else ''}"

    @property
    def p99(self) -> str:
        """What is called p99."""
        return "p99 latency" if self.base.data.transport is None else "p99 round trip"

    @property
    def telling(self) -> list[Effect]:
        """The keys whose effect is more than chance, the largest first."""
        return [effect for effect in self.effects if self.felt(effect) > 0]

    @property
    def drawn(self) -> list[Effect]:
        """Those, or if there are none, the keys that do less than chance does: largest first."""
        return self.telling or sorted(self._silent, key=self._most, reverse=True)

    @property
    def silent(self) -> list[str]:
        """The keys that do something, but no more than chance does."""
        return [effect.key for effect in self._silent]

    @property
    def _silent(self) -> list[Effect]:
        silent = (effect for effect in self.effects if self.felt(effect) == 0)
        return [effect for effect in silent if not effect.nothing]

    def _most(self, effect: Effect) -> float:
        """The largest change of what effects are told by, as a multiple of what chance does."""
        chances = self._told(self.chance)
        return max(
            (
                abs(share) / chance
                for change in effect.changes
                for share, chance in zip(self._told(change), chances, strict=True)
                if share is not None and chance
            ),
            default=0.0,
        )

    @property
    def idle(self) -> list[str]:
        """The keys that change nothing at all."""
        return [effect.key for effect in self.effects if effect.nothing]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        return sentence(self)

    @property
    def remarks(self) -> list[str]:
        """What chance does, and which keys do no more or could not be changed."""
        return remarks(self)

    @property
    def table(self) -> pl.DataFrame:
        """One row per key, the largest effect first.

        `rate_lower` is the throughput with the value `lower` over that of the base - 1, `p99_lower`
        the same of the 99th percentile of the latency, or of the round trip of closed-loop senders;
        null if there is none, or if the scenario cannot have the value. `drops_lower` is the share
        of packets that is dropped, less that of the base. `by_chance` says that a key changes no
        more than chance does.
        """
        rows = []
        for effect in self.effects:
            row: dict[str, Any] = {"key": effect.key, "value": effect.value}
            for side, change in (("lower", effect.lower), ("higher", effect.higher)):
                row[side] = None if change is None else change.value
                row[f"rate_{side}"] = None if change is None else change.rate
                row[f"p99_{side}"] = None if change is None else change.p99
                row[f"drops_{side}"] = None if change is None else change.drops
            rows.append({**row, "by_chance": self.felt(effect) == 0})
        kinds: dict[str, type[pl.DataType]] = {"key": pl.String, "value": pl.String}
        for side in ("lower", "higher"):
            kinds[side] = pl.String
            kinds |= {f"{what}_{side}": pl.Float64 for what in ("rate", "p99", "drops")}
        return pl.DataFrame(rows, schema=kinds | {"by_chance": pl.Boolean})

    def __repr__(self) -> str:
        """The sentence and the table, at a Python prompt."""
        with pl.Config(tbl_cols=-1, tbl_rows=-1):
            return f"{self.sentence}\n{self.table}"

    def to_json(self) -> dict[str, Any]:
        """Everything but the runs, as plain data."""
        return {
            "nic2core": __version__,
            "scenario": self.base.label,
            "sentence": self.sentence,
            "planned": self.runs.planned,
            "finished": len(self.runs.results),
            "by": self.by,
            "unit": self.unit,
            "told_by": "p99" if self.of_p99 else "rate",
            "chance": {
                "rate": self.chance.rate,
                "p99": self.chance.p99,
                "drops": self.chance.drops,
            },
            "effects": self.table.to_dicts(),
            "without_effect": self.without_effect,
            "refused": self.refused,
        }
