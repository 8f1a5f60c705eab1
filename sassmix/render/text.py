"""Reports for a terminal; the same without colour where no terminal reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sassmix.errors import number_of
from sassmix.evidence import verdict
from sassmix.registry import target_key
from sassmix.render import LEVELS, counted, encodable, printable, three, worst_first
from sassmix.render.layout import Column, Line, Styled, Table
from sassmix.render.overview import overview
from sassmix.render.terminal import PLAIN_WIDTH, STYLE, Rows, drawn, flat, line, shortened, table
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
_MOST_DETAILED = 200
_BLOCK = "█"
_ALWAYS = ("unresolved", "unclassified")


def report_text(report: Report, width: int | None, encoding: str) -> str:
    """Every kernel with its mix, verdict, evidence and hints; inputs first, problems last.

    Of very many kernels those that do not pass come first, and the others have a row of the overview alone.
    """
    block = _BLOCK if encodable(_BLOCK, encoding) == _BLOCK else "#"
    return drawn(_report(report, block, width or PLAIN_WIDTH), width)


def _report(report: Report, block: str, width: int) -> Iterator[Line | Table]:
    for item in report.inputs:
        arch = ", ".join(sorted(filter(None, item.archs), key=target_key)) or item.arch or "no architecture named"
        tool = f", {item.tool}" if item.tool else ""
        functions = f", {number_of(len(item.functions), 'function')}" if item.functions else ""
        yield line(f"{item.path}: {item.kind}, {arch}{tool}{functions}", style="dim")
    kernels = worst_first(report.kernels, _MOST_DETAILED, lambda kernel: kernel.confidence)
    if len(kernels) > 1:
        yield line("")
        yield from overview(kernels, width)
    named = Counter((kernel.name, kernel.arch) for kernel in kernels)
    for kernel in kernels[:_MOST_DETAILED]:
        yield line("")
        yield from _kernel(kernel, report.by, block, width, alone=named[kernel.name, kernel.arch] == 1)
    rest = [kernel.confidence for kernel in kernels[_MOST_DETAILED:]]
    yield from _left_out(rest, "the table has their totals; ")
    if report.problems:
        yield from (line(""), line("Problems", style="bold"))
        yield from (line(str(problem), indent=2) for problem in report.problems)


def _left_out(levels: Sequence[str], where: str = "") -> Iterator[Line | Table]:
    """How many kernels have no details, by their confidence, and what shows them."""
    if levels:
        said = ", ".join(f"{number:,} {level}" for level in LEVELS if (number := levels.count(level)))
        yield line("")
        yield line(
            f"{number_of(len(levels), 'more kernel')}, of no lower confidence than those above ({said}): {where}"
            "--kernel NAME or another --format shows all of them"
        )


def _kernel(kernel: KernelReport, by: str, block: str, width: int, *, alone: bool) -> Iterator[Line | Table]:
    """:param alone: whether no other kernel has its name and architecture; else it says what file it is of."""
    yield line(shortened(printable(kernel.demangled or kernel.name), _NAME_LINES * width), style="bold")
    role = f"{kernel.role}, " if kernel.role else ""
    said = f"{role}{kernel.arch or 'architecture unknown'}, {kernel.basis}: {counted(kernel)}, "
    yield Line([(said, ""), (f"confidence {kernel.confidence}", STYLE[kernel.confidence])], 2)
    if kernel.basis == "dynamic":
        yield line(_origin(kernel), indent=2)
    if not alone:
        yield line(f"of {', '.join(map(printable, kernel.inputs))}", indent=2)
    yield _mix(kernel, by, block, width)
    verdicts = f"present: {three(kernel.tensor.present)}, active: {three(kernel.tensor.active)}"
    yield line(f"tensor cores  {verdicts}", indent=2)
    yield line(kernel.tensor.reason, indent=16 if width >= _NARROW else 4)
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
    bar = _bar_width(rows, by, width)
    columns = [Column(f" {by}"), *(Column(head, right=True, wraps=False) for head in ("count", "share"))]
    return Table([*columns, Column(wraps=False)], [_mix_row(row, by, block, bar) for row in rows], headed=True)


def _mix_row(row: dict[str, Any], by: str, block: str, bar: int) -> list[Styled]:
    name = (f" {printable(str(row[by]))}", "red" if row[by] in _ALWAYS and row["count"] else "")
    return [
        name,
        *((text, "") for text in (f"{row['count']:,}", f"{row['share']:.1%}", block * round(row["share"] * bar))),
    ]


def _bar_width(rows: Rows, by: str, width: int) -> int:
    """What names, counts and shares leave, with the space around them."""
    names = max(len(str(row[by])) for row in rows)
    counts = max(len("count"), *(len(f"{row['count']:,}") for row in rows))
    room = min(_BAR, width - names - counts - len("100.0%") - 9)
    return room if room >= _LEAST_BAR else 0


def _evidence(kernel: KernelReport) -> Table:
    worst = verdict(item.status for item in kernel.evidence)
    shown = [item for item in kernel.evidence if item.status != "pass" or worst == "pass"]
    rows = [[(f" {i.status}", STYLE[i.status]), (i.check, ""), (printable(i.detail), "")] for i in shown]
    return Table([Column(wraps=False), Column(wraps=False), Column()], rows)


def _hints(kernel: KernelReport) -> Iterator[Line | Table]:
    """Questions that the counts raise and do not answer."""
    rows: list[list[Styled]] = []
    for hint in kernel.hints[:_HINTS]:
        rows += (
            [(" ?", ""), (f"{hint.because}: {hint.question}", "")],
            [("", ""), (f"look at: {hint.where} {hint.look_at}", "dim")],
        )
    if rows:
        yield Table([Column(wraps=False, style="cyan"), Column()], rows)


def check_text(blocks: Iterable[tuple[dict[str, Any], Rows, Rows]], width: int | None) -> str:
    """Kernels of a check, each with its answers, its sources side by side, and what differs; of very many the first."""
    return drawn(_checks(list(blocks)), width)


def _checks(blocks: list[tuple[dict[str, Any], Rows, Rows]]) -> Iterator[Line | Table]:
    blocks = worst_first(blocks, _MOST_DETAILED, lambda block: block[0]["confidence"])
    for block in blocks[:_MOST_DETAILED]:
        yield from _checked(*block)
    if more := blocks[_MOST_DETAILED:]:
        yield from _left_out([kernel["confidence"] for kernel, _, _ in more])
        yield line("")


def _checked(kernel: dict[str, Any], answers: Rows, sides: Rows) -> Iterator[Line | Table]:
    level = kernel["confidence"]
    yield Line([(printable(kernel["name"]), "bold"), (f"  confidence {level}", STYLE[level])])
    rows = [
        [(f" {row['status']}", STYLE[row["status"]]), (row["question"], ""), (printable(row["answer"]), "")]
        for row in answers
    ]
    yield Table([Column()] * 3, rows)
    if sides:
        yield from (line(""), table(sides, numbers=list(sides[0])[1:]))
    yield from (line(f"  {text}", style="dim") for text in kernel["differences"])
    yield line("")


def rows_text(rows: Rows, width: int | None, numbers: Sequence[str] = ()) -> str:
    """Flat entries as a table; columns of numbers stand to the right."""
    return drawn([table(rows, numbers)], width)


def blocks_text(blocks: list[dict[str, Any] | str], width: int | None) -> str:
    """Entries with many fields, each as a block; a text is a block of one line."""
    return drawn(list(_blocks(blocks))[:-1], width)


def _blocks(blocks: list[dict[str, Any] | str]) -> Iterator[Line]:
    for block in blocks:
        fields = {} if isinstance(block, str) else block
        yield from (line(f"{key:12} {flat(value)}") for key, value in fields.items() if value not in (None, ""))
        if isinstance(block, str):
            yield line(block)
        yield line("")
