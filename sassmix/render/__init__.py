"""Output formats of reports. Everything that comes from an input is hostile text and is escaped here."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sassmix.report import KernelReport, Report

T = TypeVar("T")
#: The levels of confidence; what is low needs a look.
LEVELS = {"low": 0, "medium": 1, "high": 2}
#: Tokens of JSON that are joined at once.
_TOKENS = 4096


def render(report: Report, form: str, *, width: int | None = None, encoding: str = "utf-8") -> str:
    """A report as ``text``, ``json``, ``csv``, ``markdown`` or ``html``.

    :param width: columns of the terminal; None for output that no terminal shows.
    :param encoding: of the output; bars are drawn with what it has.
    """
    if form == "text":
        from sassmix.render.text import report_text

        return report_text(report, width, encoding)
    return _RENDERERS[form](report)


def _json(report: Report) -> str:
    """As of ``report.to_dict()``, but with one kernel's dictionary in memory at a time."""
    frame = replace(report, kernels=[]).to_dict()
    return to_json({**frame, "kernels": report.kernels}, lambda kernel: kernel.to_dict(report.by))


def _csv(report: Report) -> str:
    columns = ["kernel", "arch", "basis", report.by, "count", "share"]
    columns += ["tensor_core_present", "tensor_core_active", "confidence", "inputs"]
    rows = [
        [
            *(kernel.name, kernel.arch or "", kernel.basis, row[report.by], row["count"], row["share"]),
            *(_three(kernel.tensor.present), _three(kernel.tensor.active), kernel.confidence, "; ".join(kernel.inputs)),
        ]
        for kernel in report.kernels
        for row in kernel.tally.mix(report.by)
    ]
    return to_csv(columns, rows)


def _three(value: bool | None) -> str:
    """A verdict as JSON writes it, but for null."""
    return "unknown" if value is None else str(value).lower()


def _markdown(report: Report) -> str:
    from sassmix.render.markdown import report_markdown

    return report_markdown(report)


def _html(report: Report) -> str:
    from sassmix.render.html import report_html

    return report_html(report)


_RENDERERS: dict[str, Callable[[Report], str]] = {"json": _json, "csv": _csv, "markdown": _markdown, "html": _html}


def render_rows(rows: list[dict[str, Any]], form: str, *, width: int | None = None, title: str = "sassmix") -> str:
    """A list of flat entries in any format; ``title`` is that of a page."""
    if form == "json":
        return to_json(rows)
    if form == "html":
        from sassmix.render.html import tables_html

        return tables_html(title, [("", [{key: _cell(value) for key, value in row.items()} for row in rows])])
    columns = list(rows[0]) if rows else []
    cells = [[_cell(value) for value in row.values()] for row in rows]
    if form == "csv":
        return to_csv(columns, cells)
    if form == "markdown":
        from sassmix.render.markdown import table

        return table(columns, cells)
    from sassmix.render.text import rows_text

    return rows_text(rows, width)


def to_json(data: Any, default: Callable[[Any], Any] | None = None) -> str:
    """JSON in ASCII, so that no output encoding can spoil it; ``default`` makes JSON types of what is none.

    ``json.dumps`` would hold a text for each of millions of tokens before it joins them.
    """
    tokens = json.JSONEncoder(indent=2, default=default).iterencode(data)
    buffer = io.StringIO()
    while text := "".join(islice(tokens, _TOKENS)):
        buffer.write(text)
    buffer.write("\n")
    return buffer.getvalue()


def to_csv(columns: list[str], rows: list[list[Any]]) -> str:
    """CSV whose cells steer no terminal, and which no spreadsheet takes for a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[_harmless(cell) if isinstance(cell, str) else cell for cell in row] for row in rows])
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    return f"'{printable(cell)}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else printable(cell)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value


def worst_first(items: Iterable[T], most: int, level: Callable[[T], str]) -> list[T]:
    """In their own order; where they are more than are shown, those of the lowest confidence first.

    :param level: the confidence of an item.
    """
    items = list(items)
    return sorted(items, key=lambda item: LEVELS[level(item)]) if len(items) > most else items


def counted(kernel: KernelReport) -> str:
    """``1,024 warp instructions issued``."""
    total, unit = kernel.tally.total, kernel.unit
    return f"{total:,} {unit.replace('instructions', 'instruction') if total == 1 else unit}"


def three(value: bool | None) -> str:
    """A verdict in a word."""
    return "unknown" if value is None else "yes" if value else "no"


def printable(text: str) -> str:
    """Text without what would steer a terminal: control characters become visible escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def encodable(text: str, encoding: str) -> str:
    """Text with visible escapes for what an encoding lacks; half a surrogate pair is in none, ASCII in all."""
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)
