"""The page without a browser: what is on it, what can never be on it, how large it is."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.arch import CATEGORIES, FACETS
from sassmix.check import check
from sassmix.code import STATIC, Code
from sassmix.errors import Problem, SassmixError
from sassmix.evidence import Evidence
from sassmix.intake import Intake
from sassmix.launches import executed, gather
from sassmix.listing import Columns, Function
from sassmix.parsing import parse
from sassmix.render import printable, render, render_rows
from sassmix.render.check import render_check
from sassmix.render.html import ASSETS, PAGE
from sassmix.render.html_code import shown
from sassmix.render.html_mix import ALWAYS, PALETTE, category_class
from sassmix.report import InputReport, KernelReport, Report
from sassmix.tally import Row, Tally
from sassmix.tensor import TensorVerdict
from tests.conftest import FIXTURES, Command
from tests.test_agreement import TWO_SECTIONS, counted

NCU = FIXTURES / "counts" / "ncu"
INPUTS = {
    "static": [FIXTURES / "listings" / "wgmma.sm_90a.sass"],
    "dynamic": [NCU / "vecadd.source.csv", NCU / "vecadd.cubin"],
    "unresolved": [*(FIXTURES / "counts" / "nvbit").glob("instr_count.txt")],
}
HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "</script><script>window.hacked = 1</script>",
    "</style></title></textarea><!-- <svg onload=alert(1)>",
    "' onmouseover='window.hacked = 1' {{ 7 * 7 }} {% raw %} &lt;b&gt; \u202eabc\x1b[31m\x00 \ud800",
)


class Page(HTMLParser):
    """A page taken apart: tags, attributes, text, and the contents of scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.comments: list[str] = []
        self.inside = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in self.raw:
            self.raw[self.inside].append(data)
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        """Everything that a reader sees."""
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [value for _, attribute, value in self.attributes if attribute == name]


def report_of(kind: str) -> Report:
    return sassmix.mix(list(INPUTS[kind]), code=True)


def hostile(text: str) -> Report:
    """A report in which everything that an input can say is one text."""
    columns = Columns(["0000"], [""], [text], [f" {text}"])
    function = Function(
        name=text, arch=None, role="kernel", section=None, columns=columns, start=0, stop=1, labels={text: 0}
    )
    kernel = KernelReport(
        name=text,
        demangled=f"{text}()",
        arch=None,
        role=text,
        calls=[text],
        listing={"function": text, "how": "exact", "candidates": [text]},
        basis="dynamic",
        unit=text,
        launches=1,
        warps=None,
        tally=Tally([Row(text, 3, None)]),
        tensor=TensorVerdict(None, None, text),
        evidence=[Evidence("captured", "fail", text)],
        code=Code(functions=(function,), infos={}, executed={0: 3}),
    )
    source = InputReport(path=text, kind="cubin", arch=text, tool=text, toolkit=text, sha256=text, functions=[])
    return Report(
        inputs=[source],
        kernels=[kernel],
        problems=[Problem("error", text, text, 1)],
        plugins={text: text},
        version=text,
    )


@pytest.fixture(scope="module", params=INPUTS)
def made(request: pytest.FixtureRequest) -> tuple[Report, Page]:
    """A report of each kind, and its page."""
    report = report_of(request.param)
    assert report.kernels
    return report, Page(report.to_html())


def squeezed(text: str) -> str:
    return " ".join(printable(text).split())


def test_everything_that_a_report_says_is_on_its_page(made: tuple[Report, Page]) -> None:
    report, page = made
    for kernel in report.kernels:
        told = [kernel.demangled or kernel.name, kernel.name, kernel.tensor.reason, kernel.arch or "unknown"]
        told += [item.detail for item in kernel.evidence] + kernel.agreement.differences
        told += [hint.question for hint in kernel.hints]
        told += [f"{row['opcode']} {row['count']:,}" for row in kernel.tally.opcodes()]
        for by in ("category", "intent", "pipe", "group"):
            told += [f"{row[by]} {row['count']:,} {row['share']:.1%}" for row in kernel.tally.mix(by)]
        assert not [text for text in told if squeezed(text) not in page.text]
    for item in report.inputs:
        assert item.sha256 in page.text and item.kind in page.text and squeezed(item.path) in page.text
    assert all(squeezed(problem.message) in page.text for problem in report.problems)
    assert all(f"{name} {version}" in page.text for name, version in report.plugins.items())
    assert report.version in page.text


