"""``ncu --page source --csv``: executed counts per instruction, with the instruction's text and address.

The export has no launch numbers: each section is one launch. Reports with several launches print every section twice;
a section that repeats the one before it, samples included, is no launch and is counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import InputError, Problem
from sassmix.readers import Reader
from sassmix.readers._csv_layout import SAMPLES, header_of
from sassmix.readers._csv_lines import ends_open, ends_within, head_lines
from sassmix.readers._csv_scanner import Scanner
from sassmix.readers._csv_section import Section


def _sniff(head: bytes) -> bool:
    return any(header_of(line) for line in head_lines(head))


def _read(path: Path) -> Iterator[Counts]:
    scanner = Scanner(path)
    doubles = _Doubles(path)
    pending: Section | None = None
    read = False
    named: list[list[str]] = []
    for section in scanner.sections():
        read = read or bool(section.lines)
        if pending and section.lines and doubles.drop(section):
            what = "the section is printed twice, samples included: it is counted once"
            pending.problems.append(Problem("info", str(path), what, section.line))
            continue
        if pending:
            yield _counts(pending, scanner, named)
        doubles.before = pending = section
    if not pending or not read:
        raise InputError(str(path), _nothing(scanner))
    counts = _counts(pending, scanner, named)
    open_end = pending.ends_with_number and ends_open(path)
    if open_end:
        counts.gaps.append("the last line has no end: the file may be cut off there, within a number")
    if open_end or pending.cut or (scanner.cut and ends_within(path)):
        scanner.doubt("the file seems to be cut off within this table or behind it", pending.line)
    pending.problems += scanner.stray + (scanner.untold if named else [])
    for gaps in named:  # also of what is handed out already: only the end shows which launches may be lost
        gaps.extend(scanner.doubts)
    yield counts


def _counts(section: Section, scanner: Scanner, named: list[list[str]]) -> Counts:
    """The counts of a section; ``named`` takes the gaps of one whose kernel is known."""
    counts = section.counts()
    if counts.names.known:
        named.append(counts.gaps)
    if section.mixed:
        scanner.doubt("rows of two kernels seem to stand in one table", section.line)
    return counts


def _nothing(scanner: Scanner) -> str:
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
    for section in Scanner(path).sections():
        double = before is not None and section.repeats(before)
        if double and section.sampled:
            return True
        before = None if double else section
    return False


READER = Reader(name="Nsight Compute source page", sniff=_sniff, read=_read, counts=True)
