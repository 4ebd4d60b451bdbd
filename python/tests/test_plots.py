from __future__ import annotations

import warnings
from dataclasses import replace

import polars as pl
import pytest

from nic2core import Result, UserError, api, compare, words
from nic2core.describe import rows
from nic2core.draw import palette, plots
from nic2core.draw.style import wide
from nic2core.report.page import report_html
from nic2core.results.models import Peak, Probe
from nic2core.sweeps import sweep


def test_latency_bars_are_the_means_in_microseconds(ddio: Result, sweeper: Result) -> None:
    figure = plots.latency_by_stage([ddio, sweeper])
    queue = next(bar for bar in figure.data if bar.name == "in the queue")
    spreads = [
        next(s.distribution for s in r.data.latency if s.stage == "queue") for r in (ddio, sweeper)
    ]
    assert list(queue.x) == [s.mean_ns / 1e3 for s in spreads]
    # As shares of the whole the lengths of bars are no times.
    assert "%{x" not in queue.hovertemplate
    assert [text.split("<br>")[0] for text in queue.customdata] == [
        f"mean {words.time(s.mean_ns)}" for s in spreads
    ]
    assert {bar.name for bar in figure.data}.isdisjoint({"total", "transmit"})
    shares = plots.latency_by_stage([ddio, sweeper], shares=True)
    wholes = [r.total_latency.mean_ns for r in (ddio, sweeper) if r.total_latency is not None]
    assert [name.text for name in shares.layout.annotations] == [
        f"{r.label}: {words.time(ns)}" for r, ns in zip((ddio, sweeper), wholes, strict=True)
    ]


def test_packets_that_a_queue_did_not_get_are_on_top_of_those_it_received(
    ddio: Result, sweeper: Result
) -> None:
    received, lost = ddio.plot_queues().data
    us = ddio.data.measured_ns / 1e3
    assert [r + d for r, d in zip(received.y, lost.y, strict=True)] == pytest.approx(
        [q.offered / us for q in ddio.data.queues]
    )
    assert list(received.x) == list(range(24))
    two = plots.by_core([ddio, sweeper], "busy").data
    assert [line.name for line in two] == [ddio.label, sweeper.label]
    # Where one line lies on another, the one below is seen between its dashes.
    assert [line.line.dash for line in two] == ["solid", "dash"]
    assert two[0].line.width > two[1].line.width
    assert two[0].marker.symbol != two[1].marker.symbol
    # The samples' cores share their time: 99 % of it each, nearly.
    assert list(two[0].y) == pytest.approx([0.99] * 24, abs=0.001)
    with pytest.raises(UserError, match="plot_queues: of = 'drops'; allowed: packets, busy"):
        ddio.plot_queues("drops")
    several = plots.by_core([ddio, sweeper])
    assert several.layout.yaxis.title.text == "received, M packets/s"
    alone = replace(ddio, data=ddio.data.model_copy(update={"queues": []}))
    with pytest.raises(UserError, match="plot_queues: no core of 'DDIO, 2 ways' serves packets"):
        alone.plot_queues()


def test_axes_of_times_have_labels_however_close_they_are() -> None:
    assert wide([10.0, 29.0]) == {"type": "linear"}
    near = wide([10.0, 60.0])["tickvals"]
    assert [tick for tick in near if 10 <= tick <= 60] == [10, 20, 30, 40, 50, 60]
    far = wide([1.0, 5000.0])["tickvals"]
    assert [tick for tick in far if 1 <= tick <= 5000] == [1, 10, 100, 1000]


def test_a_grid_of_much_the_same_has_much_the_same_colours() -> None:
    def scale(values: list[float]) -> tuple[float, float]:
        table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"], "rate_mps": values})
        (cells,) = plots.grid(table, "a", "b", "rate_mps").data
        return cells.zmin, cells.zmax

    assert scale([51.3, 51.5]) == (0.9 * 51.5, 51.5)
    assert scale([10.0, 50.0]) == (10.0, 50.0)


def test_lines_beyond_the_colours_are_told_apart_by_their_dashes() -> None:
    lines = [palette.line(n) for n in range(4 * len(palette.RUNS))]
    assert len({(line["color"], line["dash"]) for line in lines}) == len(lines)
    crossing = [palette.crossing(n) for n in range(4 * len(palette.RUNS))]
    assert len({(line["color"], line["dash"]) for line in crossing}) == len(crossing)
    bars = [palette.bar(n) for n in range(4 * len(palette.RUNS))]
    assert len({(bar["color"], bar["pattern_shape"]) for bar in bars}) == len(bars)


