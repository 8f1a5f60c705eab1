"""Reports for a terminal, drawn with rich; the same without colour where no terminal reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sassmix.errors import number_of
from sassmix.evidence import verdict
from sassmix.registry import target_key
from sassmix.render import encodable, printable
from sassmix.render.overview import overview
from sassmix.render.terminal import PLAIN_WIDTH, STYLE, Rows, drawn, flat, indented, shortened, table, three
from sassmix.report import KernelReport, Report

_BAR = 24
#: Below so many columns a bar says nothing.
_LEAST_BAR = 6
#: Lines that a name may have above its mix.
_NAME_LINES = 4
_NARROW = 60
#: Hints that are shown of one kernel; JSON and markdown have all.
_HINTS = 4
#: Kernels of which a terminal shows more than a row; nobody reads thousands, and drawing them takes minutes.
_DETAILED = 200
_BLOCK = "█"
_ORDER = ("low", "medium", "high")
_ALWAYS = ("unresolved", "unclassified")


def report_text(report: Report, width: int | None, encoding: str) -> str:
    """Every kernel with its mix, verdict, evidence and hints; inputs first, problems last."""
    block = _BLOCK if encodable(_BLOCK, encoding) == _BLOCK else "#"
    return drawn(_report(report, block, width or PLAIN_WIDTH), width)


def _report(report: Report, block: str, width: int) -> Iterator[RenderableType]:
    for item in report.inputs:
        arch = ", ".join(sorted(filter(None, item.archs), key=target_key)) or item.arch or "no architecture named"
        tool = f", {item.tool}" if item.tool else ""
        functions = f", {number_of(len(item.functions), 'function')}" if item.functions else ""
        yield Text(printable(f"{item.path}: {item.kind}, {arch}{tool}{functions}"), style="dim", overflow="fold")
    if len(report.kernels) > 1:
        yield Text("")
        yield from overview(report.kernels, width)
    for kernel in report.kernels[:_DETAILED]:
        yield Text("")
        yield from _kernel(kernel, report.by, block, width)
    if more := report.kernels[_DETAILED:]:
        yield from _left_out(len(more), "the table above has their totals")
    if report.problems:
        yield Text("\nProblems", style="bold")
        for problem in report.problems:
            yield indented(str(problem), 2)


def _left_out(more: int, where: str) -> Iterator[RenderableType]:
    yield Text("")
    yield indented(f"{number_of(more, 'more kernel')}: {where}; --kernel NAME or another --format shows all of them", 0)


def _kernel(kernel: KernelReport, by: str, block: str, width: int) -> Iterator[RenderableType]:
    name = printable(kernel.demangled or kernel.name)
    yield Text(shortened(name, _NAME_LINES * width), style="bold", overflow="fold")
    counts = kernel.tally.counts()
    role = f"{kernel.role}, " if kernel.role else ""
    line = Text(f"{role}{kernel.arch or 'architecture unknown'}, {kernel.basis}: {counts['total']:,} {kernel.unit}")
    line.append(", ").append(f"confidence {kernel.confidence}", style=STYLE[kernel.confidence])
    yield Padding(line, (0, 0, 0, 2))
    if kernel.basis == "dynamic":
        yield indented(_origin(kernel), 2)
    yield _mix(kernel, by, block, width)
    yield indented(f"tensor cores  present: {three(kernel.tensor.present)}, active: {three(kernel.tensor.active)}", 2)
    yield indented(kernel.tensor.reason, 16 if width >= _NARROW else 4)
    yield _evidence(kernel)
    yield from _hints(kernel)


def _origin(kernel: KernelReport) -> str:
    """Where executed counts come from: how many launches and warps, and how the function was found."""
    launches = "launches unknown" if kernel.launches is None else number_of(kernel.launches, "launch")
    warps = "warps unknown" if kernel.warps is None else f"at most {number_of(kernel.warps, 'warp')} in one"
    return f"{launches}, {warps}, function matched: {kernel.listing['how']}"


def _mix(kernel: KernelReport, by: str, block: str, width: int) -> Table:
    rows: list[dict[str, Any]] = kernel.tally.mix(by)
    shown = {row[by] for row in rows}
    rows += [{by: name, "count": 0, "share": 0.0} for name in _ALWAYS if name not in shown]
    drawing = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    drawing.add_column(f" {by}", overflow="fold")
    for column in ("count", "share"):
        drawing.add_column(column, justify="right", no_wrap=True)
    drawing.add_column("", no_wrap=True)
    bar = _bar_width(rows, by, width)
    for row in rows:
        style = "red" if row[by] in _ALWAYS and row["count"] else ""
        name = Text(f" {printable(str(row[by]))}", style=style)
        drawing.add_row(name, f"{row['count']:,}", f"{row['share']:.1%}", Text(block * round(row["share"] * bar)))
    return drawing


def _bar_width(rows: Rows, by: str, width: int) -> int:
    """What names, counts and shares leave, with the space around them."""
    names = max(len(str(row[by])) for row in rows)
    counts = max(len("count"), *(len(f"{row['count']:,}") for row in rows))
    room = min(_BAR, width - names - counts - len("100.0%") - 9)
    return room if room >= _LEAST_BAR else 0


def _evidence(kernel: KernelReport) -> RenderableType:
    worst = verdict(item.status for item in kernel.evidence)
    drawing = Table(box=None, padding=(0, 1), show_header=False)
    for _ in ("status", "check"):
        drawing.add_column("", no_wrap=True)
    drawing.add_column("", overflow="fold")
    for item in kernel.evidence:
        if item.status != "pass" or worst == "pass":
            drawing.add_row(Text(f" {item.status}", style=STYLE[item.status]), item.check, Text(printable(item.detail)))
    return drawing


def _hints(kernel: KernelReport) -> Iterator[RenderableType]:
    """Questions that the counts raise and do not answer."""
    found = kernel.hints[:_HINTS]
    drawing = Table(box=None, padding=(0, 1), show_header=False)
    drawing.add_column("", style="cyan")
    drawing.add_column("", overflow="fold")
    for hint in found:
        drawing.add_row(" ?", Text(f"{hint.because}: {hint.question}"))
        drawing.add_row("", Text(f"look at: {hint.where} {hint.look_at}", style="dim"))
    if found:
        yield drawing


def check_text(blocks: Iterable[tuple[dict[str, Any], Rows, Rows]], width: int | None) -> str:
    """Kernels of a check, each with its answers, its sources side by side, and what differs."""
    return drawn(_checks(list(blocks)), width)


def _checks(blocks: list[tuple[dict[str, Any], Rows, Rows]]) -> Iterator[RenderableType]:
    """Of very many kernels those that do not pass come first."""
    if len(blocks) > _DETAILED:
        blocks = sorted(blocks, key=lambda block: _ORDER.index(block[0]["confidence"]))
    for block in blocks[:_DETAILED]:
        yield from _checked(*block)
    if more := blocks[_DETAILED:]:
        levels = [f"{n:,} {level}" for level in _ORDER if (n := sum(b[0]["confidence"] == level for b in more))]
        yield from _left_out(len(more), f"confidence {', '.join(levels)}")
        yield Text("")


def _checked(kernel: dict[str, Any], answers: Rows, sides: Rows) -> Iterator[RenderableType]:
    head = Text(printable(kernel["name"]), style="bold")
    yield head.append(f"  confidence {kernel['confidence']}", style=STYLE[kernel["confidence"]])
    drawing = Table(box=None, padding=(0, 1), show_header=False)
    for column in ("status", "question", "answer"):
        drawing.add_column(column, overflow="fold")
    for row in answers:
        drawing.add_row(
            Text(f" {row['status']}", style=STYLE[row["status"]]), row["question"], printable(row["answer"])
        )
    yield drawing
    if sides:
        yield from (Text(""), table(sides, numbers=list(sides[0])[1:]))
    yield from (Text(f"  {printable(text)}", style="dim") for text in kernel["differences"])
    yield Text("")


def rows_text(rows: Rows, width: int | None) -> str:
    """Flat entries as a table."""
    return drawn([table(rows)], width)


def blocks_text(blocks: list[dict[str, Any] | str], width: int | None) -> str:
    """Entries with many fields, each as a block; a text is a block of one line."""
    return drawn([_blocks(blocks)], width)


def _blocks(blocks: list[dict[str, Any] | str]) -> Group:
    parts: list[RenderableType] = []
    for block in blocks:
        lines = (
            [block]
            if isinstance(block, str)
            else [f"{key:12} {flat(value)}" for key, value in block.items() if value not in (None, "")]
        )
        parts += [Text(printable(line)) for line in lines] + [Text("")]
    return Group(*parts[:-1])