def test_what_is_not_known_has_its_row_in_every_mix(made: tuple[Report, Page]) -> None:
    report, page = made
    for name in ALWAYS:
        rows = re.findall(rf"\b{name} ([\d,]+) [\d.]+%", page.text)
        counts = [f"{kernel.tally.counts()[name]:,}" for kernel in report.kernels]
        assert Counter(rows) >= Counter(counts * 4)


def test_no_page_names_what_limits_a_kernel(made: tuple[Report, Page]) -> None:
    assert not re.search(r"bottleneck|bound", made[1].text, re.IGNORECASE)


@pytest.mark.parametrize("by", [*FACETS, "opcode"])
def test_the_facet_of_the_report_comes_first(by: str) -> None:
    page = Page(render(sassmix.mix(INPUTS["static"], by=by), "html"))
    switches = [value for tag, name, value in page.attributes if tag == "input" and name == "value"]
    assert switches[0] == by and set(switches) == {by, "category", "intent", "pipe", "group"}
    assert set(page.values("data-by")) == set(switches)


def is_closed(page: Page, scripts: int) -> None:
    """Nothing on the page loads, runs or links anything but its own two scripts."""
    assert page.tags["script"] == scripts and page.tags["style"] == 1
    assert not {"img", "iframe", "link", "object", "embed", "form", "base", "svg", "textarea"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in {"src", "style", "srcdoc"}]
    assert all(re.fullmatch(r"#\w+", value) for value in page.values("href"))
    assert not page.comments
    policy = next(value for value in page.values("content") if "default-src" in value)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for kind, contents in page.raw.items():
        allowed = re.search(rf"{kind}-src ([^;]+);", policy)
        hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in contents}
        assert allowed and set(re.findall(r"'sha256-([^']+)'", allowed[1])) == hashes


def test_a_page_loads_nothing(made: tuple[Report, Page]) -> None:
    is_closed(made[1], scripts=2)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_an_input_says_stays_text(text: str) -> None:
    harmless = Page(hostile("x").to_html())
    page = Page(hostile(text).to_html())
    is_closed(page, scripts=2)
    assert page.tags == harmless.tags
    assert page.text.count(squeezed(text)) == len(re.findall(r"(?<![\w-])x(?![\w-])", harmless.text))


@given(st.text(alphabet=st.characters(codec=None), min_size=1, max_size=40))
def test_any_text_stays_text(text: str) -> None:
    for source, count in ((hostile(text).to_html(), 2), (hostile(text)._repr_html_(), 0)):
        page = Page(source)
        assert squeezed(text) in page.text
        assert page.tags["script"] == count
        assert page.text.isprintable()
        source.encode()


def test_the_style_sheet_has_every_class() -> None:
    sheet = (ASSETS / "page.css").read_text(encoding="utf-8")
    wanted = [category_class(name) for name in (*CATEGORIES, *ALWAYS, "none")]
    wanted += [f"p{n}" for n in range(PALETTE)]
    assert not [name for name in wanted if f".{name} {{ --c: " not in sheet]
    assert not [n for n in range(1, 10) if f".h{n} {{ background: " not in sheet]
    assert not [by for by in (*FACETS, "opcode") if f':has(#by-{by}:checked) [data-by="{by}"]' not in sheet]
    assert {"c-unresolved"} < {name for name in wanted if name.startswith("c-")}


def test_the_library_of_charts_is_the_file_that_its_licence_names() -> None:
    library = ASSETS / "chart.umd.min.js"
    licence = (ASSETS / "chart.LICENSE.md").read_text(encoding="utf-8")
    assert hashlib.sha256(library.read_bytes()).hexdigest() in licence
    version = re.search(r"Chart\.js v([\d.]+)", library.read_text(encoding="utf-8"))
    assert version and f"version {version[1]}" in licence and "MIT" in licence


@pytest.mark.parametrize("path", [*sorted(ASSETS.glob("*.js")), ASSETS / "page.css"], ids=lambda path: path.name)
def test_no_file_of_the_page_ends_its_own_element(path: Path) -> None:
    assert not re.search(r"</|<!--", path.read_text(encoding="utf-8"))


def test_executed_counts_stand_beside_their_instructions() -> None:
    report = report_of("dynamic")
    for kernel in report.kernels:
        assert kernel.code
        lines = list(kernel.code.lines())
        assert sum(line.count or 0 for line in lines) == kernel.tally.total
        by_category: Counter[str] = Counter()
        for line in lines:
            by_category[line.category] += line.count or 0
        assert +by_category == {row["category"]: row["count"] for row in kernel.tally.mix()}
        assert all(line.count == 0 for line in lines if line.padding)