@pytest.mark.parametrize("unit", ["per_request", "gbytes_per_s"])
def test_memory_bars_hold_every_cause_of_every_run(
    ddio: Result, sweeper: Result, unit: str
) -> None:
    figure = plots.memory_by_cause([ddio, sweeper], unit)
    for number, result in enumerate((ddio, sweeper)):
        drawn = sum(bar.x[number] or 0.0 for bar in figure.data)
        assert drawn == pytest.approx(sum(getattr(c, unit) for c in result.data.memory.causes))


def test_an_unknown_unit_is_refused(ddio: Result) -> None:
    with pytest.raises(UserError, match="allowed: per_request, gbytes_per_s"):
        plots.memory_by_cause([ddio], "lines")


def test_the_mean_of_dram_latency_lies_on_its_curve(ddio: Result) -> None:
    curve, mean = plots.dram_cdf([ddio]).data
    spread = ddio.data.dram.read_latency
    assert mean.x[0] == spread.mean_ns
    below = max(share for ns, share in spread.cdf if ns <= spread.mean_ns)
    above = min(share for ns, share in spread.cdf if ns >= spread.mean_ns)
    assert below <= mean.y[0] <= above
    assert len(curve.x) == len(spread.cdf)


def test_each_run_has_its_colour_in_every_panel(ddio: Result, sweeper: Result) -> None:
    figure = plots.time_series([ddio, sweeper])
    for line in figure.data:
        run = 0 if line.legendgroup == ddio.label else 1
        assert line.line.color == palette.run(run)
    legend = [line for line in figure.data if line.showlegend]
    assert [line.name for line in legend] == [ddio.label, sweeper.label]
    assert all((line.line.dash, line.line.width) == ("solid", 1.6) for line in legend)


def test_runs_with_and_without_congestion_control_can_be_compared(
    ddio: Result, closed_loop: Result
) -> None:
    figure = plots.time_series([ddio, closed_loop])
    titles = [a.text for a in figure.layout.annotations]
    assert "host delay, mean (dotted: the control's target), µs (axis not from 0)" in titles
    assert (
        "congestion window, mean of all connections (thin: single connections), packets" in titles
    )
    axis = next(line.yaxis for line in figure.data if line.hovertemplate.startswith("window,"))
    together = [line for line in figure.data if line.yaxis == axis]
    assert [line.line.width for line in together] == [0.6, 0.6, 1.6]
    # The capacity of the NIC's buffer and the target, both of the run that has these series.
    assert len(figure.layout.shapes) == 2


def test_rivals_are_drawn_beside_all_senders(closed_loop: Result) -> None:
    columns = closed_loop.data.series.columns
    goodput = next(c for c in columns if c.name == "goodput")
    half = [value / 2 for value in goodput.values if value is not None]
    theirs = goodput.model_copy(update={"name": "rivals-goodput", "values": half})
    their_window = goodput.model_copy(update={"name": "rivals-window", "values": half})
    one = goodput.model_copy(update={"name": "rivals-window-3", "values": half})
    # Of the others no connection is watched.
    columns = [c for c in columns if not c.name.startswith("window-")]
    series = closed_loop.data.series.model_copy(
        update={"columns": [*columns, theirs, their_window, one]}
    )
    run = replace(closed_loop, data=closed_loop.data.model_copy(update={"series": series}))
    figure = plots.time_series([run])
    titles = [a.text for a in figure.layout.annotations]
    assert "goodput of closed-loop senders (dashed: of rivals), Gbit/s" in titles
    assert "congestion window, mean of all connections (dashed: of rivals), packets" in titles
    assert len(titles) == len(plots.time_series([closed_loop]).layout.annotations)
    (line,) = (x for x in figure.data if x.hovertemplate.startswith("rivals-goodput"))
    axis = f"y{1 + titles.index('goodput of closed-loop senders (dashed: of rivals), Gbit/s')}"
    assert (line.yaxis, line.line.dash, list(line.y)) == (axis, "dash", half)
    windows = [x for x in figure.data if x.hovertemplate.startswith("rivals-window")]
    assert [(x.line.dash, x.line.width) for x in windows] == [("dash", 1.6), ("dash", 0.6)]
    assert len({x.yaxis for x in windows}) == 1


