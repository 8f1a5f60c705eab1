"""Tables as CSV files, read with the place of every row, so that an error can name it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from sassmix.errors import PluginError, did_you_mean

_MARK = b"\xef\xbb\xbf"


class Placed:
    """Made of a row of a file. The place is no column: rows that say the same are equal wherever they stand."""

    __slots__ = ("_place",)

    @property
    def place(self) -> str:
        """``hopper.csv, row 7``; empty for what was not read from a file."""
        return getattr(self, "_place", "")

    def at(self, place: str) -> Self:
        """The same, which knows its place from now on."""
        object.__setattr__(self, "_place", place)
        return self


def read_table(path: Path, columns: Sequence[str], needed: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The rows of a table, each as its place (``hopper.csv, row 7``) and its cells by column.

    :param columns: the names that the first row may have.
    :param needed: those of them that it must have.
    :raises PluginError: naming file and row of what is wrong.
    """
    records = _records(path)
    if not records:
        raise PluginError(f"{path.name} holds no row; the first one names the columns: {','.join(columns)}")
    (line, header), *rows = records
    _check_header(f"{path.name}, row {line}", header, columns, needed)
    return [_row(f"{path.name}, row {line}", header, cells) for line, cells in rows]


def _row(place: str, header: list[str], cells: list[str]) -> tuple[str, dict[str, str]]:
    if len(cells) != len(header):
        raise PluginError(
            f"{place}: as many cells as the header has are needed, {len(header)}, not {len(cells)}; "
            "quote a cell that holds a comma"
        )
    return place, dict(zip(header, cells, strict=True))


def _records(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of each row that is not blank, with the number of its first line."""
    records, line = list[tuple[int, list[str]]](), 1
    try:
        reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
        for cells in reader:
            records.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise PluginError(f"{path.name}, row {line}: {error}; quote a cell as a whole, a quote in it twice") from None
    return [record for record in records if record[1]]


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "" if path.exists() else "; is it packaged?"
        raise PluginError(f"{path.name} cannot be read: {error.strerror or error}{hint}") from error
    if data.startswith(_MARK):
        raise PluginError(f"{path.name}, row 1: a byte-order mark stands in front; save the table as utf-8 without one")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PluginError(f"{_row_of(path, data, error.start)}: {error.reason}; save the table as utf-8") from None
    if "\0" in text:
        place = _row_of(path, data, data.index(b"\0"))
        raise PluginError(f"{place}: holds a NUL character, as utf-16 has them; save the table as utf-8")
    return text


def _row_of(path: Path, data: bytes, position: int) -> str:
    return f"{path.name}, row {len((data[:position] + b'.').splitlines())}"


def _check_header(where: str, header: list[str], columns: Sequence[str], needed: Sequence[str]) -> None:
    for column in header:
        if column not in columns:
            near = "; separate by commas" if re.search("[;\t]", column) else did_you_mean(column, columns)
            remedy = near or f"; there are {','.join(columns)}"
            raise PluginError(f"{where}: no column {column!r} in an opcode table{remedy}")
        if header.count(column) > 1:
            raise PluginError(f"{where}: the column {column!r} stands twice; leave one out")
    for name in needed:
        if name not in header:
            raise PluginError(f"{where}: the column {name!r} is missing; add it, every row needs it")
