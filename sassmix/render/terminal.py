"""What all text for a terminal shares: the console that draws it, tables, names cut to fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from sassmix.render import printable
from sassmix.render.layout import Column, Line, Table, codes

Rows = list[dict[str, Any]]
#: Columns where no terminal says how many it has.
PLAIN_WIDTH = 100
STYLE = {"pass": "green", "warn": "yellow", "fail": "red", "high": "green", "medium": "yellow", "low": "red"}
_CUT = "..."


def drawn(parts: Iterable[Line | Table], width: int | None) -> str:
    """The parts one below the other: in colour for a terminal of this width, plain where ``width`` is None."""
    taken = {} if width is None else codes()
    return "".join(f"{text.rstrip()}\n" for part in parts for text in part.drawn(width or PLAIN_WIDTH, taken))


def line(text: str, *, style: str = "", indent: int = 0) -> Line:
    """Text whose every line, also a wrapped one, stands some columns in."""
    return Line([(printable(text), style)], indent)


def shortened(text: str, room: int) -> str:
    """Text cut in the middle, where names differ least, to some columns."""
    if cell_len(text) <= room:
        return text
    head = max(room - len(_CUT) + 1, 2) // 2
    tail = max(room - len(_CUT) - head, 1)
    return set_cell_size(text, head).rstrip() + _CUT + set_cell_size(text[::-1], tail)[::-1].lstrip()


def table(rows: Rows, numbers: Sequence[str] = ()) -> Table:
    """Flat entries with a head; numbers stand to the right."""
    first = rows[0] if rows else {}
    columns = [Column(key, right=key in numbers or isinstance(value, int)) for key, value in first.items()]
    return Table(columns, [[(printable(flat(value)), "") for value in row.values()] for row in rows], headed=True)


def flat(value: Any) -> str:
    """A value in one cell."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