def test_where_no_acknowledgement_came_a_delay_has_a_gap(closed_loop: Result) -> None:
    columns = [
        c.model_copy(update={"values": [90.0, None, *c.values[2:]]})
        if c.name == "host-delay"
        else c
        for c in closed_loop.data.series.columns
    ]
    series = closed_loop.data.series.model_copy(update={"columns": columns})
    run = replace(closed_loop, data=closed_loop.data.model_copy(update={"series": series}))
    (line,) = (x for x in plots.time_series([run]).data if x.hovertemplate.startswith("host-d"))
    assert list(line.y)[:2] == [90.0, None]
    assert run.tables.series["host-delay [us]"].null_count() == 1


def test_names_that_look_like_numbers_are_names(ddio: Result, sweeper: Result) -> None:
    runs = [replace(ddio, label="2"), replace(sweeper, label="8")]
    for figure in (plots.latency_by_stage(runs), plots.memory_by_cause(runs)):
        assert figure.layout.yaxis.type == "category"


@pytest.mark.parametrize(("least", "mode"), [(600.0, "normal"), (100.0, "tozero")])
def test_an_axis_that_is_cut_says_so(closed_loop: Result, least: float, mode: str) -> None:
    columns = [
        c.model_copy(update={"values": [least, 1000.0] * 60}) if c.name == "nic-sram" else c
        for c in closed_loop.data.series.columns
    ]
    series = closed_loop.data.series.model_copy(update={"columns": columns})
    run = replace(closed_loop, data=closed_loop.data.model_copy(update={"series": series}))
    figure = plots.time_series([run])
    titles = [a.text for a in figure.layout.annotations]
    (place,) = (n for n, title in enumerate(titles, 1) if title.startswith("NIC input buffer"))
    assert titles[place - 1].endswith("(axis not from 0)") == (mode == "normal")
    assert figure.layout[f"yaxis{place}"].rangemode == mode


def test_tails_over_decades_have_a_logarithmic_axis() -> None:
    def axis(column: str, *values: float | None) -> object:
        table = pl.DataFrame({"key": range(len(values)), column: values})
        return plots.over(table, ["key"], column).layout.yaxis.type

    for column in ("p99_slowdown_longest", "p99_ns"):
        assert axis(column, 1.5, None, 16.0) == "log"
        assert axis(column, 1.5, 14.0) is None
        assert axis(column, None, 14.0) is None
    assert axis("rate_mps", 1.0, 100.0) is None


def test_what_keeps_doubling_is_evenly_spaced() -> None:
    def over(*values: int) -> object:
        table = pl.DataFrame({"key": values, "rate_mps": [1.0] * len(values)})
        axis = plots.over(table, ["key"], "rate_mps").layout.xaxis
        assert axis.title.text == ("key (logarithmic)" if axis.type else "key")
        return axis.type

    assert over(128, 512, 1024, 4096) == over(1, 2, 4, 8) == "log"
    assert over(1, 2, 3, 4) is over(0, 1, 2, 4, 8) is over(1, 10, 100, 200) is None
    # On an even axis, the first two would be one.
    assert over(1, 2, 100, 200) == over(8, 64, 65536) == "log"
    # And these on either.
    assert over(*range(1, 61)) is over(100, 101, 10_000) is None


def test_an_axis_of_whole_numbers_has_no_ticks_between_them() -> None:
    def ticks(*values: float) -> object:
        table = pl.DataFrame({"key": values, "rate_mps": [1.0] * len(values)})
        return plots.over(table, ["key"], "rate_mps").layout.xaxis.nticks

    assert ticks(1, 2, 3, 4) == 4
    assert ticks(2, 4, 11) == 10
    assert ticks(10, 60, 64) == 11
    assert ticks(1.0, 2.5, 4.0) is None


def test_runs_measured_at_different_times_lie_over_one_another(ddio: Result) -> None:
    def begins(*starts: float) -> set[float]:
        runs = []
        for start in starts:
            series = ddio.data.series.model_copy(update={"start_ns": start})
            data = ddio.data.model_copy(update={"series": series})
            runs.append(replace(ddio, label=str(start), data=data))
        return {round(line.x[0], 6) for line in plots.time_series(runs).data}

    half = ddio.data.series.interval_ns / 2e6
    assert begins(5e6, 5e6) == {round(5 + half, 6)}
    assert begins(5e6, 90e6) == {round(half, 6)}


