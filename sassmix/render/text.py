"""Reports for a terminal, drawn with rich; the same without colour where no terminal reads them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from sassmix.evidence import verdict
from sassmix.registry import target_key
from sassmix.render import encodable, printable
from sassmix.report import KernelReport, Report

_PLAIN_WIDTH = 100
_BAR = 24
_NAME = 36
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
        arch = ", ".join(sorted(filter(None, item.archs), key=target_key)) or item.arch or "no architecture named"
        tool = f", {item.tool}" if item.tool else ""
        yield Text(printable(f"{item.path}: {item.kind}, {arch}{tool}, {_functions(len(item.functions))}"), style="dim")
    if len(report.kernels) > 1:
        yield from (Text(""), _table([_summary(kernel) for kernel in report.kernels]))
    for kernel in report.kernels:
        yield Text("")
        yield from _kernel(kernel, report.by, block)
    if report.problems:
        yield Text("\nProblems", style="bold")
        for problem in report.problems:
            yield Text(f"  {printable(str(problem))}")


def _functions(number: int) -> str:
    return "1 function" if number == 1 else f"{number} functions"


def _summary(kernel: KernelReport) -> dict[str, Any]:
    """One kernel in one row; its whole name stands above its mix."""
    name = printable(kernel.demangled or kernel.name)
    worst = verdict(item.status for item in kernel.evidence)
    check = next((item.check for item in kernel.evidence if item.status == worst), "")
    return {
        "kernel": name if len(name) <= _NAME else f"{name[: _NAME - 3]}...",
        "arch": kernel.arch or "unknown",
        "role": kernel.role or "",
        "instructions": kernel.tally.counts()["total"],
        "tensor present/active": f"{_three(kernel.tensor.present)}/{_three(kernel.tensor.active)}",
        "confidence": kernel.confidence,
        "worst check": worst if worst == "pass" else f"{worst} {check}",
    }


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
    """Flat entries as a table."""
    return _drawn(iter([_table(rows)]), width)


def blocks_text(blocks: list[dict[str, Any] | str], width: int | None) -> str:
    """Entries with many fields, each as a block; a text is a block of one line."""
    return _drawn(iter([_blocks(blocks)]), width)


def _blocks(blocks: list[dict[str, Any] | str]) -> Group:
    parts: list[RenderableType] = []
    for block in blocks:
        lines = (
            [block]
            if isinstance(block, str)
            else [f"{key:12} {_flat(value)}" for key, value in block.items() if value not in (None, "")]
        )
        parts += [Text(printable(line)) for line in lines] + [Text("")]
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
