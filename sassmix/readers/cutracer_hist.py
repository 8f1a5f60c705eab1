"""CUTracer's histograms: how often each warp executed each mnemonic, between two clock reads or in the whole kernel.

Post-processors write the same columns for sums over all warps; their rows all have warp 0.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.counts import CLOCK_READ, NO_EXIT, CountRow, Counts
from sassmix.errors import TOLD, InputError, Problem, number_of
from sassmix.readers import Reader
from sassmix.readers._csv_lines import ends_open, fitted
from sassmix.readers._csv_numbers import LARGEST
from sassmix.readers._cutracer_names import names_of
from sassmix.readers.text import decode

_NEEDED = {"instruction", "count"}
_TELLING = {"warp_id", "region_id"}
_NUMBER = re.compile(r"([0-9]{1,19})(?:\.0*)?")  # 64.0: a table program has had the file
_OPCODE_N = re.compile(r"OPCODE_(0x[0-9a-f]+|[0-9]+)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"(?:@!?U?P[T0-9]+\s+)?([A-Za-z][A-Za-z0-9_]*)((?:\.\w+)*)(?:\s[^;]*)?;?")
_EXIT = re.compile(r"(?:@!?U?P[T0-9]+\s+)?EXIT\b", re.IGNORECASE)


@dataclass(slots=True)
class _Sums:
    path: str
    rows: dict[str, int] = field(default_factory=dict)
    warps: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    regions: set[str] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    twice: list[int] = field(default_factory=list)
    cycles: int = 0
    headers: int = 1
    placeless: int = 0
    bad: int = 0
    untold: int = 0
    problems: list[Problem] = field(default_factory=list)

    def complain(self, line: int, message: str) -> None:
        if len(self.problems) < TOLD:
            self.problems.append(Problem("warning", self.path, message, line))
        else:
            self.untold += 1


def _cells(line: str) -> list[str]:
    """The cells of one line. A quote that never ends must not swallow the lines behind it, so each line is its own."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return [line]


def _header(line: str) -> list[str]:
    return [cell.lower() for cell in _cells(line)]


def _is_header(line: str) -> bool:
    columns = set(_header(line))
    return columns >= _NEEDED and bool(columns & _TELLING)