def test_a_search_is_drawn_by_rate_with_what_holds_and_what_it_is_held_against(
    calm: Result,
) -> None:
    def probe(rate: float, p99_ns: float, *, holds: bool) -> Probe:
        return Probe(
            offered_mpps=rate, completed_mpps=rate, p99_ns=p99_ns, p99_limit_ns=20e3,
            drop_share=0.0, holds=holds,
        )  # fmt: skip

    probes = [probe(5, 1e3, holds=True), probe(20, 90e3, holds=False), probe(10, 2e3, holds=True)]
    peak = Peak(peak_mpps=10, fails_at_mpps=20, failed_by="p99", probes=probes, results=calm.data)
    found = replace(calm, peak=peak)
    line, limit = plots.peak_search([calm, found]).data
    assert (list(line.x), list(line.y)) == ([5, 10, 20], [1, 2, 90])
    assert list(line.marker.symbol) == ["circle", "circle", "x"]
    assert set(limit.y) == {20.0}
    # As in the other panels, a run has the colour of its place.
    assert line.line.color == limit.line.color == palette.run(1)
    (drops,) = plots.peak_drops([calm, found]).data
    assert (list(drops.x), list(drops.y)) == ([5, 10, 20], [0, 0, 0])
    # An objective that was set to play no part is not drawn.
    far = [p.model_copy(update={"p99_limit_ns": 1e9}) for p in probes]
    loose = replace(calm, peak=peak.model_copy(update={"probes": far}))
    figure = plots.peak_search([loose])
    assert len(figure.data) == 1
    assert max(figure.layout.yaxis.tickvals) < 1000
    assert "Rates tried" in report_html([found])
    assert "Rates tried" not in report_html([calm])
    assert len(found.plot_peak_search().data) == 2
    with pytest.raises(
        UserError, match=r"plot_peak_search: .* expected a result of nic2core\.find"
    ):
        calm.plot_peak_search()


def test_delays_and_shares_of_closed_loop_senders_are_drawn(ddio: Result) -> None:
    times = {"run.warmup": "1 ms", "run.duration": "1 ms", "run.sample": "500 us"}
    run = api.run("host-congestion", times | {"tenants.0.cores.count": 2})
    transport = run.data.transport
    assert transport is not None
    (line,) = run.plot_latency_cdf("rtt").data
    assert max(line.x) <= transport.rtt.percentile(100.0) / 1e3
    assert min(line.x) >= 10, "the network's delay there and back"
    (shares,) = run.plot_connections().data
    assert list(shares.y) == sorted(shares.y)
    assert sum(shares.y) == pytest.approx(len(transport.connections))
    assert sum(of[2] for of in shares.customdata) == transport.delivered
    page = report_html([run])
    assert "Who gets what" in page
    assert "Who gets what" not in report_html([ddio])
    assert len(ddio.plot_connections().data) == len(ddio.plot_latency_cdf("rtt").data) == 0
    with pytest.raises(UserError, match=r"of = 'rrt'; allowed: total, rtt, fabric_delay"):
        run.plot_latency_cdf("rrt")


def test_a_figure_of_one_run_has_its_name(ddio: Result) -> None:
    named = replace(ddio, scenario_name="mine")
    assert named.plot_latency_cdf().layout.title.text == f"mine: {ddio.label}"
    assert replace(ddio, scenario_name="").plot_llc().layout.title.text == ddio.label
    two = compare(named, replace(ddio, label="other"))
    assert two.plot_latency_cdf().layout.title.text is None, "the legend names them"


def test_a_run_without_packets_can_be_plotted(packetless: Result) -> None:
    for figure in (packetless.plot_latency(), packetless.plot_latency_cdf()):
        assert len(figure.data) == 0
    lines = {line.hovertemplate.split(":")[0] for line in packetless.plot_series().data}
    assert lines == {"memory-rd", "memory-wr", "rx-evct"}
    assert len(packetless.plot_memory("gbytes_per_s").data) > 0
    assert len(packetless.plot_dram().data) == 2