def test_counts_that_do_not_fit_stand_beside_nothing(tmp_path: Path) -> None:
    """What the profiler calls LDS is LDC in the code."""
    lines = (NCU / "vecadd.source.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    wrong = tmp_path / "vecadd.source.csv"
    wrong.write_text("".join(line.replace("LDC", "LDS") for line in lines), encoding="utf-8")
    report = sassmix.mix([wrong, NCU / "vecadd.cubin"], code=True)
    page = Page(report.to_html())
    for kernel in report.kernels:
        code = kernel.code
        assert kernel.confidence == "low" and code and code.executed is None and code.why != STATIC
        assert f"No executed counts stand beside the instructions: {code.why}." in page.text


@pytest.mark.parametrize("root_only", [False, True])
@pytest.mark.parametrize("called", [TWO_SECTIONS, TWO_SECTIONS.partition("\t.section\t.text.f")[0]])
def test_counts_of_uncertain_place_stand_beside_nothing(called: str, root_only: bool) -> None:
    """A called function numbers its three instructions from 0 too; without its code, its size is not known."""
    numbers = {0: 4, 1: 4, 2: 4, 3: 5}
    [[launches]] = gather([counted(numbers, root_only=root_only)], parse(called).functions, None)
    placed, why = executed(launches, "issued")
    certain = numbers if root_only else {3: 5} if called == TWO_SECTIONS else None
    assert placed == certain and bool(why) == (certain is None)
    assert (placed or Counter()).total() == launches.counted("issued")[0].total()


def test_instructions_of_the_chosen_kernel_are_kept_however_late_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [function.name for function in sassmix.read(INPUTS["static"][0])]
    monkeypatch.setattr("sassmix.analysis.Intake", partial(Intake, room=10))
    inputs = [FIXTURES / "listings" / "saxpy.sm_90a.sass", INPUTS["static"][0]]
    kept = [kernel.name for kernel in sassmix.mix(inputs, code=True).kernels if kernel.code]
    assert kept and not set(kept) & set(names)
    (chosen,) = sassmix.mix(inputs, code=True, kernels=[names[-1]]).kernels
    assert chosen.code and len(chosen.code)


@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_instructions_are_kept_only_where_they_are_asked_for(kind: str) -> None:
    report = sassmix.mix(list(INPUTS[kind]))
    assert all(kernel.code is None for kernel in report.kernels)
    assert "The instructions were not kept" in Page(report.to_html()).text
    assert {**report.to_dict(), "generator": 0} == {**report_of(kind).to_dict(), "generator": 0}


def large(kernels: int, instructions: int) -> Report:
    """A report of many kernels, each a copy of one and as long as is asked for."""
    (base,) = sassmix.mix(INPUTS["static"], kernels=["hgmma_pipelined"], code=True).kernels
    assert base.code
    (one,) = base.code.functions
    parts = (getattr(one.columns, name)[one.start : one.stop] for name in ("offsets", "guards", "mnemonics", "tails"))
    columns = Columns(*(part * (instructions // len(one) + 1) for part in parts))
    function = Function(
        name=one.name, arch=one.arch, role="kernel", section=None, columns=columns, start=0, stop=instructions
    )
    base.code = Code(functions=(function,), infos=base.code.infos)
    return Report(inputs=[], kernels=[base] * kernels, problems=[])


@pytest.mark.parametrize(("kernels", "instructions"), [(1, 40_000), (100, 2_000), (400, 100)])
def test_a_page_is_bounded_and_says_what_it_leaves_out(kernels: int, instructions: int) -> None:
    source = large(kernels, instructions).to_html()
    page = Page(source)
    assert PAGE * 0.7 < len(source.encode()) < 2_000_000
    left_out = [
        int(number.replace(",", "")) for number in re.findall(r"([\d,]+) of [\d,]+ instructions are", page.text)
    ]
    tables = re.findall(r"The tables of ([\d,]+) kernels", page.text)
    whole = kernels - int(tables[0]) if tables else kernels
    assert page.tags["details"] == whole and (kernels < 400) == (whole == kernels)
    rows = len(re.findall(r'<tr class="c-[\w-]+[^"]*"><td>', source))
    assert sum(left_out) + rows == whole * instructions and left_out


@given(st.lists(st.integers(0, 30), max_size=6), st.integers(0, 5_000))
def test_listings_that_are_shown_fit_and_short_ones_are_whole_first(lengths: list[int], room: int) -> None:
    columns = Columns(["0000"] * 30, [""] * 30, ["NOP"] * 30, [""] * 30)
    codes = {
        number: Code(
            functions=(
                Function(name="f", arch=None, role="kernel", section=None, columns=columns, start=0, stop=length),
            ),
            infos={},
        )
        for number, length in enumerate(lengths)
    }
    found = shown(codes, room)
    assert set(found) == set(codes)
    assert all(len(listing.lines) + listing.left_out == len(codes[number]) for number, listing in found.items())
    cut = [len(codes[number]) for number, listing in found.items() if listing.left_out]
    assert all(len(codes[number]) <= min(cut) for number, listing in found.items() if cut and not listing.left_out)
    assert len([listing for listing in found.values() if listing.left_out and listing.lines]) <= 1


def test_every_command_with_formats_has_a_page(command: Command, tmp_path: Path) -> None:
    sass = INPUTS["static"][0]
    other = FIXTURES / "listings" / "saxpy.sm_90a.sass"
    for arguments in (["check", sass], ["diff", sass, other], ["explain", "HGMMA"], ["archs"], ["plugins"]):
        run = command(*arguments, "--format", "html")
        assert run.status in (0, 1) and not run.err
        is_closed(Page(run.out), scripts=1)
    out = tmp_path / "report.html"
    assert command("mix", sass, "--format", "html", "-o", out).status == 0
    is_closed(Page(out.read_text(encoding="utf-8")), scripts=2)


def test_a_page_of_check_has_every_answer_and_the_verdict() -> None:
    found = check(report_of("dynamic"))
    page = Page(render_check(found, "html"))
    assert all(squeezed(item["detail"]) in page.text for kernel in found["kernels"] for item in kernel["evidence"])
    assert f"Evidence {found['verdict']}" in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_tables_of_anything_stay_text(text: str) -> None:
    page = Page(render_rows([{"status": text, text: text, "number": 3}], "html", title=text))
    assert squeezed(text) in page.text
    is_closed(page, scripts=1)


def test_what_a_notebook_shows_is_a_fragment(made: tuple[Report, Page]) -> None:
    report, _ = made
    page = Page(report._repr_html_())
    assert not {"script", "style", "html", "body", "img"} & set(page.tags) and not page.attributes
    for kernel in report.kernels[:50]:
        assert squeezed(kernel.demangled or kernel.name) in page.text and squeezed(kernel.tensor.reason) in page.text
    assert f"sassmix: {len(report.kernels)} kernel" in page.text


@pytest.mark.parametrize("by", [None, "group", "opcode"])
def test_bars_of_a_plot_are_the_mix(by: str | None) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    report = report_of("static")
    axes = report.plot(by=by, figsize=(3, 2))
    widths: Counter[str] = Counter()
    for bars in axes.containers:
        for bar in bars:
            widths[bars.get_label()] += bar.get_width()
    wanted = report.to_frame(by=by).groupby(by or "category")["share"].sum()
    assert widths == pytest.approx(wanted.to_dict())
    assert [label.get_text() for label in axes.get_yticklabels()] == [kernel.name for kernel in report.kernels]
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


def test_a_plot_without_matplotlib_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas.plotting._core as core

    monkeypatch.setattr(core, "_backends", {})
    for name in [name for name in sys.modules if name.startswith("pandas.plotting._matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SassmixError, match=r"pip install 'sassmix\[plot\]'"):
        report_of("static").plot()


def test_nothing_to_plot_is_said() -> None:
    with pytest.raises(SassmixError, match="nothing to plot"):
        Report(inputs=[], kernels=[], problems=[]).plot()


@pytest.mark.parametrize("doubtful", [0, 30, 59])
def test_where_not_all_fits_what_does_not_pass_does(monkeypatch: pytest.MonkeyPatch, doubtful: int) -> None:
    """On a page it has its tables in its own place, in a notebook it comes first."""
    (base,) = sassmix.mix(INPUTS["static"], kernels=["hgmma_pipelined"]).kernels
    kernels = [replace(base, name=f"kernel{number}", demangled=None) for number in range(60)]
    kernels[doubtful].evidence = [Evidence("complete", "fail", "it is cut")]
    report = Report(inputs=[], kernels=kernels, problems=[])
    monkeypatch.setattr("sassmix.render.html.PAGE", len(report.to_html()) - 500_000)
    source = report.to_html()
    whole = re.findall(r"<summary><h3>(\w+)</h3>", source)
    overview = re.findall(r'<th scope="row" class="name">(?:<a [^>]*>)?(\w+)', source)
    assert f"kernel{doubtful}" in whole and len(whole) < 60 and overview == [kernel.name for kernel in kernels]
    shown = re.findall(r"<tr><td>(\w+)</td>", report._repr_html_())
    assert shown == list(dict.fromkeys([f"kernel{doubtful}", *overview]))[:50]
