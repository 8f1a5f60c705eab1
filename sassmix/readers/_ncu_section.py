"""One kernel of Nsight Compute's source page: its columns as they stand in the file, and the counts made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sassmix.counts import Counts, CountRow, KernelNames
from sassmix.errors import Problem
from sassmix.readers._csv_numbers import Column, read_column

#: Names of a column in any version, in lower case and without "# ": the first that a header has is taken.
ADDRESS = ("address", "pc")
SOURCE = ("source", "sass")
ISSUED = (
    "instructions executed",
    "warp instructions executed",
    "inst_executed",
    "inst executed",
    "smsp__inst_executed.sum",
    "sm__inst_executed.sum",
)
THREADS_ON = (
    "predicated-on thread instructions executed",
    "thread_inst_executed_true",
    "predicated-on thread inst executed",
)
THREADS = ("thread instructions executed", "thread_inst_executed", "thread inst executed")
SAMPLES = (
    "samples",
    "warp stall sampling (all samples)",
    "warp stall sampling (all cycles)",
    "sampling data (all)",
    "group:smsp__pcsamp_warp_stall_reasons",
)
_MNEMONIC = re.compile(r"[A-Z_][A-Z0-9_]*(\.[A-Za-z0-9_]+)*")
_MOST_PROBLEMS = 20
#: Two launches with so many samples never have them at the same instructions.
_TELLING = 16


@dataclass(slots=True)
class Layout:
    """Where the columns are; -1 for one that the export lacks."""

    address: int
    source: int
    issued: int
    on: int
    threads: int
    samples: int

    @property
    def last(self) -> int:
        """The last column that is read."""
        return max(self.address, self.source, self.issued, self.on, self.threads, self.samples)


def layout_of(cells: Sequence[str]) -> Layout | None:
    """The layout that a header row gives; None for a row that is no header of a source page."""
    names = [re.sub(r"\s*\[[^]]*\]$|^#\s*", "", cell.strip().lower()) for cell in cells]
    found = [
        next((names.index(name) for name in known if name in names), -1)
        for known in (ADDRESS, SOURCE, ISSUED, THREADS_ON, THREADS, SAMPLES)
    ]
    layout = Layout(*found)
    return layout if layout.source >= 0 and (layout.address >= 0 or layout.issued >= 0) else None


@dataclass(slots=True)
class Section:
    """The rows of one kernel, column by column, before any number is read."""

    path: str
    title: dict[str, str]
    layout: Layout
    line: int
    lines: list[int] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    on: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take a row; cells that it lacks are reported when the numbers are read."""
        layout = self.layout
        if len(cells) <= layout.last:
            cells = [*cells, *[""] * (layout.last + 1 - len(cells))]
        self.lines.append(line)
        self.texts.append(cells[layout.source])
        self.issued.append(cells[layout.issued])
        if layout.address >= 0:
            self.addresses.append(cells[layout.address])
        if layout.on >= 0:
            self.on.append(cells[layout.on])
        if layout.threads >= 0:
            self.threads.append(cells[layout.threads])
        if layout.samples >= 0:
            self.samples.append(cells[layout.samples])

    def repeats(self, other: Section) -> bool:
        """Whether every column that is read is the same, samples included."""
        names = ("title", "addresses", "texts", "issued", "on", "threads", "samples")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def sampled(self) -> bool:
        """Whether there are enough samples to tell one launch from another."""
        return sum(number or 0 for number in read_column(self.samples).values) >= _TELLING

    def counts(self, problems: list[Problem]) -> Counts:
        """The counts, with a problem for each row that has none."""
        counts = Counts(path=self.path, kind="ncu-source", names=names_of(self.title), launches=1, problems=problems)
        counts.tool = "Nsight Compute"
        issued = self._column(self.issued, "instructions executed", counts)
        self._tell_unread(issued, counts)
        offsets, apart = self._offsets(counts)
        threads = self._threads(counts)
        mnemonics = [mnemonic_of(text) for text in self.texts]
        counts.size = apart
        for index, number in enumerate(issued.values):
            if number is not None:
                counts.rows.append(
                    CountRow(
                        mnemonic=mnemonics[index],
                        name=None if mnemonics[index] else self.texts[index].strip()[:200] or f"instruction {index}",
                        index=index if index < apart else None,
                        offset=offsets[index],
                        sass=self.texts[index].strip() or None,
                        issued=number,
                        active=_active(number, threads[index]),
                        threads=threads[index],
                    )
                )
        return counts

    def _column(self, texts: list[str], what: str, counts: Counts) -> Column:
        column = read_column(texts)
        if column.doubt:
            counts.problems.append(Problem("warning", self.path, f"{what}: {column.doubt}", self.line))
        return column

    def _tell_unread(self, column: Column, counts: Counts) -> None:
        for position, reason in list(column.bad.items())[:_MOST_PROBLEMS]:
            what = f"instructions executed of row {position}: {reason}; the row is left out"
            counts.problems.append(Problem("warning", self.path, what, self.lines[position]))
        if column.bad:
            what = f"{len(column.bad)} rows of {counts.names.best or 'a kernel'} have no count that can be read"
            counts.gaps.append(what)
            counts.lost.append(what)
        if len(column.bad) > _MOST_PROBLEMS:
            counts.problems.append(Problem("warning", self.path, what, self.line))

    def _threads(self, counts: Counts) -> list[int | None]:
        """Thread instructions with the guard true.

        The column without "Predicated-On" counts lanes whatever the guard says, except in exports that hold fewer
        lanes than warps for a guarded instruction: a warp that issues has a lane, so there the guard was applied.
        """
        if self.on or not self.threads:
            column = self._column(self.on, "thread instructions", counts)
            return self._checked(column) or [None] * len(self.issued)
        column = self._column(self.threads, "thread instructions", counts)
        values = self._checked(column)
        guarded = [index for index, text in enumerate(self.texts) if text.lstrip().startswith("@")]
        issued = read_column([self.issued[index] for index in guarded]).values
        applied = any(
            (values[i] or 0) < (n or 0) and values[i] is not None for i, n in zip(guarded, issued, strict=True)
        )
        if not applied:
            for index in guarded:
                values[index] = None
        return values

    def _checked(self, column: Column) -> list[int | None]:
        return column.values

    def _offsets(self, counts: Counts) -> tuple[list[int | None], int]:
        """Bytes from the first instruction, and the number of rows that stand in one piece with it."""
        addresses = addresses_of(self.addresses)
        if not addresses:
            return [None] * len(self.texts), len(self.texts)
        base = addresses[0]
        if base is None:
            what = "the address of the first instruction cannot be read: no offset is known"
            counts.problems.append(Problem("warning", self.path, what, self.lines[0]))
            return [None] * len(addresses), len(addresses)
        return self._checked_offsets(addresses, base, counts)

    def _checked_offsets(self, addresses: list[int | None], base: int, counts: Counts) -> tuple[list[int | None], int]:
        if addresses == list(range(base, base + 16 * len(addresses), 16)):
            return list(range(0, 16 * len(addresses), 16)), len(addresses)
        offsets: list[int | None] = []
        before, apart = base - 8, len(addresses)
        for index, address in enumerate(addresses):
            if address is None:
                what = f"the address of row {index} cannot be read"
                counts.problems.append(Problem("warning", self.path, what, self.lines[index]))
                offsets.append(None)
                continue
            gap = 16 * (index - len([1])) if False else 0
            offsets.append(address - base if address >= base else None)
            before = address
        return offsets, apart