def test_what_is_zero_in_all_runs_is_named_and_has_no_panel(
    ddio: Result, sweeper: Result, closed_loop: Result
) -> None:
    def still(result: Result, moving: set[str]) -> Result:
        columns = [
            c if c.name in moving else c.model_copy(update={"values": [0.0 for _ in c.values]})
            for c in result.data.series.columns
        ]
        series = result.data.series.model_copy(update={"columns": columns})
        return replace(result, data=result.data.model_copy(update={"series": series}))

    def shown(*results: Result) -> tuple[list[str], str]:
        figure = plots.time_series(results)
        titles = [a.text.partition(" (")[0] for a in figure.layout.annotations]
        return titles, figure.layout.xaxis.title.text.replace("<br>", " ")

    memory = {"memory-rd", "memory-wr"}
    quiet = still(ddio, memory | {"completed"})
    titles, below = shown(quiet)
    assert titles == ["completed", "memory reads, GB/s", "memory writes, GB/s"]
    assert below.startswith("simulated time, ms zero in every sample: dropped by the NIC, waiting")
    # One run in which it is not is enough.
    titles, below = shown(quiet, sweeper, ddio)
    assert "dropped by the NIC, Mpps" in titles
    assert "dropped" not in below
    # What is offered is drawn where nothing completes, and the windows of single connections.
    assert shown(still(ddio, {"offered"}))[0] == ["completed"]
    assert shown(still(closed_loop, {"window-0"}))[0] == [
        "congestion window, mean of all connections"
    ]
    # Without packets it is no wonder.
    value = still(ddio, memory).to_json()
    value["results"]["packets"]["offered"] = 0
    assert shown(Result.from_json(value)) == (
        ["memory reads, GB/s", "memory writes, GB/s"],
        "simulated time, ms",
    )


def test_causes_of_one_colour_are_one_bar(ddio: Result) -> None:
    value = ddio.to_json()
    causes = value["results"]["memory"]["causes"]
    small = ("nic-descriptor-rd", "descriptor-evct", "mbuf-evct")
    assert causes.pop()["cause"] == "nic-descriptor-wr"
    for cause in small:
        causes.append({**causes[0], "cause": cause, "lines": 10, "per_request": 0.5})
    figure = plots.memory_by_cause([Result.from_json(value)])
    colours = [bar.marker.color for bar in figure.data]
    assert len(set(colours)) == len(colours)
    other = figure.data[-1]
    assert (other.name, other.x[0]) == ("descriptors and other small causes", 1.5)
    (text,) = other.customdata
    assert text.count("0.500 lines per request") == 3
    assert all(cause in text for cause in small)


def test_the_large_causes_have_colours_of_their_own() -> None:
    colours = [*palette.CAUSES.values(), palette.OTHER_CAUSE]
    assert len(set(colours)) == len(colours)
    assert {"mbuf-rd", "prefetch-rd"} <= set(palette.CAUSES)
    # Beside page walks, which a DMA benchmark has too.
    assert palette.cause("nic-bench-rd") != palette.cause("iommu-walk-rd")


def rates(result: Result, values: list[str]) -> list[Result]:
    """The same result at so many rates under two policies."""
    return [
        replace(result, label=f"{rate} {policy}",
                settings={"placement.policy": policy, "traffic.rate": rate, "run.seed": 3})
        for rate in values
        for policy in ("dma", "ddio")
    ]  # fmt: skip


def test_quantities_of_one_unit_stand_where_their_numbers_are(ddio: Result) -> None:
    runs = rates(ddio, ["5 Gbps", "10Gbps", "40.5 Gbps"])
    keys = ["traffic.rate", "placement.policy"]
    assert sorted(rows.varied(runs)) == sorted(keys)
    figure = plots.over(rows.table(runs), keys, "p99_ns")
    assert [list(line.x) for line in figure.data] == [[5.0, 10.0, 40.5]] * 2
    assert figure.layout.xaxis.title.text == "traffic.rate, Gbps"
    assert figure.layout.yaxis.title.text == "p99 latency, µs"
    assert ddio.p99_ns is not None
    assert [list(line.y) for line in figure.data] == [[ddio.p99_ns / 1e3] * 3] * 2
    means = rows.table(runs).with_columns(pl.Series("p99_ns ±", [500.0] * 6))
    bars = [line.error_y.array for line in plots.over(means, keys, "p99_ns").data]
    assert [list(half) for half in bars] == [[0.5] * 3] * 2
    cells = plots.grid(rows.table(runs), keys[0], keys[1], "p99_ns").data[0]
    assert [list(row) for row in cells.z] == [[ddio.p99_ns / 1e3] * 2] * 3
    # A column that no report draws has its own name.
    assert plots.over(rows.table(runs), keys, "amat_ns").layout.yaxis.title.text == "amat_ns"


def test_a_line_goes_along_its_axis_whatever_the_order_of_the_runs(ddio: Result) -> None:
    table = rows.table(rates(ddio, ["40 Gbps", "5 Gbps", "10 Gbps"]))
    figure = plots.over(table, ["traffic.rate", "placement.policy"], "p99_ns")
    assert [list(line.x) for line in figure.data] == [[5.0, 10.0, 40.0]] * 2
    assert [line.name for line in figure.data] == [
        f"placement.policy = {p}" for p in ("dma", "ddio")
    ]


