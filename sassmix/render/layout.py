"""Lines and tables that fit the columns of a terminal, in colour or plain: what rich would draw of them, to the byte.

Loading rich and drawing with it took a third of a small command's time. Only the widths of characters are rich's here,
and ``tests/test_layout.py`` holds what is drawn against rich itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size

#: Text and the name of its style, empty for none.
Styled = tuple[str, str]
#: The escape codes of the styles that an output takes, by their names.
Codes = Mapping[str, str]
_EMPHASES = {"bold": "1", "dim": "2"}
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36"}
#: Columns around a cell, half of them on each side.
_AROUND = 2
_WORD = re.compile(r"\s*\S+\s*")


def codes() -> Codes:
    """Those that the terminal at hand takes, by its variables."""
    if os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        return {}
    return _EMPHASES if os.environ.get("NO_COLOR") else _EMPHASES | _COLOURS


def _painted(text: str, style: str, codes: Codes) -> str:
    code = codes.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


class Line(NamedTuple):
    """Text that is broken where it is too wide; each of its lines stands some columns in."""

    spans: Sequence[Styled]
    indent: int = 0

    def drawn(self, width: int, codes: Codes) -> Iterator[str]:
        """Its lines on so many columns."""
        margin = " " * self.indent
        for begin, end in _slices("".join(text for text, _ in self.spans), max(width - self.indent, 1)):
            yield margin + "".join(_painted(text, style, codes) for text, style in self._between(begin, end))

    def _between(self, begin: int, end: int) -> Iterator[Styled]:
        start = 0
        for text, style in self.spans:
            yield text[max(begin - start, 0) : max(end - start, 0)], style
            start += len(text)


def _slices(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Where the lines of a text begin and end. Blanks stay at the end of a line as far as there is room."""
    start = 0
    for line in text.split("\n"):
        places = [0, *_breaks(line, room), len(line)] if cell_len(line) > room else [0, len(line)]
        for begin, end in pairwise(places):
            blanks = end - begin - len(line[begin:end].rstrip())
            yield start + begin, start + end - min(blanks, max(cell_len(line[begin:end]) - room, 0))
        start += len(line) + 1


def _breaks(line: str, room: int) -> list[int]:
    """Where a line is to be broken: before a word that does not fit, and inside of one that fits no line."""
    found, used = list[int](), 0
    for word in _WORD.finditer(line):
        start, size = word.start(), cell_len(word[0].rstrip())
        pieces = chop_cells(word[0], room) if size > room else [word[0]]
        if size > room - used:
            for piece in pieces:
                found.append(start)
                start += len(piece)
            used = 0
        used += cell_len(pieces[-1])
    return [place for place in found if place]


class Column(NamedTuple):
    """How the cells of a column stand. Where it does not wrap, it keeps its width as long as any other can give way."""

    head: str = ""
    right: bool = False
    wraps: bool = True
    style: str = ""


class Table(NamedTuple):
    """Cells in columns; where these are too wide together, the widest give way first."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Styled]]
    headed: bool = False

    def drawn(self, width: int, codes: Codes) -> Iterator[str]:
        """Its lines on so many columns; one without columns is an empty line."""
        head: list[Sequence[Styled]] = [[(column.head, "") for column in self.columns]] if self.headed else []
        texts = zip(*([text for text, _ in row] for row in [*head, *self.rows]), strict=True)
        widths = [min(_AROUND + max(map(_width, column)), width) for column in texts]
        widths = _narrowed(widths, [column.wraps for column in self.columns], width)
        for row in head:
            yield from _row(row, [column._replace(style="dim") for column in self.columns], widths, codes, low=True)
        for row in self.rows:
            yield from _row(row, self.columns, widths, codes)
        if not self.columns:
            yield ""


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n"))) if "\n" in text else cell_len(text)


def _narrowed(widths: list[int], wraps: Sequence[bool], most: int) -> list[int]:
    """Widths that add up to no more than ``most``: the widest that wrap are cut to the next ones, at last all alike."""
    while (over := sum(widths) - most) > 0:
        widest = max((width for width, wrap in zip(widths, wraps, strict=True) if wrap), default=0)
        if not widest:
            widths = _reduced(widths, over, widths)
            continue
        alike = [wrap and width == widest for width, wrap in zip(widths, wraps, strict=True)]
        others = (width for width, wrap, one in zip(widths, wraps, alike, strict=True) if wrap and not one)
        step = min(over, widest - max(others, default=0))
        widths = _reduced(widths, over, [step * one for one in alike])
    return widths


def _reduced(widths: Sequence[int], over: int, most: Sequence[int]) -> list[int]:
    """Widths less as much of ``over`` as each may lose, in equal parts."""
    result, left = list[int](), sum(map(bool, most))
    for width, limit in zip(widths, most, strict=True):
        loss = min(limit, round(over / left)) if limit else 0
        over -= loss
        left -= bool(limit)
        result.append(width - loss)
    return result


def _row(
    row: Sequence[Styled], columns: Sequence[Column], widths: Sequence[int], codes: Codes, *, low: bool = False
) -> Iterable[str]:
    """The lines of a row; ``low`` tells whether its cells stand at the bottom."""
    cells = [_cell(*each, codes) for each in zip(row, columns, widths, strict=True)]
    height = max(map(len, cells))
    if height > 1:
        for number, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
            blank = [_painted(" " * width, column.style, codes)] * (height - len(cell))
            cells[number] = blank + cell if low else cell + blank
    return map("".join, zip(*cells, strict=True))


def _cell(cell: Styled, column: Column, width: int, codes: Codes) -> list[str]:
    """The lines of a cell, each of its whole width."""
    text, style = cell[0], cell[1] or column.style
    room, side = width - _AROUND, _painted(" ", column.style, codes)
    if room < 1:
        return [_painted(" " * width, column.style, codes)]
    lines = [text]
    if _width(text) > room or "\n" in text:
        lines = [text[begin:end] for begin, end in _slices(text, room)] if column.wraps else [_cut(text, room)]
    return [f"{side}{_painted(_padded(line, room, column.right), style, codes)}{side}" for line in lines]


def _cut(text: str, room: int) -> str:
    return f"{set_cell_size(text, room - 1)}…"


def _padded(line: str, room: int, right: bool) -> str:
    if right:
        line = line.rstrip()
        return " " * (room - cell_len(line)) + line
    return line + " " * (room - cell_len(line))
