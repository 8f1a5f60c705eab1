"""Reports for a terminal, drawn with rich; the same without colour where no terminal reads them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sassmix.evidence import verdict
from sassmix.render import encodable, printable
from sassmix.report import KernelReport, Report

_PLAIN_WIDTH = 100
_BAR = 24
_BLOCK = "█"
_STYLE = {"pass": "green", "warn": "yellow", "fail": "red", "high": "green", "medium": "yellow", "low": "red"}
_ALWAYS = ("unresolved", "unclassified")


def _drawn(parts: Iterator[RenderableType], width: int | None) -> str:
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width or _PLAIN_WIDTH,
        force_terminal=None if width is None else True,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def report_text(report: Report, width: int | None, encoding: str) -> str:
    """Every kernel with its mix, verdict and evidence; inputs first, problems last."""
    block = _BLOCK if encodable(_BLOCK, encoding) == _BLOCK else "#"
    return _drawn(_report(report, block), width)


def _report(report: Report, block: str) -> Iterator[RenderableType]:
    for item in report.inputs:
        arch = item.arch or "several architectures or none named"
        tool = f", {item.tool}" if item.tool else ""
        yield Text(printable(f"{item.path}: {item.kind}, {arch}{tool}, {len(item.functions)} functions"), style="dim")
    for kernel in report.kernels:
        yield Text("")
        yield from _kernel(kernel, report.by, block)
    if report.problems:
        yield Text("\nProblems", style="bold")
        for problem in report.problems:
            yield Text(f"  {printable(str(problem))}")


def _kernel(kernel: KernelReport, by: str, block: str) -> Iterator[RenderableType]:
    yield Text(printable(kernel.demangled or kernel.name), style="bold")
    counts = kernel.tally.counts()
    role = f"{kernel.role}, " if kernel.role else ""
    line = Text(f"  {role}{kernel.arch or 'architecture unknown'}, {kernel.basis}: {counts['total']:,} {kernel.unit}")
    yield line.append(f", confidence {kernel.confidence}", style=_STYLE[kernel.confidence])
    yield _mix(kernel, by, block)
    yield Text(f"  tensor cores  present: {_three(kernel.tensor.present)}, active: {_three(kernel.tensor.active)}")
    yield Text(f"                {printable(kernel.tensor.reason)}")
    yield _evidence(kernel)


def _mix(kernel: KernelReport, by: str, block: str) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column(f" {by}")
    table.add_column("count", justify="right")
    table.add_column("share", justify="right")
    table.add_column("")
    rows: list[dict[str, Any]] = kernel.tally.mix(by)
    shown = {row[by] for row in rows}
    rows += [{by: name, "count": 0, "share": 0.0} for name in _ALWAYS if name not in shown]
    for row in rows:
        style = "red" if row[by] in _ALWAYS and row["count"] else ""
        name = Text(f" {printable(str(row[by]))}", style=style)
        table.add_row(name, f"{row['count']:,}", f"{row['share']:.1%}", Text(block * round(row["share"] * _BAR)))
    return table


def _evidence(kernel: KernelReport) -> RenderableType:
    worst = verdict(item.status for item in kernel.evidence)
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column("")
    table.add_column("")
    table.add_column("", overflow="fold")
    for item in kernel.evidence:
        if item.status != "pass" or worst == "pass":
            table.add_row(Text(f" {item.status}", style=_STYLE[item.status]), item.check, Text(printable(item.detail)))
    return table


def _three(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def rows_text(rows: list[dict[str, Any]], width: int | None) -> str:
    """Flat entries as blocks where there are few fields to compare, else as a table."""
    wide = bool(rows) and len(rows[0]) > 8
    return _drawn(iter([_blocks(rows)] if wide else [_table(rows)]), width)


def _blocks(rows: list[dict[str, Any]]) -> Group:
    parts: list[RenderableType] = []
    for row in rows:
        fields = [(key, value) for key, value in row.items() if value not in (None, "")]
        parts += [Text(f"{key:12} {printable(_flat(value))}") for key, value in fields] + [Text("")]
    return Group(*parts[:-1])


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for key in rows[0] if rows else ():
        table.add_column(key, overflow="fold", justify="right" if isinstance(rows[0][key], int) else "left")
    for row in rows:
        table.add_row(*(Text(printable(_flat(value))) for value in row.values()))
    return table


def _flat(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