def _sniff(head: bytes) -> bool:
    lines = decode(head[:65536])[0].lstrip().splitlines()
    return bool(lines) and "\ufffd" not in lines[0] and _is_header(lines[0])  # a packed file may hold plain pieces


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    try:
        with path.open("rb") as handle:
            mark = handle.read(2)
        encoding = "utf-16" if mark in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        with path.open(encoding=encoding, errors="replace") as text:
            for number, line in enumerate(text, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except (OSError, UnicodeError) as error:
        raise InputError(str(path), f"cannot be read: {error}") from error


def _read(path: Path) -> Iterator[Counts]:
    lines = _lines(path)
    first = next(lines, None)
    if first is None or not _is_header(first[1]):
        raise InputError(str(path), "has no header with the columns instruction and count")
    columns = _columns(first[1])
    sums = _Sums(str(path))
    for number, line in lines:
        if _is_header(line):
            sums.headers += 1
            sums.seen.clear()
            columns = _columns(line)
        else:
            _add(sums, columns, number, _cells(line))
    counts = _counts(path, sums, "cycles" in columns.names)
    if (sums.rows or sums.bad) and ends_open(path):
        counts.gaps.append("the last line has no end: the file may be cut off there, within a number")
    yield counts


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the columns are, and how many."""

    names: dict[str, int]
    width: int


def _columns(line: str) -> _Columns:
    header = _header(line)
    return _Columns({name: place for place, name in reversed(list(enumerate(header)))}, len(header))


def _add(sums: _Sums, columns: _Columns, number: int, found: list[str]) -> None:
    cells = fitted(found, columns.width)
    if cells is None:
        sums.bad += 1
        has = number_of(len(found), "cell")
        sums.complain(number, f"the row has {has}, the header {columns.width}; the row is not counted")
        return

    def cell(name: str) -> str | None:
        place = columns.names.get(name)
        return None if place is None else cells[place]

    text, count = cell("instruction"), _number(cell("count"))
    if count is None:
        sums.bad += 1
        sums.complain(
            number, f"the count {_quoted(cell('count'))} is no whole number below 2^63; the row is not counted"
        )
        return
    if not text:
        sums.complain(number, "the row names no instruction")
        text = "(no name)"
    sums.rows[text] = sums.rows.get(text, 0) + count
    _note_twice(sums, number, cell("warp_id"), cell("region_id"), cell("instruction"))
    _note_place(sums, number, cell("warp_id"), cell("region_id"), bool(count and _EXIT.match(text)))
    if "cycles" in columns.names:
        cycles = _number(cell("cycles"))
        if cycles is None:
            sums.complain(number, f"the cycles {_quoted(cell('cycles'))} are no number")
        sums.cycles += cycles or 0


def _note_twice(sums: _Sums, number: int, *place: str | None) -> None:
    """Without a warp, a region and an instruction, rows that look the same may differ."""
    if None in place or _number(place[0]) is None or not place[2]:
        return
    key = hash(place)  # millions of rows would not fit
    if key in sums.seen:
        sums.twice.append(number)
    sums.seen.add(key)


def _note_place(sums: _Sums, number: int, warp: str | None, region: str | None, ends: bool) -> None:
    if warp is not None:
        known = _number(warp)
        if known is None:
            sums.placeless += 1
            sums.complain(number, f"the warp {_quoted(warp)} is no number")
        else:
            sums.warps.add(known)
            sums.ended.update((known,) if ends else ())
    if region is not None:
        sums.regions.add(region)


def _quoted(cell: str | None) -> str:
    return repr(None if cell is None else cell[:40])


def _number(cell: str | None) -> int | None:
    match = _NUMBER.fullmatch(cell or "")
    value = int(match[1]) if match else None
    return value if value is not None and value <= LARGEST else None


def _row(text: str, count: int) -> CountRow:
    """Modifiers stay as they are printed: ``16dp128bit`` is lower case by right, an opcode never is."""
    if match := _OPCODE_N.fullmatch(text):
        return CountRow(name=text, index=int(match[1], 0 if match[1][:2] in ("0x", "0X") else 10), issued=count)
    match = _INSTRUCTION.fullmatch(text)
    if not match or text.upper().startswith("OPCODE_"):
        return CountRow(name=text, issued=count)
    mnemonic = match[1].upper() + match[2]
    return CountRow(mnemonic=mnemonic, sass=text if " " in text else None, issued=count)


def _counts(path: Path, sums: _Sums, timed: bool) -> Counts:
    names, iteration = names_of(path)
    rows = [_row(text, count) for text, count in sums.rows.items() if count]
    counts = Counts(path=str(path), kind="cutracer-hist", names=names, rows=rows, problems=sums.problems)
    counts.launches = 1 if iteration and sums.headers == 1 else None
    counts.warps = _warps(sums.warps, _executed(rows, "EXIT"))
    counts.lost = [f"{number_of(sums.bad, 'row')} of the histogram cannot be read"] if sums.bad else []
    counts.gaps = [*_gaps(sums, rows), *counts.lost]
    if timed and sums.rows and not sums.cycles:
        counts.missing = ("cycles",)
        counts.problems.append(Problem("info", str(path), "the column cycles is all zero: not measured"))
    if sums.twice:
        repeated = number_of(len(sums.twice), "row", "repeats", "repeat")
        what = f"{repeated} a warp, region and instruction: all count, a copy counts twice"
        counts.problems.append(Problem("warning", str(path), what, sums.twice[0]))
    if sums.untold:
        counts.problems.append(Problem("warning", str(path), f"{number_of(sums.untold, 'more fault')} in rows"))
    return counts


def _executed(rows: list[CountRow], opcode: str) -> int:
    return sum(row.issued for row in rows if row.mnemonic and row.mnemonic.partition(".")[0] == opcode)


def _warps(ids: set[int], exits: int) -> int | None:
    """Warp 0 alone is one warp only if it ended once; else its rows are sums over warps that nobody counted."""
    if ids == {0}:
        return 1 if exits == 1 else None
    return len(ids) or None


def _gaps(sums: _Sums, rows: list[CountRow]) -> list[str]:
    gaps = [] if sums.rows or sums.bad else ["the histogram holds no counts"]
    if sums.warps and sums.placeless:
        gaps.append(f"of {number_of(sums.placeless, 'row')} the warp is not known")
    if rows and not _executed(rows, "EXIT"):
        gaps.append(NO_EXIT)
    elif (left := len(sums.warps - sums.ended)) and all(row.mnemonic for row in rows):
        gaps.append(f"{number_of(left, 'warp', 'was', 'were')} not followed to the EXIT, of {len(sums.warps):,}")
    if len(sums.regions) > 1 and "" in sums.regions:
        gaps.append("of some rows the region is not known, and what lies between regions was not counted")
    elif len(sums.regions) > 1:
        gaps.append(f"{number_of(len(sums.regions), 'region')} were counted, and what lies between regions was not")
    if _executed(rows, "CS2R"):
        gaps.append(CLOCK_READ)
    if sums.headers > 1:
        gaps.append(f"{number_of(sums.headers, 'histogram')} stand in one file, and whose they are is not known")
    return gaps


READER = Reader(name="cutracer histogram", sniff=_sniff, read=_read, counts=True)
