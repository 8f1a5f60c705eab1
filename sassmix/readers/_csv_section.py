"""One kernel of Nsight Compute's source page: its columns as they stand in the file, and the counts made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sassmix.counts import CountRow, Counts
from sassmix.errors import Problem
from sassmix.readers._csv_layout import (
    ADDRESS,
    ISSUED,
    ON,
    SAMPLES,
    SOURCE,
    THREADS,
    Layout,
    Places,
    addresses_of,
    arch_of,
    mnemonics_of,
    names_of,
    places_of,
)
from sassmix.readers._csv_numbers import Column, read_column

_MOST_PROBLEMS = 20
#: Two launches with so many samples do not have all of them at the same instructions.
_TELLING = 16


@dataclass(slots=True)
class Section:
    """The rows of one kernel as they stand in the file, before any number is read.

    :param foreign: it holds lines of a source file instead of instructions.
    """

    path: str
    title: dict[str, str]
    layout: Layout
    line: int
    problems: list[Problem]
    foreign: bool = False
    lines: list[int] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take an odd row; what it lacks is reported when the numbers are read."""
        lacks = self.layout.last + 1 - len(cells)
        self.rows.append(self.layout.pick([*cells, *[""] * lacks]))
        self.lines.append(line)

    def repeats(self, other: Section) -> bool:
        """Whether everything that is read is the same, samples included."""
        return self.title == other.title and self.layout == other.layout and self.rows == other.rows

    def column(self, at: int) -> list[str]:
        """The cells of one of the columns that are read; none where the export lacks it."""
        return [row[at] for row in self.rows] if self.layout.has[at] else []

    @property
    def sampled(self) -> bool:
        """Whether there are enough samples to tell one launch from another."""
        return sum(number or 0 for number in read_column(self.column(SAMPLES)).values) >= _TELLING

    def counts(self) -> Counts:
        """The counts, with a problem for each row that has none."""
        names = names_of(self.title)
        counts = Counts(path=self.path, kind="ncu-source", names=names, launches=1, problems=self.problems)
        counts.tool = "Nsight Compute"
        counts.arch = arch_of(self.title.get("cc", self.title.get("compute capability", "")))
        issued = self._column(self.column(ISSUED), "instructions executed")
        if issued.bad:
            what = f"{len(issued.bad)} rows have no count that can be read"
            counts.gaps.append(what)
            counts.lost.append(what)
        texts = [text.strip() for text in self.column(SOURCE)]
        places = self._places()
        counts.rows = _rows(texts, issued.values, self._threads(texts, issued.values), places)
        counts.warps = self._warps(texts, issued.values, places)
        return counts

    def _column(self, texts: list[str], what: str) -> Column:
        column = read_column(texts)
        if column.doubt:
            self._tell(f"{what}: {column.doubt}", self.line)
        self._tell_rows(column.bad.items(), what)
        return column

    def _tell_rows(self, bad: Iterable[tuple[int, str]], what: str) -> None:
        bad = list(bad)
        for position, reason in bad[:_MOST_PROBLEMS]:
            self._tell(f"{what}, row {position} of the kernel: {reason}", self.lines[position])
        if len(bad) > _MOST_PROBLEMS:
            self._tell(f"{what}: {len(bad) - _MOST_PROBLEMS} more rows like these", self.lines[bad[_MOST_PROBLEMS][0]])

    def _tell(self, message: str, line: int) -> None:
        self.problems.append(Problem("warning", self.path, message, line))

    def _threads(self, texts: list[str], issued: list[int | None]) -> list[int | None]:
        """Thread instructions with the guard true.

        The column without "Predicated-On" counts lanes whatever the guard says, except in exports that hold fewer
        lanes than warps for a guarded instruction: a warp that issues has a lane, so there the guard was applied.
        """
        if self.layout.has[ON]:
            return self._column(self.column(ON), "predicated-on thread instructions").values
        if not self.layout.has[THREADS]:
            return [None] * len(issued)
        lanes = self._column(self.column(THREADS), "thread instructions").values
        guarded = [index for index, text in enumerate(texts) if text.startswith("@")]
        if not any((lanes[i] or 0) < (issued[i] or 0) for i in guarded if lanes[i] is not None):
            for index in guarded:
                lanes[index] = None
        return lanes

    def _places(self) -> Places:
        if not self.layout.has[ADDRESS]:
            return Places([None] * len(self.rows), list(range(len(self.rows))))
        addresses = addresses_of(self.column(ADDRESS))
        places = places_of(addresses)
        self._tell_rows(((i, "cannot be read") for i, a in enumerate(addresses) if a is None), "address")
        if None in places.indexes:
            first = places.indexes.index(None)
            what = "the addresses leap here: what follows are called functions, which the export does not name"
            self.problems.append(Problem("info", self.path, what, self.lines[first]))
        return places

    def _warps(self, texts: list[str], issued: list[int | None], places: Places) -> int | None:
        """Each warp starts at the first instruction, and passes it once where no branch leads back to it."""
        if places.offsets[0] != 0 or texts[0].startswith("@"):
            return None
        entry = self.rows[0][ADDRESS].lower()
        back = any(text.lower().endswith(entry) for text in texts if "BRA" in text or "JMP" in text)
        return None if back else issued[0] or None


def _active(issued: int, lanes: int, sass: str) -> int | None:
    """Warp instructions with an active lane, where the lanes leave one possibility."""
    if lanes == 0:
        return 0
    if not sass.startswith("@"):
        return issued
    least, most = -(-lanes // 32), min(issued, lanes)
    return most if least == most else None


def _rows(texts: list[str], issued: list[int | None], threads: list[int | None], places: Places) -> list[CountRow]:
    rows: list[CountRow] = []
    mnemonics = mnemonics_of(texts)
    columns = zip(texts, mnemonics, issued, threads, places.indexes, places.offsets, strict=True)
    for text, mnemonic, number, lanes, index, offset in columns:
        if number is not None:
            rows.append(
                CountRow(
                    mnemonic=mnemonic,
                    name=None if mnemonic else text[:200] or "instruction without a text",
                    index=index,
                    offset=offset,
                    sass=text or None,
                    issued=number,
                    active=None if lanes is None else _active(number, lanes, text),
                    threads=lanes,
                )
            )
    return rows
