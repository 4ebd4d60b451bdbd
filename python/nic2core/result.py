"""The result of a run: its record, as plots, as a report, run again and in a notebook."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nic2core._core import UserError
from nic2core.describe.headline import headline
from nic2core.describe.verdict import verdict
from nic2core.results.timeline import Recording, Timeline
from nic2core.run_record import Record
from nic2core.words import sentence, three

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, repr=False)
class Result(Record):
    """One finished run: what was asked (`scenario`) and what was measured (`data`)."""

    @property
    def verdict(self) -> str:
        """What limits this run, in a sentence, as the terminal and the report say it."""
        return sentence(verdict(self))

    def plot_latency(self) -> Figure:
        """Mean latency by stage of the path."""
        from nic2core.draw import plots

        return plots.latency_by_stage([self])

    def plot_latency_cdf(self) -> Figure:
        """The distribution of the whole latency."""
        from nic2core.draw import plots

        return plots.latency_cdf([self])

    def plot_peak_search(self) -> Figure:
        """The p99 over the rates that were tried, if this is the peak of a search."""
        from nic2core.draw import plots

        if self.peak is None:
            raise UserError(
                f"plot_peak_search: {self.label!r} is not the peak of a search, so no rates were "
                "tried; expected a result of nic2core.find_peak or `nic2core peak`."
            )

        return plots.peak_search([self])

    def plot_memory(self, unit: str = "per_request") -> Figure:
        """Memory traffic by cause, in lines `per_request` or in `gbytes_per_s` (GB/s)."""
        from nic2core.draw import plots

        return plots.memory_by_cause([self], unit)

    def plot_dram(self) -> Figure:
        """The distribution of the DRAM read latency."""
        from nic2core.draw import plots

        return plots.dram_cdf([self])

    def plot_series(self) -> Figure:
        """The time series."""
        from nic2core.draw import plots

        return plots.time_series([self])

    def record_again(self, recording: Recording | None = None) -> Timeline:
        """Run the scenario once more, to the same bits, and follow single packets on their way.

        It takes as long as the run did; `nic2core.record` gives result and timeline by one run.
        """
        from nic2core import engine

        if self.peak is not None:
            raise UserError(
                f"record_again: {self.label!r} is the peak of a search, whose scenario alone does "
                "not run at this rate; expected the result of a run. nic2core.record(SCENARIO, "
                '{"traffic.rate": "..."}) follows packets at the rate that you give, such as the '
                f"{three(self.peak.peak_mpps)} Mpps of the peak."
            )
        self.check_capture()
        return engine.record(json.dumps(self.scenario), recording or Recording(), engine.Watch())[1]

    def report(self, path: str | Path) -> Path:
        """Write the one-file HTML report and return where it is."""
        from nic2core.report import write_report

        return write_report([self], Path(path))

    def __repr__(self) -> str:
        """The main numbers in a line, for people at a prompt."""
        numbers = (f"{n.name} {n.value} {n.unit}".rstrip() for n in headline(self))
        return f"Result({self.label!r}: {', '.join(numbers)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the path with its loads, and the main numbers."""
        from nic2core.report import notebook_html

        return notebook_html(self)
