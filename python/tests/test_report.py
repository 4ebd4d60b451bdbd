"""The report in a real browser: what a person sees is what is checked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from nic2core import UserError, api
from nic2core.describe.doubts import doubts
from nic2core.describe.glossary import TERMS
from nic2core.describe.labels import told_apart
from nic2core.report import write_report
from nic2core.report.page import report_html
from nic2core.report.path import picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nic2core import Result

CHROMIUM = Path("/usr/bin/chromium")
LIMIT_BYTES = 6_000_000
PANELS = ["latency", "memory", "tail", "dram", "series"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # --no-sandbox: in a container the tests run as root.
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


class Opened:
    """A report in the browser, with everything that must not happen recorded."""

    def __init__(
        self, browser: Browser, file: Path, scheme: str = "light", width: int = 1280
    ) -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        self.page: Page = context.new_page()
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        self.faults: list[str] = []
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.faults.append(str(e)))
        self.page.on("request", self._requested)
        self.page.goto(file.as_uri())
        self.file = file

    def _requested(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if not url.startswith(("file:", "data:", "blob:")):
            self.faults.append(f"external request: {url}")

    def drawn(self, selector: str) -> list[tuple[float, float]]:
        boxes = [e.bounding_box() for e in self.page.locator(selector).all()]
        sizes = [(b["width"], b["height"]) for b in boxes if b is not None]
        return [(w, h) for w, h in sizes if w > 0 and h > 0]


@pytest.fixture
def one(browser: Browser, ddio: Result, tmp_path: Path) -> Opened:
    return Opened(browser, ddio.report(tmp_path / "one.html"))


@pytest.fixture
def two(browser: Browser, ddio: Result, sweeper: Result, tmp_path: Path) -> Opened:
    return Opened(browser, write_report([ddio, sweeper], tmp_path / "two.html"))


def test_every_panel_is_drawn_without_errors_or_requests(one: Opened) -> None:
    for panel in PANELS:
        expect(one.page.locator(f"#chart-{panel} .main-svg").first).to_be_visible()
        boxes = one.drawn(f"#chart-{panel} .main-svg")
        assert boxes, panel
        assert boxes[0][0] > 300, panel
    assert len(one.drawn("#chart-latency .trace.bars path")) >= 3
    assert len(one.drawn("#chart-series .scatterlayer path.js-line")) >= 6
    assert one.faults == []


def test_the_file_stands_alone_and_is_not_too_large(one: Opened) -> None:
    text = one.file.read_text()
    assert one.file.stat().st_size < LIMIT_BYTES
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=\"(?!data:)", text)


def test_each_stage_is_filled_by_its_load(one: Opened, ddio: Result) -> None:
    for stage in picture(ddio).gauges:
        gauge = one.page.locator(f'.gauge[data-stage="{stage.stage}"]')
        vessel = float(gauge.locator(".vessel").get_attribute("height") or 0)
        fill = float(gauge.locator(".fill").get_attribute("height") or 0)
        assert fill / vessel == pytest.approx(stage.load, abs=0.001), stage.stage
        expect(gauge.locator(".load")).to_have_text(f"{100 * stage.load:.0f} %")


def test_the_limiting_stage_is_named_in_words_and_marked(one: Opened) -> None:
    expect(one.page.locator("#verdict")).to_contain_text("The memory bus limits this run")
    limiting = one.page.locator(".gauge.limits")
    expect(limiting).to_have_count(1)
    expect(limiting).to_have_attribute("data-stage", "dram")


def test_the_first_panel_says_what_limits_and_what_helps(one: Opened, ddio: Result) -> None:
    first = one.page.locator("main section.card").first
    expect(first.locator("h2")).to_have_text("What limits")
    expect(first.locator("tbody tr")).to_have_count(len(ddio.model.used))
    limits = first.locator("tr.limits")
    expect(limits).to_have_count(1)
    expect(limits).to_have_attribute("data-domain", "dram")
    for use in ddio.model.used:
        row = first.locator(f'tr[data-domain="{use.name}"]')
        meter, filled = (
            row.locator(which).first.evaluate("e => e.getBoundingClientRect().width")
            for which in (".meter", ".meter i")
        )
        load = next(s.load for s in ddio.stages if s.stage == use.name)
        assert filled / meter == pytest.approx(load, abs=0.01), use.name
    leaks = first.locator('tr[data-domain="io-ways"] td').nth(1)
    expect(leaks).to_have_text("85.9 % of writes leak")
    help_ = next(h for h in ddio.helps if h.change.domain == "dram")
    expect(limits.locator("td").last).to_have_text(f"{100 * help_.predicted:+.0f} %")


def test_the_main_numbers_are_grouped_by_where_they_are_measured(
    browser: Browser, one: Opened, closed_loop: Result, tmp_path: Path
) -> None:
    loop = Opened(browser, closed_loop.report(tmp_path / "loop.html"))
    server, memory = "The server", "Caches and memory"
    senders = "What closed-loop senders see"
    for opened, parts in ((one, [server, memory]), (loop, [senders, server, memory])):
        expect(opened.page.locator("h2.part")).to_have_text(parts)
    for part, number in ((senders, "goodput"), (server, "completed"), (memory, "AMAT")):
        group = loop.page.get_by_role("region", name=part)
        expect(group.locator(".name", has_text=re.compile(f"^{number}$"))).to_have_count(1)
    tail = one.page.locator(".tile", has_text="p99 latency")
    expect(tail.locator(".span")).to_have_text("arrival to end of service")
    # What limits is said above, in a sentence.
    expect(loop.page.locator(".tile .name", has_text="limited by")).to_have_count(0)


def test_where_nothing_limits_a_peak_is_to_be_searched(
    browser: Browser, one: Opened, calm: Result, tmp_path: Path
) -> None:
    limited = one.page.locator("#limits")
    expect(limited.locator("th", has_text="helps by")).to_have_count(1)
    expect(limited.locator(".hint")).to_contain_text("nic2core explain DIR --check")
    panel = Opened(browser, calm.report(tmp_path / "calm.html")).page.locator("#limits")
    expect(panel.locator("tbody tr")).to_have_count(len(calm.model.used))
    # No change helps, so none is listed with its 0 %.
    expect(panel.locator("thead th").last).to_have_text("allows, M/s")
    expect(panel).not_to_contain_text("8 channels")
    expect(panel.locator(".hint code").first).to_have_text("nic2core peak DIR --out PEAK")
    # A comparison has no room for what to do next with each of its runs.
    assert 'class="note hint"' not in report_html([calm, calm])


def test_arrows_to_memory_are_as_wide_as_the_traffic(two: Opened, ddio: Result) -> None:
    def width(run: int, kind: str) -> float:
        shaft = two.page.locator(".n2c-path").nth(run).locator(f".link.{kind} path")
        return float(str(shaft.evaluate("e => parseFloat(getComputedStyle(e).strokeWidth)")))

    leak = next(c.gbytes_per_s for c in ddio.data.memory.causes if c.cause == "rx-evct")
    share = leak / ddio.data.memory.bus_limit_gbytes_per_s
    assert width(0, "leak") == pytest.approx(2 + 24 * share, abs=0.01)
    assert width(1, "leak") < width(0, "leak") / 2


def test_hovering_a_stage_explains_it(one: Opened) -> None:
    tip = one.page.locator("#tip")
    expect(tip).to_have_css("opacity", "0")
    one.page.locator('.gauge[data-stage="dram"]').hover()
    expect(tip).to_have_css("opacity", "1")
    expect(tip).to_contain_text("51.8 of 102.4 GB/s. Limits this run.")
    expect(tip).to_contain_text("of capacity")
    one.page.locator('.gauge[data-stage="io-ways"]').hover()
    expect(tip).to_contain_text("85.9 % of writes leak")
    # They are always full.
    expect(tip).not_to_contain_text("of capacity")


def test_hovering_a_main_number_says_what_it_is(one: Opened, two: Opened) -> None:
    for opened, place in ((one, ".tile"), (two, "#side-by-side")):
        name = opened.page.locator(f"{place} .told", has_text="DMA data that leaks")
        name.hover()
        expect(opened.page.locator("#tip")).to_have_css("opacity", "1")
        expect(opened.page.locator("#tip")).to_have_text(TERMS["DMA data that leaks"])


def test_what_cores_do_can_be_chosen(one: Opened) -> None:
    title = one.page.locator("#chart-queues .ytitle")
    expect(title).to_have_text("M packets/s")
    for shown, axis in {
        "busy": "share of the time",
        "tx descriptors": "transmit descriptors in use",
    }.items():
        one.page.locator("#panel-queues button", has_text=shown).click()
        expect(title).to_have_text(axis)
    assert one.faults == []


def test_an_overloaded_run_does_not_flatten_the_latency_of_others(ddio: Result) -> None:
    def first(times: float) -> str:
        value = ddio.to_json()
        for stage in value["results"]["latency"]:
            stage["distribution"]["mean_ns"] *= times
        slow = replace(type(ddio).from_json(value), label="slow")
        panel = report_html([ddio, slow]).split('id="panel-latency"')[1]
        return panel.split('aria-pressed="true">')[1].split("<")[0]

    assert first(2.0) == "time"
    assert first(20.0) == "share"


def test_the_unit_of_memory_traffic_can_be_changed(one: Opened) -> None:
    title = one.page.locator("#chart-memory .xtitle")
    expect(title).to_have_text("cache lines per completed request")
    one.page.locator("#panel-memory button", has_text="GB/s").click()
    expect(title).to_have_text("GB/s")
    expect(one.page.locator("#panel-memory button", has_text="GB/s")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert one.faults == []


def test_light_and_dark(browser: Browser, one: Opened, ddio: Result, tmp_path: Path) -> None:
    def ink_on_paper(opened: Opened) -> tuple[float, float]:
        script = """s => getComputedStyle(document.querySelector(s))[%r].match(/\\d+/g)
                       .slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3"""
        paper = opened.page.evaluate(script % "backgroundColor", "body")
        # Plotly sets colours of its own: the page's must win in the charts too.
        ink = opened.page.evaluate(script % "fill", "#chart-memory .xtitle")
        # The box of a legend has a paper of its own.
        named = opened.page.evaluate(script % "fill", "#chart-memory .legendtext")
        box = opened.page.evaluate(script % "fill", "#chart-memory .legend .bg")
        assert abs(named - box) > 120
        return float(ink), float(paper)

    ink, paper = ink_on_paper(one)
    assert ink < 80
    assert paper > 200
    dark = Opened(browser, ddio.report(tmp_path / "dark.html"), scheme="dark")
    ink, paper = ink_on_paper(dark)
    assert paper < 80
    assert ink > 200
    dark.page.locator("#theme").click()
    ink, paper = ink_on_paper(dark)
    assert ink < 80
    assert paper > 200


def test_a_narrow_screen_scrolls_the_path_not_the_page(
    browser: Browser, ddio: Result, tmp_path: Path
) -> None:
    phone = Opened(browser, ddio.report(tmp_path / "phone.html"), width=390)
    expect(phone.page.locator("#chart-series .main-svg").first).to_be_visible()
    overflow = phone.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    # One sees that there is more of it.
    expect(phone.page.locator(".path .scroll")).to_have_class("scroll more")
    # What a change helps is the point of the table: on a tablet it is seen without scrolling.
    phone.page.set_viewport_size({"width": 600, "height": 900})
    assert phone.page.locator(".limits .scroll").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    expect(phone.page.locator(".limits .held").first).to_be_hidden()


def test_the_views_of_a_curve_wrap_on_a_narrow_screen(
    browser: Browser, closed_loop: Result, tmp_path: Path
) -> None:
    runs = [replace(closed_loop, label=f"{n}", settings={"senders": n}) for n in (10, 20, 40)]
    phone = Opened(browser, write_report(runs, tmp_path / "phone.html"), width=390)
    expect(phone.page.locator("#panel-curve button")).to_have_count(12)
    overflow = phone.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0


def test_a_legend_and_a_title_wrap_on_a_narrow_screen(
    browser: Browser, ddio: Result, sweeper: Result, tmp_path: Path
) -> None:
    long = ", ".join(f"tenants.{n}.cores.count={n}" for n in range(3))
    runs = [replace(ddio, label=long), replace(sweeper, label="short")]
    phone = Opened(browser, write_report(runs, tmp_path / "phone.html"), width=390)
    chart = phone.page.locator("#chart-tail")
    edge = chart.bounding_box()
    assert edge is not None
    for text in (chart.locator(".legendtext").first, chart.locator(".xtitle")):
        assert text.locator("tspan").count() > 1
        box = text.bounding_box()
        assert box is not None
        assert box["x"] >= edge["x"]
        assert box["x"] + box["width"] <= edge["x"] + edge["width"]
    assert phone.faults == []


@pytest.mark.parametrize("width", [900, 1400])
def test_the_path_with_pcie_and_iommu_is_seen_whole(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    sets = {"machine.pcie.max_payload": "512 B"}  # of 92 credits, 88 are usable
    run = api.run("explain-iommu", sets | {"run.warmup": "20 us", "run.duration": "20 us"})
    opened = Opened(browser, run.report(tmp_path / "iommu.html"), width=width)
    assert opened.page.locator(".path .scroll").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    beyond = """gauges => gauges.flatMap(g => {
        const rim = g.querySelector('.rim').getBBox();
        const texts = [...g.querySelectorAll('text.title, text.load, text.detail')];
        return texts.map(t => t.getBBox()).filter(
            t => t.x + t.width > rim.x + rim.width || t.y + t.height > rim.y + rim.height);
    }).length"""
    gauges = opened.page.locator("g.gauge[data-stage]")
    expect(gauges).to_have_count(len(picture(run).gauges))
    told = opened.page.locator('#limits tr[data-domain="io-credits"] td.told')
    told.hover()
    expect(opened.page.locator("#tip")).to_contain_text("are usable: a PCIe write takes")
    assert gauges.evaluate_all(beyond) == 0
    # What marks the stage lies on none of its words.
    badge = opened.page.locator(".badge rect").bounding_box()
    assert badge is not None
    for text in opened.page.locator(".gauge.limits text.load, .gauge.limits text.detail").all():
        box = text.bounding_box()
        assert box is not None
        assert (
            box["x"] + box["width"] <= badge["x"]
            or box["y"] >= badge["y"] + badge["height"]
            or badge["y"] >= box["y"] + box["height"]
        )


def test_a_comparison_shows_both_paths_and_names_the_differences(two: Opened) -> None:
    expect(two.page.locator(".n2c-path")).to_have_count(2)
    expect(two.page.locator("#verdict")).to_contain_text(
        "the limit moves from the memory bus to the cores"
    )
    expect(two.page.locator("ul.changes")).to_contain_text(
        "Receive buffers evicted: 14.6 → 0.120 lines per request"
    )
    expect(two.page.locator(".path .verdict").nth(1)).to_contain_text("The cores limit this run")
    # What the colours mean is said once for the tables and once for the paths.
    expect(two.page.locator(".colour.low")).to_have_count(2)
    expect(two.page.locator("#limits .bars")).to_be_visible()
    assert two.faults == []


def test_a_sawtooth_the_filling_buffer_and_the_drops_can_be_seen(
    browser: Browser, closed_loop: Result, tmp_path: Path
) -> None:
    opened = Opened(browser, closed_loop.report(tmp_path / "loop.html"))
    chart = opened.page.locator("#chart-series")
    titles = chart.locator(".annotation-text").all_text_contents()
    assert titles == [
        "completed (dotted: offered), Mpps",
        "goodput of closed-loop senders, Gbit/s",
        "congestion window, mean of all connections (thin: single connections), packets",
        "host delay, mean (dotted: the control's target), µs (axis not from 0)",
        "NIC input buffer (dotted: its capacity), KiB (axis not from 0)",
        "dropped by the NIC, Mpps",
    ]
    # Below each title a panel of the whole width with its lines: offered is beside completed, and
    # two single windows beside the mean of all.
    lines = opened.drawn("#chart-series path.js-line")
    assert len(lines) == len(titles) + 3
    assert min(width for width, _ in lines) > 1000
    # Constant ones are flat; the teeth take most of the panel's height.
    for panel in ("y3", "y4", "y5"):
        drawn = opened.drawn(f"#chart-series .subplot.x{panel} path.js-line")
        assert len(drawn) == (3 if panel == "y3" else 1)
        assert max(height for _, height in drawn) > 45, panel
    assert len(opened.drawn("#chart-series .subplot.xy6 path.js-fill")) == 1

    def top(selector: str) -> float:
        box = chart.locator(selector).bounding_box()
        assert box is not None
        return box["y"] + box["height"] / 2

    # The capacity lies just above the fullest buffer, the target among the delays.
    target, capacity = (top(f"path[data-index='{n}']") for n in (0, 1))
    teeth = {y: chart.locator(f".subplot.x{y} path.js-line").bounding_box() for y in ("y4", "y5")}
    delay, fill = teeth["y4"], teeth["y5"]
    assert delay is not None
    assert fill is not None
    assert delay["y"] < target < delay["y"] + delay["height"]
    assert fill["y"] - 5 < capacity <= fill["y"] + 1
    assert opened.faults == []


def test_zoom_and_hover_are_of_all_panels(
    browser: Browser, closed_loop: Result, tmp_path: Path
) -> None:
    opened = Opened(browser, closed_loop.report(tmp_path / "loop.html"))
    page, chart = opened.page, opened.page.locator("#chart-series")
    chart.scroll_into_view_if_needed()
    first, third = (chart.locator(f".subplot.{p} .overplot").first for p in ("xy", "xy3"))
    panel = chart.locator(".draglayer .xy3 .nsewdrag").bounding_box()
    assert panel is not None
    middle = panel["y"] + panel["height"] / 2
    page.mouse.move(panel["x"] + panel["width"] / 2, middle)
    label = chart.locator(".hoverlayer .legend")
    expect(label).to_contain_text("8.025 ms")
    for name in ("completed", "offered", "goodput", "window", "host-delay", "nic-sram", "dropped"):
        expect(label).to_contain_text(f"{name}: ")
    before = first.inner_html(), third.inner_html()
    page.mouse.down()
    page.mouse.move(panel["x"] + panel["width"] * 0.75, middle, steps=5)
    page.mouse.up()
    expect(chart.locator(".xaxislayer-above .xtick text").first).not_to_have_text("6")
    assert first.inner_html() != before[0]
    assert third.inner_html() != before[1]
    span = chart.evaluate("e => e.layout.xaxis.range")
    # Half of the panel was 3 of 6 ms; a quarter was dragged over.
    assert span[1] - span[0] == pytest.approx(1.5, abs=0.05)
    assert opened.faults == []


def test_a_run_can_be_hidden_by_its_legend(two: Opened) -> None:
    lines = two.page.locator("#chart-dram .scatterlayer .trace")
    before = lines.count()
    two.page.locator("#chart-dram .legendtoggle").first.click()
    expect(two.page.locator("#chart-dram .legend .traces").first).to_have_css("opacity", "0.5")
    assert lines.count() < before


def test_names_from_the_user_cannot_inject(browser: Browser, ddio: Result, tmp_path: Path) -> None:
    value = ddio.to_json()
    evil = "</script><script>document.title='taken'</script><b id=evil>"
    value["label"] = evil
    value["scenario"]["machine"]["description"] = evil
    opened = Opened(browser, type(ddio).from_json(value).report(tmp_path / "evil.html"))
    expect(opened.page.locator("#evil")).to_have_count(0)
    assert opened.page.title() != "taken"
    assert opened.faults == []


def test_a_run_without_packets_has_a_report(
    browser: Browser, packetless: Result, tmp_path: Path
) -> None:
    opened = Opened(browser, packetless.report(tmp_path / "none.html"))
    expect(opened.page.locator("#chart-memory .main-svg").first).to_be_visible()
    # GB/s at once, as there are no requests, and no chart of a latency that there is not.
    assert opened.drawn("#chart-memory .trace.bars path")
    expect(opened.page.locator("#panel-latency, #panel-tail, .link.net")).to_have_count(0)
    assert opened.faults == []


def test_many_runs_begin_with_a_curve_and_are_folded(
    browser: Browser, ddio: Result, tmp_path: Path
) -> None:
    runs = [replace(ddio, label=f"{n} ways", settings={"io_ways": n}) for n in (2, 4, 6, 8)]
    write_report(runs, tmp_path / "report.html")
    opened = Opened(browser, tmp_path / "report.html")
    expect(opened.page.get_by_role("heading", name="Over io_ways")).to_be_visible()
    assert opened.drawn("#chart-curve .scatterlayer path.js-line")
    opened.page.locator("#panel-curve button", has_text="p99").click()
    expect(opened.page.locator("#chart-curve .ytitle")).to_have_text("p99 latency, µs")
    shown = opened.page.locator("#runs table, .path svg").filter(visible=True)
    colours = opened.page.locator(".colour").filter(visible=True)
    expect(shown).to_have_count(0)
    # How to read them is said once.
    expect(colours).to_have_text(["below 50 %", "below 80 %", "above"] * 2)
    # All are limited by the same, and so are one entry.
    entry = opened.page.locator("#runs > details")
    expect(entry).to_have_count(1)
    expect(entry.locator("> summary")).to_have_text("Limited by memory bus: 4 runs")
    entry.locator("> summary").click()
    opened.page.locator("#runs details details > summary").first.click()
    expect(opened.page.locator("#runs svg").filter(visible=True)).to_have_count(1)
    expect(opened.page.locator("#runs tr.limits").filter(visible=True)).to_have_count(1)
    assert opened.faults == []


def test_many_runs_are_rows_and_their_changes_are_folded(
    browser: Browser, ddio: Result, sweeper: Result, tmp_path: Path
) -> None:
    runs = [replace(ddio, label=f"{n} ways", settings={"io_ways": n}) for n in range(2, 7)]
    columns = Opened(browser, write_report(runs, tmp_path / "five.html"))
    expect(columns.page.locator("#side-by-side thead th")).to_have_count(6)
    last = replace(sweeper, label="12 ways", settings={"io_ways": 12})
    rows = Opened(browser, write_report([*runs, last], tmp_path / "six.html"))
    names = rows.page.locator("#side-by-side tbody th")
    expect(names).to_have_text([*(f"{n} ways" for n in range(2, 7)), "12 ways"])
    heads = rows.page.locator("#side-by-side thead th").all_inner_texts()
    cells = rows.page.locator("#side-by-side tbody tr").last.locator("th, td").all_inner_texts()
    numbers = dict(zip(heads, cells, strict=True))
    assert numbers["p99 latency µs"] == "6.67"
    assert "offered Mpps" not in numbers
    alike = rows.page.locator("#side-by-side .note", has_text="The same in all: offered 24.4 Mpps")
    expect(alike).to_be_visible()
    changes = rows.page.locator("#changes ul").filter(visible=True)
    expect(changes).to_have_count(0)
    rows.page.locator("#changes summary", has_text="5 comparisons of two runs").click()
    rows.page.locator("#changes summary", has_text="12 ways").click()
    expect(changes).to_contain_text("Receive buffers evicted: 14.6 → 0.120 lines per request")
    # The last column is out of sight: the edge fades, until one has scrolled there.
    table = rows.page.locator("#side-by-side .scroll")
    rows.page.set_viewport_size({"width": 900, "height": 900})
    expect(table).to_have_class("scroll more")
    table.evaluate("e => e.scrollLeft = e.scrollWidth")
    expect(table).to_have_class("scroll")
    # No head is squeezed to a word a line.
    numbered = rows.page.locator("#side-by-side thead th.num")
    assert min(numbered.evaluate_all("all => all.map(e => e.clientWidth)")) >= 72
    assert rows.faults == []


def test_runs_over_two_keys_are_a_grid(browser: Browser, ddio: Result, tmp_path: Path) -> None:
    runs = [
        replace(ddio, label=f"{policy} {seed}", settings={"policy": policy, "seed": seed})
        for policy in ("dma", "ddio")
        for seed in (1, 2)
    ]
    opened = Opened(browser, write_report(runs, tmp_path / "grid.html"))
    expect(opened.page.get_by_role("heading", name="policy by seed")).to_be_visible()
    cells = opened.page.locator("#chart-grid .heatmap-label")
    expect(cells).to_have_text(["20.9"] * 4)
    opened.page.locator("#panel-grid button", has_text="share of packets dropped").click()
    expect(cells).to_have_text(["0.139"] * 4)
    assert opened.faults == []
    # Of one key there are curves and tables, and a cell holds one run.
    for others in (runs[:2], [*runs, runs[0]]):
        assert 'id="panel-grid"' not in report_html(others)


def test_runs_of_one_label_are_numbered(browser: Browser, ddio: Result, tmp_path: Path) -> None:
    opened = Opened(browser, write_report([ddio, ddio], tmp_path / "same.html"))
    assert f"{ddio.label} (1) against {ddio.label} (2)" in opened.page.title()


def test_runs_are_told_apart_by_the_keys_that_differ(
    browser: Browser, ddio: Result, tmp_path: Path
) -> None:
    queues = ddio.scenario["queues"]
    numbers = [key for key, value in queues.items() if type(value) is int]
    rings, many = {"rx_descriptors": 512}, {key: queues[key] + 1 for key in numbers}
    many |= {"pool": "another", "start": "another"}
    shown = {}
    for name, changed in (("none", {}), ("rings", rings), ("many", many)):
        other = replace(ddio, scenario=ddio.scenario | {"queues": queues | changed})
        opened = Opened(browser, write_report([ddio, other], tmp_path / f"{name}.html"))
        rows = opened.page.locator("tbody.keys tr").all()
        shown[name] = [row.locator("th, td").all_text_contents() for row in rows]
        assert opened.faults == []
    assert shown["none"] == []
    assert shown["rings"] == [["queues.rx_descriptors", str(queues["rx_descriptors"]), "512"]]
    # A key is broken between its parts, not within them.
    key = opened.page.locator("tbody.keys th").first
    expect(key).to_have_css("overflow-wrap", "normal")
    assert re.fullmatch(r"queues\.<wbr>\w+", key.inner_html())
    assert len(shown["many"]) == 9
    assert shown["many"][-1] == [f"… and {len(many) - 8} more"]


def test_a_run_shorter_than_a_sample_has_no_panel_over_time(ddio: Result) -> None:
    columns = [c.model_copy(update={"values": []}) for c in ddio.data.series.columns]
    series = ddio.data.series.model_copy(update={"columns": columns})
    short = replace(ddio, data=ddio.data.model_copy(update={"series": series}))
    assert "Over time" in report_html([ddio])
    assert "Over time" not in report_html([short])


def test_a_single_core_is_told_apart_from_no_other(ddio: Result) -> None:
    alone = replace(ddio, data=ddio.data.model_copy(update={"queues": ddio.data.queues[:1]}))
    assert 'id="panel-queues"' in report_html([ddio])
    assert 'id="panel-queues"' not in report_html([alone])


def test_what_never_happens_has_no_panel(ddio: Result) -> None:
    """A benchmark whose data stays in its cache, for example."""
    columns = [
        c.model_copy(update={"values": [0.0] * len(c.values)}) for c in ddio.data.series.columns
    ]
    none = {"bandwidth_gbytes_per_s": 0.0, "causes": []}
    still = {
        "series": ddio.data.series.model_copy(update={"columns": columns}),
        "memory": ddio.data.memory.model_copy(update=none),
    }
    html = report_html([replace(ddio, data=ddio.data.model_copy(update=still))])
    assert 'id="panel-latency"' in html
    assert 'id="panel-series"' not in html
    assert 'id="panel-memory"' not in html


def test_runs_of_several_machines_are_not_headed_by_the_first(ddio: Result) -> None:
    machine = ddio.scenario["machine"]
    other = ddio.scenario | {"machine": machine | {"description": "another server"}}
    for scenario, headed in ((ddio.scenario, True), (other, False)):
        head = report_html([ddio, replace(ddio, scenario=scenario)]).split("<main>")[0]
        assert (machine["description"] in head) == headed


def test_the_head_names_the_scenarios_that_came_from_files(ddio: Result) -> None:
    def head(*names: str) -> str:
        runs = [replace(ddio, label=f"run {n}", scenario_name=s) for n, s in enumerate(names)]
        page = report_html(runs)
        (found,) = re.findall("<h1>(.*)</h1>", page)
        assert f"<title>{found} ·" in page
        return str(found)

    assert head("demo") == "demo: run 0"
    assert head("") == "run 0"
    assert head("demo", "demo") == "demo: run 0 against run 1"
    assert head("demo", "", "mine") == "demo, mine: run 0 against run 1 against run 2"
    assert head(*["demo"] * 4) == "demo: 4 runs compared"


def test_labels_that_are_taken_are_not_given_again(ddio: Result) -> None:
    runs = [replace(ddio, label=label) for label in ("a", "a", "a (1)")]
    assert [r.label for r in told_apart(runs)] == ["a (2)", "a (3)", "a (1)"]


def test_the_foot_names_the_seed_of_every_run_and_what_was_measured(ddio: Result) -> None:
    other = replace(ddio, data=ddio.data.model_copy(update={"seed": 7}))
    assert f"· seed {ddio.data.seed} ·" in report_html([ddio])
    page = report_html([ddio, other])
    assert f"· seeds {ddio.data.seed}, 7 ·" in page
    assert f"{2 * ddio.data.line_accesses:,} cache-line accesses simulated" in page
    assert f"{2 * ddio.data.packets.completed:,} packets completed ·" in page


def test_a_report_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least one result"):
        write_report([], tmp_path / "none.html")


def test_warnings_of_many_runs_are_folded(ddio: Result) -> None:
    told = [(3, "0.0.8"), (4, "0.0.9"), (4, "0.0.9")]
    data = [
        ddio.data.model_copy(update={"reads_after_sweep": reads, "engine_version": version})
        for reads, version in told
    ]
    runs = [replace(ddio, data=of, label=str(n)) for n, of in enumerate(data)]
    page = report_html(runs)
    # What two of them share is told once.
    assert len(doubts(runs[0])) == 2
    assert "4 warnings in 3 of 3 runs" in page
    assert page.count("Warning: an application has a bug") == 2
    assert "1; 2: Warning: an application has a bug" in page
    assert not re.search(r"warnings in \d+ of", report_html(runs[:1]))
