"""``ncu --page source --csv``: executed counts per instruction, with the instruction's text and address.

The export has no launch numbers: each section is one launch. Reports with several launches print every section twice;
a section that repeats the one before it, samples included, is no launch and is counted once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import InputError, Problem
from sassmix.own_texts import mnemonic_of
from sassmix.readers import Reader
from sassmix.readers._csv_layout import ISSUED, SAMPLES, Layout, header_of
from sassmix.readers._csv_lines import blocks_of, cells_of, ends_open, fitted, head_lines
from sassmix.readers._csv_section import Section

_TITLES = frozenset(
    "kernel name|function name|mangled name|cc|compute capability|id|launch id|context|stream|device|block size"
    "|grid size|process id|process name|host name".split("|")
)
_STARTS_KERNEL = ("kernel name", "function name")
_LIKE_A_ROW = re.compile(r'"?(\d+"?,"?)?0[xX][0-9a-fA-F]+("|,|$)')
_NUMBERED = re.compile(r'"?[0-9a-fA-F]+"?,')
_NUMBER = re.compile(r"-?[\d.,'\s\u00a0\u2009\u202f\ufffd]*\d")


def _sniff(head: bytes) -> bool:
    return any(header_of(line) for line in head_lines(head))


class _Scanner:
    """Goes through the lines and hands out a section when the next one starts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.section: Section | None = None
        self.title: dict[str, str] = {}
        self.stray: list[Problem] = []
        self.countless = 0

    def sections(self) -> Iterator[Section]:
        """Every kernel with its rows."""
        number = 1
        for lines in blocks_of(self.path, self.stray):
            for run in _runs(lines):
                yield from self._run(run, number)
                number += len(run)
        if last := self._close():
            yield last

    def _run(self, lines: list[str], number: int) -> Iterator[Section]:
        """Lines that are rows of one kernel, all of them; else each is looked at alone."""
        if self.section and self.section.take(lines, number):
            return
        for at, line in enumerate(lines, number):
            cells = cells_of(line)
            if self.section and self.section.holds(cells):
                self.section.add(cells, at)
            elif line and (done := self._other(cells, line, at)):
                yield done

    def _other(self, cells: list[str], line: str, number: int) -> Section | None:
        """A line that is no plain row; gives the section that ends here."""
        if line.startswith("=="):
            return None
        key = cells[0].strip().lower()
        if layout := header_of(line):
            done = self._close()
            self._open(layout, number)
            return done
        if key in _TITLES and len(cells) > 1:
            return self._entitle(key, ",".join(cells[1:]).rstrip(","))
        if self.section:
            self._odd_row(self.section, cells, line, number)
        return None

    def _open(self, layout: Layout, number: int) -> None:
        if layout.has[ISSUED]:
            self.section = Section(str(self.path), self.title, layout, number, [])
            return
        self.countless += 1
        self._tell("the kernel has no column of executed instructions", number)

    def _entitle(self, key: str, value: str) -> Section | None:
        done = self._close()
        self.title = {key: value} if key in _STARTS_KERNEL else {**self.title, key: value}
        return done

    def _close(self) -> Section | None:
        done, self.section = self.section, None
        if done and done.foreign:
            self._tell("the section holds lines of a source file instead of instructions", done.line)
            return None
        if done and not done.lines:
            self._tell("the section holds no row instead of instructions", done.line)
            done = done if done.title else None
        if done:
            done.problems[:0] = self.stray
            self.stray.clear()
        return done

    def _tell(self, message: str, line: int) -> None:
        self.stray.append(Problem("warning", str(self.path), message, line))

    def _odd_row(self, section: Section, cells: list[str], line: str, number: int) -> None:
        """Rows with an odd address or cut short are kept; units, source lines and what programs print are not."""
        layout = section.layout
        at, source, issued = layout.columns[:3]
        fit = fitted(cells, layout.width)
        if _LIKE_A_ROW.match(line):
            section.add(fit, number) if fit else section.tear(cells, number)
            return
        counted = len(cells) > layout.last and _counted(cells[issued])
        if len(cells) <= max(at, source) or not (counted or (fit is None and _NUMBERED.match(line))):
            return
        if mnemonic_of(cells[source]) is None:
            section.foreign = section.foreign or (at < 0 and counted and bool(cells[source].strip()))
        elif at < 0 or cells[at].strip():
            section.add(fit, number) if fit else section.tear(cells, number)


def _runs(lines: list[str]) -> Iterator[list[str]]:
    """The lines that begin with a number, as rows do, apart from those that do not."""
    start = 0
    for _, run in groupby(['"0' <= line < '":' or "0" <= line < ":" for line in lines]):
        yield lines[start : (start := start + len(list(run)))]


def _counted(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text.strip())) or text.strip().lower() in ("nan", "-", "n/a", "inf")


def _read(path: Path) -> Iterator[Counts]:
    scanner = _Scanner(path)
    doubles = _Doubles(path)
    pending: Section | None = None
    read = False
    for section in scanner.sections():
        read = read or bool(section.lines)
        if pending and section.lines and doubles.drop(section):
            what = "the section is printed twice, samples included: it is counted once"
            pending.problems.append(Problem("info", str(path), what, section.line))
            continue
        if pending:
            yield pending.counts()
        doubles.before = pending = section
    if not pending or not read:
        raise InputError(str(path), _nothing(scanner))
    pending.problems.extend(scanner.stray)
    counts = pending.counts()
    if pending.ends_with_number and ends_open(path):
        counts.gaps.append("the last line has no end: the file may be cut off there, within a number")
    yield counts


def _nothing(scanner: _Scanner) -> str:
    if scanner.countless:
        return (
            "is a source page without the column 'Instructions Executed'; profile with --section SourceCounters, "
            "and export with --page source --print-source sass --csv"
        )
    return "is a source page of Nsight Compute that holds no instruction"


class _Doubles:
    """Tells sections that were printed twice from launches that did the same."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before: Section | None = None
        self.proved: bool | None = None

    def drop(self, section: Section) -> bool:
        """Whether the section repeats the one before it and is no launch of its own."""
        if self.before is None or not section.repeats(self.before):
            return False
        if self._is_double(section):
            self.before = None
            return True
        what = (
            "the section is the same as the one before, and nothing tells whether it is printed twice: it is counted "
            "as another launch, so the totals may be twice what ran; export with samples to tell"
        )
        section.problems.append(Problem("warning", section.path, what, section.line))
        return False

    def _is_double(self, section: Section) -> bool:
        if section.sampled:
            self.proved = True
        elif self.proved is None:
            self.proved = section.layout.has[SAMPLES] and _holds_double(self.path)
        return bool(self.proved)


def _holds_double(path: Path) -> bool:
    """Whether the samples prove anywhere in the file that sections were printed twice."""
    before: Section | None = None
    for section in _Scanner(path).sections():
        double = before is not None and section.repeats(before)
        if double and section.sampled:
            return True
        before = None if double else section
    return False


READER = Reader(name="Nsight Compute source page", sniff=_sniff, read=_read, counts=True)
