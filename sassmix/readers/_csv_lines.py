"""Lines and cells of profilers' exports: any encoding that consoles write, one physical line at a time."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TextIO

from sassmix.errors import InputError, Problem

_BLOCK = 1 << 20
#: Lines handed out at a time: their cells fit into a processor's cache.
_LINES = 1000
#: Longer lines are no rows; a cell with an instance for each instruction of a large kernel takes some megabytes.
_LONGEST = 1 << 26
#: Of such a line, enough to see that a row was there.
_KEPT = 200
#: Lines of one row whose cells hold line breaks.
_MOST_JOINED = 50
_ROW_START = re.compile(r'"(\d*|ID)","')
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def encoding_of(head: bytes) -> str:
    """PowerShell saves what a program prints as UTF-16, with a mark."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def head_lines(head: bytes) -> list[str]:
    """Lines of a file's first bytes, for telling its kind; nothing of a binary file."""
    encoding = encoding_of(head)
    if encoding != "utf-16" and b"\x00" in head[:4096]:
        return []
    return head.decode(encoding, "replace").splitlines()


def lines_of(path: Path, problems: list[Problem]) -> Iterator[str]:
    """Every line without its end; memory stays flat whatever the file holds."""
    return chain.from_iterable(blocks_of(path, problems))


def blocks_of(path: Path, problems: list[Problem]) -> Iterator[list[str]]:
    """The same lines, many at a time but never none."""
    try:
        with path.open("rb") as raw:
            encoding = encoding_of(raw.read(4))
        with path.open(encoding=encoding, errors="replace") as text:
            rest, number = "", 1
            while block := text.read(_BLOCK):
                parts = (rest + block).split("\n")
                rest = parts.pop()
                yield from (parts[at : at + _LINES] for at in range(0, len(parts), _LINES))
                number += len(parts)
                if len(rest) > _LONGEST:
                    what = "the line is too long to be a row; only its start is read"
                    problems.append(Problem("warning", str(path), what, number))
                    rest = rest[:_KEPT] + _skip_line(text)
            if rest:
                yield rest.removesuffix("\n").split("\n")
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


def records_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, str, bool]]:
    """Rows of the raw page with their line, and whether their last quote is open: a row that is cut off.

    Names of ranges may hold line breaks, so a quote left open goes on, up to the next row.
    """
    held: list[str] = []
    first = 1
    for number, line in enumerate(lines_of(path, problems), 1):
        if held and (_ROW_START.match(line) or len(held) >= _MOST_JOINED):
            yield first, "\n".join(held), True
            held = []
        first = first if held else number
        held.append(line)
        if (len(held) == 1 and not line.startswith('"')) or sum(part.count('"') for part in held) % 2 == 0:
            yield first, "\n".join(held), False
            held = []
    if held:
        yield first, "\n".join(held), True


def ends_open(path: Path) -> bool:
    """Whether the last line has neither an end nor a quote that closes it, so that its last number may be cut."""
    return _last_byte(path) not in b'\n\r"'


def ends_within(path: Path) -> bool:
    """Whether the last line has no end."""
    return _last_byte(path) not in b"\n\r"


def _last_byte(path: Path) -> bytes:
    try:
        with path.open("rb") as raw:
            raw.seek(max(0, raw.seek(0, os.SEEK_END) - 4))
            return raw.read().rstrip(b"\0")[-1:]
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


def _skip_line(text: TextIO) -> str:
    """Goes past the end of the line; gives what was read of the lines behind it, from the line's end on."""
    while block := text.read(_BLOCK):
        if (end := block.find("\n")) >= 0:
            return block[end:]
    return ""


def fitted(cells: list[str], width: int) -> list[str] | None:
    """The cells of a row below a header of so many; None where it has others: cut off, or a separator in a number."""
    if len(cells) > width and not any(cell.strip() for cell in cells[width:]):
        return cells[:width]
    return cells if len(cells) == width else None


def cells_of(line: str, most: int = -1) -> list[str]:
    """The cells of a line; with ``most``, what stands behind that many separators stays in the last one.

    A record never goes on in the next line: a stray quote in a program's output would swallow the rows behind it.
    Lines with all cells quoted, as the profiler writes them, take the short way.
    """
    if '"' not in line:
        return line.split(",", most)
    if line[0] == '"':
        cells = line[1:].split('","', most)
        if '"' not in "".join(cells[:-1]):
            last = cells[-1]
            if last.count('"') == 1 and last.endswith('"'):
                cells[-1] = last[:-1]
                return cells
            if most >= 0 and len(cells) > most:
                return cells
    elif line.count('"') == 2:
        before, cell, after = line.split('"')
        if before[-1:] == "," and after[:1] in (",", ""):
            return [*before[:-1].split(","), cell, *(after[1:].split(",") if after else ())]
    return _slow(line)


def columns_of(lines: Sequence[str], width: int, most: int) -> list[list[str]] | None:
    """The first ``most`` columns of lines read as :func:`cells_of` does; None unless each has ``width`` cells."""
    rows: Iterable[list[str]]
    if _all_quoted(lines, width):
        width = min(width, most + 1)  # one more: the rest of the line
        rows = (line[1:-1].split('","', most) for line in lines)
    else:
        rows = csv.reader(lines)
    cells: list[str] = []
    widths = []
    try:
        for row in rows:  # one at a time, as many rows at once are work for the garbage collector
            cells += row
            widths.append(len(row))
    except csv.Error:
        return None
    # Fewer rows than lines: a quote is open at the end of a line, and has swallowed the next ones.
    return [cells[at::width] for at in range(most)] if widths == [width] * len(lines) else None


def _all_quoted(lines: Sequence[str], width: int) -> bool:
    """Whether the separators hold all quotes but the first and the last of each line, as the profiler writes them."""
    if lines[0][:1] != '"' or {line[:1] + line[-1:] for line in lines} != {'""'}:
        return False
    return {(line.count('"'), line.count('","', 1, -1)) for line in lines} == {(2 * width, width - 1)}


def _slow(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell longer than the module allows
        return [cell.strip('"') for cell in line.split(",")]
