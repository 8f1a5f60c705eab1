"""What all text for a terminal shares: the console that draws it, tables, names cut to fit."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sassmix.render import printable

Rows = list[dict[str, Any]]
#: Columns where no terminal says how many it has.
PLAIN_WIDTH = 100
STYLE = {"pass": "green", "warn": "yellow", "fail": "red", "high": "green", "medium": "yellow", "low": "red"}
_CUT = "..."


def drawn(parts: Iterable[RenderableType], width: int | None) -> str:
    """The parts one below the other: in colour for a terminal of this width, plain where ``width`` is None."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width or PLAIN_WIDTH,
        height=25,  # rich believes a width only with a height, and takes a dumb terminal for one of 80 columns
        force_terminal=width is not None,
        highlight=False,
        emoji=False,
        markup=False,
    )
    console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def indented(text: str, columns: int, *, style: str = "") -> Padding:
    """Text whose every line, also a wrapped one, stands some columns in."""
    return Padding(Text(printable(text), style=style, overflow="fold"), (0, 0, 0, columns))


def shortened(text: str, room: int) -> str:
    """Text cut in the middle, where names differ least, to some columns."""
    if cell_len(text) <= room:
        return text
    head = max(room - len(_CUT) + 1, 2) // 2
    tail = max(room - len(_CUT) - head, 1)
    return set_cell_size(text, head).rstrip() + _CUT + set_cell_size(text[::-1], tail)[::-1].lstrip()


def table(rows: Rows, numbers: Sequence[str] = ()) -> Table:
    """Flat entries with a head; numbers stand to the right."""
    drawing = Table(box=None, padding=(0, 1), header_style="dim")
    for key in rows[0] if rows else ():
        right = key in numbers or isinstance(rows[0][key], int)
        drawing.add_column(key, overflow="fold", justify="right" if right else "left")
    for row in rows:
        drawing.add_row(*(Text(printable(flat(value))) for value in row.values()))
    return drawing


def flat(value: Any) -> str:
    """A value in one cell."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def three(value: bool | None) -> str:
    """A verdict in a word."""
    return "unknown" if value is None else "yes" if value else "no"
