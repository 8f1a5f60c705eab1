"""The rows of a raw page, one for each launch: whole, cut off or damaged, given twice, or missing by their IDs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.errors import InputError, Problem, number_of
from sassmix.readers._csv_lines import cells_of, records_of
from sassmix.readers._csv_numbers import read_count

_ROW_CUT = re.compile(r'"\d+("?$|",)')
#: Rows have hundreds of cells, each in quotes; lines of a program with so many of these are rare.
_LIKE_A_ROW = 5
#: What tells launches apart; an ID is the launch's number within its report.
_KEY = ("ID", "Process ID", "Host Name")
_MOST_IDS = 1 << 20


@dataclass(slots=True)
class Table:
    """A header, the column of kernel names, and the row of units behind it by column."""

    header: tuple[str, ...]
    name: int
    units: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Launch:
    """A row: its cells by column, or none and the reason; ``name`` is the kernel's, empty where it is not certain.

    ``known`` is its ID as it stands there, ``digest`` that of the whole row; ``doubt`` is why it may be no launch of
    its own, and ``cut`` whether the row is surely cut off.
    """

    number: int
    cells: dict[str, str]
    table: Table
    name: str
    known: str = ""
    digest: bytes = b""
    lost: str = ""
    doubt: str = ""
    cut: bool = False


def is_header(cells: list[str]) -> bool:
    """Whether cells name the columns of a raw page."""
    return "Kernel Name" in cells and any("__" in cell or cell == "inst_executed" for cell in cells)


def is_details(cells: list[str]) -> bool:
    """Whether cells name the columns of the details page."""
    return all(name in cells for name in ("Kernel Name", "Metric Name", "Metric Value"))


def launches_of(path: Path, problems: list[Problem]) -> Iterator[Launch]:
    """Every launch, in order; one that is given twice by all its cells counts once, which ``problems`` tell."""
    first: dict[tuple[str, ...], tuple[int, Table, bytes]] = {}
    for launch in _rows_of(path, problems):
        key = tuple(launch.cells.get(column, "") for column in _KEY)
        this = launch.number, launch.table, launch.digest
        number, table, digest = first.setdefault(key, this) if key[0].strip() else this
        if number != launch.number and table is launch.table and digest == launch.digest:
            what = f"the same launch as in line {number}, by all its cells: it is counted once"
            problems.append(Problem("info", str(path), what, launch.number))
            continue
        if number != launch.number:
            where = f"the ID {key[0][:40]!r} stands in line {number} too"
            launch.doubt = f"{where}: if that is the same launch, it is counted twice"
        yield launch


def missing_launches(launches: Sequence[Launch]) -> list[str]:
    """Launches that were profiled and are not in the page, in words: their IDs are left out between others."""
    found = []
    for ids in _numbered(launches):
        if gap := set(range(min(ids), max(ids))) - ids:
            others = f" or {number_of(len(gap) - 1, 'other')}" if len(gap) > 1 else ""
            what = f"no row has the ID {min(gap)}{others}: a launch of this kernel may be missing; export all launches"
            found.append(what)
    return found


def _numbered(launches: Sequence[Launch]) -> list[set[int]]:
    """The IDs of each report; below a further header they go on, or those of another report begin."""
    reports: list[set[int]] = []
    table = None
    for launch in launches:
        number, _ = read_count(launch.known)
        if number is None or number >= _MOST_IDS:
            continue
        if not reports or (table is not launch.table and number <= max(reports[-1])):
            reports.append(set())
        table = launch.table
        reports[-1].add(number)
    return reports


def _rows_of(path: Path, problems: list[Problem]) -> Iterator[Launch]:
    table: Table | None = None
    for number, line, cut in records_of(path, problems):
        cells = cells_of(line)
        if is_header(cells):
            table = Table(tuple(cells), cells.index("Kernel Name"))
        elif is_details(cells):
            raise InputError(str(path), "is the details page; export with --page raw --csv", line=number)
        elif line.startswith('"ID"'):
            problems.append(Problem("warning", str(path), "the names of the columns are cut off or malformed", number))
            table = Table((), 0)
        elif table and not (cut or _cut_behind_a_cell(line)) and len(cells) == len(table.header):
            if launch := _launch(table, cells, number):
                launch.digest = hashlib.sha256(line.encode(errors="replace")).digest()
                yield launch
        elif _is_row(table, cells, line):
            yield _left_out(table or Table((), 0), cells, number, cut or _cut_behind_a_cell(line))


def _is_row(table: Table | None, cells: list[str], line: str) -> bool:
    """Whether a line that is no whole row is one all the same."""
    if table is None or not table.header:
        return bool(_ROW_CUT.match(line)) and len(cells) >= _LIKE_A_ROW
    if _ROW_CUT.match(line) or (len(cells) > table.name and cells[0].strip().isdigit()):
        return True
    units = len(cells) <= len(table.header) and not "".join(cells[: table.name + 1]).strip()
    return line.count('","') >= _LIKE_A_ROW and not units


def _cut_behind_a_cell(line: str) -> bool:
    """Where the profiler puts quotes around each cell, an empty one has them too."""
    return line.startswith('"') and line.endswith(",")


def _launch(table: Table, cells: list[str], number: int) -> Launch | None:
    """A launch; None for units."""
    named = dict(zip(table.header, cells, strict=True))
    if not cells[table.name].strip() and not named.get("ID", "").strip():
        table.units = table.units or named
        return None
    name = cells[table.name]
    name = name if any(map(str.isalpha, name)) and "\n" not in name and name.lower() != "n/a" else ""
    return Launch(number, named, table, name, named.get("ID", ""))


def _left_out(table: Table, cells: list[str], number: int, cut: bool) -> Launch:
    """A launch whose row is not whole.

    Of which kernel it was is known where the row is surely cut, and behind the name: else a cell may lack in front.
    """
    has = f"{number_of(len(cells), 'cell')} of {len(table.header)}"
    what = f"the launch is left out: the row is cut off or malformed, it has {has}"
    certain = cut and table.name + 1 < len(cells) <= len(table.header)
    known = cells[0] if table.header[:1] == ("ID",) else ""
    return Launch(number, {}, table, cells[table.name] if certain else "", known, lost=what, cut=cut)
