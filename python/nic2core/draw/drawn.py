"""Plots of one or several runs, as methods of the objects that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nic2core._core import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plotly.graph_objects import Figure

    from nic2core.run_record import Record


TITLE = 24
"""Height of a title, pixels."""


class Drawn:
    """Plotly figures, each with all runs."""

    def _runs(self) -> Sequence[Record]:
        raise NotImplementedError

    def plot_latency(self) -> Figure:
        """The mean latency by stage of the path."""
        from nic2core.draw import plots

        return _titled(plots.latency_by_stage(self._runs()), self._runs())

    def plot_latency_cdf(self, of: str = "total") -> Figure:
        """The tail of a latency: the share of packets that take longer.

        `of` is `total`, or what closed-loop senders see: `rtt`, `fabric_delay`, `host_delay`,
        `read_latency` or `block_latency`.
        """
        from nic2core.draw import plots

        return _titled(plots.latency_cdf(self._runs(), of), self._runs())

    def plot_connections(self) -> Figure:
        """What each connection of closed-loop senders delivered, from the one with least on."""
        from nic2core.draw import plots

        return _titled(plots.by_connection(self._runs()), self._runs())

    def plot_slowdowns(self, percentile: float = 99.0) -> Figure:
        """How many times as long as alone closed-loop reads take, by their size.

        Only of reads of several sizes or of a load (`traffic.read_mix`, `traffic.load`); the
        `percentile` is 50, 99 or 99.9.
        """
        from nic2core.draw import plots

        runs = self._runs()
        figure = plots.slowdowns_by_size(runs, percentile)
        if not figure.data:
            named = ", ".join(repr(run.label) for run in runs)
            raise UserError(
                f"plot_slowdowns: no reads of {named} are known by size; expected closed-loop "
                "traffic with traffic.read_mix or traffic.load, of which reads were completed."
            )
        return _titled(figure, runs)

    def plot_peak_search(self) -> Figure:
        """The p99 at each rate that was tried, if this is the result of a peak search."""
        from nic2core.draw import plots

        runs = self._runs()
        if all(run.peak is None for run in runs):
            named = ", ".join(repr(run.label) for run in runs)
            raise UserError(
                f"plot_peak_search: {named} does not come from a peak search, so no rates were "
                "tried; expected a result of nic2core.find_peak or `nic2core peak`."
            )
        return _titled(plots.peak_search(runs), runs)

    def plot_memory(self, unit: str = "per_request") -> Figure:
        """Memory traffic by cause, in lines `per_request` or in `gbytes_per_s` (GB/s)."""
        from nic2core.draw import plots

        return _titled(plots.memory_by_cause(self._runs(), unit), self._runs())

    def plot_llc(self) -> Figure:
        """What the LLC holds at the end: of a single run by way, of several side by side."""
        from nic2core.draw import plots

        runs = self._runs()
        figure = plots.llc_by_way(runs[0]) if len(runs) == 1 else plots.llc_contents(runs)
        return _titled(figure, runs)

    def plot_queues(self, of: str = "packets") -> Figure:
        """What each core and its queue do.

        `of` is `packets`, `busy` (the core's time), `rx_descriptors` or `tx_descriptors` (in use).
        """
        from nic2core.draw import plots

        runs = self._runs()
        if not any(run.data.queues for run in runs):
            named = ", ".join(repr(run.label) for run in runs)
            raise UserError(f"plot_queues: no core of {named} serves packets.")
        return _titled(plots.by_core(runs, of), runs)

    def plot_dram(self) -> Figure:
        """The distribution of the DRAM read latency."""
        from nic2core.draw import plots

        return _titled(plots.dram_cdf(self._runs()), self._runs())

    def plot_series(self) -> Figure:
        """The time series."""
        from nic2core.draw import plots

        return _titled(plots.time_series(self._runs()), self._runs())


def _titled(figure: Figure, runs: Sequence[Record]) -> Figure:
    """The figure with its run as title: of several, the legend names each."""
    if len(runs) == 1:
        (run,) = runs
        name = f"{run.scenario_name}: {run.label}" if run.scenario_name else run.label
        place = {"x": 0, "xref": "paper", "y": 1, "yref": "container", "yanchor": "top"}
        figure.update_layout(
            title={"text": name, "font_size": 14, "pad_t": 10, **place},
            margin_t=figure.layout.margin.t + TITLE,
            height=figure.layout.height + TITLE,
        )
    return figure
