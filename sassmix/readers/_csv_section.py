"""One kernel of Nsight Compute's source page: its columns as they stand in the file, and the counts made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from sassmix.counts import NO_ADDRESS, CountRow, Counts
from sassmix.errors import TOLD, Problem, number_of
from sassmix.readers._csv_holes import ends_whole
from sassmix.readers._csv_lanes import active_of, odd_lanes
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
from sassmix.readers._csv_lines import columns_of
from sassmix.readers._csv_numbers import Column, read_column
from sassmix.readers._csv_whole import cuts_of, strays, uncalled

#: Two launches with so many samples do not have all of them at the same instructions.
_TELLING = 16


@dataclass(slots=True)
class Section:
    """The rows of one kernel as they stand in the file, before any number is read.

    :param foreign: how many lines have counts, but a text that is no instruction.
    :param torn: how many rows have other cells than the header.
    :param odd: how many lines among the rows are none.
    :param why: why it has no counts.
    :param cut: whether it ends where no kernel does, known once the counts are read.
    :param mixed: whether rows of another kernel seem to stand in it, known once the counts are read.
    """

    path: str
    title: dict[str, str]
    layout: Layout
    line: int
    problems: list[Problem]
    foreign: int = 0
    torn: int = 0
    odd: int = 0
    why: str = ""
    cut: bool = False
    mixed: bool = False
    lines: list[int] = field(default_factory=list)
    columns: tuple[list[str], ...] = field(default_factory=lambda: tuple([] for _ in range(SAMPLES + 1)))

    def take(self, lines: Sequence[str], line: int) -> bool:
        """Take lines if :meth:`holds` is true of all, as of nearly all; ``line`` is the number of the first."""
        if self.why:
            return False
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
        self.cut = False
        return True

    def holds(self, cells: Sequence[str]) -> bool:
        """Whether cells are a whole row with an address."""
        return (
            not self.why and len(cells) == self.layout.width and cells[max(self.layout.columns[ADDRESS], 0)][:2] == "0x"
        )

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take one row, odd or not; what it lacks is reported when the numbers are read."""
        for column, at in zip(self.columns, self.layout.columns, strict=True):
            if at >= 0:
                column.append(cells[at] if at < len(cells) else "")
        self.lines.append(line)
        self.cut = False

    def tear(self, cells: Sequence[str], line: int) -> None:
        """Take a row that is cut off or has a cell too many: where no other cell ends it, its last number is none."""
        self._tell(f"the row is cut off or malformed: {number_of(len(cells), 'cell')} of {self.layout.width}", line)
        self.torn += 1
        self.add(cells[:-1] if len(cells) < self.layout.width else cells[: self.layout.columns[ISSUED]], line)
        self.cut = True

    def interrupt(self, lines: Sequence[int]) -> None:
        """Tell of lines between two rows, by their numbers: each may have been one."""
        for line in lines[: max(0, TOLD - self.odd)]:
            self._tell("the line stands among the rows of a kernel and is none: it may be a row that is damaged", line)
        self.odd += len(lines)

    def empty(self, why: str) -> None:
        """Take nothing of what was read as a count."""
        self.why, self.lines = why, []
        self.problems.clear()

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
        counts = Counts(path=self.path, kind="ncu-source", names=names_of(self.title), launches=1)
        counts.problems = self.problems
        counts.tool = "Nsight Compute"
        counts.arch = arch_of(self.title.get("cc", self.title.get("compute capability", "")))
        if not self.lines:
            counts.gaps.append(self.why or "the section holds no counts")
            self.cut = True
            return counts
        issued = self._column(self.columns[ISSUED], "instructions executed")
        if issued.bad or self.torn:
            rows = number_of(max(len(issued.bad), self.torn), "row", "is", "are")
            counts.lost.append(f"{rows} cut off or without a count that can be read")
        texts = [text.strip() for text in self.columns[SOURCE]]
        addresses = addresses_of(self.columns[ADDRESS])
        places = self._places(addresses)
        placed = zip(addresses, places.offsets, strict=False)
        counts.base = next((at - offset for at, offset in placed if at is not None and offset is not None), 0)
        threads = self._threads(texts, issued.values)
        odd = self._odd_lanes(issued.values, threads, texts)
        counts.rows = _rows(texts, issued.values, threads, places)
        self.cut = self.cut or not ends_whole(texts)
        holes = uncalled(addresses, texts) if None in places.indexes else []
        holes += cuts_of(counts.rows, addresses, texts, issued.values)
        blind = all(address is None for address in addresses)
        if blind:
            self.problems.append(Problem("info", self.path, NO_ADDRESS, self.line))
        self.mixed = bool(holes and strays(addresses)) or bool((counts.lost or self.odd) and blind)
        told = [f"{number_of(self.odd, 'line')} among the rows may be damaged rows"] if self.odd else []
        counts.gaps = [*counts.lost, *odd, *told, *holes]
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
        for position, reason in bad[:TOLD]:
            self._tell(f"{what}, row {position} of the kernel: {reason}", self.lines[position])
        if more := bad[TOLD:]:
            self._tell(f"{what}: {number_of(len(more), 'more row')} like these", self.lines[more[0][0]])

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

    def _odd_lanes(self, issued: list[int | None], lanes: list[int | None], texts: list[str]) -> list[str]:
        """A gap where numbers contradict one another; too many lanes are taken for unknown, none stay none."""
        odd = list(odd_lanes(issued, lanes, texts))
        self._tell_rows(odd, "threads")
        for position, _ in odd:
            lanes[position] = 0 if lanes[position] == 0 else None
        rows = number_of(len(odd), "row", "has", "have")
        return [f"{rows} thread instructions that contradict the warp instructions"] if odd else []

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
            what = "the addresses leap here: what follows are called functions, which the export does not name"
            self.problems.append(Problem("info", self.path, what, self.lines[places.indexes.index(None)]))
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


def _rows(texts: list[str], issued: list[int | None], threads: list[int | None], places: Places) -> list[CountRow]:
    """Column by column, as exports have millions of rows."""
    mnemonics = mnemonics_of(texts)
    names: list[str | None] = [None] * len(texts)
    if None in mnemonics:
        names = [
            None if m else text[:200] or "instruction without a text" for m, text in zip(mnemonics, texts, strict=True)
        ]
    active = [
        number if lanes and text[:1] != "@" else active_of(number, lanes, text)
        for number, lanes, text in zip(issued, threads, texts, strict=True)
    ]
    sass = [text or None for text in texts] if "" in texts else texts
    columns: list[Any] = [issued, mnemonics, names, places.indexes, places.offsets, sass, active, threads]
    if None in issued:
        columns = [list(compress(column, (number is not None for number in issued))) for column in columns]
    return list(map(CountRow, *columns))