def test_each_tenant_has_its_curve_but_the_one_that_alone_serves_packets(ddio: Result) -> None:
    overrides = {"run.warmup": "100 us", "run.duration": "100 us"}
    with warnings.catch_warnings(action="ignore"):
        runs = sweep("explain-memory", {"placement.io_ways": [2, 3, 4]}, overrides=overrides)
    own = {c: t for c, t in plots.titles([ddio, *runs]).items() if "(" in c}
    assert own == {"progress_mps (xmem)": "xmem, M accesses/s"}
    views = report_html(runs.results).split("</button>")
    assert [v for v in views if 'data-panel="curve"' in v and v.endswith(">xmem")]
    # Two that serve packets share the completed rate.
    second = {**runs[0].scenario["tenants"][0], "name": "second"}
    scenario = {**runs[0].scenario, "tenants": [runs[0].scenario["tenants"][0], second]}
    both = plots.titles([replace(runs[0], scenario=scenario)])
    first = scenario["tenants"][0]["name"]
    assert {f"progress_mps ({first})", "progress_mps (second)"} <= both.keys()
    # As the table has them.
    table = rows.table(runs.results)
    figure = plots.over(table, ["placement.io_ways"], *own.popitem())
    assert list(figure.data[0].y) == [r.data.tenants[1].progress_mps for r in runs]
    assert figure.layout.yaxis.title.text == "xmem, M accesses/s"
    assert runs.plot("progress_mps (xmem)").layout.yaxis.title.text == "xmem, M accesses/s"


def test_a_grid_has_a_cell_for_each_run_and_none_for_one_that_is_missing(ddio: Result) -> None:
    *runs, _missing = rates(ddio, ["40 Gbps", "5 Gbps"])
    table = rows.table(runs).with_columns(rate_mps=pl.Series([4.0, 4.123, 0.5]))
    (cells,) = plots.grid(table, "placement.policy", "traffic.rate", "rate_mps").data
    assert (list(cells.y), list(cells.x)) == (["dma", "ddio"], ["40 Gbps", "5 Gbps"])
    assert [list(row) for row in cells.text] == [["4.00", "0.500"], ["4.12", ""]]
    assert [list(row) for row in cells.z] == [[4.0, 0.5], [4.123, None]]


def test_no_read_of_the_memory_has_no_mean(ddio: Result) -> None:
    value = ddio.to_json()
    value["results"]["dram"]["read_latency"] |= {"count": 0, "mean_ns": 0.0, "cdf": []}
    none = Result.from_json(value)
    assert len(plots.dram_cdf([none]).data) == 0
    assert "DRAM read latency" not in report_html([none])
    assert "DRAM read latency" in report_html([none, ddio])


@pytest.mark.parametrize(
    ("values", "least"),
    [
        ([1, 2.5, 3], 3),
        (["1 us", "2 us", "3 us"], 3),
        (["1 us", "2 ms", "3 us"], 3),
        (["1 us", "1000 ns", "3 us"], 2),
        (["1 us", "2 MiB", "3 us"], 0),
        (["1", "2.5", "3"], 3),
        (["10 Gbit/s", "20 Gbit/s", "40 Gbit/s"], 3),
        (["1 %", "2 %", "5 %"], 3),
        (["20 µs", "30 µs", "40 µs"], 3),
        (["1.2.3 us", "2 us", "3 us"], 0),
        (["1", "2 us", "3"], 0),
        ([1, 2, 2], 2),
        (["dma", "ddio", "ideal-ddio"], 0),
        ([True, False, True], 0),
    ],
)
def test_a_curve_needs_numbers_of_one_kind(values: list[object], least: int) -> None:
    assert [n for n in (1, 2, 3) if rows.is_curve(values, n)] == list(range(1, least + 1))


def test_quantities_of_one_kind_have_their_smallest_unit() -> None:
    unit, numbers = rows.quantities(["0 ns", "500 us", "1 ms"])
    assert unit == "us"
    assert [*numbers] == pytest.approx([0, 500, 1000])
    assert rows.quantities(["512 KiB", "1 MiB"]) == ("KiB", [512, 1024])
    assert rows.quantities(["0 ms", "0 s"]) == ("ms", [0, 0])
    mixed = ["1 MiB", "1 ms"]
    assert rows.quantities(mixed) == ("", mixed)
