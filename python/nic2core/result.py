"""The result of a run: its record, with plots, a report, a rerun, and a view for notebooks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core._core import UserError
from nic2core.describe.doubts import doubts
from nic2core.describe.headline import headline
from nic2core.describe.verdict import verdict
from nic2core.draw.drawn import Drawn
from nic2core.results.peak_rate import rate_to_set
from nic2core.results.timeline import Recording, Timeline
from nic2core.run_record import Record
from nic2core.words import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, repr=False)
class Result(Record, Drawn):
    """One finished run: what was asked (`scenario`) and what was measured (`data`)."""

    @property
    def verdict(self) -> str:
        """What limits this run, in a sentence, as the terminal and the report show it."""
        return sentence(verdict(self))

    @property
    def doubts(self) -> list[str]:
        """Why the numbers mean less than they seem to, if they do: a sentence or two each.

        When the run had finished, `DoubtfulNumbers` warned of the same.
        """
        return [sentence(doubt) for doubt in doubts(self)]

    def record_again(self, recording: Recording | None = None) -> Timeline:
        """Run the scenario again, bit-identically, and trace individual packets on their path.

        This takes as long as the run did; `nic2core.record` gets result and timeline in one run.
        """
        from nic2core import engine

        if self.peak is not None:
            raise UserError(
                f"record_again: {self.label!r} is the peak of a search, whose scenario alone does "
                "not run at this rate; expected the result of a run. nic2core.record(SCENARIO, "
                '{"traffic.rate": "..."}) follows packets at the rate that you give, such as the '
                f"{rate_to_set(self.peak, self.scenario['traffic'])} of the peak."
            )
        self.check_capture()
        return engine.record(json.dumps(self.scenario), recording or Recording(), engine.Watch())[1]

    def report(self, path: str | Path) -> Path:
        """Write the one-file HTML report and return its path."""
        from nic2core.report import write_report

        return write_report([self], Path(path))

    def _runs(self) -> Sequence[Record]:
        return [self]

    def __repr__(self) -> str:
        """The main numbers in a line, for an interactive prompt."""
        numbers = (f"{n.name} {n.value} {n.unit}".rstrip() for n in headline(self))
        return f"Result({self.label!r}: {', '.join(numbers)})"

    def _repr_html_(self) -> str:
        """The view for notebooks: the verdict, the path with its loads, and the main numbers."""
        from nic2core.report import notebook_html

        return notebook_html(self)
