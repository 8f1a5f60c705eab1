"""What the layout draws is what rich draws of the same, whatever the text, the columns and the width."""

from __future__ import annotations

import io
import os
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import table, text
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding

from sassmix.render.layout import Column, Line, Styled, Table
from sassmix.render.terminal import drawn

STYLES = st.sampled_from(["", "bold", "dim", "red", "green", "yellow", "cyan"])
#: Blanks, words that have to be broken, wide characters, an ellipsis.
WORDS = st.lists(st.sampled_from(["", "a", "of", "tensor", "_Z6vecAddPKdS0_Pdi", "█" * 9, "漢字", "…"]))
TEXTS = WORDS.map(" ".join) | st.text("ab 漢", max_size=40)
SHORT = st.text("ab 漢", max_size=4)
LINES = st.builds(Line, st.lists(st.tuples(TEXTS, STYLES), min_size=1, max_size=3), st.sampled_from([0, 2, 16]))


@st.composite
def columns(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[Column, st.SearchStrategy[Styled]]:
    """A column and its cells. A style of a cell in a column with one would be both of them to rich."""
    wraps, style = draw(st.booleans()), draw(st.sampled_from(["", "cyan"]))
    given_texts = TEXTS if wraps else texts
    column = Column("x" + draw(given_texts), right=draw(st.booleans()), wraps=wraps, style=style)
    return column, st.tuples(given_texts, st.just("") if style else STYLES)


@st.composite
def tables(draw: st.DrawFn, texts: st.SearchStrategy[str] = SHORT) -> Table:
    """A table whose rows all hold something; ``texts`` are for the columns that do not wrap."""
    drawn_columns = draw(st.lists(columns(texts), max_size=3))
    rows = draw(st.lists(st.tuples(*(cells for _, cells in drawn_columns)), max_size=4))
    heads = [Column("name"), *(column for column, _ in drawn_columns)]
    return Table(heads, [[("HMMA", ""), *row] for row in rows], headed=draw(st.booleans()))


def by_rich(parts: list[Line | Table], width: int, colour: bool) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        height=25,
        force_terminal=colour,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for part in parts:
        console.print(rich_line(part) if isinstance(part, Line) else rich_table(part))
    shown: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in shown.split("\n"))


def rich_line(line: Line) -> RenderableType:
    return Padding(text.Text("", overflow="fold").append_tokens(line.spans), (0, 0, 0, line.indent))


def rich_table(drawing: Table) -> RenderableType:
    made = table.Table(box=None, padding=(0, 1), show_header=drawing.headed, header_style="dim")
    for column in drawing.columns:
        made.add_column(
            text.Text(column.head),
            overflow="fold" if column.wraps else "ellipsis",
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            style=column.style,
        )
    for row in drawing.rows:
        made.add_row(*(text.Text(*cell) for cell in row))
    return made


@pytest.mark.parametrize("environment", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "Dumb"}])
@given(st.lists(LINES | tables(), max_size=3), st.integers(40, 120))
def test_in_colour_it_is_what_rich_draws(environment: dict[str, str], parts: list[Line | Table], width: int) -> None:
    with patch.dict(os.environ, environment):
        assert drawn(parts, width) == by_rich(parts, width, colour=True)


@given(st.lists(LINES | tables(), max_size=3), st.integers(40, 120))
def test_plain_it_is_what_rich_draws(parts: list[Line | Table], width: int) -> None:
    with patch("sassmix.render.terminal.PLAIN_WIDTH", width):
        assert drawn(parts, None) == by_rich(parts, width, colour=False)


@pytest.mark.parametrize("width", range(24, 64, 3))
def test_columns_that_do_not_wrap_are_cut_alike_in_the_last_resort(width: int) -> None:
    drawing = Table([Column(wraps=False), Column(right=True, wraps=False)], [[("a" * 30, ""), ("b" * 30, "")]])
    assert drawn([drawing], width) == by_rich([drawing], width, colour=True)


@given(st.lists(LINES | tables(TEXTS), max_size=3), st.integers(1, 60))
def test_no_terminal_is_too_narrow(parts: list[Line | Table], width: int) -> None:
    """Below 18 columns a line that stands 16 of them in still has a place for one wide character."""
    with patch("sassmix.render.terminal.PLAIN_WIDTH", width):
        assert all(cell_len(line) <= max(width, 18) for line in drawn(parts, None).split("\n"))
