"""Reports as one HTML file that opens from a disk and loads nothing.

Templates write the tables and escape everything in them. The script only sorts and searches the tables, and draws the
charts from them: without scripts, and on paper, the page lacks nothing but the charts.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sassmix.check import QUESTIONS
from sassmix.errors import number_of
from sassmix.evidence import verdict
from sassmix.render import LEVELS, printable, three, worst_first
from sassmix.render.html_code import Shown, shown
from sassmix.render.html_mix import Colours, category_class, mix_rows
from sassmix.report import KernelReport, Report

ASSETS = Path(__file__).parent / "assets"
#: Bytes of a page with up to some hundred kernels; the overview is always whole, so thousands make it larger.
PAGE = 1_950_000
#: The part of them that the kernels' tables may take; listings take what is left.
_TABLES = 0.75
#: Facets that can be switched between, besides the report's own.
_FACETS = ("category", "intent", "pipe", "group")
#: Kernels that are unfolded from the start.
_OPEN = 3
#: Kernels whose mixes stand in one chart.
_BARS = 40
#: Kernels of a notebook's table, and classes of each.
_MOST_ROWS = 50
_MOST_CLASSES = 3


@dataclass(slots=True)
class Section:
    """A kernel of the page with its number from 1, its tables and its listing; None where there was no room."""

    number: int
    kernel: KernelReport
    body: Markup | None
    code: Shown | None = None


def report_html(report: Report) -> str:
    """The whole page of a report: overview, kernels, provenance, problems."""
    facets = list(dict.fromkeys((report.by, *_FACETS)))
    frame = {"report": report, "facets": facets, **_assets()}
    room = PAGE - len(_template("report.html").render(frame, sections=_folded(report.kernels)))
    share = _TABLES if any(kernel.code for kernel in report.kernels) else 1
    sections = _sections(report.kernels, facets, Colours(report.kernels, facets), int(room * share))
    room -= sum(len(section.body or "") for section in sections)
    codes = {s.number: s.kernel.code for s in sections if s.body is not None and s.kernel.code}
    for number, code in shown(codes, room).items():
        sections[number - 1].code = code
    return _template("report.html").render(frame, sections=sections)


def _folded(kernels: Iterable[KernelReport]) -> list[Section]:
    return [Section(number, kernel, None) for number, kernel in enumerate(kernels, 1)]


def _sections(kernels: Iterable[KernelReport], facets: list[str], colours: Colours, room: int) -> list[Section]:
    """The kernels in the order of the report, with their tables as long as there is room: the worst have it first."""
    template, sections = _template("kernel.html"), _folded(kernels)
    for section in worst_first(sections, 0, lambda section: section.kernel.confidence):
        if room > 0:
            section.body = Markup(template.render(section=section, facets=facets, colours=colours))  # noqa: S704
            room -= len(section.body)
    return sections


def fragment_html(report: Report) -> str:
    """A table of the kernels for a notebook: no script, no style sheet, no document around it."""
    kernels = worst_first(report.kernels, _MOST_ROWS, lambda kernel: kernel.confidence)
    return _template("fragment.html").render(report=report, kernels=kernels, most=_MOST_ROWS, classes=_MOST_CLASSES)


def tables_html(title: str, tables: Iterable[tuple[str, list[dict[str, Any]]]], verdict: str = "") -> str:
    """A page of plain tables, each with its heading and rows of one shape."""
    return _template("tables.html").render(title=title, tables=list(tables), verdict=verdict, **_assets(charts=False))


def _assets(*, charts: bool = True) -> dict[str, Any]:
    """Style sheet and scripts, which stand in the page as they are, and the policy that allows nothing else."""
    style = _asset("page.css")
    scripts = [_asset("chart.umd.min.js")] if charts else []
    scripts.append(_asset("page.js"))
    sources = f"style-src {_hashed(style)}; script-src {' '.join(map(_hashed, scripts))}"
    policy = f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
    return {"style": style, "scripts": scripts, "policy": policy}


@cache
def _asset(name: str) -> Markup:
    """A file of ours; the address of a map for debuggers is left out, since nothing is to be loaded."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    return Markup(re.sub(r"\n//# sourceMappingURL=.*", "", text))  # noqa: S704


def _hashed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _template(name: str) -> Template:
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": "{:,}".format, "percent": "{:.1%}".format, "three": three}
    environment.globals |= {"questions": QUESTIONS, "worst": _worst, "open": _OPEN, "bars": _BARS, "order": LEVELS}
    environment.tests["numeral"] = str.isdecimal
    environment.globals |= {"mix_rows": mix_rows, "category_class": category_class, "number_of": number_of}
    return environment


def _visible(value: Any) -> Any:
    """What would steer the browser's text (control characters, directions, halves of letters) as visible escapes."""
    return value if isinstance(value, Markup) or str(value).isprintable() else printable(str(value))


def _worst(kernel: KernelReport) -> str:
    """The worst check in words."""
    worst = verdict(item.status for item in kernel.evidence)
    checks = [item.check for item in kernel.evidence if item.status == worst]
    return worst if worst == "pass" else f"{worst}: {', '.join(checks)}"
