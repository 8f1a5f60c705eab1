"""One kernel of Nsight Compute's source page: its columns as they stand in the file, and the counts made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from sassmix.counts import NO_EXIT, CountRow, Counts
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
    ended,
    holes_of,
    mnemonics_of,
    names_of,
    places_of,
)
from sassmix.readers._csv_lines import columns_of
from sassmix.readers._csv_numbers import Column, read_column

_MOST_PROBLEMS = 20
#: Two launches with so many samples do not have all of them at the same instructions.
_TELLING = 16


@dataclass(slots=True)
class Section:
    """The rows of one kernel as they stand in the file, before any number is read.

    :param foreign: it holds lines of a source file instead of instructions.
    :param torn: how many rows have other cells than the header.
    """

    path: str
    title: dict[str, str]
    layout: Layout
    line: int
    problems: list[Problem]
    foreign: bool = False
    torn: int = 0
    lines: list[int] = field(default_factory=list)
    columns: tuple[list[str], ...] = field(default_factory=lambda: tuple([] for _ in range(SAMPLES + 1)))

    def take(self, lines: Sequence[str], line: int) -> bool:
        """Take lines if :meth:`holds` is true of all, as of nearly all; ``line`` is the number of the first."""
        columns = columns_of(lines, self.layout.width, self.layout.last + 1)
        if columns is None:
            return False
        addresses = columns[max(self.layout.columns[ADDRESS], 0)]
        if not min(addresses)[:2] == "0x" == max(addresses)[:2]:  # what sorts between them begins so too
            return False
        for column, at in zip(self.columns, self.layout.columns, strict=True):
            if at >= 0:
                column.extend(columns[at])
        self.lines.extend(range(line, line + len(lines)))
        return True

    def holds(self, cells: Sequence[str]) -> bool:
        """Whether cells are a whole row with an address."""
        return len(cells) == self.layout.width and cells[max(self.layout.columns[ADDRESS], 0)][:2] == "0x"

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take one row, odd or not; what it lacks is reported when the numbers are read."""
        for column, at in zip(self.columns, self.layout.columns, strict=True):
            if at >= 0:
                column.append(cells[at] if at < len(cells) else "")
        self.lines.append(line)

    def tear(self, cells: Sequence[str], line: int) -> None:
        """Take a row that is cut off or has a cell too many: where no other cell ends it, its last number is none."""
        what = f"the row is cut off or malformed: it has {len(cells)} cells, the header {self.layout.width}"
        self._tell(what, line)
        self.torn += 1
        self.add(cells[:-1] if len(cells) < self.layout.width else cells[: self.layout.columns[ISSUED]], line)

    def repeats(self, other: Section) -> bool:
        """Whether everything that is read is the same, samples included."""
        return self.title == other.title and self.layout == other.layout and self.columns == other.columns

    @property
    def ends_with_number(self) -> bool:
        """Whether the last cell of a row is one that is read."""
        return self.layout.last == self.layout.width - 1

    @property
    def sampled(self) -> bool:
        """Whether there are enough samples to tell one launch from another."""
        return sum(filter(None, read_column(self.columns[SAMPLES]).values)) >= _TELLING

    def counts(self) -> Counts:
        """The counts, with a problem for each row that has none."""
        names = names_of(self.title)
        counts = Counts(path=self.path, kind="ncu-source", names=names, launches=1, problems=self.problems)
        counts.tool = "Nsight Compute"
        counts.arch = arch_of(self.title.get("cc", self.title.get("compute capability", "")))
        if not self.lines:
            counts.gaps.append("the section holds no counts")
            return counts
        issued = self._column(self.columns[ISSUED], "instructions executed")
        if issued.bad or self.torn:
            counts.lost.append(f"{max(len(issued.bad), self.torn)} rows are cut off or have no count that can be read")
        texts = [text.strip() for text in self.columns[SOURCE]]
        addresses = addresses_of(self.columns[ADDRESS])
        places = self._places(addresses)
        counts.rows = _rows(texts, issued.values, self._threads(texts, issued.values), places)
        counts.gaps = [*counts.lost, *_cuts(counts.rows, addresses, texts)]
        counts.identity = self._identity()
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
            return self._column(self.columns[ON], "predicated-on thread instructions").values
        if not self.layout.has[THREADS]:
            return [None] * len(issued)
        lanes = self._column(self.columns[THREADS], "thread instructions").values
        guarded = [index for index, text in enumerate(texts) if text.startswith("@")]
        if not any((lanes[i] or 0) < (issued[i] or 0) for i in guarded if lanes[i] is not None):
            for index in guarded:
                lanes[index] = None
        return lanes

    def _identity(self) -> str | None:
        if not self.sampled:
            return None
        digest = hashlib.sha256(repr((sorted(self.title.items()), self.layout, len(self.lines))).encode())
        for column in self.columns:
            digest.update("\n".join(column).encode(errors="replace"))  # no cell holds the end of a line
        return digest.hexdigest()

    def _places(self, addresses: list[int | None]) -> Places:
        if not self.layout.has[ADDRESS]:
            return Places([None] * len(self.lines), list(range(len(self.lines))))
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
        entry = self.columns[ADDRESS][0].lower()
        back = entry in "\n".join(texts).lower() and any(
            text.lower().endswith(entry) for text in texts if "BRA" in text or "JMP" in text
        )
        return None if back else issued[0] or None


def _cuts(rows: Sequence[CountRow], addresses: Sequence[int | None], texts: Sequence[str]) -> list[str]:
    """What shows that rows are missing: a hole between two addresses, an open end, no EXIT."""
    gaps = holes_of(addresses, texts)
    if not ended(reversed(rows)) and any(row.mnemonic for row in rows):
        gaps.append(NO_EXIT)
    return gaps


def _active(issued: int | None, lanes: int | None, sass: str) -> int | None:
    """Warp instructions with an active lane, where the lanes leave one possibility."""
    if issued is None or lanes is None:
        return None
    if lanes == 0:
        return 0
    if not sass.startswith("@"):
        return issued
    least, most = -(-lanes // 32), min(issued, lanes)
    return most if least == most else None


def _rows(texts: list[str], issued: list[int | None], threads: list[int | None], places: Places) -> list[CountRow]:
    """Column by column, as exports have millions of rows."""
    mnemonics = mnemonics_of(texts)
    names: list[str | None] = [None] * len(texts)
    if None in mnemonics:
        names = [
            None if m else text[:200] or "instruction without a text" for m, text in zip(mnemonics, texts, strict=True)
        ]
    active = [
        number if lanes and text[:1] != "@" else _active(number, lanes, text)
        for number, lanes, text in zip(issued, threads, texts, strict=True)
    ]
    sass = [text or None for text in texts] if "" in texts else texts
    columns: list[Any] = [issued, mnemonics, names, places.indexes, places.offsets, sass, active, threads]
    if None in issued:
        columns = [list(compress(column, (number is not None for number in issued))) for column in columns]
    return list(map(CountRow, *columns))
