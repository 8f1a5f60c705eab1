"""Several kernels in one table, which stays readable on a narrow terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from rich.cells import cell_len

from sassmix.evidence import verdict
from sassmix.render import printable, three
from sassmix.render.layout import Line, Table
from sassmix.render.terminal import Rows, line, shortened, table
from sassmix.report import KernelReport

#: Columns that a name needs to be told from others.
_LEAST = 24
#: Lines that a name may have where it cannot be cut to one.
_LINES = 4
_TENSOR = "tensor\npresent/active"


def overview(kernels: Sequence[KernelReport], width: int) -> Iterator[Line | Table]:
    """A row for each kernel; where that is too wide, what is the same for all is said once instead.

    Where even that is too wide, or would make different names alike, each kernel has lines of its own.
    """
    rows = [_summary(kernel) for kernel in kernels]
    if len({(row["kernel"], row["arch"]) for row in rows}) < len(rows):
        rows = [{**row, "input": _input(kernel)} for row, kernel in zip(rows, kernels, strict=True)]
    same = {key for key in rows[0] if key != "kernel" and len({row[key] for row in rows}) == 1}
    for left_out in (set[str](), same):
        shown = [{key: value for key, value in row.items() if key not in left_out} for row in rows]
        room = width - _width(shown)
        names = _names(rows, room)
        if room >= _LEAST and names:
            yield table([{**row, "kernel": name} for row, name in zip(shown, names, strict=True)], ("instructions",))
            break
    else:
        left_out = same
        names = _names(rows, width) or [shortened(row["kernel"], _LINES * width) for row in rows]
        for row, name in zip(rows, names, strict=True):
            yield line(name)
            if said := ", ".join(_said(row, same)):
                yield line(said, indent=2, style="dim")
    if shared := _said({key: rows[0][key] for key in rows[0] if key in left_out}, set()):
        yield line(f"all: {', '.join(shared)}", indent=1, style="dim")


def _input(kernel: KernelReport) -> str:
    """The file's own name: the whole one stands above the mix."""
    first, *more = kernel.inputs or [""]
    return printable(f"{PurePath(first).name}{f' and {len(more)} more' if more else ''}")


def _names(rows: Rows, room: int) -> list[str]:
    """The names cut to fit; none where that makes two of them alike."""
    names = [shortened(row["kernel"], room) for row in rows]
    return names if len(set(names)) == len({row["kernel"] for row in rows}) else []


def _width(rows: Rows) -> int:
    """Columns of everything but the names, and of the space around the columns."""
    keys = [key for key in rows[0] if key != "kernel"]
    heads = {key: max(map(len, key.split("\n"))) for key in keys}
    return 2 + sum(2 + max(heads[key], *(cell_len(str(row[key])) for row in rows)) for key in keys)


def _said(row: dict[str, Any], left_out: set[str]) -> list[str]:
    names = {_TENSOR: "tensor", "arch": "", "role": ""}
    kept = {key: value for key, value in row.items() if key not in left_out and key != "kernel" and value != ""}
    return [f"{names.get(key, key)} {value}".strip() for key, value in kept.items()]


def _summary(kernel: KernelReport) -> dict[str, Any]:
    """One kernel in one row; its whole name stands above its mix."""
    worst = verdict(item.status for item in kernel.evidence)
    check = next((item.check for item in kernel.evidence if item.status == worst), "")
    return {
        "kernel": printable(kernel.demangled or kernel.name),
        "arch": kernel.arch or "unknown",
        "role": kernel.role or "",
        "instructions": f"{kernel.tally.total:,}",
        _TENSOR: f"{three(kernel.tensor.present)}/{three(kernel.tensor.active)}",
        "confidence": kernel.confidence,
        "worst check": worst if worst == "pass" else f"{worst} {check}",
    }
